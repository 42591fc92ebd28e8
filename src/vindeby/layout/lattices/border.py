"""Turbines along the border of an area in rings, and what is left of an area for a lattice inside.

The best layouts of dense farms have many turbines on the border, evenly spaced, and rows inside (the boundary-grid of
A. P. J. Stanley and A. Ning, "Massive simplification of the wind farm layout optimization problem", Wind Energ. Sci. 4
(2019) 663). A ring follows the border at some depth: the first stands on it, just inside, the next deeper. It goes
along every edge that the area has: outer ones, exclusions, circles. Turbines of a ring are evenly spaced, either from
any point on or from corner to corner. Those that would be too near to turbines that stand already, at a corner or
across a narrow part, are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from math import floor, pi
from typing import NamedTuple

import numpy as np
import shapely

from vindeby.arrays import FloatArray
from vindeby.layout.area.boundary import BORDER_M, Boundary
from vindeby.layout.lattices.points import Ground, LatticePoints, Vectors
from vindeby.layout.problem import LayoutProblem

SHARP = 0.2
"""A corner is one that turns by an angle with a larger sine than this; an edge of many short pieces has none."""
DEPTH = 0.9
"""From one ring to the next, in spacings."""


class BorderCurve(NamedTuple):
    """A closed curve: its length (m), where along it corners are, and the places (2, n) at some lengths along it."""

    length: float
    corners: FloatArray
    at: Callable[[FloatArray], FloatArray]


def curves_of(boundary: Boundary) -> list[BorderCurve]:
    """All edges of an area; relative to its origin."""
    rings = [ring for piece in boundary.pieces for ring in (piece.exterior, *piece.interiors)]
    return [_polyline(shapely.get_coordinates(ring)) for ring in rings] + [
        _circle(*disc) for disc in boundary.discs[:, :3].tolist() if disc[2] > 0.0
    ]


def _polyline(ring: FloatArray) -> BorderCurve:
    step = np.diff(ring, axis=0)
    along = np.append(0.0, np.cumsum(np.hypot(*step.T)))
    unit = step / np.hypot(*step.T)[:, None]
    before = np.roll(unit, 1, axis=0)
    turning = before[:, 0] * unit[:, 1] - before[:, 1] * unit[:, 0]
    corners = along[:-1][(abs(turning) > SHARP) | ((before * unit).sum(axis=1) < 0.0)]

    def at(lengths: FloatArray) -> FloatArray:
        places = lengths % along[-1]
        return np.stack([np.interp(places, along, ring[:, 0]), np.interp(places, along, ring[:, 1])])

    return BorderCurve(float(along[-1]), corners, at)


def _circle(x: float, y: float, radius: float) -> BorderCurve:
    def at(lengths: FloatArray) -> FloatArray:
        return np.stack([x + radius * np.cos(lengths / radius), y + radius * np.sin(lengths / radius)])

    return BorderCurve(2.0 * pi * radius, np.empty(0), at)


def spaced(curve: BorderCurve, along_m: float, offset: float, corners: bool) -> FloatArray:
    """Places (2, n) on a curve, at least so far apart along it: evenly from an offset (0 to 1), or between corners."""
    if not corners or not len(curve.corners):
        many = max(1, floor(curve.length / along_m))
        return curve.at((np.arange(many) + offset) * curve.length / many)
    ends = np.append(curve.corners, curve.corners[0] + curve.length)
    parts = [
        begin + np.arange(many) * (end - begin) / many
        for begin, end in pairwise(ends)
        for many in (max(1, floor((end - begin) / along_m + 1e-6)),)
    ]
    return curve.at(np.concatenate(parts))


class BorderRings:
    """The rings of a problem: ``place`` puts turbines on them. Positions are relative to the ground's origin."""

    def __init__(self, problem: LayoutProblem, ground: Ground, rings: int) -> None:
        self.problem, self.ground = problem, ground
        depths = BORDER_M + DEPTH * ground.spacing * np.arange(rings)
        self.curves = [
            [curve for depth in depths for curve in curves_of(zone.boundary.inset(depth))]
            for zone in problem.zones
        ]

    def place(
        self, rng: np.random.Generator, share: float, along_m: float | None, corners: bool
    ) -> LatticePoints:
        """Turbines on all rings, a share of each zone's if there is room, or so far apart; offsets are drawn."""
        beside, clear, spacing = self.ground.room.beside, self.ground.room.clear, self.ground.spacing
        x: list[float] = []
        y: list[float] = []
        zones: list[int] = []
        for z, zone in enumerate(self.problem.zones):
            shift = zone.boundary.origin - self.ground.origin
            length = sum(curve.length for curve in self.curves[z])
            apart = max(spacing, along_m or length / (share * zone.n_turbines))
            drawn = [spaced(curve, apart, rng.random(), corners) for curve in self.curves[z]]
            places = np.hstack([np.empty((2, 0)), *drawn])
            inside = zone.boundary.distances(*(places + zone.boundary.origin[:, None])) >= 0.5 * BORDER_M
            stood = len(x)
            for px, py in (places[:, inside] + shift[:, None]).T.tolist():
                if len(x) - stood == zone.n_turbines:
                    break
                if (np.hypot(beside[0] - px, beside[1] - py) >= clear).all() and (
                    np.hypot(np.array(x) - px, np.array(y) - py) >= max(spacing, BORDER_M)
                ).all():
                    x.append(px)
                    y.append(py)
                    zones.append(z)
        many = np.arange(len(x))
        # Far from each other in rows, so that none counts as the next one of another.
        return LatticePoints(
            np.array(x), np.array(y), np.array(zones, np.int64), -9 * many - 9, many, Vectors(0, 0, 0, 0)
        )

    def left(self, border: LatticePoints) -> Ground:
        """The ground for the turbines that are not on the border, which keep clear of those that are."""
        inner, room = copy(self.ground), self.ground.room
        inner.needed = room.needed - np.bincount(border.zone, minlength=len(room.needed))
        inner.side *= (room.needed.sum() / max(1, inner.needed.sum())) ** 0.5
        inner.room = room._replace(
            needed=inner.needed,
            beside=np.hstack([room.beside, [border.x, border.y]]),
            clear=np.append(room.clear, np.full(len(border.x), self.ground.spacing)),
        )
        return inner


def together(border: LatticePoints, lattice: LatticePoints) -> LatticePoints:
    """The points of both, by zone."""
    both = [np.append(first, second) for first, second in zip(border[:-1], lattice[:-1], strict=True)]
    joined = LatticePoints._make([*both, lattice.vectors])
    return joined.at(np.argsort(joined.zone, kind="stable"))
