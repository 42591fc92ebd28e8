"""The walk downwind of the cumulative-curl model, in which a wake's depth depends on the wakes it stands in.

``models.cumulative_curl`` has the equations. The share s of earlier wakes m in the way of the wake of n, at a rotor j,
is a sum over m of exp(-(y_n - y_m)^2 / (2 S)) C_m(x_j) sigma_m^2 / (S U), S = sigma_m^2 + sigma_n^2. This follows the
code of FLORIS 4.7, which departs from the papers in three points. They are kept, so that the numbers are those of
FLORIS:

- distances across the wind and heights are in metres where S is in squares of rotor diameters, so that only turbines
  within a few metres of the same line along the wind count;
- C_m, which has no unit, is divided by the free wind speed U;
- the last turbine before n, in the order downwind, is left out of the sum. Which that is among turbines abreast of each
  other is a matter of their order, and so is the wind downwind of them.

Added turbulence counts where all wakes so far take more than 0.05 m/s, up to 15 diameters downwind and 2 aside. Wakes
begin 0.1 m downwind of their rotor, and the wind at a rotor is that at its centre.
"""

from collections.abc import Callable
from math import exp, sqrt

import numpy as np

from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.wind import clear
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.models.cumulative_curl import amplitude, profile_exponent, shape_factors, width_start

_FELT = 80.0
"""Squares of distances above this many S count as 0: exp(-40) is 4e-18."""


def make_cumulative_walk(model: WakeModel, settle: Callable[..., tuple[float, float]]) -> Callable[..., None]:
    """Make the walk for a model; its arguments and ``settle`` are as in ``direct``."""
    reach = model.reach

    @scalar
    def downwind_walk(data, turbines, turned, states, waked):
        n, count = turned.order.size, states.speed.size
        growth, start = np.empty((n, count)), np.empty((n, count))
        slot = _slots(data, turbines, turned)
        depth = np.empty((slot.max() + 1, n, count))
        in_the_way, before = np.empty(count), np.empty(n, np.int64)
        for a in range(n):
            clear(waked.summed[a])
            clear(waked.extra[a])
        for a in range(n):
            source = turned.types[turned.order[a]]
            most_thrust, most_turbulence = settle(turbines, source, states, waked, a)
            for k in range(count):
                growth[a, k] = data.constants[0] * waked.ti[a, k] + data.constants[1]
                start[a, k] = width_start(data, waked.ct[a, k])
            aligned = _aligned_before(turbines, turned, growth, start, a, before)
            diameter = turbines.diameter[source]
            for b in range(a + 1, n):
                target = turned.types[turned.order[b]]
                far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
                # Twice the reach: a depth there may be asked for by a wider wake on the same line.
                if far < 0.1 or abs(aside) >= 2.0 * reach(
                    data, far, diameter, turbines.diameter[target], most_thrust, most_turbulence
                ):
                    clear(depth[slot[a], b])
                    continue
                clear(in_the_way)
                for p in range(aligned):
                    m = before[p]
                    _add_in_the_way(
                        turbines, turned, states, growth, start, depth[slot[m], b], m, a, b, in_the_way
                    )
                _cast(data, turbines, turned, states, waked, growth, start, in_the_way, a, b)
                for k in range(count):
                    depth[slot[a], b, k] = in_the_way[k]

    return downwind_walk


@scalar
def _slots(data, turbines, turned):
    """Return the storage index of each turbine's depths; 0 (unused) if no later turbine can be in line with it."""
    n = turned.order.size
    slot, kept = np.zeros(n, np.int64), 0
    far = (turned.along[n - 1] - turned.along[0]) / turbines.diameter.min()
    widest = (data.constants[0] + data.constants[1]) * far + width_start(data, 1.0)
    for m in range(n):
        for a in range(m + 2, n):
            aside = turned.across[a] - turned.across[m]
            if aside * aside <= 2.0 * _FELT * widest * widest:
                kept += 1
                slot[m] = kept
                break
    return slot


@scalar
def _aligned_before(turbines, turned, growth, start, a, before):
    n, count = growth.shape
    end, found = turned.along[n - 1], 0
    for m in range(a - 1):
        aside = turned.across[a] - turned.across[m]
        square = 0.0
        for k in range(count):
            own = growth[a, k] * (end - turned.along[a]) / _diameter(turbines, turned, a) + start[a, k]
            other = growth[m, k] * (end - turned.along[m]) / _diameter(turbines, turned, m) + start[m, k]
            square = max(square, own * own + other * other)
        if aside * aside <= _FELT * square:
            before[found] = m
            found += 1
    return found


@inlined
def _diameter(turbines, turned, a):
    return turbines.diameter[turned.types[turned.order[a]]]


@inlined
def _height(turbines, turned, a):
    return turbines.hub_height[turned.types[turned.order[a]]]


@scalar
def _add_in_the_way(turbines, turned, states, growth, start, depth, m, a, b, in_the_way):
    aside = turned.across[a] - turned.across[m]
    rise = _height(turbines, turned, a) - _height(turbines, turned, m)
    square = aside * aside + rise * rise
    of_other = (turned.along[b] - turned.along[m]) / _diameter(turbines, turned, m)
    of_own = (turned.along[b] - turned.along[a]) / _diameter(turbines, turned, a)
    for k in range(in_the_way.size):
        other = growth[m, k] * of_other + start[m, k]
        own = growth[a, k] * of_own + start[a, k]
        both = own * own + other * other
        in_the_way[k] += other * other / both * exp(-0.5 * square / both) * depth[k] / states.speed[k]


@scalar
def _cast(data, turbines, turned, states, waked, growth, start, in_the_way, a, b):
    """Add the wake of ``a`` on ``b``; on return ``in_the_way`` holds its depths there."""
    diameter = _diameter(turbines, turned, a)
    far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
    rise = _height(turbines, turned, b) - _height(turbines, turned, a)
    diameters, off = far / diameter, sqrt(aside * aside + rise * rise) / diameter
    n = profile_exponent(data, diameters)
    first, per_thrust = shape_factors(n)
    spread = off**n
    stirred = far <= 15.0 * diameter and abs(aside) < 2.0 * diameter and data.constants[7] > 0.0
    decay = data.constants[7] * diameters ** data.constants[10]
    for k in range(in_the_way.size):
        sigma = growth[a, k] * diameters + start[a, k]
        depth = amplitude(n, first, per_thrust, sigma, waked.ct[a, k], in_the_way[k])
        in_the_way[k] = depth
        waked.summed[b, k] += waked.u[a, k] * depth * exp(-0.5 * spread / (sigma * sigma))
        if stirred and waked.summed[b, k] > 0.05:
            induction = 0.5 * (1.0 - sqrt(1.0 - min(waked.ct[a, k], 0.9999)))
            plus = decay * induction ** data.constants[8] * states.turbulence[k] ** data.constants[9]
            waked.extra[b, k] = max(waked.extra[b, k], plus)
