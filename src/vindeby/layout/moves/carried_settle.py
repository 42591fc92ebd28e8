"""The whole evaluation of ``carried_moves``: every list, deficit and sum made anew."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.moves.carried_steps import forget_trial, is_downwind, is_in_reach, make_fill_pair
from vindeby.layout.moves.move_steps import make_settle_one, wind_of_direction
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear

__all__ = ["make_settle"]


@scalar
def _sort(along, order):  # type: ignore[no-untyped-def]
    """From upwind to downwind, by insertion: the order of the last time is nearly right."""
    for a in range(order.size):
        i, b = order[a], a
        while b > 0 and is_downwind(along[order[b - 1]] - along[i], order[b - 1], i):
            order[b] = order[b - 1]
            b -= 1
        order[b] = i


def make_settle(model: WakeModel, identity: str) -> Callable[..., float]:
    """Make the loop."""
    fill_pair, settle_one, together = make_fill_pair(model), make_settle_one(model), superposition_of(model)
    term, scale = together.term, together.scale

    @inlined
    def cast(data, machines, moves, d, a, states):  # type: ignore[no-untyped-def]
        """The wakes of the turbine at ``a`` of the order on those after it."""
        order, i, types = moves.order[d], moves.order[d, a], moves.type_index
        speed, free = moves.cast_speed[d, i], states.speed
        for b in range(a + 1, order.size):
            j = order[b]
            far = moves.along[d, j] - moves.along[d, i]
            aside = moves.across[d, j] - moves.across[d, i]
            if is_in_reach(moves, i, j, far, aside):
                moves.targets[d, i, moves.target_count[d, i]] = j
                moves.target_count[d, i] += 1
                moves.sources[d, j, moves.source_count[d, j]] = i
                moves.source_count[d, j] += 1
                pair = moves.deficit[d, i, j]
                fill_pair(
                    data, machines, types[i], types[j], far, aside, states.turbulence, moves.cast_thrust[d, i], pair
                )  # fmt: skip
                for k in range(free.size):
                    moves.summed[d, j, k] += term(pair[k] * scale(speed[k], free[k]))

    @kernel(identity, counts_references=False)
    def settle(data, machines, wind, moves):  # type: ignore[no-untyped-def]
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            forget_trial(moves, d)
            if moves.idle[d]:
                continue
            states = wind_of_direction(wind, d)
            for i in range(n):
                moves.along[d, i], moves.across[d, i] = turn(
                    wind.cosine[d], wind.sine[d], moves.x[i], moves.y[i]
                )
                clear(moves.summed[d, i])
                moves.target_count[d, i] = moves.source_count[d, i] = 0
            _sort(moves.along[d], moves.order[d])
            for a in range(n):
                i = moves.order[d, a]
                moves.watts[d, i] = settle_one(
                    machines, moves.type_index[i], states, moves.summed[d, i],
                    moves.cast_speed[d, i], moves.cast_thrust[d, i],
                )  # fmt: skip
                for k in range(states.speed.size):
                    moves.highest[d, i, k] = moves.summed[d, i, k]
                if i < moves.counted:
                    total += moves.watts[d, i]
                cast(data, machines, moves, d, a, states)
        return total

    return settle
