"""What a campaign reads, brought to one coordinate reference system, and what that does to wind directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.interop.geo.areas import Area, FloatArray
from vindeby.interop.geo.crs import (
    TOLERANCE_M,
    between,
    chosen_crs,
    crs_from_text,
    degrees_of,
    extent_of,
    local_frame,
    looks_swapped,
    name_of,
    projected,
    projected_area,
    refuse_unsuitable,
    same_crs,
)
from vindeby.interop.geo.features import Named
from vindeby.text import plural

if TYPE_CHECKING:
    from pyproj import CRS

LEAST_CONVERGENCE_DEG = 0.01
"""Grid north this near to true north is taken for it."""
_DECIMALS = 4
_INACCURATE_M = 1.5


@dataclass(frozen=True)
class Piece:
    """An area or positions of a file, and where in the campaign they belong."""

    named: Named
    crs: CRS
    geometry: Area | FloatArray
    put: Callable[[Any], None]
    """Takes the geometry when it is in the system of the campaign."""

    @property
    def coordinates(self) -> FloatArray:
        """All vertices or positions, shape (n, 2)."""
        return self.geometry.coordinates if isinstance(self.geometry, Area) else self.geometry


class CommonSystem:
    """The system of a campaign; brings pieces to it."""

    def __init__(self, document: Document, pieces: list[Piece], in_metres: list[DataPath]) -> None:
        """``in_metres`` are the paths of what the campaign gives in metres of a system that it must state."""
        self.document = document
        degrees = [degrees_of(piece.coordinates, piece.crs) for piece in pieces]
        self._refuse_swapped(pieces, degrees)
        self.extent = extent_of(np.concatenate(degrees))
        stated = self._stated()
        if stated is None:
            self._refuse_unsaid(in_metres)
            self.crs, self.notes = chosen_crs([piece.crs for piece in pieces], self.extent)
        else:
            refuse_unsuitable(stated, self.extent)
            self.crs, self.notes = stated, []

    def put(self, piece: Piece) -> list[str]:
        """Put a piece into the campaign's data, in this system; returns what is to be said."""
        named, geometry, notes = piece.named, piece.geometry, []
        if not same_crs(piece.crs, self.crs):
            transformer = between(piece.crs, self.crs)
            note = f"{named.path.name}: projected from {name_of(piece.crs)} to {name_of(self.crs)}"
            if isinstance(geometry, Area):
                geometry, added = projected_area(
                    geometry, transformer, corners_only=named.keeps_corners_only()
                )
                note += (
                    f"; edges kept to {TOLERANCE_M:g} m by {plural(added, 'added point')}" if added else ""
                )
            else:
                geometry = projected(geometry, transformer)
            if transformer.accuracy > _INACCURATE_M:
                note += f"; good to {transformer.accuracy:g} m"
            notes.append(note)
        if isinstance(geometry, Area):
            geometry, gap = geometry.closed()
            if gap:
                notes.append(
                    f"{named.path.name}: a ring ended {gap:.2g} m before its first vertex; it is closed there"
                )
        piece.put(geometry)
        self.document.origins[named.at] = Origin(str(named.path))
        return notes

    def state(self) -> list[str]:
        """Write the system, and what it does to wind directions, into the campaign's data; returns it in words."""
        data = self.document.data
        data["crs"] = name_of(self.crs)
        note = f"coordinates are metres of {name_of(self.crs)}"
        if self.crs.to_authority() is not None:
            note += f" ({self.crs.name})"
        return [*self.notes, note, *self._turn_wind()]

    def _turn_wind(self) -> list[str]:
        convergence = round(local_frame(self.crs, *self.extent.middle).convergence_deg, _DECIMALS)
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

    def _stated(self) -> CRS | None:
        """The system that the campaign file states for the whole campaign."""
        text = self.document.data.get("crs")
        if text is None:
            return None
        crs = crs_from_text(text) if isinstance(text, str) else None
        if crs is None:
            self.document.refuse(
                ("crs",), "is not a known coordinate reference system", "write e.g. EPSG:25831"
            )
        return crs

    def _refuse_unsaid(self, in_metres: list[DataPath]) -> None:
        for at in in_metres[:1]:
            message = (
                "is in metres, and other parts are read from a geographic file, but the campaign does not say "
                "in which system"
            )
            self.document.refuse(
                at, message, "add crs: EPSG:CODE to the campaign, the system of these metres"
            )

    def _refuse_swapped(self, pieces: list[Piece], degrees: list[FloatArray]) -> None:
        for index, (piece, own) in enumerate(zip(pieces, degrees, strict=True)):
            others = [points for other, points in enumerate(degrees) if other != index]
            if others and piece.crs.is_geographic and looks_swapped(own, others):
                piece.named.refuse(
                    "lies far from the rest of the campaign, and beside it with longitude and latitude swapped",
                    "write longitude before latitude in every file",
                    tuple(round(float(one), 4) for one in own[0]),
                )
