"""What changes from step to step of a smart start, and the columns of its arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.placing.grid_wakes import GridWakes, zeros_in_one_block
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.local_wind import LocalWind
from vindeby.wake.loops.wind import downwind_of, turn
from vindeby.wake.loops.wind_access import Locality, free_wind_at
from vindeby.wake.turbines.curves import curves_at


class Free(NamedTuple):
    """Free wind by turbine or point and wind state; empty where it is the same everywhere.

    ``speed``, ``turbulence``, ``cosine`` and ``sine`` (of the turning) belong to turbines, ``point_speed`` and
    ``point_weight`` to points.
    """

    speed: FloatArray
    turbulence: FloatArray
    cosine: FloatArray
    sine: FloatArray
    point_speed: FloatArray
    point_weight: FloatArray


def new_free(farm: WindFarm, points: FloatArray, most: int) -> Free:
    """Room for ``most`` turbines, and the wind at the points, at the hub height of type 0.

    ``points`` (x, y) are in the frame of the farm's layouts.
    """
    if not isinstance(farm.wind, LocalWind):
        none = np.empty((0, 0))
        return Free(none, none, none, none, none, none)
    types = np.zeros(len(points), np.int64)
    x, y = (np.ascontiguousarray(column) for column in points.T)
    at = free_wind_at(farm.wind, farm.states.direction, x, y, types)
    shape = (most, len(farm.states.speed))
    return Free(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), at.speed, at.probability)


def stand_in(farm: WindFarm, free: Free, a: int, x: float, y: float, type_index: int) -> None:
    """Work out the free wind of turbine ``a``."""
    if not isinstance(farm.wind, LocalWind):
        return
    directions = farm.states.direction
    at = free_wind_at(farm.wind, directions, np.array([x]), np.array([y]), np.array([type_index], np.int64))
    turned = np.deg2rad(at.direction[0] - np.repeat(directions, np.diff(farm.wind.first)))
    free.speed[a], free.turbulence[a] = at.speed[0], at.turbulence[0]
    free.cosine[a], free.sine[a] = np.cos(turned), np.sin(turned)


class FreeAt(NamedTuple):
    """Compiled functions of (wind, state, turbine or point, state of the wind); the last rotates distances."""

    speed: Callable[..., float]
    turbulence: Callable[..., float]
    point_speed: Callable[..., float]
    point_weight: Callable[..., float]
    rotate_to_local_wind: Callable[..., tuple[float, float]]


@inlined
def _site_speed(wind, state, a, s):  # noqa: ARG001
    return wind.speed[s]


@inlined
def _site_weight(wind, state, a, s):  # noqa: ARG001
    return wind.weight[s]


@inlined
def _site_turbulence(wind, state, a, s):  # noqa: ARG001
    return wind.turbulence[s]


@inlined
def _straight(state, a, s, far, aside):  # noqa: ARG001
    return far, aside


@inlined
def _own_speed(wind, state, a, s):  # noqa: ARG001
    return state.free.speed[a, s]


@inlined
def _own_turbulence(wind, state, a, s):  # noqa: ARG001
    return state.free.turbulence[a, s]


@inlined
def _own_point_speed(wind, state, c, s):  # noqa: ARG001
    return state.free.point_speed[c, s]


@inlined
def _own_point_weight(wind, state, c, s):  # noqa: ARG001
    return state.free.point_weight[c, s]


@inlined
def _rotated(state, a, s, far, aside):
    cosine, sine = state.free.cosine[a, s], state.free.sine[a, s]
    return cosine * far - sine * aside, cosine * aside + sine * far


def free_at(locality: Locality) -> FreeAt:
    """The functions for a kind of wind."""
    if locality == "uniform":
        return FreeAt(_site_speed, _site_turbulence, _site_speed, _site_weight, _straight)
    rotate_to_local_wind = _rotated if locality == "turned" else _straight
    return FreeAt(_own_speed, _own_turbulence, _own_point_speed, _own_point_weight, rotate_to_local_wind)


OFF_GRID = -1

# The numbers of a change in one wind state: before and after; then the powers of the place in the table.
OLD_CT, NEW_CT, OLD_TI, NEW_TI, OLD_SCALE, NEW_SCALE, NEW_POWERS, OLD_POWERS = 0, 1, 2, 3, 4, 5, 6, 12
# Its whole numbers: a wind state that has changed, and the pieces of the table.
WHICH, OLD_PIECE, NEW_PIECE = 0, 1, 2


class State(NamedTuple):
    """Everything that changes during one smart start.

    ``occupant`` says of each cell of the padded grid: 0 nothing, c + 1 free point c, -(a + 1) turbine a.
    ``point`` and ``place`` are positions of points and turbines; ``type_index`` and ``cell`` (or OFF_GRID) belong to
    turbines. ``order``, by direction: the turbines from upwind to downwind, if anybody needs it. ``turbine`` has, by
    direction and turbine, two or four numbers for each wind speed (see ``rows_of``); ``waked`` says there whether any
    wake has reached it. ``gathered`` has the deficits or their squares by direction, point and speed; ``touched`` says
    whether there are any from the grid. ``energy`` is what each type would make, by point, type and direction.
    ``free`` is the free wind where it differs from place to place. The others are room to work in: ``found``,
    ``found_at``, ``reached`` and ``rows`` for what a wake reaches (see ``spreading``), ``speed`` for wind speeds by
    point, ``changed``, ``waiting`` and ``waiting_along`` for turbines (see ``order``).
    """

    occupant: npt.NDArray[np.int32]
    point: FloatArray
    point_cell: IntArray
    place: FloatArray
    type_index: IntArray
    cell: IntArray
    order: npt.NDArray[np.int32]
    turbine: FloatArray
    waked: npt.NDArray[np.bool_]
    gathered: FloatArray
    touched: npt.NDArray[np.bool_]
    energy: FloatArray
    change: FloatArray
    change_at: IntArray
    found: npt.NDArray[np.int32]
    found_at: IntArray
    reached: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.uint64]
    speed: FloatArray
    changed: npt.NDArray[np.bool_]
    waiting: IntArray
    waiting_along: FloatArray
    dirty: IntArray
    mark: IntArray
    free: Free


def new_state(
    farm: WindFarm,
    wakes: GridWakes,
    point: FloatArray,
    cell: IntArray,
    most: int,
    origin: FloatArray | tuple[float, float] = (0.0, 0.0),
) -> State:
    """No turbine yet, all points free. ``most`` turbines can come, neighbours among them.

    Points are relative to ``origin``.
    """
    directions, speeds, types, points = len(farm.wind.cosine), farm.wind.most, len(farm.turbines), len(point)
    occupant = np.zeros(wakes.stride * wakes.stride, np.int32)
    occupant[cell] = np.arange(1, points + 1)
    rows = 4 if keeps_speed(farm.model) or keeps_turbulence(farm.model) else 2
    turbine, gathered, energy = zeros_in_one_block(
        (directions, most, rows * speeds), (directions, points, speeds), (points, types, directions)
    )
    change, change_at = new_change(speeds)
    state = State(
        occupant=occupant,
        point=point,
        point_cell=cell,
        place=np.zeros((most, 2)),
        type_index=np.zeros(most, np.int64),
        cell=np.full(most, OFF_GRID, np.int64),
        order=np.zeros((directions, most), np.int32),
        turbine=turbine,
        waked=np.zeros((directions, most), np.bool_),
        gathered=gathered,
        touched=np.zeros((directions, points), np.bool_),
        energy=energy,
        change=change,
        change_at=change_at,
        found=np.zeros(wakes.most + 1, np.int32),
        found_at=np.zeros(wakes.most + 1, np.int64),
        reached=np.zeros((2, wakes.most + 1), np.uint64),
        rows=np.zeros((2, wakes.most + 1), np.uint64),
        speed=np.zeros((points + 1, speeds)),
        changed=np.zeros(most, np.bool_),
        waiting=np.zeros(most + 1, np.int64),
        waiting_along=np.zeros(most + 1),
        dirty=np.zeros(points + 1, np.int64),
        mark=np.zeros(points, np.int64),
        free=new_free(farm, point + np.asarray(origin), most),
    )
    if farm.locality == "uniform":
        _undisturbed(farm.machines, farm.wind, state.energy)
    else:
        _undisturbed_by_point(farm.machines, farm.wind, state.free, state.energy)
    return state


def new_change(speeds: int) -> tuple[FloatArray, IntArray]:
    """Room for what has changed in so many wind states."""
    return np.zeros((speeds, 18)), np.zeros((speeds, 3), np.int64)


def keeps_speed(model: WakeModel) -> bool:
    """Whether a turbine's wake depends on the wind speed in which it stands other than by its thrust."""
    return model.reference != "free"


def keeps_turbulence(model: WakeModel) -> bool:
    """Whether a turbine's turbulence is not that of the free wind."""
    return model.added_turbulence is not None


@kernel("placing")
def _undisturbed(machines, wind, energy):
    """What each type makes in the free wind, at every point alike."""
    for d in range(wind.cosine.size):
        for t in range(machines.diameter.size):
            total = 0.0
            for s in range(wind.first[d], wind.first[d + 1]):
                total += wind.weight[s] * curves_at(machines, t, wind.speed[s])[0]
            energy[:, t, d] = total


@kernel("placing")
def _undisturbed_by_point(machines, wind, free, energy):
    """What each type makes in the free wind of every point."""
    for c in range(energy.shape[0]):
        for d in range(wind.cosine.size):
            for t in range(machines.diameter.size):
                total = 0.0
                for s in range(wind.first[d], wind.first[d + 1]):
                    total += free.point_weight[c, s] * curves_at(machines, t, free.point_speed[c, s])[0]
                energy[c, t, d] = total


@inlined
def rows_of(state, d, a):
    """A turbine's gathered wakes, thrust coefficient, wind speed and turbulence, each by wind speed.

    They lie together, so that few cache lines are touched; the last two are empty where nobody needs them
    (``keeps_speed``, ``keeps_turbulence``).
    """
    mine, speeds = state.turbine[d, a], state.change.shape[0]
    return mine[:speeds], mine[speeds : 2 * speeds], mine[2 * speeds : 3 * speeds], mine[3 * speeds :]


@inlined
def row_on_grid(wakes, cell):
    """The row of a cell of the padded grid, from the southernmost that has points."""
    return cell // wakes.stride - (wakes.size - 1)


@inlined
def between(cosine, sine, place, a, other, b):
    """How far ``other[b]`` is downwind of ``place[a]``, and how far aside."""
    return turn(cosine, sine, other[b, 0] - place[a, 0], other[b, 1] - place[a, 1])


@inlined
def mark_dirty(dirty, mark, c, d):
    """Put a point on the list (its length comes first) of those whose energy is to be computed anew."""
    if mark[c] != d:
        mark[c] = d
        dirty[0] += 1
        dirty[dirty[0]] = c


@inlined
def insert(cosine, sine, state, d, a):
    """Put a turbine into the order from upwind to downwind; the place it gets."""
    at = a
    along = downwind_of(cosine, sine, state.place[a, 0], state.place[a, 1])
    while at > 0:
        b = state.order[d, at - 1]
        if downwind_of(cosine, sine, state.place[b, 0], state.place[b, 1]) <= along:
            break
        state.order[d, at] = b
        at -= 1
    state.order[d, at] = a
    return at


@inlined
def place_in_order(state, d, a, begin):
    """Where a turbine is in the order from upwind to downwind, looked for from ``begin`` on."""
    at = begin
    while state.order[d, at] != a:
        at += 1
    return at


@inlined
def wait(cosine, sine, state, a):
    """Put a turbine on the list (its length comes first) of those whose wakes have changed.

    The last is the one farthest upwind, and of several the one that came first.
    """
    if state.changed[a]:
        return
    state.changed[a] = True
    waiting, waiting_along = state.waiting, state.waiting_along
    along = downwind_of(cosine, sine, state.place[a, 0], state.place[a, 1])
    at = waiting[0]
    while at > 0 and (waiting_along[at] < along or (waiting_along[at] == along and waiting[at] < a)):
        waiting[at + 1], waiting_along[at + 1] = waiting[at], waiting_along[at]
        at -= 1
    waiting[at + 1], waiting_along[at + 1] = a, along
    waiting[0] += 1


@inlined
def next_waiting(state):
    """Take the turbine farthest upwind from the list; -1 if there is none."""
    count = state.waiting[0]
    if count == 0:
        return -1
    a = state.waiting[count]
    state.waiting[0] = count - 1
    state.changed[a] = False
    return a
