"""What two turbines take from each other, tabulated by where one stands from the other.

Two turbines alone, in all wind states together: the mean power (W) that they lose to each other's wakes. Summed up over
all others, it tells about what a place costs, for one number per turbine: no wake, no direction, no wind speed.
``carried_estimate`` refuses moves by it.

A table covers the half plane north of a turbine. One that stands to the south is looked up from its own side.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.moves.carried_pairs import SECTORS, Reaches, bearing_of, widest_angle
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import Wind, turn
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

__all__ = ["PairLosses", "no_pair_losses", "pair_loss", "pair_losses_of"]

FloatArray = npt.NDArray[np.float64]

POINTS_PER_TRIAL, FEWEST_POINTS, MOST_POINTS = 0.05, 2**12, 2**18
"""And per turbine: a table takes about a tenth of the time of its trials at most. Few points tell too little."""
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
    """Tables that tell nothing."""
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
