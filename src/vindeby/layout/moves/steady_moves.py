"""What one moved turbine changes, where wakes do not change with the wind.

If every type has one thrust coefficient and deficits are fractions of the free wind speed, the wake of one
turbine on another depends on where the two stand and on nothing else. The wakes of all pairs are then kept,
one number for each pair and direction (opposite directions share it), and a turbine's mean power is a function
of its summed wakes alone, which is tabulated for every direction. A move costs one new wake for each pair,
direction and turbine in reach (``steady_gain``); keeping it costs none.

The interface is that of ``one_move``, which holds for models of every kind. A direction with one wind speed
needs no table; tables are linear between ``POINTS`` and right to about 1e-6 of the energy: enough to search
with, and what a search returns is evaluated by the engine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from vindeby.layout.moves.one_move import MoveKernels
from vindeby.layout.moves.steady_gain import make_gained, make_keep
from vindeby.layout.moves.steady_steps import POINTS, SteadyMoves, is_downwind, make_all_watts, make_pair
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import kernel
from vindeby.wake.loops.wind import clear, direction_pairs_of, turn
from vindeby.wake.models.contract import once_per_model

__all__ = ["SteadyMoves", "is_steady", "new_steady_moves", "steady_kernels"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def is_steady(farm: WindFarm) -> bool:
    """Whether no wake of a farm changes with the wind."""
    model = farm.model
    same = all(low == high for low, high in (turbine.thrust_range() for turbine in farm.turbines))
    return (
        same and model.reference == "free" and model.added_turbulence is None and not model.needs_turbulence
    )


def new_steady_moves(
    farm: WindFarm, x: FloatArray, y: FloatArray, type_index: IntArray, counted: int
) -> SteadyMoves:
    """Room for a layout, neighbours included; ``settle`` it first."""
    n, wind = len(x), farm.wind
    directions = len(wind.cosine)
    both = direction_pairs_of(farm.states, opposites=len(farm.turbines) == 1)
    axes = len(both.ahead)
    pairs, changes = axes * n, max(2 * axes * (n + 1), directions * n)
    alone = np.diff(wind.first) == 1
    return SteadyMoves(
        np.array(type_index, np.int64), counted, np.array(x), np.array(y), both.ahead, both.behind,
        np.array([turbine.thrust_range()[0] for turbine in farm.turbines]), _power_tables(farm).ravel(),
        np.where(alone, wind.speed[wind.first[:-1]], -1.0), np.where(alone, wind.weight[wind.first[:-1]], 0.0),
        np.zeros((axes, n)), np.zeros((axes, n)), np.zeros((n, axes, n)),
        np.zeros(directions * n), np.zeros(directions * n),
        np.zeros(n, np.int64), np.zeros(axes + 1, np.uint64), np.zeros(pairs, np.uint64),
        np.zeros(pairs), np.zeros(pairs), np.zeros(pairs), np.zeros(pairs),
        np.zeros(1, np.uint64), np.zeros(changes, np.uint64), np.zeros(changes, np.uint64),
        np.zeros(changes), np.zeros(changes), np.zeros(changes), np.zeros(changes, np.uint64),
    )  # fmt: skip


def _power_tables(farm: WindFarm) -> FloatArray:
    """Mean power (W) by direction, type and the fraction of the wind that wakes take."""
    wind, left = farm.wind, 1.0 - np.linspace(0.0, 1.0, POINTS)
    tables = np.zeros((len(wind.cosine), len(farm.turbines), POINTS))
    for d, (first, last) in enumerate(zip(wind.first[:-1], wind.first[1:], strict=True)):
        for t, turbine in enumerate(farm.turbines):
            tables[d, t] = wind.weight[first:last] @ turbine.power_at(wind.speed[first:last, None] * left)
    return tables


@once_per_model
def steady_kernels(model: WakeModel, one_type: bool) -> MoveKernels:
    """Compile, or load from disk, the loops for a model and a farm of one type or of several."""
    pair, all_watts = make_pair(model, one_type), make_all_watts(model, one_type)
    identity = f"{model.identity} one type" if one_type else model.identity
    return MoveKernels(
        _make_settle(identity, pair, all_watts),
        make_gained(model, identity, one_type, pair, all_watts),
        make_keep(identity),
    )


def _make_settle(
    identity: str, pair: Callable[..., float], all_watts: Callable[..., float]
) -> Callable[..., float]:
    @kernel(identity, counts_references=False)
    def settle(data, machines, wind, moves):
        n, types = moves.x.size, moves.type_index
        clear(moves.summed)
        clear(moves.watts)
        for a in range(moves.ahead.size):
            d, o = moves.ahead[a], moves.behind[a]
            along, across = moves.along[a], moves.across[a]
            for i in range(n):
                along[i], across[i] = turn(wind.cosine[d], wind.sine[d], moves.x[i], moves.y[i])
            for i in range(n):
                for j in range(i):
                    far = along[j] - along[i]
                    after = is_downwind(far, j, i)
                    source, target = (i, j) if after else (j, i)
                    wake = pair(
                        data, machines, moves.thrust, types[source], types[target], abs(far), across[j] - across[i]
                    )  # fmt: skip
                    moves.wake[i, a, j] = moves.wake[j, a, i] = wake
                    moves.summed[d * n + target] += wake
                    if o >= 0:
                        moves.summed[o * n + source] += wake
        for d in range(wind.cosine.size):
            for i in range(n):
                place = d * n + i
                moves.direction[place], moves.place[place] = d, place
                moves.new_summed[place] = moves.summed[place]
        total = all_watts(machines, moves, np.uint64(moves.summed.size))
        for place in range(moves.summed.size):
            moves.watts[place] = moves.new_watts[place]
        return total

    return settle
