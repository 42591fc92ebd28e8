"""Where a campaign file names a geographic file: GeoJSON or one that GDAL reads.

Reading them needs pyproj and pyogrio, so that it is left to ``vindeby.interop.geo``, and only where one is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.neighbour_files import neighbour_groups
from vindeby.campaign.reading.yaml_text import MAX_BYTES
from vindeby.campaign.reading.yaml_text import Path as DataPath

SUFFIXES = (".geojson", ".shp", ".zip", ".gpkg", ".kml", ".gdb")
_GEOJSON = re.compile(
    rb'"type"\s*:\s*"(?:FeatureCollection|Feature|GeometryCollection|(?:Multi)?(?:Polygon|Point|LineString))"'
)


def names_geographic_files(data: dict[str, Any], folder: Path) -> bool:
    """Whether anything in the campaign is to be read from a geographic file."""
    if isinstance(data.get("farms"), dict) and "file" in data["farms"]:
        return True
    areas = [entry for holder, _ in boundary_holders(data) for entry in _areas(holder.get("boundary"))]
    positions = [group for group, _ in neighbour_groups(data)]
    return any(is_geographic(entry.get("file"), folder) for entry in (*areas, *positions))


def is_geographic(name: Any, folder: Path) -> bool:
    """Whether a file is one by its name, or is GeoJSON under the name .json."""
    if not isinstance(name, str):
        return False
    path = folder / name
    suffix = path.suffix.lower()
    return suffix in SUFFIXES or (suffix == ".json" and _is_geojson(path))


def boundary_holders(data: dict[str, Any]) -> Iterator[tuple[dict[str, Any], DataPath]]:
    """Every farm and every zone, with the path of its boundary."""
    for index, farm in _entries(data, "farms"):
        yield farm, ("farms", index, "boundary")
        for number, zone in _entries(farm, "zones"):
            yield zone, ("farms", index, "zones", number, "boundary")


def _entries(holder: dict[str, Any], key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = holder.get(key)
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(entry, dict):
            yield index, entry


def exclusion_files(boundary: dict[str, Any]) -> Iterator[tuple[dict[str, Any], DataPath]]:
    """The exclusions of a boundary that may stand in files, with their path from the boundary on."""
    given = boundary.get("exclusions")
    if isinstance(given, dict):
        yield given, ("exclusions",)
    for index, entry in _entries(boundary, "exclusions"):
        yield entry, ("exclusions", index)


def _areas(boundary: Any) -> list[dict[str, Any]]:
    if not isinstance(boundary, dict):
        return []
    return [boundary, *(entry for entry, _ in exclusion_files(boundary))]


def _is_geojson(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return False
        return _GEOJSON.search(path.read_bytes()) is not None
    except (OSError, ValueError):
        return False
