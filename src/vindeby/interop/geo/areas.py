"""From features to areas: rings, and the holes in them, in the coordinates of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.sections.boundary import closing_gap_m
from vindeby.interop.geo.features import Feature, Named

FloatArray = npt.NDArray[np.float64]

MOST_VERTICES = 100_000
_AREA_LOST = 1e-9
_REASON = re.compile(r"([^\[]*)\[([-+0-9.e]+) ([-+0-9.e]+)\]")


@dataclass(frozen=True)
class Area:
    """Outer rings and holes, each of shape (n, 2), without a repeated last vertex."""

    rings: tuple[FloatArray, ...]
    holes: tuple[FloatArray, ...]

    @property
    def coordinates(self) -> FloatArray:
        """All vertices, shape (n, 2)."""
        return np.concatenate([*self.rings, *self.holes])

    def closed(self) -> tuple[Area, float]:
        """The area, in metres, without last vertices that almost meet the first; and the widest gap (m)."""
        gaps = [0.0]

        def without_gap(ring: FloatArray) -> FloatArray:
            while len(ring) > 3 and (gap := closing_gap_m(ring.tolist())) is not None:
                gaps.append(gap)
                ring = ring[:-1]
            return ring

        return Area(tuple(map(without_gap, self.rings)), tuple(map(without_gap, self.holes))), max(gaps)


def area_of(features: Sequence[Feature], named: Named) -> Area:
    """The polygons of one feature or of several, as one area."""
    polygons = [polygon for feature in features for polygon in polygons_of(feature, named)]
    rings = tuple(_ring(polygon.exterior) for polygon in polygons)
    holes = tuple(_ring(hole) for polygon in polygons for hole in polygon.interiors)
    if sum(map(len, (*rings, *holes))) > MOST_VERTICES:
        named.refuse(
            f"has more than {MOST_VERTICES:,} vertices", "simplify the polygons, with QGIS for example"
        )
    _refuse_islands(polygons, holes, named)
    return Area(rings, holes)


def polygons_of(feature: Feature, named: Named) -> list[shapely.Polygon]:
    """The polygons of a feature; refuses other geometries, and polygons that cross themselves."""
    feature.refuse_flaw(named)
    geometry = feature.geometry
    if geometry is None or geometry.is_empty:
        named.refuse(
            f"feature {feature.number} has no geometry", "remove it, or choose another with feature:"
        )
    parts = _flat(geometry)
    wrong = next((part for part in parts if part.geom_type != "Polygon"), None)
    if wrong is not None:
        named.refuse(
            f"feature {feature.number} is a {wrong.geom_type}, and an area needs polygons",
            "close the line to a polygon, or choose another feature with feature:",
        )
    polygons = [part for part in map(shapely.force_2d, parts) if isinstance(part, shapely.Polygon)]
    whole = shapely.MultiPolygon(polygons) if len(polygons) > 1 else polygons[0]
    if not np.isfinite(shapely.get_coordinates(whole)).all():
        named.refuse(f"feature {feature.number} has a coordinate that is not finite", "correct it")
    if not shapely.is_valid(whole):
        _refuse_invalid(feature, whole, named)
    return polygons


def points_of(features: Sequence[Feature], named: Named) -> FloatArray:
    """The points of features, shape (n, 2); refuses other geometries."""
    for feature in features:
        feature.refuse_flaw(named)
        if feature.geometry is None or feature.geometry.is_empty:
            named.refuse(f"feature {feature.number} has no geometry", "remove it")
        if feature.geometry.geom_type != "Point":
            message = f"feature {feature.number} is a {feature.geometry.geom_type}, and a turbine is a Point"
            named.refuse(message, "write one point for each turbine")
    points = np.concatenate([shapely.get_coordinates(feature.geometry) for feature in features])
    return np.asarray(points, np.float64)


def _flat(geometry: BaseGeometry) -> list[BaseGeometry]:
    """The single parts of collections, however deep."""
    parts = list(shapely.get_parts(geometry))
    while any(hasattr(part, "geoms") for part in parts):
        parts = [inner for part in parts for inner in shapely.get_parts(part)]
    return parts


def _ring(ring: BaseGeometry) -> FloatArray:
    vertices = np.asarray(shapely.get_coordinates(ring), np.float64)
    return vertices[:-1] if len(vertices) > 1 and (vertices[0] == vertices[-1]).all() else vertices


def _refuse_invalid(feature: Feature, whole: BaseGeometry, named: Named) -> NoReturn:
    reason = shapely.is_valid_reason(whole)
    message, at = reason.lower(), ""
    if match := _REASON.fullmatch(reason):
        message, at = match[1].lower(), f" at ({float(match[2]):.10g}, {float(match[3]):.10g})"
    named.refuse(
        f"feature {feature.number} is not a valid polygon: {message}{at}",
        "correct it there, in QGIS with Check validity and Fix geometries for example",
    )


def _refuse_islands(polygons: Sequence[shapely.Polygon], holes: Sequence[FloatArray], named: Named) -> None:
    """A hole excludes all that lies in it, so that a part inside the hole of another would be lost."""
    if not holes or len(polygons) == 1:
        return
    whole = shapely.union_all(polygons)
    outer = shapely.union_all([shapely.Polygon(polygon.exterior) for polygon in polygons])
    kept = outer.difference(shapely.union_all([shapely.Polygon(hole) for hole in holes]))
    if whole.difference(kept).area > _AREA_LOST * whole.area:
        named.refuse("has a part that lies in the hole of another part", "make a farm or a zone of each part")
