"""The loops over directions, turbines and wind speeds, for any wake model.

Every direction is worked off by itself: the turbines are sorted downwind; each in turn has its wind speed
from the wakes gathered so far, then its thrust, and then casts its own wake on those downwind of it that it
can reach. Wind speeds are innermost and contiguous. Nothing larger than turbines x speeds is kept. The free wind is
the same for all turbines or each one's own (``wind_access``); the order is that of the site's wind direction.

``direct_kernels`` compiles these loops around a model's functions; ``direct_back`` has the way back, for the gradient.
``tabulated`` has a faster pair loop for models whose deficit depends on thrust and place alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vindeby.wake.compiling.compiled import kernel, named, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.direct.blocked_walks import blockage_at_point, with_blockage
from vindeby.wake.loops.direct.cumulative_walk import make_cumulative_walk
from vindeby.wake.loops.direct.direct_back import make_walk_back, new_shares, of_own_place
from vindeby.wake.loops.direct.local_field import make_local_field
from vindeby.wake.loops.rotation import new_turned, turn, turn_back, turn_into_wind
from vindeby.wake.loops.superposition import turbulence_in_wakes
from vindeby.wake.loops.wind import BLOCK, clear, count_up, new_waked
from vindeby.wake.loops.wind_access import Locality, access_of, identity_of, together_of
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.turbines.curves import curves_at


class DirectKernels(NamedTuple):
    """The compiled loops of one model; ``farm`` says what their arguments are.

    ``power`` also keeps power, wind speed, thrust and turbulence of every state, in arrays that have room for it.
    """

    power: Callable[..., None]
    gradient: Callable[..., None]
    field: Callable[..., None]


@once_per_model
def direct_kernels(model: WakeModel, locality: Locality = "uniform") -> DirectKernels:
    """Compile, or load from disk, the loops for a model."""
    is_cumulative = model.superposition == "cumulative"
    walk = make_cumulative_walk(model) if is_cumulative else _make_walk(model, locality)
    if model.blockage is not None:
        walk = with_blockage(model, walk)
    return DirectKernels(
        _make_power(model, locality, walk),
        _make_gradient(model, locality, walk),
        _make_field(model) if locality == "uniform" else make_local_field(model, locality),
    )


def _make_walk(model: WakeModel, locality: Locality) -> Callable[..., None]:  # noqa: C901  two loops side by side
    """The walk downwind in one direction."""
    deficit, reach, added = model.deficit, model.reach, model.turbulence_functions[0]
    adds, blocks = model.added_turbulence is not None, model.blockage is not None
    together, access = together_of(model, locality), access_of(locality)
    scale, term, wind_speed = together.scale, together.term, together.wind_speed
    at, swing, turned_wakes = access.at, access.swing, locality == "turned"

    @scalar
    def settle(machines, type_index, states, waked, a):
        """Wind speeds, thrusts and turbulence of the turbine at ``a``; returns the largest of the last two."""
        most_thrust = most_turbulence = 0.0
        for k in range(states.speed.size):
            waked.u[a, k] = wind_speed(states.speed[k], waked.summed[a, k])
            if blocks:
                waked.u[a, k] -= waked.blocked[a, k]
            waked.ct[a, k] = curves_at(machines, type_index, waked.u[a, k])[1]
            waked.ti[a, k] = states.turbulence[k]
            if adds:
                waked.ti[a, k] = turbulence_in_wakes(states.turbulence[k], waked.extra[a, k])
            most_thrust = max(most_thrust, waked.ct[a, k])
            most_turbulence = max(most_turbulence, waked.ti[a, k])
        return most_thrust, most_turbulence

    def downwind_walk(data, machines, turned, states, waked):
        n = turned.order.size
        u, ct, ti = waked.u, waked.ct, waked.ti
        for a in range(n):
            clear(waked.summed[a])
            clear(waked.extra[a])
        for a in range(n):
            source, own = turned.type_index[turned.order[a]], at(states, turned.order[a])
            free, free_turbulence = own.speed, own.turbulence
            most_thrust, most_turbulence = settle(machines, source, own, waked, a)
            diameter, height = machines.diameter[source], machines.hub_height[source]
            for b in range(a + 1, n):
                target = turned.type_index[turned.order[b]]
                rotor = machines.diameter[target]
                far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
                far, aside = swing(own, far, aside)
                if (turned_wakes and far <= 0.0) or abs(aside) >= reach(
                    data, far, diameter, rotor, most_thrust, most_turbulence
                ):
                    continue
                rise = machines.hub_height[target] - height
                heights = machines.hub_height[target] + height
                thrust = local = -1.0
                value = 0.0
                for k in range(free.size):
                    if ct[a, k] != thrust or ti[a, k] != local:
                        thrust, local = ct[a, k], ti[a, k]
                        value = deficit(data, far, aside, rise, heights, diameter, rotor, thrust, local)
                    waked.summed[b, k] += term(value * scale(u[a, k], free[k]))
                    if adds:
                        plus = added(
                            data, far, aside, rise, heights, diameter, rotor, thrust, local, free_turbulence[k]
                        )  # fmt: skip
                        waked.extra[b, k] = max(waked.extra[b, k], plus)

    return scalar(named(downwind_walk, identity_of(model, locality)))


def _make_power(model: WakeModel, locality: Locality, walk: Callable[..., None]) -> Callable[..., None]:
    access = access_of(locality)
    new_room, states_of, at = access.room, access.states, access.at

    @kernel(identity_of(model, locality))
    def power(
        data, machines, x, y, type_index, counted, wind, block_from, block_to, out,
        keep_power, keep_speed, keep_ct, keep_ti,
    ):  # fmt: skip
        turned, waked = new_turned(type_index), new_waked(x.size, wind.most)
        room = new_room(wind, x.size)
        for block in range(block_from, block_to):
            count_up(turned.order)
            for d in range(block * BLOCK, min((block + 1) * BLOCK, wind.cosine.size)):
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], turned.order, turned.along, turned.across)
                states, first = states_of(wind, d, room, x, y, type_index), wind.first[d]
                walk(data, machines, turned, states, waked)
                for a in range(x.size):
                    i = turned.order[a]
                    weight = at(states, i).weight
                    for k in range(states.speed.size if i < counted else 0):
                        watts = curves_at(machines, type_index[i], waked.u[a, k])[0]
                        out[block, i] += weight[k] * watts
                        if keep_power.size > 0:
                            keep_power[i, first + k] = watts
                            keep_speed[i, first + k] = waked.u[a, k]
                            keep_ct[i, first + k] = waked.ct[a, k]
                            keep_ti[i, first + k] = waked.ti[a, k]

    return power


def _make_gradient(model: WakeModel, locality: Locality, walk: Callable[..., None]) -> Callable[..., None]:
    walk_back, access, is_local = make_walk_back(model, locality), access_of(locality), locality != "uniform"
    new_room, states_of, at = access.room, access.states_with_slopes, access.at

    @kernel(identity_of(model, locality))
    def gradient(
        data, machines, x, y, type_index, counted, wind, block_from, block_to, out, out_x, out_y
    ):  # fmt: skip
        n = x.size
        turned, waked, shares = new_turned(type_index), new_waked(n, wind.most), new_shares(n, wind.most)
        room = new_room(wind, n)
        for block in range(block_from, block_to):
            count_up(turned.order)
            for d in range(block * BLOCK, min((block + 1) * BLOCK, wind.cosine.size)):
                cosine, sine = wind.cosine[d], wind.sine[d]
                turn_into_wind(x, y, cosine, sine, turned.order, turned.along, turned.across)
                states = states_of(wind, d, room, x, y, type_index)
                walk(data, machines, turned, states, waked)
                for a in range(n):
                    i = turned.order[a]
                    weight = at(states, i).weight
                    for k in range(states.speed.size if i < counted else 0):
                        watts = curves_at(machines, type_index[i], waked.u[a, k])[0]
                        out[block, i] += weight[k] * watts
                        if is_local:
                            out_x[block, i] += room.weight_x[i, k] * watts
                            out_y[block, i] += room.weight_y[i, k] * watts
                walk_back(data, machines, turned, states, counted, waked, shares)
                for i in range(n):
                    of_x, of_y = turn_back(cosine, sine, shares.along[i], shares.across[i])
                    out_x[block, i] += of_x
                    out_y[block, i] += of_y
                    if is_local:
                        own_x, own_y = of_own_place(room, shares, i)
                        out_x[block, i] += own_x
                        out_y[block, i] += own_y

    return gradient


def _make_field(model: WakeModel) -> Callable[..., None]:
    deficit, blocks = model.deficit, model.blockage is not None
    together = together_of(model, "uniform")
    scale, term, wind_speed = together.scale, together.term, together.wind_speed

    @kernel(model.identity)
    def field(
        data, machines, x, y, type_index, cosine, sine, free, u, ct, ti, point_x, point_y, height, out
    ):  # fmt: skip
        for p in range(point_x.size):
            summed = blocked = 0.0
            for i in range(x.size):
                far, aside = turn(cosine, sine, point_x[p] - x[i], point_y[p] - y[i])
                hub, diameter = machines.hub_height[type_index[i]], machines.diameter[type_index[i]]
                if blocks and far < 0.0:
                    blocked += blockage_at_point(-far, aside, height - hub, diameter, u[i], ct[i])
                if far <= 0.0:
                    continue
                value = deficit(
                    data, far, aside, height - hub, height + hub, diameter, 0.0, ct[i], ti[i]
                )  # fmt: skip
                summed += term(value * scale(u[i], free))
            out[p] = wind_speed(free, summed) - blocked

    return field
