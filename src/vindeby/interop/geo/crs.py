"""Coordinate reference systems: their names, what they do to lengths and directions, and projecting with them.

A system that the campaign file states is taken. Otherwise, where everything is in one system of metres, nothing is
projected; where it is not, everything is brought to the UTM zone of the middle of all data. An edge that is straight in
longitude and latitude is not straight in metres: one of 16 km along a parallel at 52 degrees bends by 6 m. So vertices
are put into edges before they are projected, as many as keep every point of an edge within ``TOLERANCE_M``.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError, library
from vindeby.interop.geo.features import Feature, Named

if TYPE_CHECKING:
    from pyproj import CRS, Transformer

LONGITUDE_LATITUDE = "OGC:CRS84"
_NAME = re.compile(r"(?:[A-Za-z]{2,12}:[0-9A-Za-z]{1,12}|urn:ogc:def:crs:[A-Za-z]+:[0-9.]*:[0-9A-Za-z]+)")
_WKT = re.compile(r"\s*[A-Za-z]{3,20}\s*\[")
_LONGEST_WKT = 20_000
_TRUE_TO_SCALE = 0.01
"""A system whose lengths are wrong by more than this is not taken for metres: Web Mercator, for example."""
_STEP_DEGREES = 1e-3


def _pyproj() -> Any:
    return library("pyproj", "geo", "a coordinate reference system")


def crs_from_text(text: str) -> CRS | None:
    """The system of a name such as EPSG:25831, or of well-known text (WKT); None where there is none.

    Other forms that pyproj takes, such as PROJ strings, may name files and are not read.
    """
    if not (_NAME.fullmatch(text) or (len(text) <= _LONGEST_WKT and _WKT.match(text))):
        return None
    try:
        crs = _pyproj().CRS.from_user_input(text)
        return _known(crs.to_2d() if len(crs.axis_info) > 2 or crs.is_compound else crs)
    except (_pyproj().exceptions.CRSError, _pyproj().exceptions.ProjError):
        return None


def _known(crs: CRS) -> CRS | None:
    """The system as the EPSG registry has it, if it has it; a .prj file leaves out what the registry says."""
    crs = crs.source_crs if crs.is_bound and crs.source_crs is not None else crs
    if not (crs.is_geographic or crs.is_projected):
        return None
    code = crs.to_epsg()
    return crs if code is None else _pyproj().CRS.from_epsg(code)


def crs_of(said: CRS | None, named: Named) -> tuple[CRS, list[str]]:
    """The system of a file, and what is to be reported: what the file says, or else what the campaign file says.

    Refuses none, and two; a system that leads to no place on Earth counts as none.
    """
    text, stated, notes = named.option("crs"), None, []
    if text is not None and (stated := crs_from_text(text)) is None:
        named.refuse_key("crs", "is not a known coordinate reference system", "write e.g. EPSG:25831")
    without_prj = "has no .prj, and so " if named.path.suffix.lower() in (".shp", ".zip") else ""
    missing = f"{without_prj}names no coordinate reference system"
    if said is not None:
        try:
            to_degrees(said)
        except ArgumentError:
            missing = f"its system, {said.name}, has a datum that is not known"
            notes = [f"{named.path.name}: {missing}; crs: {name_of(stated)} is used"] if stated else []
            said = None
    if said is not None and stated is not None and not same_crs(said, stated):
        named.refuse_key(
            "crs",
            f"the file says {name_of(said)} itself",
            "remove it: crs states only what a file does not say, and projects nothing",
        )
    crs = said or stated
    if crs is None:
        named.refuse(missing, "say it with crs: EPSG:CODE beside file, if you know it")
    return crs, notes


def same_crs(one: CRS, other: CRS) -> bool:
    """Whether coordinates of one are those of the other: x is east and y north in both, whatever is said first."""
    return bool(one.equals(other, ignore_axis_order=True))


def name_of(crs: CRS) -> str:
    """EPSG:CODE, or well-known text on one line where the registry has no such system."""
    authority = crs.to_authority()
    return ":".join(authority) if authority is not None else " ".join(crs.to_wkt().split())


def is_in_metres(crs: CRS) -> bool:
    """Whether x is metres to the east, and y metres to the north."""
    axes = crs.axis_info[:2]
    return (
        crs.is_projected
        and sorted(axis.direction for axis in axes) == ["east", "north"]
        and all(axis.unit_conversion_factor == 1.0 for axis in axes)
    )


def between(source: CRS, target: CRS) -> Transformer:
    """The best known way from one system to another, x before y."""
    try:
        made: Transformer = _pyproj().Transformer.from_crs(
            source, target, always_xy=True, allow_ballpark=False
        )
        return made
    except _pyproj().exceptions.ProjError:
        message = f"pyproj knows no transformation from {name_of(source)} to {name_of(target)}"
        raise ArgumentError(f"{message}; convert the file with QGIS first") from None


def to_degrees(crs: CRS) -> Transformer:
    """From a system to longitude and latitude on WGS 84."""
    return between(crs, _pyproj().CRS.from_user_input(LONGITUDE_LATITUDE))


class LocalFrame(NamedTuple):
    """What a projected system does at a place."""

    convergence_deg: float
    """The direction of grid north, clockwise from true north."""
    scale: tuple[float, float]
    """Lengths in the system over those on the ellipsoid, to the north and to the east."""


def local_frame(crs: CRS, longitude: float, latitude: float) -> LocalFrame:
    """By projecting four points around the place, and measuring them on the ellipsoid.

    ``Proj.get_factors`` is not used: it knows neither the prime meridian of a system nor the shift of its datum.
    """
    project = between(_pyproj().CRS.from_user_input(LONGITUDE_LATITUDE), crs)
    x, y = project.transform(
        [longitude, longitude, longitude - _STEP_DEGREES, longitude + _STEP_DEGREES],
        [latitude - _STEP_DEGREES, latitude + _STEP_DEGREES, latitude, latitude],
    )
    if not all(map(math.isfinite, (*x, *y))):
        message = f"{name_of(crs)} does not reach the middle of the data, ({longitude:.4g}, {latitude:.4g})"
        raise ArgumentError(f"{message}; use the UTM zone there")
    ellipsoid = _pyproj().Geod(ellps="WGS84")
    north = ellipsoid.inv(longitude, latitude - _STEP_DEGREES, longitude, latitude + _STEP_DEGREES)[2]
    east = ellipsoid.inv(longitude - _STEP_DEGREES, latitude, longitude + _STEP_DEGREES, latitude)[2]
    scale = math.hypot(x[1] - x[0], y[1] - y[0]) / north, math.hypot(x[3] - x[2], y[3] - y[2]) / east
    grid_bearing_of_true_north = math.degrees(math.atan2(x[1] - x[0], y[1] - y[0]))
    return LocalFrame(-grid_bearing_of_true_north, scale)


def utm_zone(longitude: float, latitude: float) -> CRS | None:
    """The zone of a place by its longitude, without the exceptions for Norway and Svalbard; None near the poles."""
    if not -80.0 <= latitude <= 84.0:
        return None
    zone = math.floor(((longitude + 180.0) % 360.0) / 6.0) + 1
    crs: CRS = _pyproj().CRS.from_epsg((32600 if latitude >= 0.0 else 32700) + zone)
    return crs


TOLERANCE_M = 1.0
_MOST_HALVINGS = 12
_MOST_IN_A_RING = 1_000_000
_ROUNDED_DECIMALS = 4
"""Projected coordinates are kept to 0.1 mm: what lies below differs between versions of PROJ."""


def projected(points: FloatArray, transformer: Transformer) -> FloatArray:
    """Points of shape (n, 2) in the other system."""
    x, y = transformer.transform(points[:, 0], points[:, 1])
    moved = np.column_stack([x, y])
    if not np.isfinite(moved).all():
        bad = points[~np.isfinite(moved).all(axis=1)][0]
        raise ArgumentError(f"the position ({bad[0]:g}, {bad[1]:g}) cannot be projected")
    return moved


def projected_ring(ring: FloatArray, transformer: Transformer, *, corners_only: bool) -> FloatArray:
    """The vertices of a ring in the other system, with those that were put into its edges."""
    return np.round(
        projected(ring if corners_only else densified(ring, transformer), transformer), _ROUNDED_DECIMALS
    )


def densified(ring: FloatArray, transformer: Transformer, tolerance: float = TOLERANCE_M) -> FloatArray:
    """A ring whose edges were halved, again and again, until each bends by less than the tolerance.

    The tolerance is in units of the other system. The first vertex is not repeated at the end.
    """
    for _ in range(_MOST_HALVINGS):
        bent = _bend(ring, transformer) > tolerance
        if not bent.any():
            break
        middles = (ring + np.roll(ring, -1, axis=0)) / 2.0
        ring = np.insert(ring, np.flatnonzero(bent) + 1, middles[bent], axis=0)
        if len(ring) > _MOST_IN_A_RING:
            raise ArgumentError(
                f"its edges would need more than {_MOST_IN_A_RING:,} points to be kept straight; is it the right file? "
                "edges: straight-in-metres projects corners only"
            )
    return ring


def _bend(ring: FloatArray, transformer: Transformer) -> FloatArray:
    """How far the quarters and the middle of each edge are off the straight line in the other system, in its units."""
    following = np.roll(ring, -1, axis=0)
    start = projected(ring, transformer)
    along = np.roll(start, -1, axis=0) - start
    worst = np.zeros(len(ring))
    for share in (0.25, 0.5, 0.75):
        off = projected(ring + (following - ring) * share, transformer) - start
        worst = np.maximum(worst, np.abs(along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]))
    return np.asarray(worst / np.maximum(np.hypot(*along.T), 1e-12))


_FARTHEST_FROM_MERIDIAN = 6.0
"""Degrees of longitude; there, lengths in a UTM zone are wrong by 0.5 % at the equator and 0.2 % at 50 degrees."""


class Extent(NamedTuple):
    """Longitudes and latitudes, west to east; past 180 where they cross that meridian."""

    west: float
    east: float
    south: float
    north: float

    @property
    def middle(self) -> tuple[float, float]:
        """Longitude and latitude of the middle; longitude from -180 to 180."""
        longitude = (self.west + self.east) / 2
        return (longitude + 180.0) % 360.0 - 180.0, (self.south + self.north) / 2


def refuse_what_is_not_degrees(features: Sequence[Feature], named: Named) -> None:
    """Refuse features of a file in longitude and latitude that have a position that cannot be that.

    RFC 7946 has longitudes from -180 to 180; other formats may count them from 0 to 360.
    """
    east = 180.0 if named.path.suffix.lower() in (".geojson", ".json") else 360.0
    for feature in features:
        points = shapely.get_coordinates(feature.geometry)
        longitude, latitude = np.abs(points).T
        wrong = np.flatnonzero((longitude > east) | (latitude > 90.0))
        if not len(wrong):
            continue
        at = tuple(points[wrong[0]].tolist())
        if longitude[wrong[0]] <= 90.0 and latitude[wrong[0]] <= east:
            message = f"feature {feature.number} has a latitude of {at[1]:g}: the order of the axes is wrong"
            named.refuse(message, "write longitude first, as RFC 7946 says", at)
        named.refuse(
            f"feature {feature.number} has a position that is not a longitude and latitude",
            "write the file in degrees or, where it does not state a system, say it with crs: EPSG:CODE beside file",
            at,
        )


def extent_of(points: FloatArray) -> Extent:
    """What longitudes and latitudes span, the short way round."""
    longitude, latitude = points[:, 0], points[:, 1]
    shifted = np.mod(longitude, 360.0)
    if np.ptp(shifted) < np.ptp(longitude):
        longitude = shifted
    west, east = float(longitude.min()), float(longitude.max())
    return Extent(west, east, float(latitude.min()), float(latitude.max()))


def chosen_crs(used: Sequence[CRS], extent: Extent) -> tuple[CRS, list[str]]:
    """The system of a campaign that states none, from those of its files; and what is to be said about it."""
    distinct = [
        crs for index, crs in enumerate(used) if not any(same_crs(crs, other) for other in used[:index])
    ]
    metric = [crs for crs in distinct if is_in_metres(crs)]
    if len(metric) != 1:
        return _utm(extent), []
    flaw = _scale_flaw(metric[0], extent)
    return (_utm(extent), [f"{flaw}; it is not taken for metres"]) if flaw else (metric[0], [])


def _scale_flaw(crs: CRS, extent: Extent) -> str:
    """By how much lengths of a system are wrong where the data are; empty where they can be taken for metres."""
    north, east = local_frame(crs, *extent.middle).scale
    if max(abs(north - 1.0), abs(east - 1.0)) <= _TRUE_TO_SCALE:
        return ""
    return (
        f"{name_of(crs)} is not true to scale where the data are: lengths are {north:.3f} of the true ones to the "
        f"north and {east:.3f} to the east"
    )


def _utm(extent: Extent) -> CRS:
    longitude, latitude = extent.middle
    zone = utm_zone(longitude, latitude)
    if zone is None:
        message = f"the middle of all data, ({longitude:.4g}, {latitude:.4g}), does not lie in a UTM zone"
        raise ArgumentError(f"{message}; say the system with crs: EPSG:CODE for the campaign")
    meridian = (int(str(zone.to_epsg())[-2:]) - 30.5) * 6.0
    off = abs(longitude - meridian) + (extent.east - extent.west) / 2
    if off > _FARTHEST_FROM_MERIDIAN:
        raise ArgumentError(
            f"the data reach {off:.3g} degrees from the middle meridian of {name_of(zone)}, the zone of their "
            "middle; is longitude first in every file? Make a campaign of each region, or give crs: EPSG:CODE"
        )
    return zone


def refuse_unsuitable(crs: CRS, extent: Extent) -> None:
    """Refuse a stated system that cannot stand for metres where the data are."""
    if not is_in_metres(crs):
        raise ArgumentError(
            f"{name_of(crs)} is not a system of metres to the east and north; use UTM, for example"
        )
    if flaw := _scale_flaw(crs, extent):
        raise ArgumentError(f"{flaw}; use the UTM zone there")


def degrees_apart(one: FloatArray, others: FloatArray) -> FloatArray:
    """Roughly, in degrees of a great circle, how far a longitude and latitude is from each of others."""
    east = (one[0] - others[:, 0] + 180.0) % 360.0 - 180.0
    return np.asarray(np.hypot(east * np.cos(np.radians(others[:, 1])), one[1] - others[:, 1]))


_CLOSE_M = 1e-3
_DIGITS = 9
"""Of degrees: a tenth of a millimetre."""
_STRAIGHT_DEGREES = 0.1 / 111_320.0
"""An edge that is straight in metres may lie 0.1 m from the straight line in degrees that stands for it."""


class Projection:
    """The system of a campaign's metres, such as ``EPSG:32631``, from which results go to longitude and latitude.

    The system ``local`` is metres of no known place, which stay as they are.
    """

    def __init__(self, name: str) -> None:
        self.name, self.is_local = name, name == "local"
        if self.is_local:
            return
        crs = crs_from_text(name)
        if crs is None:
            raise ArgumentError(
                f"--crs: {name[:60]!r} is not a known coordinate reference system; use EPSG:CODE, e.g. EPSG:32631"
            )
        if not is_in_metres(crs):
            raise ArgumentError(
                f"--crs: {name[:60]} ({crs.name}) is not a projection in metres; name the one of the campaign's "
                "coordinates, e.g. EPSG:32631"
            )
        self._crs = crs
        self._transformer = _pyproj().Transformer.from_crs(crs, LONGITUDE_LATITUDE, always_xy=True)

    def proj_string(self) -> str:
        """The system as PROJ writes it, for formats that ask for that."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a PROJ string holds less than EPSG does
            return str(self._crs.to_proj4())

    def degrees(self, places: FloatArray) -> FloatArray:
        """Longitude and latitude of places (two columns, x and y); refused where they are not on the map."""
        if self.is_local:
            return places
        longitude, latitude = self._transformer.transform(places[:, 0], places[:, 1])
        x, y = self._transformer.transform(longitude, latitude, direction="INVERSE")
        with np.errstate(invalid="ignore"):
            off = np.hypot(np.subtract(x, places[:, 0]), np.subtract(y, places[:, 1]))
        bad = np.flatnonzero(~(off <= _CLOSE_M))
        if len(bad):
            raise ArgumentError(
                f"--crs: {self.name} has no place at x {places[bad[0], 0]:g} m, y {places[bad[0], 1]:g} m; is this the "
                "system of the campaign's coordinates? --crs local writes metres as they are"
            )
        return np.round(np.column_stack([longitude, latitude]), _DIGITS)

    def covers(self, places: FloatArray) -> bool:
        """Whether degrees are inside the area that the system is made for, with a degree to spare."""
        area = None if self.is_local else self._crs.area_of_use
        if area is None or area.west > area.east:
            return True
        west, south, east, north = area.bounds
        lon, lat = places[:, 0], places[:, 1]
        return bool(np.all((lon >= west - 1) & (lon <= east + 1) & (lat >= south - 1) & (lat <= north + 1)))

    def ring(self, ring: FloatArray) -> FloatArray:
        """A closed ring in degrees, with points added where its edges would bend away from what they are in metres."""
        if self.is_local:
            return ring
        dense = self.degrees(densified(ring[:-1], self._transformer, _STRAIGHT_DEGREES))
        return np.concatenate([dense, dense[:1]])
