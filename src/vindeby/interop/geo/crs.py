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

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError, library

if TYPE_CHECKING:
    from pyproj import CRS, Transformer

LONGITUDE_LATITUDE = "OGC:CRS84"
TOLERANCE_M = 1.0
_NAME = re.compile(r"(?:[A-Za-z]{2,12}:[0-9A-Za-z]{1,12}|urn:ogc:def:crs:[A-Za-z]+:[0-9.]*:[0-9A-Za-z]+)")
_WKT = re.compile(r"\s*[A-Za-z]{3,20}\s*\[")
_LONGEST_WKT = 20_000
_TRUE_TO_SCALE = 0.01
"""A system whose lengths are wrong by more than this is not taken for metres, e.g. Web Mercator, or UTM zones away."""
_STEP_DEGREES = 1e-3
_MOST_HALVINGS = 12
_MOST_IN_A_RING = 1_000_000
_CLOSE_M = 1e-3
_DIGITS = 9
"""Of degrees: a tenth of a millimetre."""
_STRAIGHT_DEGREES = 0.1 / 111_320.0
"""An edge that is straight in metres may lie 0.1 m from the straight line in degrees that stands for it."""


def _pyproj() -> Any:
    return library("pyproj", "geo", "a coordinate reference system")


def crs_from_text(text: str) -> CRS | None:
    """The system of a name such as EPSG:25831, or of well-known text (WKT); None where there is none.

    The registry completes what a .prj file leaves out. PROJ strings and other forms may name files and are not read.
    """
    if not (_NAME.fullmatch(text) or (len(text) <= _LONGEST_WKT and _WKT.match(text))):
        return None
    try:
        crs: CRS = _pyproj().CRS.from_user_input(text)
        crs = crs.to_2d() if len(crs.axis_info) > 2 or crs.is_compound else crs
        crs = crs.source_crs if crs.is_bound and crs.source_crs is not None else crs
        if not (crs.is_geographic or crs.is_projected):
            return None
        if (code := crs.to_epsg()) is not None:
            crs = _pyproj().CRS.from_epsg(code)
        return crs
    except _pyproj().exceptions.ProjError:
        return None


def same_crs(one: CRS, other: CRS) -> bool:
    """Return whether two systems give the same coordinates, with x east and y north, whatever their axis order."""
    return bool(one.equals(other, ignore_axis_order=True))


def name_of(crs: CRS) -> str:
    """EPSG:CODE, or well-known text on one line where the registry has no such system."""
    authority = crs.to_authority()
    return ":".join(authority) if authority is not None else " ".join(crs.to_wkt().split())


def is_in_metres(crs: CRS) -> bool:
    """Return whether x is metres to the east, and y metres to the north."""
    axes = {(axis.direction, axis.unit_conversion_factor) for axis in crs.axis_info[:2]}
    return crs.is_projected and axes == {("east", 1.0), ("north", 1.0)}


def between(source: CRS, target: CRS | str) -> Transformer:
    """The best known way from one system to another, x before y."""
    pyproj = _pyproj()
    try:
        made: Transformer = pyproj.Transformer.from_crs(source, target, always_xy=True, allow_ballpark=False)
        return made
    except pyproj.exceptions.ProjError:
        names = f"{name_of(source)} to {target if isinstance(target, str) else name_of(target)}"
        message = f"pyproj knows no transformation from {names}; convert the file with QGIS first"
        raise ArgumentError(message) from None


def is_on_earth(crs: CRS) -> bool:
    """Return whether the datum of a system is known, so that it leads to longitude and latitude on WGS 84."""
    try:
        return between(crs, LONGITUDE_LATITUDE) is not None
    except ArgumentError:
        return False


class LocalFrame(NamedTuple):
    """The scale and the grid convergence of a projected system at a place."""

    convergence_deg: float
    """The direction of grid north, clockwise from true north."""
    scale: tuple[float, float]
    """Lengths in the system over those on the ellipsoid, to the north and to the east."""


def local_frame(crs: CRS, longitude: float, latitude: float) -> LocalFrame:
    """Return the frame by projecting four points around the place and measuring them on the ellipsoid.

    ``Proj.get_factors`` is not used: it knows neither the prime meridian of a system nor the shift of its datum.
    """
    steps = np.array([(0.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 0.0)])  # south, west, north, east
    places = steps * _STEP_DEGREES + (longitude, latitude)
    to_crs = between(_pyproj().CRS.from_user_input(LONGITUDE_LATITUDE), crs)
    points = np.column_stack(to_crs.transform(*places.T))
    if not np.isfinite(points).all():
        message = f"{name_of(crs)} does not reach the data at ({longitude:.4g}, {latitude:.4g})"
        raise ArgumentError(f"{message}; use the UTM zone there")
    north, east = points[2:] - points[:2]
    lengths = _pyproj().Geod(ellps="WGS84").inv(*places[:2].T, *places[2:].T)[2]
    scale = math.hypot(*north) / lengths[0], math.hypot(*east) / lengths[1]
    return LocalFrame(-math.degrees(math.atan2(*north)), scale)


class Extent(NamedTuple):
    """The middle of all data, with a longitude from -180 to 180, and how many degrees of longitude they span."""

    longitude: float
    latitude: float
    width: float


def extent_of(points: FloatArray) -> Extent:
    """Return the extent of longitudes and latitudes of shape (n, 2), the short way round."""
    longitude, latitude = points.T
    shifted = np.mod(longitude, 360.0)
    if np.ptp(shifted) < np.ptp(longitude):
        longitude = shifted
    west, east = float(longitude.min()), float(longitude.max())
    middle = (float(latitude.min()) + float(latitude.max())) / 2
    return Extent(((west + east) / 2 + 180.0) % 360.0 - 180.0, middle, east - west)


def utm_zone(longitude: float, latitude: float) -> CRS | None:
    """The zone of a place by its longitude, without the exceptions for Norway and Svalbard; None near the poles."""
    if not -80.0 <= latitude <= 84.0:
        return None
    zone = math.floor(((longitude + 180.0) % 360.0) / 6.0) + 1
    crs: CRS = _pyproj().CRS.from_epsg((32600 if latitude >= 0.0 else 32700) + zone)
    return crs


def chosen_crs(used: Sequence[CRS], extent: Extent) -> tuple[CRS, list[str]]:
    """The system of a campaign that states none, from those of its files; and what is to be said about it."""
    metric: list[CRS] = []
    for crs in filter(is_in_metres, used):
        metric += [] if any(same_crs(crs, other) for other in metric) else [crs]
    flaw = _scale_flaw(metric[0], extent) if len(metric) == 1 else ""
    if len(metric) == 1 and not flaw:
        return metric[0], []
    zone = utm_zone(extent.longitude, extent.latitude)
    if zone is None:
        message = f"the middle of all data, ({extent.longitude:.4g}, {extent.latitude:.4g}), does not lie in a UTM zone"
        raise ArgumentError(f"{message}; say the system with crs: EPSG:CODE for the campaign")
    if too_wide := _scale_flaw(zone, extent):
        message = f"{too_wide}; is longitude first in every file? Make a campaign of each region"
        raise ArgumentError(f"{message}, or give crs: EPSG:CODE")
    return zone, [f"{flaw}; it is not taken for metres"] if flaw else []


def refuse_unsuitable(crs: CRS, extent: Extent) -> None:
    """Refuse a stated system that cannot stand for metres where the data are."""
    if not is_in_metres(crs):
        message = f"{name_of(crs)} is not a system of metres to the east and north"
        raise ArgumentError(f"{message}; use UTM, for example")
    if flaw := _scale_flaw(crs, extent):
        raise ArgumentError(f"{flaw}; use the UTM zone there")


def _scale_flaw(crs: CRS, extent: Extent) -> str:
    """Return where a system is not true to scale, at the middle of the data or at their ends; empty if nowhere."""
    for share in (0.0, -0.5, 0.5):
        longitude = extent.longitude + share * extent.width
        north, east = local_frame(crs, longitude, extent.latitude).scale
        if max(abs(north - 1.0), abs(east - 1.0)) > _TRUE_TO_SCALE:
            return (
                f"{name_of(crs)} is not true to scale where the data are: lengths are {north:.3f} of the true ones "
                f"to the north and {east:.3f} to the east, at longitude {longitude:.4g}"
            )
    return ""


def projected(points: FloatArray, transformer: Transformer) -> FloatArray:
    """Points of shape (n, 2) in the other system."""
    moved = np.column_stack(transformer.transform(points[:, 0], points[:, 1]))
    bad = points[~np.isfinite(moved).all(axis=1)]
    if len(bad):
        raise ArgumentError(f"the position ({bad[0, 0]:g}, {bad[0, 1]:g}) cannot be projected")
    return moved


def densified(ring: FloatArray, transformer: Transformer, tolerance: float = TOLERANCE_M) -> FloatArray:
    """A ring whose edges were halved, again and again, until each bends by less than the tolerance.

    The tolerance is in units of the other system. The first vertex is not repeated at the end.
    """
    for _ in range(_MOST_HALVINGS):
        following = np.roll(ring, -1, axis=0)
        start = projected(ring, transformer)
        along = np.roll(start, -1, axis=0) - start
        worst = np.zeros(len(ring))
        for share in (0.25, 0.5, 0.75):  # how far these points of an edge are off its chord, times its length
            off = projected(ring + (following - ring) * share, transformer) - start
            worst = np.maximum(worst, np.abs(along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]))
        bent = worst / np.maximum(np.hypot(*along.T), 1e-12) > tolerance
        if not bent.any():
            break
        ring = np.insert(ring, np.flatnonzero(bent) + 1, ((ring + following) / 2.0)[bent], axis=0)
        if len(ring) > _MOST_IN_A_RING:
            raise ArgumentError(
                f"its edges would need more than {_MOST_IN_A_RING:,} points to be kept straight; is it the right file?"
            )
    return ring


class Projection:
    """The system of a campaign's metres, such as ``EPSG:32631``, from which results go to longitude and latitude."""

    def __init__(self, name: str) -> None:
        self.name = name
        crs = crs_from_text(name)
        if crs is None:
            message = (
                f"{name[:60]!r} is not a known coordinate reference system; use EPSG:CODE, e.g. EPSG:32631"
            )
            raise ArgumentError(f"--crs: {message}")
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
        degrees = np.column_stack(self._transformer.transform(*places.T))
        with np.errstate(invalid="ignore"):
            off = np.column_stack(self._transformer.transform(*degrees.T, direction="INVERSE")) - places
        bad = places[~(np.hypot(*off.T) <= _CLOSE_M)]
        if len(bad):
            raise ArgumentError(
                f"--crs: {self.name} has no place at x {bad[0, 0]:g} m, y {bad[0, 1]:g} m; is this the system of the "
                "campaign's coordinates?"
            )
        return np.round(degrees, _DIGITS)

    def covers(self, places: FloatArray) -> bool:
        """Return whether degrees are inside the area that the system is made for, with a degree to spare."""
        area = self._crs.area_of_use
        if area is None or area.west > area.east:
            return True
        low, high = (np.array(corner) for corner in (area.bounds[:2], area.bounds[2:]))
        return bool(((places >= low - 1) & (places <= high + 1)).all())

    def ring(self, ring: FloatArray) -> FloatArray:
        """A closed ring in degrees, with points added where its edges would bend away from what they are in metres."""
        dense = self.degrees(densified(ring[:-1], self._transformer, _STRAIGHT_DEGREES))
        return np.concatenate([dense, dense[:1]])


def longitude_latitude(crs: str | None, x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """Return longitudes and latitudes of positions, NaN for NaN; nothing without a system.

    Raises VindebyError where pyproj is not installed, or a position is not in the system.
    """
    if crs is None:
        return {}
    where, degrees = Projection(crs), np.full((x.size, 2), np.nan)
    places = np.column_stack([x.ravel(), y.ravel()])
    known = np.isfinite(places).all(axis=1)
    degrees[known] = where.degrees(places[known])
    return {"longitude": degrees[:, 0].reshape(x.shape), "latitude": degrees[:, 1].reshape(x.shape)}
