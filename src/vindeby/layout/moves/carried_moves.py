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

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_estimate import Estimates, estimates_of, move_pair_sums, sum_pairs
from vindeby.layout.moves.carried_state import (
    ACROSS,
    ALONG,
    HIGHEST,
    NEW,
    NEW_WATTS,
    SPEED,
    STRONGEST,
    SUMMED,
    THRUST,
    WATTS,
    Notes,
    Reaches,
    Room,
    SettledLayout,
    TrialChanges,
    forget_trial,
    is_downwind,
    is_in_reach,
    make_fill_deficits,
    make_settle_one,
    own_winds,
    reaches_of,
)
from vindeby.layout.moves.carried_trial import make_gained
from vindeby.layout.moves.one_move import MoveKernels, can_move_one
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalRows, rows_for
from vindeby.wake.loops.wind import turn, wind_from
from vindeby.wake.loops.wind_access import Locality, identity_of, superposition_for
from vindeby.wake.models.contract import once_per_model


@scalar
def _sort(spot, order):
    """From upwind to downwind, by insertion: the order of the last time is nearly right."""
    for a in range(order.size):
        i, b = order[a], a
        while b > 0 and is_downwind(spot[order[b - 1], ALONG] - spot[i, ALONG], order[b - 1], i):
            order[b] = order[b - 1]
            b -= 1
        order[b] = i


@inlined
def _list_targets(moves, d, a):
    """Whom the turbine at ``a`` of the order reaches, and how far they are; returns how many."""
    settled = moves.settled
    order, i, count = settled.order[d], settled.order[d, a], 0
    for b in range(a + 1, order.size):
        j = order[b]
        far = settled.spot[d, j, ALONG] - settled.spot[d, i, ALONG]
        aside = settled.spot[d, j, ACROSS] - settled.spot[d, i, ACROSS]
        if is_in_reach(moves, i, j, far, aside, False):
            moves.room.far[count], moves.room.aside[count], settled.targets[d, i, count] = far, aside, j
            count += 1
            settled.sources[d, j, settled.source_count[d, j]] = i
            settled.source_count[d, j] += 1
    settled.target_count[d, i] = count
    return count


def make_settle(model: WakeModel, locality: Locality, identity: str) -> Callable[..., float]:
    """Make the loop."""
    fill_deficits, settle_one = make_fill_deficits(model), make_settle_one(model, locality)
    together, own = superposition_for(model, locality), own_winds(locality)
    wind_at, fill = own.settled, own.fill
    term, scale = together.term, together.scale

    @inlined
    def cast(data, machines, moves, d, a, states):
        """The wakes of the turbine at ``a`` of the order, with its own free wind, on those after it."""
        settled = moves.settled
        i, count = settled.order[d, a], _list_targets(moves, d, a)
        row, targets = settled.wind[d, i], settled.targets[d, i]
        fill_deficits(
            data, machines, moves, moves.type_index[i], targets, count, states.turbulence, row[THRUST],
            moves.notes.deficit, 0,
        )  # fmt: skip
        settled.spot[d, i, STRONGEST] = 0.0
        for k in range(states.speed.size):
            for q in range(count):
                deficit = moves.notes.deficit[k * count + q]
                settled.spot[d, i, STRONGEST] = max(settled.spot[d, i, STRONGEST], deficit)
                settled.deficit[d, i, k, q] = deficit
                settled.wind[d, targets[q], SUMMED, k] += term(
                    deficit * scale(row[SPEED, k], states.speed[k])
                )

    @kernel(identity, counts_references=False)
    def settle(data, machines, wind, moves):
        settled = moves.settled
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            forget_trial(moves, d)
            if settled.idle[d]:
                continue
            states = wind_from(wind, d)
            for i in range(n):
                settled.spot[d, i, ALONG], settled.spot[d, i, ACROSS] = turn(
                    wind.cosine[d], wind.sine[d], moves.x[i], moves.y[i]
                )
                settled.source_count[d, i] = 0
                fill(wind, d, moves, moves.type_index[i], moves.x[i], moves.y[i], d * n + i)
                for k in range(states.speed.size):
                    settled.wind[d, i, SUMMED, k] = 0.0
            _sort(settled.spot[d], settled.order[d])
            for a in range(n):
                i = settled.order[d, a]
                row = settled.wind[d, i]
                for k in range(states.speed.size):
                    row[HIGHEST, k] = row[SUMMED, k]
                own_states = wind_at(moves, d, states, i)
                watts = settle_one(machines, moves.type_index[i], own_states, row, 0)
                settled.spot[d, i, WATTS] = watts
                if i < moves.counted:
                    total += watts
                cast(data, machines, moves, d, a, own_states)
        settled.total[0] = total
        sum_pairs(moves)
        return total

    return settle


@inlined
def _position(members, count, i):
    """Where ``i`` stands in a list."""
    for q in range(count - 1):
        if members[q] == i:
            return q
    return count - 1


@inlined
def _unlist(moves, d, moved):
    """Forget who reached the moved turbine, and whom it reached."""
    settled = moves.settled
    for q in range(settled.target_count[d, moved]):
        j = settled.targets[d, moved, q]
        last = settled.source_count[d, j] - 1
        settled.sources[d, j, _position(settled.sources[d, j], last + 1, moved)] = settled.sources[d, j, last]
        settled.source_count[d, j] = last
    for q in range(settled.source_count[d, moved]):
        i = settled.sources[d, moved, q]
        last = settled.target_count[d, i] - 1
        at = _position(settled.targets[d, i], last + 1, moved)
        settled.targets[d, i, at] = settled.targets[d, i, last]
        for k in range(settled.deficit.shape[2]):
            settled.deficit[d, i, k, at] = settled.deficit[d, i, k, last]
        settled.target_count[d, i] = last


@inlined
def _list(moves, d, moved):
    """Who reaches the moved turbine now, and whom it reaches."""
    settled, trial = moves.settled, moves.trial
    count = trial.target_count[d]
    settled.target_count[d, moved] = count
    for q in range(count):
        j = trial.targets[d, q]
        settled.targets[d, moved, q] = j
        settled.sources[d, j, settled.source_count[d, j]] = moved
        settled.source_count[d, j] += 1
    count = trial.source_count[d]
    settled.source_count[d, moved] = count
    for q in range(count):
        i = trial.sources[d, q]
        settled.sources[d, moved, q] = i
        at = settled.target_count[d, i]
        settled.targets[d, i, at] = moved
        for k in range(settled.deficit.shape[2]):
            deficit = moves.notes.deficit[moves.notes.first_on_moved[d] + k * count + q]
            settled.deficit[d, i, k, at] = deficit
            settled.spot[d, i, STRONGEST] = max(settled.spot[d, i, STRONGEST], deficit)
        settled.target_count[d, i] = at + 1


@inlined
def _take_over(moves, d, moved):
    """The sums and wakes of all that the trial touched in one direction, as they were listed then."""
    settled, trial, notes = moves.settled, moves.trial, moves.notes
    for a in range(trial.touched_count[d]):
        i = trial.touched[d, a]
        settled.spot[d, i, WATTS] = settled.spot[d, i, NEW_WATTS]
        row = settled.wind[d, i]
        # Wakes that stay as they are were made with the wind speed and thrust that they had.
        for what in range(NEW if trial.state[d, i] == 2 else NEW // 2):
            for k in range(row.shape[1]):
                row[what, k] = row[NEW + what, k]
        if trial.state[d, i] != 2 or notes.first[d, i] < 0:
            continue
        count = trial.target_count[d] if i == moved else settled.target_count[d, i]
        deficits, first, strongest = settled.deficit[d, i], notes.first[d, i], 0.0
        for k in range(row.shape[1]):
            for q in range(count):
                deficit = notes.deficit[first + k * count + q]
                deficits[k, q] = deficit
                strongest = max(strongest, deficit)
        settled.spot[d, i, STRONGEST] = strongest


def make_keep(locality: Locality, identity: str, settle: Callable[..., float]) -> Callable[..., None]:
    """Make the loop; ``settle`` is for moves that changed more than there is room to note."""
    take_over_wind = own_winds(locality).take_over

    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):
        """Follows ``gained`` of the same move."""
        settled = moves.settled
        old_x, old_y = moves.x[moved], moves.y[moved]
        moves.x[moved], moves.y[moved] = x, y
        if moves.notes.used[0] < 0:
            settle(data, machines, wind, moves)
            return
        move_pair_sums(moves, moved, old_x, old_y)
        for d in range(wind.cosine.size):
            if not settled.idle[d]:
                _take_over(moves, d, moved)
                _unlist(moves, d, moved)
                _list(moves, d, moved)
                take_over_wind(moves, d, moved)
                settled.spot[d, moved, ALONG] = moves.trial.along[d]
                settled.spot[d, moved, ACROSS] = moves.trial.across[d]

    return keep


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
