"""What one moved turbine changes, where wakes do not change with the wind.

If every type has one thrust coefficient and deficits are fractions of the free wind speed, the wake of one
turbine on another depends on where the two stand and on nothing else. The wakes of all pairs are then kept,
one number for each pair and direction (opposite directions share it), and a turbine's mean power is a function
of its summed wakes alone, which is tabulated for every direction. A move costs one new wake for each turbine and
direction in reach; keeping it costs none.

The interface is that of ``carried_moves``, which holds for models of more kinds. A direction with one wind speed
needs no table; tables are linear between ``POINTS`` and right to about 1e-6 of the energy: enough to search
with, and what a search returns is evaluated by the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_state import MoveKernels
from vindeby.layout.moves.reach import is_downwind
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import direction_pairs_of, turn
from vindeby.wake.models.contract import Pair, PairSquares, once_per_model
from vindeby.wake.turbines.curves import curves_at

POINTS = 1024
"""Of each table of power, from no wake at all to no wind at all."""


class SteadyMoves(NamedTuple):
    """The layout in every direction; then what a move changes. Turbines first, neighbours after them.

    Directions ``ahead`` and ``behind`` (-1: none) are opposite and make an axis. ``along``, ``across`` and, of a move,
    ``new_wake`` are (axes, turbines), ``wake`` is (turbines, axes, turbines), ``summed`` and ``watts`` (directions,
    turbines), ``power`` (directions, types, points).

    A move changes ``changes[0]`` sums: ``new_summed`` and ``new_watts`` of the turbine ``changed`` in ``direction``.
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
    changes: IntArray
    direction: IntArray
    changed: IntArray
    new_summed: FloatArray
    new_watts: FloatArray


def is_steady(farm: WindFarm) -> bool:
    """Whether no wake of a farm changes with the wind, nor from place to place."""
    model = farm.model
    same = all(low == high for low, high in (turbine.thrust_range() for turbine in farm.turbines))
    free = model.reference == "free" and model.is_a_sum_of_pairs and not model.needs_turbulence
    return same and free and farm.locality == "uniform"


def new_steady_moves(
    farm: WindFarm, x: FloatArray, y: FloatArray, type_index: IntArray, counted: int
) -> SteadyMoves:
    """Room for a layout, neighbours included; ``settle`` it first."""
    n, directions = len(x), len(farm.wind.cosine)
    both = direction_pairs_of(farm.states, opposites=len(farm.turbines) == 1)
    axes = len(both.ahead)
    most = 2 * axes * n
    return SteadyMoves(
        np.array(type_index, np.int64), counted, np.array(x), np.array(y), both.ahead, both.behind,
        np.array([turbine.thrust_range()[0] for turbine in farm.turbines]), _power_tables(farm),
        np.zeros((axes, n)), np.zeros((axes, n)), np.zeros((n, axes, n)),
        np.zeros((directions, n)), np.zeros((directions, n)), np.zeros((axes, n)),
        np.zeros(1, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most), np.zeros(most),
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
    pair, watts_of = _make_pair(model), _make_watts_of(model)
    squares = model.pair_squares if one_type and model.superposition == "squares" else None
    new_wakes = _make_new_wakes(pair) if squares is None else _make_new_squares(model, squares)
    identity = f"{model.identity} one type" if one_type else model.identity
    return MoveKernels(
        _make_settle(identity, pair, watts_of),
        _make_gained(identity, new_wakes, watts_of),
        _make_keep(identity),
    )


def _make_pair(model: WakeModel) -> Callable[..., float]:
    deficit, reach, term = model.deficit, model.reach, superposition_of(model).term

    @inlined
    def pair(data, machines, moves, source, target, far, aside):
        """What the wake of turbine ``source`` adds to the sum of ``target``, ``far`` downwind of it.

        That is a fraction of the wind (or its square), the same at all speeds.
        """
        source, target = moves.type_index[source], moves.type_index[target]
        diameter, rotor, thrust = machines.diameter[source], machines.diameter[target], moves.thrust[source]
        if abs(aside) >= reach(data, far, diameter, rotor, thrust, 0.0):
            return 0.0
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        return term(deficit(data, Pair(far, aside, rise, heights, diameter, rotor, thrust, 0.0)))

    return pair


def _make_new_wakes(pair: Callable[..., float]) -> Callable[..., None]:
    @inlined
    def new_wakes(data, machines, moves, a, moved, place, side):
        """The wakes between the moved turbine, where it would stand on an axis, and all others."""
        for i in range(moves.x.size):
            far = moves.along[a, i] - place
            source, target = (moved, i) if is_downwind(far, i, moved) else (i, moved)
            moves.new_wake[a, i] = pair(
                data, machines, moves, source, target, abs(far), moves.across[a, i] - side
            )

    return new_wakes


def _make_new_squares(model: WakeModel, squares: PairSquares) -> Callable[..., None]:
    """The same in one loop that can be vectorised, for a model that has a fast way."""
    (numbers, square), reach = squares, model.reach

    @inlined
    def new_squares(data, machines, moves, a, moved, place, side):
        diameter, thrust, now = machines.diameter[0], moves.thrust[0], moves.new_wake[a]
        along, across = moves.along[a], moves.across[a]
        n0, n1, n2, n3 = numbers(data, diameter, thrust)
        for i in range(now.size):
            far, aside = abs(along[i] - place), across[i] - side
            near = abs(aside) < reach(data, far, diameter, diameter, thrust, 0.0)
            wake = square(n0, n1, n2, n3, far, aside)
            now[i] = wake if near else 0.0

    return new_squares


def _make_watts_of(model: WakeModel) -> Callable[..., float]:
    taken = superposition_of(model).taken

    @inlined
    def watts_of(machines, wind, moves, d, i, summed):
        """The mean power (W) of a turbine in one direction by the sum of its wakes; none if it does not count."""
        if i >= moves.counted:
            return 0.0
        fraction, first, t = taken(max(summed, 0.0)), wind.first[d], moves.type_index[i]
        if wind.first[d + 1] - first == 1:
            speed = wind.speed[first] * (1.0 - fraction)
            return wind.weight[first] * curves_at(machines, t, max(speed, 0.0))[0]
        at = min(fraction, 1.0) * (POINTS - 1)
        k = min(int(at), POINTS - 2)
        table = moves.power[d, t]
        return table[k] + (at - k) * (table[k + 1] - table[k])

    return watts_of


def _make_settle(
    identity: str, pair: Callable[..., float], watts_of: Callable[..., float]
) -> Callable[..., float]:
    @kernel(identity, counts_references=False)
    def settle(data, machines, wind, moves):
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            for i in range(n):
                moves.summed[d, i] = 0.0
        for a in range(moves.ahead.size):
            d, o = moves.ahead[a], moves.behind[a]
            along, across = moves.along[a], moves.across[a]
            for i in range(n):
                along[i], across[i] = turn(wind.cosine[d], wind.sine[d], moves.x[i], moves.y[i])
            for i in range(n):
                for j in range(i):
                    far, aside = along[j] - along[i], across[j] - across[i]
                    source, target = (i, j) if is_downwind(far, j, i) else (j, i)
                    wake = pair(data, machines, moves, source, target, abs(far), aside)
                    moves.wake[i, a, j] = moves.wake[j, a, i] = wake
                    moves.summed[d, target] += wake
                    if o >= 0:
                        moves.summed[o, source] += wake
        for d in range(wind.cosine.size):
            for i in range(n):
                moves.watts[d, i] = watts_of(machines, wind, moves, d, i, moves.summed[d, i])
                total += moves.watts[d, i]
        return total

    return settle


def _make_gained(
    identity: str, new_wakes: Callable[..., None], watts_of: Callable[..., float]
) -> Callable[..., float]:
    """Make the trial: what a farm gains when one turbine moves."""

    @inlined
    def note(machines, wind, moves, d, i, summed):
        """Write down the sum of a turbine in a direction; returns how much more power (W) it makes."""
        c = moves.changes[0]
        moves.changes[0] = c + 1
        watts = watts_of(machines, wind, moves, d, i, summed)
        moves.direction[c], moves.changed[c], moves.new_summed[c], moves.new_watts[c] = d, i, summed, watts
        return watts - moves.watts[d, i]

    @kernel(identity, counts_references=False, inline=True)
    def gained(data, machines, wind, moves, moved, x, y, needed):
        total, moves.changes[0] = 0.0, 0
        for a in range(moves.ahead.size):
            d, o = moves.ahead[a], moves.behind[a]
            place, side = turn(wind.cosine[d], wind.sine[d], x, y)
            new_wakes(data, machines, moves, a, moved, place, side)
            along, wake, here = moves.along[a], moves.wake[moved, a], moves.along[a, moved]
            own = own_behind = 0.0
            for i in range(moves.x.size):
                now, was = moves.new_wake[a, i], wake[i]
                if i == moved or (now == 0.0 and was == 0.0):
                    continue
                after = is_downwind(along[i] - place, i, moved)
                own += 0.0 if after else now
                own_behind += now if after else 0.0
                before = is_downwind(along[i] - here, i, moved)
                change = (now if after else 0.0) - (was if before else 0.0)
                if change != 0.0:
                    total += note(machines, wind, moves, d, i, moves.summed[d, i] + change)
                if o >= 0 and now - was != change:
                    total += note(machines, wind, moves, o, i, moves.summed[o, i] + now - was - change)
            total += note(machines, wind, moves, d, moved, own)
            if o >= 0:
                total += note(machines, wind, moves, o, moved, own_behind)
        return total

    return gained


def _make_keep(identity: str) -> Callable[..., None]:
    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):
        """Follows ``gained`` of the same move."""
        moves.x[moved], moves.y[moved] = x, y
        for a in range(moves.ahead.size):
            d = moves.ahead[a]
            moves.along[a, moved], moves.across[a, moved] = turn(wind.cosine[d], wind.sine[d], x, y)
            for i in range(moves.x.size):
                if i != moved:
                    moves.wake[moved, a, i] = moves.wake[i, a, moved] = moves.new_wake[a, i]
        for c in range(moves.changes[0]):
            d, i = moves.direction[c], moves.changed[c]
            moves.summed[d, i], moves.watts[d, i] = moves.new_summed[c], moves.new_watts[c]

    return keep
