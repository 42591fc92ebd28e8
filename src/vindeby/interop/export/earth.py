"""From the metres of a campaign to longitude and latitude, and whether that can be right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError
from vindeby.interop.common import library

FloatArray = NDArray[np.float64]
WGS84 = "OGC:CRS84"
"""Longitude and latitude, in this order, as RFC 7946 asks."""
CLOSE_M = 1e-3
_PURPOSE = "a coordinate reference system"
_STRAIGHT_M = 0.1
"""An edge that is straight in metres may lie so far from the straight line in degrees that stands for it."""
_MOST_HALVINGS = 12
_LONGEST_SHOWN = 60
_CODE = re.compile(r"[A-Za-z]{2,10}:\d{1,8}")
_WELL_KNOWN_TEXT = re.compile(r"[A-Za-z]{3,20}\[.{1,20000}\]")
"""What a campaign has where its system is in no registry."""


@dataclass(frozen=True)
class Projection:
    """A projected coordinate reference system in metres, such as ``EPSG:32631``."""

    name: str

    def __post_init__(self) -> None:
        shown = self.name if len(self.name) <= _LONGEST_SHOWN else f"{self.name[:_LONGEST_SHOWN]}..."
        if not (_CODE.fullmatch(self.name) or _WELL_KNOWN_TEXT.fullmatch(self.name)):
            raise ArgumentError(
                f"--crs: {shown!r} is no code of a coordinate reference system; use EPSG:CODE"
            )
        pyproj = library("pyproj", "geo", _PURPOSE)
        try:
            crs = pyproj.CRS.from_user_input(self.name)
        except pyproj.exceptions.CRSError:
            raise ArgumentError(
                f"--crs: {shown} is not known to pyproj; use EPSG:CODE, e.g. EPSG:32631"
            ) from None
        units = {axis.unit_name for axis in crs.axis_info}
        if not crs.is_projected or units != {"metre"}:
            raise ArgumentError(
                f"--crs: {shown} ({crs.name}) is not a projection in metres; name the one of the campaign's "
                "coordinates, e.g. EPSG:32631"
            )

    @cached_property
    def _transformer(self) -> Any:
        pyproj = library("pyproj", "geo", _PURPOSE)
        return pyproj.Transformer.from_crs(self.name, WGS84, always_xy=True)

    def proj_string(self) -> str:
        """The system as PROJ writes it, for formats that ask for that."""
        import warnings

        pyproj = library("pyproj", "geo", "export")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a PROJ string holds less than EPSG does
            return str(pyproj.CRS.from_user_input(self.name).to_proj4())

    def degrees(self, places: FloatArray) -> FloatArray:
        """Longitude and latitude of places (two columns, x and y); refused where they are not on the map."""
        longitude, latitude = self._transformer.transform(places[:, 0], places[:, 1])
        x, y = self._transformer.transform(longitude, latitude, direction="INVERSE")
        with np.errstate(invalid="ignore"):
            off = np.hypot(np.subtract(x, places[:, 0]), np.subtract(y, places[:, 1]))
        bad = np.flatnonzero(~(off <= CLOSE_M))
        if len(bad):
            raise ArgumentError(
                f"--crs: {self.name} has no place at x {places[bad[0], 0]:g} m, y {places[bad[0], 1]:g} m; is this the "
                "system of the campaign's coordinates? --crs local writes metres as they are"
            )
        return np.column_stack([longitude, latitude])

    def covers(self, places: FloatArray) -> bool:
        """Whether degrees are inside the area that the system is made for, with a degree to spare."""
        pyproj = library("pyproj", "geo", _PURPOSE)
        area = pyproj.CRS.from_user_input(self.name).area_of_use
        if area is None or area.west > area.east:
            return True
        west, south, east, north = area.bounds
        lon, lat = places[:, 0], places[:, 1]
        return bool(np.all((lon >= west - 1) & (lon <= east + 1) & (lat >= south - 1) & (lat <= north + 1)))

    def ring(self, ring: FloatArray) -> FloatArray:
        """A closed ring in degrees, with points added where its edges would bend away from what they are in metres."""
        points = [ring[:1]]
        for start, end in pairwise(ring):
            points.append(self._edge(start, end)[1:])
        return self.degrees(np.concatenate(points))

    def _edge(self, start: FloatArray, end: FloatArray) -> FloatArray:
        """Points along an edge, as many as keep the straight lines between them in degrees close to it."""
        for halvings in range(_MOST_HALVINGS):
            share = np.linspace(0.0, 1.0, 2**halvings + 1)[:, None]
            points = start + share * (end - start)
            points[-1] = end
            degrees = self.degrees(points)
            half = 0.5 * (degrees[:-1] + degrees[1:])
            x, y = self._transformer.transform(half[:, 0], half[:, 1], direction="INVERSE")
            middle = 0.5 * (points[:-1] + points[1:])
            if np.max(np.hypot(x - middle[:, 0], y - middle[:, 1])) <= _STRAIGHT_M:
                break
        return points


@dataclass(frozen=True)
class Local:
    """Metres of no known place: written as they are."""

    name: str = "local"

    def degrees(self, places: FloatArray) -> FloatArray:
        """The metres themselves."""
        return places

    def ring(self, ring: FloatArray) -> FloatArray:
        """The metres themselves."""
        return ring

    def covers(self, places: FloatArray) -> bool:  # noqa: ARG002 - as a projection
        """Nothing says otherwise."""
        return True
