"""A trial move where wakes do not change with the wind.

A trial is a few plain loops over lists, one after the other, for all directions: who is in reach of the moved turbine,
their wakes, the sums that these change, the power that is left. Loops without branches that depend on the layout run
several times as fast as one loop that does it all for one pair after the other, and the wakes of a model that has
``PairSquares`` are worked out with vector instructions. The lists stay as they are until the next trial, so that a
move is kept by writing them back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout.moves.steady_steps import is_downwind, pair_squares_of
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.rotation import turn


def _make_list_pairs(model: WakeModel, one_type: bool) -> Callable[..., int]:
    """Make the first loop: the pairs of the moved turbine that are, or were, in each other's reach."""
    reach = model.reach

    @scalar
    def look_around(data, machines, moves, a, moved, place, side):
        """Note in ``touched`` who is in reach at a place (2), who was before (1), and both (3)."""
        along, across, wake = moves.along[a], moves.across[a], moves.wake[moved, a]
        touched, types = moves.touched, moves.type_index
        diameter = rotor = machines.diameter[0]
        thrust = moves.thrust[0]
        for i in range(along.size):
            far, aside = along[i] - place, across[i] - side
            if not one_type:
                after = is_downwind(far, i, moved)
                source, target = types[moved if after else i], types[i if after else moved]
                diameter, rotor = machines.diameter[source], machines.diameter[target]
                thrust = moves.thrust[source]
            near = abs(aside) < reach(data, abs(far), diameter, rotor, thrust, 0.0)
            touched[i] = (2 if near else 0) | (1 if wake[i] != 0.0 else 0)
        touched[moved] = 0

    @scalar
    def list_pairs(data, machines, wind, moves, moved, x, y):
        other, far, aside, reached, touched = (
            moves.other,
            moves.far,
            moves.aside,
            moves.reached,
            moves.touched,
        )
        count = np.uint64(0)
        for a in range(moves.ahead.size):
            d = moves.ahead[a]
            place, side = turn(wind.cosine[d], wind.sine[d], x, y)
            along, across = moves.along[a], moves.across[a]
            look_around(data, machines, moves, a, moved, place, side)
            first = moves.first[a] = count
            # Everyone is written down; the next one overwrites who does not count.
            for i in range(along.size):
                other[count] = i
                count += np.uint64(touched[i] != 0)
            for c in range(first, count):
                i = other[c]
                far[c], aside[c], reached[c] = along[i] - place, across[i] - side, touched[i] >> 1
        moves.first[moves.ahead.size] = count
        return count

    return list_pairs


def _make_work_out(model: WakeModel, one_type: bool, pair: Callable[..., float]) -> Callable[..., None]:
    """Make the second loop: the wakes of the pairs listed."""
    squares = pair_squares_of(model, one_type)
    if squares is not None:
        numbers, square = squares

        @scalar
        def work_out_squares(data, machines, moves, turbine, count):
            far, aside, reached, now = moves.far, moves.aside, moves.reached, moves.now
            n0, n1, n2, n3 = numbers(data, machines.diameter[0], moves.thrust[0])
            for c in range(count):
                now[c] = reached[c] * square(n0, n1, n2, n3, abs(far[c]), aside[c])

        return work_out_squares

    @scalar
    def work_out(data, machines, moves, turbine, count):
        far, aside, now, types, moved = (
            moves.far,
            moves.aside,
            moves.now,
            moves.type_index,
            np.uint64(turbine),
        )
        for c in range(count):
            i = moves.other[c]
            source, target = (moved, i) if is_downwind(far[c], i, moved) else (i, moved)
            now[c] = pair(
                data, machines, moves.thrust, types[source], types[target], abs(far[c]), aside[c]
            )  # fmt: skip

    return work_out


@inlined
def _note(moves, many, d, begin, i, change):
    """List the sum of turbine ``i`` in direction ``d``, whose sums begin at ``begin``, if it changes."""
    place = begin + i
    was = moves.summed[place]
    now = was + change
    moves.direction[many], moves.place[many], moves.new_summed[many] = d, place, now
    return many + np.uint64(now != was)


@inlined
def _note_own(moves, many, d, place, now):
    """List the sum of the moved turbine."""
    moves.direction[many], moves.place[many], moves.new_summed[many] = d, place, now
    return many + np.uint64(1)


@scalar
def _list_changes(moves, turbine):
    """List all sums that the wakes listed change; returns how many there are."""
    many, n, moved = np.uint64(0), np.uint64(moves.x.size), np.uint64(turbine)
    for a in range(moves.ahead.size):
        along, wake = moves.along[a], moves.wake[moved, a]
        here, both = along[moved], moves.behind[a] >= 0
        d = np.uint64(moves.ahead[a])
        o = np.uint64(moves.behind[a]) if both else d
        ahead, behind = n * d, n * o
        own = own_behind = 0.0
        for c in range(moves.first[a], moves.first[a + 1]):
            i = moves.other[c]
            was, now = wake[i], moves.now[c]
            after, before = is_downwind(moves.far[c], i, moved), is_downwind(along[i] - here, i, moved)
            own += 0.0 if after else now
            own_behind += now if after else 0.0
            if after == before:
                if both | after:
                    many = _note(moves, many, d if after else o, ahead if after else behind, i, now - was)
            else:
                many = _note(moves, many, d, ahead, i, now if after else -was)
                if both:
                    many = _note(moves, many, o, behind, i, -was if after else now)
        many = _note_own(moves, many, d, ahead + moved, own)
        if both:
            many = _note_own(moves, many, o, behind + moved, own_behind)
    return many


def make_gained(
    model: WakeModel,
    identity: str,
    one_type: bool,
    pair: Callable[..., float],
    all_watts: Callable[..., float],
) -> Callable[..., float]:
    """Make the trial: what a farm gains when one turbine moves."""
    list_pairs, work_out = _make_list_pairs(model, one_type), _make_work_out(model, one_type, pair)

    @kernel(identity, counts_references=False, inline=True)
    def gained(data, machines, wind, moves, moved, x, y, needed):
        count = list_pairs(data, machines, wind, moves, moved, x, y)
        work_out(data, machines, moves, moved, count)
        moves.changes[0] = _list_changes(moves, moved)
        return all_watts(machines, moves, moves.changes[0])

    return gained


def make_keep(identity: str) -> Callable[..., None]:
    """Make the loop that takes over what a trial has listed."""

    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):
        """Follows ``gained`` of the same move."""
        moves.x[moved], moves.y[moved] = x, y
        for a in range(moves.ahead.size):
            d = moves.ahead[a]
            moves.along[a, moved], moves.across[a, moved] = turn(wind.cosine[d], wind.sine[d], x, y)
            for c in range(moves.first[a], moves.first[a + 1]):
                i = moves.other[c]
                moves.wake[moved, a, i] = moves.wake[i, a, moved] = moves.now[c]
        for c in range(moves.changes[0]):
            place = moves.place[c]
            moves.summed[place], moves.watts[place] = moves.new_summed[c], moves.new_watts[c]

    return keep
