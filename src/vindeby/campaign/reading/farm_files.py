"""Boundaries in files of their own, and whether a campaign file names geographic files.

A boundary is a table of vertices, or YAML or JSON with what would stand in the campaign file. What it holds is put into
the data of the campaign, so that the checks and the stored campaign know only that. A campaign file may come from
elsewhere and name any file of this machine, so messages show no text of these files, only numbers and keys that are
almost right.
"""

import difflib
import re
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.files import NamedFile, suffix_of
from vindeby.campaign.reading.places import EXCLUSIONS, NEIGHBOURS, STARTS, WITH_BOUNDARY, mappings, places
from vindeby.campaign.reading.tables import read_vertices
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Origin, field_name, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

SUFFIXES = (".geojson", ".shp", ".zip", ".gpkg", ".kml", ".gdb")
_GEOJSON = re.compile(
    rb'"type"\s*:\s*"(?:FeatureCollection|Feature|GeometryCollection|(?:Multi)?(?:Polygon|Point|LineString))"'
)


def names_geographic_files(data: dict[str, Any], folder: Path) -> bool:
    """Whether anything in the campaign is to be read from a geographic file."""
    if isinstance(data.get("farms"), dict) and "file" in data["farms"]:
        return True
    areas = [f"{one}.boundary" for one in WITH_BOUNDARY]
    patterns = (*areas, *(f"{one}.{EXCLUSIONS}" for one in areas), *NEIGHBOURS, *STARTS)
    return any(is_geographic(entry.get("file"), folder) for entry, _ in mappings(data, *patterns))


def is_geographic(name: Any, folder: Path) -> bool:
    """Whether a file is one by its name, or is GeoJSON under the name .json."""
    if not isinstance(name, str):
        return False
    path = folder / name
    suffix = path.suffix.lower()
    return suffix in SUFFIXES or (suffix == ".json" and _is_geojson(path))


def _is_geojson(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return False
        return _GEOJSON.search(path.read_bytes()) is not None
    except (OSError, ValueError):
        return False


TABLES = (".csv", ".txt", ".tsv")
"""How the names of tables end."""
_KEYS = ("polygon", "polygons", "circle", "exclusions", "center", "radius_m")
_ALMOST_RIGHT = 0.8


def with_boundary_files(document: Document, folder: Path) -> Document:
    """Put the boundaries that stand in files of their own into the document."""
    for holder, key, at in places(document.data, *(f"{one}.boundary" for one in WITH_BOUNDARY)):
        boundary = holder[key]
        if not isinstance(boundary, dict) or not isinstance(boundary.get("file"), str):
            continue
        named = NamedFile(document, boundary, at, folder)
        if len(boundary) > 1:
            others = ", ".join(key for key in boundary if key != "file")
            document.refuse(at, f"gives file and {others}", "give one")
        is_table = suffix_of(named.path) in TABLES
        text = named.text(latin=is_table)
        inner = read_vertices(text, str(named.path), named.field) if is_table else _read_areas(text, named)
        holder[key] = inner.data
        document.put(at, inner)
    return document


def _read_areas(text: str, named: NamedFile) -> Document:
    try:
        document = read(text, str(named.path))
    except CampaignError as error:
        first = error.problems[0]
        shows_text = first.value is not None or "'" in first.message or "*" in first.message
        message = "is not valid YAML or JSON" if shows_text else first.message
        named.refuse(message, "check the file there, or name another", line=first.line)
    if not isinstance(document.data, list | dict):
        message = "does not hold a boundary: it must be a list of vertices or a mapping"
        named.refuse(message, "is it the right file? A table must be named .csv", line=1)
    document = _named_areas(document)
    _refuse_text(document, document.data, named)
    return document


def _named_areas(document: Document) -> Document:
    """A boundary of the IEA Task 37 case studies, vertices under the name of each area, as one of ours."""
    areas = document.data.get("boundaries") if isinstance(document.data, dict) else None
    if not isinstance(areas, dict) or not all(isinstance(area, list) for area in areas.values()):
        return document
    number = {name: index for index, name in enumerate(areas)}
    origins: dict[DataPath, Origin] = {
        ("polygons", number[str(path[1])], *path[2:]): place
        for path, place in document.origins.items()
        if path[:1] == ("boundaries",) and len(path) > 1
    }
    return Document({"polygons": list(areas.values())}, {(): document.origin(()), **origins})


def _refuse_text(document: Document, data: Any, named: NamedFile, at: DataPath = ()) -> None:
    """Refuse text, which a boundary has nowhere, and keys that are not even similar to a known one."""
    line = document.origin(at).line
    if at and isinstance(at[-1], str) and not difflib.get_close_matches(at[-1], _KEYS, 1, _ALMOST_RIGHT):
        named.refuse("has a key that is not known", f"known: {', '.join(_KEYS)}", line=line)
    if isinstance(data, str):
        field, remedy = field_name((*named.at, *at)), "write a number, without quotes"
        raise CampaignError([Problem(str(named.path), field, "must be a number", None, remedy, line)])
    inner = data.items() if isinstance(data, dict) else enumerate(data if isinstance(data, list) else ())
    for key, value in inner:
        _refuse_text(document, value, named, (*at, key))
