"""The change in energy by one moved turbine, if wakes do not change with the wind.

If every type has one thrust coefficient and deficits are fractions of the free wind speed, the wake of one
turbine on another depends on where the two stand and on nothing else. The wakes of all pairs are then kept,
one number for each pair and direction (opposite directions share it), and a turbine's mean power is a function
of its summed wakes alone. A move costs one new wake for each pair,
direction and turbine in reach; keeping it costs none.

The interface is that of ``carried_moves``, which holds for models of more kinds. The wakes and the power curves are
those of the engine's own loops (``vindeby.wake.loops.steady``).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_state import MoveKernels, is_downwind
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.steady import FREE, SteadyWakes, is_steady, steady_wakes
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear, direction_pairs_of, turn
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

PlaceArray = npt.NDArray[np.uint64]
"""Places in lists: loops need not look whether one counts from the end."""


class SteadyMoves(NamedTuple):
    """The layout in every direction, and buffers for a move; turbines first, neighbours after them.

    Directions ``ahead`` and ``behind`` (-1: none) are opposite and make an axis. ``along`` and ``across`` are
    (axes, turbines), ``wake`` is (turbines, axes, turbines); ``summed`` and ``watts`` hold (directions, turbines), one
    after the other.

    Then the lists of a move. Pairs: the ``other`` turbine, how ``far`` downwind and ``aside`` of the moved one it
    stands, whether that is in reach (``reached``: 1 or 0) and its wake ``now``; those of axis ``a`` begin at
    ``first[a]``. Sums, ``changes[0]`` of them: ``new_summed`` and ``new_watts`` of ``place`` in ``direction``.
    """

    types: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    ahead: IntArray
    behind: IntArray
    wakes: SteadyWakes
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


def _make_pair(model: WakeModel) -> Callable[..., float]:
    """Make the function of a pair's wake: a fraction of the wind (or its square), the same at all speeds."""
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


def _make_all_watts(model: WakeModel, one_type: bool) -> Callable[..., float]:
    """Make the function of the power of turbines by their listed sums; it returns the change in power."""
    wind_speed = superposition_of(model).wind_speed

    @scalar
    def all_watts(moves, many):
        curves, n, counted = moves.wakes.curves, np.uint64(moves.x.size), np.uint64(moves.counted)
        types, summed, watts, total = np.uint64(moves.wakes.types), moves.new_summed, moves.new_watts, 0.0
        for c in range(many):
            d, watts[c] = moves.direction[c], 0.0
            i = moves.place[c] - d * n
            if i < counted:
                curve = d if one_type else d * types + np.uint64(moves.types[i])
                watts[c] = curves_at(curves, int(curve), wind_speed(FREE, max(summed[c], 0.0)))[0]
            total += watts[c] - moves.watts[moves.place[c]]
        return total

    return all_watts


def _make_list_pairs(model: WakeModel, one_type: bool) -> Callable[..., int]:
    reach = model.reach

    @scalar
    def look_around(data, turbines, moves, a, moved, place, side):
        """Mark in ``touched`` the turbines in reach at a position (2), in reach before (1), or both (3)."""
        along, across, wake = moves.along[a], moves.across[a], moves.wake[moved, a]
        touched, types = moves.touched, moves.types
        diameter = rotor = turbines.diameter[0]
        thrust = moves.wakes.thrust[0]
        for i in range(along.size):
            far, aside = along[i] - place, across[i] - side
            if not one_type:
                after = is_downwind(far, i, moved)
                source, target = types[moved if after else i], types[i if after else moved]
                diameter, rotor = turbines.diameter[source], turbines.diameter[target]
                thrust = moves.wakes.thrust[source]
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
    deficit, term = model.deficit, superposition_of(model).term
    if one_type:

        @scalar
        def work_out_alike(data, turbines, moves, turbine, count):
            """Compute the wakes of listed pairs of one type, in a loop that a compiler can vectorise."""
            downwind, crosswind, reached, now = moves.far, moves.aside, moves.reached, moves.now
            diameter, heights, thrust = (
                turbines.diameter[0],
                2.0 * turbines.hub_height[0],
                moves.wakes.thrust[0],
            )
            for c in range(count):
                pair = Pair(abs(downwind[c]), crosswind[c], 0.0, heights, diameter, diameter, thrust, 0.0)
                now[c] = reached[c] * term(deficit(data, pair))

        return work_out_alike

    @scalar
    def work_out(data, turbines, moves, turbine, count):
        far, aside, now, types, moved = (moves.far, moves.aside, moves.now, moves.types, np.uint64(turbine))
        for c in range(count):
            i = moves.other[c]
            source, target = (moved, i) if is_downwind(far[c], i, moved) else (i, moved)
            now[c] = pair(
                data, turbines, moves.wakes.thrust, types[source], types[target], abs(far[c]), aside[c]
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


def has_steady_wakes(farm: WindFarm) -> bool:
    """Return whether no wake of a farm changes with the wind, anywhere."""
    return farm.locality == "uniform" and is_steady(farm.model, farm.turbines)


def new_steady_moves(
    farm: WindFarm, x: FloatArray, y: FloatArray, types: IntArray, counted: int
) -> SteadyMoves:
    """Return the arrays for a layout, neighbours included; call ``settle`` first."""
    n, wind = len(x), farm.wind
    directions, both = len(wind.cosine), direction_pairs_of(farm.states, opposites=len(farm.turbines) == 1)
    axes = len(both.ahead)
    pairs, changes = axes * n, max(2 * axes * (n + 1), directions * n)
    return SteadyMoves(
        np.array(types, np.int64), counted, np.array(x), np.array(y), both.ahead, both.behind,
        steady_wakes(farm.model, farm.turbines, farm.states),
        np.zeros((axes, n)), np.zeros((axes, n)), np.zeros((n, axes, n)),
        np.zeros(directions * n), np.zeros(directions * n),
        np.zeros(n, np.int64), np.zeros(axes + 1, np.uint64), np.zeros(pairs, np.uint64),
        np.zeros(pairs), np.zeros(pairs), np.zeros(pairs), np.zeros(pairs),
        np.zeros(1, np.uint64), np.zeros(changes, np.uint64), np.zeros(changes, np.uint64),
        np.zeros(changes), np.zeros(changes),
    )  # fmt: skip


@once_per_model
def steady_move_kernels(model: WakeModel, one_type: bool) -> MoveKernels:
    """Compile, or load from disk, the loops for a model and a farm of one type or of several."""
    pair, all_watts = _make_pair(model), _make_all_watts(model, one_type)
    list_pairs, work_out = _make_list_pairs(model, one_type), _make_work_out(model, one_type, pair)

    @kernel(counts_references=False, inline=True)
    def gained(data, turbines, wind, moves, moved, x, y, needed):
        count = list_pairs(data, turbines, wind, moves, moved, x, y)
        work_out(data, turbines, moves, moved, count)
        moves.changes[0] = _list_changes(moves, moved)
        return all_watts(moves, moves.changes[0])

    @kernel(counts_references=False)
    def keep(data, turbines, wind, moves, moved, x, y):
        """Accept a move: store the changes that ``gained`` of the same move listed."""
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
                        data, turbines, moves.wakes.thrust, types[source], types[target], abs(far),
                        across[j] - across[i],
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
        total = all_watts(moves, np.uint64(moves.summed.size))
        for place in range(moves.summed.size):
            moves.watts[place] = moves.new_watts[place]
        return total

    return settle
