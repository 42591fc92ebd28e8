"""What one moved turbine changes, where wakes do not change with the wind.

If every type has one thrust coefficient and deficits are fractions of the free wind speed, the wake of one
turbine on another depends on where the two stand and on nothing else. The wakes of all pairs are then kept,
one number for each pair and direction (opposite directions share it), and a turbine's mean power is a function
of its summed wakes alone, which is tabulated for every direction. A move costs one new wake for each pair,
direction and turbine in reach; keeping it costs none.

The interface is that of ``one_move``, which holds for models of every kind. A direction with one wind speed
needs no table; tables are linear between ``POINTS`` and right to about 1e-6 of the energy: enough to search
with, and what a search returns is evaluated by the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.moves.one_move import MoveKernels
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear, legs_of
from vindeby.wake.turbines.curves import curves_at

__all__ = ["SteadyMoves", "is_steady", "new_steady_moves", "steady_kernels"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

POINTS = 1024
"""Of each table of power, from no wake at all to no wind at all."""


class SteadyMoves(NamedTuple):
    """The layout in every direction; then room for a move. Turbines first, neighbours after them.

    Directions ``ahead`` and ``behind`` (-1: none) are opposite and make an axis. ``along`` and ``across`` are
    (axes, turbines), ``wake`` is (axes, turbines, turbines), ``summed`` and ``watts`` (directions, turbines),
    ``power`` (directions, types, points).
    """

    type_index: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    ahead: IntArray
    behind: IntArray
    thrust: FloatArray
    power: FloatArray
    along: FloatArray
    across: FloatArray
    wake: FloatArray
    summed: FloatArray
    watts: FloatArray
    new_wake: FloatArray


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
    n, directions = len(x), len(farm.wind.cosine)
    legs = legs_of(farm.states, opposites=len(farm.turbines) == 1)
    axes = len(legs.ahead)
    return SteadyMoves(
        np.array(type_index, np.int64), counted, np.array(x), np.array(y), legs.ahead, legs.behind,
        np.array([turbine.thrust_range()[0] for turbine in farm.turbines]), _power_tables(farm),
        np.zeros((axes, n)), np.zeros((axes, n)), np.zeros((axes, n, n)),
        np.zeros((directions, n)), np.zeros((directions, n)), np.zeros((axes, n)),
    )  # fmt: skip


def _power_tables(farm: WindFarm) -> FloatArray:
    """Mean power (W) by direction, type and the fraction of the wind that wakes take."""
    wind, left = farm.wind, 1.0 - np.linspace(0.0, 1.0, POINTS)
    tables = np.zeros((len(wind.cosine), len(farm.turbines), POINTS))
    for d, (first, last) in enumerate(zip(wind.first[:-1], wind.first[1:], strict=True)):
        for t, turbine in enumerate(farm.turbines):
            tables[d, t] = wind.weight[first:last] @ turbine.power_at(wind.speed[first:last, None] * left)
    return tables


@scalar
def _is_downwind(far: float, i: int, j: int) -> bool:
    """Whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return far > 0.0 or (far == 0.0 and i > j)


@once_per_model
def steady_kernels(model: WakeModel) -> MoveKernels:
    """Compile, or load from disk, the loops for a model."""
    between, watts_of = _make_between(model), _make_watts_of(model)
    return MoveKernels(
        _make_settle(model, between, watts_of),
        _make_gained(model, between, watts_of),
        _make_keep(model, watts_of),
    )


def _make_between(model: WakeModel) -> Callable[..., float]:
    """The wake of a pair. What it adds to a sum is a fraction of the wind (or its square), the same at all speeds."""
    deficit, reach, term = model.deficit, model.reach, superposition_of(model).term

    @scalar
    def wake_on(data, machines, thrust, source, target, far, aside):  # type: ignore[no-untyped-def]
        """What the wake of type ``source`` adds to the sum of type ``target``, ``far`` downwind of it."""
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        if abs(aside) >= reach(data, far, diameter, rotor, thrust[source], 0.0):
            return 0.0
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        value = deficit(data, far, aside, rise, heights, diameter, rotor, thrust[source], 0.0)
        return term(value)

    @scalar
    def between(data, machines, moves, i, j, downwind, far, aside):  # type: ignore[no-untyped-def]
        """The wake between two turbines: that of ``i`` if ``j`` is ``downwind``, that of ``j`` if not."""
        source, target = (i, j) if downwind else (j, i)
        types = moves.type_index
        return wake_on(data, machines, moves.thrust, types[source], types[target], abs(far), aside)

    return between


def _make_watts_of(model: WakeModel) -> Callable[..., float]:
    """The mean power of a turbine in one direction, by its sum."""
    taken = superposition_of(model).taken

    @scalar
    def watts_of(machines, wind, moves, d, i, summed):  # type: ignore[no-untyped-def]
        if i >= moves.counted:
            return 0.0
        fraction, k = taken(max(summed, 0.0)), wind.first[d]
        if k + 1 == wind.first[d + 1]:
            return (
                wind.weight[k] * curves_at(machines, moves.type_index[i], wind.speed[k] * (1.0 - fraction))[0]
            )
        place = min(fraction, 1.0) * (POINTS - 1)
        point = min(int(place), POINTS - 2)
        table, share = moves.power[d, moves.type_index[i]], place - point
        return table[point] + share * (table[point + 1] - table[point])

    return watts_of


def _make_settle(
    model: WakeModel, between: Callable[..., float], watts_of: Callable[..., float]
) -> Callable[..., float]:
    @kernel(model.identity, counts_references=False)
    def settle(data, machines, wind, moves):  # type: ignore[no-untyped-def]
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            clear(moves.summed[d])
        for a in range(moves.ahead.size):
            d, o = moves.ahead[a], moves.behind[a]
            along, across = moves.along[a], moves.across[a]
            for i in range(n):
                along[i], across[i] = turn(wind.cosine[d], wind.sine[d], moves.x[i], moves.y[i])
            for i in range(n):
                for j in range(i):
                    far = along[j] - along[i]
                    after = _is_downwind(far, j, i)
                    wake = between(data, machines, moves, i, j, after, far, across[j] - across[i])
                    moves.wake[a, i, j] = moves.wake[a, j, i] = wake
                    moves.summed[d, j if after else i] += wake
                    if o >= 0:
                        moves.summed[o, i if after else j] += wake
        for d in range(wind.cosine.size):
            for i in range(n):
                moves.watts[d, i] = watts_of(machines, wind, moves, d, i, moves.summed[d, i])
                total += moves.watts[d, i]
        return total

    return settle


def _make_gained(
    model: WakeModel, between: Callable[..., float], watts_of: Callable[..., float]
) -> Callable[..., float]:
    @scalar
    def gain(machines, wind, moves, d, i, change):  # type: ignore[no-untyped-def]
        """What turbine ``i`` gains in direction ``d`` when its sum changes."""
        if change == 0.0:
            return 0.0
        return watts_of(machines, wind, moves, d, i, moves.summed[d, i] + change) - moves.watts[d, i]

    @kernel(model.identity, counts_references=False)
    def gained(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]
        total = 0.0
        for a in range(moves.ahead.size):
            d, o = moves.ahead[a], moves.behind[a]
            place, side = turn(wind.cosine[d], wind.sine[d], x, y)
            along, across, wake = moves.along[a], moves.across[a], moves.wake[a, moved]
            own = own_behind = 0.0
            for i in range(moves.x.size):
                if i == moved:
                    continue
                far = along[i] - place
                after = _is_downwind(far, i, moved)
                was, now = wake[i], between(data, machines, moves, moved, i, after, far, across[i] - side)
                moves.new_wake[a, i] = now
                if now == 0.0 and was == 0.0:
                    continue
                before = _is_downwind(along[i] - along[moved], i, moved)
                if after:
                    own_behind += now
                else:
                    own += now
                total += gain(machines, wind, moves, d, i, (now if after else 0.0) - (was if before else 0.0))
                if o >= 0:
                    total += gain(
                        machines, wind, moves, o, i, (0.0 if after else now) - (0.0 if before else was)
                    )
            total += watts_of(machines, wind, moves, d, moved, own) - moves.watts[d, moved]
            if o >= 0:
                total += watts_of(machines, wind, moves, o, moved, own_behind) - moves.watts[o, moved]
        return total

    return gained


def _make_keep(model: WakeModel, watts_of: Callable[..., float]) -> Callable[..., None]:
    @scalar
    def change_sum(machines, wind, moves, d, i, change):  # type: ignore[no-untyped-def]
        if change != 0.0:
            moves.summed[d, i] += change
            moves.watts[d, i] = watts_of(machines, wind, moves, d, i, moves.summed[d, i])

    @kernel(model.identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
        """Follows ``gained`` of the same move, whose wakes it takes over."""
        moves.x[moved], moves.y[moved] = x, y
        for a in range(moves.ahead.size):
            d, o = moves.ahead[a], moves.behind[a]
            place, side = turn(wind.cosine[d], wind.sine[d], x, y)
            along, wake = moves.along[a], moves.wake[a, moved]
            own = own_behind = 0.0
            for i in range(moves.x.size):
                if i == moved:
                    continue
                was, now = wake[i], moves.new_wake[a, i]
                if now == 0.0 and was == 0.0:
                    continue
                after = _is_downwind(along[i] - place, i, moved)
                before = _is_downwind(along[i] - along[moved], i, moved)
                if after:
                    own_behind += now
                else:
                    own += now
                change_sum(machines, wind, moves, d, i, (now if after else 0.0) - (was if before else 0.0))
                if o >= 0:
                    change_sum(
                        machines, wind, moves, o, i, (0.0 if after else now) - (0.0 if before else was)
                    )
                wake[i] = moves.wake[a, i, moved] = now
            along[moved] = place
            moves.across[a, moved] = side
            moves.summed[d, moved] = own
            moves.watts[d, moved] = watts_of(machines, wind, moves, d, moved, own)
            if o >= 0:
                moves.summed[o, moved] = own_behind
                moves.watts[o, moved] = watts_of(machines, wind, moves, o, moved, own_behind)

    return keep
