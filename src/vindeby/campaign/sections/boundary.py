"""The area of turbines: polygons, holes in them, or a circle, in metres; and a bound on the turbines in it.

Set-up work on a few hundred vertices, with shapely. The kernels that ask a million times whether a turbine is
inside belong to ``layout``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Self

import shapely
from pydantic import AfterValidator, Field, model_validator
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.sections.values import Metres, OneOf, Positive, Section, refusal, require
from vindeby.text import plural

_NEARLY_CLOSED_M = 1.0
_ARCS_ARE_CHORDS = 1.001
"""Circles are drawn as polygons inside them; more than makes up for the area that they lack."""


def clean_ring(vertices: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """Return the vertices without a repeated last one; refuse a ring that encloses no area."""
    kept = [vertex for vertex, _ in itertools.groupby(vertices)]
    if len(kept) > 1 and kept[0] == kept[-1]:
        kept.pop()
    different, last = len(set(kept)), len(vertices) - 1
    wrong = f"the polygon is open: {different} different vertices (the last is vertex {last}) enclose nothing"
    remedy = "give at least three; the last is joined to the first by itself"
    require(different >= 3, wrong, remedy, *((last,) if vertices else ()))
    gap = closing_gap_m(kept)
    wrong = f"the polygon is open by {gap or 0.0:.3g} m: vertex {last} almost meets vertex 0"
    require(gap is None, wrong, "make the two equal, or leave the last one out", last)
    if (reason := shapely.is_valid_reason(shapely.polygons(kept))) != "Valid Geometry":
        place = [float(number) for number in reason.rstrip("]").partition("[")[2].split()]
        nearest = min(range(len(vertices)), key=lambda index: math.dist(vertices[index], place))
        wrong = f"the polygon crosses or touches itself, or has no area: {reason} is near vertex {nearest}"
        raise refusal(wrong, remedy="put the vertices in order around the area", at=(nearest,))
    return tuple(kept)


def closing_gap_m(ring: Sequence[Vertex]) -> float | None:
    """Return the distance from the last vertex to the first if they can only mean the same vertex; else None."""
    gap = math.dist(ring[0], ring[-1])
    if gap >= _NEARLY_CLOSED_M:
        return None
    return gap if gap < 1e-3 * sum(math.dist(a, b) for a, b in itertools.pairwise(ring)) else None


def most_points(area: BaseGeometry, spacing_m: float) -> int:
    """Return an upper bound, proved and not estimated, of the number of points in ``area`` that keep ``spacing_m``.

    Two bounds, the smaller one for each connected piece. Discs of half the spacing around the points do not
    overlap and lie within the area grown by that half. And for a convex set of area A and perimeter P, Oler
    (Acta Mathematica 105, 1961) has N <= 2 A / (sqrt(3) s^2) + P / (2 s) + 1, here for the convex hull.
    """
    total = 0
    for piece in () if area.is_empty else shapely.get_parts(area):
        hull = piece.convex_hull
        least = 2 * hull.area / (math.sqrt(3) * spacing_m**2) + hull.length / (2 * spacing_m) + 1
        if piece.area < hull.area:  # for a convex piece, the other bound is never smaller
            grown = piece.buffer(spacing_m / 2, quad_segs=64).area
            least = min(least, grown / (math.pi * spacing_m**2 / 4))
        total += math.floor(least * _ARCS_ARE_CHORDS)
    return total


Vertex = tuple[Metres, Metres]
Ring = Annotated[tuple[Vertex, ...], AfterValidator(clean_ring), Field(json_schema_extra={"minItems": 3})]

_CIRCLE_SEGMENTS = 64


class Circle(Section):
    """A disc, by its centre and radius."""

    center: Vertex
    """The centre, [x, y] in metres."""
    radius_m: Positive
    """The radius in metres."""

    def shape(self) -> BaseGeometry:
        """Return the disc as a polygon, accurate to 1e-4 of its area; for pictures and sums, not for the search."""
        return shapely.Point(self.center).buffer(self.radius_m, quad_segs=_CIRCLE_SEGMENTS)


class Exclusion(OneOf):
    """An area that must stay empty: a polygon or a circle."""

    bare = ("polygon", (list, tuple))

    polygon: Ring | None = None
    """The corners of the area, [[x, y], ...] in metres."""
    circle: Circle | None = None

    def shape(self) -> BaseGeometry:
        """Return the excluded area."""
        return self.circle.shape() if self.circle is not None else shapely.Polygon(self.polygon)


class BoundarySection(OneOf):
    """A boundary: one polygon, several polygons or a circle, without the exclusions."""

    beside = ("exclusions",)
    bare = ("polygon", (list, tuple))
    may_be_in_a_file = True

    polygon: Ring | None = None
    """The corners, [[x, y], ...] in metres; the last is joined to the first."""
    polygons: tuple[Ring, ...] | None = None
    """Several polygons; turbines may stand in any of them."""
    circle: Circle | None = None
    exclusions: tuple[Exclusion, ...] = ()
    """Areas that must stay empty."""

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        require(self.polygons != (), "the list is empty", "give at least one polygon", "polygons")
        room = self.shape().area > 0.0
        require(room, "the exclusions leave no area at all", "make them smaller", "exclusions")
        return self

    @property
    def rings(self) -> tuple[Ring, ...]:
        """The polygons, whichever way they were written; empty for a circle."""
        if self.polygon is not None:
            return (self.polygon,)
        return self.polygons or ()

    def shape(self) -> BaseGeometry:
        """Return the whole area as one geometry."""
        parts = [self.circle.shape()] if self.circle else [shapely.polygons(ring) for ring in self.rings]
        outer = parts[0] if len(parts) == 1 else shapely.union_all(parts)
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
        return self.shape().area / units.KM2

    def identity(self) -> dict[str, Any]:
        """Return the data that decide a result, equal for every way of writing the same boundary."""
        return {
            "rings": self.rings,
            "circle": self.circle.model_dump() if self.circle else None,
            "exclusions": [hole.model_dump(exclude_none=True) for hole in self.exclusions],
        }
