"""The mean of a Gaussian wake over a rotor disc, and over that of its mirror image, without tables or branches.

The function is that of ``overlap``, written so that a compiler makes vector instructions of a loop around it. With
z = (d/sigma)^2 / 2 for the distance d between the centres and t = (R/sigma)^2 / 2 for the rotor's radius R,

    mean = exp(-z) (1/t) int_0^t exp(-s) I0(2 sqrt(z s)) ds = exp(-z) sum_n h_n(t) (z t)^n,
    h_n = (1/n!^2) int_0^1 v^n exp(-t v) dv,   h_(n-1) = n t h_n + exp(-t)/(n (n-1)!^2).

All terms are positive. Cut off after n = 10 the sum is right to 3e-8 for t up to ``LARGEST_T`` (a rotor radius of 1.87
sigma), whatever z is; for wider rotors, which stand close behind the source, callers take the model's own deficit.
"""

from __future__ import annotations

from math import factorial

from vindeby.wake.compiling.compiled import inlined

LARGEST_T = 1.75
_LARGEST_Z = 60.0
_LAST = 10
_TOP = 1.0 / ((_LAST + 1) * factorial(_LAST) ** 2)
_C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10 = (
    1.0 / (n * factorial(n - 1) ** 2) for n in range(1, _LAST + 1)
)
_B1, _B2, _B3, _B4, _B5, _B6, _B7, _B8, _B9, _B10 = (1.0 / factorial(n) ** 2 for n in range(1, _LAST + 1))


@inlined
def _exp_of_minus(z: float) -> float:
    """exp(-z) for z from 0 to 60, absolutely to 1e-13: a polynomial to the power of 128."""
    s = z * (1.0 / 128.0)
    e = 1.0 - s * (
        1.0 - s * (0.5 - s * (1.0 / 6.0 - s * (1.0 / 24.0 - s * (1.0 / 120.0 - s * (1.0 / 720.0)))))
    )
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e * e


@inlined
def _after_last(t: float) -> float:
    """h_10 over its first term: 1 + t/12 + t^2/(12 13) + ..."""
    rest = 1.0 + t * (1.0 / 14.0) * (1.0 + t * (1.0 / 15.0))
    return 1.0 + t * (1.0 / 12.0) * (1.0 + t * (1.0 / 13.0) * rest)


@inlined
def means(z: float, mirror_z: float, t: float) -> tuple[float, float]:
    """The means of the wake and of its mirror image."""
    z = z if z < _LARGEST_Z else _LARGEST_Z  # noqa: FURB136  a comparison vectorises, min does not
    mirror_z = mirror_z if mirror_z < _LARGEST_Z else _LARGEST_Z  # noqa: FURB136
    e = _exp_of_minus(t)
    x, y = z * t, mirror_z * t
    h = e * _TOP * _after_last(t)
    a = b = h
    h = 10.0 * t * h + e * _C10
    a, b = a * x + h, b * y + h
    h = 9.0 * t * h + e * _C9
    a, b = a * x + h, b * y + h
    h = 8.0 * t * h + e * _C8
    a, b = a * x + h, b * y + h
    h = 7.0 * t * h + e * _C7
    a, b = a * x + h, b * y + h
    h = 6.0 * t * h + e * _C6
    a, b = a * x + h, b * y + h
    h = 5.0 * t * h + e * _C5
    a, b = a * x + h, b * y + h
    h = 4.0 * t * h + e * _C4
    a, b = a * x + h, b * y + h
    h = 3.0 * t * h + e * _C3
    a, b = a * x + h, b * y + h
    h = 2.0 * t * h + e * _C2
    a, b = a * x + h, b * y + h
    h = t * h + e * _C1
    a, b = a * x + h, b * y + h
    return a * _exp_of_minus(z), b * _exp_of_minus(mirror_z)


@inlined
def means_with_slopes(z: float, mirror_z: float, t: float) -> tuple[float, float, float, float, float, float]:
    """The means, their slopes with their z, and those with log(1/sigma), on which z and t depend as squares."""
    z = z if z < _LARGEST_Z else _LARGEST_Z  # noqa: FURB136
    mirror_z = mirror_z if mirror_z < _LARGEST_Z else _LARGEST_Z  # noqa: FURB136
    e = _exp_of_minus(t)
    x, y = z * t, mirror_z * t
    h = e * _TOP * _after_last(t)
    a = b = h
    h = 10.0 * t * h + e * _C10
    c, d = a, b
    a, b = a * x + h, b * y + h
    h = 9.0 * t * h + e * _C9
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 8.0 * t * h + e * _C8
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 7.0 * t * h + e * _C7
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 6.0 * t * h + e * _C6
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 5.0 * t * h + e * _C5
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 4.0 * t * h + e * _C4
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 3.0 * t * h + e * _C3
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = 2.0 * t * h + e * _C2
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    h = t * h + e * _C1
    c, d = c * x + a, d * y + b
    a, b = a * x + h, b * y + h
    real, mirror = _exp_of_minus(z), _exp_of_minus(mirror_z)
    edge, mirror_edge = real * e * _bessel(x), mirror * e * _bessel(y)
    a, b = a * real, b * mirror
    with_z, with_mirror_z = t * c * real - a, t * d * mirror - b
    # t times the slope with t is the value at the rotor's edge less the mean.
    return (
        a,
        b,
        with_z,
        with_mirror_z,
        2.0 * (z * with_z + edge - a),
        2.0 * (mirror_z * with_mirror_z + mirror_edge - b),
    )


@inlined
def _bessel(x: float) -> float:
    """I0(2 sqrt(x)), cut off where ``means`` is, so that slopes are those of what it computes."""
    high = _B6 + x * (_B7 + x * (_B8 + x * (_B9 + x * _B10)))
    return 1.0 + x * (_B1 + x * (_B2 + x * (_B3 + x * (_B4 + x * (_B5 + x * high)))))
