"""Where turbines stand: how far outside their boundary, and how close together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign import Boundary

FloatArray = npt.NDArray[np.float64]
_MOST_DISTANCES = 4_000_000
"""At a time: a foreign file may hold a layout of any size."""


class Area:
    """How far outside a boundary points are."""

    def __init__(self, boundary: Boundary) -> None:
        self._circles_out = [hole.circle for hole in boundary.exclusions if hole.circle is not None]
        self._circle = boundary.circle
        polygons = [hole.shape() for hole in boundary.exclusions if hole.circle is None]
        outer = shapely.union_all([shapely.Polygon(ring) for ring in boundary.rings])
        self._polygons: BaseGeometry = outer
        self._holes: BaseGeometry = shapely.union_all(polygons)

    def distance_outside(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """The distance of each point from where it would be allowed; circles are taken as circles."""
        points = shapely.points(x, y)
        if self._circle is None:
            outside = shapely.distance(self._polygons, points)
        else:
            outside = np.hypot(x - self._circle.center[0], y - self._circle.center[1]) - self._circle.radius_m
        outside = np.maximum(np.asarray(outside, np.float64), 0.0)
        if not self._holes.is_empty:
            edge = shapely.distance(shapely.boundary(self._holes), points)
            outside = np.maximum(outside, np.where(shapely.contains_xy(self._holes, x, y), edge, 0.0))
        for hole in self._circles_out:
            depth = hole.radius_m - np.hypot(x - hole.center[0], y - hole.center[1])
            outside = np.maximum(outside, depth)
        return np.asarray(outside, np.float64)


def closest_pair(x: FloatArray, y: FloatArray) -> tuple[float, int, int]:
    """The least distance between two points and which they are; infinity for fewer than two."""
    short, one, other = worst_pair(x, y, np.zeros(len(x)))
    return 0.0 - short, one, other  # -short of coincident points would be -0.0, and read "-0 m"


def worst_pair(x: FloatArray, y: FloatArray, need: FloatArray) -> tuple[float, int, int]:
    """By how much (m) a pair is nearer than the mean of what its two need, and which; for the worst pair."""
    found = (-np.inf, 0, 0)
    count = len(x)
    step = max(1, _MOST_DISTANCES // max(1, count))
    for start in range(0, count if count > 1 else 0, step):
        rows = slice(start, min(start + step, count))
        short = 0.5 * (need[rows, None] + need[None, :])
        short -= np.hypot(x[rows, None] - x[None, :], y[rows, None] - y[None, :])
        short[np.arange(len(short)), np.arange(rows.start, rows.stop)] = -np.inf
        one, other = np.unravel_index(int(np.argmax(short)), short.shape)
        if short[one, other] > found[0]:
            found = (float(short[one, other]), start + int(one), int(other))
    return found
