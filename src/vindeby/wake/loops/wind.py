"""The wind as the compiled loops see it: the free wind, and room for that at the turbines, in their wakes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.sites.site import WindStates

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BLOCK = 12
"""Directions summed up together, always the same ones, so that the number of threads changes nothing."""


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
    """Pack wind states for the loops, in copies: whether an array may be written to is part of its type for Numba.

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
    """The wind states of one direction."""

    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray


@inlined
def wind_from(wind: Wind, d: int) -> DirectionWind:
    """The wind states of direction ``d``."""
    here = slice(wind.first[d], wind.first[d + 1])
    return DirectionWind(wind.speed[here], wind.weight[here], wind.turbulence[here])


class Waked(NamedTuple):
    """By turbine, from upwind to downwind, and wind speed: what wakes make of the wind.

    Wind speed, thrust coefficient, summed wakes, turbulence intensity, the largest turbulence that a wake adds, and
    what blockage takes from the wind (m/s; used only for models with blockage).
    """

    u: FloatArray
    ct: FloatArray
    summed: FloatArray
    ti: FloatArray
    extra: FloatArray
    blocked: FloatArray


@scalar
def new_waked(n: int, most: int) -> Waked:
    """Room for ``n`` turbines and up to ``most`` wind speeds."""
    return Waked(
        np.empty((n, most)), np.empty((n, most)), np.empty((n, most)), np.empty((n, most)), np.empty((n, most)),
        np.empty((n, most)),
    )  # fmt: skip


class Legs(NamedTuple):
    """Directions to be worked off together: each and, if there is one (else -1), its opposite."""

    ahead: IntArray
    behind: IntArray


def legs_of(states: WindStates, *, opposites: bool) -> Legs:
    """Pair every direction with the opposite one, which has the same pairs of turbines in its wakes."""
    direction = np.mod(states.direction, 360.0)
    free = dict(zip(direction.tolist(), range(len(direction)), strict=True)) if opposites else {}
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
    return Legs(np.array(ahead, np.int64), np.array(behind, np.int64))


@scalar
def count_up(order: IntArray) -> None:
    """Fill with 0, 1, 2, ... (assigning a slice would compile Numba's text handling, for an error message)."""
    for a in range(order.size):
        order[a] = a


@scalar
def clear(array: FloatArray) -> None:
    """Fill with zeros."""
    for k in range(array.size):
        array[k] = 0.0
