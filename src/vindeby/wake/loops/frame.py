"""The common frame of all loops: blocks of directions, turning into the wind, adding up, turning back.

A loop works off blocks of directions. In each direction it turns the turbines into the wind and hands them to
``one_direction``, which adds the mean power of every turbine to ``out`` and, for a gradient, the slopes of their total
with all places to ``out_x`` and ``out_y``. The algorithms (``direct``, ``tabulated``, ``by_width``) are such functions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.wind import count_up, new_turned, turn_back, turn_into_wind
from vindeby.wake.models.contract import Pair


class Kept(NamedTuple):
    """Buffers for the values of every turbine in every wind state; ``column`` is the column of each state.

    ``values[0]``, by turbine and column: power, or wind speed if ``speed``; then ``values[1]`` and ``values[2]``, if
    they are there, are thrust coefficient and turbulence intensity. Nothing is kept in an array of size 0.
    """

    column: IntArray
    values: FloatArray
    speed: bool


class EnergyLoops(NamedTuple):
    """Compiled loops for the mean power of every turbine, without and with its slopes by all positions."""

    power: Callable[..., None]
    gradient: Callable[..., None]


NOTHING_KEPT = Kept(np.empty(0, np.int64), np.empty((0, 0, 0)), False)


def make_loop(new_room: Callable[..., object], one_direction: Callable[..., None]) -> Callable[..., None]:
    """Make the compiled loop of an algorithm; ``new_room(wind, types)`` makes its buffers.

    ``pairs`` are the directions and their opposites, of which ``per_block`` belong to a block. ``out``, ``out_x`` and
    ``out_y`` have one row per block, so that the number of threads changes nothing.
    """

    @kernel()
    def loop(
        data, turbines, pairs, per_block, wind, x, y, types, counted, block_from, block_to, out, out_x, out_y,
        kept,
    ):  # fmt: skip
        turned, room = new_turned(types), new_room(wind, types)
        for block in range(block_from, block_to):
            count_up(turned.order)
            for p in range(block * per_block, min((block + 1) * per_block, pairs.ahead.size)):
                d = pairs.ahead[p]
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], turned.order, turned.along, turned.across)
                one_direction(
                    data, turbines, turned, room, wind, d, pairs.behind[p], x, y, counted, out[block], out_x[block],
                    out_y[block], kept,
                )  # fmt: skip

    return loop


def make_add_up(at: Callable[..., object]) -> Callable[..., None]:
    """Make the function that adds the power of the first ``end`` turbines in some wind states to their means.

    ``at(states, i)`` is the wind of turbine ``i``; ``first`` is the number of the first of these wind states.
    """

    @scalar
    def add_up(turned, end, states, first, counted, waked, out, kept):
        for a in range(end):
            i = turned.order[a]
            weight = at(states, i).weight
            for k in range(states.speed.size if i < counted else 0):
                out[i] += weight[k] * waked.power[a, k]
                if kept.values.size > 0:
                    at_state = kept.column[first + k]
                    kept.values[0, i, at_state] = waked.u[a, k] if kept.speed else waked.power[a, k]
                    if kept.values.shape[0] > 1:
                        kept.values[1, i, at_state] = waked.ct[a, k]
                        kept.values[2, i, at_state] = waked.ti[a, k]

    return add_up


@scalar
def add_slopes(turned, end, cosine, sine, adjoints, out_x, out_y):
    """Add the slopes with x and y of the first ``end`` turbines."""
    for a in range(end):
        of_x, of_y = turn_back(cosine, sine, adjoints.along[a], adjoints.across[a])
        out_x[turned.order[a]] += of_x
        out_y[turned.order[a]] += of_y


@inlined
def pair_of(turbines, turned, a, b, far, aside, thrust, turbulence):
    """Return the pair of the turbine at ``a`` as source and the rotor at ``b``, at these distances."""
    source, target = turned.types[turned.order[a]], turned.types[turned.order[b]]
    height, other = turbines.hub_height[source], turbines.hub_height[target]
    return Pair(
        far, aside, other - height, other + height, turbines.diameter[source], turbines.diameter[target], thrust,
        turbulence,
    )  # fmt: skip


@inlined
def in_state(pair, thrust, turbulence):
    """Return the pair with this thrust coefficient and turbulence intensity at the source."""
    return Pair(
        pair.downwind, pair.crosswind, pair.rise, pair.heights, pair.diameter, pair.rotor, thrust, turbulence
    )
