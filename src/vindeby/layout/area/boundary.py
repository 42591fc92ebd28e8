"""The allowed area of turbines: boundaries with signed distances, and zones.

An area is what a few rings and circles enclose. Shapely puts overlapping polygons and exclusions together
once; after that the boundary is a list of straight edges and a list of circles, and the compiled loop below
does the rest. Circles stay circles: a turbine may stand exactly on one.

The signed distance is positive inside: that to the nearest point of the edge. With circles it is the least of
the parts' distances, which is exact wherever it is zero and never too large inside.

A farm may consist of several zones with a number of turbines each. Each turbine belongs to one zone and must stay in
it; the spacing holds across all of them. The turbines of a layout stand zone by zone, in the order of the zones, so
the zone of a turbine follows from its place in the list. Compiled loops get the boundaries of all zones in one frame
(``Areas``); a plain boundary is one zone there.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import hypot, inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.text import plural
from vindeby.units import TOLERANCE_M
from vindeby.wake.compiling.compiled import inlined, kernel, scalar

Ring = Sequence[tuple[float, float]]
Circle = tuple[tuple[float, float], float]
BORDER_M = 1e-3
"""The margin inside the border, so that turbines stay inside when positions are rounded to millimetres."""


class Boundary:
    """An area of polygons or one circle, less holes; all in metres, in one frame.

    Args:
        polygons: Rings of vertices (x, y), open or closed, in any sense of rotation; their union counts.
        circle: ((x, y), radius), instead of polygons.
        holes: Rings in which no turbine may stand.
        round_holes: Circles in which no turbine may stand.
    """

    def __init__(
        self,
        polygons: Sequence[Ring] = (),
        *,
        circle: Circle | None = None,
        holes: Sequence[Ring] = (),
        round_holes: Sequence[Circle] = (),
    ) -> None:
        if bool(len(polygons)) == (circle is not None):
            raise ArgumentError("a boundary is made of polygons or of one circle; give one of the two")
        self.circle = circle
        self.round_holes = tuple(round_holes)
        gaps = [_polygon(ring, "holes") for ring in holes]
        if circle is None:
            area = shapely.union_all([_polygon(ring, "polygons") for ring in polygons])
            pieces = _polygons_of(shapely.difference(area, shapely.union_all(gaps)) if gaps else area)
            inverted = False
        else:
            # The polygons are what is missing here, so their distances change sign.
            pieces = _polygons_of(shapely.union_all(gaps))
            inverted = True
        if not pieces and circle is None:
            raise ArgumentError("the holes leave nothing of the polygons")
        self.inverted = inverted
        if circle is None:
            west, south, east, north = shapely.total_bounds(pieces).tolist()
        else:
            (x, y), radius = circle
            west, south, east, north = x - radius, y - radius, x + radius, y + radius
        self.bounds: tuple[float, float, float, float] = (west, south, east, north)
        # Map coordinates are millions of metres; distances are computed near zero.
        self.origin = np.array([west + east, south + north]) / 2
        self.pieces = [shapely.transform(piece, lambda corners: corners - self.origin) for piece in pieces]
        self.edges = _edges_of(self.pieces, inverted)
        discs = ([(circle, 1.0)] if circle else []) + [(hole, -1.0) for hole in self.round_holes]
        self.discs = np.array(
            [[x - self.origin[0], y - self.origin[1], radius, sign] for ((x, y), radius), sign in discs]
        ).reshape(-1, 4)

    def __repr__(self) -> str:
        west, south, east, north = self.bounds
        outer = (
            f"{len(self.edges)} edges" if self.circle is None else f"circle of radius {self.circle[1]:g} m"
        )
        holes = f", {plural(len(self.round_holes), 'round hole')}" if self.round_holes else ""
        return f"<Boundary: {outer}{holes}, {(east - west) / 1000:.3g} km x {(north - south) / 1000:.3g} km>"

    @property
    def area_m2(self) -> float:
        """The area (m2); round holes count as polygons of 256 sides."""
        discs = [shapely.Point(x, y).buffer(radius, quad_segs=64) for x, y, radius, _ in self.discs]
        if self.circle is None:
            holes = shapely.union_all(discs)
            return float(sum(piece.area - piece.intersection(holes).area for piece in self.pieces))
        missing = discs[0].intersection(shapely.union_all([*self.pieces, *discs[1:]]))
        return float(np.pi * self.circle[1] ** 2 - missing.area)

    def inset(self, by_m: float) -> Boundary:
        """Return the area without a margin of ``by_m`` along its edge; its corners stay corners."""
        away = by_m if self.inverted else -by_m
        smaller = copy(self)
        smaller.pieces = _polygons_of(
            shapely.buffer(shapely.union_all(self.pieces), away, join_style="mitre")
        )
        smaller.edges = _edges_of(smaller.pieces, self.inverted)
        smaller.discs = self.discs - np.array([[0.0, 0.0, by_m, 0.0]]) * self.discs[:, 3:]
        return smaller

    def without(self, taken: shapely.Geometry, least_m2: float = 0.0) -> Boundary | None:
        """Return the area less a shape and less small remaining pieces; None if nothing is left."""
        local = shapely.transform(taken, lambda corners: corners - self.origin)
        smaller, missing = copy(self), shapely.union_all(self.pieces)
        if self.circle is not None:
            smaller.pieces = _polygons_of(shapely.union(missing, local))
            disc = shapely.Point(0.0, 0.0).buffer(self.circle[1])  # its middle is the origin
            left = shapely.difference(disc, shapely.union_all(smaller.pieces)).area
        else:
            pieces = _polygons_of(shapely.difference(missing, local))
            smaller.pieces = [piece for piece in pieces if piece.area > least_m2]
            left = sum(piece.area for piece in smaller.pieces)
        if left <= least_m2:
            return None
        smaller.edges = _edges_of(smaller.pieces, self.inverted)
        if self.circle is None:
            west, south, east, north = shapely.total_bounds(smaller.pieces) + np.tile(self.origin, 2)
            smaller.bounds = (float(west), float(south), float(east), float(north))
        return smaller

    def distances(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the signed distance (m) of every point to the boundary, positive inside."""
        px = np.ascontiguousarray(x, np.float64) - self.origin[0]
        py = np.ascontiguousarray(y, np.float64) - self.origin[1]
        out = np.empty(px.shape)
        _signed_distances(self.edges, self.discs, self.inverted, px, py, out)
        return out

    def inside(self, x: npt.ArrayLike, y: npt.ArrayLike) -> BoolArray:
        """Return whether each point is inside, or on the edge except for rounding."""
        return self.distances(x, y) >= -TOLERANCE_M

    def sample(self, rng: np.random.Generator, count: int) -> tuple[FloatArray, FloatArray]:
        """Return ``count`` points drawn uniformly from the area."""
        west, south, east, north = self.bounds
        found_x, found_y = np.empty(0), np.empty(0)
        for _ in range(100_000):
            x, y = rng.uniform(west, east, 4 * count), rng.uniform(south, north, 4 * count)
            inside = self.distances(x, y) >= 0.0
            found_x, found_y = np.append(found_x, x[inside]), np.append(found_y, y[inside])
            if len(found_x) >= count:
                return found_x[:count], found_y[:count]
        raise ArgumentError("the boundary encloses (almost) no area; nothing can be drawn from it")


def _polygon(ring: Ring, name: str) -> shapely.Polygon:
    points = np.asarray(ring, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise ArgumentError(f"{name}: a ring is a list of at least three (x, y) of finite numbers")
    polygon = shapely.Polygon(points)
    if not polygon.is_valid or polygon.area == 0.0:
        reason = shapely.is_valid_reason(polygon)
        raise ArgumentError(
            f"{name}: the ring beginning at {tuple(points[0])} encloses no area or crosses itself ({reason})"
        )
    return polygon


def _polygons_of(area: shapely.Geometry) -> list[shapely.Polygon]:
    return [part for part in shapely.get_parts(area) if isinstance(part, shapely.Polygon) and part.area > 0.0]


def _edges_of(pieces: Sequence[shapely.Polygon], inverted: bool) -> FloatArray:
    """Return the edges of polygons, (edges, 4), each with the area on its left."""
    turned = [shapely.geometry.polygon.orient(piece, -1.0 if inverted else 1.0) for piece in pieces]
    rings = [
        np.asarray(ring.coords, np.float64) for piece in turned for ring in (piece.exterior, *piece.interiors)
    ]
    return np.concatenate([np.empty((0, 4)), *(np.hstack([ring[:-1], ring[1:]]) for ring in rings)])


@inlined
def _crosses(ax, ay, bx, by, px, py):
    """Return whether a ray to the east crosses an edge."""
    return (ay > py) != (by > py) and px < ax + (py - ay) * (bx - ax) / (by - ay)


@scalar
def is_inside(edges, inverted, px, py):
    """Return whether a point, relative to ``origin``, is on the right side of the edges, if there are any."""
    inside = edges.shape[0] == 0 or inverted
    for e in range(edges.shape[0]):
        if _crosses(edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3], px, py):
            inside = not inside
    return inside


@scalar
def _nearest_edge(edges, px, py):
    """Return the nearest edge, its squared distance, the nearest point on it (0 to 1), and the side."""
    nearest, where, edge = inf, 0.0, -1
    inside = False
    for e in range(edges.shape[0]):
        ax, ay = edges[e, 0], edges[e, 1]
        dx, dy = edges[e, 2] - ax, edges[e, 3] - ay
        if _crosses(ax, ay, edges[e, 2], edges[e, 3], px, py):
            inside = not inside
        along = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy)
        along = min(1.0, max(0.0, along))
        qx, qy = px - (ax + along * dx), py - (ay + along * dy)
        square = qx * qx + qy * qy
        if square < nearest:
            nearest, where, edge = square, along, e
    return edge, nearest, where, inside


@scalar
def signed_distance(edges, discs, inverted, px, py):
    """Return the signed distance of a point relative to the ``origin`` of the Boundary with these arrays."""
    edge, nearest, _, inside = _nearest_edge(edges, px, py)
    value = inf
    if edge >= 0:
        value = sqrt(nearest) if inside != inverted else -sqrt(nearest)
    for c in range(discs.shape[0]):
        value = min(value, discs[c, 3] * (discs[c, 2] - hypot(px - discs[c, 0], py - discs[c, 1])))
    return value


@scalar
def nearest_inside(edges, discs, inverted, px, py):
    """Return the point itself if it is inside, else the nearest on the edge; of edges first, then of discs."""
    edge, _, where, inside = _nearest_edge(edges, px, py)
    if edge >= 0 and inside == inverted:
        px = edges[edge, 0] + where * (edges[edge, 2] - edges[edge, 0])
        py = edges[edge, 1] + where * (edges[edge, 3] - edges[edge, 1])
    for c in range(discs.shape[0]):
        dx, dy = px - discs[c, 0], py - discs[c, 1]
        radius = hypot(dx, dy)
        if discs[c, 3] * (discs[c, 2] - radius) < 0.0:
            if radius == 0.0:
                dx = radius = 1.0  # from the very centre, every way out is equally short
            px = discs[c, 0] + dx * discs[c, 2] / radius
            py = discs[c, 1] + dy * discs[c, 2] / radius
    return px, py


@kernel()
def _signed_distances(edges, discs, inverted, x, y, out) -> None:
    for p in range(x.size):
        out[p] = signed_distance(edges, discs, inverted, x[p], y[p])


@dataclass(frozen=True, eq=False)
class Zone:
    boundary: Boundary
    n_turbines: int
    name: str = ""

    def __post_init__(self) -> None:
        if self.n_turbines < 1:
            raise ArgumentError(f"zone {self.name}: n_turbines must be at least 1, not {self.n_turbines!r}")


class Zones:
    """The zones of a farm, each with its turbines; used in place of a ``Boundary``."""

    def __init__(self, zones: Sequence[Zone]) -> None:
        if not zones:
            raise ArgumentError("a farm of zones needs at least one zone")
        self.zones = tuple(zones)
        corners = np.array([zone.boundary.bounds for zone in self.zones])
        west, south = (float(value) for value in corners[:, :2].min(axis=0))
        east, north = (float(value) for value in corners[:, 2:].max(axis=0))
        self.bounds: tuple[float, float, float, float] = (west, south, east, north)
        self.origin = np.array([west + east, south + north]) / 2

    @property
    def n_turbines(self) -> int:
        return sum(zone.n_turbines for zone in self.zones)

    def inside(self, x: npt.ArrayLike, y: npt.ArrayLike) -> BoolArray:
        """Return whether each point is in any of the zones, or on an edge except for rounding."""
        return np.any([zone.boundary.inside(x, y) for zone in self.zones], axis=0)

    def __repr__(self) -> str:
        west, south, east, north = self.bounds
        size = f"{(east - west) / 1000:.3g} km x {(north - south) / 1000:.3g} km"
        return f"<Zones: {plural(len(self.zones), 'zone')}, {plural(self.n_turbines, 'turbine')}, {size}>"


class Areas(NamedTuple):
    """Boundaries for compiled loops, relative to one origin; those of zone z from ``first[z]`` to ``first[z + 1]``.

    An edge is (from x, from y, to x, to y) with the area on its left; a disc (x, y, radius, sign) with the area inside
    (sign 1) or outside (-1). Inverted: what the edges enclose is not the area but missing.
    """

    edges: FloatArray
    first_edge: IntArray
    discs: FloatArray
    first_disc: IntArray
    inverted: BoolArray


def areas_of(boundaries: Sequence[Boundary], origin: FloatArray) -> Areas:
    """Return the boundaries of all zones, in one frame."""
    edges, discs = [], []
    for boundary in boundaries:
        shift = boundary.origin - origin
        edges.append(boundary.edges + np.tile(shift, 2))
        discs.append(boundary.discs + np.append(shift, (0.0, 0.0)))
    return Areas(
        np.concatenate(edges),
        np.cumsum([0, *map(len, edges)]),
        np.concatenate(discs),
        np.cumsum([0, *map(len, discs)]),
        np.array([boundary.inverted for boundary in boundaries]),
    )


ROOM_M = -1.0
"""Pairs with more room to spare than this are not looked for."""


@kernel()
def worst_pair(x: FloatArray, y: FloatArray, need: FloatArray, movable: int) -> float:
    """Return the largest shortfall (m) of a pair's distance below the mean of the spacings of the two.

    Pairs of which neither is among the first ``movable`` do not count. Negative: all pairs have room to
    spare, 1 m at least if it is -1.
    """
    worst, reach = ROOM_M, need.max() - ROOM_M
    for i in range(movable):
        for j in range(i + 1, x.size):
            dx, dy = x[i] - x[j], y[i] - y[j]
            if abs(dx) >= reach or abs(dy) >= reach:
                continue
            least = 0.5 * (need[i] + need[j])
            square = dx * dx + dy * dy
            if square < (least - worst) * (least - worst):
                worst = max(worst, least - sqrt(square))
    return worst
