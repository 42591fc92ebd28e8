"""The whole evaluation of ``carried_moves``: every list, deficit and sum made anew."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.moves.carried_estimate import sum_pairs
from vindeby.layout.moves.carried_pairs import is_in_reach
from vindeby.layout.moves.carried_steps import (
    ACROSS,
    ALONG,
    COST,
    HIGHEST,
    SPEED,
    STRONGEST,
    SUMMED,
    THRUST,
    WATTS,
    forget_trial,
    is_downwind,
    make_fill_deficits,
    make_settle_one,
)
from vindeby.layout.moves.carried_wind import own_winds
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.wind import turn, wind_from
from vindeby.wake.loops.wind_access import Locality, superposition_for

__all__ = ["make_settle"]


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
        settled.spot[d, i, STRONGEST] = settled.spot[d, i, COST] = 0.0
        for k in range(states.speed.size):
            for q in range(count):
                deficit = moves.notes.deficit[k * count + q]
                settled.spot[d, i, STRONGEST] = max(settled.spot[d, i, STRONGEST], deficit)
                settled.spot[d, i, COST] += deficit * moves.bounds.steepest[d, k]
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
