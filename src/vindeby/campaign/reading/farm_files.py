"""Boundaries and neighbours in files of their own, and where a campaign file names geographic files.

A boundary is a table of vertices, or YAML or JSON with what would stand in the campaign file; neighbours are a table of
positions, or a result in a database of vindeby. What they hold is put into the data of the campaign, so that the checks
and the stored campaign know only that. A campaign file may come from elsewhere and name any file of this machine, so
messages show no text of these files, only numbers and keys that are almost right.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from vindeby.campaign.reading.files import named_text, suffix_of
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import TableLine, read_positions, read_vertices
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Hidden, Origin, field_name, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem, VindebyError

_NOT_WITH_A_DATABASE = ("positions", "source")


def with_neighbour_files(document: Document, folder: Path) -> Document:
    """Put the neighbours that stand in files of their own into the document."""
    for holder, at in neighbour_groups(document.data):
        group = _Group(document, holder, at)
        if "file" in holder:
            group.take_table(folder, _type_names(document.data, holder))
        elif "database" in holder:
            group.take_stored(folder)
        elif lost := [key for key in ("key", "best") if key in holder]:
            group.refuse(lost[0], "is given without a database", "add database: FILE.h5")
    return document


def neighbour_groups(data: Any) -> Iterator[tuple[dict[str, Any], DataPath]]:
    """Every group of neighbours, wherever it is written, with its path."""
    farms = data.get("farms")
    holders: list[tuple[Any, DataPath]] = [(data, ())]
    holders += [
        (farm, ("farms", index)) for index, farm in enumerate(farms if isinstance(farms, list) else [])
    ]
    for holder, at in holders:
        given = holder.get("neighbours") if isinstance(holder, dict) else None
        if isinstance(given, dict):
            yield given, (*at, "neighbours")
        for index, group in enumerate(given if isinstance(given, list) else []):
            if isinstance(group, dict):
                yield group, (*at, "neighbours", index)


def _type_names(data: Any, group: dict[str, Any]) -> list[str]:
    """The names of the types that a table may use."""
    lists = (group.get("turbines"), data.get("turbines"))
    entries = [entry for one in lists if isinstance(one, list) for entry in one if isinstance(entry, dict)]
    return [entry["name"] for entry in entries if isinstance(entry.get("name"), str)]


class _Group:
    """A group in the data that names a file."""

    def __init__(self, document: Document, data: dict[str, Any], at: DataPath) -> None:
        self.document, self.data, self.at = document, data, at

    def refuse(self, key: str, message: str, remedy: str) -> NoReturn:
        self.document.refuse((*self.at, key), message, remedy, self.data.get(key))

    def refuse_beside(self, key: str, others: Sequence[str]) -> None:
        """Refuse keys that say again, or otherwise, what the file says."""
        given = [other for other in others if other in self.data]
        if given:
            self.refuse(given[0], f"is given beside {key}", f"give {given[0]} or {key}, not both")

    def path_of(self, key: str, folder: Path) -> Path:
        """The path of the file; refuses what is not a path."""
        name = self.data[key]
        if not isinstance(name, str) or not name:
            self.refuse(key, "must be the path of a file", "write it as text")
        return folder / name

    def take_table(self, folder: Path, known: Sequence[str]) -> None:
        """Positions, and types where a column says them."""
        self.refuse_beside("file", ("positions", "source", "database", "key", "best"))
        path = self.path_of("file", folder)
        field = field_name((*self.at, "file"))
        text = named_text(self.document, (*self.at, "file"), path, latin=True)
        places, types = read_positions(text, str(path), field)
        if not places.data:
            self.refuse("file", "does not hold positions", "is it the right file?")
        if types is not None:
            self.refuse_beside("a column of types in the file", ("type",))
            self.data["type"] = [_known_type(row, known, str(path), field) for row in types]
        self.data["source"] = Path(self.data.pop("file")).name
        self.put("positions", places.data)
        for inside, place in places.origins.items():
            self.document.origins[(*self.at, "positions", *inside)] = place

    def take_stored(self, folder: Path) -> None:
        """A result of a database, with the type that it was made for."""
        self.refuse_beside("database", (*_NOT_WITH_A_DATABASE, "file"))
        path = self.path_of("database", folder)
        if ("key" in self.data) == ("best" in self.data):
            self.refuse(
                "database",
                "the entry does not say which result of it",
                "give key: KEY, or best: {farm: NAME}",
            )
        key, farm, type_ = self._asked()
        try:
            found = readers().stored_layout(path, key, farm, type_)
        except VindebyError as error:
            named = "database" if not path.exists() else "best" if key is None else "key"
            self.refuse(named, str(error), "check the path" if named == "database" else "name what it has")
        if found.turbines is None and "type" not in self.data:
            self.refuse("database", "keeps no campaign, so the turbine is not known", "give its type as well")
        if found.turbines is not None:
            self.refuse_beside("a database that knows its turbines", ("type", "turbines"))
            self.put("turbines", found.turbines)
            self.put("type", found.type)
        self.data["source"] = (
            f"{path.name} {found.key} ({found.what})" if found.what else f"{path.name} {found.key}"
        )
        for name in ("database", "key", "best"):
            self.data.pop(name, None)
        self.put("positions", found.positions)

    def put(self, key: str, value: Any) -> None:
        """A value that a file gave, with the line that names the file as its origin."""
        origin = self.document.origin(self.at)
        self.document.origins[(*self.at, key)] = Origin(origin.source, origin.line)
        self.data[key] = value

    def _asked(self) -> tuple[str | None, str | None, str | None]:
        if "key" in self.data:
            key = self.data["key"]
            if not isinstance(key, str):
                self.refuse("key", "must be the name of a result", "write e.g. farm0_t5_s12")
            return key, None, None
        best = self.data["best"]
        if best is True:
            return None, None, None
        unknown = (
            [name for name in best if name not in ("farm", "type")] if isinstance(best, dict) else [best]
        )
        texts = list(best.values()) if isinstance(best, dict) else []
        if unknown or not all(isinstance(text, str) for text in texts):
            self.refuse("best", "does not say of which farm", "write best: {farm: NAME, type: NAME}")
        return None, best.get("farm"), best.get("type")


def _known_type(row: TableLine, known: Sequence[str], source: str, field: str) -> str:
    name = row.cells[0] if row.cells else ""
    if name not in known:
        message = "names no type" if not name else "names a type that is not described"
        remedy = f"known: {', '.join(known)}; describe others under turbines: of this entry"
        raise CampaignError([Problem(source, field, message, None, remedy, row.line)]) from None
    return name


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


_TABLES = (".csv", ".txt", ".tsv")
_KEYS = ("polygon", "polygons", "circle", "exclusions", "center", "radius_m")
_ALMOST_RIGHT = 0.8


def with_boundary_files(document: Document, folder: Path) -> Document:
    """Put the boundaries that stand in files of their own into the document."""
    for holder, at in boundary_holders(document.data):
        boundary = holder.get("boundary")
        if not isinstance(boundary, dict) or not isinstance(boundary.get("file"), str):
            continue
        if len(boundary) > 1:
            others = ", ".join(key for key in boundary if key != "file")
            origin = document.origin((*at, "file"))
            problem = Problem(
                origin.source, field_name(at), f"gives file and {others}", None, "give one", origin.line
            )
            raise CampaignError([problem])
        path = folder / boundary["file"]
        is_table = suffix_of(path) in _TABLES
        text = named_text(document, (*at, "file"), path, latin=is_table)
        read_file = read_vertices if is_table else _read_areas
        inner = read_file(text, str(path), field_name(at))
        holder["boundary"] = inner.data
        document.origins.update({(*at, *inside): place for inside, place in inner.origins.items()})
    return document


def _read_areas(text: str, source: str, field: str) -> Document:
    """What YAML or JSON gives as a boundary."""
    path = Path(source)
    document = _read_yaml(path, text, field)
    if not isinstance(document.data, list | dict):
        message = "does not hold a boundary: it must be a list of vertices or a mapping"
        raise _refused(path, field, message, "is it the right file? A table must be named .csv", 1)
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
        message = "is not valid YAML or JSON" if shows_text else first.message
        raise _refused(path, field, message, "check the file there, or name another", first.line) from None


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
