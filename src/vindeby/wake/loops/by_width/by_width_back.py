"""The walk of ``by_width`` in reverse: the gradient.

As in ``direct_back``, the share of each wind speed in the total is passed upwind. A pair's slopes are worked out for
all wind states by vector instructions, and then added up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import named, scalar
from vindeby.wake.loops.by_width.by_width_rows import (
    ASIDE,
    FAR,
    N0,
    N1,
    N2,
    N3,
    OF_THRUST,
    ROW,
    S0,
    S1,
    S2,
    S3,
    STRENGTH,
    THRUST,
    T,
    put_numbers,
    whole_vectors,
)
from vindeby.wake.loops.by_width.by_width_steps import first_constants, make_square_with_slopes, widths_of
from vindeby.wake.loops.by_width.gaussian_mean import LARGEST_T
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.wind import clear
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.turbines.curves import curves_at, curves_with_slopes

FloatArray = npt.NDArray[np.float64]

_wind_speed_back = superposition_of_words("squares", "free").wind_speed_back


class Shares(NamedTuple):
    """The shares in the total, which are its slopes, by turbine from the first to the last and wind state.

    ``summed``: of sums of wakes; ``thrust``: of the thrust of the turbine whose turn it is; ``along``, ``across``: of
    the places.
    """

    summed: FloatArray
    thrust: FloatArray
    along: FloatArray
    across: FloatArray


@scalar
def new_shares(n: int) -> Shares:
    """Room for ``n`` turbines."""
    return Shares(np.empty((n, ROW)), np.empty(ROW), np.empty(n), np.empty(n))


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
        room = winds.room
        clear(shares.along)
        clear(shares.across)
        for a in range(end - 1, -1, -1):
            i = facing.order[a]
            source = facing.type_index[i]
            clear(shares.thrust[: states.speed.size])
            if first[a + 1] > first[a]:
                prepare(data, machines, source, states, winds.u[a], room)
            for p in range(first[a], first[a + 1]):
                b = other[p]
                pair_slopes(data, machines, facing, source, a, b, states, room)
                of_summed, of_far, of_aside = shares.summed[b], 0.0, 0.0
                for k in range(states.speed.size):
                    shares.thrust[k] += of_summed[k] * room[OF_THRUST + k]
                    of_far += of_summed[k] * room[FAR + k]
                    of_aside += of_summed[k] * room[ASIDE + k]
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
    def prepare(data, machines, source, states, u, room):
        """Thrust and numbers of the source's width again, and the slopes of these."""
        diameter, constants = machines.diameter[source], first_constants(data)
        for k in range(states.speed.size):
            thrust = room[THRUST + k] = curves_at(machines, source, u[k])[1]
            put_numbers(room, k, numbers_of(constants, diameter, thrust, states.turbulence[k]), diameter)
            s0, s1, s2, s3 = slopes_of(constants, diameter, thrust, states.turbulence[k])
            room[S0 + k], room[S1 + k], room[S2 + k], room[S3 + k] = s0, s1, s2, s3

    return prepare


def _make_pair_slopes(model: WakeModel) -> Callable[..., None]:
    square_with_slopes, near_slopes = make_square_with_slopes(model), model.deficit_with_slopes

    @scalar
    def pair_slopes(data, machines, facing, source, a, b, states, room):
        """The slopes of the square of the deficit of ``a`` at ``b``, into the rows for them."""
        far, aside = facing.along[b] - facing.along[a], facing.across[b] - facing.across[a]
        rise = facing.hub_height[b] - facing.hub_height[a]
        heights = facing.hub_height[b] + facing.hub_height[a]
        radius, diameter, count = facing.radius[b], machines.diameter[source], states.speed.size
        per_thrust = 0.125 * diameter * diameter
        for k in range(whole_vectors(count)):
            numbers = (room[N0 + k], room[N1 + k], room[N2 + k], room[N3 + k])
            slopes = (room[S0 + k], room[S1 + k], room[S2 + k], room[S3 + k])
            room[FAR + k], room[ASIDE + k], room[OF_THRUST + k], room[T + k] = square_with_slopes(
                numbers, slopes, room[STRENGTH + k], per_thrust, far, aside, rise, heights, radius
            )
        for k in range(count):
            if room[T + k] > LARGEST_T:
                value, of_far, of_aside, of_thrust, _ = near_slopes(
                    data,
                    far,
                    aside,
                    rise,
                    heights,
                    diameter,
                    2.0 * radius,
                    room[THRUST + k],
                    states.turbulence[k],
                )
                room[FAR + k], room[ASIDE + k] = 2.0 * value * of_far, 2.0 * value * of_aside
                room[OF_THRUST + k] = 2.0 * value * of_thrust

    return pair_slopes
