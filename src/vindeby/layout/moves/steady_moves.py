"""What one moved turbine changes, where wakes do not change with the wind.

If every type has one thrust coefficient and deficits are fractions of the free wind speed, the wake of one
turbine on another depends on where the two stand and on nothing else. The wakes of all pairs are then kept,
one number for each pair and direction (opposite directions share it), and a turbine's mean power is a function
of its summed wakes alone, which is tabulated for every direction. A move costs one new wake for each pair,
direction and turbine in reach; keeping it costs none.

The interface is that of ``carried_moves``, which holds for models of more kinds. A direction with one wind speed
needs no table; tables are linear between ``POINTS`` and right to about 1e-6 of the energy: enough to search
with, and what a search returns is evaluated by the engine.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_state import MoveKernels, is_downwind
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear, direction_pairs_of, turn
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

PlaceArray = npt.NDArray[np.uint64]
"""Places in lists: loops need not look whether one counts from the end."""

POINTS = 1024
"""Of each table of power, from no wake at all to no wind at all."""
NOWHERE = np.uint64(2**63)
"""No place in a table."""


class SteadyMoves(NamedTuple):
    """The layout in every direction; then room for a move. Turbines first, neighbours after them.

    Directions ``ahead`` and ``behind`` (-1: none) are opposite and make an axis. ``along`` and ``across`` are
    (axes, turbines), ``wake`` is (turbines, axes, turbines); ``summed`` and ``watts`` hold (directions, turbines) and
    ``power`` (directions, types, points), one after the other. ``only_speed`` is the wind speed of a direction
    that has but one (others: -1), ``only_weight`` how often it blows.

    Then the lists of a move. Pairs: the ``other`` turbine, how ``far`` downwind and ``aside`` of the moved one it
    stands, whether that is in reach (``reached``: 1 or 0) and its wake ``now``; those of axis ``a`` begin at
    ``first[a]``. Sums, ``changes[0]`` of them: ``new_summed`` and ``new_watts`` of ``place`` in ``direction``, the
    fraction of the wind that is ``taken`` and the ``point`` in ``power``.
    """

    types: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    ahead: IntArray
    behind: IntArray
    thrust: FloatArray
    power: FloatArray
    only_speed: FloatArray
    only_weight: FloatArray
    along: FloatArray
    across: FloatArray
    wake: FloatArray
    summed: FloatArray
    watts: FloatArray
    touched: IntArray
    first: PlaceArray
    other: PlaceArray
    far: FloatArray
    aside: FloatArray
    reached: FloatArray
    now: FloatArray
    changes: PlaceArray
    direction: PlaceArray
    place: PlaceArray
    new_summed: FloatArray
    new_watts: FloatArray
    taken: FloatArray
    point: PlaceArray


def make_pair(model: WakeModel) -> Callable[..., float]:
    """The wake of a pair. What it adds to a sum is a fraction of the wind (or its square), the same at all speeds."""
    deficit, reach, term = model.deficit, model.reach, superposition_of(model).term

    @scalar
    def pair(data, turbines, thrust, source, target, far, aside):
        diameter, rotor = turbines.diameter[source], turbines.diameter[target]
        if abs(aside) >= reach(data, far, diameter, rotor, thrust[source], 0.0):
            return 0.0
        rise = turbines.hub_height[target] - turbines.hub_height[source]
        heights = turbines.hub_height[target] + turbines.hub_height[source]
        return term(deficit(data, Pair(far, aside, rise, heights, diameter, rotor, thrust[source], 0.0)))

    return pair


def make_all_watts(model: WakeModel, one_type: bool) -> Callable[..., float]:
    """The power of turbines by their sums, for all sums listed; returns how much more it is than before."""
    taken = superposition_of(model).taken

    @scalar
    def all_watts(turbines, moves, many):
        fraction, summed, point, watts = moves.taken, moves.new_summed, moves.point, moves.new_watts
        n, counted, power = np.uint64(moves.x.size), np.uint64(moves.counted), moves.power
        types, points, last = np.uint64(moves.thrust.size), np.uint64(POINTS), np.uint64(POINTS - 2)
        for c in range(many):
            value = summed[c]
            fraction[c] = taken(value if value > 0.0 else 0.0)  # noqa: FURB136  a comparison vectorises, max does not
        tables = False
        for c in range(many):
            d = moves.direction[c]
            i, speed = moves.place[c] - d * n, moves.only_speed[d]
            t = np.uint64(0 if one_type else moves.types[i])
            if i >= counted:
                watts[c], point[c] = 0.0, NOWHERE
            elif speed >= 0.0:
                watts[c] = moves.only_weight[d] * curves_at(turbines, int(t), speed * (1.0 - fraction[c]))[0]
                point[c] = NOWHERE
            else:
                tables = True
                at = min(fraction[c], 1.0) * (POINTS - 1)
                k = min(np.uint64(at), last)
                fraction[c] = at - k
                point[c] = (d * types + t) * points + k
        if tables:
            for c in range(many):
                k = point[c]
                if k != NOWHERE:
                    watts[c] = power[k] + fraction[c] * (power[k + np.uint64(1)] - power[k])
        total = 0.0
        for c in range(many):
            total += watts[c] - moves.watts[moves.place[c]]
        return total

    return all_watts


def _make_list_pairs(model: WakeModel, one_type: bool) -> Callable[..., int]:
    reach = model.reach

    @scalar
    def look_around(data, turbines, moves, a, moved, place, side):
        """Note in ``touched`` who is in reach at a place (2), who was before (1), and both (3)."""
        along, across, wake = moves.along[a], moves.across[a], moves.wake[moved, a]
        touched, types = moves.touched, moves.types
        diameter = rotor = turbines.diameter[0]
        thrust = moves.thrust[0]
        for i in range(along.size):
            far, aside = along[i] - place, across[i] - side
            if not one_type:
                after = is_downwind(far, i, moved)
                source, target = types[moved if after else i], types[i if after else moved]
                diameter, rotor = turbines.diameter[source], turbines.diameter[target]
                thrust = moves.thrust[source]
            near = abs(aside) < reach(data, abs(far), diameter, rotor, thrust, 0.0)
            touched[i] = (2 if near else 0) | (1 if wake[i] != 0.0 else 0)
        touched[moved] = 0

    @scalar
    def list_pairs(data, turbines, wind, moves, moved, x, y):
        other, far, aside, reached, touched = (
            moves.other,
            moves.far,
            moves.aside,
            moves.reached,
            moves.touched,
        )
        count = np.uint64(0)
        for a in range(moves.ahead.size):
            d = moves.ahead[a]
            place, side = turn(wind.cosine[d], wind.sine[d], x, y)
            along, across = moves.along[a], moves.across[a]
            look_around(data, turbines, moves, a, moved, place, side)
            first = moves.first[a] = count
            # Everyone is written down; the next one overwrites who does not count.
            for i in range(along.size):
                other[count] = i
                count += np.uint64(touched[i] != 0)
            for c in range(first, count):
                i = other[c]
                far[c], aside[c], reached[c] = along[i] - place, across[i] - side, touched[i] >> 1
        moves.first[moves.ahead.size] = count
        return count

    return list_pairs


def _make_work_out(model: WakeModel, one_type: bool, pair: Callable[..., float]) -> Callable[..., None]:
    if one_type and model.pair_squares is not None and model.superposition == "squares":
        numbers, square = model.pair_squares

        @scalar
        def work_out_squares(data, turbines, moves, turbine, count):
            far, aside, reached, now = moves.far, moves.aside, moves.reached, moves.now
            n0, n1, n2, n3 = numbers(data, turbines.diameter[0], moves.thrust[0])
            for c in range(count):
                now[c] = reached[c] * square(n0, n1, n2, n3, abs(far[c]), aside[c])

        return work_out_squares

    @scalar
    def work_out(data, turbines, moves, turbine, count):
        far, aside, now, types, moved = (moves.far, moves.aside, moves.now, moves.types, np.uint64(turbine))
        for c in range(count):
            i = moves.other[c]
            source, target = (moved, i) if is_downwind(far[c], i, moved) else (i, moved)
            now[c] = pair(
                data, turbines, moves.thrust, types[source], types[target], abs(far[c]), aside[c]
            )  # fmt: skip

    return work_out


@inlined
def _note(moves, many, d, begin, i, change):
    place = begin + i
    was = moves.summed[place]
    now = was + change
    moves.direction[many], moves.place[many], moves.new_summed[many] = d, place, now
    return many + np.uint64(now != was)


@inlined
def _note_own(moves, many, d, place, now):
    moves.direction[many], moves.place[many], moves.new_summed[many] = d, place, now
    return many + np.uint64(1)


@scalar
def _list_changes(moves, turbine):
    many, n, moved = np.uint64(0), np.uint64(moves.x.size), np.uint64(turbine)
    for a in range(moves.ahead.size):
        along, wake = moves.along[a], moves.wake[moved, a]
        here, both = along[moved], moves.behind[a] >= 0
        d = np.uint64(moves.ahead[a])
        o = np.uint64(moves.behind[a]) if both else d
        ahead, behind = n * d, n * o
        own = own_behind = 0.0
        for c in range(moves.first[a], moves.first[a + 1]):
            i = moves.other[c]
            was, now = wake[i], moves.now[c]
            after, before = is_downwind(moves.far[c], i, moved), is_downwind(along[i] - here, i, moved)
            own += 0.0 if after else now
            own_behind += now if after else 0.0
            if after == before:
                if both | after:
                    many = _note(moves, many, d if after else o, ahead if after else behind, i, now - was)
            else:
                many = _note(moves, many, d, ahead, i, now if after else -was)
                if both:
                    many = _note(moves, many, o, behind, i, -was if after else now)
        many = _note_own(moves, many, d, ahead + moved, own)
        if both:
            many = _note_own(moves, many, o, behind + moved, own_behind)
    return many


def is_steady(farm: WindFarm) -> bool:
    """Whether no wake of a farm changes with the wind."""
    model = farm.model
    same = all(low == high for low, high in (turbine.thrust_range() for turbine in farm.turbines))
    free = model.reference == "free" and model.is_a_sum_of_pairs and not model.needs_turbulence
    return same and free and farm.locality == "uniform"


def new_steady_moves(
    farm: WindFarm, x: FloatArray, y: FloatArray, types: IntArray, counted: int
) -> SteadyMoves:
    """Room for a layout, neighbours included; ``settle`` it first."""
    n, wind = len(x), farm.wind
    directions, both = len(wind.cosine), direction_pairs_of(farm.states, opposites=len(farm.turbines) == 1)
    axes = len(both.ahead)
    pairs, changes = axes * n, max(2 * axes * (n + 1), directions * n)
    alone = np.diff(wind.first) == 1
    return SteadyMoves(
        np.array(types, np.int64), counted, np.array(x), np.array(y), both.ahead, both.behind,
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
    pair, all_watts = make_pair(model), make_all_watts(model, one_type)
    list_pairs, work_out = _make_list_pairs(model, one_type), _make_work_out(model, one_type, pair)

    @kernel(counts_references=False, inline=True)
    def gained(data, turbines, wind, moves, moved, x, y, needed):
        count = list_pairs(data, turbines, wind, moves, moved, x, y)
        work_out(data, turbines, moves, moved, count)
        moves.changes[0] = _list_changes(moves, moved)
        return all_watts(turbines, moves, moves.changes[0])

    @kernel(counts_references=False)
    def keep(data, turbines, wind, moves, moved, x, y):
        """Follows ``gained`` of the same move: takes over what it has listed."""
        moves.x[moved], moves.y[moved] = x, y
        for a in range(moves.ahead.size):
            d = moves.ahead[a]
            moves.along[a, moved], moves.across[a, moved] = turn(wind.cosine[d], wind.sine[d], x, y)
            for c in range(moves.first[a], moves.first[a + 1]):
                i = moves.other[c]
                moves.wake[moved, a, i] = moves.wake[i, a, moved] = moves.now[c]
        for c in range(moves.changes[0]):
            place = moves.place[c]
            moves.summed[place], moves.watts[place] = moves.new_summed[c], moves.new_watts[c]

    return MoveKernels(_make_settle(pair, all_watts), gained, keep)


def _make_settle(pair: Callable[..., float], all_watts: Callable[..., float]) -> Callable[..., float]:
    @kernel(counts_references=False)
    def settle(data, turbines, wind, moves):
        n, types = moves.x.size, moves.types
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
                        data, turbines, moves.thrust, types[source], types[target], abs(far), across[j] - across[i]
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
        total = all_watts(turbines, moves, np.uint64(moves.summed.size))
        for place in range(moves.summed.size):
            moves.watts[place] = moves.new_watts[place]
        return total

    return settle
