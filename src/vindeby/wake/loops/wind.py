"""The wind in the compiled loops: the free wind, its buffers at the turbines, and rotation into it.

A wind direction goes by the ``cosine`` and ``sine`` of its mathematical angle (``wind_of``). Turned, a place has a
downwind coordinate, which grows with the wind, and a crosswind one; nothing else knows the signs.
"""

from typing import Any, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.sites.site import WindStates


def turn_arrays(cosine: Any, sine: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return downwind and crosswind coordinates of positions or distances; arrays are broadcast."""
    return -cosine * x - sine * y, sine * x - cosine * y


turn = inlined(turn_arrays)
"""The compiled version of ``turn_arrays``, for one direction and position."""


@inlined
def downwind_of(cosine: float, sine: float, x: float, y: float) -> float:
    return -cosine * x - sine * y


@inlined
def turn_back(cosine: float, sine: float, of_along: float, of_across: float) -> tuple[float, float]:
    """Return the slopes with x and y, from the slopes with the downwind and crosswind coordinates."""
    return sine * of_across - cosine * of_along, -cosine * of_across - sine * of_along


class Turned(NamedTuple):
    """A farm rotated into the wind.

    ``types`` belongs to turbines as they were given; ``order`` tells which of them comes first, second, ... going
    downwind, and ``along`` and ``across`` (m) are in that order.
    """

    types: IntArray
    order: IntArray
    along: FloatArray
    across: FloatArray


@scalar
def new_turned(types: IntArray) -> Turned:
    n = types.size
    return Turned(types, np.empty(n, np.int64), np.empty(n), np.empty(n))


@scalar
def turn_into_wind(
    x: FloatArray,
    y: FloatArray,
    cosine: float,
    sine: float,
    order: IntArray,
    downwind: FloatArray,
    crosswind: FloatArray,
) -> None:
    """Fill ``order`` with the turbines from upwind to downwind, and their coordinates in that order.

    ``order`` must hold every number once; that of the neighbouring direction is nearly right already, which
    insertion takes advantage of.
    """
    n = x.size
    for a in range(n):
        i = order[a]
        place = downwind_of(cosine, sine, x[i], y[i])
        b = a
        while b > 0 and downwind[b - 1] > place:
            downwind[b] = downwind[b - 1]
            order[b] = order[b - 1]
            b -= 1
        downwind[b] = place
        order[b] = i
    for a in range(n):
        i = order[a]
        crosswind[a] = turn(cosine, sine, x[i], y[i])[1]


class Wind(NamedTuple):
    """Wind states by direction: those of direction ``d`` are ``first[d]`` up to ``first[d + 1]``."""

    cosine: FloatArray
    sine: FloatArray
    first: IntArray
    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray
    most: int


def wind_of(states: WindStates) -> Wind:
    """Copy wind states into the form of the loops; whether an array is writable is part of its Numba type.

    Some sites give read-only arrays and some do not, and every loop would be compiled again for each mixture of them.
    """
    angle = np.deg2rad(90.0 - states.direction)
    return Wind(
        cosine=np.cos(angle),
        sine=np.sin(angle),
        first=np.array(states.first),
        speed=np.array(states.speed),
        weight=np.array(states.probability),
        turbulence=np.array(states.turbulence),
        most=int(np.diff(states.first).max()),
    )


class DirectionWind(NamedTuple):
    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray


@inlined
def wind_from(wind: Wind, d: int) -> DirectionWind:
    here = slice(wind.first[d], wind.first[d + 1])
    return DirectionWind(wind.speed[here], wind.weight[here], wind.turbulence[here])


class Waked(NamedTuple):
    """The wind in the wakes, by turbine (from upwind to downwind) and wind speed.

    Wind speed, power, thrust coefficient, summed wakes, turbulence intensity, the largest turbulence that a wake adds,
    and what blockage takes from the wind (m/s; used only for models with blockage).
    """

    u: FloatArray
    power: FloatArray
    ct: FloatArray
    summed: FloatArray
    ti: FloatArray
    extra: FloatArray
    blocked: FloatArray


@scalar
def new_waked(n: int, most: int) -> Waked:
    return Waked(
        np.empty((n, most)), np.empty((n, most)), np.empty((n, most)), np.empty((n, most)), np.empty((n, most)),
        np.empty((n, most)), np.empty((n, most)),
    )  # fmt: skip


class Adjoints(NamedTuple):
    """The partial derivatives of the total (mean power of all counted turbines) by the results downwind.

    By turbine (downwind order) and wind speed: ``summed`` and ``extra``, with sums of wakes and added turbulence;
    ``thrust``, with thrust coefficients or, in ``tabulated``, with places on the thrust axis. ``u`` and ``ti``: with
    wind speed and turbulence of the turbine whose turn it is, by wind speed. ``along`` and ``across``: with the places,
    by turbine. ``speed`` and ``blocked``, only for models with
    blockage: with all wind speeds, and what each has through the blockage of its turbine (``blockage``).
    ``weight_slope``, only in ``tabulated``: the slopes of the weights that a turbine's place on the thrust axis gives.

    Where the free wind differs from place to place, ``free`` and ``free_ti``: with the free wind speed and turbulence
    of the turbine whose turn it is, by wind speed; ``speedup``, ``turbulence``, ``turning``: with what is local, by
    turbine.
    """

    summed: FloatArray
    extra: FloatArray
    thrust: FloatArray
    u: FloatArray
    ti: FloatArray
    along: FloatArray
    across: FloatArray
    free: FloatArray
    free_ti: FloatArray
    speedup: FloatArray
    turbulence: FloatArray
    turning: FloatArray
    speed: FloatArray
    blocked: FloatArray
    weight_slope: FloatArray


@scalar
def new_adjoints(n: int, most: int) -> Adjoints:
    """Return buffers for ``n`` turbines and up to ``most`` wind speeds; unused pages cost nothing."""
    return Adjoints(
        np.empty((n, most)), np.empty((n, most)), np.empty((n, most)), np.empty(most), np.empty(most),
        np.empty(n), np.empty(n), np.empty(most), np.empty(most), np.empty(n), np.empty(n), np.empty(n),
        np.empty((n, most)), np.empty((n, most)), np.empty((n, 4, most)),
    )  # fmt: skip


@inlined
def no_adjoints(n: int, most: int) -> int:
    """Return a placeholder for loops without a gradient."""
    return 0


class DirectionPairs(NamedTuple):
    """Directions to evaluate in pairs: each and its opposite, or -1 if there is none."""

    ahead: IntArray
    behind: IntArray


def direction_pairs_of(states: WindStates, *, opposites: bool) -> DirectionPairs:
    """Return pairs of opposite directions, in which the same pairs of turbines interact."""
    direction = np.mod(states.direction, 360.0)
    if not opposites:
        return DirectionPairs(np.arange(len(direction)), np.full(len(direction), -1))
    free = dict(zip(direction.tolist(), range(len(direction)), strict=True))
    ahead, behind = [], []
    used: set[int] = set()
    for d, angle in enumerate(direction.tolist()):
        if d in used:
            continue
        other = free.get((angle + 180.0) % 360.0, -1)
        if other == d or other in used:
            other = -1
        used |= {d, other}
        ahead.append(d)
        behind.append(other)
    return DirectionPairs(np.array(ahead, np.int64), np.array(behind, np.int64))


@scalar
def count_up(order: IntArray) -> None:
    """Fill with 0, 1, 2, ... (assigning a slice would compile Numba's text handling, for an error message)."""
    for a in range(order.size):
        order[a] = a


@scalar
def clear(array: FloatArray) -> None:
    for k in range(array.size):
        array[k] = 0.0
