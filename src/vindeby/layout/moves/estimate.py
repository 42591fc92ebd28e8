"""What a move gains, estimated from pairs of turbines, for ``carried_moves`` to refuse most moves by.

The estimate adds up what the moved turbine and each of the others take from each other as if they stood alone, which is
tabulated by where one stands from the other. Of every turbine, what it has to do with the others where it stands is
kept (``pair_sum``), so that only the new place is looked up, and no further than until the move is refused: pairs only
lose. Where the free wind differs from place to place, pairs are taken to stand in the mean of the winds of the layout,
and what the moved turbine alone would have more or less at its new place is added.

How near an estimate comes depends on the wakes and the layout, so it is learnt on the way, from moves that were worked
out in full: those that are kept or nearly so, and among them, now and then, one that its estimate would have refused.
A move is refused by its estimate where that is below what is needed by ``ROOM`` times as much as for any such move of
late.
"""

from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.moves.reach import Reaches, bearing_and_distance, directions_between
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.local_wind import LocalWind
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import Wind, turn
from vindeby.wake.loops.wind_access import free_wind_at
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

POINTS_PER_TRIAL, FEWEST_POINTS, MOST_POINTS = 0.1, 2**13, 2**19
"""And per turbine: a table takes about a tenth of the time of its trials at most. Few points are too rough."""
POINTS_PER_DIAMETER = 6.0
"""At most: wakes are about half a diameter wide."""
EVERY = 32
"""One move in so many is evaluated whatever its estimate."""
NEARLY = 0.001
"""A move that misses what is needed by this share of the mean power of a turbine is learnt from like one that does."""
ROOM = 1.5
"""The margin is so many times what was seen to be needed."""
LEAST_MARGIN = 0.0075
"""The margin at first, and at least: a share of the mean power of a turbine."""
FADING = 0.99
"""How much of the margin is left with every move that is evaluated whatever its estimate: layouts change."""
MARGIN, SEEN, REFUSED, LEARNT = 0, 1, 2, 3
"""Of ``learnt``: the margin, how many moves were estimated, and how many of them were refused. How many these are."""


class Estimates(NamedTuple):
    """What turbines lose to one another, what that makes for every turbine (``pair_sum``), what was ``learnt`` of it.

    ``loss`` (source x ``types`` + target, points): what the target loses (W), by ``rows`` from south to north, each of
    ``columns`` from west to east; the source stands in the middle, and there are ``per_m`` points per metre. Tables
    without points tell nothing: moves are not estimated.
    """

    loss: npt.NDArray[np.float32]
    rows: int
    columns: int
    per_m: float
    types: int
    pair_sum: FloatArray
    learnt: FloatArray


def estimates_of(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    types: IntArray,
    reaches: Reaches,
    trials: int,
    origin: Sequence[float] | FloatArray,
) -> Estimates:
    """Tables for turbines in and around a layout, relative to ``origin``, as fine as pays for so many trials.

    Too few go without. Where wakes add as squares, what they take does not add up from pairs: with ``nygaard-2022`` one
    move in eight was refused by its estimate, too few for what a table takes.
    """
    n_types = len(farm.turbines)
    learnt = np.array([LEAST_MARGIN, 0.0, 0.0])
    points = min(POINTS_PER_TRIAL * trials * len(x), MOST_POINTS) / n_types**2
    if points < FEWEST_POINTS or farm.model.superposition != "linear":
        return Estimates(np.zeros((1, 0), np.float32), 0, 0, 0.0, n_types, np.zeros(len(x)), learnt)
    wind = _mean_wind(farm.wind_near(origin), x, y, types)
    diameter = max(turbine.rotor_diameter_m for turbine in farm.turbines)
    wide, high = (1.25 * float(np.ptp(at)) + 5.0 * diameter for at in (x, y))
    step = max(diameter / POINTS_PER_DIAMETER, 2.0 * sqrt(wide * high / points))
    rows, columns = (2 * int(size / step) + 3 for size in (high, wide))
    loss = np.zeros((n_types**2, rows, columns), np.float32)
    thrust = np.array([turbine.thrust_coefficient_at(wind.speed) for turbine in farm.turbines])
    power = np.array([turbine.power_at(wind.speed) for turbine in farm.turbines])
    _fill_kernel(farm.model)(farm.data, farm.turbine_arrays, wind, reaches, thrust, power, step, loss)
    flat = loss.reshape(n_types**2, -1)
    return Estimates(flat, rows, columns, 1.0 / step, n_types, np.zeros(len(x)), learnt)


def _mean_wind(wind: Wind | LocalWind, x: FloatArray, y: FloatArray, types: IntArray) -> Wind:
    """The mean of the free winds of all turbines, as a wind that is the same everywhere."""
    if not isinstance(wind, LocalWind):
        return wind
    here = free_wind_at(wind, np.zeros(len(wind.cosine)), x, y, np.asarray(types, np.int64))
    speed, weight, turbulence = (
        values.mean(axis=0) for values in (here.speed, here.probability, here.turbulence)
    )
    return Wind(wind.cosine, wind.sine, wind.first, speed, weight, turbulence, wind.most)


@once_per_model
def _fill_kernel(model: WakeModel) -> Callable[..., None]:
    deficit, together = model.deficit, superposition_of(model)
    term, scale, wind_speed = together.term, together.scale, together.wind_speed

    @inlined
    def lost(data, turbines, wind, thrust, power, d, source, target, far, aside):
        """What a turbine loses in one direction to another one that is so far upwind and aside of it."""
        height, hub = turbines.hub_height[source], turbines.hub_height[target]
        total, value, last, last_turbulence = 0.0, 0.0, -1.0, -1.0
        for k in range(wind.first[d], wind.first[d + 1]):
            ct, ti, free = thrust[source, k], wind.turbulence[k], wind.speed[k]
            if ct != last or ti != last_turbulence:
                last, last_turbulence = ct, ti
                value = deficit(
                    data, Pair(far, aside, hub - height, hub + height, turbines.diameter[source],
                    turbines.diameter[target], ct, ti),
                )  # fmt: skip
            slowed = wind_speed(free, term(value * scale(free, free)))
            total += wind.weight[k] * (power[target, k] - curves_at(turbines, target, slowed)[0])
        return total

    @kernel(counts_references=False)
    def fill(data, turbines, wind, reaches, thrust, power, step, loss):
        types = thrust.shape[0]
        for pair in range(types * types):
            source, target = pair // types, pair % types
            for row in range(loss.shape[1]):
                for column in range(loss.shape[2]):
                    east, north = step * (column - loss.shape[2] // 2), step * (row - loss.shape[1] // 2)
                    where = bearing_and_distance(east, north)
                    first, last = directions_between(reaches, types * types + pair, *where)
                    total = 0.0
                    for s in range(first, last):
                        d = reaches.facing[s]
                        far, aside = turn(wind.cosine[d], wind.sine[d], east, north)
                        # Nearer than that stands none, and some wakes begin only behind the rotor.
                        if far > 0.25 * turbines.diameter[source]:
                            total += lost(data, turbines, wind, thrust, power, d, source, target, far, aside)
                    loss[pair, row, column] = total

    return fill


@inlined
def loss_at(estimates, source, target, east, north):
    """What type ``target``, so far to the east and north of type ``source``, loses to it (W); 0 beyond the table."""
    right = east * estimates.per_m + estimates.columns // 2
    up = north * estimates.per_m + estimates.rows // 2
    if not (0.0 <= right < estimates.columns - 1 and 0.0 <= up < estimates.rows - 1):
        return 0.0
    # Places in tables are unsigned: loops need not look whether one counts from the end.
    column, row, columns, one = np.uint64(right), np.uint64(up), np.uint64(estimates.columns), np.uint64(1)
    table, at = estimates.loss[source * estimates.types + target], row * columns + column
    right, up = right - column, up - row
    below = table[at] + right * (table[at + one] - table[at])
    at += columns
    above = table[at] + right * (table[at + one] - table[at])
    return below + up * (above - below)


@inlined
def _pair(moves, one, other, x, y):
    """What turbine ``one``, at a place, and turbine ``other``, if that one counts, lose to each other (W)."""
    east, north = moves.x[other] - x, moves.y[other] - y
    first, second = moves.types[one], moves.types[other]
    total = loss_at(moves.estimates, second, first, -east, -north)
    if other < moves.counted:
        total += loss_at(moves.estimates, first, second, east, north)
    return total


@inlined
def sum_pairs(moves):
    """What every turbine that may move has to do with all others; nothing without tables."""
    for i in range(moves.counted if moves.estimates.loss.size > 0 else 0):
        total = 0.0
        for j in range(moves.x.size):
            if j != i:
                total += _pair(moves, i, j, moves.x[i], moves.y[i])
        moves.estimates.pair_sum[i] = total


@inlined
def move_pair_sums(moves, moved, x, y):
    """The same after a kept move, when the layout has the new place and ``x`` and ``y`` are the old one."""
    pair_sum = moves.estimates.pair_sum
    if moves.estimates.loss.size == 0:
        return
    pair_sum[moved] = 0.0
    for j in range(moves.x.size):
        if j != moved:
            new = _pair(moves, moved, j, moves.x[moved], moves.y[moved])
            pair_sum[moved] += new
            pair_sum[j] += new - _pair(moves, moved, j, x, y)


@inlined
def estimated_gain(moves, moved, x, y, free_gain, needed):
    """The gain (W) of a turbine moved to a place, from pairs, and whether the move is refused by it.

    ``free_gain`` is what it would gain without wakes. Of a refused move it is as much as was added up until it was
    refused.
    """
    learnt, lowest = moves.estimates.learnt, -inf
    learnt[SEEN] += 1.0
    if learnt[SEEN] % EVERY == 0.0:
        learnt[MARGIN] = max(LEAST_MARGIN, FADING * learnt[MARGIN])
    else:
        lowest = needed - learnt[MARGIN] * moves.total[0] / moves.counted
    total = moves.estimates.pair_sum[moved] + free_gain
    for j in range(moves.x.size):
        if j != moved:
            total -= _pair(moves, moved, j, x, y)
            if total < lowest:
                learnt[REFUSED] += 1.0
                return total, True
    return total, False


@inlined
def learn(moves, estimate, gain, needed):
    """Compare an estimate with the gain of a move that was worked out in full."""
    learnt, mean = moves.estimates.learnt, moves.total[0] / moves.counted
    if moves.estimates.loss.size > 0 and needed > -inf and gain > needed - NEARLY * mean:
        learnt[MARGIN] = max(learnt[MARGIN], ROOM * (min(gain, needed) - estimate) / mean)
