"""Parts of windIO files, asked for by their keys: includes are followed on the way, and what is used is noted.

A netCDF file becomes what YAML would have: a list for a coordinate, ``{data, dims}`` for anything else.

Includes of a stranger's system may name any file: they stay in its folder, and no error shows what is in them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NoReturn

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.files import UnreadableError, read_bounded_text
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Include, Origin, field_name, read, unused
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem, VindebyError
from vindeby.interop.common import EXPORT_MARK
from vindeby.store.foreign.gridded_file import read_gridded_file


@dataclass
class Notes:
    """Notes about a file for the user, one line each."""

    taken: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    """The choices made where windIO leaves something open."""
    doubtful: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    schema: list[str] = field(default_factory=list)
    """The deviations of the file from windIO's schema; or that it was not checked."""
    missing: list[Problem] = field(default_factory=list)
    """Problems with data that the file lacks; fields as in ``--set``: ``site.time_series.turbulence_intensity``."""

    def lines(self) -> Iterator[str]:
        """Yield each line after a word for its kind."""
        said = {
            "taken": self.taken,
            "chosen": self.chosen,
            "warning": self.doubtful,
            "ignored": self.ignored,
            "schema": self.schema,
        }
        for word, entries in said.items():
            yield from (f"{word}: {entry}" for entry in dict.fromkeys(entries))
        yield from (f"missing: {one.field}: {one.message}; {one.remedy}" for one in self.missing)


MOST_INCLUDES = 200
_TEXTS = (".yaml", ".yml", ".json")
_NETCDF = ".nc"
_LARGEST = 1e300
_NOT_READ: Any = ...
"""A mark for a variable of a netCDF file that is not known here."""

COORDINATES = ("time", "wind_direction", "wind_speed", "wind_turbine", "x", "y", "height")
DATA = ("probability", "sector_probability", "weibull_a", "weibull_k", "turbulence_intensity", "operating")
"""The data that are read from a wind resource; anything else is listed as ignored."""


class Tree:
    """A system as one document: the file that was named, and the files that it includes.

    ``is_named``: the user named the file, not another file; ``allow_outside``: its includes may leave its folder.
    """

    def __init__(self, path: Path, *, is_named: bool = True, allow_outside: bool = False) -> None:
        self.path, self.is_named = path, is_named
        self.document = _read_text(path)
        self.used: set[DataPath] = set()
        self._folder = None if allow_outside else _folder_of(path)
        self._included: dict[DataPath, tuple[Path, Any]] = {}
        """The file and the data of each include that was followed."""

    def where(self, path: DataPath) -> str:
        """Return the name of the file, and the field in the system."""
        file, field = Path(self.document.origin(path).source).name, field_name(path)
        return f"{file}: {field}" if field else file

    def whole(self, value: Any, path: DataPath = ()) -> Any:
        """Return the data with what was included in its place."""
        if isinstance(value, Include) and path in self._included:
            value = self._included[path][1]
        if isinstance(value, dict):
            return {key: self.whole(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.whole(inner, (*path, index)) for index, inner in enumerate(value)]
        return value

    def ignored_keys(self) -> list[str]:
        """Return the names of unused data, among them includes that were not followed, each with its file."""
        return unused(self.whole(self.document.data), self.used, self.where)

    def files_around(self, path: DataPath) -> list[Path]:
        """Return the files of a part: the one that was named, and those that each included the next."""
        return [self.path, *(file for at, (file, _) in self._included.items() if path[: len(at)] == at)]

    def included(self, node: Node) -> Any:
        """Return the content of the file that is included at a node."""
        if node.path not in self._included:
            files = self.files_around(node.path)
            path = self._path_of(node, files[-1])
            if os.path.realpath(path) in map(os.path.realpath, files):
                node.refuse("includes itself", "remove the include, or name another file", node.value.file)
            if len(self._included) >= MOST_INCLUDES:
                message = f"there are more than {MOST_INCLUDES} includes"
                node.refuse(message, "write parts of the system into one file")
            document = self._read(path, node)
            self._included[node.path] = path, document.data
            self.document.put(node.path, document)
        return self._included[node.path][1]

    def _path_of(self, node: Node, file: Path) -> Path:
        name: str = node.value.file
        is_elsewhere = (
            PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or name.startswith("~")
        )
        if not name or "\0" in name or is_elsewhere or "://" in name:
            node.refuse("is not a relative path of a file", "include a file by its path from this one", name)
        if not name.lower().endswith((*_TEXTS, _NETCDF)):
            kinds = ", ".join((*_TEXTS, _NETCDF))
            node.refuse("is not a kind of file that is included", f"include one of {kinds}", name)
        path = file.parent / name
        if self._folder is not None and not Path(os.path.realpath(path)).is_relative_to(self._folder):
            remedy = f"move it into {self._folder}, or give --allow-outside if you trust the system"
            node.refuse("is outside the folder of the system, itself or by a link", remedy, name)
        return path

    def _read(self, path: Path, node: Node) -> Document:
        shown = os.path.normpath(path)
        try:
            return _read_netcdf(path) if path.suffix.lower() == _NETCDF else _read_text(path)
        except UnreadableError as error:
            node.refuse(error.problems[0].message, error.problems[0].remedy or "", shown)
        except CampaignError as error:  # which quotes what is not YAML
            source, line = error.problems[0].source, error.problems[0].line
            remedy = f"`vindeby check {source}` says more"
            raise CampaignError([Problem(source, "", "is not YAML", None, remedy, line)]) from None
        except VindebyError as error:
            message = str(error).replace(str(path), shown)
            node.refuse(message, "correct it, or include another file with the wind resource")


@dataclass(frozen=True)
class Node:
    """A value somewhere in a system, and its path there."""

    value: Any
    path: DataPath
    tree: Tree

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place; no value of an included file, and no text if the user named none."""
        is_shown = self._is_in_the_named_file and (self.tree.is_named or not isinstance(value, str))
        self.tree.document.refuse(self.path, message, remedy, value if is_shown else None)

    @property
    def _is_in_the_named_file(self) -> bool:
        return len(self.tree.files_around(self.path)) == 1

    @property
    def origin(self) -> Origin:
        """The file and the line."""
        return self.tree.document.origin(self.path)

    @property
    def where(self) -> str:
        """The name of the file, and the field in the system."""
        return self.tree.where(self.path)

    def shown(self, text: object) -> str:
        """Return text of the file for a message; dots where the user did not name the file."""
        return str(text) if self.tree.is_named and self._is_in_the_named_file else "..."

    def get(self, key: str, *inner: str) -> Node | None:
        """Return the node under a key, or under keys inside each other; None if there is none."""
        self.mapping()
        found = self._child(key) if self.has(key) else None
        return found.get(*inner) if inner and found is not None else found

    def use(self, *keys: str) -> None:
        """Mark the node, or the value under a key, as used.

        Whatever is not used is listed. Numbers and text are marked when they are read.
        """
        self.tree.used.add((*self.path, *keys))

    def need(self, key: str, remedy: str = "add it") -> Node:
        """Return the node under a key; refuse if there is none."""
        found = self.get(key)
        if found is None:
            self.refuse(f"{key} is missing", remedy)
        return found

    def has(self, key: str) -> bool:
        """Return whether there is such a key, without following an include."""
        found = self.value.get(key) if isinstance(self.value, dict) else None
        return found is not None and found is not _NOT_READ

    def mapping(self) -> dict[str, Any]:
        """Return the value as a mapping."""
        if not isinstance(self.value, dict):
            self.refuse("must be a mapping", "write it as windIO has it, with keys", self.value)
        return self.value

    def entries(self) -> list[Node]:
        """Return the entries of a list; of anything else, the value itself."""
        if not isinstance(self.value, list):
            return [self]
        return [self._child(index) for index in range(len(self.value))]

    def items(self) -> Iterator[tuple[str, Node]]:
        """Yield every key with its node."""
        for key in self.mapping():
            found = self.get(key)
            if found is not None:
                yield key, found

    def number(self) -> float:
        """Return the value as a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse("must be a number", "write a number, without quotes", self.value)
        try:
            number = float(self.value)
        except OverflowError:  # an integer of hundreds of digits
            number = math.inf
        if not math.isfinite(number):
            self.refuse("is not finite", "write a number", number)
        self.use()
        return number

    def positive(self, most: float = math.inf) -> float:
        """Return the value as a number above 0, and not above ``most``."""
        number = self.number()
        if not 0.0 < number <= most:
            self.refuse(f"must be above 0 and at most {most:g}", "check its unit", number)
        return number

    def text(self) -> str:
        """Return the value as text."""
        if not isinstance(self.value, str):
            self.refuse("must be text", "write it as text", self.value)
        self.use()
        return self.value

    def numbers(self) -> list[float]:
        """Return the value as a list of numbers; a bare number is a list of one."""
        array = self.array()
        if array.ndim > 1:
            self.refuse("must be a plain list of numbers", "remove the inner brackets")
        return [float(number) for number in np.atleast_1d(array)]

    def array(self) -> FloatArray:
        """Return the value as numbers in nested lists of equal length, or as a netCDF file has them."""
        if not isinstance(self.value, np.ndarray):
            for path, value in _leaves(self.value, self.path):
                if type(value) not in (int, float) or not abs(value) < _LARGEST:
                    replace(self, value=value, path=path).number()
        elif not np.isfinite(self.value).all():
            self.refuse("has gaps: some values are missing or not finite", "fill them")
        try:
            array = np.array(self.value, np.float64)
        except ValueError:
            self.refuse("has rows of different lengths", "give rows of equal length")
        if not array.size:
            self.refuse("is empty", "give numbers")
        self.use()
        return array

    def _child(self, key: Any) -> Node:
        return replace(self, value=self.value[key], path=(*self.path, key)).followed()

    def followed(self) -> Node:
        """Return the node itself or, for an include, the content of the file that it names."""
        return replace(self, value=self.tree.included(self)) if isinstance(self.value, Include) else self


def open_root(path: Path, *, is_named: bool = True, allow_outside: bool = False) -> Node:
    """Return the data of the file that everything starts from; see ``Tree``."""
    tree = Tree(path, is_named=is_named, allow_outside=allow_outside)
    return Node(tree.document.data, (), tree).followed()


def _folder_of(path: Path) -> Path:
    """Return the folder that includes must stay in: that of the system or, in an export of several, of the export."""
    folder = Path(os.path.realpath(path.parent))
    return folder.parent if (folder.parent / EXPORT_MARK).is_file() else folder


def _read_text(path: Path) -> Document:
    return read(read_bounded_text(path, MAX_BYTES), os.path.normpath(path), includes=True)


def _read_netcdf(path: Path) -> Document:
    found = read_gridded_file(path, (*COORDINATES, *DATA))
    data: dict[str, Any] = dict.fromkeys(found.others, _NOT_READ)
    for given, one in found.arrays.items():
        name = given.lower()
        if name not in (*COORDINATES, *DATA):
            data[given] = _NOT_READ
        else:
            dims = [axis.lower() for axis in one.axes]
            data[name] = one.values if dims == [name] else {"data": one.values, "dims": dims}
    data |= {given.lower(): texts for given, texts in found.texts.items()}
    return Document(data, {(): Origin(os.path.normpath(path))})


def _leaves(value: Any, path: DataPath) -> Iterator[tuple[DataPath, Any]]:
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value
