"""Who may be in whose wake: tables of reach, and the directions in which two turbines reach each other.

A wake is narrow, so most pairs of turbines reach each other in few directions. These are looked up by the bearing of
one from the other and the widest angle at which a wake reaches as far.
"""

from collections.abc import Callable
from math import atan2, hypot, pi
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalWindArrays
from vindeby.wake.loops.wind import wind_from
from vindeby.wake.loops.wind_access import Locality, access_of
from vindeby.wake.models.contract import Pair, once_per_model


@inlined
def is_downwind(far: float, i: Any, j: Any) -> bool:
    """Whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return (far > 0.0) | ((far == 0.0) & (i > j))


ROUGH = 1e-4
"""Deficits, and changes of deficits, that are left out of rough trials."""
POINTS = 2048
"""Downwind distances in a table of reach."""
DISTANCES, ANGLES = 512, 256
"""Distances in a table of angles, and the steps in which an angle is sought up to 90 degrees."""
SECTORS = 1024
"""Of the compass, in which directions are looked up."""
HALF = 0.5 * SECTORS - 1.0
"""The widest range of sectors to both sides that holds every direction once."""


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


def reaches_of(farm: WindFarm, x: FloatArray, y: FloatArray, idle: BoolArray) -> Reaches:
    """The tables, up to twice the size of the layout, for the highest turbulence anywhere."""
    wind = farm.wind
    turbulence = float(wind.turbulence.max())
    if isinstance(wind, LocalWindArrays) and wind.grid.turbulence.size:
        turbulence = float(wind.grid.turbulence.max())
    size = 2.0 * float(np.hypot(np.ptp(x), np.ptp(y))) + 1000.0
    thrust = np.array([turbine.thrust_range()[1] for turbine in farm.turbines])
    edge = np.zeros((2 * len(thrust) ** 2, POINTS))
    _edge_kernel(farm.model)(farm.data, farm.turbine_arrays, thrust, turbulence, size / POINTS, edge)
    blown_to = np.arctan2(-wind.sine, -wind.cosine) % (2.0 * pi)
    facing = np.argsort(blown_to, kind="stable")
    facing = facing[~idle[facing]]
    sector = np.minimum((blown_to[facing] * (SECTORS / (2.0 * pi))).astype(int), SECTORS - 1)
    thrice = np.concatenate([sector + turn * SECTORS for turn in range(3)])
    first = np.searchsorted(thrice, np.arange(3 * SECTORS + 1))
    angle = np.stack([_angles(row, size) for row in edge]) + _most_turned(farm)
    return Reaches(
        len(thrust), edge, POINTS / size, np.minimum(angle, HALF), DISTANCES / size,
        np.tile(facing, 3).astype(np.int32), first.astype(np.int32),
    )  # fmt: skip


def _most_turned(farm: WindFarm) -> float:
    """By how many sectors a wake may leave the direction of the wind, where it follows the turned wind."""
    turning = farm.wind.grid.turning if isinstance(farm.wind, LocalWindArrays) else np.empty(0)
    follows = farm.locality == "turned" and turning.size > 0
    return float(np.abs(turning).max()) * SECTORS / 360.0 if follows else 0.0


def _angles(edge: FloatArray, size: float) -> FloatArray:
    """The widest angle by distance, in sectors, from the reach by downwind distance."""
    widest = np.maximum.accumulate(edge)
    r = np.arange(DISTANCES + 1)[:, None] * (size / DISTANCES)
    angle = np.arange(ANGLES + 1) * (0.5 * pi / ANGLES)
    # The nearest crosswind and the farthest downwind that a step of both can have.
    aside, far = r[:-1] * np.sin(angle[:-1]), r[1:] * np.cos(angle[:-1])
    within = aside < widest[np.minimum((far * (POINTS / size)).astype(int), POINTS - 1)]
    last = ANGLES - np.argmax(within[:, ::-1], axis=1)
    # One more for the bearing, which is rounded.
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

    @kernel()
    def fill_edges(data, turbines, thrust, turbulence, step, edge):
        types = thrust.size
        for pair in range(types * types):
            source, target = pair // types, pair % types
            diameter, rotor = turbines.diameter[source], turbines.diameter[target]
            hubs = turbines.hub_height[source] + turbines.hub_height[target]
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
    types = moves.reaches.types
    if types == 1:
        return 1 if rough else 0
    return moves.types[i] * types + moves.types[j] + (types * types if rough else 0)


@inlined
def bearing_and_distance(east, north):
    """The mathematical angle of a target so far away, from 0, in sectors, and its distance (m)."""
    bearing = atan2(north, east) * (SECTORS / (2.0 * pi))
    return bearing if bearing >= 0.0 else bearing + SECTORS, hypot(east, north)


@inlined
def directions_between(reaches, pair, bearing, distance):
    """The first and the end, in ``facing``, of the directions in which a target there may be reached.

    Beyond the table every direction may count.
    """
    point = int(distance * reaches.angle_per_m)
    wide = reaches.angle[pair, point] if point < DISTANCES else HALF
    return reaches.first[int(SECTORS + bearing - wide)], reaches.first[int(SECTORS + bearing + wide) + 1]


def make_reaches(locality: Locality) -> Callable[..., bool]:
    """Make the test whether a turbine may be in the wake of another."""
    rotate, turned = access_of(locality).rotate_to_local_wind, locality == "turned"

    @inlined
    def reaches(moves, own, i, j, far, aside, rough):
        """Whether ``i``, with its ``own`` free wind, may reach ``j``, so ``far`` downwind and ``aside`` of it.

        Beyond the table every turbine may be reached.
        """
        far, aside = rotate(own, far, aside)
        if turned and far <= 0.0:
            return False
        point = int(far * moves.reaches.edge_per_m)
        return point >= POINTS or not abs(aside) >= moves.reaches.edge[_pair_of(moves, i, j, rough), point]

    return reaches


def make_find_pairs(locality: Locality, own_wind: Callable[..., Any]) -> Callable[..., None]:
    """Make the step; ``own_wind`` is that of ``carried_moves.FreeWinds``."""
    reaches = make_reaches(locality)

    @inlined
    def find_pairs(wind, moves, moved, x, y, rough):
        n, facing = moves.x.size, moves.reaches.facing
        for d in range(moves.idle.size):
            moves.new_target_count[d] = moves.new_source_count[d] = 0
        for j in range(n):
            if j == moved:
                continue
            east, north = moves.x[j] - x, moves.y[j] - y
            bearing, distance = bearing_and_distance(east, north)
            pair = _pair_of(moves, moved, j, rough)
            first, last = directions_between(moves.reaches, pair, bearing, distance)
            for s in range(first, last):
                d = facing[s]
                far, aside = moves.along[d, j] - moves.new_along[d], moves.across[d, j] - moves.new_across[d]
                own = own_wind(moves, d, wind_from(wind, d), n)
                if is_downwind(far, j, moved) and reaches(moves, own, moved, j, far, aside, rough):
                    moves.new_targets[d, moves.new_target_count[d]] = j
                    moves.new_target_count[d] += 1
            pair, back = _pair_of(moves, j, moved, rough), (bearing + 0.5 * SECTORS) % SECTORS
            first, last = directions_between(moves.reaches, pair, back, distance)
            for s in range(first, last):
                d = facing[s]
                far, aside = moves.new_along[d] - moves.along[d, j], moves.new_across[d] - moves.across[d, j]
                own = own_wind(moves, d, wind_from(wind, d), j)
                if is_downwind(far, moved, j) and reaches(moves, own, j, moved, far, aside, rough):
                    moves.new_sources[d, moves.new_source_count[d]] = j
                    moves.new_source_count[d] += 1

    return find_pairs
