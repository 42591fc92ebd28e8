"""What one moved turbine changes, carried on from move to move, where the free wind is the same everywhere.

For every direction the sums of wakes of all turbines are kept, and the deficit of every pair in reach, with lists of
who reaches whom. A trial takes the wakes of the moved turbine out of the sums of those it reached, puts them in where
it would stand, and follows the turbines whose wind changes downwind, through their lists: what is out of reach costs
one comparison. It writes down what it finds, and a kept move takes that over, so that keeping costs no wake at all.

Three things keep sums equal to those of a whole evaluation (to 1e-9 of the energy). A turbine whose thrust, or wind
where deficits are fractions of it, is off what its wakes were made with by no more than ``SAME`` keeps its wakes; it is
compared with what they were made with, so that such steps do not add up. A sum of squares of which little is left is
summed up anew. And the walk settles the layout after every batch of draws.

The interface is that of ``one_move``, which holds where this does not (local wind, too many pairs for ``MOST_BYTES``).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.moves.carried_keep import make_keep
from vindeby.layout.moves.carried_settle import make_settle
from vindeby.layout.moves.carried_trial import make_gained
from vindeby.layout.moves.one_move import MoveKernels, can_move_one
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import kernel
from vindeby.wake.compiling.per_model import once_per_model

__all__ = ["CarriedMoves", "can_carry", "carried_kernels", "new_carried_moves"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MOST_BYTES = 256 * 2**20
"""The deficits of all pairs may take so much memory."""
REACH_POINTS = 2048
"""Of each table of reach."""
NOTES_PER_TURBINE = 16
"""Room for so many changed pairs for each turbine and direction; a kept move that changed more is settled anew."""


class CarriedMoves(NamedTuple):
    """The layout in every direction; then what a trial would change. Turbines first, neighbours after them.

    ``edge``: the widest reach by pair of types and downwind distance (``edge_per_m`` points per metre). Arrays over
    (directions, turbines): ``along``, ``across``, ``order`` (from upwind to downwind), ``watts``; ``idle`` tells
    directions that never blow. Over (directions, turbines, wind speeds): ``summed``; ``highest``, which a sum was since
    it was summed up; ``cast_speed`` and ``cast_thrust``, with which a turbine's wakes were made. ``targets`` and
    ``sources`` (directions, turbines, turbines) list those that a turbine reaches and those that reach it, as many as
    ``target_count`` and ``source_count`` say; ``deficit`` is (directions, source, target, wind speeds).

    ``state`` of a turbine in a trial: 0 as before, 1 in other wakes, 2 with other wakes; ``touched`` lists those that
    are not as before. ``note_...`` are pairs with new deficits, those of direction ``d`` from ``first_note[d]`` on.
    """

    type_index: IntArray
    counted: int
    types: int
    x: FloatArray
    y: FloatArray
    edge: FloatArray
    edge_per_m: float
    idle: npt.NDArray[np.bool_]
    along: FloatArray
    across: FloatArray
    order: IntArray
    watts: FloatArray
    summed: FloatArray
    highest: FloatArray
    cast_speed: FloatArray
    cast_thrust: FloatArray
    targets: npt.NDArray[np.int32]
    target_count: IntArray
    sources: npt.NDArray[np.int32]
    source_count: IntArray
    deficit: FloatArray
    state: npt.NDArray[np.int8]
    touched: npt.NDArray[np.int32]
    touched_count: IntArray
    new_along: FloatArray
    new_across: FloatArray
    new_watts: FloatArray
    new_summed: FloatArray
    new_highest: FloatArray
    new_speed: FloatArray
    new_thrust: FloatArray
    new_targets: npt.NDArray[np.int32]
    new_target_count: IntArray
    new_sources: npt.NDArray[np.int32]
    new_source_count: IntArray
    first_note: IntArray
    note_source: npt.NDArray[np.int32]
    note_target: npt.NDArray[np.int32]
    note_deficit: FloatArray


def can_carry(farm: WindFarm, turbines: int) -> bool:
    """Whether these loops hold for a farm, and its pairs are not too many."""
    directions, most = len(farm.wind.cosine), farm.wind.most
    return (
        farm.locality == "uniform"
        and can_move_one(farm.model)
        and 8 * directions * turbines * turbines * most <= MOST_BYTES
    )


def new_carried_moves(
    farm: WindFarm, x: FloatArray, y: FloatArray, type_index: IntArray, counted: int
) -> CarriedMoves:
    """Room for a layout, neighbours included; ``settle`` it first."""
    n, directions, most = len(x), len(farm.wind.cosine), farm.wind.most
    each, states, pairs = (directions, n), (directions, n, most), (directions, n, n)
    notes = NOTES_PER_TURBINE * directions * n
    edge, per_m = _edges(farm, x, y)
    first = farm.wind.first
    return CarriedMoves(
        np.array(type_index, np.int64), counted, len(farm.turbines), np.array(x), np.array(y), edge, per_m,
        np.array([not farm.wind.weight[a:b].any() for a, b in pairwise(first)]),
        np.zeros(each), np.zeros(each), np.tile(np.arange(n), (directions, 1)), np.zeros(each),
        np.zeros(states), np.zeros(states), np.zeros(states), np.zeros(states),
        np.zeros(pairs, np.int32), np.zeros(each, np.int64), np.zeros(pairs, np.int32), np.zeros(each, np.int64),
        np.zeros((*pairs, most)),
        np.zeros(each, np.int8), np.zeros(each, np.int32), np.zeros(directions, np.int64),
        np.zeros(directions), np.zeros(directions), np.zeros(each),
        np.zeros(states), np.zeros(states), np.zeros(states), np.zeros(states),
        np.zeros(each, np.int32), np.zeros(directions, np.int64),
        np.zeros(each, np.int32), np.zeros(directions, np.int64),
        np.zeros(directions + 1, np.int64), np.zeros(notes + 1, np.int32), np.zeros(notes + 1, np.int32),
        np.zeros((notes + 1, most)),
    )  # fmt: skip


def _edges(farm: WindFarm, x: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """The table of the widest reach, up to twice the size of the layout, and its points per metre."""
    size = 2.0 * float(np.hypot(np.ptp(x), np.ptp(y))) + 1000.0
    thrust = np.array([turbine.thrust_range()[1] for turbine in farm.turbines])
    edge = np.zeros((len(thrust) ** 2, REACH_POINTS))
    _edge_kernel(farm.model)(
        farm.data, farm.machines, thrust, float(farm.wind.turbulence.max()), size / REACH_POINTS, edge
    )
    return edge, REACH_POINTS / size


@once_per_model
def _edge_kernel(model: WakeModel) -> Callable[..., None]:
    reach = model.reach

    @kernel(f"{model.identity} carried")
    def fill_edges(data, machines, thrust, turbulence, step, edge):  # type: ignore[no-untyped-def]
        types = thrust.size
        for source in range(types):
            for target in range(types):
                row, last = edge[source * types + target], 0.0
                for q in range(row.size + 1):
                    here = reach(
                        data, q * step, machines.diameter[source], machines.diameter[target],
                        thrust[source], turbulence,
                    )  # fmt: skip
                    if q:
                        row[q - 1] = max(last, here)
                    last = here

    return fill_edges


@once_per_model
def carried_kernels(model: WakeModel) -> MoveKernels:
    """Compile, or load from disk, the loops for a model."""
    identity = f"{model.identity} carried"
    settle = make_settle(model, identity)
    return MoveKernels(settle, make_gained(model, identity), make_keep(identity, settle))
