"""In which wind directions a turbine feels the wake of another, and how much: what quick looks at lattices begin with.

The wake of a turbine is felt at a place in the few directions next to that which blows straight from one to the other.
So they are not all tried: the loop begins there and goes to both sides until the wake is missed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, degrees
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.loops.wind import turn
from vindeby.wake.models.contract import Pair

__all__ = ["POINTS", "Felt", "QuickWind", "make_list_felt", "new_felt", "power_left"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

POINTS = 257
"""Of each table of power, from no wake at all to no wind at all."""
LEAST = 1e-5
"""Wakes that take less of the wind than this, times the thrust coefficient, are left out."""
ABREAST = 1e-6
"""Turbines less than so many diameters downwind of another stand beside it."""


class QuickWind(NamedTuple):
    """By direction: where it blows from, the thrust coefficient and the turbulence intensity that make the wakes.

    ``direction`` (degrees) rises. ``power`` (directions, ``POINTS``) is the mean power (W) by the share of the wind
    that wakes take.
    """

    direction: FloatArray
    cosine: FloatArray
    sine: FloatArray
    thrust: FloatArray
    turbulence: FloatArray
    power: FloatArray


class Felt(NamedTuple):
    """Room for the directions in which a wake is felt, and the share of the wind that it takes there."""

    direction: IntArray
    share: FloatArray


def new_felt(wind: QuickWind) -> Felt:
    """Room for all directions."""
    many = len(wind.direction)
    return Felt(np.empty(many, np.int64), np.empty(many))


@scalar
def power_left(table, share):
    """The power where wakes take this share of the wind; straight lines between the points."""
    at = min(share, 1.0) * (POINTS - 1)
    k = min(int(at), POINTS - 2)
    return table[k] + (at - k) * (table[k + 1] - table[k])


@scalar
def _next_direction(directions: FloatArray, blown_from: float) -> int:
    """The first of the rising directions that is not below one; their number, if all are."""
    low, high = 0, directions.size
    while low < high:
        middle = (low + high) // 2
        if directions[middle] < blown_from:
            low = middle + 1
        else:
            high = middle
    return low


def make_list_felt(model: WakeModel) -> Callable[..., int]:
    """Make the loop that lists in which directions a turbine feels the wake of one of the same size."""
    deficit, reach = model.deficit, model.reach

    @scalar
    def share_at(data, diameter, height, thrust, turbulence, far, aside):
        """The share of the wind that is missing so far downwind and aside."""
        if far <= ABREAST * diameter or aside >= reach(data, far, diameter, diameter, thrust, turbulence):
            return 0.0
        return deficit(data, Pair(far, aside, 0.0, 2.0 * height, diameter, diameter, thrust, turbulence))

    @scalar
    def list_felt(data, diameter, height, wind, east, north, felt):
        """Fill ``felt`` for a turbine so far east and north of the one that makes the wake; returns how many."""
        directions = wind.direction.size
        straight = _next_direction(wind.direction, degrees(atan2(-east, -north)) % 360.0)
        many, left = 0, directions
        for side in range(2):
            d = straight - side
            while left > 0:
                d %= directions
                thrust, turbulence = wind.thrust[d], wind.turbulence[d]
                far, aside = turn(wind.cosine[d], wind.sine[d], east, north)
                share = share_at(data, diameter, height, thrust, turbulence, far, abs(aside))
                if share > LEAST * thrust:
                    felt.direction[many], felt.share[many] = d, share
                    many += 1
                elif thrust > 0.0:  # without thrust there is no wake to be missed
                    break
                d += 1 - 2 * side
                left -= 1
        return many

    made: Callable[..., int] = list_felt
    return made
