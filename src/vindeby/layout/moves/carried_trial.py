"""A trial of ``carried_moves``: what the farm gains by a move, with notes of all that would change."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vindeby.layout.moves.carried_steps import forget_trial, is_downwind, is_in_reach, make_fill_pair
from vindeby.layout.moves.move_steps import make_settle_one, wind_of_direction
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear

__all__ = ["make_gained"]

SAME = 1e-10
"""A thrust coefficient, or a fraction of the free wind speed, that differs by so little casts the same wakes."""
LEFT = 1e-6
"""A sum of squares that has fallen to this share of its highest is summed up anew: its root would show the rounding."""


@inlined
def _touch(moves, d, j):  # type: ignore[no-untyped-def]
    """A turbine whose sum changes begins with the one it had."""
    if moves.state[d, j] == 0:
        moves.state[d, j] = 1
        moves.touched[d, moves.touched_count[d]] = j
        moves.touched_count[d] += 1
        for k in range(moves.summed.shape[2]):
            moves.new_summed[d, j, k] = moves.summed[d, j, k]
            moves.new_highest[d, j, k] = moves.highest[d, j, k]


@inlined
def _note(moves, d, i, j):  # type: ignore[no-untyped-def]
    """The row for the new deficits of ``i`` on ``j``; the last one, over and over, where there is no more room."""
    row = moves.first_note[d + 1]
    if row + 1 < moves.note_source.size:
        moves.first_note[d + 1] = row + 1
    else:
        moves.first_note[d + 1] = row = moves.note_source.size - 1
        moves.first_note[0] = -1
    moves.note_source[row], moves.note_target[row] = i, j
    return row


@inlined
def _find_pairs(moves, d, moved):  # type: ignore[no-untyped-def]
    """List the turbines that the moved one would reach, and those that would reach it."""
    place, side = moves.new_along[d], moves.new_across[d]
    along, across = moves.along[d], moves.across[d]
    ahead = behind = 0
    for i in range(along.size):
        far, aside = along[i] - place, across[i] - side
        if i == moved:
            continue
        if is_downwind(far, i, moved):
            if is_in_reach(moves, moved, i, far, aside):
                moves.new_targets[d, behind] = i
                behind += 1
        elif is_in_reach(moves, i, moved, -far, aside):
            moves.new_sources[d, ahead] = i
            ahead += 1
    moves.new_target_count[d], moves.new_source_count[d] = behind, ahead


def _make_differs(of_source: bool) -> Callable[..., int]:
    @inlined
    def differs(moves, d, i, free):  # type: ignore[no-untyped-def]
        """Whether a turbine casts other wakes than it did (1), and of another thrust (2)."""
        result = 0
        for k in range(free.size):
            if abs(moves.new_thrust[d, i, k] - moves.cast_thrust[d, i, k]) > SAME:
                return 2
            if of_source and abs(moves.new_speed[d, i, k] - moves.cast_speed[d, i, k]) > SAME * free[k]:
                result = 1
        return result

    return differs


class _Steps(NamedTuple):
    """Compiled functions that put wakes into sums and take them out."""

    add_from: Callable[..., None]
    take_out: Callable[..., None]
    put_back: Callable[..., None]
    settle_one: Callable[..., float]


def _make_steps(model: WakeModel) -> _Steps:
    fill_pair, settle_one, together = make_fill_pair(model), make_settle_one(model), superposition_of(model)
    term, scale = together.term, together.scale

    @inlined
    def add_from(data, machines, moves, d, i, j, far, aside, states, pair):  # type: ignore[no-untyped-def]
        """Add the wake of ``i``, as it now is, to the sum of ``j``; its deficits go into ``pair``."""
        speed, thrust = moves.cast_speed[d, i], moves.cast_thrust[d, i]
        if moves.state[d, i] == 2:
            speed, thrust = moves.new_speed[d, i], moves.new_thrust[d, i]
        types = moves.type_index
        fill_pair(data, machines, types[i], types[j], far, aside, states.turbulence, thrust, pair)
        for k in range(states.speed.size):
            moves.new_summed[d, j, k] += term(pair[k] * scale(speed[k], states.speed[k]))

    @inlined
    def take_out(moves, d, i, j, states):  # type: ignore[no-untyped-def]
        """Take the wake of ``i``, as it was, out of the sum of ``j``."""
        _touch(moves, d, j)
        pair, speed = moves.deficit[d, i, j], moves.cast_speed[d, i]
        for k in range(states.speed.size):
            moves.new_summed[d, j, k] -= term(pair[k] * scale(speed[k], states.speed[k]))

    @inlined
    def put_back(moves, d, i, j, states):  # type: ignore[no-untyped-def]
        """Put the wake of ``i``, with its deficits as they were but its new wind, into the sum of ``j``."""
        pair, speed = moves.deficit[d, i, j], moves.new_speed[d, i]
        for k in range(states.speed.size):
            moves.new_summed[d, j, k] += term(pair[k] * scale(speed[k], states.speed[k]))

    return _Steps(add_from, take_out, put_back, settle_one)


def _make_place_moved(steps: _Steps) -> Callable[..., float]:
    add_from, settle_one = steps.add_from, steps.settle_one

    @inlined
    def place_moved(data, machines, moves, d, moved, states):  # type: ignore[no-untyped-def]
        """The moved turbine's wind where it would stand, and its wakes there; returns what it gains (W)."""
        place, side = moves.new_along[d], moves.new_across[d]
        clear(moves.new_summed[d, moved])
        for q in range(moves.new_source_count[d]):
            i = moves.new_sources[d, q]
            far, aside = place - moves.along[d, i], side - moves.across[d, i]
            row = _note(moves, d, i, moved)
            add_from(data, machines, moves, d, i, moved, far, aside, states, moves.note_deficit[row])
        watts = settle_one(
            machines, moves.type_index[moved], states,
            moves.new_summed[d, moved], moves.new_speed[d, moved], moves.new_thrust[d, moved],
        )  # fmt: skip
        for k in range(states.speed.size):
            moves.new_highest[d, moved, k] = moves.new_summed[d, moved, k]
        moves.state[d, moved], moves.new_watts[d, moved] = 2, watts
        for q in range(moves.new_target_count[d]):
            j = moves.new_targets[d, q]
            _touch(moves, d, j)
            far, aside = moves.along[d, j] - place, moves.across[d, j] - side
            row = _note(moves, d, moved, j)
            add_from(data, machines, moves, d, moved, j, far, aside, states, moves.note_deficit[row])
        return watts - moves.watts[d, moved] if moved < moves.counted else 0.0

    return place_moved


def _make_sum_anew(steps: _Steps) -> Callable[..., None]:
    add_from = steps.add_from

    @scalar
    def sum_anew(data, machines, moves, d, j, moved, states):  # type: ignore[no-untyped-def]
        """The sum of a turbine from all that reach it."""
        clear(moves.new_summed[d, j])
        room = moves.note_deficit[moves.note_source.size - 1]
        for q in range(moves.source_count[d, j]):
            i = moves.sources[d, j, q]
            if i != moved:
                far, aside = moves.along[d, j] - moves.along[d, i], moves.across[d, j] - moves.across[d, i]
                add_from(data, machines, moves, d, i, j, far, aside, states, room)
        for q in range(moves.new_target_count[d]):
            if moves.new_targets[d, q] == j:
                far, aside = moves.along[d, j] - moves.new_along[d], moves.across[d, j] - moves.new_across[d]
                add_from(data, machines, moves, d, moved, j, far, aside, states, room)
        for k in range(states.speed.size):
            moves.new_highest[d, j, k] = moves.new_summed[d, j, k]

    return sum_anew


def _make_follow(model: WakeModel, steps: _Steps) -> Callable[..., float]:
    add_from, take_out, put_back, settle_one = steps
    sum_anew, differs = _make_sum_anew(steps), _make_differs(model.reference == "source")
    squares = model.superposition == "squares"

    @inlined
    def follow(data, machines, moves, d, i, moved, states):  # type: ignore[no-untyped-def]
        """A touched turbine's wind and, if they change, its wakes; returns what it gains (W)."""
        few = False
        for k in range(states.speed.size):
            now = moves.new_summed[d, i, k]
            few = few or now < LEFT * moves.new_highest[d, i, k]
            moves.new_highest[d, i, k] = max(moves.new_highest[d, i, k], now)
        if squares and few:
            sum_anew(data, machines, moves, d, i, moved, states)
        watts = settle_one(
            machines, moves.type_index[i], states,
            moves.new_summed[d, i], moves.new_speed[d, i], moves.new_thrust[d, i],
        )  # fmt: skip
        moves.new_watts[d, i] = watts
        change = differs(moves, d, i, states.speed)
        if change:
            moves.state[d, i] = 2
            for q in range(moves.target_count[d, i]):
                j = moves.targets[d, i, q]
                if j == moved:
                    continue
                take_out(moves, d, i, j, states)
                far, aside = moves.along[d, j] - moves.along[d, i], moves.across[d, j] - moves.across[d, i]
                if change == 2:
                    row = _note(moves, d, i, j)
                    add_from(data, machines, moves, d, i, j, far, aside, states, moves.note_deficit[row])
                else:
                    put_back(moves, d, i, j, states)
        return watts - moves.watts[d, i] if i < moves.counted else 0.0

    return follow


def make_gained(model: WakeModel, identity: str) -> Callable[..., float]:
    """Make the loop."""
    steps = _make_steps(model)
    take_out, place_moved, follow = steps.take_out, _make_place_moved(steps), _make_follow(model, steps)

    @inlined
    def gained_in(data, machines, moves, d, moved, states):  # type: ignore[no-untyped-def]
        """The gain (W) in one direction."""
        total, placed = 0.0, False
        for q in range(moves.target_count[d, moved]):
            take_out(moves, d, moved, moves.targets[d, moved, q], states)
        _touch(moves, d, moved)
        _find_pairs(moves, d, moved)
        for a in range(moves.x.size + 1):
            i = moved
            if a < moves.x.size:
                i = moves.order[d, a]
                if i == moved:
                    continue
            if not placed and (i == moved or is_downwind(moves.along[d, i] - moves.new_along[d], i, moved)):
                total += place_moved(data, machines, moves, d, moved, states)
                placed = True
            if i != moved and moves.state[d, i] == 1:
                total += follow(data, machines, moves, d, i, moved, states)
        return total

    @kernel(identity, counts_references=False)
    def gained(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]
        total = 0.0
        moves.first_note[0] = 0
        for d in range(wind.cosine.size):
            forget_trial(moves, d)
            moves.first_note[d + 1] = max(moves.first_note[d], 0)
            if not moves.idle[d]:
                moves.new_along[d], moves.new_across[d] = turn(wind.cosine[d], wind.sine[d], x, y)
                total += gained_in(data, machines, moves, d, moved, wind_of_direction(wind, d))
        return total

    return gained
