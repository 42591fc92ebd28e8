"""Wakes on a rotor disc: the mean of a Gaussian over it, and the share of it inside a round wake.

For a wake of width sigma whose centre lies ``d`` away from the centre of a rotor of radius ``R``, the mean of
exp(-r^2 / (2 sigma^2)) over the rotor is 2/rho^2 times the noncentral chi-square distribution with two
degrees of freedom and noncentrality kappa^2 at rho^2, with rho = R/sigma and kappa = d/sigma (one minus
Marcum's Q). Written out, that distribution is the probability that a Poisson count with mean kappa^2/2 is
smaller than an independent one with mean rho^2/2: a sum of positive terms, exact to rounding. The loops read
it from a B-spline table made from that sum; outside the table (a rotor more than 8 sigma in radius) the sum
itself is used.

A cubic B-spline on an even grid needs four coefficients per dimension and is twice differentiable, so that a gradient
taken from it is the exact gradient of the tabulated function. The coefficients come from the values by solving
c[i-1] + 4 c[i] + c[i+1] = 6 v[i] with the slopes at both ends, which are taken from six values each.
"""

from functools import cache
from math import acos, exp, pi, sin

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.wake.compiling.compiled import inlined, kernel, scalar

_ONE_SIDED: FloatArray = np.array([-137 / 60, 5, -5, 10 / 3, -5 / 4, 1 / 5])
"""Slope at the first of six points, exact for polynomials of degree five."""


def coefficients(values: FloatArray, axis: int, *, even: bool = False) -> FloatArray:
    """Return B-spline coefficients along an axis, padded at the ends so that four always exist.

    ``even``: the function is even about the first point, so that its slope there is 0.
    """
    v = np.moveaxis(np.array(values, np.float64), axis, 0)
    n = len(v)
    first = np.zeros_like(v[0]) if even else np.tensordot(_ONE_SIDED, v[:6], axes=1)
    last = -np.tensordot(_ONE_SIDED, v[::-1][:6], axes=1)
    v *= 6.0
    v[0] += 2.0 * first
    v[-1] -= 2.0 * last
    upper = np.ones(n - 1)
    upper[0] = 2.0
    diagonal = np.full(n, 4.0)
    for i in range(1, n):
        factor = (2.0 if i == n - 1 else 1.0) / diagonal[i - 1]
        diagonal[i] -= factor * upper[i - 1]
        v[i] -= factor * v[i - 1]
    v[n - 1] /= diagonal[n - 1]
    for i in range(n - 2, -1, -1):
        v[i] = (v[i] - upper[i] * v[i + 1]) / diagonal[i]
    before, after = v[1:2] - 2.0 * first, v[-2:-1] + 2.0 * last
    return np.moveaxis(np.concatenate([before, v, after, after]), 0, axis)


@inlined
def weights(t: float) -> tuple[float, float, float, float]:
    """Return the weights of four neighbouring coefficients at ``t`` in [0, 1] between the middle two."""
    u = 1.0 - t
    sixth = 1.0 / 6.0
    t2, u2 = t * t, u * u
    return (
        u2 * u * sixth,
        (0.5 * t - 1.0) * t2 + 4.0 * sixth,
        (0.5 * u - 1.0) * u2 + 4.0 * sixth,
        t2 * t * sixth,
    )


@inlined
def slope_weights(t: float) -> tuple[float, float, float, float]:
    u = 1.0 - t
    return -0.5 * u * u, (1.5 * t - 2.0) * t, (2.0 - 1.5 * u) * u, 0.5 * t * t


PER_SIGMA = 32.0
LARGEST_RHO = 8.0
LARGEST_KAPPA = 16.0


@scalar
def overlap_exact(rho: float, kappa: float) -> float:
    """Return the mean of the Gaussian over the disc by its sum; ``rho`` = 0 gives the value at a point."""
    half_kappa = 0.5 * kappa * kappa
    if rho < 1e-4 or half_kappa > 700.0:
        # The next term of the mean over a small disc is rho^2/8 times the Laplacian.
        return exp(-half_kappa) * (1.0 + 0.25 * rho * rho * (half_kappa - 1.0))
    half_rho = 0.5 * rho * rho
    of_kappa = exp(-half_kappa)
    below = 0.0
    of_rho = exp(-half_rho)
    total = 0.0
    count = 0
    while count < 2000:
        below += of_kappa
        count += 1
        of_kappa *= half_kappa / count
        of_rho *= half_rho / count
        total += of_rho * below
        if count > half_rho and of_rho < 1e-18 * (total + 1e-300):
            break
    return total / half_rho


@inlined
def overlap(table: FloatArray, rho: float, kappa: float) -> tuple[float, float, float]:
    """Return the mean by the table, and its slopes with ``rho`` and ``kappa``."""
    if rho >= LARGEST_RHO:
        h = 1e-5
        value = overlap_exact(rho, kappa)
        with_rho = (overlap_exact(rho + h, kappa) - overlap_exact(rho - h, kappa)) / (2.0 * h)
        with_kappa = (overlap_exact(rho, kappa + h) - overlap_exact(rho, abs(kappa - h))) / (2.0 * h)
        return value, with_rho, with_kappa
    if kappa >= LARGEST_KAPPA:
        return 0.0, 0.0, 0.0
    a = rho * PER_SIGMA
    b = kappa * PER_SIGMA
    i = int(a)
    j = int(b)
    p = weights(a - i)
    q = weights(b - j)
    dp = slope_weights(a - i)
    dq = slope_weights(b - j)
    value = with_rho = with_kappa = 0.0
    for m in range(4):
        t0, t1, t2, t3 = table[i + m, j], table[i + m, j + 1], table[i + m, j + 2], table[i + m, j + 3]
        row = q[0] * t0 + q[1] * t1 + q[2] * t2 + q[3] * t3
        value += p[m] * row
        with_rho += dp[m] * row
        with_kappa += p[m] * (dq[0] * t0 + dq[1] * t1 + dq[2] * t2 + dq[3] * t3)
    return value, with_rho * PER_SIGMA, with_kappa * PER_SIGMA


@kernel()
def _fill(values: FloatArray) -> None:
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = overlap_exact(i / PER_SIGMA, j / PER_SIGMA)


@cache
def overlap_table() -> FloatArray:
    """Return the table's coefficients, computed once per process."""
    values = np.empty((int(LARGEST_RHO * PER_SIGMA) + 1, int(LARGEST_KAPPA * PER_SIGMA) + 1))
    _fill(values)
    return np.ascontiguousarray(coefficients(coefficients(values, 0, even=True), 1, even=True))


@scalar
def covered_share(wake_radius: float, rotor_radius: float, distance: float) -> tuple[float, float, float]:
    """Return the share of the rotor inside the wake, and its slopes with wake radius and distance of the centres.

    Two circles that cross share a lens, J. Feng and W. Z. Shen, Renewable Energy 78 (2015) 182-192, eq. A1.
    Its area grows with the radius by the arc of the wake inside the rotor and shrinks with the distance by
    the chord. A rotor of radius 0 is a point.
    """
    if distance >= wake_radius + rotor_radius or rotor_radius == 0.0:
        return (1.0, 0.0, 0.0) if distance < wake_radius else (0.0, 0.0, 0.0)
    disc = pi * rotor_radius * rotor_radius
    if distance <= wake_radius - rotor_radius:
        return 1.0, 0.0, 0.0
    if distance <= rotor_radius - wake_radius:
        return wake_radius * wake_radius * pi / disc, 2.0 * wake_radius * pi / disc, 0.0
    square, wake_square, rotor_square = (
        distance * distance,
        wake_radius * wake_radius,
        rotor_radius * rotor_radius,
    )
    from_wake = acos(
        min(1.0, max(-1.0, (square + wake_square - rotor_square) / (2.0 * distance * wake_radius)))
    )
    from_rotor = acos(
        min(1.0, max(-1.0, (square + rotor_square - wake_square) / (2.0 * distance * rotor_radius)))
    )
    half_chord = wake_radius * sin(from_wake)
    lens = from_wake * wake_square + from_rotor * rotor_square - distance * half_chord
    return max(lens, 0.0) / disc, 2.0 * wake_radius * from_wake / disc, -2.0 * half_chord / disc
