"""Put what geographic files hold into a campaign: areas and positions in metres, all in one system.

Everything is read before anything is projected, because the system is chosen from all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vindeby.campaign.reading.farm_files import (
    SUFFIXES,
    boundary_holders,
    exclusion_files,
    is_geographic,
    neighbour_groups,
)
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import ArgumentError, CampaignError, Problem
from vindeby.interop.geo.areas import Area, FloatArray, area_of, points_of
from vindeby.interop.geo.common_system import CommonSystem, Piece
from vindeby.interop.geo.crs import crs_of
from vindeby.interop.geo.features import Layer, Named, farms_of, known_types, put_types
from vindeby.interop.geo.geojson import read_geojson
from vindeby.interop.geo.vector_files import (
    read_bytes,
    read_file_geodatabase,
    read_geopackage,
    read_kml,
    read_shapefile,
)

if TYPE_CHECKING:
    from pyproj import CRS

_AREA_KEYS = ("file", "layer", "feature", "crs", "edges")
_POSITION_KEYS = ("file", "layer", "feature", "crs", "name", "type", "turbines")
_NO_CRS = "names no coordinate reference system"
_STATE_IT = "say it with crs: EPSG:CODE beside file, if you know it"


def with_geographic_files(document: Document, folder: Path) -> Document:
    """Put the areas and positions of geographic files into the document, with the system they are in."""
    try:
        _Reading(document, folder).put_all()
    except ArgumentError as error:
        source = document.origin(()).source
        raise CampaignError([Problem(source, "farms", str(error))]) from None
    return document


class _Reading:
    """One campaign file whose geographic files are read."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.document, self.folder = document, folder
        self.pieces: list[Piece] = []
        self.in_metres: list[DataPath] = []
        """What the campaign gives in metres by other means."""
        self.notes: list[str] = []
        self._layers: dict[tuple[str, str, str], Layer] = {}

    def put_all(self) -> None:
        """Read everything, choose the system, then put everything where it belongs."""
        farms = self.document.data.get("farms")
        if isinstance(farms, dict):
            self._take_farms(self._named(farms, ("farms",)))
        else:
            for holder, at in boundary_holders(self.document.data):
                self._take_boundary(holder, at)
        for group, at in neighbour_groups(self.document.data):
            self._take_positions(group, at)
        common = CommonSystem(self.document, self.pieces, self.in_metres)
        for piece in self.pieces:
            self.notes += common.put(piece)
        self.document.notes += [*dict.fromkeys(self.notes), *common.state()]

    def _take_farms(self, named: Named) -> None:
        if not is_geographic(named.data["file"], self.folder):
            named.refuse_key(
                "file", "is not a geographic file", f"a farm of each feature needs {', '.join(SUFFIXES)}"
            )
        layer, crs = self._layer(named)
        entries = farms_of(named, layer)
        self.document.data["farms"] = [entry for entry, _ in entries]
        for index, (entry, feature) in enumerate(entries):
            at: DataPath = ("farms", index, "boundary")
            self.document.origins[at[:2]] = Origin(str(named.path))
            own = Named(self.document, named.data, at, named.path)
            self._add(own, crs, area_of([feature], own), partial(_put_boundary, entry, []))

    def _take_boundary(self, holder: dict[str, Any], at: DataPath) -> None:
        """The boundary of a farm or zone, and what is excluded from it."""
        boundary = holder.get("boundary")
        inline: list[Any] = []
        if isinstance(boundary, dict) and "exclusions" in boundary:
            inline = self._take_exclusions(boundary, at)
        if not isinstance(boundary, dict) or not is_geographic(boundary.get("file"), self.folder):
            if boundary is not None:
                self.in_metres.append(at)
            return
        named = self._named(boundary, at)
        named.refuse_other_keys((*_AREA_KEYS, "exclusions"))
        layer, crs = self._layer(named)
        self._add(named, crs, area_of(layer.choose(named), named), partial(_put_boundary, holder, inline))

    def _take_exclusions(self, boundary: dict[str, Any], at: DataPath) -> list[Any]:
        """Take those that stand in files out of the list, which they come back to as polygons; returns the list."""
        given, files = boundary["exclusions"], []
        for entry, inside in exclusion_files(boundary):
            if is_geographic(entry.get("file"), self.folder):
                files.append((entry, (*at, *inside)))
        if not files:
            self.in_metres += [(*at, "exclusions")] if given else []
            return given if isinstance(given, list) else [given]
        taken = [id(entry) for entry, _ in files]
        inline = [entry for entry in (given if isinstance(given, list) else []) if id(entry) not in taken]
        self.in_metres += [(*at, "exclusions")] if inline else []
        boundary["exclusions"] = inline
        for entry, place in files:
            self._take_exclusion(self._named(entry, place), inline)
        return inline

    def _take_exclusion(self, named: Named, inline: list[Any]) -> None:
        named.refuse_other_keys(_AREA_KEYS)
        layer, crs = self._layer(named)
        area = area_of(layer.choose(named) if "feature" in named.data else layer.features, named)
        if area.holes:
            named.refuse("an exclusion has a hole", "fill it, or draw the exclusion in two parts")
        self._add(named, crs, area, partial(_put_exclusion, inline))

    def _take_positions(self, group: dict[str, Any], at: DataPath) -> None:
        if not is_geographic(group.get("file"), self.folder):
            self.in_metres.append(at)
            return
        named = self._named(group, at)
        named.refuse_other_keys(_POSITION_KEYS)
        layer, crs = self._layer(named)
        features = layer.choose(named) if "feature" in group else layer.features
        points = points_of(features, named)
        if "type" not in group:
            put_types(layer, features, named, known_types(self.document.data, group))
        self._add(named, crs, points, partial(_put_positions, named))

    def _add(self, named: Named, crs: CRS, geometry: Area | FloatArray, put: Callable[[Any], None]) -> None:
        self.pieces.append(Piece(named, crs, geometry, put))

    def _named(self, data: dict[str, Any], at: DataPath) -> Named:
        named = Named(self.document, data, at, self.folder)
        name = named.text("file")
        assert name is not None, "only entries that name a file come here"
        named.path = self.folder / name
        return named

    def _layer(self, named: Named) -> tuple[Layer, CRS]:
        """The features of a file, read once however many farms name it, and their system."""
        asked = (str(named.path), str(named.data.get("layer")), str(named.data.get("crs")))
        if asked not in self._layers:
            self._layers[asked] = _reader(named.path)(named)
            self.notes += self._layers[asked].notes
        layer = self._layers[asked]
        crs, notes = crs_of(layer.crs, named, missing=_missing(named), remedy=_STATE_IT)
        self.notes += notes
        return layer, crs


def _put_boundary(holder: dict[str, Any], inline: list[Any], area: Area) -> None:
    rings = [ring.tolist() for ring in area.rings]
    inline += [{"polygon": hole.tolist()} for hole in area.holes]
    outer: dict[str, Any] = {"polygon": rings[0]} if len(rings) == 1 else {"polygons": rings}
    holder["boundary"] = {**outer, "exclusions": inline} if inline else outer


def _put_exclusion(inline: list[Any], area: Area) -> None:
    inline += [{"polygon": ring.tolist()} for ring in area.rings]


def _put_positions(named: Named, points: FloatArray) -> None:
    for key in ("file", "layer", "feature", "crs"):
        named.data.pop(key, None)
    named.data["source"] = named.path.name
    named.data["positions"] = points.tolist()
    named.document.origins[(*named.at, "positions")] = Origin(str(named.path))


def _missing(named: Named) -> str:
    return f"has no .prj, and so {_NO_CRS}" if named.path.suffix.lower() in (".shp", ".zip") else _NO_CRS


def _reader(path: Path) -> Callable[[Named], Layer]:
    return _READERS.get(path.suffix.lower(), _read_geojson)


def _read_geojson(named: Named) -> Layer:
    if "layer" in named.data:
        named.refuse_key("layer", "GeoJSON has no layers", "remove it")
    return read_geojson(read_bytes(named), named)


_READERS = {
    ".shp": read_shapefile,
    ".zip": read_shapefile,
    ".gpkg": read_geopackage,
    ".kml": read_kml,
    ".gdb": read_file_geodatabase,
}
