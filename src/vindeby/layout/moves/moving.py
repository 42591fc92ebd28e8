"""The fastest of the move engines for a farm: what one moved turbine changes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_moves import carried_kernels
from vindeby.layout.moves.carried_state import CarriedMoves, MoveKernels, can_carry, new_carried_moves
from vindeby.layout.moves.steady_moves import SteadyMoves, is_steady, new_steady_moves, steady_kernels
from vindeby.layout.problem import Layout, Problem
from vindeby.wake import WindFarm


class WholeMoves(NamedTuple):
    """A layout that is evaluated as a whole for every trial; ``energies`` (GWh): its own and that of the last trial."""

    type_index: IntArray
    x: FloatArray
    y: FloatArray
    energies: FloatArray


class Mover(NamedTuple):
    """A layout in which single turbines are moved, and the loops that do it."""

    moves: SteadyMoves | CarriedMoves | WholeMoves
    kernels: MoveKernels
    is_compiled: bool


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
        return Mover(steady, steady_kernels(model, one_type), True)
    if not can_carry(farm, len(x)):
        whole = WholeMoves(np.array(type_index, np.int64), np.array(x), np.array(y), np.zeros(2))
        return Mover(whole, _whole_kernels(farm, counted, origin), False)
    carried = new_carried_moves(farm, x, y, type_index, counted, trials, origin)
    return Mover(carried, carried_kernels(model, farm.locality), True)


def _whole_kernels(farm: WindFarm, counted: int, origin: Sequence[float] | FloatArray) -> MoveKernels:
    """The kernels that evaluate whole layouts by the engine, whatever its wakes are."""

    def settle(_data: Any, _machines: Any, _wind: Any, moves: WholeMoves) -> float:
        x, y = moves.x[:counted] + origin[0], moves.y[:counted] + origin[1]
        moves.energies[:] = farm.turbine_aep(x, y, moves.type_index[:counted]).sum()
        return float(moves.energies[0])

    def gained(*given: Any) -> float:
        *common, moved, x, y, _ = given
        moves = common[3]
        before, was_x, was_y = moves.energies[0], moves.x[moved], moves.y[moved]
        moves.x[moved], moves.y[moved] = x, y
        after = settle(*common)
        moves.x[moved], moves.y[moved], moves.energies[0] = was_x, was_y, before
        return float(after - before)

    def keep(*given: Any) -> None:
        *_, moves, moved, x, y = given
        moves.x[moved], moves.y[moved], moves.energies[0] = x, y, moves.energies[1]

    return MoveKernels(settle, gained, keep)


def best_place(
    problem: Problem, layout: Layout, which: int, east: FloatArray, north: FloatArray
) -> tuple[float, float]:
    """That of some places at which the farm is worth most with one turbine there."""
    farm, beside = problem.farm, problem.neighbours
    middle = problem.boundary.origin
    x, y = np.append(layout.x, beside.x) - middle[0], np.append(layout.y, beside.y) - middle[1]
    type_index = np.append(layout.types, beside.types)
    moves, (settle, gained, _), _ = mover_of(farm, x, y, type_index, problem.counted, origin=middle)
    common = farm.data, farm.machines, farm.wind_near(middle), moves
    settle(*common)
    places = zip(east, north, strict=True)
    gains = [gained(*common, which, px - middle[0], py - middle[1], -inf) for px, py in places]
    best = int(np.argmax(gains))
    return float(east[best]), float(north[best])
