"""The walk of ``direct`` in reverse, by hand: the gradient.

From the last turbine to the first, the share of each wind speed in the total is passed upwind through superposition,
deficit, thrust and place. It costs about as much as twice the power, however many turbines there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import named, scalar
from vindeby.wake.loops.direct.blocked_walks import with_blockage_back
from vindeby.wake.loops.local.local_rows import LocalRows
from vindeby.wake.loops.wind import clear
from vindeby.wake.loops.wind_access import Locality, access_of, identity_of, together_of
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.turbines.curves import curves_with_slopes

FloatArray = npt.NDArray[np.float64]


class Shares(NamedTuple):
    """The shares in the total, which are its slopes.

    ``summed`` and ``extra``: of sums of wakes and of added turbulence, by turbine (downwind order) and wind speed.
    ``u``, ``ct``, ``ti``: of wind speed, thrust and turbulence of the turbine whose turn it is, by wind speed.
    ``along`` and ``across``: of the places of the turbines as they were given. ``speed`` and ``blocked``, only for
    models with blockage: of all wind speeds, and what each has through the blockage of its turbine (``blocked_walks``).

    Where the free wind differs from place to place, ``free`` and ``free_ti``: of the free wind speed and turbulence of
    the turbine whose turn it is, by wind speed; ``speedup``, ``turbulence``, ``turning``: of what is local, by turbine.
    """

    summed: FloatArray
    extra: FloatArray
    u: FloatArray
    ct: FloatArray
    ti: FloatArray
    along: FloatArray
    across: FloatArray
    free: FloatArray
    free_ti: FloatArray
    speedup: FloatArray
    turbulence: FloatArray
    turning: FloatArray
    speed: FloatArray
    blocked: FloatArray


@scalar
def new_shares(n: int, most: int) -> Shares:
    """Room for ``n`` turbines and up to ``most`` wind speeds."""
    return Shares(
        np.empty((n, most)), np.empty((n, most)), np.empty(most), np.empty(most), np.empty(most),
        np.empty(n), np.empty(n), np.empty(most), np.empty(most), np.empty(n), np.empty(n), np.empty(n),
        np.empty((n, most)), np.empty((n, most)),
    )  # fmt: skip


@scalar
def of_own_place(rows: LocalRows, shares: Shares, i: int) -> tuple[float, float]:
    """The slopes of the total with x and y of turbine ``i`` through its own free wind."""
    s, ti, turn = shares.speedup[i], shares.turbulence[i], shares.turning[i]
    return (
        s * rows.speedup_xy[i, 0] + ti * rows.turbulence_xy[i, 0] + turn * rows.turning_xy[i, 0],
        s * rows.speedup_xy[i, 1] + ti * rows.turbulence_xy[i, 1] + turn * rows.turning_xy[i, 1],
    )


def make_walk_back(model: WakeModel, locality: Locality = "uniform") -> Callable[..., None]:
    """The walk upwind in one direction, after the walk downwind; fills ``shares.along`` and ``shares.across``."""
    reach, pair_back = model.reach, _make_pair_back(model, locality)
    settle_back, access = _make_settle_back(model, locality), access_of(locality)
    at, swing, swing_back = access.at, access.swing, access.swing_back
    is_local, turned_wakes = locality != "uniform", locality == "turned"
    blocks = model.blockage is not None

    def upwind_walk(data, machines, turned, states, counted, waked, shares):
        n, count = turned.order.size, states.speed.size
        clear(shares.along)
        clear(shares.across)
        for a in range(n - 1, -1, -1):
            i = turned.order[a]
            source, own = turned.type_index[i], at(states, i)
            most_thrust = most_turbulence = 0.0
            for k in range(count):
                shares.u[k] = shares.ct[k] = shares.ti[k] = 0.0
                if is_local:
                    shares.free[k] = shares.free_ti[k] = 0.0
                if blocks:
                    shares.u[k] = shares.blocked[a, k]
                most_thrust = max(most_thrust, waked.ct[a, k])
                most_turbulence = max(most_turbulence, waked.ti[a, k])
            diameter = machines.diameter[source]
            of_place = of_side = of_turning = 0.0
            for b in range(a + 1, n):
                j = turned.order[b]
                rotor = machines.diameter[turned.type_index[j]]
                far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
                far, aside = swing(own, far, aside)
                if turned_wakes and far <= 0.0:
                    continue
                if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
                    continue
                of_far, of_aside = pair_back(
                    data, machines, source, turned.type_index[j], far, aside, own, waked, shares, a, b
                )  # fmt: skip
                if turned_wakes:
                    of_turning += of_aside * far - of_far * aside
                of_far, of_aside = swing_back(own, of_far, of_aside)
                shares.along[j] += of_far
                shares.across[j] += of_aside
                of_place -= of_far
                of_side -= of_aside
            shares.along[i] += of_place
            shares.across[i] += of_side
            settle_back(machines, source, own, 1.0 if i < counted else 0.0, waked, shares, a)
            if is_local:
                shares.speedup[i] = shares.turbulence[i] = 0.0
                for k in range(count):
                    shares.speedup[i] += shares.free[k] * states.speed[k]
                    shares.turbulence[i] += shares.free_ti[k]
                shares.turning[i] = of_turning

    walk_back = scalar(named(upwind_walk, identity_of(model, locality)))
    return with_blockage_back(model, walk_back) if blocks else walk_back


def _make_pair_back(model: WakeModel, locality: Locality) -> Callable[..., tuple[float, float]]:
    """The wake of ``a`` on ``b``: adds to the shares of ``a``, returns those of both distances."""
    slopes, added_slopes = model.deficit_with_slopes, model.turbulence_functions[1]
    adds, of_source = model.added_turbulence is not None, model.reference == "source"
    together, is_local = together_of(model, locality), locality != "uniform"
    free_slope = model.free_turbulence_slope
    scale, scale_slope, term_back = together.scale, together.scale_slope, together.term_back
    scale_slope_free = together.scale_slope_free

    @scalar
    def pair_back(data, machines, source, target, far, aside, states, waked, shares, a, b):
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        u, ct, ti, free = waked.u, waked.ct, waked.ti, states.speed
        of_far = of_aside = 0.0
        thrust = local = -1.0
        value = d_far = d_aside = d_ct = d_ti = 0.0
        for k in range(free.size):
            if ct[a, k] != thrust or ti[a, k] != local:
                thrust, local = ct[a, k], ti[a, k]
                value, d_far, d_aside, d_ct, d_ti = slopes(
                    data, far, aside, rise, heights, diameter, rotor, thrust, local
                )
            factor = scale(u[a, k], free[k])
            of_scaled = term_back(shares.summed[b, k], value * factor)
            of_value = of_scaled * factor
            if of_source:
                shares.u[k] += of_scaled * (value * scale_slope(free[k]))
            if is_local:
                shares.free[k] += of_scaled * (value * scale_slope_free(free[k]))
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            shares.ct[k] += of_value * d_ct
            if adds or is_local:
                shares.ti[k] += of_value * d_ti
            if adds and shares.extra[b, k] != 0.0:
                plus, p_far, p_aside, p_ct, p_ti = added_slopes(
                    data, far, aside, rise, heights, diameter, rotor, ct[a, k], ti[a, k], states.turbulence[k]
                )  # fmt: skip
                if plus == waked.extra[b, k] and plus > 0.0:
                    of_plus = shares.extra[b, k]
                    shares.extra[b, k] = (
                        0.0  # one source has the largest, and only the first of equals counts
                    )
                    of_far += of_plus * p_far
                    of_aside += of_plus * p_aside
                    shares.ct[k] += of_plus * p_ct
                    shares.ti[k] += of_plus * p_ti
                    if is_local:
                        shares.free_ti[k] += of_plus * free_slope(
                            data, far, aside, rise, heights, diameter, rotor, ct[a, k], ti[a, k],
                            states.turbulence[k],
                        )  # fmt: skip
        return of_far, of_aside

    return pair_back


def _make_settle_back(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """From the shares of a turbine's power (``counts``: 1 or 0), thrust and turbulence to those of its sums."""
    adds, blocks = model.added_turbulence is not None, model.blockage is not None
    together, is_local = together_of(model, locality), locality != "uniform"
    wind_speed_back, slope_free = together.wind_speed_back, together.wind_speed_slope_free

    @scalar
    def settle_back(machines, type_index, states, counts, waked, shares, a):
        for k in range(states.speed.size):
            slope_power, slope_thrust = curves_with_slopes(machines, type_index, waked.u[a, k])[2:]
            of_speed = shares.u[k] + counts * states.weight[k] * slope_power + shares.ct[k] * slope_thrust
            shares.summed[a, k] = wind_speed_back(of_speed, states.speed[k], waked.summed[a, k])
            if blocks:
                shares.speed[a, k] = of_speed
            if adds:
                ti = waked.ti[a, k]
                shares.extra[a, k] = shares.ti[k] * waked.extra[a, k] / ti if ti > 0.0 else 0.0
            if is_local:
                shares.free[k] += of_speed * slope_free(waked.summed[a, k])
                of_ti = shares.ti[k]
                if adds:
                    of_ti *= states.turbulence[k] / waked.ti[a, k] if waked.ti[a, k] > 0.0 else 0.0
                shares.free_ti[k] += of_ti

    return settle_back
