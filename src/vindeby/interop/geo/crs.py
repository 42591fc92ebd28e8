"""Coordinate reference systems: reading their names, and what a system does to lengths and directions at a place."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vindeby.errors import ArgumentError
from vindeby.interop.geo.naming import Named

try:
    import pyproj
    from pyproj.exceptions import CRSError, ProjError
except ImportError:  # pragma: no cover  (the extra is installed where tests run)
    raise ArgumentError("geographic files need pyproj: pip install 'vindeby[geo]'") from None

if TYPE_CHECKING:
    from pyproj import CRS, Transformer

LONGITUDE_LATITUDE = "OGC:CRS84"
_NAME = re.compile(r"(?:[A-Za-z]{2,12}:[0-9A-Za-z]{1,12}|urn:ogc:def:crs:[A-Za-z]+:[0-9.]*:[0-9A-Za-z]+)")
_WKT = re.compile(r"\s*[A-Za-z]{3,20}\s*\[")
_LONGEST_WKT = 20_000
_STEP_DEGREES = 1e-3
_TRUE_TO_SCALE = 0.01
"""A system whose lengths are wrong by more than this is not taken for metres: Web Mercator, for example."""


def crs_from_text(text: str) -> CRS | None:
    """The system of a name such as EPSG:25831, or of well-known text (WKT); None where there is none.

    Other forms that pyproj takes, such as PROJ strings, may name files and are not read.
    """
    if not (_NAME.fullmatch(text) or (len(text) <= _LONGEST_WKT and _WKT.match(text))):
        return None
    try:
        crs = pyproj.CRS.from_user_input(text)
        return _known(crs.to_2d() if len(crs.axis_info) > 2 or crs.is_compound else crs)
    except (CRSError, ProjError):
        return None


def _known(crs: CRS) -> CRS | None:
    """The system as the EPSG registry has it, if it has it; a .prj file leaves out what the registry says."""
    crs = crs.source_crs if crs.is_bound and crs.source_crs is not None else crs
    if not (crs.is_geographic or crs.is_projected):
        return None
    code = crs.to_epsg()
    return crs if code is None else pyproj.CRS.from_epsg(code)


def stated_crs(named: Named) -> CRS | None:
    """What the campaign file says about a file that does not say it itself."""
    text = named.text("crs")
    if text is None:
        return None
    crs = crs_from_text(text)
    if crs is None:
        named.refuse_key("crs", "is no known coordinate reference system", "write e.g. EPSG:25831")
    return crs


def crs_of(said: CRS | None, named: Named, *, missing: str, remedy: str) -> tuple[CRS, list[str]]:
    """The system of a file, and what is to be reported: what the file says, or else what the campaign file says.

    Refuses none, and two; a system that leads to no place on Earth counts as none.
    """
    stated, notes = stated_crs(named), []
    if said is not None and not _is_on_earth(said):
        missing = f"its system, {said.name}, has a datum that is not known"
        notes = [f"{named.path.name}: {missing}; crs: {name_of(stated)} is used"] if stated else []
        said = None
    if said is None and stated is None:
        named.refuse(missing, remedy)
    if said is not None and stated is not None and not same_crs(said, stated):
        named.refuse_key(
            "crs",
            f"the file says {name_of(said)} itself",
            "remove it: crs states only what a file does not say, and projects nothing",
        )
    crs = said or stated
    assert crs is not None, "one of them is given"
    return crs, notes


def _is_on_earth(crs: CRS) -> bool:
    try:
        to_degrees(crs)
    except ArgumentError:
        return False
    return True


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
        return pyproj.Transformer.from_crs(source, target, always_xy=True, allow_ballpark=False)
    except ProjError:
        told = f"no way is known from {name_of(source)} to {name_of(target)}"
        raise ArgumentError(f"{told}; convert the file with QGIS first") from None


def to_degrees(crs: CRS) -> Transformer:
    """From a system to longitude and latitude on WGS 84."""
    return between(crs, pyproj.CRS.from_user_input(LONGITUDE_LATITUDE))


@dataclass(frozen=True)
class LocalFrame:
    """What a projected system does at a place."""

    convergence_deg: float
    """The direction of grid north, clockwise from true north."""
    scale: tuple[float, float]
    """Lengths in the system over those on the ellipsoid, to the north and to the east."""

    @property
    def is_true_to_scale(self) -> bool:
        """Whether lengths in the system can be taken for metres."""
        return all(abs(scale - 1.0) <= _TRUE_TO_SCALE for scale in self.scale)


def local_frame(crs: CRS, longitude: float, latitude: float) -> LocalFrame:
    """By projecting four points around the place, and measuring them on the ellipsoid."""
    project = between(pyproj.CRS.from_user_input(LONGITUDE_LATITUDE), crs)
    x, y = project.transform(
        [longitude, longitude, longitude - _STEP_DEGREES, longitude + _STEP_DEGREES],
        [latitude - _STEP_DEGREES, latitude + _STEP_DEGREES, latitude, latitude],
    )
    if not all(map(math.isfinite, (*x, *y))):
        told = f"{name_of(crs)} does not reach the middle of the data, ({longitude:.4g}, {latitude:.4g})"
        raise ArgumentError(f"{told}; use the UTM zone there")
    ellipsoid = pyproj.Geod(ellps="WGS84")
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
    return pyproj.CRS.from_epsg((32600 if latitude >= 0.0 else 32700) + zone)
