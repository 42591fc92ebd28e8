"""The wind and the farm as the compiled loops see them, and the turning of a farm into the wind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.site import WindStates

__all__ = ["BLOCK", "Legs", "Wind", "clear", "count_up", "legs_of", "turn_into_wind", "wind_of"]

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
    """Pack wind states for the loops."""
    angle = np.deg2rad(90.0 - states.direction)
    return Wind(
        cosine=np.cos(angle),
        sine=np.sin(angle),
        first=states.first,
        speed=states.speed,
        weight=states.probability,
        turbulence=states.turbulence,
        most=int(np.diff(states.first).max()),
    )


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
    """Fill ``order`` with the turbines from upwind to downwind, and their places in that order.

    ``order`` must hold every number once; that of the neighbouring direction is nearly right already, which
    insertion takes advantage of.
    """
    n = x.size
    for a in range(n):
        i = order[a]
        place = -cosine * x[i] - sine * y[i]
        b = a
        while b > 0 and downwind[b - 1] > place:
            downwind[b] = downwind[b - 1]
            order[b] = order[b - 1]
            b -= 1
        downwind[b] = place
        order[b] = i
    for a in range(n):
        i = order[a]
        crosswind[a] = sine * x[i] - cosine * y[i]
