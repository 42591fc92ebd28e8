"""The fastest of the move engines for a farm: what one moved turbine changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_moves import carried_kernels
from vindeby.layout.moves.carried_state import CarriedMoves, MoveKernels, can_carry, new_carried_moves
from vindeby.layout.moves.steady_moves import SteadyMoves, is_steady, new_steady_moves, steady_kernels
from vindeby.layout.problem import Layout, Problem
from vindeby.wake import WindFarm
from vindeby.wake.loops.wind_access import identity_of


class Mover(NamedTuple):
    """A layout in which single turbines are moved, the loops that do it, and a name for loops made of them."""

    moves: SteadyMoves | CarriedMoves
    kernels: MoveKernels
    identity: str


def can_follow(farm: WindFarm, turbines: int) -> bool:
    """Whether a trial can follow the moved turbine; otherwise whole layouts are evaluated."""
    return is_steady(farm) or can_carry(farm, turbines)


def mover_of(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    type_index: IntArray,
    counted: int,
    trials: int = 0,
    origin: Sequence[float] | FloatArray = (0.0, 0.0),
) -> Mover:
    """Make a layout (neighbours after its turbines) ready for moves; ``settle`` it first.

    Places are relative to ``origin``. ``trials``: about how many moves will be tried that need some gain.
    """
    model = farm.model
    if is_steady(farm):
        steady = new_steady_moves(farm, x, y, type_index, counted)
        one_type = len(farm.turbines) == 1
        several = "" if one_type else " several types"
        return Mover(steady, steady_kernels(model, one_type), f"{model.identity} steady{several}")
    carried = new_carried_moves(farm, x, y, type_index, counted, trials, origin)
    identity = f"{identity_of(model, farm.locality)} carried"
    return Mover(carried, carried_kernels(model, farm.locality), identity)


def worth_elsewhere(problem: Problem, layout: Layout, which: int) -> Callable[[float, float], float]:
    """What the farm is worth, on some scale, as a function of where one turbine stands."""
    farm, beside = problem.farm, problem.neighbours
    middle = problem.boundary.origin
    x, y = np.append(layout.x, beside.x) - middle[0], np.append(layout.y, beside.y) - middle[1]
    if not can_follow(farm, len(x)):

        def whole(px: float, py: float) -> float:
            x, y = np.array(layout.x), np.array(layout.y)
            x[which], y[which] = px, py
            return problem.aep(Layout(x, y, layout.types))

        return whole
    type_index = np.append(layout.types, beside.types)
    moves, (settle, gained, _), _ = mover_of(farm, x, y, type_index, problem.counted)
    wind = farm.wind_near(middle)
    settle(farm.data, farm.machines, wind, moves)

    def elsewhere(px: float, py: float) -> float:
        return gained(farm.data, farm.machines, wind, moves, which, px - middle[0], py - middle[1], -inf)

    return elsewhere
