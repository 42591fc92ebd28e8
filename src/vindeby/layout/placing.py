"""What one more turbine changes, on the grid of a smart start.

Kept between steps, for every wind direction and speed: the wind at each placed turbine, and the wakes gathered
at each free point. Placing a turbine changes the thrust of the turbines in its wake, of those in theirs, and
so on downwind; each of these passes on the difference between its new wake and its old one. Nothing else is
touched: not the turbines upwind, not the points outside those wakes.

Turbines that stand off the grid (neighbours) take part in the same way; their pairs are computed, not looked
up. Turbines are numbered in the order in which they come, neighbours first.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.grid_wakes import COEFFICIENTS, GridWakes
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.curves import curves_at

__all__ = ["State", "new_state", "placing_kernel"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

OFF_GRID = -1

# The numbers of a turbine in one wind state: wind speed, thrust coefficient, turbulence, gathered wakes.
U, CT, TI, SUM = 0, 1, 2, 3
# The numbers of a change in one wind state: before and after; then the powers of the place in the table.
OLD_CT, NEW_CT, OLD_TI, NEW_TI, OLD_SCALE, NEW_SCALE, NEW_POWERS, OLD_POWERS = 0, 1, 2, 3, 4, 5, 6, 12
# Its whole numbers: a wind state that has changed, and the pieces of the table.
WHICH, OLD_PIECE, NEW_PIECE = 0, 1, 2


class State(NamedTuple):
    """Everything that changes during one smart start.

    ``occupant`` says of each cell of the padded grid: 0 nothing, c + 1 free point c, -(a + 1) turbine a.
    ``point`` and ``place`` are positions of points and turbines; ``kind`` and ``cell`` (or OFF_GRID) belong to
    turbines. ``order``, by direction: the turbines from upwind to downwind. ``turbine`` has four numbers (see
    above) by direction, turbine and wind speed, ``gathered`` the deficits or their squares by direction, point
    and speed. ``energy`` is what each type would make, by point, type and direction. The others are room to work in.
    """

    occupant: npt.NDArray[np.int32]
    point: FloatArray
    point_cell: IntArray
    place: FloatArray
    kind: IntArray
    cell: IntArray
    order: npt.NDArray[np.int32]
    turbine: FloatArray
    gathered: FloatArray
    energy: FloatArray
    change: FloatArray
    change_at: IntArray
    changed: npt.NDArray[np.bool_]
    dirty: IntArray
    mark: IntArray


def new_state(farm: WindFarm, wakes: GridWakes, point: FloatArray, cell: IntArray, most: int) -> State:
    """No turbine yet, all points free. ``most`` turbines can come, neighbours among them."""
    directions, speeds, kinds, points = len(farm.wind.cosine), farm.wind.most, len(farm.turbines), len(point)
    occupant = np.zeros(wakes.stride * wakes.stride, np.int32)
    occupant[cell] = np.arange(1, points + 1)
    state = State(
        occupant=occupant,
        point=point,
        point_cell=cell,
        place=np.zeros((most, 2)),
        kind=np.zeros(most, np.int64),
        cell=np.full(most, OFF_GRID, np.int64),
        order=np.zeros((directions, most), np.int32),
        turbine=np.zeros((directions, most, speeds, 4)),
        gathered=np.zeros((directions, points, speeds)),
        energy=np.zeros((points, kinds, directions)),
        change=np.zeros((speeds, 18)),
        change_at=np.zeros((speeds, 3), np.int64),
        changed=np.zeros(most, np.bool_),
        dirty=np.zeros(points + 1, np.int64),
        mark=np.zeros(points, np.int64),
    )
    _undisturbed(farm.machines, farm.wind, state.energy)
    return state


@kernel("placing")
def _undisturbed(machines, wind, energy):
    """What each type makes in the free wind, at every point alike."""
    for d in range(wind.cosine.size):
        for t in range(machines.diameter.size):
            total = 0.0
            for s in range(wind.first[d], wind.first[d + 1]):
                total += wind.weight[s] * curves_at(machines, t, wind.speed[s])[0]
            energy[:, t, d] = total


@inlined
def _insert(cosine, sine, state, d, a):
    """Put a turbine into the order from upwind to downwind; the place it gets."""
    at = a
    along = -cosine * state.place[a, 0] - sine * state.place[a, 1]
    while at > 0:
        b = state.order[d, at - 1]
        if -cosine * state.place[b, 0] - sine * state.place[b, 1] <= along:
            break
        state.order[d, at] = b
        at -= 1
    state.order[d, at] = a
    return at


@inlined
def _between(cosine, sine, place, a, other, b):
    """How far ``other[b]`` is downwind of ``place[a]``, and how far aside."""
    east, north = other[b, 0] - place[a, 0], other[b, 1] - place[a, 1]
    return -cosine * east - sine * north, sine * east - cosine * north


@inlined
def _to_powers(wakes, change, change_at, k):
    """Where new and old thrust lie in the table; within one piece their difference is one polynomial."""
    last = wakes.points.shape[2] - 1
    at = (change[k, NEW_CT] - wakes.lowest_thrust) * wakes.per_piece
    piece = min(max(int(at), 0), last)
    t = 2.0 * (at - piece) - 1.0
    power = change[k, NEW_SCALE]
    for j in range(COEFFICIENTS):
        change[k, NEW_POWERS + j] = power
        power *= t
    change_at[k, NEW_PIECE], change_at[k, OLD_PIECE] = piece, -1
    if change[k, OLD_SCALE] == 0.0:
        return
    at = (change[k, OLD_CT] - wakes.lowest_thrust) * wakes.per_piece
    before = min(max(int(at), 0), last)
    t = 2.0 * (at - before) - 1.0
    power = change[k, OLD_SCALE]
    first = NEW_POWERS if before == piece else OLD_POWERS
    if before != piece:
        change_at[k, OLD_PIECE] = before
        for j in range(COEFFICIENTS):
            change[k, OLD_POWERS + j] = 0.0
    for j in range(COEFFICIENTS):
        change[k, first + j] -= power
        power *= t


@inlined
def _polynomial(c, e, piece, change, k, j):
    return (
        c[e, piece, 0] * change[k, j] + c[e, piece, 1] * change[k, j + 1] + c[e, piece, 2] * change[k, j + 2]
        + c[e, piece, 3] * change[k, j + 3] + c[e, piece, 4] * change[k, j + 4] + c[e, piece, 5] * change[k, j + 5]
    )  # fmt: skip


@inlined
def _look_up_change(table, e, change, change_at, k):
    """What a pair's wake has changed by, from its polynomials."""
    value = _polynomial(table, e, change_at[k, NEW_PIECE], change, k, NEW_POWERS)
    if change_at[k, OLD_PIECE] >= 0:
        value += _polynomial(table, e, change_at[k, OLD_PIECE], change, k, OLD_POWERS)
    return value


@inlined
def _soil(dirty, mark, c, d):
    """Put a point on the list (its length comes first) of those whose energy is to be computed anew."""
    if mark[c] != d:
        mark[c] = d
        dirty[0] += 1
        dirty[dirty[0]] = c


@once_per_model
def placing_kernel(model: WakeModel, tabulated: bool) -> Callable[..., None]:  # noqa: C901  one step's parts side by side
    """Compile the step for a model: put turbine ``a``, whose place is in the state already, into the wind."""
    deficit, reach = model.deficit, model.reach
    added = model.turbulence_functions[0]
    adds = model.added_turbulence is not None
    squares = model.superposition == "squares"
    free = model.reference == "free"

    @inlined
    def scale(u, speed):
        """What a model's deficit (or its square) is multiplied by before it is added up."""
        if squares:
            return 1.0 if free else (u / speed) * (u / speed)
        return speed if free else u

    @inlined
    def wind_speed(speed, summed):
        return speed * (1.0 - sqrt(max(summed, 0.0))) if squares else speed - summed

    @scalar
    def computed(data, machines, far, aside, source, target, thrust, turbulence):
        """The deficit, or its square, of a pair; ``target`` -1 is a point at the hub height of type 0."""
        rotor = machines.diameter[target] if target >= 0 else 0.0
        other, height = machines.hub_height[max(target, 0)], machines.hub_height[source]
        value = deficit(
            data,
            far,
            aside,
            other - height,
            other + height,
            machines.diameter[source],
            rotor,
            thrust,
            turbulence,
        )
        return value * value if squares else value

    @scalar
    def compute_change(data, machines, far, aside, source, target, change, k):
        """What a pair's wake has changed by, computed."""
        new_thrust, new_turbulence = change[k, NEW_CT], change[k, NEW_TI]
        value = change[k, NEW_SCALE] * computed(
            data, machines, far, aside, source, target, new_thrust, new_turbulence
        )
        if change[k, OLD_SCALE] != 0.0:
            value -= change[k, OLD_SCALE] * computed(
                data, machines, far, aside, source, target, change[k, OLD_CT], change[k, OLD_TI]
            )
        return value

    @inlined
    def pull_from(data, machines, wind, wakes, state, d, a, b, e, far, aside):
        """Add the wake of turbine ``b`` at turbine ``a``; ``e`` is its place in the table, if it has one."""
        first, turbine = wind.first[d], state.turbine
        for k in range(wind.first[d + 1] - first):
            ct = turbine[d, b, k, CT]
            if tabulated and e >= 0:
                at = (ct - wakes.lowest_thrust) * wakes.per_piece
                piece = min(max(int(at), 0), wakes.rotors.shape[3] - 1)
                t = 2.0 * (at - piece) - 1.0
                c = wakes.rotors[e, state.kind[b], state.kind[a], piece]
                value = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5]))))
            else:
                value = computed(
                    data, machines, far, aside, state.kind[b], state.kind[a], ct, turbine[d, b, k, TI]
                )
            turbine[d, a, k, SUM] += value * scale(turbine[d, b, k, U], wind.speed[first + k])

    @inlined
    def pull(data, machines, wind, wakes, state, d, a, at, neighbours):
        """Gather the wakes of all upwind turbines at a new one."""
        for k in range(wind.first[d + 1] - wind.first[d]):
            state.turbine[d, a, k, SUM] = 0.0
        if state.cell[a] >= 0:
            for e in range(wakes.first[d], wakes.first[d + 1]):
                there = state.occupant[state.cell[a] - wakes.step[e]]
                if there < 0:
                    pull_from(
                        data, machines, wind, wakes, state, d, a, -there - 1, e, wakes.far[e], wakes.aside[e]
                    )
        if neighbours == 0:
            return
        for upwind in range(at):
            b = state.order[d, upwind]
            if state.cell[a] < 0 or state.cell[b] < 0:
                far, aside = _between(wind.cosine[d], wind.sine[d], state.place, b, state.place, a)
                if far > 1e-10:
                    pull_from(data, machines, wind, wakes, state, d, a, b, -1, far, aside)

    @scalar
    def turbulence_at(data, machines, wind, place, kind, order, turbine, d, a, at, k):
        """The largest addition of any upwind turbine, on top of the free wind's turbulence."""
        most = 0.0
        alone = wind.turbulence[wind.first[d] + k]
        for upwind in range(at):
            b = order[d, upwind]
            far, aside = _between(wind.cosine[d], wind.sine[d], place, b, place, a)
            other, height = machines.hub_height[kind[a]], machines.hub_height[kind[b]]
            plus = added(
                data, far, aside, other - height, other + height, machines.diameter[kind[b]],
                machines.diameter[kind[a]], turbine[d, b, k, CT], turbine[d, b, k, TI], alone,
            )  # fmt: skip
            most = max(most, plus)
        return sqrt(alone * alone + most * most)

    @inlined
    def renew(data, machines, wind, wakes, state, d, a, at, fresh):
        """Give a turbine its wind speed and thrust anew; say in how many states something has changed.

        What has is in ``state.change``; the largest thrust and turbulence of both before and after are
        returned too.
        """
        change, change_at, turbine, first = state.change, state.change_at, state.turbine, wind.first[d]
        count = 0
        most_thrust = most_turbulence = 0.0
        for k in range(wind.first[d + 1] - first):
            speed = wind.speed[first + k]
            u = wind_speed(speed, turbine[d, a, k, SUM])
            ct = curves_at(machines, state.kind[a], u)[1]
            turbulence = wind.turbulence[first + k]
            if adds:
                turbulence = turbulence_at(
                    data, machines, wind, state.place, state.kind, state.order, turbine, d, a, at, k
                )
            change[k, OLD_CT], change[k, OLD_TI] = turbine[d, a, k, CT], turbine[d, a, k, TI]
            change[k, NEW_CT], change[k, NEW_TI] = ct, turbulence
            change[k, OLD_SCALE] = 0.0 if fresh else scale(turbine[d, a, k, U], speed)
            change[k, NEW_SCALE] = scale(u, speed)
            turbine[d, a, k, U], turbine[d, a, k, CT], turbine[d, a, k, TI] = u, ct, turbulence
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
                _to_powers(wakes, change, change_at, k)
        return count, most_thrust, most_turbulence

    @inlined
    def spread_on_grid(data, machines, wakes, state, d, a, count):
        """Pass a change on to the points and turbines of the grid in its wake."""
        source, cell = state.kind[a], state.cell[a]
        change, change_at = state.change, state.change_at
        points = wakes.points[:, source]
        for e in range(wakes.first[d], wakes.first[d + 1]):
            there = state.occupant[cell + wakes.step[e]]
            if there > 0:
                _soil(state.dirty, state.mark, there - 1, d)
            elif there < 0:
                state.changed[-there - 1] = True
            else:
                continue
            for n in range(count):
                k = change_at[n, WHICH]
                if there > 0 and tabulated:
                    state.gathered[d, there - 1, k] += _look_up_change(points, e, change, change_at, k)
                elif tabulated:
                    rotors = wakes.rotors[:, source, state.kind[-there - 1]]
                    value = _look_up_change(rotors, e, change, change_at, k)
                    state.turbine[d, -there - 1, k, SUM] += value
                else:
                    target = -1 if there > 0 else state.kind[-there - 1]
                    value = compute_change(
                        data, machines, wakes.far[e], wakes.aside[e], source, target, change, k
                    )
                    if there > 0:
                        state.gathered[d, there - 1, k] += value
                    else:
                        state.turbine[d, -there - 1, k, SUM] += value

    @scalar
    def spread_off_grid(data, machines, wind, state, d, a, others, count, thrust, turbulence):
        """Pass a change on where source or target is a neighbour: to ``others`` turbines, and to points."""
        cosine, sine, source = wind.cosine[d], wind.sine[d], state.kind[a]
        diameter = machines.diameter[source]
        for b in range(others):
            far, aside = _between(cosine, sine, state.place, a, state.place, b)
            rotor = machines.diameter[state.kind[b]]
            if far > 1e-10 and abs(aside) < reach(data, far, diameter, rotor, thrust, turbulence):
                state.changed[b] = True
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.turbine[d, b, k, SUM] += compute_change(
                        data, machines, far, aside, source, state.kind[b], state.change, k
                    )
        if state.cell[a] >= 0:
            return
        for c in range(state.point_cell.size):
            far, aside = _between(cosine, sine, state.place, a, state.point, c)
            if (
                state.occupant[state.point_cell[c]] == c + 1
                and far > 1e-10
                and abs(aside) < reach(data, far, diameter, 0.0, thrust, turbulence)
            ):
                _soil(state.dirty, state.mark, c, d)
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.gathered[d, c, k] += compute_change(
                        data, machines, far, aside, source, -1, state.change, k
                    )

    @kernel(f"{model.identity} {tabulated}", counts_references=False)
    def place(data, machines, wind, wakes, state, a, neighbours):
        for c in range(state.mark.size):
            state.mark[c] = -1
        for d in range(wind.cosine.size):
            state.dirty[0] = 0
            for b in range(a):
                state.changed[b] = False
            state.changed[a] = True
            mine = _insert(wind.cosine[d], wind.sine[d], state, d, a)
            pull(data, machines, wind, wakes, state, d, a, mine, neighbours)
            for at in range(mine, a + 1):
                b = state.order[d, at]
                if not state.changed[b]:
                    continue
                count, thrust, turbulence = renew(data, machines, wind, wakes, state, d, b, at, b == a)
                if count == 0:
                    continue
                if state.cell[b] >= 0:
                    spread_on_grid(data, machines, wakes, state, d, b, count)
                if neighbours > 0:
                    others = min(neighbours, a + 1) if state.cell[b] >= 0 else a + 1
                    spread_off_grid(data, machines, wind, state, d, b, others, count, thrust, turbulence)
            first = wind.first[d]
            for n in range(1, state.dirty[0] + 1):
                c = state.dirty[n]
                for t in range(machines.diameter.size):
                    energy = 0.0
                    for s in range(first, wind.first[d + 1]):
                        u = wind_speed(wind.speed[s], state.gathered[d, c, s - first])
                        energy += wind.weight[s] * curves_at(machines, t, u)[0]
                    state.energy[c, t, d] = energy

    return place
