"""Boundaries, neighbours and starts in files of their own, and whether a campaign file names geographic files.

A boundary is a table of vertices, or YAML or JSON with what would stand in the campaign file. Neighbours and starts are
a table of positions, a windIO file, or results in a database of vindeby; geographic files are read before. What files
hold is put into the data of the campaign, so that the checks and the stored campaign know only that. A campaign file
may come from elsewhere and name any file of this machine, so messages show no text of these files, only numbers.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vindeby.campaign.reading.files import NamedFile, named_files, suffix_of
from vindeby.campaign.reading.places import (
    EXCLUSIONS,
    NEIGHBOURS,
    STARTS,
    WITH_BOUNDARY,
    mappings,
    type_names,
)
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import TableReader, read_layout_table, read_vertices
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Origin, field_name, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import ArgumentError, CampaignError, Problem, VindebyError
from vindeby.text import plural

SUFFIXES = (".geojson", ".shp", ".zip", ".gpkg", ".kml", ".gdb")
_GEOJSON = re.compile(
    rb'"type"\s*:\s*"(?:FeatureCollection|Feature|GeometryCollection|(?:Multi)?(?:Polygon|Point|LineString))"'
)


def names_geographic_files(data: dict[str, Any], folder: Path) -> bool:
    """Return whether any part of the campaign is read from a geographic file."""
    if isinstance(data.get("farms"), dict) and "file" in data["farms"]:
        return True
    areas = [f"{one}.boundary" for one in WITH_BOUNDARY]
    patterns = (*areas, *(f"{one}.{EXCLUSIONS}" for one in areas), *NEIGHBOURS, *STARTS)
    return any(is_geographic(entry.get("file"), folder) for entry, _ in mappings(data, *patterns))


def is_geographic(name: Any, folder: Path) -> bool:
    """Return whether a file is geographic by its suffix, or is GeoJSON with the suffix .json."""
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
"""The suffixes of tables."""
_KEYS = ("polygon", "polygons", "circle", "exclusions", "center", "radius_m")


def with_boundary_files(document: Document, folder: Path) -> None:
    """Replace the names of boundary files in the document by the boundaries."""
    for named in named_files(document, folder, *(f"{one}.boundary" for one in WITH_BOUNDARY)):
        named.refuse_beside("file", [key for key in named.data if key != "file"])
        is_table = suffix_of(named.path) in TABLES
        text = named.text(latin=is_table)
        inner = read_vertices(text, str(named.path), named.field) if is_table else _read_areas(text, named)
        is_list = isinstance(inner.data, list)
        named.put({"polygon": inner.data} if is_list else inner.data)
        document.put((*named.at, "polygon") if is_list else named.at, inner)


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
    _refuse_text(document, document.data, named)
    return document


def _refuse_text(document: Document, data: Any, named: NamedFile, at: DataPath = ()) -> None:
    """Refuse text, which a boundary has nowhere, and unknown keys, without showing them."""
    line = document.origin(at).line
    if at and isinstance(at[-1], str) and at[-1] not in _KEYS:
        named.refuse("has a key that is not known", f"known: {', '.join(_KEYS)}", line=line)
    if isinstance(data, str):
        field, remedy = field_name((*named.at, *at)), "write a number, without quotes"
        raise CampaignError([Problem(str(named.path), field, "must be a number", None, remedy, line)])
    inner = data.items() if isinstance(data, dict) else enumerate(data if isinstance(data, list) else ())
    for key, value in inner:
        _refuse_text(document, value, named, (*at, key))


def with_layout_files(document: Document, folder: Path) -> None:
    """Replace the names of neighbour and start files in the document by their contents."""
    for named in named_files(document, folder, *NEIGHBOURS):
        _take_table(named, type_names(document.data, named.data))
    for named in named_files(document, folder, *NEIGHBOURS, key="database"):
        _take_stored(named)
    farms = {at: farm for farm, at in mappings(document.data, "farms[]")}
    others = [farm for farm in farms.values() if "start" not in farm]
    for key, take in (("file", _layouts_in_file), ("database", _stored_layouts)):
        for named in named_files(document, folder, *STARTS, key=key):
            named.refuse_beside(key, ("x", "y", "type", "layouts", "source", *({"file", "database"} - {key})))
            mine = [farms[named.at[:-1]]] if named.at[:-1] in farms else others
            names = [name for farm in mine if isinstance(name := farm.get("name"), str)]
            types = type_names(document.data, {})
            layouts = take(named, _names_of(named, "farms", names), _names_of(named, "types", types))
            named.put({"layouts": layouts, "source": named.path.name}, Origin(str(named.path), None))
            for name in ("farms", "types", "seeds"):
                named.data.pop(name, None)


def _take_table(named: NamedFile, known: Sequence[str]) -> None:
    named.refuse_beside("file", ("positions", "source", "database", "farm", "seed"))
    reader = TableReader(str(named.path), f"{named.field}.file")
    remedy = "; describe others under turbines: of this entry"
    table = read_layout_table(named.text(latin=True), reader, known, remedy)
    if types := table.words.get("type"):
        named.refuse_beside("a column of types in the file", ("type",))
        named.data["type"] = types
    pairs = zip(table.columns["x"], table.columns["y"], strict=True)
    positions = [list(pair) for pair in pairs]
    named.put({"positions": positions, "source": named.path.name}, Origin(str(named.path), rows=table.lines))


def _take_stored(named: NamedFile) -> None:
    """Put the layout of a database into a group of neighbours, which names its farm, type and seed."""
    named.refuse_beside("database", ("positions", "source", "file"))
    named.refuse_beside("a database, which knows its turbines", ("turbines",))
    for key in ("farm", "type"):
        if not isinstance(named.data.get(key, ""), str):
            named.refuse_key(key, f"is not the name of a {key}", "write the name that it has in the database")
    seed = named.data.get("seed", "best")
    if seed != "best" and not _is_seed(seed):
        named.refuse_key("seed", "is not known", "write best, or the number of a seed")
    try:
        found = readers().stored_neighbours(named.path, named.data.get("farm"), named.data.get("type"), seed)
    except VindebyError as error:
        key = getattr(error, "key", "database")
        named.refuse_key(key, str(error), "name what it has" if named.path.exists() else "check the path")
    for key in ("farm", "type", "seed"):
        named.data.pop(key, None)
    named.put(found)


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_WINDIO = (".yaml", ".yml")
Names = Mapping[str, str]
"""The name that each farm or type of the campaign has in a file."""


def _names_of(named: NamedFile, key: str, own: Sequence[str]) -> Names:
    """Return the name in the file of each farm or type; the same name unless the entry gives another."""
    given = named.data.get(key, {})
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given.values()):
        named.refuse_key(key, "does not say which name stands for which", f"write {key}: {{OURS: THEIRS}}")
    if unknown := [name for name in given if name not in own]:
        wrong = f"names {unknown[0]!r}, which the campaign does not have here"
        named.refuse_key(key, wrong, f"name one of {', '.join(own)}, then its name in the file")
    return {name: given.get(name, name) for name in own}


def _stored_layouts(named: NamedFile, farms: Names, types: Names) -> list[dict[str, Any]]:
    seeds, own = named.data.get("seeds", "best"), named.document.data.get("seeds")
    if seeds not in ("best", "same") and not _is_seed(seeds):
        named.refuse_key("seeds", "is not known", "write best, same, or the number of a seed")
    wanted: dict[int | None, int | str] = {None: seeds}
    if seeds == "same":
        ours = range(own) if isinstance(own, int) else own if isinstance(own, list) else ()
        wanted = {seed: seed for seed in ours if isinstance(seed, int)}
    try:
        return [*readers().stored_starts(named.path, farms, types, wanted)]
    except VindebyError as error:
        named.refuse_key("database", str(error), "name a database, farms, types and seeds that have layouts")


def _layouts_in_file(named: NamedFile, farms: Names, types: Names) -> list[dict[str, Any]]:
    """Return the layout of each farm; a single layout stands for every farm unless the entry names farms."""
    if "seeds" in named.data:
        named.refuse_key("seeds", "is for a database", "leave it out")
    ours = {theirs: name for name, theirs in types.items()}
    if suffix_of(named.path) in _WINDIO:
        try:
            first: dict[Any, dict[str, Any]] = {}
            for layout in readers().windio_layouts(named.path):
                first.setdefault(layout.get("farm"), layout)
            found = [*first.values()]
        except VindebyError as error:
            named.refuse_key("file", str(error), "name a windIO system, farm or layout, or a table")
    else:
        reader = TableReader(str(named.path), f"{named.field}.file")
        table = read_layout_table(named.text(latin=True), reader, dict.fromkeys([*types, *ours]))
        found = layouts_by_farm({**table.columns, **table.words})
    for layout in found:
        layout["type"] = [ours.get(name, name) for name in layout.get("type") or ()] or None
    if len(found) == 1 and "farms" not in named.data:
        return [{**found[0], "farm": None}]
    by_farm = {layout.get("farm"): layout for layout in found}
    if lacking := [name for name, theirs in farms.items() if theirs not in by_farm]:
        wrong = f"holds {plural(len(found), 'layout')}, none of them for farm {lacking[0]!r}"
        named.refuse_key("file", wrong, f"say which one is: farms: {{{lacking[0]}: NAME}}")
    return [{**by_farm[theirs], "farm": name} for name, theirs in farms.items()]


def columns_of(layout: Any) -> dict[str, list[Any]]:
    """Return the columns of arrays x and y, of an array (2, n), or of an object with x, y and perhaps type and farm."""
    names = ("x", "y", "type", "farm")
    if hasattr(layout, "keys"):  # a mapping, or a DataFrame
        found = {name: layout[name] for name in names if name in layout.keys()}  # noqa: SIM118
    else:
        pair = (layout.x, layout.y) if hasattr(layout, "x") else layout
        found = dict(zip(names, pair, strict=False)) if hasattr(pair, "__len__") and len(pair) == 2 else {}
    if not {"x", "y"} <= found.keys() or not all(np.ndim(column) == 1 for column in found.values()):
        raise ArgumentError(
            "with_start: the layout has no x and y; give a table with these columns, or (x, y)"
        )
    return {name: np.asarray(column).tolist() for name, column in found.items()}


def layouts_by_farm(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the layout of each farm in a table, as a start lists layouts; a table without farms is a single layout."""
    farms = columns.get("farm") or [None] * len(columns["x"])
    return [
        {"farm": farm}
        | {
            name: [value for value, whose in zip(column, farms, strict=False) if whose == farm]
            for name, column in columns.items()
            if name != "farm"
        }
        for farm in dict.fromkeys(farms)
    ]
