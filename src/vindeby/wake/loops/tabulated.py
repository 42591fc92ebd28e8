"""The loops of ``direct`` over again for models that can be tabulated, many times faster.

The same walk, with these differences. A pair of turbines costs one look into its table for all wind speeds
together, and a wind speed then costs four multiplications (see ``pair_tables``). What a turbine's wind speed means
for its wakes, the node on the thrust axis and its four weights, is worked out once and used for all it reaches.
Opposite directions have the same pairs with the same distances, only the other way round: they are found and
looked up once (with one turbine type; with several the table of the pair differs). Walking ahead, a turbine adds
its wakes to those after it; walking behind, it gathers them from those after it; both read the pairs in the same
order. Turbines in no wake, a fifth of all, are alike in the wind of a direction: with one turbine type, the first
is settled and the others are given the same.

For the gradient each pair's coefficients are kept with their slopes with both distances, so that the way back
reads no table.

The room for all this is made outside of what is done for a pair of directions, which so need not count references to
arrays (``uncounted``): for wakes that reach few turbines, counting took twice the time of everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, kernel, scalar, uncounted
from vindeby.wake.loops.pair_tables import (
    NODES,
    add_wake,
    find_pairs,
    outside,
    read,
    read_with_slopes,
    settle,
    settle_back,
    settle_like,
    slopes_of_shares,
    wake_back,
)
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import BLOCK, clear, count_up, new_adjoints, turn_back, turn_into_wind, wind_from
from vindeby.wake.models.contract import Pair, WakeModel, once_per_model
from vindeby.wake.turbines.curves import curves_at

FloatArray = npt.NDArray[np.float64]
WIDE = 3 * NODES
"""A pair's coefficients: the values, and the slopes with both distances."""


def make_walks_back(model: WakeModel) -> tuple[Callable[..., None], Callable[..., None]]:
    """The ways back of the walks ahead and behind."""
    pair_back = _make_pair_back(model)

    @inlined
    def pairs_back(data, tables, machines, farm, rows, states, adjoints, a, is_source):
        """All pairs of ``a``, which is the source of their wakes, or else the target."""
        for p in range(farm.first[a], farm.first[a + 1]):
            b = farm.other[p]
            source, target = (a, b) if is_source else (b, a)
            of_far, of_aside = pair_back(
                data, tables, machines, farm, rows, states, adjoints, p, a, b, source, target
            )
            adjoints.along[a] -= of_far
            adjoints.along[b] += of_far
            adjoints.across[a] -= of_aside
            adjoints.across[b] += of_aside

    @inlined
    def ahead_back(data, tables, machines, farm, rows, states, counted, adjoints):
        for a in range(farm.order.size - 1, -1, -1):
            clear(adjoints.thrust[a])
            slopes_of_shares(farm.share[a, :, : states.speed.size], adjoints.weight_slope[a])
            pairs_back(data, tables, machines, farm, rows, states, adjoints, a, True)
            _turbine_back(machines, tables, farm, states, counted, adjoints, a)

    @inlined
    def behind_back(data, tables, machines, farm, rows, states, counted, adjoints):
        n = farm.order.size
        for a in range(n):
            clear(adjoints.thrust[a])
            slopes_of_shares(farm.share[a, :, : states.speed.size], adjoints.weight_slope[a])
        for a in range(n):
            _turbine_back(machines, tables, farm, states, counted, adjoints, a)
            pairs_back(data, tables, machines, farm, rows, states, adjoints, a, False)

    return ahead_back, behind_back


@inlined
def _turbine_back(machines, tables, farm, states, counted, adjoints, a):
    i = farm.order[a]
    counts = 1.0 if i < counted else 0.0
    settle_back(
        machines, tables, farm.type_index[i], states, counts, farm.summed[a], farm.u[a],
        adjoints.thrust[a], adjoints.summed[a],
    )  # fmt: skip


def _make_pair_back(model: WakeModel) -> Callable[..., tuple[float, float]]:
    slopes_of, term_back = model.deficit_with_slopes, superposition_of(model).term_back

    @scalar
    def outside_back(data, tables, machines, source, target, far, aside, turbulence, u, of_summed, of_t):
        """A pair that the table does not hold: ``wake_back`` with the model itself."""
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        of_far = of_aside = 0.0
        for k in range(turbulence.size):
            thrust = min(max(curves_at(machines, source, u[k])[1], 1e-12), 1.0 - 1e-12)
            value, d_far, d_aside, d_thrust, _ = slopes_of(
                data, Pair(far, aside, rise, heights, diameter, rotor, thrust, turbulence[k])
            )
            of_value = term_back(of_summed[k], value)
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            t = sqrt(thrust) / (1.0 + sqrt(1.0 - thrust))
            per_t = 4.0 * sqrt(thrust * (1.0 - thrust)) / ((1.0 + t * t) * tables.per_thrust)
            of_t[k] += of_value * d_thrust * per_t
        return of_far, of_aside

    @inlined
    def pair_back(data, tables, machines, farm, rows, states, adjoints, p, a, b, source, target):
        """The pair ``p`` of ``a`` and ``b``: the wake of ``source`` (one of the two) on ``target``."""
        count = states.speed.size
        far, aside = farm.along[b] - farm.along[a], farm.across[b] - farm.across[a]
        source_type, target_type = farm.type_index[farm.order[source]], farm.type_index[farm.order[target]]
        if outside(tables, source_type, far):
            return outside_back(
                data, tables, machines, source_type, target_type, far, aside, states.turbulence,
                farm.u[source], adjoints.summed[target], adjoints.thrust[source],
            )  # fmt: skip
        of_far, of_aside = wake_back(
            rows[p * WIDE : (p + 1) * WIDE], farm.node[source, :count], farm.share[source],
            adjoints.weight_slope[source], adjoints.summed[target], adjoints.thrust[source],
        )  # fmt: skip
        return of_far, of_aside if aside >= 0.0 else -of_aside

    return pair_back


class TabulatedKernels(NamedTuple):
    """The compiled loops; their arguments are those of ``direct`` with tables and ``DirectionPairs`` after ``data``."""

    power: Callable[..., None]
    gradient: Callable[..., None]


class Farm(NamedTuple):
    """A farm turned into the wind: turbines from first to last, the pairs of each, and what they stand in."""

    type_index: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    along: FloatArray
    across: FloatArray
    first: npt.NDArray[np.int64]
    other: npt.NDArray[np.uint32]
    waked: npt.NDArray[np.bool_]
    summed: FloatArray
    u: FloatArray
    node: npt.NDArray[np.uint32]
    share: FloatArray


@scalar
def _room(type_index, most):
    n = type_index.size
    return Farm(
        type_index,
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n + 1, np.int64),
        np.empty(n * (n - 1) // 2 + 1, np.uint32),
        np.empty(n, np.bool_),
        np.empty((n, most)),
        np.empty((n, most)),
        np.empty((n, most), np.uint32),
        np.empty((n, 4, most)),
    )


@once_per_model
def tabulated_kernels(model: WakeModel) -> TabulatedKernels:
    """Compile, or load from disk, the loops for a model."""
    return TabulatedKernels(_make_power(model), _make_gradient(model))


def _make_walks(model: WakeModel, wide: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """The walks ahead and behind, for pairs whose coefficients are ``wide`` numbers apart."""
    add_outside = _make_add_outside(model)
    return _make_ahead(add_outside, wide), _make_behind(add_outside, wide)


def _make_ahead(add_outside: Callable[..., None], wide: int) -> Callable[..., None]:
    def ahead(data, tables, machines, farm, rows, states, counted, out):
        n, count, one_type = farm.order.size, states.speed.size, tables.types == 1
        for a in range(n):
            clear(farm.summed[a])
            farm.waked[a] = False
        unwaked, free_mean = -1, 0.0
        for a in range(n):
            i = farm.order[a]
            source, share, node = farm.type_index[i], farm.share[a], farm.node[a, :count]
            mean = free_mean
            if unwaked >= 0 and not farm.waked[a]:
                settle_like(farm, unwaked, a, count)
            else:
                mean = settle(machines, tables, source, states, farm.summed[a], farm.u[a], node, share)
                if one_type and not farm.waked[a]:
                    unwaked, free_mean = a, mean
            if i < counted:
                out[i] += mean
            for p in range(farm.first[a], farm.first[a + 1]):
                b = farm.other[p]
                farm.waked[b] = True
                if outside(tables, source, farm.along[b] - farm.along[a]):
                    add_outside(data, machines, farm, states, a, b, a, b)
                else:
                    add_wake(rows[p * wide : p * wide + NODES], node, share, farm.summed[b])

    return inlined(ahead)


def _make_behind(add_outside: Callable[..., None], wide: int) -> Callable[..., None]:
    def behind(data, tables, machines, farm, rows, states, counted, out):
        n, count, one_type = farm.order.size, states.speed.size, tables.types == 1
        unwaked, free_mean = -1, 0.0
        for a in range(n - 1, -1, -1):
            i = farm.order[a]
            target, share, node = farm.type_index[i], farm.share[a], farm.node[a, :count]
            clear(farm.summed[a])
            waked, mean = farm.first[a + 1] > farm.first[a], free_mean
            for p in range(farm.first[a], farm.first[a + 1]):
                b = farm.other[p]
                if outside(tables, target, farm.along[b] - farm.along[a]):
                    add_outside(data, machines, farm, states, a, b, b, a)
                else:
                    row = rows[p * wide : p * wide + NODES]
                    add_wake(row, farm.node[b, :count], farm.share[b], farm.summed[a])
            if unwaked >= 0 and not waked:
                settle_like(farm, unwaked, a, count)
            else:
                mean = settle(machines, tables, target, states, farm.summed[a], farm.u[a], node, share)
                if one_type and not waked:
                    unwaked, free_mean = a, mean
            if i < counted:
                out[i] += mean

    return inlined(behind)


def _make_add_outside(model: WakeModel) -> Callable[..., None]:
    deficit, term = model.deficit, superposition_of(model).term

    @scalar
    def add_outside(data, machines, farm, states, a, b, source_at, target_at):
        """Add the wake of a pair that the table does not hold: that of ``source_at``, either ``a`` or ``b``."""
        far, aside = farm.along[b] - farm.along[a], farm.across[b] - farm.across[a]
        source, target = farm.type_index[farm.order[source_at]], farm.type_index[farm.order[target_at]]
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        turbulence, u, summed = states.turbulence, farm.u[source_at], farm.summed[target_at]
        for k in range(turbulence.size):
            thrust = curves_at(machines, source, u[k])[1]
            value = deficit(data, Pair(far, aside, rise, heights, diameter, rotor, thrust, turbulence[k]))
            summed[k] += term(value)

    return add_outside


def _make_power(model: WakeModel) -> Callable[..., None]:
    ahead, behind = _make_walks(model, NODES)

    @uncounted
    def both_power(data, tables, machines, farm, rows, wind, d, opposite, counted, out):
        for a in range(farm.order.size):
            for p in range(farm.first[a], farm.first[a + 1]):
                read(tables, farm, a, farm.other[p], rows[p * NODES : (p + 1) * NODES])
        ahead(data, tables, machines, farm, rows, wind_from(wind, d), counted, out)
        if opposite >= 0:
            behind(data, tables, machines, farm, rows, wind_from(wind, opposite), counted, out)

    @kernel(model.identity)
    def power(
        data, tables, direction_pairs, machines, x, y, type_index, counted, wind, block_from, block_to, out
    ):
        farm, rows = _room(type_index, wind.most), np.empty(NODES)
        for block in range(block_from, block_to):
            count_up(farm.order)
            for p in range(block * BLOCK, min((block + 1) * BLOCK, direction_pairs.ahead.size)):
                d = direction_pairs.ahead[p]
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], farm.order, farm.along, farm.across)
                count = find_pairs(tables, farm)
                if rows.size < count * NODES:
                    rows = np.empty((count + count // 4) * NODES)
                both_power(
                    data,
                    tables,
                    machines,
                    farm,
                    rows,
                    wind,
                    d,
                    direction_pairs.behind[p],
                    counted,
                    out[block],
                )

    return power


def _make_gradient(model: WakeModel) -> Callable[..., None]:
    both_gradient = _make_both_gradient(model)

    @kernel(model.identity)
    def gradient(
        data, tables, direction_pairs, machines, x, y, type_index, counted, wind, block_from, block_to, out,
        out_x, out_y,
    ):  # fmt: skip
        n = type_index.size
        farm, rows, adjoints = _room(type_index, wind.most), np.empty(WIDE), new_adjoints(n, wind.most)
        for block in range(block_from, block_to):
            count_up(farm.order)
            for p in range(block * BLOCK, min((block + 1) * BLOCK, direction_pairs.ahead.size)):
                d = direction_pairs.ahead[p]
                cosine, sine = wind.cosine[d], wind.sine[d]
                turn_into_wind(x, y, cosine, sine, farm.order, farm.along, farm.across)
                count = find_pairs(tables, farm)
                if rows.size < count * WIDE:
                    rows = np.empty((count + count // 4) * WIDE)
                both_gradient(
                    data,
                    tables,
                    machines,
                    farm,
                    rows,
                    wind,
                    d,
                    direction_pairs.behind[p],
                    counted,
                    adjoints,
                    out[block],
                )
                for a in range(n):
                    i = farm.order[a]
                    of_x, of_y = turn_back(cosine, sine, adjoints.along[a], adjoints.across[a])
                    out_x[block, i] += of_x
                    out_y[block, i] += of_y

    return gradient


def _make_both_gradient(model: WakeModel) -> Callable[..., None]:
    """A direction and its opposite: mean powers, and the adjoints of all places in ``adjoints``."""
    ahead, behind = _make_walks(model, WIDE)
    ahead_back, behind_back = make_walks_back(model)

    @uncounted
    def both_gradient(data, tables, machines, farm, rows, wind, d, opposite, counted, adjoints, out):
        for a in range(farm.order.size):
            for p in range(farm.first[a], farm.first[a + 1]):
                read_with_slopes(tables, farm, a, farm.other[p], rows[p * WIDE : (p + 1) * WIDE])
        clear(adjoints.along)
        clear(adjoints.across)
        states = wind_from(wind, d)
        ahead(data, tables, machines, farm, rows, states, counted, out)
        ahead_back(data, tables, machines, farm, rows, states, counted, adjoints)
        if opposite >= 0:
            states = wind_from(wind, opposite)
            behind(data, tables, machines, farm, rows, states, counted, out)
            behind_back(data, tables, machines, farm, rows, states, counted, adjoints)

    return both_gradient
