"""Where turbines may stand: polygons, holes in them, or a circle, in metres; and how many have room there.

Set-up work on a few hundred vertices, with shapely. The kernels that ask a million times whether a turbine is
inside belong to ``layout``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
import shapely
from pydantic import AfterValidator, model_validator
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.sections.values import Number, OneOf, Positive, Section, refusal
from vindeby.text import plural

_FARTHEST_M = 1e8
_NEARLY_CLOSED_M = 1.0
_ARCS_ARE_CHORDS = 1.001
"""Circles are drawn as polygons inside them; more than makes up for the area that they lack."""


def clean_ring(vertices: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """The vertices without a repeated last one; refuses what does not enclose an area."""
    refuse_far_away(vertices, "vertex")
    kept = [vertex for index, vertex in enumerate(vertices) if index == 0 or vertex != vertices[index - 1]]
    if len(kept) > 1 and kept[0] == kept[-1]:
        kept.pop()
    if len(set(kept)) < 3:
        last = len(vertices) - 1
        raise refusal(
            f"the polygon is open: {len(set(kept))} different vertices (the last is vertex {last}) enclose nothing",
            remedy="give at least three; the last is joined to the first by itself",
            at=(last,) if vertices else (),
        )
    _refuse_nearly_closed(kept, len(vertices) - 1)
    _refuse_flat(kept)
    _refuse_crossing(kept)
    return tuple(kept)


def refuse_far_away(points: Sequence[Vertex], what: str) -> None:
    """Refuse coordinates that cannot be metres on a map."""
    for index, point in enumerate(points):
        if max(map(abs, point)) > _FARTHEST_M:
            raise refusal(
                f"{what} {index} is farther than {_FARTHEST_M:g} m from the origin",
                remedy="give coordinates in metres, UTM for example",
                at=(index,),
                value=list(point),
            )


def closing_gap_m(ring: Sequence[Vertex]) -> float | None:
    """How far the last vertex is from the first, where they can only mean the same one; else None."""
    gap = math.dist(ring[0], ring[-1])
    if gap >= _NEARLY_CLOSED_M:
        return None
    return gap if gap < 1e-3 * sum(math.dist(a, b) for a, b in itertools.pairwise(ring)) else None


def _refuse_nearly_closed(ring: Sequence[Vertex], last: int) -> None:
    if (gap := closing_gap_m(ring)) is not None:
        raise refusal(
            f"the polygon is open by {gap:.3g} m: vertex {last} almost meets vertex 0",
            remedy="make the two equal, or leave the last one out",
            at=(last,),
            value=list(ring[-1]),
        )


def _refuse_flat(ring: Sequence[Vertex]) -> None:
    hull = shapely.MultiPoint(ring).convex_hull  # the ring itself may cross, and then its area says nothing
    if hull.area > 1e-9 * hull.length**2:
        return
    middle = max(range(1, len(ring)), key=lambda index: math.dist(ring[0], ring[index]))
    raise refusal(
        f"the polygon has no area: all its vertices lie on the line from vertex 0 to vertex {middle}",
        remedy="correct the vertices",
        at=(middle,),
        value=list(ring[middle]),
    )


def _refuse_crossing(ring: Sequence[Vertex]) -> None:
    if shapely.Polygon(ring).is_valid:
        return
    count = len(ring)
    edges = [shapely.LineString([ring[index], ring[(index + 1) % count]]) for index in range(count)]
    first, second = shapely.STRtree(edges).query(edges, predicate="intersects")
    for one, other in sorted(zip(first.tolist(), second.tolist(), strict=True)):
        if one >= other:
            continue
        meeting = shapely.intersection(edges[one], edges[other])
        neighbours = other - one in (1, count - 1)
        if neighbours and meeting.length == 0.0:
            continue
        where = shapely.get_coordinates(meeting)[0]
        raise refusal(
            f"the polygon crosses or touches itself: the edge from vertex {one} to {(one + 1) % count} meets the "
            f"edge from vertex {other} to {(other + 1) % count} at ({where[0]:.6g}, {where[1]:.6g})",
            remedy="put the vertices in order around the area",
            at=(other,),
            value=list(ring[other]),
        )
    raise refusal(  # pragma: no cover  (shapely found something the edges do not show)
        f"the polygon is not simple: {shapely.is_valid_reason(shapely.Polygon(ring))}", remedy="redraw it"
    )


def most_points(area: BaseGeometry, spacing_m: float) -> int:
    """No more points than this can lie in ``area`` with ``spacing_m`` between any two: proved, not estimated.

    Two bounds, the smaller one for each connected piece. Discs of half the spacing around the points do not
    overlap and lie within the area grown by that half. And for a convex set of area A and perimeter P, Oler
    (Acta Mathematica 105, 1961) has N <= 2 A / (sqrt(3) s^2) + P / (2 s) + 1, here for the convex hull.
    """
    total = 0
    for piece in shapely.get_parts(area):
        grown = piece.buffer(spacing_m / 2, quad_segs=64).area
        by_area = grown / (math.pi * spacing_m**2 / 4)
        hull = piece.convex_hull
        by_oler = 2 * hull.area / (math.sqrt(3) * spacing_m**2) + hull.length / (2 * spacing_m) + 1
        total += math.floor(min(by_area, by_oler) * _ARCS_ARE_CHORDS)
    return total


def grid_inside(
    area: BaseGeometry, grid_size: int, bounds: tuple[float, float, float, float] | None = None
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The points of a grid over the bounding box, or over ``bounds``, that lie in ``area``, shape (n, 2)."""
    left, bottom, right, top = area.bounds if bounds is None else bounds
    x, y = np.meshgrid(np.linspace(left, right, grid_size), np.linspace(bottom, top, grid_size))
    points = np.column_stack([x.ravel(), y.ravel()])
    inside: np.ndarray[tuple[int, int], np.dtype[np.float64]] = points[
        shapely.intersects_xy(area, points[:, 0], points[:, 1])
    ]
    return inside


def random_fill(
    points: np.ndarray[tuple[int, int], np.dtype[np.float64]], spacing_m: float, seed: int = 0
) -> int:
    """How many of ``points`` one random order of placing takes before none is left at the spacing."""
    free = points[np.random.default_rng(seed).permutation(len(points))]
    taken = 0
    while len(free):
        taken += 1
        free = free[np.hypot(*(free - free[0]).T) >= spacing_m]
    return taken


Vertex = tuple[Number, Number]
Ring = Annotated[tuple[Vertex, ...], AfterValidator(clean_ring)]

_CIRCLE_SEGMENTS = 64
_VERTEX = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


class Circle(Section):
    """A disc, by its centre and radius."""

    center: Vertex
    """The centre, [x, y] in metres."""
    radius_m: Positive
    """The radius in metres."""

    def shape(self) -> BaseGeometry:
        """The disc as a polygon, good to 1e-4 of its area; for pictures and sums, not for the search."""
        return shapely.Point(self.center).buffer(self.radius_m, quad_segs=_CIRCLE_SEGMENTS)


class Exclusion(OneOf):
    """An area that must stay empty: a polygon or a circle."""

    polygon: Ring | None = None
    """The corners of the area, [[x, y], ...] in metres."""
    circle: Circle | None = None

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """The corners of a polygon."""
        return {"type": "array", "minItems": 3, "items": _VERTEX}

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, data: Any) -> Any:
        return {"polygon": data} if isinstance(data, list | tuple) else data

    def shape(self) -> BaseGeometry:
        """The excluded area."""
        return self.circle.shape() if self.circle is not None else shapely.Polygon(self.polygon)


class Boundary(OneOf):
    """One polygon, several polygons or a circle, less what is excluded."""

    alternatives = ("polygon", "polygons", "circle")
    may_be_in_a_file = True

    polygon: Ring | None = None
    """The corners, [[x, y], ...] in metres; the last is joined to the first."""
    polygons: tuple[Ring, ...] | None = None
    """Several polygons; turbines may stand in any of them."""
    circle: Circle | None = None
    exclusions: tuple[Exclusion, ...] = ()
    """Areas that must stay empty."""

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """The corners of a polygon."""
        return {"type": "array", "minItems": 3, "items": _VERTEX}

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, data: Any) -> Any:
        return {"polygon": data} if isinstance(data, list | tuple) else data

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.polygons is not None and not self.polygons:
            raise refusal("the list is empty", remedy="give at least one polygon", at=("polygons",))
        if self.shape().area <= 0.0:
            raise refusal(
                "the exclusions leave no area at all", remedy="make them smaller", at=("exclusions",)
            )
        return self

    @property
    def rings(self) -> tuple[Ring, ...]:
        """The polygons, whichever way they were written; empty for a circle."""
        if self.polygon is not None:
            return (self.polygon,)
        return self.polygons or ()

    def shape(self) -> BaseGeometry:
        """The whole area as one geometry."""
        outer = (
            self.circle.shape()
            if self.circle
            else shapely.union_all([shapely.Polygon(r) for r in self.rings])
        )
        if not self.exclusions:
            return outer
        return outer.difference(shapely.union_all([hole.shape() for hole in self.exclusions]))

    def __repr__(self) -> str:
        parts = [plural(len(ring), "corner") for ring in self.rings]
        outer = "circle" if self.circle is not None else f"polygons of {', '.join(parts)}"
        if len(parts) == 1:
            outer = f"polygon of {parts[0]}"
        holes = f", {plural(len(self.exclusions), 'exclusion')}" if self.exclusions else ""
        return f"<Boundary: {outer}{holes}, {self.area_km2:.4g} km2>"

    @property
    def area_km2(self) -> float:
        """The area turbines may stand in."""
        return units.m2_to_km2(self.shape().area)

    def identity(self) -> dict[str, Any]:
        """What decides a result, the same for every way of writing the same boundary."""
        return {
            "rings": self.rings,
            "circle": self.circle.model_dump() if self.circle else None,
            "exclusions": [hole.model_dump(exclude_none=True) for hole in self.exclusions],
        }
