"""The loops over directions, turbines and wind speeds, for any wake model.

Every direction is worked off by itself: the turbines are sorted downwind; each in turn has its wind speed
from the wakes gathered so far, then its thrust, and then casts its own wake on those downwind of it that it
can reach. Wind speeds are innermost and contiguous. Nothing larger than turbines x speeds is kept.

The gradient is the same in reverse, by hand: from the last turbine to the first, the share of each wind speed
in the total is passed upwind through superposition, deficit, thrust and place. It costs about as much as
twice the power, however many turbines there are.

``direct_kernels`` compiles these loops around a model's functions. ``tabulated`` has a faster pair loop for
models whose deficit depends on thrust and place alone.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np

from vindeby.wake.compiling.compiled import kernel, named, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.curves import curves_at, curves_with_slopes
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.wind import BLOCK, clear, count_up, turn_into_wind

__all__ = ["DirectKernels", "direct_kernels"]


class DirectKernels(NamedTuple):
    """The compiled loops of one model; ``farm`` says what their arguments are.

    ``power`` also keeps power, wind speed, thrust and turbulence of every state, in arrays that have room for it.
    """

    power: Callable[..., None]
    gradient: Callable[..., None]
    field: Callable[..., None]


def _make_walks(  # noqa: C901  one loop nest, and its reverse
    model: WakeModel,
) -> tuple[Callable[..., None], Callable[..., None]]:
    """The walk downwind, and the walk back that gives the gradient, of one direction."""
    deficit, slopes, reach = model.deficit, model.deficit_with_slopes, model.reach
    added, added_slopes = model.turbulence_functions
    adds = model.added_turbulence is not None
    squares = model.superposition == "squares"
    free = model.reference == "free"

    def downwind_walk(
        data, machines, kind, order, along, across, speed, turbulence, u, ct, summed, ti, extra
    ):
        n, count = order.size, speed.size
        for a in range(n):
            clear(summed[a])
            clear(extra[a])
        for a in range(n):
            source = kind[order[a]]
            most_thrust = most_turbulence = 0.0
            for k in range(count):
                u[a, k] = speed[k] * (1.0 - sqrt(summed[a, k])) if squares else speed[k] - summed[a, k]
                ct[a, k] = curves_at(machines, source, u[a, k])[1]
                ti[a, k] = turbulence[k]
                if adds:
                    ti[a, k] = sqrt(turbulence[k] * turbulence[k] + extra[a, k] * extra[a, k])
                most_thrust = max(most_thrust, ct[a, k])
                most_turbulence = max(most_turbulence, ti[a, k])
            diameter, height = machines.diameter[source], machines.hub_height[source]
            for b in range(a + 1, n):
                target = kind[order[b]]
                rotor = machines.diameter[target]
                far, aside = along[b] - along[a], across[b] - across[a]
                if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
                    continue
                rise = machines.hub_height[target] - height
                heights = machines.hub_height[target] + height
                thrust = local = -1.0
                value = 0.0
                for k in range(count):
                    if ct[a, k] != thrust or ti[a, k] != local:
                        thrust, local = ct[a, k], ti[a, k]
                        value = deficit(data, far, aside, rise, heights, diameter, rotor, thrust, local)
                    whole = value if free else value * u[a, k]
                    if free and not squares:
                        whole = value * speed[k]
                    if squares and not free:
                        whole = value * u[a, k] / speed[k]
                    summed[b, k] += whole * whole if squares else whole
                    if adds:
                        plus = added(
                            data, far, aside, rise, heights, diameter, rotor, thrust, local, turbulence[k]
                        )
                        extra[b, k] = max(extra[b, k], plus)

    def upwind_walk(  # noqa: C901
        data, machines, kind, order, along, across, speed, turbulence, weight, counted,
        u, ct, summed, ti, extra, of_summed, of_extra, of_u, of_ct, of_ti, of_along, of_across,
    ):  # fmt: skip
        n, count = order.size, speed.size
        for a in range(n - 1, -1, -1):
            source = kind[order[a]]
            most_thrust = most_turbulence = 0.0
            for k in range(count):
                of_u[k] = of_ct[k] = of_ti[k] = 0.0
                most_thrust = max(most_thrust, ct[a, k])
                most_turbulence = max(most_turbulence, ti[a, k])
            diameter, height = machines.diameter[source], machines.hub_height[source]
            of_place = of_side = 0.0
            for b in range(a + 1, n):
                target = kind[order[b]]
                rotor = machines.diameter[target]
                far, aside = along[b] - along[a], across[b] - across[a]
                if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
                    continue
                rise = machines.hub_height[target] - height
                heights = machines.hub_height[target] + height
                of_far = of_aside = 0.0
                thrust = local = -1.0
                value = d_far = d_aside = d_ct = d_ti = 0.0
                for k in range(count):
                    if ct[a, k] != thrust or ti[a, k] != local:
                        thrust, local = ct[a, k], ti[a, k]
                        value, d_far, d_aside, d_ct, d_ti = slopes(
                            data, far, aside, rise, heights, diameter, rotor, thrust, local
                        )
                    scale = speed[k] if free else u[a, k]
                    if squares:
                        scale /= speed[k]
                    whole = value * scale
                    of_whole = of_summed[b, k] * (2.0 * whole if squares else 1.0)
                    of_value = of_whole * scale
                    if not free:
                        of_u[k] += of_whole * (value / speed[k] if squares else value)
                    of_far += of_value * d_far
                    of_aside += of_value * d_aside
                    of_ct[k] += of_value * d_ct
                    of_ti[k] += of_value * d_ti
                    if adds and of_extra[b, k] != 0.0:
                        plus, p_far, p_aside, p_ct, p_ti = added_slopes(
                            data,
                            far,
                            aside,
                            rise,
                            heights,
                            diameter,
                            rotor,
                            ct[a, k],
                            ti[a, k],
                            turbulence[k],
                        )
                        if plus == extra[b, k] and plus > 0.0:
                            of_plus = of_extra[b, k]
                            of_extra[b, k] = (
                                0.0  # one source has the largest, and only the first of equals counts
                            )
                            of_far += of_plus * p_far
                            of_aside += of_plus * p_aside
                            of_ct[k] += of_plus * p_ct
                            of_ti[k] += of_plus * p_ti
                of_along[order[b]] += of_far
                of_across[order[b]] += of_aside
                of_place -= of_far
                of_side -= of_aside
            of_along[order[a]] += of_place
            of_across[order[a]] += of_side
            share = 1.0 if order[a] < counted else 0.0
            for k in range(count):
                slope_power, slope_thrust = curves_with_slopes(machines, source, u[a, k])[2:]
                of_speed = of_u[k] + share * weight[k] * slope_power + of_ct[k] * slope_thrust
                of_summed[a, k] = -of_speed
                if squares:
                    root = sqrt(summed[a, k])
                    of_summed[a, k] = -0.5 * speed[k] * of_speed / root if root > 0.0 else 0.0
                if adds:
                    of_extra[a, k] = of_ti[k] * extra[a, k] / ti[a, k] if ti[a, k] > 0.0 else 0.0

    return scalar(named(downwind_walk, model.identity)), scalar(named(upwind_walk, model.identity))


@once_per_model
def direct_kernels(model: WakeModel) -> DirectKernels:  # noqa: C901  three loops side by side
    """Compile, or load from disk, the loops for a model."""
    walk, walk_back = _make_walks(model)
    deficit = model.deficit
    squares = model.superposition == "squares"
    free = model.reference == "free"
    identity = model.identity

    @kernel(identity)
    def power(
        data, machines, x, y, kind, counted, wind, block_from, block_to, out, keep_power, keep_speed, keep_ct, keep_ti
    ):  # fmt: skip
        n = x.size
        order, along, across = np.empty(n, np.int64), np.empty(n), np.empty(n)
        u, ct, summed = np.empty((n, wind.most)), np.empty((n, wind.most)), np.empty((n, wind.most))
        ti, extra = np.empty((n, wind.most)), np.empty((n, wind.most))
        for block in range(block_from, block_to):
            count_up(order)
            for d in range(block * BLOCK, min((block + 1) * BLOCK, wind.cosine.size)):
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], order, along, across)
                first = wind.first[d]
                here = slice(first, wind.first[d + 1])
                speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
                walk(data, machines, kind, order, along, across, speed, turbulence, u, ct, summed, ti, extra)
                for a in range(n):
                    i = order[a]
                    for k in range(speed.size if i < counted else 0):
                        watts = curves_at(machines, kind[i], u[a, k])[0]
                        out[block, i] += weight[k] * watts
                        if keep_power.size > 0:
                            keep_power[i, first + k] = watts
                            keep_speed[i, first + k] = u[a, k]
                            keep_ct[i, first + k] = ct[a, k]
                            keep_ti[i, first + k] = ti[a, k]

    @kernel(identity)
    def gradient(data, machines, x, y, kind, counted, wind, block_from, block_to, out, out_x, out_y):
        n = x.size
        order, along, across = np.empty(n, np.int64), np.empty(n), np.empty(n)
        u, ct, summed = np.empty((n, wind.most)), np.empty((n, wind.most)), np.empty((n, wind.most))
        ti, extra = np.empty((n, wind.most)), np.empty((n, wind.most))
        of_summed, of_extra = np.empty((n, wind.most)), np.empty((n, wind.most))
        of_u, of_ct, of_ti = np.empty(wind.most), np.empty(wind.most), np.empty(wind.most)
        of_along, of_across = np.empty(n), np.empty(n)
        for block in range(block_from, block_to):
            count_up(order)
            for d in range(block * BLOCK, min((block + 1) * BLOCK, wind.cosine.size)):
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], order, along, across)
                here = slice(wind.first[d], wind.first[d + 1])
                speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
                walk(data, machines, kind, order, along, across, speed, turbulence, u, ct, summed, ti, extra)
                for a in range(n):
                    if order[a] < counted:
                        for k in range(speed.size):
                            watts = curves_at(machines, kind[order[a]], u[a, k])[0]
                            out[block, order[a]] += weight[k] * watts
                clear(of_along)
                clear(of_across)
                walk_back(
                    data, machines, kind, order, along, across, speed, turbulence, weight, counted,
                    u, ct, summed, ti, extra, of_summed, of_extra, of_u, of_ct, of_ti, of_along, of_across,
                )  # fmt: skip
                for i in range(n):
                    out_x[block, i] += wind.sine[d] * of_across[i] - wind.cosine[d] * of_along[i]
                    out_y[block, i] -= wind.cosine[d] * of_across[i] + wind.sine[d] * of_along[i]

    @kernel(identity)
    def field(data, machines, x, y, kind, cosine, sine, speed, u, ct, ti, point_x, point_y, height, out):
        for p in range(point_x.size):
            total = 0.0
            for i in range(x.size):
                far = -cosine * (point_x[p] - x[i]) - sine * (point_y[p] - y[i])
                if far <= 0.0:
                    continue
                aside = sine * (point_x[p] - x[i]) - cosine * (point_y[p] - y[i])
                hub = machines.hub_height[kind[i]]
                value = deficit(
                    data,
                    far,
                    aside,
                    height - hub,
                    height + hub,
                    machines.diameter[kind[i]],
                    0.0,
                    ct[i],
                    ti[i],
                )
                whole = value * (speed if free else u[i])
                total += whole * whole if squares else whole
            out[p] = speed - (sqrt(total) if squares else total)

    return DirectKernels(power, gradient, field)
