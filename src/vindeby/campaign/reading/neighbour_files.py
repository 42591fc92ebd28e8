"""Neighbours in files of their own: a table of positions, or a result in a database of vindeby.

What they hold is put into the campaign's data, so that the checks and the stored campaign know positions only. Messages
show no text of a table: any file can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from vindeby.campaign.reading.late_readers import stored_layout
from vindeby.campaign.reading.vertex_table import Row, read_places
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem, VindebyError

TextOf = Callable[[Path, str, str], str]
"""The text of a file, for the field and the place that name it."""

_NOT_WITH_A_DATABASE = ("positions", "source")


def with_neighbour_files(document: Document, folder: Path, text_of: TextOf) -> Document:
    """Put the neighbours that stand in files of their own into the document."""
    for holder, at in neighbour_groups(document.data):
        group = _Group(document, holder, at)
        if "file" in holder:
            group.take_table(folder, text_of, _type_names(document.data, holder))
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
        path = (*self.at, key)
        origin, value = self.document.origin(path), self.data.get(key)
        shown = repr(value) if isinstance(value, str | int | float) else None
        problem = Problem(origin.source, field_name(path), message, shown, remedy, origin.line)
        raise CampaignError([problem]) from None

    def refuse_beside(self, key: str, others: Sequence[str]) -> None:
        """Refuse keys that say again, or otherwise, what the file says."""
        given = [other for other in others if other in self.data]
        if given:
            self.refuse(given[0], f"is given beside {key}", f"give {given[0]} or {key}, not both")

    def path_of(self, key: str, folder: Path) -> Path:
        """The path of the file; refuses what is no path."""
        name = self.data[key]
        if not isinstance(name, str) or not name:
            self.refuse(key, "must be the path of a file", "write it as text")
        return folder / name

    def take_table(self, folder: Path, text_of: TextOf, known: Sequence[str]) -> None:
        """Positions, and types where a column says them."""
        self.refuse_beside("file", ("positions", "source", "database", "key", "best"))
        path = self.path_of("file", folder)
        field = field_name((*self.at, "file"))
        origin = self.document.origin((*self.at, "file"))
        places, types = read_places(text_of(path, field, f"{origin.source}:{origin.line}"), str(path), field)
        if not places.data:
            self.refuse("file", "holds no positions", "is it the right file?")
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
            self.refuse("database", "which result it is, is not said", "give key: KEY, or best: {farm: NAME}")
        key, farm, type_ = self._asked()
        try:
            found = stored_layout(path, key, farm, type_)
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


def _known_type(row: Row, known: Sequence[str], source: str, field: str) -> str:
    name = row.cells[0] if row.cells else ""
    if name not in known:
        told = "names no type" if not name else "names a type that is not described"
        remedy = f"known: {', '.join(known)}; describe others under turbines: of this entry"
        raise CampaignError([Problem(source, field, told, None, remedy, row.line)]) from None
    return name
