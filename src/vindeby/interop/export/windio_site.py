"""The area of a farm as the ``boundaries`` and ``exclusions`` of a windIO site."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign import Farm
from vindeby.campaign.sections.boundary import Boundary, Circle, Exclusion


def site_areas(farm: Farm, crs: str | None) -> tuple[dict[str, Any], list[str]]:
    """The areas of a farm, or of all its zones; and what a reader must know of them."""
    boundaries = [farm.boundary] if farm.zones is None else [zone.boundary for zone in farm.zones]
    notes = []
    if len(boundaries) == 1 and boundaries[0].circle is not None:
        areas: dict[str, Any] = {"boundaries": {"circle": _circle(boundaries[0].circle, crs)}}
    else:
        rings = [ring for boundary in boundaries for ring in _rings(boundary)]
        areas = {"boundaries": {"polygons": [_polygon(ring, crs) for ring in rings]}}
    holes = [hole for boundary in boundaries for hole in boundary.exclusions]
    if holes:
        areas["exclusions"] = _exclusions(holes, crs)
    if holes and "polygons" in areas["exclusions"]:
        notes.append(
            "windIO 2.1 forbids every key in the polygons of exclusions, x and y too, when it validates strictly; "
            "a file with them passes windIO.validate(..., restrictive=False)"
        )
    if farm.zones is not None:
        notes.append(
            f"farm {farm.name!r} has zones, which windIO does not have: their areas are its polygons"
        )
    return areas, notes


def _rings(boundary: Boundary) -> list[Any]:
    if boundary.circle is None:
        return list(boundary.rings)
    return [tuple(_outline(boundary.circle.shape()))]


def _outline(shape: BaseGeometry) -> list[tuple[float, float]]:
    (part,) = shapely.get_parts(shape)
    return [(float(x), float(y)) for x, y in part.exterior.coords[:-1]]


def _exclusions(holes: list[Exclusion], crs: str | None) -> dict[str, Any]:
    """One circle as such; several, or polygons beside them, as polygons, since windIO has one or the other."""
    if len(holes) == 1 and holes[0].circle is not None:
        return {"circle": _circle(holes[0].circle, crs)}
    return {"polygons": [_polygon(_outline(hole.shape()), crs) for hole in holes]}


def _polygon(ring: Any, crs: str | None) -> dict[str, Any]:
    x, y = np.array(ring, np.float64).T.tolist()
    return {"x": x, "y": y, **({"crs": crs} if crs else {})}


def _circle(circle: Circle, crs: str | None) -> dict[str, Any]:
    x, y = circle.center
    return {"center": {"x": x, "y": y, **({"crs": crs} if crs else {})}, "radius": circle.radius_m}
