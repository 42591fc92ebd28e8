"""The steps of the loops of ``by_width``: the turbines in a wake, and the deficits there.

Each is put whole into the loops and has no branch inside the innermost one, so that a compiler can make vector
instructions of it.

``means`` gives the mean of a Gaussian wake over a rotor disc, the function of ``overlap``. With z = (d/sigma)^2 / 2 for
the distance d between the centres and t = (R/sigma)^2 / 2 for the rotor's radius R,

    mean = exp(-z) (1/t) int_0^t exp(-s) I0(2 sqrt(z s)) ds = exp(-z) sum_n h_n(t) (z t)^n,
    h_n = (1/n!^2) int_0^1 v^n exp(-t v) dv,   h_(n-1) = n t h_n + exp(-t)/(n (n-1)!^2).

All terms are positive. Cut off after n = 10 the sum is right to 3e-8 for t up to ``LARGEST_T`` (a rotor radius of 1.87
sigma), whatever z is; for wider rotors, which stand close behind the source, callers take the model's own deficit.

Numbers that vector instructions read and write stand in rows of one array, ``room``. Rows at constant distances are
known not to overlap; of several arrays a compiler would have to find that out while running, and with so many of them
it does not vectorise the loop at all. An entry of a row is a wind state or, in time series, a turbine.
"""

from collections.abc import Callable
from math import factorial, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.models.contract import WakeModel, Widths

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
    """Return exp(-z) for z from 0 to 60, to 1e-13 absolutely: a polynomial to the power of 128."""
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
    """Return h_10 divided by its first term: 1 + t/12 + t^2/(12 13) + ..."""
    rest = 1.0 + t * (1.0 / 14.0) * (1.0 + t * (1.0 / 15.0))
    return 1.0 + t * (1.0 / 12.0) * (1.0 + t * (1.0 / 13.0) * rest)


@inlined
def means(z: float, mirror_z: float, t: float) -> tuple[float, float, float, float, float, float]:
    """Return the means, their slopes with their z, and those with log(1/sigma), on which z and t depend."""
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
    """Return I0(2 sqrt(x)), cut off as in ``means``, so that slopes match its values."""
    high = _B6 + x * (_B7 + x * (_B8 + x * (_B9 + x * _B10)))
    return 1.0 + x * (_B1 + x * (_B2 + x * (_B3 + x * (_B4 + x * (_B5 + x * high)))))


ROW = 128
"""Entries of a row; more wind states or turbines are worked off in several goes."""
ROWS = 15
# The source, by wind state: the numbers of its width, ct D^2/8, ct, slopes of the numbers with ct, and turbulence.
N0, N1, N2, N3, STRENGTH, THRUST, S0, S1, S2, S3, TURBULENCE = (i * ROW for i in (*range(10), 14))
# The square of a deficit and t of ``means``; or, for the gradient, the slopes of the square and t.
VALUE, T, FAR, ASIDE = (i * ROW for i in range(10, 14))
OF_THRUST = VALUE
# By turbine, in time series: distances from the source to it, its hub height and its rotor's radius.
HEIGHT, RADIUS = N0, N1


@inlined
def put_numbers(room: Any, k: int, numbers: Any, diameter: float) -> None:
    """Store the numbers of a source's wake in one wind state, whose thrust is already stored."""
    room[N0 + k], room[N1 + k], room[N2 + k], room[N3 + k] = numbers
    room[STRENGTH + k] = 0.125 * room[THRUST + k] * diameter * diameter


@inlined
def numbers_at(room: Any, k: int) -> Any:
    return room[N0 + k], room[N1 + k], room[N2 + k], room[N3 + k]


@inlined
def whole_vectors(count: int) -> int:
    """Return the count rounded up to whole vectors: single leftover entries would cost as much."""
    return (count + 7) // 8 * 8


SIGMAS_BESIDE = 6.5
"""At this many sigmas beyond the rotor's edge, the mean over the rotor is 1e-10 of the centre's."""
_NEAR, _FAR = 20.0, 200.0
"""The distances at which the lines touch the width, in diameters downwind."""
_TURBINES_PER_STRIP, _MOST_STRIPS = 8, 96
_LARGEST_RADIUS = 1000.0
"""No rotor is larger (m)."""


def widths_of(model: WakeModel) -> Widths:
    assert model.widths is not None
    return model.widths


@inlined
def first_constants(data):
    """Return the model's first eight constants, padded with zeros."""
    c = data.constants
    n = c.size
    return (
        c[0] if n > 0 else 0.0,
        c[1] if n > 1 else 0.0,
        c[2] if n > 2 else 0.0,
        c[3] if n > 3 else 0.0,
        c[4] if n > 4 else 0.0,
        c[5] if n > 5 else 0.0,
        c[6] if n > 6 else 0.0,
        c[7] if n > 7 else 0.0,
    )


class Facing(NamedTuple):
    """The turbines in the wind, from upwind to downwind, and buffers for the targets of a wake.

    ``strip`` tells in which of equal strips along the wind a turbine stands. ``member`` lists the turbines by strip,
    and from the first to the last in each; those of strip ``s`` that are still downwind of a walk stand from
    ``head[s]`` up to ``tail[s]``. ``target`` lists those reached.
    """

    hub_height: FloatArray
    radius: FloatArray
    strip: npt.NDArray[np.uint32]
    member: npt.NDArray[np.uint32]
    head: IntArray
    tail: IntArray
    target: npt.NDArray[np.uint32]


@scalar
def new_facing(n: int) -> Facing:
    strips = min(1 + n // _TURBINES_PER_STRIP, _MOST_STRIPS)
    return Facing(
        np.empty(n), np.empty(n), np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(strips, np.int64),
        np.empty(strips, np.int64), np.empty(n + 1, np.uint32),
    )  # fmt: skip


@scalar
def place_turbines(turbines, turned, facing):
    """Fill the sizes of the turbines in downwind order, and their strips."""
    low, high, n = np.inf, -np.inf, turned.order.size
    for a in range(n):
        type_index = turned.types[turned.order[a]]
        facing.hub_height[a] = turbines.hub_height[type_index]
        facing.radius[a] = 0.5 * turbines.diameter[type_index]
        low, high = min(low, turned.across[a]), max(high, turned.across[a])
    strips = facing.tail.size
    per_metre = strips / (high - low + 1.0)
    for s in range(strips):
        facing.tail[s] = 0
    for a in range(n):
        facing.strip[a] = np.uint32((turned.across[a] - low) * per_metre)
        facing.tail[facing.strip[a]] += 1
    count = 0
    for s in range(strips):
        count += facing.tail[s]
        facing.tail[s] = count - facing.tail[s]
    for a in range(n):
        s = facing.strip[a]
        facing.member[facing.tail[s]] = a
        facing.tail[s] += 1
    return low, per_metre


@scalar
def begin_walk(facing):
    """Mark all turbines as still downwind."""
    before = 0
    for s in range(facing.tail.size):
        facing.head[s] = before
        before = facing.tail[s]


@scalar
def last_needed(turned, counted):
    """Return how many turbines matter: those after the last counted one cast no wake on any counted one."""
    a = turned.order.size
    while a > 0 and turned.order[a - 1] >= counted:
        a -= 1
    return a


class StepLines(NamedTuple):
    """Two lines above the edge of a wake, without the rotor's radius: constants and slopes."""

    near: float
    near_slope: float
    far: float
    far_slope: float


NO_SLOPES = (0.0, 0.0, 0.0, 0.0)
"""The slopes of a width's numbers with thrust, if they are not needed."""


def make_lines(model: WakeModel) -> Callable[..., StepLines]:
    """Make the function of two tangents to the concave width, whose lower one is above the width everywhere."""
    width = widths_of(model).width_with_slopes

    @inlined
    def lines(numbers, diameter):
        here, there = _NEAR * diameter, _FAR * diameter
        near, near_slope, _ = width(numbers, NO_SLOPES, here)
        far, far_slope, _ = width(numbers, NO_SLOPES, there)
        return StepLines(
            SIGMAS_BESIDE * (near - near_slope * here),
            SIGMAS_BESIDE * near_slope,
            SIGMAS_BESIDE * (far - far_slope * there),
            SIGMAS_BESIDE * far_slope,
        )

    return lines


@inlined
def find_targets(turned, facing, strips, a, end, lines):
    """List the turbines between ``a`` and ``end`` within the lines of the wake of ``a``; return their number.

    Only strips that the wake touches before ``end`` are looked at. ``strips`` is what ``place_turbines`` returned;
    turbines must be asked for in their order, after ``pass_by``.
    """
    along, across = turned.along, turned.across
    radius, member, target = facing.radius, facing.member, facing.target
    place, side, count = along[a], across[a], 0
    low, per_metre = strips
    far = along[end - 1] - place
    widest = min(lines.near + lines.near_slope * far, lines.far + lines.far_slope * far) + _LARGEST_RADIUS
    first = max(int((side - widest - low) * per_metre), 0)
    last = min(int((side + widest - low) * per_metre), facing.tail.size - 1)
    for s in range(first, last + 1):
        for q in range(facing.head[s], facing.tail[s]):
            b = member[q]
            far = along[b] - place
            near_edge, far_edge = lines.near + lines.near_slope * far, lines.far + lines.far_slope * far
            edge = near_edge if near_edge < far_edge else far_edge  # noqa: FURB136  a comparison has no branch
            target[count] = b
            count += (abs(across[b] - side) < edge + radius[b]) & (b < end)
    return count


@inlined
def pass_by(facing, a):
    """Mark turbine ``a`` as no longer downwind."""
    facing.head[facing.strip[a]] += 1


@inlined
def _centre(strength, per):
    """Return the deficit at the centre of a wake, from ct D^2/8 and 1/sigma^2, and its square root term."""
    left = 1.0 - strength * per
    root = sqrt(left if left > 0.0 else 0.0)  # noqa: FURB136  a comparison vectorises
    return 1.0 - root, root


def make_square(model: WakeModel) -> Callable[..., tuple[float, float]]:
    """Make the function of the squared deficit and t of ``means``, not exact enough above ``LARGEST_T``."""
    width = widths_of(model).width

    @inlined
    def square(numbers, strength, far, aside, rise, heights, radius):
        n0, n1, n2, n3 = numbers
        sigma = width(n0, n1, n2, n3, far)
        per = 1.0 / (sigma * sigma)
        centre, _ = _centre(strength, per)
        half, beside = 0.5 * per, aside * aside
        t = half * (radius * radius)
        # The slopes of the means are not used, and vanish when a loop is compiled.
        real, mirror = means(half * (beside + rise * rise), half * (beside + heights * heights), t)[:2]
        return centre * centre * (real * real + mirror * mirror), t

    return square


def make_square_slopes(model: WakeModel) -> Callable[..., tuple[float, float, float, float, float]]:
    """Make the function of the square's slopes with distances and thrust, of t, and of the square itself.

    Its arithmetic rounds differently from that of ``make_square``; one function for both changes layouts of gradients.
    """
    width = widths_of(model).width_with_slopes

    @inlined
    def square_slopes(numbers, slopes, strength, per_thrust, far, aside, rise, heights, radius):
        sigma, sigma_far, sigma_thrust = width(numbers, slopes, far)
        per_sigma = 1.0 / sigma
        per = per_sigma * per_sigma
        centre, root = _centre(strength, per)
        half, beside = 0.5 * per, aside * aside
        t = half * (radius * radius)
        real, mirror, real_z, mirror_z, real_log, mirror_log = means(
            half * (beside + rise * rise), half * (beside + heights * heights), t
        )
        both = real * real + mirror * mirror
        per_root = 1.0 / root
        # The slope of the centre with log(1/sigma) is ct D^2/(8 sigma^2) over the root.
        with_log = strength * per * per_root * both + centre * (real * real_log + mirror * mirror_log)
        with_sigma = -(2.0 * centre * with_log) * per_sigma
        with_thrust = with_sigma * sigma_thrust + centre * per_thrust * per * per_root * both
        with_aside = 2.0 * centre * centre * (real * real_z + mirror * mirror_z) * (per * aside)
        return with_sigma * sigma_far, with_aside, with_thrust, t, centre * centre * both

    return square_slopes


def make_near(model: WakeModel) -> Callable[..., float]:
    """Make the function of the squared deficit by the model itself, for rotors that are wide beside the wake."""
    deficit = model.deficit

    @scalar
    def near(data, pair):
        value = deficit(data, pair)
        return value * value

    return near
