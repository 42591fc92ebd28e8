"""What a moved turbine can gain at most, by direction, so that a rough trial of ``carried_moves`` can end early."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray
from vindeby.layout.moves.carried_steps import COST, WATTS
from vindeby.wake import WindFarm
from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.wind import Wind

SPEED_STEP = 0.01
"""Between the points (m/s) of power curves."""
RECOVERED = 1.25
"""A turbine's wakes taken away may give others so much more than what they take at most: their own wakes change."""


class Bounds(NamedTuple):
    """What bounds a gain; then room for a trial.

    ``free_watts`` (directions, types): the most power (W) that a turbine can have anywhere. ``highest`` (types, points
    ``SPEED_STEP`` apart): the most that a power curve has up to a wind speed, for the free wind of a place.
    ``steepest`` (directions, wind speeds): what the whole free wind is worth at most (W), that is the steepest slope of
    any power curve up to the free wind speed, times that speed. Of a trial, ``bound`` is what each direction can gain
    at most, and ``visit`` lists the directions, those first that could gain most.
    """

    free_watts: FloatArray
    highest: FloatArray
    steepest: FloatArray
    bound: FloatArray
    visit: npt.NDArray[np.int64]


def bounds_of(farm: WindFarm, wind: Wind) -> Bounds:
    """The bounds of a farm; ``wind`` is the strongest that blows anywhere."""
    directions = len(wind.cosine)
    u = np.arange(0.0, wind.speed.max() + 0.02, SPEED_STEP)
    power = np.stack([turbine.power_at(u) for turbine in farm.turbines])
    highest = np.maximum.accumulate(power, axis=1)
    steepest = np.maximum.accumulate(np.abs(np.diff(power, axis=1)).max(axis=0)) / SPEED_STEP
    free_watts = np.zeros((directions, len(farm.turbines)))
    worth = np.zeros((directions, wind.most))
    for d, (a, b) in enumerate(pairwise(wind.first)):
        at = np.minimum((wind.speed[a:b] / SPEED_STEP).astype(int) + 1, len(u) - 2)
        free_watts[d] = highest[:, at] @ wind.weight[a:b]
        worth[d, : b - a] = wind.weight[a:b] * wind.speed[a:b] * steepest[at]
    return Bounds(free_watts, highest, worth, np.zeros(directions), np.zeros(directions, np.int64))


def make_order_directions(most_watts: Callable[..., float]) -> Callable[..., float]:
    """Make the step; ``most_watts`` is that of ``OwnWinds``."""

    @inlined
    def order_directions(wind, moves, moved):
        """Those first that could gain most; returns what all could, at most.

        A turbine can gain what wakes take from it, and what the wind is better at its new place; others can gain what
        its wakes take from them.
        """
        bounds, left = moves.bounds, 0.0
        for d in range(bounds.visit.size):
            spot = moves.settled.spot[d, moved]
            bound = most_watts(wind, moves, d, moved) - spot[WATTS] + RECOVERED * spot[COST]
            bounds.bound[d] = bound
            left += bound
            b = d
            while b > 0 and bounds.bound[bounds.visit[b - 1]] < bound:
                bounds.visit[b] = bounds.visit[b - 1]
                b -= 1
            bounds.visit[b] = d
        return left

    return order_directions
