"""Faster loops than ``direct`` for models that can be tabulated.

The same walk, with these differences. A pair of turbines costs one look into its table for all wind speeds
together, and a wind speed then costs four multiplications (see ``pair_tables``). What a turbine's wind speed means
for its wakes, the node on the thrust axis and its four weights, is worked out once and used for all it reaches.
Opposite directions have the same pairs with the same distances, only the other way round: they are found and
looked up once (with one turbine type; with several the table of the pair differs). Walking ahead, a turbine adds
its wakes to those after it; walking behind, it gathers them from those after it; both read the pairs in the same
order.

For the gradient each pair's coefficients are kept with their slopes with both distances, so that the way back
reads no table.

The room for all this is made outside of what is done for a pair of directions, which so need not count references to
arrays (``uncounted``): for wakes that reach few turbines, counting took twice the time of everything else.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from vindeby.wake.compiling.compiled import inlined, scalar, uncounted
from vindeby.wake.loops.frame import EnergyLoops, add_slopes, make_loop, pair_of
from vindeby.wake.loops.pair_tables import (
    NODES,
    PairRoom,
    add_wake,
    find_pairs,
    new_pair_room,
    outside,
    read,
    read_with_slopes,
    settle,
    settle_back,
    slopes_of_shares,
    wake_back,
)
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear, new_adjoints, no_adjoints, wind_from
from vindeby.wake.models.contract import WakeModel, once_per_model
from vindeby.wake.turbines.curves import curves_at


@once_per_model
def tabulated_kernels(model: WakeModel) -> EnergyLoops:
    """Compile, or load from disk, the loops for a model; their ``data`` are ``PairTables``."""
    return EnergyLoops(
        make_loop(*_make_direction(model, gradient=False)), make_loop(*_make_direction(model, gradient=True))
    )


def _make_direction(
    model: WakeModel, *, gradient: bool
) -> tuple[Callable[..., PairRoom], Callable[..., None]]:
    adjoints_for = new_adjoints if gradient else no_adjoints
    wide = 3 * NODES if gradient else NODES  # the values, and the slopes with both distances
    ahead, behind = (_make_walk(model, wide, is_ahead=is_ahead) for is_ahead in (True, False))
    ahead_back, behind_back = (_make_walk_back(model, is_ahead=is_ahead) for is_ahead in (True, False))

    @uncounted
    def both_directions(tables, turbines, turned, room, rows, wind, d, opposite, counted, out):
        for a in range(turned.order.size):
            for p in range(room.first[a], room.first[a + 1]):
                if gradient:
                    read_with_slopes(tables, turned, a, room.other[p], rows[p * wide : (p + 1) * wide])
                else:
                    read(tables, turned, a, room.other[p], rows[p * wide : (p + 1) * wide])
        states = wind_from(wind, d)
        ahead(tables, turbines, turned, room, rows, states, counted, out)
        if gradient:
            clear(room.adjoints.along)
            clear(room.adjoints.across)
            ahead_back(tables, turbines, turned, room, rows, states, counted)
        if opposite >= 0:
            states = wind_from(wind, opposite)
            behind(tables, turbines, turned, room, rows, states, counted, out)
            if gradient:
                behind_back(tables, turbines, turned, room, rows, states, counted)

    @scalar
    def new_room(wind, types):
        n = types.size
        return new_pair_room(n, wind.most, adjoints_for(n, wind.most))

    @inlined
    def one_direction(
        tables, turbines, turned, room, wind, d, opposite, x, y, counted, out, out_x, out_y, kept
    ):
        rows = np.empty(find_pairs(tables, turned, room) * wide)
        both_directions(tables, turbines, turned, room, rows, wind, d, opposite, counted, out)
        if gradient:
            add_slopes(turned, x.size, wind.cosine[d], wind.sine[d], room.adjoints, out_x, out_y)

    return new_room, one_direction


def _make_walk(model: WakeModel, wide: int, *, is_ahead: bool) -> Callable[..., None]:
    """Make the walk ahead or behind, for pairs whose coefficients are ``wide`` numbers apart."""
    deficit, term = model.deficit, superposition_of(model).term

    @scalar
    def add_outside(data, turbines, turned, room, states, far, aside, source, target):
        u, summed = room.u[source], room.summed[target]
        type_index = turned.types[turned.order[source]]
        for k in range(states.speed.size):
            thrust = curves_at(turbines, type_index, u[k])[1]
            pair = pair_of(turbines, turned, source, target, far, aside, thrust, states.turbulence[k])
            summed[k] += term(deficit(data, pair))

    @inlined
    def add_wakes(tables, turbines, turned, room, rows, states, a):
        """Add the wakes of all pairs of ``a``: those it casts if walking ahead, else those on it."""
        count, type_index = states.speed.size, turned.types[turned.order[a]]
        for p in range(room.first[a], room.first[a + 1]):
            b = np.int64(room.other[p])
            source, target = (a, b) if is_ahead else (b, a)
            far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
            if outside(tables, type_index, far):
                add_outside(tables.data, turbines, turned, room, states, far, aside, source, target)
            else:
                row = rows[p * wide : p * wide + NODES]
                add_wake(row, room.node[source, :count], room.share[source], room.summed[target])

    @inlined
    def walk(tables, turbines, turned, room, rows, states, counted, out):
        n = turned.order.size
        for a in range(n):
            clear(room.summed[a])
        for step in range(n):
            a = step if is_ahead else n - 1 - step
            i = turned.order[a]
            if not is_ahead:
                add_wakes(tables, turbines, turned, room, rows, states, a)
            mean = settle(turbines, tables, turned.types[i], states, room, a)
            if i < counted:
                out[i] += mean
            if is_ahead:
                add_wakes(tables, turbines, turned, room, rows, states, a)

    return walk


def _make_walk_back(model: WakeModel, *, is_ahead: bool) -> Callable[..., None]:
    slopes_of, term_back = model.deficit_with_slopes, superposition_of(model).term_back

    @scalar
    def outside_back(tables, turbines, turned, room, states, far, aside, source, target):
        type_index = turned.types[turned.order[source]]
        of_far = of_aside = 0.0
        for k in range(states.speed.size):
            thrust = min(max(curves_at(turbines, type_index, room.u[source, k])[1], 1e-12), 1.0 - 1e-12)
            pair = pair_of(turbines, turned, source, target, far, aside, thrust, states.turbulence[k])
            value, d_far, d_aside, d_thrust, _ = slopes_of(tables.data, pair)
            of_value = term_back(room.adjoints.summed[target, k], value)
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            t = sqrt(thrust) / (1.0 + sqrt(1.0 - thrust))
            per_t = 4.0 * sqrt(thrust * (1.0 - thrust)) / ((1.0 + t * t) * tables.per_thrust)
            room.adjoints.thrust[source, k] += of_value * d_thrust * per_t
        return of_far, of_aside

    @inlined
    def pairs_back(tables, turbines, turned, room, rows, states, a):
        adjoints, type_index = room.adjoints, turned.types[turned.order[a]]
        for p in range(room.first[a], room.first[a + 1]):
            b = np.int64(room.other[p])
            source, target = (a, b) if is_ahead else (b, a)
            far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
            if outside(tables, type_index, far):
                of_far, of_aside = outside_back(
                    tables, turbines, turned, room, states, far, aside, source, target
                )
            else:
                pair_rows = rows[p * 3 * NODES : (p + 1) * 3 * NODES]
                of_far, of_aside = wake_back(pair_rows, room, source, target, states.speed.size)
                of_aside = of_aside if aside >= 0.0 else -of_aside
            adjoints.along[a] -= of_far
            adjoints.along[b] += of_far
            adjoints.across[a] -= of_aside
            adjoints.across[b] += of_aside

    @inlined
    def walk_back(tables, turbines, turned, room, rows, states, counted):
        n = turned.order.size
        for a in range(n):
            clear(room.adjoints.thrust[a])
            slopes_of_shares(room.share[a, :, : states.speed.size], room.adjoints.weight_slope[a])
        for step in range(n):
            a = n - 1 - step if is_ahead else step
            i = turned.order[a]
            if is_ahead:
                pairs_back(tables, turbines, turned, room, rows, states, a)
            counts = 1.0 if i < counted else 0.0
            settle_back(turbines, tables, turned.types[i], states, counts, room, a)
            if not is_ahead:
                pairs_back(tables, turbines, turned, room, rows, states, a)

    return walk_back
