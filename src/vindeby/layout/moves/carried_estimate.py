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
from math import inf
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_pairs import Reaches
from vindeby.layout.moves.free_energy import FreeEnergy, free_energy_of, free_watts_at, no_free_energy
from vindeby.layout.moves.pair_losses import PairLosses, no_pair_losses, pair_loss, pair_losses_of
from vindeby.wake import WindFarm
from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.local.free_wind import free_wind_at
from vindeby.wake.loops.local.local_wind import LocalWind
from vindeby.wake.loops.wind import Wind

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
