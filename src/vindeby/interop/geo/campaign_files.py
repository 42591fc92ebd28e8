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
from vindeby.campaign.reading.farm_files import (
    SUFFIXES,
    boundary_holders,
    exclusion_files,
    is_geographic,
    neighbour_groups,
    type_names,
)
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.boundary import closing_gap_m
from vindeby.errors import ArgumentError, CampaignError, Problem
from vindeby.interop.geo.crs import (
    TOLERANCE_M,
    Extent,
    between,
    chosen_crs,
    crs_from_text,
    crs_of,
    degrees_apart,
    extent_of,
    local_frame,
    name_of,
    projected,
    projected_ring,
    refuse_unsuitable,
    refuse_what_is_not_degrees,
    same_crs,
    to_degrees,
)
from vindeby.interop.geo.features import Feature, Layer, Named, area_of, farms_of, points_of, put_types
from vindeby.interop.geo.vector_files import read_layer
from vindeby.text import plural

if TYPE_CHECKING:
    from pyproj import CRS

LEAST_CONVERGENCE_DEG = 0.01
"""Grid north this near to true north is taken for it."""
_DECIMALS = 4
_INACCURATE_M = 1.5
_FAR_DEGREES = 10.0
_NEAR_DEGREES = 3.0
_AREA_KEYS = ("file", "layer", "feature", "crs", "edges")
_POSITION_KEYS = ("file", "layer", "feature", "crs", "name", "type", "turbines")
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
        """Read everything, choose the system, then put everything where it belongs."""
        farms = self.document.data.get("farms")
        if isinstance(farms, dict):
            self._list_farms(Named(self.document, farms, ("farms",), self.folder))
        for holder, at in boundary_holders(self.document.data):
            self._take_boundary(holder, at)
        for group, at in neighbour_groups(self.document.data):
            self._take_positions(group, at)
        self._refuse_swapped()
        extent = extent_of(np.concatenate([piece.degrees for piece in self.pieces]))
        crs, notes = self._system(extent)
        for piece in self.pieces:
            self._put(piece, crs)
        self.document.data["crs"] = name_of(crs)
        note = f"coordinates are metres of {name_of(crs)}"
        notes.append(note if crs.to_authority() is None else f"{note} ({crs.name})")
        self.document.notes += [*dict.fromkeys(self.notes), *notes, *self._turn_wind(crs, extent)]

    def _list_farms(self, named: Named) -> None:
        """Replace ``farms: {file: ...}`` by a farm for each feature, whose boundary names the feature."""
        if not is_geographic(named.data["file"], self.folder):
            named.refuse_key(
                "file", "is not a geographic file", f"a farm of each feature needs {', '.join(SUFFIXES)}"
            )
        self.document.data["farms"] = farms_of(named, self._layer(named)[0])
        for index in range(len(self.document.data["farms"])):
            self.document.origins["farms", index] = Origin(str(named.path))

    def _take_boundary(self, holder: dict[str, Any], at: DataPath) -> None:
        """The boundary of a farm or zone, and what is excluded from it."""
        boundary = holder.get("boundary")
        if boundary is None:
            return
        inline: list[Any] = []
        if isinstance(boundary, dict) and "exclusions" in boundary:
            inline = self._take_exclusions(boundary, at)
        if not isinstance(boundary, dict) or not is_geographic(boundary.get("file"), self.folder):
            self.in_metres.append(at)
            return
        named = Named(self.document, boundary, at, self.folder)
        self._add(named, (*_AREA_KEYS, "exclusions"), partial(_put_boundary, holder, inline))

    def _take_exclusions(self, boundary: dict[str, Any], at: DataPath) -> list[Any]:
        """Take those that stand in files out of the list, which they come back to as polygons; returns the list."""
        given = boundary["exclusions"]
        files = [
            Named(self.document, entry, (*at, *inside), self.folder)
            for entry, inside in exclusion_files(boundary)
            if is_geographic(entry.get("file"), self.folder)
        ]
        listed = given if isinstance(given, list) else [given]
        inline = [entry for entry in listed if not any(entry is named.data for named in files)]
        if given and inline:
            self.in_metres.append((*at, "exclusions"))
        if files:
            boundary["exclusions"] = inline
        for named in files:
            self._add(named, _AREA_KEYS, partial(_put_exclusion, named, inline), every=True)
        return inline

    def _take_positions(self, group: dict[str, Any], at: DataPath) -> None:
        if not is_geographic(group.get("file"), self.folder):
            self.in_metres.append(at)
            return
        named = Named(self.document, group, at, self.folder)
        put = partial(_put_positions, named)
        layer, features = self._add(named, _POSITION_KEYS, put, points_of, every=True)
        if "type" not in group:
            put_types(layer, features, named, type_names(self.document.data, group))

    def _add(
        self,
        named: Named,
        known: tuple[str, ...],
        put: Callable[..., None],
        geometry_of: Callable[[Sequence[Feature], Named], Any] = area_of,
        *,
        every: bool = False,
    ) -> tuple[Layer, list[Feature]]:
        """Read the features that an entry means; with ``every``, all of the file where it does not say which."""
        named.refuse_other_keys(known)
        layer, crs = self._layer(named)
        features = layer.features if every and "feature" not in named.data else layer.choose(named)
        geometry = geometry_of(features, named)
        if crs.is_geographic:
            refuse_what_is_not_degrees(features, named)
        degrees = projected(shapely.get_coordinates(geometry), to_degrees(crs))
        self.pieces.append(_Piece(named, crs, geometry, put, degrees))
        return layer, features

    def _layer(self, named: Named) -> tuple[Layer, CRS]:
        """The features of a file, read once however many farms name it, and their system."""
        asked = (str(named.path), str(named.data.get("layer")), str(named.data.get("crs")))
        if asked not in self._layers:
            layer = read_layer(named)
            crs, notes = crs_of(layer.crs, named)
            self._layers[asked] = layer, crs
            heights = [f"{named.path.name}: heights are ignored"] if layer.has_heights else []
            self.notes += [*layer.notes, *heights, *notes]
        return self._layers[asked]

    def _refuse_swapped(self) -> None:
        """Refuse what would lie near most of the rest only with longitude and latitude the other way round."""
        middles = np.array([np.median(piece.degrees, axis=0) for piece in self.pieces])
        for index, piece in enumerate(self.pieces):
            others = np.delete(middles, index, axis=0)
            is_far = degrees_apart(middles[index], others) > _FAR_DEGREES
            votes = is_far & (degrees_apart(middles[index][::-1], others) < _NEAR_DEGREES)
            may_be_latitudes = piece.crs.is_geographic and np.abs(piece.degrees).max() <= 90.0
            if may_be_latitudes and 2 * votes.sum() > len(others):
                piece.named.refuse(
                    "lies far from the rest of the campaign, and beside it with longitude and latitude swapped",
                    "write longitude before latitude in every file",
                    tuple(round(float(one), 4) for one in piece.degrees[0]),
                )

    def _system(self, extent: Extent) -> tuple[CRS, list[str]]:
        """The system that the campaign file states for the whole campaign, or one that suits all files."""
        text = self.document.data.get("crs")
        if text is not None:
            crs = crs_from_text(text) if isinstance(text, str) else None
            if crs is None:
                self.document.refuse(
                    ("crs",), "is not a known coordinate reference system", "write e.g. EPSG:25831"
                )
            refuse_unsuitable(crs, extent)
            return crs, []
        for at in self.in_metres[:1]:
            message = (
                "is in metres, and other parts are read from a geographic file, but the campaign does not say "
                "in which system"
            )
            self.document.refuse(
                at, message, "add crs: EPSG:CODE to the campaign, the system of these metres"
            )
        return chosen_crs([piece.crs for piece in self.pieces], extent)

    def _put(self, piece: _Piece, crs: CRS) -> None:
        """Put a piece into the campaign's data, in this system."""
        named, transformer = piece.named, None
        note = f"{named.path.name}: projected from {name_of(piece.crs)} to {name_of(crs)}"
        if not same_crs(piece.crs, crs):
            transformer = between(piece.crs, crs)
        if isinstance(piece.geometry, shapely.MultiPoint):
            points = shapely.get_coordinates(piece.geometry)
            piece.put((points if transformer is None else projected(points, transformer)).tolist())
        else:
            parts = piece.geometry.geoms
            holes = [hole for part in parts for hole in part.interiors]
            rings = [
                self._ring(ring, transformer, named) for ring in (*(part.exterior for part in parts), *holes)
            ]
            piece.put(rings[: len(parts)], rings[len(parts) :])
            added = sum(map(len, rings)) + len(rings) - int(shapely.get_num_coordinates(piece.geometry))
            if added > 0:
                note += f"; edges kept to {TOLERANCE_M:g} m by {plural(added, 'added point')}"
        if transformer is not None:
            self.notes.append(
                f"{note}; good to {transformer.accuracy:g} m"
                if transformer.accuracy > _INACCURATE_M
                else note
            )
        self.document.origins[named.at] = Origin(str(named.path))

    def _ring(self, ring: Any, transformer: Any, named: Named) -> Vertices:
        """The vertices, without a last one that repeats the first or almost meets it."""
        points = shapely.get_coordinates(ring)[:-1]
        if transformer is not None:
            points = projected_ring(points, transformer, corners_only=named.keeps_corners_only())
        vertices: list[Any] = points.tolist()
        gaps = []
        while len(vertices) > 3 and (gap := closing_gap_m(vertices)) is not None:
            gaps.append(gap)
            vertices.pop()
        if gaps:
            self.notes.append(
                f"{named.path.name}: a ring ended {max(gaps):.2g} m before its first vertex; it is closed there"
            )
        return vertices

    def _turn_wind(self, crs: CRS, extent: Extent) -> list[str]:
        """Tell the site how far grid north is from true north; returns it in words."""
        convergence = round(local_frame(crs, *extent.middle).convergence_deg, _DECIMALS)
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
    for key in ("layer", "feature", "crs"):
        named.data.pop(key, None)
    named.put({"positions": points}, Origin(str(named.path)))
    named.data["source"] = named.path.name
