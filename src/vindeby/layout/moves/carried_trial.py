"""A trial of ``carried_moves``: what the farm gains by a move, with notes of all that would change.

Most moves of a search are refused, and by far more than it takes to see from an estimate (``carried_estimate``), or
else from a rough trial: one that leaves out deficits, and changes of them, below ``ROUGH``. Only a gain that may be
above what is needed is worked out in full.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

from vindeby.layout.moves.carried_estimate import learn, make_estimated_gain
from vindeby.layout.moves.carried_state import (
    ACROSS,
    ALONG,
    HIGHEST,
    NEW,
    NEW_WATTS,
    ROUGH,
    SPEED,
    STRONGEST,
    SUMMED,
    THRUST,
    WATTS,
    find_pairs,
    forget_trial,
    is_downwind,
    make_fill_deficits,
    make_settle_one,
    own_winds,
)
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.wind import turn, wind_from
from vindeby.wake.loops.wind_access import Locality, superposition_for
from vindeby.wake.models.contract import Pair

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


@inlined
def touch(moves, d, j, along):
    """A turbine whose sum changes begins with the one it had, and is listed by where it stands."""
    trial, room = moves.trial, moves.room
    if trial.state[d, j] == 0:
        trial.state[d, j] = 1
        b = trial.touched_count[d]
        trial.touched_count[d] = b + 1
        while b > 0 and is_downwind(room.keys[b - 1] - along, trial.touched[d, b - 1], j):
            room.keys[b], trial.touched[d, b] = room.keys[b - 1], trial.touched[d, b - 1]
            b -= 1
        room.keys[b], trial.touched[d, b] = along, j
        row = moves.settled.wind[d, j]
        for k in range(row.shape[1]):
            row[NEW + SUMMED, k] = row[SUMMED, k]
            row[NEW + HIGHEST, k] = row[HIGHEST, k]


@inlined
def _room(moves, pairs):
    """Where notes of so many pairs begin; without room for them they are not noted."""
    notes = moves.notes
    most = moves.settled.wind.shape[3]
    unnoted = notes.deficit.size - moves.x.size * most
    first = notes.used[0]
    if first < 0 or first + pairs * most > unnoted:
        notes.used[0] = -1
        return unnoted
    notes.used[0] = first + pairs * most
    return first


@inlined
def _list_sources(moves, d, i, moved):
    """Those that reach ``i`` with the move, how far from them it is; returns how many."""
    settled, trial, room = moves.settled, moves.trial, moves.room
    place, side, count = settled.spot[d, i, ALONG], settled.spot[d, i, ACROSS], 0
    if i == moved:
        place, side = trial.along[d], trial.across[d]
        count = trial.source_count[d]
        for q in range(count):
            room.listed[q] = trial.sources[d, q]
    else:
        for q in range(settled.source_count[d, i]):
            if settled.sources[d, i, q] != moved:
                room.listed[count] = settled.sources[d, i, q]
                count += 1
        for q in range(trial.target_count[d]):
            if trial.targets[d, q] == i:
                room.listed[count] = moved
                count += 1
    for q in range(count):
        j = room.listed[q]
        along, across = settled.spot[d, j, ALONG], settled.spot[d, j, ACROSS]
        if j == moved:
            along, across = trial.along[d], trial.across[d]
        room.far[q], room.aside[q] = place - along, side - across
    return count


def make_sum_up(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the step for a turbine whose wakes are all gathered again."""
    deficit, together, wind_tried = (
        model.deficit,
        superposition_for(model, locality),
        own_winds(locality).tried,
    )
    term, scale = together.term, together.scale

    @inlined
    def sum_up(data, machines, moves, d, i, moved, states):
        """The sum of a turbine from all that reach it; deficits on the moved one are noted."""
        settled, notes, room = moves.settled, moves.notes, moves.room
        count = _list_sources(moves, d, i, moved)
        first = notes.deficit.size - moves.x.size * settled.wind.shape[3]
        if i == moved:
            first = notes.first_on_moved[d] = _room(moves, count)
        row, target = settled.wind[d, i], moves.type_index[i]
        hub, rotor = machines.hub_height[target], machines.diameter[target]
        for k in range(states.speed.size):
            row[NEW + SUMMED, k] = 0.0
        for q in range(count):
            j = room.listed[q]
            source, cast = moves.type_index[j], settled.wind[d, j]
            new, free = NEW if moves.trial.state[d, j] == 2 else 0, wind_tried(moves, d, states, j, moved)
            height, diameter = machines.hub_height[source], machines.diameter[source]
            last = last_turbulence = -1.0
            value = 0.0
            for k in range(states.speed.size):
                ct, ti = cast[new + THRUST, k], free.turbulence[k]
                if ct != last or ti != last_turbulence:
                    last, last_turbulence = ct, ti
                    value = deficit(
                        data,
                        Pair(room.far[q], room.aside[q], hub - height, hub + height, diameter, rotor, ct, ti),
                    )
                notes.deficit[first + k * count + q] = value
                row[NEW + SUMMED, k] += term(value * scale(cast[new + SPEED, k], free.speed[k]))
        for k in range(states.speed.size):
            row[NEW + HIGHEST, k] = row[NEW + SUMMED, k]

    return sum_up


@inlined
def list_targets(moves, d, i, moved, most, rough):
    """Those whose sums the wakes of ``i`` change, and how far they are; returns how many.

    All that it reaches, or in a rough trial those where a change of its deficits by ``most`` of them counts.
    """
    settled, trial, room = moves.settled, moves.trial, moves.room
    if i == moved:
        count = trial.target_count[d]
        for q in range(count):
            j = trial.targets[d, q]
            room.listed[q], room.positions[q] = j, q
            room.far[q] = settled.spot[d, j, ALONG] - trial.along[d]
            room.aside[q] = settled.spot[d, j, ACROSS] - trial.across[d]
        return count
    count = 0
    place, side = settled.spot[d, i, ALONG], settled.spot[d, i, ACROSS]
    for q in range(settled.target_count[d, i]):
        if rough:
            largest = 0.0
            for k in range(settled.deficit.shape[2]):
                largest = max(largest, settled.deficit[d, i, k, q])
            if largest * most < ROUGH:
                continue
        j = settled.targets[d, i, q]
        room.listed[count], room.positions[count] = j, q
        room.far[count] = settled.spot[d, j, ALONG] - place
        room.aside[count] = settled.spot[d, j, ACROSS] - side
        count += 1
    return count


def make_cast(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the step for a turbine whose wakes change."""
    fill_deficits, together = make_fill_deficits(model), superposition_for(model, locality)
    term, scale = together.term, together.scale

    @inlined
    def cast(data, machines, moves, d, i, moved, change, count, states):
        """The wakes of a turbine, new for old, in the sums of those listed; of the moved one, the new ones.

        ``states`` are its own free wind.
        """
        settled, notes = moves.settled, moves.notes
        row, was, listed = settled.wind[d, i], settled.deficit[d, i], moves.room.listed
        first = -1
        if change == 2:
            first = _room(moves, count)
            fill_deficits(
                data, machines, moves, moves.type_index[i], listed, count, states.turbulence, row[NEW + THRUST],
                notes.deficit, first,
            )  # fmt: skip
        notes.first[d, i] = first
        for q in range(count):
            j = listed[q]
            if j == moved:
                continue
            touch(moves, d, j, settled.spot[d, j, ALONG])
            target = settled.wind[d, j]
            for k in range(states.speed.size):
                old, free = 0.0, states.speed[k]
                before = was[k, moves.room.positions[q]]
                if i != moved:
                    old = term(before * scale(row[SPEED, k], free))
                now = notes.deficit[first + k * count + q] if change == 2 else before
                target[NEW + SUMMED, k] += term(now * scale(row[NEW + SPEED, k], free)) - old

    return cast


def make_take_out(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the step that takes the moved turbine away."""
    together = superposition_for(model, locality)
    term, scale = together.term, together.scale

    @inlined
    def take_out(moves, d, moved, states, rough):
        """Take the moved turbine's wakes out of the sums of those that it reached; list it where it would stand.

        ``states`` are its free wind where it stood.
        """
        settled = moves.settled
        touch(moves, d, moved, moves.trial.along[d])
        row, was = settled.wind[d, moved], settled.deficit[d, moved]
        for q in range(settled.target_count[d, moved]):
            j = settled.targets[d, moved, q]
            if rough and was[0, q] < ROUGH:
                continue
            touch(moves, d, j, settled.spot[d, j, ALONG])
            for k in range(states.speed.size):
                settled.wind[d, j, NEW + SUMMED, k] -= term(was[k, q] * scale(row[SPEED, k], states.speed[k]))

    return take_out
