"""The change by one more turbine on the grid of a smart start, compiled.

Kept between steps, for every wind direction and speed: the wind at each placed turbine, and the wakes gathered
at each free point. Placing a turbine changes the thrust of the turbines in its wake, of those in theirs, and
so on downwind; each of these passes on the difference between its new wake and its old one. Nothing else is
touched: not the turbines upwind, not the points outside those wakes.

Turbines that stand off the grid (neighbours, and all where wakes are not tabulated) take part in the same way;
their pairs are computed, not looked up. Turbines are numbered in the order in which they come, neighbours first.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.placing.grid_wakes import (
    NEW_CT,
    NEW_SCALE,
    NEW_TI,
    OLD_CT,
    OLD_SCALE,
    OLD_TI,
    WHICH,
    GridWakes,
    add_changes,
    look_up,
    to_powers,
)
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalWindArrays
from vindeby.wake.loops.superposition import superposition_of, turbulence_in_wakes
from vindeby.wake.loops.wind import downwind_of, turn
from vindeby.wake.loops.wind_access import Locality, free_wind_at, superposition_for
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

OFF_GRID = -1
THRUST, SPEED, TURBULENCE = 0, 1, 2


class Free(NamedTuple):
    """Free wind by turbine or point and wind state; a single row if it is the same everywhere.

    ``speed``, ``turbulence``, ``cosine`` and ``sine`` (by which wakes are turned) belong to turbines, ``point_speed``
    and ``point_weight`` to points.
    """

    speed: FloatArray
    turbulence: FloatArray
    cosine: FloatArray
    sine: FloatArray
    point_speed: FloatArray
    point_weight: FloatArray


def new_free(farm: WindFarm, x: FloatArray, y: FloatArray, most: int) -> Free:
    """Return the free wind for ``most`` turbines, and at points at the hub height of type 0."""
    wind = farm.wind
    if not isinstance(wind, LocalWindArrays):
        speed, turbulence, weight = wind.speed[None], wind.turbulence[None], wind.weight[None]
        return Free(speed, turbulence, np.ones_like(speed), np.zeros_like(speed), speed, weight)
    at = free_wind_at(wind, farm.states.direction, x, y, np.zeros(len(x), np.int64))
    speed, turbulence, sine = np.zeros((3, most, len(farm.states.speed)))
    return Free(speed, turbulence, np.ones_like(speed), sine, at.speed, at.probability)


def set_free_wind(farm: WindFarm, free: Free, a: int, x: float, y: float, type_index: int) -> None:
    """Compute the free wind of turbine ``a``, if the wind is local."""
    if not isinstance(farm.wind, LocalWindArrays):
        return
    directions = farm.states.direction
    at = free_wind_at(farm.wind, directions, np.array([x]), np.array([y]), np.array([type_index], np.int64))
    free.speed[a], free.turbulence[a] = at.speed[0], at.turbulence[0]
    if farm.locality == "turned":
        turned = np.deg2rad(at.direction[0] - np.repeat(directions, np.diff(farm.wind.first)))
        free.cosine[a], free.sine[a] = np.cos(turned), np.sin(turned)


class State(NamedTuple):
    """The mutable state of one smart start.

    ``occupant`` says of each cell of the padded grid: 0 nothing, c + 1 free point c, -(a + 1) turbine a.
    ``point`` and ``place`` are positions of points and turbines; ``types`` and ``cell`` (or OFF_GRID) belong to
    turbines. ``sums`` are the deficits or their squares, by direction, target and wind speed: first the points are
    targets, then the turbines. ``own`` is by direction and turbine its THRUST, SPEED and TURBULENCE at each wind speed;
    ``energy`` is what each type would make, by point, type and direction. The others are room to work in: ``change``
    and ``change_at`` for what one turbine passes on, ``found``, ``found_at``, ``targets`` and ``pairs`` for points and
    turbines in its wake, ``left`` for their wind speeds, ``waiting`` for turbines and ``dirty`` for points that have
    changed (their number comes first), and ``mark`` for the direction in which a point was last dirty.
    """

    occupant: npt.NDArray[np.int32]
    point: FloatArray
    point_cell: IntArray
    place: FloatArray
    types: IntArray
    cell: IntArray
    sums: FloatArray
    own: FloatArray
    energy: FloatArray
    change: FloatArray
    change_at: IntArray
    found: IntArray
    found_at: IntArray
    targets: npt.NDArray[np.uint64]
    pairs: npt.NDArray[np.uint64]
    left: FloatArray
    waiting: IntArray
    dirty: IntArray
    mark: IntArray
    free: Free


def new_state(
    farm: WindFarm, wakes: GridWakes, point: FloatArray, cell: IntArray, most: int, free: Free
) -> State:
    """Return the state without turbines; ``most`` turbines can be placed, neighbours included."""
    directions, speeds, types, points = len(farm.wind.cosine), farm.wind.most, len(farm.turbines), len(point)
    occupant = np.zeros(wakes.stride * wakes.stride, np.int32)
    occupant[cell] = np.arange(1, points + 1)
    state = State(
        occupant=occupant,
        point=point,
        point_cell=cell,
        place=np.zeros((most, 2)),
        types=np.zeros(most, np.int64),
        cell=np.full(most, OFF_GRID, np.int64),
        sums=np.zeros((directions, points + most, speeds)),
        own=np.zeros((directions, most, 3, speeds)),
        energy=np.empty((points, types, directions)),
        change=np.zeros((speeds, 18)),
        change_at=np.zeros((speeds, 3), np.int64),
        found=np.zeros(wakes.most + 1, np.int64),
        found_at=np.zeros(wakes.most + 1, np.int64),
        targets=np.zeros(wakes.most, np.uint64),
        pairs=np.zeros(wakes.most, np.uint64),
        left=np.zeros((points + 1, speeds)),
        waiting=np.zeros(most + 1, np.int64),
        dirty=np.zeros(points + 1, np.int64),
        mark=np.zeros(points, np.int64),
        free=free,
    )
    undisturbed = np.empty((len(free.point_speed), types, directions))
    _undisturbed(farm.turbine_arrays, farm.wind, free, undisturbed)
    state.energy[:] = undisturbed
    return state


@kernel()
def _undisturbed(turbines, wind, free, energy):
    for c in range(energy.shape[0]):
        for d in range(wind.cosine.size):
            for t in range(turbines.diameter.size):
                total = 0.0
                for s in range(wind.first[d], wind.first[d + 1]):
                    total += free.point_weight[c, s] * curves_at(turbines, t, free.point_speed[c, s])[0]
                energy[c, t, d] = total


@once_per_model
def placing_kernel(model: WakeModel, tabulated: bool, locality: Locality = "uniform") -> Callable[..., None]:
    """Compile the step of a smart start for a model, which places one more turbine in the wind."""
    pull, renew = _make_pull(model, locality), _make_renew(model, tabulated, locality)
    spread_off_grid = _make_spread_off_grid(model, locality)
    value_points = _make_value_points(model, locality)

    @inlined
    def place_in_direction(data, turbines, wind, wakes, state, d, a, off_grid):
        state.dirty[0] = 0
        pull(data, turbines, wind, wakes, state, d, a, off_grid)
        b = a
        while b >= 0:
            count, thrust, turbulence = renew(data, turbines, wind, wakes, state, d, b, a)
            on_grid = state.cell[b] >= 0
            if count > 0 and on_grid:
                spread_on_grid(turbines, wind, wakes, state, d, b, count)
            if count > 0 and off_grid > 0:
                others = min(off_grid, a + 1) if on_grid else a + 1
                spread_off_grid(data, turbines, wind, state, d, b, others, count, thrust, turbulence)
            b = next_waiting(state)
        value_points(turbines, wind, state, d)

    @kernel(counts_references=False)
    def place(data, turbines, wind, wakes, state, a, off_grid):
        """Place turbine ``a``, whose position is stored already, in the wind; the first ``off_grid`` are off it."""
        for c in range(state.mark.size):
            state.mark[c] = -1
        for d in range(wind.cosine.size):
            place_in_direction(data, turbines, wind, wakes, state, d, a, off_grid)

    return place


def _make_computed(model: WakeModel) -> Callable[..., float]:
    deficit, term = model.deficit, superposition_of(model).term

    @scalar
    def computed(data, turbines, far, aside, source, target, thrust, turbulence):
        """Return the deficit of a pair, or its square; ``target`` -1 is a point at the hub height of type 0."""
        rotor = turbines.diameter[target] if target >= 0 else 0.0
        other, height = turbines.hub_height[max(target, 0)], turbines.hub_height[source]
        value = deficit(
            data, Pair(far, aside, other - height, other + height, turbines.diameter[source], rotor, thrust, turbulence)
        )  # fmt: skip
        return term(value)

    return computed


def _make_pull(model: WakeModel, locality: Locality) -> Callable[..., None]:
    computed, local = _make_computed(model), locality != "uniform"
    together = superposition_for(model, locality)
    scale, term = together.scale, together.term

    @inlined
    def pull(data, turbines, wind, wakes, state, d, a, off_grid):
        """Gather the wakes of all upwind turbines at a new one, whose sums are 0."""
        first, number, types = wind.first[d], wind.first[d + 1] - wind.first[d], turbines.diameter.size
        cell, target, summed = state.cell[a], state.types[a], state.sums[d, state.mark.size + a]
        if cell >= 0:
            for n in range(list_occupied(wakes, state, d, cell, -1)):
                b, e = -state.found[n] - 1, state.found_at[n]
                source = state.types[b]
                pair, own = (e * types + source) * (types + 1) + target + 1, state.own[d, b]
                free = state.free.speed[b if local else 0]
                for k in range(number):
                    value = look_up(wakes, pair, own[THRUST, k])
                    summed[k] += value * term(scale(own[SPEED, k], free[first + k]))
        if off_grid == 0:
            return
        for b in range(a):
            if cell >= 0 and state.cell[b] >= 0:
                continue
            far, aside = between(wind.cosine[d], wind.sine[d], state.place, b, state.place, a)
            if far <= 1e-10:
                continue
            far, aside = rotate_to_local_wind(state.free, b if local else 0, first, far, aside)
            if far > 1e-10:
                own, free, source = state.own[d, b], state.free.speed[b if local else 0], state.types[b]
                for k in range(number):
                    thrust, turbulence = own[THRUST, k], own[TURBULENCE, k]
                    value = computed(data, turbines, far, aside, source, target, thrust, turbulence)
                    summed[k] += value * term(scale(own[SPEED, k], free[first + k]))

    return pull


def _make_renew(
    model: WakeModel, tabulated: bool, locality: Locality
) -> Callable[..., tuple[int, float, float]]:
    adds, local = model.added_turbulence is not None, locality != "uniform"
    turbulence_at, together = _make_turbulence_at(model, local), superposition_for(model, locality)
    scale, term, wind_speed = together.scale, together.term, together.wind_speed
    of_free_wind = model.thrust_of == "free"

    @inlined
    def renew(data, turbines, wind, wakes, state, d, a, newest):
        """Recompute a turbine's wind speed and thrust; return the number of states that have changed.

        What has is in ``state.change``; the largest thrust and turbulence of both before and after are
        returned too.
        """
        change, change_at, first, own = state.change, state.change_at, wind.first[d], a if local else 0
        free_speed, free_turbulence = state.free.speed[own], state.free.turbulence[own]
        summed, kept = state.sums[d, state.mark.size + a], state.own[d, a]
        type_index, number = state.types[a], wind.first[d + 1] - first
        count = 0
        most_thrust = most_turbulence = 0.0
        # Apart, so that the wind speeds of one loop need not wait for each other.
        for k in range(number):
            state.left[0, k] = wind_speed(free_speed[first + k], max(summed[k], 0.0))
        for k in range(number):
            felt = free_speed[first + k] if of_free_wind else state.left[0, k]
            change[k, NEW_CT] = curves_at(turbines, type_index, felt)[1]
        for k in range(number):
            free, turbulence = free_speed[first + k], free_turbulence[first + k]
            speed, ct = state.left[0, k], change[k, NEW_CT]
            if adds:
                turbulence = turbulence_at(data, turbines, wind, state, d, a, newest, k)
            change[k, OLD_CT], change[k, OLD_TI] = kept[THRUST, k], kept[TURBULENCE, k]
            change[k, NEW_TI] = turbulence
            change[k, OLD_SCALE] = 0.0 if a == newest else term(scale(kept[SPEED, k], free))
            change[k, NEW_SCALE] = term(scale(speed, free))
            kept[THRUST, k], kept[SPEED, k], kept[TURBULENCE, k] = ct, speed, turbulence
            if (
                change[k, OLD_CT] == ct
                and change[k, OLD_TI] == turbulence
                and change[k, OLD_SCALE] == change[k, NEW_SCALE]
            ):
                continue
            change_at[count, WHICH] = k
            count += 1
            most_thrust = max(most_thrust, ct, change[k, OLD_CT])
            most_turbulence = max(most_turbulence, turbulence, change[k, OLD_TI])
            if tabulated:
                to_powers(wakes, change, change_at, k)
        return count, most_thrust, most_turbulence

    return renew


def _make_turbulence_at(model: WakeModel, local: bool) -> Callable[..., float]:
    added = model.turbulence_functions[0]

    @scalar
    def turbulence_at(data, turbines, wind, state, d, a, newest, k):
        """Return the turbulence of the free wind with the largest addition of any upwind turbine."""
        types, s = state.types, wind.first[d] + k
        most = 0.0
        for b in range(newest + 1):
            far, aside = between(wind.cosine[d], wind.sine[d], state.place, b, state.place, a)
            if far <= 1e-10:
                continue
            far, aside = rotate_to_local_wind(state.free, b if local else 0, s, far, aside)
            if far <= 0.0:
                continue
            other, height = turbines.hub_height[types[a]], turbines.hub_height[types[b]]
            plus = added(
                data, Pair(far, aside, other - height, other + height, turbines.diameter[types[b]],
                turbines.diameter[types[a]], state.own[d, b, THRUST, k], state.own[d, b, TURBULENCE, k]),
                state.free.turbulence[b if local else 0, s],
            )  # fmt: skip
            most = max(most, plus)
        return turbulence_in_wakes(state.free.turbulence[a if local else 0, s], most)

    return turbulence_at


def _make_compute_change(model: WakeModel) -> Callable[..., float]:
    computed = _make_computed(model)

    @scalar
    def compute_change(data, turbines, far, aside, source, target, change, k):
        value = change[k, NEW_SCALE] * computed(
            data, turbines, far, aside, source, target, change[k, NEW_CT], change[k, NEW_TI]
        )
        if change[k, OLD_SCALE] != 0.0:
            value -= change[k, OLD_SCALE] * computed(
                data, turbines, far, aside, source, target, change[k, OLD_CT], change[k, OLD_TI]
            )
        return value

    return compute_change


@inlined
def spread_on_grid(turbines, wind, wakes, state, d, a, count):
    """Pass a change in ``count`` states on to the points and turbines of the grid in a turbine's wake."""
    source, types, points = state.types[a], turbines.diameter.size, state.mark.size
    targets, pairs = state.targets, state.pairs
    found = list_occupied(wakes, state, d, state.cell[a], 1)
    for n in range(found):
        there, pair = state.found[n], (state.found_at[n] * types + source) * (types + 1)
        if there > 0:
            targets[n], pairs[n] = there - 1, pair
            mark_dirty(state.dirty, state.mark, there - 1, d)
        else:
            b = -there - 1
            targets[n], pairs[n] = points + b, pair + 1 + state.types[b]
            wait(wind.cosine[d], wind.sine[d], state, b)
    add_changes(wakes.table, state.change, state.change_at, count, pairs, targets, found, state.sums[d])


def _make_spread_off_grid(model: WakeModel, locality: Locality) -> Callable[..., None]:
    reach, compute_change, local = model.reach, _make_compute_change(model), locality != "uniform"

    @scalar
    def spread_off_grid(data, turbines, wind, state, d, a, others, count, thrust, turbulence):
        """Pass a change on if source or target is off the grid: to ``others`` turbines, and points."""
        cosine, sine, source, own = wind.cosine[d], wind.sine[d], state.types[a], a if local else 0
        diameter = turbines.diameter[source]
        for b in range(others):
            far, aside = between(cosine, sine, state.place, a, state.place, b)
            if far <= 1e-10:
                continue  # upwind, in the site's wind direction, which decides the order
            far, aside = rotate_to_local_wind(state.free, own, wind.first[d], far, aside)
            rotor = turbines.diameter[state.types[b]]
            if far > 1e-10 and abs(aside) < reach(data, far, diameter, rotor, thrust, turbulence):
                wait(cosine, sine, state, b)
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.sums[d, state.mark.size + b, k] += compute_change(
                        data, turbines, far, aside, source, state.types[b], state.change, k
                    )
        if state.cell[a] >= 0:
            return
        for c in range(state.point_cell.size):
            if state.occupant[state.point_cell[c]] != c + 1:
                continue
            far, aside = between(cosine, sine, state.place, a, state.point, c)
            far, aside = rotate_to_local_wind(state.free, own, wind.first[d], far, aside)
            if far > 1e-10 and abs(aside) < reach(data, far, diameter, 0.0, thrust, turbulence):
                mark_dirty(state.dirty, state.mark, c, d)
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.sums[d, c, k] += compute_change(
                        data, turbines, far, aside, source, -1, state.change, k
                    )

    return spread_off_grid


def _make_value_points(model: WakeModel, locality: Locality) -> Callable[..., None]:
    wind_speed, local = superposition_for(model, locality).wind_speed, locality != "uniform"

    @inlined
    def value_points(turbines, wind, state, d):
        first, number = wind.first[d], wind.first[d + 1] - wind.first[d]
        # Apart, so that what cannot be vectorised does not hold up what can.
        for n in range(1, state.dirty[0] + 1):
            c = np.uint64(state.dirty[n])
            sums, speed = state.sums[d, c], state.free.point_speed[c if local else np.uint64(0)]
            for k in range(number):
                state.left[n, k] = wind_speed(speed[first + k], max(sums[k], 0.0))
        for n in range(1, state.dirty[0] + 1):
            c = np.uint64(state.dirty[n])
            weight = state.free.point_weight[c if local else np.uint64(0)]
            for t in range(turbines.diameter.size):
                energy = 0.0
                for k in range(number):
                    energy += weight[first + k] * curves_at(turbines, t, state.left[n, k])[0]
                state.energy[c, t, d] = energy

    return value_points


@inlined
def list_occupied(wakes, state, d, cell, way):
    """List the occupied cells in the wake of a cell (``way`` 1), or the turbines whose wake covers it (-1)."""
    row = way * (wakes.size - 1 - cell // wakes.stride) + (wakes.size - 1 if way > 0 else 0)
    found = 0
    for e in range(wakes.first_in_row[d, row], wakes.first_in_row[d, row + wakes.size]):
        there = state.occupant[np.uint64(cell + way * wakes.step[np.uint64(e)])]
        # Stored in any case, and overwritten by the next if not counted: no branch to guess wrong.
        state.found[found], state.found_at[found] = there, e
        found += there < 0 or (there > 0 and way > 0)
    return found


@inlined
def between(cosine, sine, place, a, other, b):
    """Return the downwind and crosswind distance of ``other[b]`` from ``place[a]``."""
    return turn(cosine, sine, other[b, 0] - place[a, 0], other[b, 1] - place[a, 1])


@inlined
def rotate_to_local_wind(free, a, s, far, aside):
    """Return these distances rotated into the wind of turbine ``a``."""
    cosine, sine = free.cosine[a, s], free.sine[a, s]
    return cosine * far - sine * aside, cosine * aside + sine * far


@inlined
def mark_dirty(dirty, mark, c, d):
    """Put a point on the list of those whose energy must be recomputed."""
    if mark[c] != d:
        mark[c] = d
        dirty[0] += 1
        dirty[dirty[0]] = c


@inlined
def wait(cosine, sine, state, a):
    """Put a turbine on the list of those whose wakes have changed, unless it is listed already.

    The last is the one farthest upwind, and of several the one that came first.
    """
    waiting, place = state.waiting, state.place
    for at in range(1, waiting[0] + 1):
        if waiting[at] == a:
            return
    along, at = downwind_of(cosine, sine, place[a, 0], place[a, 1]), waiting[0]
    while at > 0:
        b = waiting[at]
        other = downwind_of(cosine, sine, place[b, 0], place[b, 1])
        if other > along or (other == along and b > a):
            break
        waiting[at + 1] = b
        at -= 1
    waiting[at + 1] = a
    waiting[0] += 1


@inlined
def next_waiting(state):
    """Take the turbine farthest upwind from the list; -1 if there is none."""
    count = state.waiting[0]
    if count == 0:
        return -1
    state.waiting[0] = count - 1
    return state.waiting[count]
