"""The walk of ``direct`` in reverse, by hand: the gradient.

From the last turbine to the first, the share of each wind speed in the total is passed upwind through superposition,
deficit, thrust and place. It costs about as much as twice the power, however many turbines there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.blocked_walks import with_blockage_back
from vindeby.wake.compiling.compiled import named, scalar
from vindeby.wake.curves import curves_with_slopes
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.superposition import superposition_of
from vindeby.wake.wind import clear

__all__ = ["Shares", "make_walk_back", "new_shares"]

FloatArray = npt.NDArray[np.float64]


class Shares(NamedTuple):
    """The shares in the total, which are its slopes.

    ``summed`` and ``extra``: of sums of wakes and of added turbulence, by turbine (downwind order) and wind speed.
    ``u``, ``ct``, ``ti``: of wind speed, thrust and turbulence of the turbine whose turn it is, by wind speed.
    ``along`` and ``across``: of the places of the turbines as they were given. ``speed`` and ``blocked``, only for
    models with blockage: of all wind speeds, and what each has through the blockage of its turbine (``blocked_walks``).
    """

    summed: FloatArray
    extra: FloatArray
    u: FloatArray
    ct: FloatArray
    ti: FloatArray
    along: FloatArray
    across: FloatArray
    speed: FloatArray
    blocked: FloatArray


@scalar
def new_shares(n: int, most: int) -> Shares:
    """Room for ``n`` turbines and up to ``most`` wind speeds."""
    return Shares(
        np.empty((n, most)), np.empty((n, most)), np.empty(most), np.empty(most), np.empty(most),
        np.empty(n), np.empty(n), np.empty((n, most)), np.empty((n, most)),
    )  # fmt: skip


def make_walk_back(model: WakeModel) -> Callable[..., None]:
    """The walk upwind in one direction, after the walk downwind; fills ``shares.along`` and ``shares.across``."""
    reach, pair_back, settle_back = model.reach, _make_pair_back(model), _make_settle_back(model)
    blocks = model.blockage is not None

    def upwind_walk(data, machines, turned, states, counted, waked, shares):
        n, count = turned.order.size, states.speed.size
        clear(shares.along)
        clear(shares.across)
        for a in range(n - 1, -1, -1):
            i = turned.order[a]
            source = turned.type_index[i]
            most_thrust = most_turbulence = 0.0
            for k in range(count):
                shares.u[k] = shares.ct[k] = shares.ti[k] = 0.0
                if blocks:
                    shares.u[k] = shares.blocked[a, k]
                most_thrust = max(most_thrust, waked.ct[a, k])
                most_turbulence = max(most_turbulence, waked.ti[a, k])
            diameter = machines.diameter[source]
            of_place = of_side = 0.0
            for b in range(a + 1, n):
                j = turned.order[b]
                rotor = machines.diameter[turned.type_index[j]]
                far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
                if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
                    continue
                of_far, of_aside = pair_back(
                    data, machines, source, turned.type_index[j], far, aside, states, waked, shares, a, b
                )  # fmt: skip
                shares.along[j] += of_far
                shares.across[j] += of_aside
                of_place -= of_far
                of_side -= of_aside
            shares.along[i] += of_place
            shares.across[i] += of_side
            settle_back(machines, source, states, 1.0 if i < counted else 0.0, waked, shares, a)

    walk_back = scalar(named(upwind_walk, model.identity))
    return with_blockage_back(model, walk_back) if blocks else walk_back


def _make_pair_back(model: WakeModel) -> Callable[..., tuple[float, float]]:
    """The wake of ``a`` on ``b``: adds to the shares of ``a``, returns those of both distances."""
    slopes, added_slopes = model.deficit_with_slopes, model.turbulence_functions[1]
    adds, of_source = model.added_turbulence is not None, model.reference == "source"
    together = superposition_of(model)
    scale, scale_slope, term_back = together.scale, together.scale_slope, together.term_back

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
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            shares.ct[k] += of_value * d_ct
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
        return of_far, of_aside

    return pair_back


def _make_settle_back(model: WakeModel) -> Callable[..., None]:
    """From the shares of a turbine's power (``counts``: 1 or 0), thrust and turbulence to those of its sums."""
    adds, blocks = model.added_turbulence is not None, model.blockage is not None
    wind_speed_back = superposition_of(model).wind_speed_back

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

    return settle_back
