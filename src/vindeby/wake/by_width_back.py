"""The walk of ``by_width`` in reverse: the gradient.

As in ``direct_back``, the share of each wind speed in the total is passed upwind. A pair's slopes are worked out for all
wind states by vector instructions, and then added up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.by_width_steps import make_square_with_slopes, widths_of
from vindeby.wake.compiling.compiled import named, scalar
from vindeby.wake.curves import curves_with_slopes
from vindeby.wake.gaussian_mean import LARGEST_T
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.superposition import superposition_of_words
from vindeby.wake.wind import clear

__all__ = ["Shares", "make_walk_back", "new_shares"]

FloatArray = npt.NDArray[np.float64]

_wind_speed_back = superposition_of_words("squares", "free").wind_speed_back


class Shares(NamedTuple):
    """The shares in the total, which are its slopes, by turbine from the first to the last and wind state.

    ``summed``: of sums of wakes. Of the turbine whose turn it is, by wind state: ``thrust``; ``number_slopes``, the slopes
    of the numbers of its width; and ``far``, ``aside``, ``pair_thrust``, the slopes of a pair. ``along``, ``across``: of
    the places.
    """

    summed: FloatArray
    thrust: FloatArray
    number_slopes: FloatArray
    far: FloatArray
    aside: FloatArray
    pair_thrust: FloatArray
    along: FloatArray
    across: FloatArray


@scalar
def new_shares(n: int, most: int) -> Shares:
    """Room for ``n`` turbines and up to ``most`` wind states."""
    return Shares(
        np.empty((n, most)), np.empty(most), np.empty((4, most)), np.empty(most), np.empty(most),
        np.empty(most), np.empty(n), np.empty(n),
    )  # fmt: skip


def make_walk_back(model: WakeModel) -> Callable[..., None]:
    """The walk upwind in one direction, after the walk downwind; fills ``shares.along`` and ``shares.across``."""
    prepare, pair_slopes = _make_prepare(model), _make_pair_slopes(model)

    @scalar
    def settle_back(machines, source, states, counts, summed, u, shares, of_summed):
        for k in range(states.speed.size):
            slope_power, slope_thrust = curves_with_slopes(machines, source, u[k])[2:]
            of_speed = counts * states.weight[k] * slope_power + shares.thrust[k] * slope_thrust
            of_summed[k] = _wind_speed_back(of_speed, states.speed[k], summed[k])

    def upwind_walk(data, machines, facing, end, states, counted, winds, first, other, shares):
        clear(shares.along)
        clear(shares.across)
        for a in range(end - 1, -1, -1):
            i = facing.order[a]
            source = facing.type_index[i]
            clear(shares.thrust)
            if first[a + 1] > first[a]:
                prepare(data, machines, source, states, winds.u[a], winds, shares)
            for p in range(first[a], first[a + 1]):
                b = other[p]
                pair_slopes(data, machines, facing, source, a, b, states, winds, shares)
                of_summed, of_far, of_aside = shares.summed[b], 0.0, 0.0
                for k in range(states.speed.size):
                    shares.thrust[k] += of_summed[k] * shares.pair_thrust[k]
                    of_far += of_summed[k] * shares.far[k]
                    of_aside += of_summed[k] * shares.aside[k]
                shares.along[b] += of_far
                shares.across[b] += of_aside
                shares.along[a] -= of_far
                shares.across[a] -= of_aside
            counts = 1.0 if i < counted else 0.0
            settle_back(
                machines, source, states, counts, winds.summed[a], winds.u[a], shares, shares.summed[a]
            )

    return scalar(named(upwind_walk, model.identity))


def _make_prepare(model: WakeModel) -> Callable[..., None]:
    numbers_of, slopes_of = widths_of(model).numbers, widths_of(model).number_slopes

    @scalar
    def prepare(data, machines, source, states, u, winds, shares):
        """Thrust and numbers of the source's width again, and the slopes of these."""
        diameter = machines.diameter[source]
        for k in range(states.speed.size):
            thrust = curves_with_slopes(machines, source, u[k])[1]
            winds.thrust[k] = thrust
            winds.strength[k] = 0.125 * thrust * diameter * diameter
            n0, n1, n2, n3 = numbers_of(data, diameter, thrust, states.turbulence[k])
            winds.numbers[0, k], winds.numbers[1, k] = n0, n1
            winds.numbers[2, k], winds.numbers[3, k] = n2, n3
            n0, n1, n2, n3 = slopes_of(data, diameter, thrust, states.turbulence[k])
            shares.number_slopes[0, k], shares.number_slopes[1, k] = n0, n1
            shares.number_slopes[2, k], shares.number_slopes[3, k] = n2, n3

    return prepare


def _make_pair_slopes(model: WakeModel) -> Callable[..., None]:
    square_with_slopes, near_slopes = make_square_with_slopes(model), model.deficit_with_slopes

    @scalar
    def fill(numbers, slopes, strength, per_thrust, far, aside, rise, heights, radius, winds, shares):
        n0, n1, n2, n3 = numbers[0], numbers[1], numbers[2], numbers[3]
        s0, s1, s2, s3 = slopes[0], slopes[1], slopes[2], slopes[3]
        of_far, of_aside, of_thrust, t = shares.far, shares.aside, shares.pair_thrust, winds.t
        too_near = 0
        for k in range(strength.size):
            of_far[k], of_aside[k], of_thrust[k], t[k] = square_with_slopes(
                (n0[k], n1[k], n2[k], n3[k]), (s0[k], s1[k], s2[k], s3[k]), strength[k], per_thrust,
                far, aside, rise, heights, radius,
            )  # fmt: skip
            too_near += t[k] > LARGEST_T
        return too_near

    @scalar
    def pair_slopes(data, machines, facing, source, a, b, states, winds, shares):
        """The slopes of the square of the deficit of ``a`` at ``b``, into ``shares``."""
        far, aside = facing.along[b] - facing.along[a], facing.across[b] - facing.across[a]
        rise = facing.hub_height[b] - facing.hub_height[a]
        heights = facing.hub_height[b] + facing.hub_height[a]
        radius, diameter, count = facing.radius[b], machines.diameter[source], states.speed.size
        too_near = fill(
            winds.numbers, shares.number_slopes, winds.strength[:count], 0.125 * diameter * diameter,
            far, aside, rise, heights, radius, winds, shares,
        )  # fmt: skip
        for k in range(count if too_near > 0 else 0):
            if winds.t[k] > LARGEST_T:
                value, of_far, of_aside, of_thrust, _ = near_slopes(
                    data, far, aside, rise, heights, diameter, 2.0 * radius, winds.thrust[k], states.turbulence[k]
                )
                shares.far[k] = 2.0 * value * of_far
                shares.aside[k] = 2.0 * value * of_aside
                shares.pair_thrust[k] = 2.0 * value * of_thrust

    return pair_slopes
