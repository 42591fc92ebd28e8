"""What one moved turbine changes, carried on from move to move, where the free wind is the same everywhere.

For every direction the sums of wakes of all turbines are kept, and the deficit of every pair in reach, with lists of
who reaches whom. A trial finds, from the bearings of the others, the directions in which the moved turbine would reach
or be reached (``carried_pairs``); it takes its wakes out of the sums of those it reached, puts them in where it would
stand, and follows the turbines whose wind changes downwind, through their lists. It walks through a short list, sorted
by place, of the turbines that are touched. It writes down what it finds, and a kept move takes that over, so that
keeping costs no wake at all.

Three things keep sums equal to those of a whole evaluation (to 1e-9 of the energy). A turbine whose thrust, or wind
where deficits are fractions of it, is off what its wakes were made with by no more than ``SAME`` keeps its wakes; it is
compared with what they were made with, so that such steps do not add up. A sum of squares of which little is left is
summed up anew. And the walk settles the layout after every batch of draws.

The interface is that of ``one_move``, which holds where this does not (local wind, too many pairs for ``MOST_BYTES``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.moves.carried_estimate import LEARNT
from vindeby.layout.moves.carried_keep import make_keep
from vindeby.layout.moves.carried_pairs import Reaches, reaches_of
from vindeby.layout.moves.carried_settle import make_settle
from vindeby.layout.moves.carried_steps import SPOT
from vindeby.layout.moves.carried_trial import make_gained
from vindeby.layout.moves.one_move import MoveKernels, can_move_one
from vindeby.layout.moves.pair_losses import PairLosses, pair_losses_of
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.per_model import once_per_model

__all__ = ["CarriedMoves", "can_carry", "carried_kernels", "new_carried_moves"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
ShortIntArray = npt.NDArray[np.int16]
"""Numbers of turbines: ``MOST_BYTES`` allows for fewer than 6000."""

MOST_BYTES = 256 * 2**20
"""The deficits of all pairs may take so much memory."""
NOTES_PER_TURBINE = 16
"""Room for so many changed pairs for each turbine and direction; a kept move that changed more is settled anew."""


class CarriedMoves(NamedTuple):
    """The layout in every direction; then what a trial would change. Turbines first, neighbours after them.

    ``idle`` tells directions that never blow. ``spot`` (directions, turbines, ``SPOT``) holds numbers of a turbine in a
    direction, ``wind`` (directions, turbines, 8, wind speeds) those for every wind speed; ``carried_steps`` names
    them. ``targets`` and ``sources`` (directions, turbines, turbines) list those that a turbine reaches and those that
    reach it, as many as ``target_count`` and ``source_count`` say; ``deficit`` (directions, source, wind speeds,
    position in the source's ``targets``). ``order``: the turbines from upwind to downwind, when last settled.

    ``state`` of a turbine in a trial: 0 as before, 1 in other wakes, 2 with other wakes; ``touched`` lists those that
    are not as before, from upwind to downwind. ``note`` holds new deficits: those of a turbine on its targets from
    ``first_note`` on (none if -1), those on the moved turbine from ``first_note_on_moved``; as many as ``noted`` in
    all, and -1 if there was no room. ``keys``, ``far`` and ``aside`` are room for one step.

    ``total`` is the power when last settled. ``free_watts`` (directions, types) and ``steepest`` (directions, wind
    speeds) bound what a direction can gain (``bound``); rough trials ``visit`` those first that could gain most.
    ``pair_losses``, what they make for every turbine (``pair_sum``) and what was ``learnt`` about them are for
    estimates (``carried_estimate``).
    """

    type_index: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    reaches: Reaches
    idle: npt.NDArray[np.bool_]
    spot: FloatArray
    wind: FloatArray
    targets: ShortIntArray
    target_count: IntArray
    sources: ShortIntArray
    source_count: IntArray
    deficit: FloatArray
    order: IntArray
    state: npt.NDArray[np.int8]
    touched: ShortIntArray
    touched_count: IntArray
    new_along: FloatArray
    new_across: FloatArray
    new_targets: ShortIntArray
    new_target_count: IntArray
    new_sources: ShortIntArray
    new_source_count: IntArray
    first_note: IntArray
    first_note_on_moved: IntArray
    noted: IntArray
    note: FloatArray
    listed: ShortIntArray
    positions: ShortIntArray
    keys: FloatArray
    far: FloatArray
    aside: FloatArray
    total: FloatArray
    free_watts: FloatArray
    steepest: FloatArray
    bound: FloatArray
    visit: IntArray
    pair_losses: PairLosses
    pair_sum: FloatArray
    learnt: FloatArray


def can_carry(farm: WindFarm, turbines: int) -> bool:
    """Whether these loops hold for a farm, and its pairs are not too many."""
    directions, most = len(farm.wind.cosine), farm.wind.most
    return (
        farm.locality == "uniform"
        and can_move_one(farm.model)
        and 8 * directions * turbines * turbines * most <= MOST_BYTES
    )


def new_carried_moves(
    farm: WindFarm, x: FloatArray, y: FloatArray, type_index: IntArray, counted: int, trials: int = 0
) -> CarriedMoves:
    """Room for a layout, neighbours included, and for about so many trials; ``settle`` it first."""
    n, directions, most = len(x), len(farm.wind.cosine), farm.wind.most
    each, pairs = (directions, n), (directions, n, n)
    idle = np.array([not farm.wind.weight[a:b].any() for a, b in pairwise(farm.wind.first)])
    # The last n pairs are room for those that are not noted.
    notes = (NOTES_PER_TURBINE * directions * n + n) * most
    reaches = reaches_of(farm, x, y, idle)
    losses = pair_losses_of(farm, x, y, counted == n, reaches, trials)
    return CarriedMoves(
        np.array(type_index, np.int64), counted, np.array(x), np.array(y), reaches, idle,
        np.zeros((*each, SPOT)), np.zeros((*each, 8, most)),
        np.zeros(pairs, np.int16), np.zeros(each, np.int64), np.zeros(pairs, np.int16), np.zeros(each, np.int64),
        np.zeros((*each, most, n)), np.tile(np.arange(n), (directions, 1)),
        np.zeros(each, np.int8), np.zeros(each, np.int16), np.zeros(directions, np.int64),
        np.zeros(directions), np.zeros(directions),
        np.zeros(each, np.int16), np.zeros(directions, np.int64),
        np.zeros(each, np.int16), np.zeros(directions, np.int64),
        np.zeros(each, np.int64), np.zeros(directions, np.int64), np.zeros(1, np.int64), np.zeros(notes),
        np.zeros(n, np.int16), np.zeros(n, np.int16), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(1),
        *_bounds(farm), np.zeros(directions), np.zeros(directions, np.int64), losses,
        np.zeros(n), np.zeros(LEARNT),
    )  # fmt: skip


def _bounds(farm: WindFarm) -> tuple[FloatArray, FloatArray]:
    """The most power (W) by direction and type; by direction and wind speed, what the whole free wind is worth at most.

    The latter is the steepest slope of any power curve up to the free wind speed, times that speed.
    """
    wind = farm.wind
    u = np.arange(0.0, wind.speed.max() + 0.02, 0.01)
    power = np.stack([turbine.power_at(u) for turbine in farm.turbines])
    highest = np.maximum.accumulate(power, axis=1)
    steepest = np.maximum.accumulate(np.abs(np.diff(power, axis=1)).max(axis=0)) / 0.01
    most_watts = np.zeros((len(wind.cosine), len(farm.turbines)))
    worth = np.zeros((len(wind.cosine), wind.most))
    for d, (a, b) in enumerate(pairwise(wind.first)):
        at = np.minimum((wind.speed[a:b] / 0.01).astype(int) + 1, len(u) - 2)
        most_watts[d] = highest[:, at] @ wind.weight[a:b]
        worth[d, : b - a] = wind.weight[a:b] * wind.speed[a:b] * steepest[at]
    return most_watts, worth


@once_per_model
def carried_kernels(model: WakeModel) -> MoveKernels:
    """Compile, or load from disk, the loops for a model."""
    identity = f"{model.identity} carried"
    settle = make_settle(model, identity)
    return MoveKernels(settle, make_gained(model, identity), make_keep(identity, settle))
