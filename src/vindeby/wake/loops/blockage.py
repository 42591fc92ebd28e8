"""The walks downwind and upwind with blockage: turbines slow down the wind of those upwind of them, too.

Wakes and blockage depend on each other, so that one walk downwind is not enough. The wind at the turbines is a fixed
point: the walk through the wakes is repeated with the blockage of the walk before, until the blockage changes by less
than ``TOLERANCE``. Blockage is weak, so each round leaves about one part in fifty of the change, and four or five
rounds are enough. The gradient of a fixed point is one, too: the slopes of the total with the blockage are passed back
round by round in the same way.

Every pair counts, since blockage has no edge: a round costs turbines x turbines / 2 for each direction and wind speed
beside the walk through the wakes. These walks have the arguments of those they are made from, and are used in their
place.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.models.self_similar_2020 import far_thrust, induced, near_thrust, place_factors
from vindeby.wake.turbines.curves import curves_with_slopes

TOLERANCE = 1e-7
"""Change of the blockage, in m/s, after which one more walk finds the wind at the turbines to a fiftieth of this."""
RELATIVE_TOLERANCE = 1e-9
"""The tolerance for the slopes of the total, relative to the largest."""
MOST_ROUNDS = 40
"""The most rounds: at a jump of a thrust curve, wind speeds may oscillate for ever."""
UNFELT = 1e-13
"""A factor of place below which a pair is left out."""


class Induced(NamedTuple):
    """The induction of turbines (from upwind to downwind) on the wind upwind of them.

    ``near`` and ``far``: scaled thrust coefficients by turbine and wind speed; ``factor`` and ``mixed``: what place
    does to them, by turbine that feels it and turbine that causes it.
    """

    near: FloatArray
    far: FloatArray
    factor: FloatArray
    mixed: FloatArray


def with_blockage(model: WakeModel, walk: Callable[..., None]) -> Callable[..., None]:
    """Make the walk downwind that repeats until wakes and blockage agree; it also fills ``waked.blocked``."""

    def blocked_walk(data, turbines, turned, states, waked):
        n, count = turned.order.size, states.speed.size
        zone = Induced(np.empty((n, count)), np.empty((n, count)), np.empty((n, n)), np.empty((n, n)))
        new = np.empty(count)
        _place(turbines, turned, zone)
        for a in range(n):
            for k in range(count):
                waked.blocked[a, k] = 0.0
        walk(data, turbines, turned, states, waked)
        for _ in range(MOST_ROUNDS):
            change = _block(zone, waked, new)
            walk(data, turbines, turned, states, waked)
            if change < TOLERANCE:
                break

    return scalar(blocked_walk)


@scalar
def _place(turbines, turned, zone):
    """Fill the position factors; 0 for a pair without blockage."""
    n = turned.order.size
    for b in range(n):
        target = turned.types[turned.order[b]]
        for a in range(b + 1, n):
            source = turned.types[turned.order[a]]
            upwind, aside, rise = _apart(turbines, turned, source, target, a, b)
            zone.factor[b, a] = zone.mixed[b, a] = 0.0
            if upwind > 0.0:
                factor, zone.mixed[b, a] = place_factors(upwind, aside, rise, turbines.diameter[source])[:2]
                zone.factor[b, a] = factor if factor >= UNFELT else 0.0


@inlined
def _apart(turbines, turned, source, target, a, b):
    """Return the upwind distance, crosswind distance and height of ``b`` relative to ``a``."""
    rise = turbines.hub_height[target] - turbines.hub_height[source]
    return turned.along[a] - turned.along[b], turned.across[b] - turned.across[a], rise


@scalar
def _block(zone, waked, new):
    """Fill ``waked.blocked`` with the speed that blockage takes from each turbine; return the largest change."""
    n, count = zone.near.shape
    for a in range(n):
        for k in range(count):
            zone.near[a, k] = near_thrust(waked.ct[a, k])[0]
            zone.far[a, k] = far_thrust(waked.ct[a, k])[0] - zone.near[a, k]
    change = 0.0
    for b in range(n):
        for k in range(count):
            new[k] = 0.0
        for a in range(b + 1, n):
            factor, mixed = zone.factor[b, a], zone.mixed[b, a]
            if factor > 0.0:
                for k in range(count):
                    scaled = zone.near[a, k] + mixed * zone.far[a, k]
                    new[k] += waked.u[a, k] * factor * induced(scaled)[0]
        for k in range(count):
            change = max(change, abs(new[k] - waked.blocked[b, k]))
            waked.blocked[b, k] = new[k]
    return change


def with_blockage_back(model: WakeModel, walk_back: Callable[..., None]) -> Callable[..., None]:
    """Make the walk upwind that repeats until the slopes by blockage and by wind speed agree."""

    def blocked_walk_back(data, turbines, turned, states, counted, waked, adjoints):
        n, count = turned.order.size, states.speed.size
        zone = Induced(np.empty((n, count)), np.empty((n, count)), np.empty((n, n)), np.empty((n, n)))
        slopes = np.empty((3, count))
        _place(turbines, turned, zone)
        for a in range(n):
            for k in range(count):
                zone.near[a, k], zone.far[a, k] = (
                    near_thrust(waked.ct[a, k])[0],
                    far_thrust(waked.ct[a, k])[0],
                )
                adjoints.blocked[a, k] = 0.0
        walk_back(data, turbines, turned, states, counted, waked, adjoints)
        for _ in range(MOST_ROUNDS):
            change, most = _block_back(turbines, turned, zone, waked, adjoints, slopes)
            walk_back(data, turbines, turned, states, counted, waked, adjoints)
            if change <= RELATIVE_TOLERANCE * most:
                break
        _places_back(turbines, turned, zone, waked, adjoints)

    return scalar(blocked_walk_back)


@scalar
def _block_back(turbines, turned, zone, waked, adjoints, slopes):
    """Fill ``adjoints.blocked``, what the wind at a turbine does through its blockage; returns change and largest."""
    n, count = zone.near.shape
    near_slope, far_slope, new = slopes[0], slopes[1], slopes[2]
    change = most = 0.0
    for a in range(n):
        source = turned.types[turned.order[a]]
        near, far, u = zone.near[a], zone.far[a], waked.u[a]
        for k in range(count):
            # From here on the slopes are those with the wind speed.
            with_speed = u[k] * curves_with_slopes(turbines, source, u[k])[3]
            near_slope[k] = near_thrust(waked.ct[a, k])[1] * with_speed
            far_slope[k] = far_thrust(waked.ct[a, k])[1] * with_speed
            new[k] = 0.0
        for b in range(a):
            factor, mixed = zone.factor[b, a], zone.mixed[b, a]
            if factor == 0.0:
                continue
            of_speed = adjoints.speed[b]
            for k in range(count):
                value, slope = induced(near[k] + mixed * (far[k] - near[k]))
                slope *= near_slope[k] + mixed * (far_slope[k] - near_slope[k])
                new[k] -= of_speed[k] * factor * (value + slope)
        for k in range(count):
            most = max(most, abs(adjoints.speed[a, k]))
            change = max(change, abs(new[k] - adjoints.blocked[a, k]))
            adjoints.blocked[a, k] = new[k]
    return change, most


@scalar
def _places_back(turbines, turned, zone, waked, adjoints):
    """Add the slopes through blockage to ``adjoints.along`` and ``adjoints.across``."""
    n, count = zone.near.shape
    for b in range(n):
        target = turned.types[turned.order[b]]
        for a in range(b + 1, n):
            if zone.factor[b, a] == 0.0:
                continue
            source = turned.types[turned.order[a]]
            upwind, aside, rise = _apart(turbines, turned, source, target, a, b)
            factor, mixed, with_upwind, with_aside, mixed_slope = place_factors(
                upwind, aside, rise, turbines.diameter[source]
            )
            of_upwind = of_aside = 0.0
            for k in range(count):
                near, far = zone.near[a, k], zone.far[a, k]
                value, slope = induced(near + mixed * (far - near))
                taken = -adjoints.speed[b, k] * waked.u[a, k]
                of_upwind += taken * (with_upwind * value + factor * slope * (far - near) * mixed_slope)
                of_aside += taken * with_aside * value
            adjoints.along[a] += of_upwind
            adjoints.along[b] -= of_upwind
            adjoints.across[b] += of_aside
            adjoints.across[a] -= of_aside


@scalar
def blockage_at_point(
    upwind: float, aside: float, rise: float, diameter: float, wind: float, thrust: float
) -> float:
    """Return the wind speed (m/s) that one turbine takes at a point upwind of it."""
    factor, mixed = place_factors(upwind, aside, rise, diameter)[:2]
    near, far = near_thrust(thrust)[0], far_thrust(thrust)[0]
    return wind * factor * induced(near + mixed * (far - near))[0]
