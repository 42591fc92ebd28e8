"""What one moved turbine changes, carried on from move to move.

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

Where the free wind differs from place to place, every turbine has its own (``carried_wind``).

The interface is that of ``one_move``, which holds where this does not: wakes that follow the turned wind, too many
pairs for ``MOST_BYTES``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_estimate import Estimates, estimates_of
from vindeby.layout.moves.carried_keep import make_keep
from vindeby.layout.moves.carried_pairs import Reaches, reaches_of
from vindeby.layout.moves.carried_settle import make_settle
from vindeby.layout.moves.carried_state import Notes, Room, SettledLayout, TrialChanges
from vindeby.layout.moves.carried_trial import make_gained
from vindeby.layout.moves.one_move import MoveKernels, can_move_one
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.local.local_rows import LocalRows, rows_for
from vindeby.wake.loops.wind_access import Locality, identity_of

MOST_BYTES = 256 * 2**20
"""The deficits of all pairs may take so much memory."""


class CarriedMoves(NamedTuple):
    """A layout, turbines first and neighbours after them, and all that is kept of it from move to move.

    ``counted`` turbines count. ``reaches`` tells who reaches whom, ``settled`` holds the wakes of the layout as it
    stands; ``trial`` and ``notes`` what the last trial would change, with ``room`` for its steps.
    ``estimates`` are for trials that need not be worked out in full. ``free`` has the free wind of every turbine where
    it differs from place to place.
    """

    type_index: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    reaches: Reaches
    settled: SettledLayout
    trial: TrialChanges
    notes: Notes
    room: Room
    estimates: Estimates
    free: LocalRows


def can_carry(farm: WindFarm, turbines: int) -> bool:
    """Whether these loops hold for a farm, and its pairs are not too many."""
    directions, most = len(farm.wind.cosine), farm.wind.most
    return (
        farm.locality != "turned"
        and can_move_one(farm.model)
        and 8 * directions * turbines * turbines * most <= MOST_BYTES
    )


def new_carried_moves(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    type_index: IntArray,
    counted: int,
    trials: int = 0,
    origin: Sequence[float] | FloatArray | None = None,
) -> CarriedMoves:
    """Room for a layout, neighbours included, and for about so many trials; ``settle`` it first.

    Places are counted from ``origin``; without it, moves in local wind are not estimated.
    """
    n, directions, most = len(x), len(farm.wind.cosine), farm.wind.most
    settled = SettledLayout.empty(farm.wind, n)
    reaches = reaches_of(farm, x, y, settled.idle)
    return CarriedMoves(
        np.array(type_index, np.int64), counted, np.array(x), np.array(y), reaches, settled,
        TrialChanges.empty(directions, n), Notes.empty(directions, n, most), Room.empty(n),
        estimates_of(farm, x, y, type_index, counted, reaches, trials, origin),
        rows_for(0 if farm.locality == "uniform" else directions * (n + 1), most),
    )  # fmt: skip


@once_per_model
def carried_kernels(model: WakeModel, locality: Locality = "uniform") -> MoveKernels:
    """Compile, or load from disk, the loops for a model."""
    identity = f"{identity_of(model, locality)} carried"
    settle = make_settle(model, locality, identity)
    return MoveKernels(settle, make_gained(model, locality, identity), make_keep(locality, identity, settle))
