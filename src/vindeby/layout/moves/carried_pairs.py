"""Which turbines reach which, for ``carried_moves``: by direction, found from the bearing of one from the other.

A turbine is in another's wake only where the wind blows from the one to the other, within an angle that shrinks with
the distance between them. The directions within that angle are looked up; all others cost nothing. What is looked up
may be a little too much, never too little: the reach itself decides.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.moves.carried_steps import is_downwind
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.wind import Wind
from vindeby.wake.models.contract import Pair, once_per_model

__all__ = [
    "ROUGH",
    "SECTORS",
    "Reaches",
    "bearing_of",
    "find_pairs",
    "is_in_reach",
    "reaches_of",
    "widest_angle",
]

FloatArray = npt.NDArray[np.float64]

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


def reaches_of(
    farm: WindFarm, wind: Wind, x: FloatArray, y: FloatArray, idle: npt.NDArray[np.bool_]
) -> Reaches:
    """The tables, up to twice the size of the layout; ``wind`` is the strongest that blows anywhere."""
    size = 2.0 * float(np.hypot(np.ptp(x), np.ptp(y))) + 1000.0
    thrust = np.array([turbine.thrust_range()[1] for turbine in farm.turbines])
    edge = np.zeros((2 * len(thrust) ** 2, POINTS))
    _edge_kernel(farm.model)(
        farm.data, farm.machines, thrust, float(wind.turbulence.max()), size / POINTS, edge
    )
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
