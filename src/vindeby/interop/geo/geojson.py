"""GeoJSON (RFC 7946) to features.

Its coordinates are longitude and latitude on WGS 84. The older ``crs`` member, which GDAL still writes for other
systems, is honoured; without it, values that cannot be degrees are refused.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.errors import CampaignError
from vindeby.interop.geo.crs import LONGITUDE_LATITUDE, crs_from_text, stated_crs
from vindeby.interop.geo.features import MOST_FEATURES, Feature, Layer, Named

if TYPE_CHECKING:
    from pyproj import CRS

_DEEPEST = 40
_GEOMETRIES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon")


def read_geojson(content: bytes, named: Named) -> Layer:
    """The features of a GeoJSON text."""
    data = _parsed(content, named)
    crs = _crs(data, named)
    in_degrees = crs is None and stated_crs(named) is None
    reader = _Reader(named, in_degrees)
    features = reader.features(data)
    if not features:
        named.refuse("holds no features", "is it the right file?")
    if in_degrees:
        crs = crs_from_text(LONGITUDE_LATITUDE)
    notes = [f"{named.path.name}: heights are ignored"] if reader.heights else []
    return Layer(features, crs, notes)


def _parsed(content: bytes, named: Named) -> dict[str, Any]:
    try:
        data = json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        named.refuse(f"the file is not text: byte {error.start} is not UTF-8", "is it the right file?")
    except json.JSONDecodeError as error:
        named.refuse(f"is not valid JSON in line {error.lineno}", "write it again, or name another file")
    except (ValueError, RecursionError):
        named.refuse("holds what JSON does not have", "write it again, or name another file")
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        named.refuse("is not GeoJSON: it has no type", "is it the right file?")
    return data


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


class _Reader:
    """Turns JSON objects into features; remembers whether there were heights."""

    def __init__(self, named: Named, in_degrees: bool) -> None:
        self.named, self.in_degrees, self.heights = named, in_degrees, False

    def features(self, data: dict[str, Any]) -> list[Feature]:
        """The features of a collection, of a feature, or of a geometry by itself."""
        if data["type"] != "FeatureCollection":
            return [self._feature(0, data)]
        listed = data.get("features")
        if not isinstance(listed, list):
            self.named.refuse("has no list of features", "is it the right file?")
        if len(listed) > MOST_FEATURES:
            self.named.refuse(f"holds {len(listed):,} features", f"at most {MOST_FEATURES:,} are read")
        return [self._feature(number, one) for number, one in enumerate(listed)]

    def _feature(self, number: int, data: Any) -> Feature:
        if not isinstance(data, dict):
            self._refuse(number, "is not a GeoJSON object")
        if data.get("type") != "Feature":
            data = {"geometry": data}
        properties = data.get("properties")
        given = {} if properties is None else properties
        if not isinstance(given, dict):
            self._refuse(number, "has properties that are not a mapping")
        if data.get("geometry") is None:
            return Feature(number, None, given)
        try:
            geometry = self._geometry(number, data["geometry"])
            if self.in_degrees:
                _refuse_what_is_not_degrees(number, geometry, self.named)
        except CampaignError as error:
            return Feature(number, None, given, error.problems[0])
        return Feature(number, geometry, given)

    def _geometry(self, number: int, data: Any, depth: int = 0) -> BaseGeometry:
        kind = data.get("type") if isinstance(data, dict) else None
        if kind == "GeometryCollection" and depth < _DEEPEST and isinstance(data.get("geometries"), list):
            return shapely.GeometryCollection(
                [self._geometry(number, one, depth + 1) for one in data["geometries"]]
            )
        if kind not in _GEOMETRIES:
            self._refuse(number, "has a geometry of an unknown kind")
        try:
            coordinates = self._checked(number, data.get("coordinates"))
            return shapely.geometry.shape({"type": kind, "coordinates": coordinates})
        except (shapely.errors.ShapelyError, ValueError, TypeError, IndexError, OverflowError):
            self._refuse(number, f"its coordinates do not make a {kind}")

    def _checked(self, number: int, given: Any, depth: int = 0) -> Any:
        """The same lists, every position cut to two finite numbers."""
        if not isinstance(given, list) or depth > 4:
            self._refuse(number, "has coordinates that are not lists of numbers")
        if given and isinstance(given[0], list):
            return [self._checked(number, one, depth + 1) for one in given]
        numbers = [isinstance(one, int | float) and not isinstance(one, bool) for one in given]
        if len(given) < 2 or not all(numbers) or not all(math.isfinite(one) for one in given):
            self._refuse(number, "has a position that is not two numbers")
        self.heights = self.heights or len(given) > 2
        return given[:2]

    def _refuse(self, number: int, message: str) -> NoReturn:
        self.named.refuse(f"feature {number} {message}", "correct it, or name another file")


def _crs(data: dict[str, Any], named: Named) -> CRS | None:
    """The system that the older ``crs`` member names, or None."""
    given = data.get("crs")
    if given is None:
        return None
    properties = given.get("properties") if isinstance(given, dict) and given.get("type") == "name" else None
    name = properties.get("name") if isinstance(properties, dict) else None
    crs = crs_from_text(name) if isinstance(name, str) else None
    if crs is None:
        named.refuse("its crs member names no known coordinate reference system", "write crs as EPSG:CODE")
    return crs


def _refuse_what_is_not_degrees(number: int, geometry: BaseGeometry, named: Named) -> None:
    for longitude, latitude in shapely.get_coordinates(geometry).tolist():
        if abs(longitude) <= 180.0 and abs(latitude) <= 90.0:
            continue
        at = (longitude, latitude)
        if abs(longitude) <= 90.0 and abs(latitude) <= 180.0:
            named.refuse(
                f"feature {number} has a latitude of {latitude:g}: the order of the axes is wrong",
                "write longitude first, as RFC 7946 says",
                at,
            )
        named.refuse(
            f"feature {number} has a position that is not a longitude and latitude, and the file names no "
            "coordinate reference system",
            "say the system with crs: EPSG:CODE beside file, or write the file in degrees",
            at,
        )
