"""What ``carried_moves`` keeps of a layout in every direction, and what a trial would change in it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.one_move import free_winds, row_of
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalWind
from vindeby.wake.loops.wind import Wind
from vindeby.wake.loops.wind_access import Locality, superposition_for
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

ALONG, ACROSS, WATTS, NEW_WATTS, STRONGEST, SPOT = 0, 1, 2, 3, 4, 5
"""Of ``spot``: place downwind and crosswind (m), mean power (W), and that in a trial; a deficit that none of the
turbine's wakes is above. How many these are."""
SUMMED, HIGHEST, SPEED, THRUST, NEW = 0, 1, 2, 3, 4
"""Of ``wind``: the sum of wakes; the highest that it was since it was summed up; with which wind speed and thrust the
turbine's wakes were made. From ``NEW`` on the same four in a trial."""


@inlined
def is_downwind(far: float, i: int, j: int) -> bool:
    """Whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return far > 0.0 or (far == 0.0 and i > j)


@inlined
def forget_trial(moves, d):
    """All turbines are as before."""
    trial = moves.trial
    for q in range(trial.touched_count[d]):
        trial.state[d, trial.touched[d, q]] = 0
    trial.touched_count[d] = 0


def make_settle_one(model: WakeModel, locality: Locality) -> Callable[..., float]:
    """Make the step for a turbine whose wakes are summed."""
    wind_speed = superposition_for(model, locality).wind_speed

    @inlined
    def settle_one(machines, type_index, states, row, new):
        """Wind speeds and thrusts of a turbine, in its ``row`` from ``new`` on; returns its mean power.

        ``states`` are its own free wind.
        """
        power = 0.0
        for k in range(states.speed.size):
            speed = wind_speed(states.speed[k], max(row[new + SUMMED, k], 0.0))
            watts, thrust = curves_at(machines, type_index, speed)
            row[new + SPEED, k], row[new + THRUST, k] = speed, thrust
            power += states.weight[k] * watts
        return power

    return settle_one


def make_fill_deficits(model: WakeModel) -> Callable[..., None]:
    """Make the step that computes the deficits of one turbine on others."""
    deficit = model.deficit

    @inlined
    def fill_deficits(data, machines, moves, source, listed, count, turbulence, thrust, out, first):
        """Those of type ``source`` on ``count`` turbines ``listed``, so ``far`` and ``aside``, at all wind speeds.

        They go into ``out`` from ``first`` on, wind speed by wind speed: with one thrust after the other, what depends
        on it alone is computed once.
        """
        height, diameter = machines.hub_height[source], machines.diameter[source]
        for k in range(turbulence.size):
            at = first + k * count
            if k > 0 and thrust[k] == thrust[k - 1] and turbulence[k] == turbulence[k - 1]:
                for q in range(count):
                    out[at + q] = out[at + q - count]
                continue
            ct, ti = thrust[k], turbulence[k]
            for q in range(count):
                target = moves.type_index[listed[q]]
                hub = machines.hub_height[target]
                out[at + q] = deficit(
                    data, Pair(moves.room.far[q], moves.room.aside[q], hub - height, hub + height, diameter,
                    machines.diameter[target], ct, ti),
                )  # fmt: skip

    return fill_deficits


ShortIntArray = npt.NDArray[np.int16]
"""Numbers of turbines: ``MOST_BYTES`` allows for fewer than 6000."""

NOTES_PER_TURBINE = 16
"""Room for so many changed pairs for each turbine and direction; a kept move that changed more is settled anew."""


class SettledLayout(NamedTuple):
    """The layout as it stands, in every direction.

    ``idle`` tells directions that never blow. ``spot`` (directions, turbines, ``SPOT``) holds numbers of a turbine in a
    direction, ``wind`` (directions, turbines, 8, wind speeds) those for every wind speed; ``carried_steps`` names
    them. ``targets`` and ``sources`` (directions, turbines, turbines) list those that a turbine reaches and those that
    reach it, as many as ``target_count`` and ``source_count`` say; ``deficit`` (directions, source, wind speeds,
    position in the source's ``targets``). ``order``: the turbines from upwind to downwind, and ``total`` the power (W),
    both when last settled.
    """

    idle: npt.NDArray[np.bool_]
    spot: FloatArray
    wind: FloatArray
    targets: ShortIntArray
    target_count: IntArray
    sources: ShortIntArray
    source_count: IntArray
    deficit: FloatArray
    order: IntArray
    total: FloatArray

    @classmethod
    def empty(cls, wind: Wind | LocalWind, n: int) -> SettledLayout:
        """Room for ``n`` turbines."""
        directions, most = len(wind.cosine), wind.most
        each, pairs = (directions, n), (directions, n, n)
        # Probabilities that differ from place to place are worked out later: all directions count.
        local = isinstance(wind, LocalWind) and wind.grid.frequency.size > 0
        idle = np.array([not local and not wind.weight[a:b].any() for a, b in pairwise(wind.first)])
        return cls(
            idle, np.zeros((*each, SPOT)), np.zeros((*each, 8, most)),
            np.zeros(pairs, np.int16), np.zeros(each, np.int64), np.zeros(pairs, np.int16), np.zeros(each, np.int64),
            np.zeros((*each, most, n)), np.tile(np.arange(n), (directions, 1)), np.zeros(1),
        )  # fmt: skip


class TrialChanges(NamedTuple):
    """Who would be changed by a trial, in every direction.

    ``state`` of a turbine: 0 as before, 1 in other wakes, 2 with other wakes; ``touched`` lists those that are not as
    before, ``touched_count`` of them, from upwind to downwind. Of the moved turbine, where it would stand (``along``
    and ``across``, in m), and those that it would reach (``targets``) and that would reach it (``sources``).
    """

    state: npt.NDArray[np.int8]
    touched: ShortIntArray
    touched_count: IntArray
    along: FloatArray
    across: FloatArray
    targets: ShortIntArray
    target_count: IntArray
    sources: ShortIntArray
    source_count: IntArray

    @classmethod
    def empty(cls, directions: int, n: int) -> TrialChanges:
        """Room for ``n`` turbines."""
        each = (directions, n)
        return cls(
            np.zeros(each, np.int8), np.zeros(each, np.int16), np.zeros(directions, np.int64),
            np.zeros(directions), np.zeros(directions),
            np.zeros(each, np.int16), np.zeros(directions, np.int64),
            np.zeros(each, np.int16), np.zeros(directions, np.int64),
        )  # fmt: skip


class Notes(NamedTuple):
    """The new deficits of a trial, for a kept move to take over.

    Those of a turbine on its targets begin in ``deficit`` at ``first`` (directions, turbines; -1: none), those on the
    moved turbine at ``first_on_moved`` (directions). ``used`` is how many there are in all, -1 if there was no room.
    """

    first: IntArray
    first_on_moved: IntArray
    used: IntArray
    deficit: FloatArray

    @classmethod
    def empty(cls, directions: int, n: int, most: int) -> Notes:
        """Room for ``n`` turbines and up to ``most`` wind speeds."""
        # The last n pairs are room for those that are not noted.
        size = (NOTES_PER_TURBINE * directions * n + n) * most
        return cls(
            np.zeros((directions, n), np.int64), np.zeros(directions, np.int64), np.zeros(1, np.int64),
            np.zeros(size),
        )  # fmt: skip


class Room(NamedTuple):
    """Room for one step: turbines ``listed``, with their ``positions`` in a list, how ``far`` and how far ``aside``.

    ``keys``: how far downwind those stand that a trial has touched.
    """

    listed: ShortIntArray
    positions: ShortIntArray
    keys: FloatArray
    far: FloatArray
    aside: FloatArray

    @classmethod
    def empty(cls, n: int) -> Room:
        """Room for ``n`` turbines."""
        return cls(np.zeros(n, np.int16), np.zeros(n, np.int16), np.zeros(n), np.zeros(n), np.zeros(n))


ROUGH = 1e-4
"""Deficits, and changes of deficits, that are left out of rough trials."""
POINTS = 2048
"""Downwind distances in a table of reach."""
DISTANCES, ANGLES = 512, 256
"""Distances in a table of angles, and the steps in which an angle is sought up to 90 degrees."""
SECTORS = 1024
"""Of the compass, in which directions are looked up."""


class Reaches(NamedTuple):
    """Tables of reach, one row per pair of types (source x ``types`` + target); then as many for rough trials.

    ``edge``: the widest reach by downwind distance (``edge_per_m`` points per metre); ``angle``: the widest angle
    between the wind and the line from source to target by distance (``angle_per_m``), in sectors. ``facing`` lists the
    directions that blow by the bearing they blow to, three times round; those of a sector begin at its ``first``.
    """

    types: int
    edge: FloatArray
    edge_per_m: float
    angle: FloatArray
    angle_per_m: float
    facing: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]


def reaches_of(farm: WindFarm, x: FloatArray, y: FloatArray, idle: npt.NDArray[np.bool_]) -> Reaches:
    """The tables, up to twice the size of the layout, for the highest turbulence anywhere."""
    wind = farm.wind
    turbulence = float(wind.turbulence.max())
    if isinstance(wind, LocalWind) and wind.grid.turbulence.size:
        turbulence = float(wind.grid.turbulence.max())
    size = 2.0 * float(np.hypot(np.ptp(x), np.ptp(y))) + 1000.0
    thrust = np.array([turbine.thrust_range()[1] for turbine in farm.turbines])
    edge = np.zeros((2 * len(thrust) ** 2, POINTS))
    _edge_kernel(farm.model)(farm.data, farm.machines, thrust, turbulence, size / POINTS, edge)
    blown_to = np.arctan2(-wind.sine, -wind.cosine) % (2.0 * pi)
    facing = np.argsort(blown_to, kind="stable")
    facing = facing[~idle[facing]]
    sector = np.minimum((blown_to[facing] * (SECTORS / (2.0 * pi))).astype(int), SECTORS - 1)
    thrice = np.concatenate([sector + turn * SECTORS for turn in range(3)])
    first = np.searchsorted(thrice, np.arange(3 * SECTORS + 1))
    return Reaches(
        len(thrust), edge, POINTS / size, np.stack([_angles(row, size) for row in edge]), DISTANCES / size,
        np.tile(facing, 3).astype(np.int32), first.astype(np.int32),
    )  # fmt: skip


def _angles(edge: FloatArray, size: float) -> FloatArray:
    """The widest angle by distance, in sectors, from the reach by downwind distance."""
    widest = np.maximum.accumulate(edge)
    r = np.arange(DISTANCES + 1)[:, None] * (size / DISTANCES)
    angle = np.arange(ANGLES + 1) * (0.5 * pi / ANGLES)
    # The nearest crosswind and the farthest downwind that a step of both can have.
    aside, far = r[:-1] * np.sin(angle[:-1]), r[1:] * np.cos(angle[:-1])
    within = aside < widest[np.minimum((far * (POINTS / size)).astype(int), POINTS - 1)]
    last = ANGLES - np.argmax(within[:, ::-1], axis=1)
    # One more for the bearing, which is off by up to 0.0038 (0.62 sectors).
    return np.where(within.any(axis=1), angle[last], 0.0) * (SECTORS / (2.0 * pi)) + 1.0


@once_per_model
def _edge_kernel(model: WakeModel) -> Callable[..., None]:
    deficit, reach = model.deficit, model.reach

    @scalar
    def rough_reach(data, far, diameter, rotor, hubs, thrust, turbulence, most):
        """Up to ``most``, where the deficit falls below ``ROUGH``."""
        inside, outside = 0.0, most
        while outside - inside > 1e-3 * most:
            middle = 0.5 * (inside + outside)
            if deficit(data, Pair(far, middle, 0.0, hubs, diameter, rotor, thrust, turbulence)) < ROUGH:
                outside = middle
            else:
                inside = middle
        return outside

    @kernel(f"{model.identity} carried")
    def fill_edges(data, machines, thrust, turbulence, step, edge):
        types = thrust.size
        for pair in range(types * types):
            source, target = pair // types, pair % types
            diameter, rotor = machines.diameter[source], machines.diameter[target]
            hubs = machines.hub_height[source] + machines.hub_height[target]
            row, rough_row, last, rough_last = edge[pair], edge[types * types + pair], 0.0, 0.0
            for q in range(row.size + 1):
                here = reach(data, q * step, diameter, rotor, thrust[source], turbulence)
                rough = rough_reach(data, q * step, diameter, rotor, hubs, thrust[source], turbulence, here)
                if q:
                    row[q - 1], rough_row[q - 1] = max(last, here), max(rough_last, rough)
                last, rough_last = here, rough

    return fill_edges


@inlined
def _pair_of(moves, i, j, rough):
    """The row of a source and a target in tables."""
    types = moves.reaches.types
    if types == 1:
        return 1 if rough else 0
    return moves.type_index[i] * types + moves.type_index[j] + (types * types if rough else 0)


@inlined
def is_in_reach(moves, i, j, far, aside, rough):
    """Whether ``j``, so ``far`` downwind of ``i``, may be in its wake; beyond the table every turbine may be."""
    point = int(far * moves.reaches.edge_per_m)
    if point >= POINTS:
        return True
    return not abs(aside) >= moves.reaches.edge[_pair_of(moves, i, j, rough), point]


@inlined
def bearing_of(east, north):
    """The mathematical angle, from 0, in sectors, to 0.0038 radians.

    S. Rajan et al., "Efficient approximations for the arctangent function", IEEE Signal Processing Magazine 23 (2006)
    108-111, eq. 7.
    """
    wide, high = abs(east), abs(north)
    slope = min(wide, high) / max(max(wide, high), 1e-300)
    angle = slope * (0.25 * pi + 0.273 * (1.0 - slope))
    if high > wide:
        angle = 0.5 * pi - angle
    if east < 0.0:
        angle = pi - angle
    if north < 0.0:
        angle = 2.0 * pi - angle
    return angle * (SECTORS / (2.0 * pi))


@inlined
def widest_angle(reaches, pair, distance):
    """The widest angle, in sectors; beyond the table a quarter of the compass."""
    point = int(distance * reaches.angle_per_m)
    return reaches.angle[pair, point] if point < DISTANCES else 0.25 * SECTORS + 1.0


@inlined
def find_pairs(moves, moved, x, y, rough):
    """List by direction whom the moved turbine would reach at a place, and who would reach it."""
    settled, trial, reaches = moves.settled, moves.trial, moves.reaches
    first, facing = reaches.first, reaches.facing
    for d in range(settled.idle.size):
        trial.target_count[d] = trial.source_count[d] = 0
    for j in range(moves.x.size):
        if j == moved:
            continue
        east, north = moves.x[j] - x, moves.y[j] - y
        bearing, distance = bearing_of(east, north), sqrt(east * east + north * north)
        to = SECTORS + bearing
        wide = widest_angle(reaches, _pair_of(moves, moved, j, rough), distance)
        for s in range(first[int(to - wide)], first[int(to + wide) + 1]):
            d = facing[s]
            far = settled.spot[d, j, 0] - trial.along[d]
            if is_downwind(far, j, moved) and is_in_reach(
                moves, moved, j, far, settled.spot[d, j, 1] - trial.across[d], rough
            ):
                trial.targets[d, trial.target_count[d]] = j
                trial.target_count[d] += 1
        to += 0.5 * SECTORS
        wide = widest_angle(reaches, _pair_of(moves, j, moved, rough), distance)
        for s in range(first[int(to - wide)], first[int(to + wide) + 1]):
            d = facing[s]
            far = trial.along[d] - settled.spot[d, j, 0]
            if is_downwind(far, moved, j) and is_in_reach(
                moves, j, moved, far, trial.across[d] - settled.spot[d, j, 1], rough
            ):
                trial.sources[d, trial.source_count[d]] = j
                trial.source_count[d] += 1


class OwnWinds(NamedTuple):
    """Compiled functions.

    ``settled(moves, d, states, i)``: the free wind of turbine ``i`` where it stands; ``tried(moves, d, states, i,
    moved)``: with the move. ``fill(wind, d, moves, t, x, y, row)`` works out that of type ``t`` at a place,
    ``fill_tried(wind, moves, moved, x, y)`` that of the moved turbine in all directions; ``take_over(moves, d, moved)``
    makes it the one where it stands.
    """

    settled: Callable[..., Any]
    tried: Callable[..., Any]
    fill: Callable[..., None]
    fill_tried: Callable[..., None]
    take_over: Callable[..., None]


@inlined
def _same_tried(moves, d, states, i, moved):
    return states


@inlined
def _fill_none(wind, moves, moved, x, y):
    return None


@inlined
def _take_over_none(moves, d, moved):
    return None


@inlined
def _own_tried(moves, d, states, i, moved):
    n, directions = moves.x.size, moves.settled.idle.size
    row = directions * n + d if i == moved else d * n + i
    return row_of(moves.free, states.speed.size, row)


_SAME, _OWN = free_winds("uniform"), free_winds("local")
_FILL_OWN = _OWN.fill


@inlined
def _fill_tried(wind, moves, moved, x, y):
    directions = moves.settled.idle.size
    for d in range(directions):
        if not moves.settled.idle[d]:
            _FILL_OWN(wind, d, moves, moves.type_index[moved], x, y, directions * moves.x.size + d)


@inlined
def _take_over(moves, d, moved):
    free, n = moves.free, moves.x.size
    old, new = d * n + moved, moves.settled.idle.size * n + d
    for k in range(free.speed.shape[1]):
        free.speed[old, k], free.weight[old, k] = free.speed[new, k], free.weight[new, k]
        free.turbulence[old, k] = free.turbulence[new, k]


def own_winds(locality: Locality) -> OwnWinds:
    """The functions for a kind of wind: the same everywhere, or local with wakes that go straight."""
    if locality == "uniform":
        return OwnWinds(_SAME.settled, _same_tried, _SAME.fill, _fill_none, _take_over_none)
    return OwnWinds(_OWN.settled, _own_tried, _OWN.fill, _fill_tried, _take_over)
