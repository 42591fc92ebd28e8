"""Where turbines may stand: polygons, holes in them, or a circle; in metres."""

from __future__ import annotations

from typing import Annotated, Any, Self

import shapely
from pydantic import AfterValidator, model_validator
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.geometry import clean_ring
from vindeby.campaign.sections.values import Number, OneOf, Positive, Section, refusal
from vindeby.text import plural

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
