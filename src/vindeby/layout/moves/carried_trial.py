"""A trial of ``carried_moves``: what the farm gains by a move, with notes of all that would change.

Most moves of a search are refused, and by far more than it takes to see from an estimate (``carried_estimate``), or
else from a rough trial: one that leaves out deficits, and changes of them, below ``ROUGH``. Only a gain that may be
above what is needed is worked out in full.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

from vindeby.layout.moves.carried_estimate import learn, make_estimated_gain
from vindeby.layout.moves.carried_pairs import ROUGH, find_pairs
from vindeby.layout.moves.carried_steps import (
    HIGHEST,
    NEW,
    NEW_WATTS,
    SPEED,
    STRONGEST,
    SUMMED,
    THRUST,
    WATTS,
    forget_trial,
    make_settle_one,
)
from vindeby.layout.moves.carried_wakes import list_targets, make_cast, make_sum_up, make_take_out
from vindeby.layout.moves.carried_wind import own_winds
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.wind import wind_from
from vindeby.wake.loops.wind_access import Locality

SAME = 1e-10
"""A thrust coefficient, or a fraction of a turbine's free wind speed, that differs by no more casts the same wakes."""
PER_THRUST = 3.0
"""By how much of itself a wake changes, about, with the thrust coefficient."""
CLEAR, PER_TURBINES = 20.0 * ROUGH, 50
"""By how much of the mean power of a turbine a rough gain must be below what is needed; in farms of more turbines than
``PER_TURBINES`` by more, with the root of their number, as more small deficits are left out. Measured: a rough gain was
off by less than a tenth of that at 50 turbines, by a third at 200, in trials that were not ended early."""
LEFT = 1e-6
"""A sum of squares that has fallen to this share of its highest is summed up anew: its root would show the rounding."""


def _make_differs(of_source: bool) -> Callable[..., tuple[int, float]]:
    @inlined
    def differs(row, free, same):
        """Whether a turbine casts other wakes than it did (1), and of another thrust (2); about how much they change.

        That is as a fraction of the wakes.
        """
        result, most = 0, 0.0
        for k in range(free.size):
            thrust = abs(row[NEW + THRUST, k] - row[THRUST, k])
            speed = abs(row[NEW + SPEED, k] - row[SPEED, k]) / free[k] if of_source else 0.0
            if thrust > same:
                result = 2
            elif speed > same:
                result = max(result, 1)
            most = max(most, PER_THRUST * thrust + speed)
        return result, most

    return differs


@inlined
def _is_little_left(row):
    """Whether a sum must be summed up anew; notes the highest."""
    few = False
    for k in range(row.shape[1]):
        few = few or row[NEW + SUMMED, k] < LEFT * row[NEW + HIGHEST, k]
        row[NEW + HIGHEST, k] = max(row[NEW + HIGHEST, k], row[NEW + SUMMED, k])
    return few


def _make_gained_in(model: WakeModel, locality: Locality) -> Callable[..., float]:
    sum_up, settle_one = make_sum_up(model, locality), make_settle_one(model, locality)
    cast, take_out = make_cast(model, locality), make_take_out(model, locality)
    differs, own = _make_differs(model.reference == "source"), own_winds(locality)
    wind_at, wind_tried, squares = own.settled, own.tried, model.superposition == "squares"

    @inlined
    def gained_in(data, machines, moves, d, moved, states, rough):
        """The gain (W) in one direction."""
        settled, trial = moves.settled, moves.trial
        total, a = 0.0, 0
        take_out(moves, d, moved, wind_at(moves, d, states, moved), rough)
        while a < trial.touched_count[d]:
            i = trial.touched[d, a]
            row = settled.wind[d, i]
            if i == moved or (squares and _is_little_left(row)):
                sum_up(data, machines, moves, d, i, moved, states)
            free = wind_tried(moves, d, states, i, moved)
            watts = settle_one(machines, moves.type_index[i], free, row, NEW)
            settled.spot[d, i, NEW_WATTS] = watts
            if i < moves.counted:
                total += watts - settled.spot[d, i, WATTS]
            change, most = differs(row, free.speed, ROUGH if rough else SAME)
            if i == moved:
                change = 2
            if change:
                # Whom it reaches now: the moved turbine may be among those that it would reach.
                trial.state[d, i] = 2
                if i == moved or not (rough and most * settled.spot[d, i, STRONGEST] < ROUGH):
                    count = list_targets(moves, d, i, moved, most, rough)
                    cast(data, machines, moves, d, i, moved, change, count, free)
            a += 1
        return total

    return gained_in


@inlined
def _clear(moves):
    """By how much (W) a rough gain must be below what is needed."""
    return CLEAR * sqrt(max(moves.counted / PER_TURBINES, 1.0)) * moves.settled.total[0] / moves.counted


def make_gained(model: WakeModel, locality: Locality, identity: str) -> Callable[..., float]:
    """Make the loop."""
    gained_in, own = _make_gained_in(model, locality), own_winds(locality)
    estimated_gain, fill_tried = make_estimated_gain(locality != "uniform"), own.fill_tried

    @kernel(identity, counts_references=False)
    def gained(data, machines, wind, moves, moved, x, y, needed):
        """A gain that is clearly not above what is ``needed`` is a rough one."""
        rough, estimate = needed > -inf, 0.0
        estimated = rough and moves.estimates.pair_losses.loss.size > 0
        if estimated:
            estimate, refused = estimated_gain(moves, moved, x, y, needed)
            if refused:
                return estimate
            # A rough trial would most likely be followed by a full one.
            rough = estimate < needed
        fill_tried(wind, moves, moved, x, y)
        while True:
            moves.notes.used[0] = 0
            for d in range(wind.cosine.size):
                forget_trial(moves, d)
                moves.trial.along[d], moves.trial.across[d] = turn(wind.cosine[d], wind.sine[d], x, y)
            find_pairs(moves, moved, x, y, rough)
            total = 0.0
            for d in range(wind.cosine.size):
                if not moves.settled.idle[d]:
                    total += gained_in(data, machines, moves, d, moved, wind_from(wind, d), rough)
            if not rough or total < needed - _clear(moves):
                break
            rough = False
        if estimated and not rough:
            learn(moves, estimate, total, needed)
        return total

    return gained
