"""The fastest of the move engines for a farm: what one moved turbine changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_moves import (
    CarriedMoves,
    can_carry,
    carried_kernels,
    new_carried_moves,
)
from vindeby.layout.moves.one_move import MoveKernels, Moves, can_move_one, move_kernels, new_moves
from vindeby.layout.moves.steady_moves import SteadyMoves, is_steady, new_steady_moves, steady_kernels
from vindeby.layout.problem import Layout, Problem
from vindeby.wake import WindFarm
from vindeby.wake.loops.wind_access import identity_of

ONE_MOVE, FROM_TABLES = 1.7, 0.1
"""What a trial of ``one_move`` takes, times the root of the number of turbines, and what a whole layout does that is
evaluated from tables: shares of what a whole layout takes without tables. Measured with 20 to 250 turbines."""


CARRIED_LAST = 500
"""After so many kept moves, sums that are carried on from move to move are made anew, for what rounding did to them."""


class Mover(NamedTuple):
    """A layout in which single turbines are moved, the loops that do it, and a name for loops made of them."""

    moves: Moves | SteadyMoves | CarriedMoves
    kernels: MoveKernels
    identity: str

    @property
    def lasting(self) -> int:
        """After how many kept moves a walk settles the layout anew, when a batch of draws is through."""
        return CARRIED_LAST if isinstance(self.moves, CarriedMoves) else 0


def is_cheaper_whole(farm: WindFarm, turbines: int) -> bool:
    """Whether a trial that evaluates the whole layout takes less than one that follows the moved turbine.

    That is so where wakes can neither be carried on from move to move nor stay what they are, but be read from tables:
    the loops of ``one_move`` use the wake model itself.
    """
    if not farm.tabulated or is_steady(farm) or can_carry(farm, turbines):
        return False
    return ONE_MOVE / sqrt(turbines) > FROM_TABLES


def mover_of(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    type_index: IntArray,
    counted: int,
    trials: int = 0,
    origin: Sequence[float] | FloatArray | None = None,
) -> Mover:
    """Make a layout (neighbours after its turbines, near the origin) ready for moves; ``settle`` it first.

    ``trials``: about how many moves will be tried that need some gain. ``origin``: where places are counted from, for
    estimates where the wind differs from place to place; they are left out without it.
    """
    model = farm.model
    if farm.locality == "uniform" and is_steady(farm):
        steady = new_steady_moves(farm, x, y, type_index, counted)
        several = "" if len(farm.turbines) == 1 else " several types"
        return Mover(
            steady, steady_kernels(model, len(farm.turbines) == 1), f"{model.identity} steady{several}"
        )
    if can_carry(farm, len(x)):
        carried = new_carried_moves(farm, x, y, type_index, counted, trials, origin)
        return Mover(
            carried, carried_kernels(model, farm.locality), f"{identity_of(model, farm.locality)} carried"
        )
    return Mover(
        new_moves(farm, x, y, type_index, counted),
        move_kernels(model, farm.locality),
        identity_of(model, farm.locality),
    )


def worth_elsewhere(problem: Problem, layout: Layout, which: int) -> Callable[[float, float], float]:
    """What the farm is worth, on some scale, as a function of where one turbine stands."""
    farm, beside = problem.farm, problem.neighbours
    if not can_move_one(farm.model):

        def whole(px: float, py: float) -> float:
            x, y = np.array(layout.x), np.array(layout.y)
            x[which], y[which] = px, py
            return problem.aep(Layout(x, y, layout.types))

        return whole
    middle = problem.boundary.origin
    x, y = np.append(layout.x, beside.x) - middle[0], np.append(layout.y, beside.y) - middle[1]
    type_index = np.append(layout.types, beside.types)
    moves, (settle, gained, _), _ = mover_of(farm, x, y, type_index, problem.counted)
    wind = farm.wind_near(middle)
    settle(farm.data, farm.machines, wind, moves)

    def elsewhere(px: float, py: float) -> float:
        return gained(farm.data, farm.machines, wind, moves, which, px - middle[0], py - middle[1], -inf)

    return elsewhere
