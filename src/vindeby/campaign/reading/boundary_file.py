"""A boundary in a file of its own: a table of vertices, or YAML or JSON with what would stand in the campaign file.

A campaign file may come from elsewhere and name any file of this machine. So messages say where and what is wrong,
but show no text of that file, only numbers and keys that are almost right.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.hidden import Hidden
from vindeby.campaign.reading.number_table import suffix_of
from vindeby.campaign.reading.vertex_table import read_vertices
from vindeby.campaign.reading.yaml_text import Document, Origin, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

_TABLES = (".csv", ".txt", ".tsv")
_KEYS = ("polygon", "polygons", "circle", "exclusions", "center", "radius_m")
_ALMOST_RIGHT = 0.8


def read_boundary(path: Path, text: str, field: str) -> Document:
    """The boundary in a file; ``field`` is what refers to it."""
    if suffix_of(path) in _TABLES:
        return read_vertices(text, str(path), field)
    document = _read_yaml(path, text, field)
    if not isinstance(document.data, list | dict):
        told = "holds no boundary: it must be a list of vertices or a mapping"
        raise _refused(path, field, told, "is it the right file? A table must be named .csv", 1)
    document = _named_areas(document)
    document.data = _hide(document, document.data, path, field)
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


def _read_yaml(path: Path, text: str, field: str) -> Document:
    try:
        return read(text, str(path))
    except CampaignError as error:
        first = error.problems[0]
        shows_text = first.value is not None or "'" in first.message or "*" in first.message
        told = "is not valid YAML or JSON" if shows_text else first.message
        raise _refused(path, field, told, "check the file there, or name another", first.line) from None


def _hide(document: Document, data: Any, path: Path, field: str, at: DataPath = ()) -> Any:
    """The same data with its text hidden; refuses keys that are not even similar to a known one."""
    if isinstance(data, dict):
        for key in data:
            if not difflib.get_close_matches(key, _KEYS, n=1, cutoff=_ALMOST_RIGHT):
                line = document.origin((*at, key)).line
                raise _refused(path, field, "has a key that is not known", f"known: {', '.join(_KEYS)}", line)
        return {key: _hide(document, value, path, field, (*at, key)) for key, value in data.items()}
    if isinstance(data, list):
        return [_hide(document, value, path, field, (*at, index)) for index, value in enumerate(data)]
    return Hidden(data) if isinstance(data, str) else data


def _refused(path: Path, field: str, message: str, remedy: str, line: int | None) -> CampaignError:
    return CampaignError([Problem(str(path), field, message, None, remedy, line)])
