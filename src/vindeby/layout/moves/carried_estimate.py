"""What a move gains, estimated from pairs of turbines, for ``carried_moves`` to refuse most moves by.

The estimate adds up what the moved turbine and each of the others take from each other as if they stood alone
(``pair_losses``). Of every turbine, what it has to do with the others where it stands is kept (``pair_sum``), so that
only the new place is looked up, and no further than until the move is refused: pairs only lose. Where the free wind
differs from place to place, pairs are taken to stand in the mean of the winds of the layout, and what a turbine alone
would have more or less at its new place (``free_energy``) is added.

How near an estimate comes depends on the wakes and the layout, so it is learnt on the way, from moves that were worked
out in full: those that are kept or nearly so, and among them, now and then, one that its estimate would have refused.
A move is refused by its estimate where that is below what is needed by ``ROOM`` times as much as for any such move of
late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_state import SECTORS, Reaches, bearing_of, widest_angle
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.local_wind import LocalWind, fill_row, new_rows
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import Wind, turn
from vindeby.wake.loops.wind_access import free_wind_at
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import TurbineArrays, curves_at

FREE_POINTS_PER_TRIAL, FREE_FEWEST_POINTS, FREE_MOST_POINTS = 0.002, 2**8, 2**14
"""And per turbine: a table takes little of the time of its trials."""


class FreeEnergy(NamedTuple):
    """``watts`` (types, points from west to east, from south to north): the mean power (W) without wakes.

    The first point is at ``west`` and ``south``; there are ``per_m`` points per metre.
    """

    watts: FloatArray
    west: float
    south: float
    per_m: float


def no_free_energy() -> FreeEnergy:
    """An empty table, for wind that is the same everywhere."""
    return FreeEnergy(np.zeros((1, 0, 0)), 0.0, 0.0, 0.0)


def free_energy_of(
    wind: LocalWind, machines: TurbineArrays, x: FloatArray, y: FloatArray, trials: int
) -> FreeEnergy:
    """A table for turbines in and around a layout, within the grid of the wind, as fine as pays for so many trials."""
    points = min(max(FREE_POINTS_PER_TRIAL * trials * len(x), FREE_FEWEST_POINTS), FREE_MOST_POINTS)
    (west, east), (south, north) = (_ends(at, axis) for at, axis in ((x, wind.grid.x), (y, wind.grid.y)))
    step = sqrt((east - west) * (north - south) / points)
    columns, rows = (int((end - begin) / step) + 2 for begin, end in ((west, east), (south, north)))
    watts = np.zeros((len(machines.diameter), columns, rows))
    _fill_free_energy(wind, machines, west, south, step, watts)
    return FreeEnergy(watts, west, south, 1.0 / step)


def _ends(at: FloatArray, axis: FloatArray) -> tuple[float, float]:
    """The ends of a table: beyond those of a layout, but within the grid."""
    beyond = 0.25 * float(np.ptp(at)) + 1.0
    low, high = max(float(at.min()) - beyond, float(axis[0])), min(float(at.max()) + beyond, float(axis[-1]))
    return low, max(high, low + 1.0)


@kernel("free energy")
def _fill_free_energy(wind, machines, west, south, step, watts):
    rows = new_rows(1, wind.most)
    east, north = wind.grid.x[wind.grid.x.size - 1], wind.grid.y[wind.grid.y.size - 1]
    for t in range(watts.shape[0]):
        for column in range(watts.shape[1]):
            for row in range(watts.shape[2]):
                total = 0.0
                for d in range(wind.cosine.size):
                    # The last points may be beyond the grid, which has nothing to tell there.
                    fill_row(
                        wind, d, t, min(west + step * column, east), min(south + step * row, north), rows, 0
                    )
                    for k in range(wind.first[d + 1] - wind.first[d]):
                        total += rows.weight[0, k] * curves_at(machines, t, rows.speed[0, k])[0]
                watts[t, column, row] = total


@inlined
def free_watts_at(free, t, x, y):
    """The mean power (W) of a turbine alone; beyond the table, that at its edge."""
    table = free.watts[t]
    across = min(max((x - free.west) * free.per_m, 0.0), table.shape[0] - 1.000001)
    up = min(max((y - free.south) * free.per_m, 0.0), table.shape[1] - 1.000001)
    i, j = int(across), int(up)
    across, up = across - i, up - j
    south = table[i, j] + across * (table[i + 1, j] - table[i, j])
    north = table[i, j + 1] + across * (table[i + 1, j + 1] - table[i, j + 1])
    return south + up * (north - south)


POINTS_PER_TRIAL, FEWEST_POINTS, MOST_POINTS = 0.05, 2**12, 2**18
"""And per turbine: a table takes about a tenth of the time of its trials at most. Few points are too rough."""
POINTS_PER_DIAMETER = 6.0
"""At most: wakes are about half a diameter wide."""


class PairLosses(NamedTuple):
    """``loss`` (pairs of types, points): what both turbines lose (W), by ``rows`` to the north.

    Each has ``columns`` from west to east. Then, where some do not count, as many tables of what the turbine at the
    centre loses. It stands in column ``centre`` of row 0; there are ``per_m`` points per metre. Tables without points
    tell nothing.
    """

    loss: npt.NDArray[np.float32]
    rows: int
    columns: int
    per_m: float
    centre: int


def no_pair_losses() -> PairLosses:
    """Tables without points, for walks that are not estimated."""
    return PairLosses(np.zeros((1, 0), np.float32), 0, 0, 0.0, 0)


def pair_losses_of(
    farm: WindFarm, wind: Wind, x: FloatArray, y: FloatArray, all_count: bool, reaches: Reaches, trials: int
) -> PairLosses:
    """Tables for turbines in and around a layout, in a wind, as fine as pays for so many trials.

    Where wakes add as squares, what they take does not add up from pairs: with ``nygaard-2022`` one move in eight was
    refused by its estimate, too few for what a table takes.
    """
    layers = len(farm.turbines) ** 2 * (1 if all_count else 2)
    points = min(POINTS_PER_TRIAL * trials * len(x), MOST_POINTS) / layers
    if points < FEWEST_POINTS or farm.model.superposition != "linear":
        return no_pair_losses()
    diameter = max(turbine.rotor_diameter_m for turbine in farm.turbines)
    wide, high = (1.25 * float(np.ptp(at)) + 5.0 * diameter for at in (x, y))
    step = max(diameter / POINTS_PER_DIAMETER, sqrt(2.0 * wide * high / points))
    centre = int(wide / step) + 2
    loss = np.zeros((layers, int(high / step) + 3, 2 * centre + 1), np.float32)
    thrust = np.array([turbine.thrust_coefficient_at(wind.speed) for turbine in farm.turbines])
    power = np.array([turbine.power_at(wind.speed) for turbine in farm.turbines])
    _fill_kernel(farm.model)(farm.data, farm.machines, wind, reaches, thrust, power, step, centre, loss)
    return PairLosses(loss.reshape(layers, -1), loss.shape[1], loss.shape[2], 1.0 / step, centre)


def _make_lost(model: WakeModel) -> Callable[..., float]:
    deficit, together = model.deficit, superposition_of(model)
    term, scale, wind_speed = together.term, together.scale, together.wind_speed

    @inlined
    def lost_in(data, machines, wind, thrust, power, d, source, target, far, aside):
        """What a turbine loses in one direction to another one that is so far upwind and aside of it."""
        height, hub = machines.hub_height[source], machines.hub_height[target]
        total, value, last, last_turbulence = 0.0, 0.0, -1.0, -1.0
        for k in range(wind.first[d], wind.first[d + 1]):
            ct, ti, free = thrust[source, k], wind.turbulence[k], wind.speed[k]
            if ct != last or ti != last_turbulence:
                last, last_turbulence = ct, ti
                value = deficit(
                    data, Pair(far, aside, hub - height, hub + height, machines.diameter[source],
                    machines.diameter[target], ct, ti),
                )  # fmt: skip
            slowed = wind_speed(free, term(value * scale(free, free)))
            total += wind.weight[k] * (power[target, k] - curves_at(machines, target, slowed)[0])
        return total

    @inlined
    def lost(data, machines, wind, reaches, thrust, power, source, target, east, north):
        """What a turbine loses to another one from which it is so far to the east and north."""
        distance, total = sqrt(east * east + north * north), 0.0
        types = thrust.shape[0]
        to = SECTORS + bearing_of(east, north)
        wide = widest_angle(reaches, types * types + source * types + target, distance)
        for s in range(reaches.first[int(to - wide)], reaches.first[int(to + wide) + 1]):
            d = reaches.facing[s]
            far, aside = turn(wind.cosine[d], wind.sine[d], east, north)
            # Nearer than that stands none, and some wakes begin only behind the rotor.
            if far > 0.25 * machines.diameter[source]:
                total += lost_in(data, machines, wind, thrust, power, d, source, target, far, aside)
        return total

    return lost


@once_per_model
def _fill_kernel(model: WakeModel) -> Callable[..., None]:
    lost = _make_lost(model)

    @kernel(f"{model.identity} pair losses", counts_references=False)
    def fill(data, machines, wind, reaches, thrust, power, step, centre, loss):
        types = thrust.shape[0]
        for pair in range(types * types):
            one, other = pair // types, pair % types
            for row in range(loss.shape[1]):
                for column in range(loss.shape[2]):
                    east, north = step * (column - centre), step * row
                    both = on_one = 0.0
                    for way in range(2):
                        source, target, sign = (one, other, 1.0) if way else (other, one, -1.0)
                        value = lost(
                            data, machines, wind, reaches, thrust, power, source, target, sign * east, sign * north
                        )  # fmt: skip
                        both += value
                        if way == 0:
                            on_one = value
                    loss[pair, row, column] = both
                    if loss.shape[0] > types * types:
                        loss[types * types + pair, row, column] = on_one

    return fill


@inlined
def _between(table, columns, at, up, right):
    """A number between four points, of which ``at`` is the first."""
    one = np.uint64(1)
    below = table[at] + right * (table[at + one] - table[at])
    at += columns
    above = table[at] + right * (table[at + one] - table[at])
    return below + up * (above - below)


@inlined
def pair_loss(losses, types, one, other, east, north, counts):
    """What type ``one`` and type ``other``, if that one ``counts``, lose to each other; 0 beyond the tables.

    ``other`` stands so far to the east and north of ``one``.
    """
    turned = north < 0.0
    if turned:
        east, north, one, other = -east, -north, other, one
    along, up = east * losses.per_m + losses.centre, north * losses.per_m
    if not (0.0 <= along < losses.columns - 1 and up < losses.rows - 1):
        return 0.0
    # Places in tables are unsigned: loops need not look whether one counts from the end.
    column, row, columns = np.uint64(along), np.uint64(up), np.uint64(losses.columns)
    pair, at, up, along = one * types + other, row * columns + column, up - row, along - column
    both = _between(losses.loss[pair], columns, at, up, along)
    if counts:
        return both
    on_one = _between(losses.loss[types * types + pair], columns, at, up, along)
    return both - on_one if turned else on_one


FIRST, EVERY = 100, 32
"""The first so many moves are evaluated whatever their estimates, then one in so many."""
NEARLY = 0.001
"""A move that misses what is needed by this share of the mean power of a turbine is learnt from like one that does."""
ROOM = 1.5
"""The margin is so many times what was seen to be needed."""
FIRST_MARGIN, LEAST_MARGIN = 0.02, 0.0075
"""The margin at first, and at least: shares of the mean power of a turbine."""
FADING = 0.99
"""How much of the margin is left with every move that is evaluated whatever its estimate: layouts change."""
SEEN, REFUSED, MARGIN, LEARNT = 0, 1, 2, 3
"""Of ``learnt``: how many moves were estimated, and how many refused by that; the margin, as a share of the mean power
of a turbine. How many these are."""


class Estimates(NamedTuple):
    """Tables of what pairs lose, what that makes for every turbine (``pair_sum``), and what was ``learnt`` of it.

    ``free_energy`` is for wind that differs from place to place.
    """

    pair_losses: PairLosses
    pair_sum: FloatArray
    learnt: FloatArray
    free_energy: FreeEnergy


def estimates_of(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    type_index: IntArray,
    counted: int,
    reaches: Reaches,
    trials: int,
    origin: Sequence[float] | FloatArray | None,
) -> Estimates:
    """Tables for a layout and about so many trials; too few go without.

    So does wind that differs from place to place, unless ``origin`` tells from where places are counted.
    """
    wind, free = farm.wind_near((0.0, 0.0) if origin is None else origin), no_free_energy()
    if not isinstance(wind, LocalWind):
        losses = pair_losses_of(farm, wind, x, y, counted == len(x), reaches, trials)
    elif origin is None:
        losses = no_pair_losses()
    else:
        mean = _mean_wind(wind, x, y, type_index)
        losses = pair_losses_of(farm, mean, x, y, counted == len(x), reaches, trials)
        if losses.loss.size > 0:
            free = free_energy_of(wind, farm.machines, x, y, trials)
    return Estimates(losses, np.zeros(len(x)), np.zeros(LEARNT), free)


def _mean_wind(wind: LocalWind, x: FloatArray, y: FloatArray, type_index: IntArray) -> Wind:
    """The mean of the free winds of all turbines, as a wind that is the same everywhere."""
    here = free_wind_at(wind, np.zeros(len(wind.cosine)), x, y, np.asarray(type_index, np.int64))
    speed, weight, turbulence = (
        values.mean(axis=0) for values in (here.speed, here.probability, here.turbulence)
    )
    return Wind(wind.cosine, wind.sine, wind.first, speed, weight, turbulence, wind.most)


@inlined
def _pair(moves, one, other, x, y):
    """What turbine ``one``, at a place, and turbine ``other`` lose to each other (W)."""
    return pair_loss(
        moves.estimates.pair_losses,
        moves.reaches.types,
        moves.type_index[one],
        moves.type_index[other],
        moves.x[other] - x,
        moves.y[other] - y,
        other < moves.counted,
    )


@inlined
def sum_pairs(moves):
    """What every turbine that may move has to do with all others; nothing without tables."""
    for i in range(moves.counted if moves.estimates.pair_losses.loss.size > 0 else 0):
        total = 0.0
        for j in range(moves.x.size):
            if j != i:
                total += _pair(moves, i, j, moves.x[i], moves.y[i])
        moves.estimates.pair_sum[i] = total


@inlined
def move_pair_sums(moves, moved, x, y):
    """The same after a kept move, when the layout has the new place and ``x`` and ``y`` are the old one."""
    estimates = moves.estimates
    if estimates.pair_losses.loss.size == 0:
        return
    total = 0.0
    for j in range(moves.x.size):
        if j != moved:
            new = _pair(moves, moved, j, moves.x[moved], moves.y[moved])
            total += new
            if j < moves.counted:
                estimates.pair_sum[j] += new - _pair(moves, moved, j, x, y)
    estimates.pair_sum[moved] = total


@inlined
def _is_to_be_learnt_from(moves):
    """Whether the next move is to be evaluated whatever its estimate; counts them."""
    estimates = moves.estimates
    estimates.learnt[SEEN] += 1.0
    seen = int(estimates.learnt[SEEN])
    if seen == 1:
        estimates.learnt[MARGIN] = FIRST_MARGIN
    if seen <= FIRST or seen % EVERY == 0:
        estimates.learnt[MARGIN] = max(LEAST_MARGIN, FADING * estimates.learnt[MARGIN])
        return True
    return False


@inlined
def _lowest_estimate(moves, needed):
    """The estimate (W) below which a move is not expected to gain what is needed."""
    return needed - moves.estimates.learnt[MARGIN] * moves.settled.total[0] / moves.counted


def make_estimated_gain(is_local: bool) -> Callable[..., tuple[float, bool]]:
    """Make the step, for wind that differs from place to place or not."""

    @inlined
    def estimated_gain(moves, moved, x, y, needed):
        """The gain (W) of a turbine moved to a place, from pairs, and whether the move is refused by it.

        Of a refused move it is as much as was added up until it was refused.
        """
        lowest = -inf if _is_to_be_learnt_from(moves) else _lowest_estimate(moves, needed)
        total = moves.estimates.pair_sum[moved]
        if is_local:
            free, t = moves.estimates.free_energy, moves.type_index[moved]
            total += free_watts_at(free, t, x, y) - free_watts_at(free, t, moves.x[moved], moves.y[moved])
        for j in range(moves.x.size):
            if j != moved:
                total -= _pair(moves, moved, j, x, y)
                if total < lowest:
                    moves.estimates.learnt[REFUSED] += 1.0
                    return total, True
        return total, False

    return estimated_gain


@inlined
def learn(moves, estimate, gain, needed):
    """Compare an estimate with the gain of a move that was worked out in full."""
    mean = moves.settled.total[0] / moves.counted
    if gain > needed - NEARLY * mean:
        moves.estimates.learnt[MARGIN] = max(
            moves.estimates.learnt[MARGIN], ROOM * (min(gain, needed) - estimate) / mean
        )
