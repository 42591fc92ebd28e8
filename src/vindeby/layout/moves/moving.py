"""The fastest way there is, for a farm, to tell what one moved turbine changes."""

from __future__ import annotations

from typing import NamedTuple

from vindeby.layout.moves.carried_moves import (
    CarriedMoves,
    can_carry,
    carried_kernels,
    new_carried_moves,
)
from vindeby.layout.moves.one_move import MoveKernels, Moves, can_move_one, move_kernels, new_moves
from vindeby.layout.moves.steady_moves import SteadyMoves, is_steady, new_steady_moves, steady_kernels
from vindeby.layout.problem import FloatArray, IntArray
from vindeby.wake import WindFarm
from vindeby.wake.loops.wind_access import identity_of

__all__ = ["Mover", "can_move_one", "mover_of"]


class Mover(NamedTuple):
    """A layout in which single turbines are moved, the loops that do it, and a name for loops made of them."""

    moves: Moves | SteadyMoves | CarriedMoves
    kernels: MoveKernels
    identity: str


def mover_of(
    farm: WindFarm, x: FloatArray, y: FloatArray, type_index: IntArray, counted: int, trials: int = 0
) -> Mover:
    """Make a layout (neighbours after its turbines, near the origin) ready for moves; ``settle`` it first.

    ``trials``: about how many moves will be tried that need some gain.
    """
    model = farm.model
    if farm.locality == "uniform" and is_steady(farm):
        steady = new_steady_moves(farm, x, y, type_index, counted)
        several = "" if len(farm.turbines) == 1 else " several types"
        return Mover(
            steady, steady_kernels(model, len(farm.turbines) == 1), f"{model.identity} steady{several}"
        )
    if can_carry(farm, len(x)):
        carried = new_carried_moves(farm, x, y, type_index, counted, trials)
        return Mover(carried, carried_kernels(model), f"{model.identity} carried")
    return Mover(
        new_moves(farm, x, y, type_index, counted),
        move_kernels(model, farm.locality),
        identity_of(model, farm.locality),
    )
