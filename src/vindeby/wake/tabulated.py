"""The loops of ``direct`` over again for models that can be tabulated, many times faster.

The same walk, with these differences. A pair of turbines costs one look into its table for all wind speeds
together, and a wind speed then costs four multiplications (see ``pair_tables``). What a turbine's wind speed means
for its wakes, the node on the thrust axis and its four weights, is worked out once and used for all it reaches.
Opposite directions have the same pairs with the same distances, only the other way round: they are found and
looked up once (with one turbine type; with several the table of the pair differs). Walking ahead, a turbine adds
its wakes to those after it; walking behind, it gathers them from those after it; both read the pairs in the same
order.

For the gradient each pair's coefficients are kept with their slopes with both distances, so that the way back
reads no table.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, kernel, named, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.curves import curves_at
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.pair_steps import (
    add_wake,
    find_pairs,
    outside,
    read,
    read_with_slopes,
    settle,
    settle_back,
    slopes_of_shares,
    wake_back,
)
from vindeby.wake.pair_tables import NODES
from vindeby.wake.wind import BLOCK, clear, count_up, turn_into_wind

__all__ = ["TabulatedKernels", "tabulated_kernels"]

FloatArray = npt.NDArray[np.float64]


class TabulatedKernels(NamedTuple):
    """The compiled loops; their arguments are those of ``direct`` with the tables and legs after ``data``."""

    power: Callable[..., None]
    gradient: Callable[..., None]


class Farm(NamedTuple):
    """A farm turned into the wind: turbines from first to last, the pairs of each, and what they stand in."""

    kind: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    along: FloatArray
    across: FloatArray
    first: npt.NDArray[np.int64]
    other: npt.NDArray[np.uint32]
    summed: FloatArray
    u: FloatArray
    node: npt.NDArray[np.uint32]
    share: FloatArray


@scalar
def _room(kind, most):
    n = kind.size
    return Farm(
        kind,
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n + 1, np.int64),
        np.empty(n * (n - 1) // 2 + 1, np.uint32),
        np.empty((n, most)),
        np.empty((n, most)),
        np.empty((n, most), np.uint32),
        np.empty((n, 4, most)),
    )


def _decorator(identity: str) -> Callable[..., Any]:
    """A way to write ``@of_this_model(scalar)`` for a function that is made anew for every model."""
    return lambda compiler: lambda function: compiler(named(function, identity))


def _make_walks(  # noqa: C901  the walk ahead, and behind
    model: WakeModel, wide: int
) -> tuple[Callable[..., None], Callable[..., None]]:
    """The walks ahead and behind, for pairs whose coefficients are ``wide`` numbers apart."""
    deficit = model.deficit
    of_this_model = _decorator(f"{model.identity} {wide}")

    @of_this_model(scalar)
    def add_outside(data, machines, source, target, far, aside, turbulence, u, summed):
        """Add the wake of a pair that the table does not hold."""
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        for k in range(turbulence.size):
            thrust = curves_at(machines, source, u[k])[1]
            value = deficit(data, far, aside, rise, heights, diameter, rotor, thrust, turbulence[k])
            summed[k] += value * value

    @of_this_model(inlined)
    def ahead(data, tables, machines, farm, rows, speed, weight, turbulence, counted, out):
        n, count = farm.order.size, speed.size
        for a in range(n):
            clear(farm.summed[a])
        for a in range(n):
            i = farm.order[a]
            source, share, node = farm.kind[i], farm.share[a, :, :count], farm.node[a, :count]
            mean = settle(machines, tables, source, speed, weight, farm.summed[a], farm.u[a], node, share)
            if i < counted:
                out[i] += mean
            for p in range(farm.first[a], farm.first[a + 1]):
                b = farm.other[p]
                far = farm.along[b] - farm.along[a]
                if outside(tables, source, far):
                    target, aside = farm.kind[farm.order[b]], farm.across[b] - farm.across[a]
                    add_outside(
                        data, machines, source, target, far, aside, turbulence, farm.u[a], farm.summed[b]
                    )
                else:
                    add_wake(rows[p * wide : p * wide + NODES], node, share, farm.summed[b])

    @of_this_model(inlined)
    def behind(data, tables, machines, farm, rows, speed, weight, turbulence, counted, out):
        n, count = farm.order.size, speed.size
        for a in range(n - 1, -1, -1):
            i = farm.order[a]
            target, share, node = farm.kind[i], farm.share[a, :, :count], farm.node[a, :count]
            clear(farm.summed[a])
            for p in range(farm.first[a], farm.first[a + 1]):
                b = farm.other[p]
                far = farm.along[b] - farm.along[a]
                if outside(tables, target, far):
                    source, aside = farm.kind[farm.order[b]], farm.across[b] - farm.across[a]
                    add_outside(
                        data, machines, source, target, far, aside, turbulence, farm.u[b], farm.summed[a]
                    )
                else:
                    add_wake(
                        rows[p * wide : p * wide + NODES],
                        farm.node[b, :count],
                        farm.share[b, :, :count],
                        farm.summed[a],
                    )
            mean = settle(machines, tables, target, speed, weight, farm.summed[a], farm.u[a], node, share)
            if i < counted:
                out[i] += mean

    return ahead, behind


def _make_walks_back(model: WakeModel) -> tuple[Callable[..., None], Callable[..., None]]:
    """The same walks backwards, which pass on each turbine's share in the total: the gradient."""
    slopes_of = model.deficit_with_slopes
    wide = 3 * NODES
    of_this_model = _decorator(f"{model.identity} back")

    @of_this_model(scalar)
    def outside_back(data, tables, machines, source, target, far, aside, turbulence, u, of_summed, of_t):
        """A pair that the table does not hold: ``wake_back`` with the model itself."""
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        of_far = of_aside = 0.0
        for k in range(turbulence.size):
            thrust = min(max(curves_at(machines, source, u[k])[1], 1e-12), 1.0 - 1e-12)
            value, d_far, d_aside, d_thrust, _ = slopes_of(
                data, far, aside, rise, heights, diameter, rotor, thrust, turbulence[k]
            )
            of_value = 2.0 * of_summed[k] * value
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            t = sqrt(thrust) / (1.0 + sqrt(1.0 - thrust))
            per_t = 4.0 * sqrt(thrust * (1.0 - thrust)) / ((1.0 + t * t) * tables.per_thrust)
            of_t[k] += of_value * d_thrust * per_t
        return of_far, of_aside

    @of_this_model(inlined)
    def pair_back(data, tables, machines, farm, rows, slope, p, a, b, source, target, turbulence, of, of_t):
        """The pair ``p`` of ``a`` and ``b``: the wake of ``source`` (one of the two) on ``target``."""
        count = turbulence.size
        far, aside = farm.along[b] - farm.along[a], farm.across[b] - farm.across[a]
        source_kind, target_kind = farm.kind[farm.order[source]], farm.kind[farm.order[target]]
        if outside(tables, source_kind, far):
            return outside_back(
                data, tables, machines, source_kind, target_kind, far, aside, turbulence,
                farm.u[source], of[target], of_t[source],
            )  # fmt: skip
        of_far, of_aside = wake_back(
            rows[p * wide : (p + 1) * wide],
            farm.node[source, :count],
            farm.share[source],
            slope[source],
            of[target],
            of_t[source],
        )
        return of_far, of_aside if aside >= 0.0 else -of_aside

    @of_this_model(inlined)
    def ahead_back(
        data,
        tables,
        machines,
        farm,
        rows,
        slope,
        speed,
        weight,
        turbulence,
        counted,
        of,
        of_t,
        of_along,
        of_across,
    ):
        n, count = farm.order.size, speed.size
        for a in range(n - 1, -1, -1):
            i = farm.order[a]
            clear(of_t[a])
            slopes_of_shares(farm.share[a, :, :count], slope[a])
            for p in range(farm.first[a], farm.first[a + 1]):
                b = farm.other[p]
                of_far, of_aside = pair_back(
                    data, tables, machines, farm, rows, slope, p, a, b, a, b, turbulence, of, of_t
                )
                of_along[a] -= of_far
                of_along[b] += of_far
                of_across[a] -= of_aside
                of_across[b] += of_aside
            counts = 1.0 if i < counted else 0.0
            settle_back(
                machines,
                tables,
                farm.kind[i],
                speed,
                weight,
                counts,
                farm.summed[a],
                farm.u[a],
                of_t[a],
                of[a],
            )

    @of_this_model(inlined)
    def behind_back(
        data,
        tables,
        machines,
        farm,
        rows,
        slope,
        speed,
        weight,
        turbulence,
        counted,
        of,
        of_t,
        of_along,
        of_across,
    ):
        n, count = farm.order.size, speed.size
        for a in range(n):
            clear(of_t[a])
            slopes_of_shares(farm.share[a, :, :count], slope[a])
        for a in range(n):
            i = farm.order[a]
            counts = 1.0 if i < counted else 0.0
            settle_back(
                machines,
                tables,
                farm.kind[i],
                speed,
                weight,
                counts,
                farm.summed[a],
                farm.u[a],
                of_t[a],
                of[a],
            )
            for p in range(farm.first[a], farm.first[a + 1]):
                b = farm.other[p]
                of_far, of_aside = pair_back(
                    data, tables, machines, farm, rows, slope, p, a, b, b, a, turbulence, of, of_t
                )
                of_along[a] -= of_far
                of_along[b] += of_far
                of_across[a] -= of_aside
                of_across[b] += of_aside

    return ahead_back, behind_back


@once_per_model
def tabulated_kernels(model: WakeModel) -> TabulatedKernels:  # noqa: C901  two loop nests side by side
    """Compile, or load from disk, the loops for a model."""
    ahead, behind = _make_walks(model, NODES)
    ahead_wide, behind_wide = _make_walks(model, 3 * NODES)
    ahead_back, behind_back = _make_walks_back(model)
    identity = model.identity

    @kernel(identity)
    def power(data, tables, legs, machines, x, y, kind, counted, wind, block_from, block_to, out):
        farm, rows = _room(kind, wind.most), np.empty(NODES)
        for block in range(block_from, block_to):
            count_up(farm.order)
            for leg in range(block * BLOCK, min((block + 1) * BLOCK, legs.ahead.size)):
                d = legs.ahead[leg]
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], farm.order, farm.along, farm.across)
                count = find_pairs(tables, farm)
                if rows.size < count * NODES:
                    rows = np.empty((count + count // 4) * NODES)
                for a in range(kind.size):
                    for p in range(farm.first[a], farm.first[a + 1]):
                        read(tables, farm, a, farm.other[p], rows[p * NODES : (p + 1) * NODES])
                here = slice(wind.first[d], wind.first[d + 1])
                speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
                ahead(data, tables, machines, farm, rows, speed, weight, turbulence, counted, out[block])
                d = legs.behind[leg]
                if d >= 0:
                    here = slice(wind.first[d], wind.first[d + 1])
                    speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
                    behind(data, tables, machines, farm, rows, speed, weight, turbulence, counted, out[block])

    @kernel(identity)
    def gradient(
        data, tables, legs, machines, x, y, kind, counted, wind, block_from, block_to, out, out_x, out_y
    ):
        n = kind.size
        farm, rows = _room(kind, wind.most), np.empty(3 * NODES)
        slope = np.empty((n, 4, wind.most))
        of, of_t, of_along, of_across = (
            np.empty((n, wind.most)),
            np.empty((n, wind.most)),
            np.empty(n),
            np.empty(n),
        )
        for block in range(block_from, block_to):
            count_up(farm.order)
            for leg in range(block * BLOCK, min((block + 1) * BLOCK, legs.ahead.size)):
                d = legs.ahead[leg]
                cosine, sine = wind.cosine[d], wind.sine[d]
                turn_into_wind(x, y, cosine, sine, farm.order, farm.along, farm.across)
                count = find_pairs(tables, farm)
                if rows.size < count * 3 * NODES:
                    rows = np.empty((count + count // 4) * 3 * NODES)
                for a in range(n):
                    for p in range(farm.first[a], farm.first[a + 1]):
                        read_with_slopes(
                            tables, farm, a, farm.other[p], rows[p * 3 * NODES : (p + 1) * 3 * NODES]
                        )
                clear(of_along)
                clear(of_across)
                here = slice(wind.first[d], wind.first[d + 1])
                speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
                ahead_wide(data, tables, machines, farm, rows, speed, weight, turbulence, counted, out[block])
                ahead_back(
                    data, tables, machines, farm, rows, slope, speed, weight, turbulence, counted,
                    of, of_t, of_along, of_across,
                )  # fmt: skip
                d = legs.behind[leg]
                if d >= 0:
                    here = slice(wind.first[d], wind.first[d + 1])
                    speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
                    behind_wide(
                        data, tables, machines, farm, rows, speed, weight, turbulence, counted, out[block]
                    )
                    behind_back(
                        data, tables, machines, farm, rows, slope, speed, weight, turbulence, counted,
                        of, of_t, of_along, of_across,
                    )  # fmt: skip
                for a in range(n):
                    i = farm.order[a]
                    out_x[block, i] += sine * of_across[a] - cosine * of_along[a]
                    out_y[block, i] -= cosine * of_across[a] + sine * of_along[a]

    return TabulatedKernels(power, gradient)
