"""Put what geographic files hold into a campaign: areas and positions in metres, all in one system.

Everything is read before anything is projected, because the system is chosen from all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.farm_files import SUFFIXES, is_geographic
from vindeby.campaign.reading.places import (
    EXCLUSIONS,
    NEIGHBOURS,
    STARTS,
    WITH_BOUNDARY,
    mappings,
    type_names,
)
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.boundary import closing_gap_m
from vindeby.errors import ArgumentError, CampaignError, Problem
from vindeby.interop.geo import crs as systems
from vindeby.interop.geo.crs import crs_from_text, name_of, projected, same_crs
from vindeby.interop.geo.features import Layer, Named, area_of, farms_of, points_of, put_types
from vindeby.interop.geo.vector_files import read_layer
from vindeby.text import plural

if TYPE_CHECKING:
    from pyproj import CRS

LEAST_CONVERGENCE_DEG = 0.01
"""Grid north this near to true north is taken for it."""
_DECIMALS = 4
"""Of degrees of convergence, and of metres: what lies below 0.1 mm differs between versions of PROJ."""
_FAR_DEGREES = 10.0
_AREA_KEYS = ("file", "layer", "feature", "crs")
_POSITION_KEYS = ("file", "layer", "feature", "crs", "name", "type", "turbines", "repair")
_UNKNOWN = ("is not a known coordinate reference system", "write e.g. EPSG:25831")
Vertices = list[list[float]]


def with_geographic_files(document: Document, folder: Path) -> Document:
    """Put the areas and positions of geographic files into the document, with the system they are in."""
    try:
        _Reading(document, folder).put_all()
    except ArgumentError as error:
        source = document.origin(()).source
        raise CampaignError([Problem(source, "farms", str(error))]) from None
    return document


@dataclass(frozen=True)
class _Piece:
    """An area or positions of a file, and where in the campaign they belong."""

    named: Named
    crs: CRS
    geometry: shapely.MultiPolygon | shapely.MultiPoint
    put: Callable[..., None]
    """Takes the outer rings and the holes of an area, or positions, in the system of the campaign."""
    degrees: FloatArray
    """All vertices or positions as longitude and latitude, shape (n, 2)."""


class _Reading:
    """One campaign file whose geographic files are read."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.document, self.folder = document, folder
        self.pieces: list[_Piece] = []
        self.in_metres: list[DataPath] = []
        """What the campaign gives in metres by other means."""
        self.notes: list[str] = []
        self._layers: dict[tuple[str, str, str], tuple[Layer, CRS]] = {}

    def put_all(self) -> None:
        data, notes = self.document.data, self.notes
        if isinstance(data.get("farms"), dict):
            self._list_farms(self._named(data["farms"], ("farms",)))
        for holder, at in mappings(data, *WITH_BOUNDARY):
            self._take_boundary(holder, (*at, "boundary"))
        for patterns, put in ((NEIGHBOURS, _put_positions), (STARTS, _put_start)):
            for group, at in mappings(data, *patterns):
                if not self._is_elsewhere(group, at):
                    named = self._named(group, at)
                    layer, numbers = self._add(named, _POSITION_KEYS, partial(put, named), points_of)
                    if "type" not in group:
                        put_types(layer, numbers, named, type_names(data, group))
        self._refuse_distant()
        extent = systems.extent_of(np.concatenate([piece.degrees for piece in self.pieces]))
        crs, found = self._system(extent)
        for piece in self.pieces:
            self._put(piece, crs)
        data["crs"] = name_of(crs)
        found.append(
            f"coordinates are metres of {name_of(crs)}" + f" ({crs.name})" * bool(crs.to_authority())
        )
        self.document.notes += [*dict.fromkeys(notes), *found, *self._turn_wind(crs, extent)]

    def _named(self, data: dict[str, Any], at: DataPath) -> Named:
        return Named(self.document, data, at, self.folder)

    def _is_elsewhere(self, entry: Any, at: DataPath) -> bool:
        """Return whether an entry names no geographic file, so that its coordinates are metres."""
        elsewhere = not isinstance(entry, dict) or not is_geographic(entry.get("file"), self.folder)
        self.in_metres += [at] * elsewhere
        return elsewhere

    def _list_farms(self, named: Named) -> None:
        """Replace ``farms: {file: ...}`` by a farm for each feature, whose boundary names the feature."""
        if not is_geographic(named.data["file"], self.folder):
            remedy = f"a farm of each feature needs {', '.join(SUFFIXES)}"
            named.refuse_key("file", "is not a geographic file", remedy)
        farms = self.document.data["farms"] = farms_of(named, self._layer(named)[0])
        for index in range(len(farms)):
            self.document.origins["farms", index] = Origin(str(named.path))

    def _take_boundary(self, holder: dict[str, Any], at: DataPath) -> None:
        """Take a boundary, and exclusions in files out of its list, to which they are added as polygons later."""
        boundary, inline = holder.get("boundary"), list[Any]()
        if boundary is None:
            return
        if isinstance(boundary, dict) and (given := boundary.get("exclusions")):
            inline += given if isinstance(given, list) else [given]
            for entry, inside in list(mappings(boundary, EXCLUSIONS)):
                if is_geographic(entry.get("file"), self.folder):
                    inline[:] = [one for one in inline if one is not entry]
                    boundary["exclusions"], named = inline, self._named(entry, (*at, *inside))
                    self._add(named, _AREA_KEYS, partial(_put_exclusion, named, inline), every=True)
            self.in_metres += [(*at, "exclusions")] * bool(inline)
        if not self._is_elsewhere(boundary, at):
            named = self._named(boundary, at)
            self._add(named, (*_AREA_KEYS, "exclusions"), partial(_put_boundary, holder, inline))

    def _add(
        self,
        named: Named,
        known: tuple[str, ...],
        put: Callable[..., None],
        geometry_of: Callable[[Layer, Sequence[int], Named], Any] = area_of,
        *,
        every: bool = False,
    ) -> tuple[Layer, Sequence[int]]:
        """Read the features that an entry means; positions, or with ``every``: all where it does not say which."""
        named.refuse_other_keys(known)
        layer, crs = self._layer(named)
        is_all = (every or geometry_of is points_of) and "feature" not in named.data
        numbers = range(len(layer.shapes)) if is_all else layer.choose(named)
        geometry = geometry_of(layer, numbers, named)
        if crs.is_geographic:
            for number in numbers:
                _refuse_what_is_not_degrees(layer, number, named)
        to_degrees = systems.between(crs, systems.LONGITUDE_LATITUDE)
        degrees = projected(shapely.get_coordinates(geometry), to_degrees)
        self.pieces.append(_Piece(named, crs, geometry, put, degrees))
        return layer, numbers

    def _layer(self, named: Named) -> tuple[Layer, CRS]:
        asked = (str(named.path), str(named.data.get("layer")), str(named.data.get("crs")))
        if asked not in self._layers:
            layer = read_layer(named)
            heights = [f"{named.path.name}: heights are ignored"] if layer.has_heights else []
            self.notes += [*layer.notes, *heights]
            self._layers[asked] = layer, self._crs_of(layer.crs, named)
        return self._layers[asked]

    def _crs_of(self, said: CRS | None, named: Named) -> CRS:
        """Return the system that the file or else the campaign states; refuse none, two, and an unknown datum."""
        text = named.option("crs")
        stated = crs_from_text(text or "")
        if text is not None and stated is None:
            named.refuse_key("crs", *_UNKNOWN)
        missing = "names no coordinate reference system (a shapefile has it in its .prj)"
        if said is not None and not systems.is_on_earth(said):
            missing, said = f"its system, {said.name}, has a datum that is not known", None
            if stated is not None:
                self.notes.append(f"{named.path.name}: {missing}; crs: {name_of(stated)} is used")
        if said is not None and stated is not None and not same_crs(said, stated):
            remedy = "remove it: crs states only what a file does not say, and projects nothing"
            named.refuse_key("crs", f"the file says {name_of(said)} itself", remedy)
        if (crs := said or stated) is None:
            named.refuse(missing, "say it with crs: EPSG:CODE beside file, if you know it")
        return crs

    def _refuse_distant(self) -> None:
        """Refuse a piece that lies in another region than most others, e.g. with latitude before longitude."""
        middles = np.array([np.median(piece.degrees, axis=0) for piece in self.pieces])
        middles[:, 0] = (middles[:, 0] - middles[0, 0] + 180.0) % 360.0 - 180.0
        away = np.hypot(*(middles - np.median(middles, axis=0)).T)
        for number in np.flatnonzero(away > _FAR_DEGREES)[:1]:
            piece = self.pieces[number]
            message = f"lies {away[number]:.0f} degrees from the middle of the campaign's areas and positions"
            remedy = "write longitude before latitude in every file, and make a campaign of each region"
            piece.named.refuse(message, remedy, tuple(round(float(one), 4) for one in piece.degrees[0]))

    def _system(self, extent: systems.Extent) -> tuple[CRS, list[str]]:
        text = self.document.data.get("crs")
        if text is not None:
            crs = crs_from_text(text) if isinstance(text, str) else None
            if crs is None:
                self.document.refuse(("crs",), *_UNKNOWN)
            systems.refuse_unsuitable(crs, extent)
            return crs, []
        for at in self.in_metres[:1]:
            message = "is in metres, and other parts are read from a geographic file, but the campaign does not say "
            remedy = "add crs: EPSG:CODE to the campaign, the system of these metres"
            self.document.refuse(at, f"{message}in which system", remedy)
        return systems.chosen_crs([piece.crs for piece in self.pieces], extent)

    def _put(self, piece: _Piece, crs: CRS) -> None:
        named, geometry = piece.named, piece.geometry
        transformer = None if same_crs(piece.crs, crs) else systems.between(piece.crs, crs)
        note = f"{named.path.name}: projected from {name_of(piece.crs)} to {name_of(crs)}"
        if isinstance(geometry, shapely.MultiPoint):
            points = shapely.get_coordinates(geometry)
            piece.put((points if transformer is None else projected(points, transformer)).tolist())
        else:
            lines = [
                *(part.exterior for part in geometry.geoms),
                *(hole for part in geometry.geoms for hole in part.interiors),
            ]
            rings, outer = [self._ring(line, transformer, named) for line in lines], len(geometry.geoms)
            piece.put(rings[:outer], rings[outer:])
            added = sum(len(ring) + 1 for ring in rings) - int(shapely.get_num_coordinates(geometry))
            if added > 0:
                note += f"; edges kept to {systems.TOLERANCE_M:g} m by {plural(added, 'added point')}"
        if transformer is not None:
            self.notes.append(note)
        self.document.origins[named.at] = Origin(str(named.path))

    def _ring(self, ring: Any, transformer: Any, named: Named) -> Vertices:
        """Return the vertices of a ring, without a last one that repeats the first or almost meets it."""
        points = shapely.get_coordinates(ring)[:-1]
        if transformer is not None:
            points = systems.densified(points, transformer)
            points = np.round(projected(points, transformer), _DECIMALS)
        vertices: list[Any] = points.tolist()
        largest = 0.0
        while len(vertices) > 3 and (gap := closing_gap_m(vertices)) is not None:
            largest = max(gap, largest)
            vertices.pop()
        if len(vertices) < len(points):
            what = f"a ring ended {largest:.2g} m before its first vertex; it is closed there"
            self.notes.append(f"{named.path.name}: {what}")
        return vertices

    def _turn_wind(self, crs: CRS, extent: systems.Extent) -> list[str]:
        """Tell the site how far grid north is from true north; return notes on it."""
        frame = systems.local_frame(crs, extent.longitude, extent.latitude)
        convergence = round(frame.convergence_deg, _DECIMALS)
        note = f"grid north is {abs(convergence):.4g} degrees {'east' if convergence > 0 else 'west'} of true north"
        site: Any = self.document.data.get("site")
        if abs(convergence) < LEAST_CONVERGENCE_DEG or not isinstance(site, dict):
            return []
        if "grid_convergence_deg" in site:
            return [f"{note} at the middle; the campaign file says grid_convergence_deg itself"]
        if "local" in site:
            return [f"{note}; wind that differs from place to place is taken as relative to grid north"]
        site["grid_convergence_deg"] = convergence
        self.document.origins["site", "grid_convergence_deg"] = self.document.origin(("site",))
        return [f"{note} at the middle; wind directions are relative to true north and are turned by that"]


def _refuse_what_is_not_degrees(layer: Layer, number: int, named: Named) -> None:
    """Refuse a position that cannot be a longitude and latitude, and an edge that leads around the Earth.

    RFC 7946 has longitudes from -180 to 180; other formats may count them from 0 to 360.
    """
    most = np.array([180.0 if named.path.suffix.lower() in (".geojson", ".json") else 360.0, 90.0])
    shape = layer.geometry(number, named)
    points = shapely.get_coordinates(shape)
    for at in points[(np.abs(points) > most).any(axis=1)][:1]:
        message = "has a position that is not a longitude and latitude"
        remedy = (
            "write degrees, longitude first, or give the system that a file does not state: crs: EPSG:CODE"
        )
        named.refuse_feature(number, message, remedy, tuple(at.tolist()))
    for ring in shapely.get_rings(shapely.get_parts(shape)):
        points = shapely.get_coordinates(ring)
        for start in np.flatnonzero(np.abs(np.diff(points[:, 0])) > 180.0)[:1]:
            west, east = points[start : start + 2, 0]
            message = f"has an edge from longitude {west:g} to {east:g}, around the Earth"
            remedy = "cut an area across the antimeridian in two there, as RFC 7946 says"
            named.refuse_feature(number, message, remedy, tuple(points[start].tolist()))


def _put_boundary(
    holder: dict[str, Any], inline: list[Any], rings: list[Vertices], holes: list[Vertices]
) -> None:
    inline += [{"polygon": hole} for hole in holes]
    outer: dict[str, Any] = {"polygon": rings[0]} if len(rings) == 1 else {"polygons": rings}
    holder["boundary"] = {**outer, "exclusions": inline} if inline else outer


def _put_exclusion(named: Named, inline: list[Any], rings: list[Vertices], holes: list[Vertices]) -> None:
    if holes:
        named.refuse("an exclusion has a hole", "fill it, or draw the exclusion in two parts")
    inline += [{"polygon": ring} for ring in rings]


def _put_positions(named: Named, points: Vertices) -> None:
    _put_points(named, {"positions": points})


def _put_start(named: Named, points: Vertices) -> None:
    _put_points(named, {axis: [point[place] for point in points] for place, axis in enumerate("xy")})


def _put_points(named: Named, values: dict[str, Any]) -> None:
    for key in ("layer", "feature", "crs"):
        named.data.pop(key, None)
    named.put({**values, "source": named.path.name}, Origin(str(named.path)))
