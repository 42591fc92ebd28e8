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
    """Said to the user, one line each."""

    taken: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    """Where windIO leaves something open, what was chosen."""
    doubtful: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Includes that were not followed."""
    schema: list[str] = field(default_factory=list)
    """Where the file does not keep to windIO's schema; or that it was not checked."""
    missing: list[Problem] = field(default_factory=list)
    """What the file does not give; a field is named as in ``--set``: ``site.time_series.turbulence_intensity``."""

    def lines(self) -> Iterator[str]:
        """All of it, each line with a word that says what it is."""
        for name in ("taken", "chosen", "doubtful", "ignored", "left", "schema"):
            word = {"doubtful": "warning", "left": "include left"}.get(name, name)
            yield from (f"{word}: {entry}" for entry in dict.fromkeys(getattr(self, name)))
        yield from (f"missing: {one.field}: {one.message}; {one.remedy}" for one in self.missing)


MOST_INCLUDES = 200
_TEXTS = (".yaml", ".yml", ".json")
_NETCDF = ".nc"
_LARGEST = 1e300
_LONGEST_CHECKED = 10_000
_NOT_READ: Any = ...
"""Stands for a variable of a netCDF file that is not known here."""

COORDINATES = ("time", "wind_direction", "wind_speed", "wind_turbine", "x", "y", "height")
DATA = ("probability", "sector_probability", "weibull_a", "weibull_k", "turbulence_intensity", "operating")
"""What is read of a wind resource; anything else is listed as ignored."""


@dataclass(eq=False)
class File:
    """A file of a system: what it holds, where that stands in the whole, and what of it was asked for."""

    path: Path
    document: Document
    at: DataPath = ()
    around: tuple[File, ...] = ()
    """The files that it was included by, from the one that was named on."""
    used: set[DataPath] = field(default_factory=set)
    followed: dict[DataPath, File] = field(default_factory=dict)
    """The files that were included here; their data are shared, and never changed."""

    def where(self, path: DataPath) -> str:
        """The file, and the field in it."""
        field = field_name(path)
        return f"{self.path.name}: {field}" if field else self.path.name


class Tree:
    """All files of a system: the one that was named, and those that were included where something was asked for.

    ``is_named``: the user named the file, not another file; ``allow_outside``: its includes may leave its folder.
    """

    def __init__(self, path: Path, *, is_named: bool = True, allow_outside: bool = False) -> None:
        self.files = [File(path, _read_text(path))]
        self.is_named = is_named
        self._folder = None if allow_outside else _folder_of(path)
        self._documents: dict[str, Document] = {}
        """The files that were included, by their real paths."""

    def ignored_keys(self) -> list[str]:
        """What was not used of the files that were read, with the file that has it."""
        found = [unused(one.document.data, {*one.used, *one.followed}, one.where) for one in self.files]
        return list(dict.fromkeys(line for lines in found for line in lines))

    def left(self) -> list[tuple[File, DataPath, Include]]:
        """Includes that were not followed, and where they stand."""
        documents = {id(file.document): file.document for file in self.files}
        found = {key: list(_includes(one.data, ())) for key, one in documents.items()}
        return [
            (file, path, include)
            for file in self.files
            for path, include in found[id(file.document)]
            if path not in file.followed
        ]

    def left_includes(self) -> list[str]:
        """Includes that were not followed, with where they stand and whether the file is there."""
        lines = []
        for file, path, include in self.left():
            there = os.path.isfile(file.path.parent / include.file)  # noqa: PTH113  (a name that no file can have)
            lines.append(
                f"{include.file} ({file.where(path)}): not needed{'' if there else ', and not there'}"
            )
        return lines

    def included(self, node: Node) -> Node:
        """What the file holds that is included at a node."""
        path = self._path_of(node)
        files = (*node.file.around, node.file)
        if os.path.realpath(path) in [os.path.realpath(file.path) for file in files]:
            node.refuse("includes itself", "remove the include, or name another file", node.value.file)
        if len(self.files) > MOST_INCLUDES:
            message = f"there are more than {MOST_INCLUDES} includes"
            node.refuse(message, "write parts of the system into one file")
        file = File(path, self._read(path, node), (*node.file.at, *node.path), files)
        node.file.followed[node.path] = file
        self.files.append(file)
        return Node(file.document.data, (), file, self)

    def _path_of(self, node: Node) -> Path:
        name: str = node.value.file
        is_elsewhere = (
            PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or name.startswith("~")
        )
        if not name or "\0" in name or is_elsewhere or "://" in name:
            node.refuse("is not a relative path of a file", "include a file by its path from this one", name)
        if not name.lower().endswith((*_TEXTS, _NETCDF)):
            kinds = ", ".join((*_TEXTS, _NETCDF))
            node.refuse("is not a kind of file that is included", f"include one of {kinds}", name)
        path = node.file.path.parent / name
        if self._folder is not None and not Path(os.path.realpath(path)).is_relative_to(self._folder):
            remedy = f"move it into {self._folder}, or give --allow-outside if you trust the system"
            node.refuse("is outside the folder of the system, itself or by a link", remedy, name)
        return path

    def _read(self, path: Path, node: Node) -> Document:
        shown = os.path.normpath(path)
        try:
            if (real := os.path.realpath(path)) not in self._documents:
                is_netcdf = path.suffix.lower() == _NETCDF
                self._documents[real] = _read_netcdf(path) if is_netcdf else _read_text(path)
            return self._documents[real]
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
    """A value somewhere in a system, and where it stands in its file."""

    value: Any
    path: DataPath
    file: File
    tree: Tree

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place; no value of an included file, and no text if the user named none."""
        is_shown = not self.file.around and (self.tree.is_named or not isinstance(value, str))
        self.file.document.refuse(self.path, message, remedy, value if is_shown else None)

    @property
    def where(self) -> str:
        """The file, and the field in it."""
        return self.file.where(self.path)

    def shown(self, text: object) -> str:
        """Return text of the file for a message; dots where the user did not name the file."""
        return str(text) if self.tree.is_named and not self.file.around else "..."

    def get(self, key: str, *inner: str) -> Node | None:
        """What stands under a key, or under keys inside each other; None where there is nothing."""
        self.mapping()
        found = self._child(key) if self.has(key) else None
        return found.get(*inner) if inner and found is not None else found

    def use(self, *keys: str) -> None:
        """Note it, or what stands under a key, as used: the rest is listed. Numbers and text are used when taken."""
        self.file.used.add((*self.path, *keys))

    def need(self, key: str, remedy: str = "add it") -> Node:
        """What stands under a key; an error where there is nothing."""
        found = self.get(key)
        if found is None:
            self.refuse(f"{key} is missing", remedy)
        return found

    def has(self, key: str) -> bool:
        """Whether there is such a key, without following what it includes."""
        found = self.value.get(key) if isinstance(self.value, dict) else None
        return found is not None and found is not _NOT_READ

    def mapping(self) -> dict[str, Any]:
        """The value as a mapping."""
        if not isinstance(self.value, dict):
            self.refuse("must be a mapping", "write it as windIO has it, with keys", self.value)
        return self.value

    def entries(self) -> list[Node]:
        """The entries of a list; of anything else, the value itself."""
        if not isinstance(self.value, list):
            return [self]
        return [self._child(index) for index in range(len(self.value))]

    def items(self) -> Iterator[tuple[str, Node]]:
        """Every key with what stands under it."""
        for key in self.mapping():
            found = self.get(key)
            if found is not None:
                yield key, found

    def number(self) -> float:
        """The value as a finite number."""
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
        """The value as a number above 0, and not above ``most``."""
        number = self.number()
        if number <= 0.0:
            self.refuse("must be above 0", "correct it", number)
        if number > most:
            self.refuse(f"is above {most:g}", "check its unit", number)
        return number

    def text(self) -> str:
        """The value as text."""
        if not isinstance(self.value, str):
            self.refuse("must be text", "write it as text", self.value)
        self.use()
        return self.value

    def numbers(self) -> list[float]:
        """The value as a list of numbers; a bare number is a list of one."""
        array = self.array()
        if array.ndim > 1:
            self.refuse("must be a plain list of numbers", "remove the inner brackets")
        return [float(number) for number in np.atleast_1d(array)]

    def array(self) -> FloatArray:
        """The value as numbers in nested lists of equal length, or as a netCDF file has them."""
        if isinstance(self.value, np.ndarray):
            array: FloatArray = self.value
            if not np.isfinite(array).all():
                self.refuse("has gaps: some values are missing or not finite", "fill them")
        else:
            shape: list[int] = []
            inner = self.value
            while isinstance(inner, list):
                shape.append(len(inner))
                inner = inner[0] if inner else None
            array = np.array(list(self._flat(self.value, shape, self.path)), np.float64).reshape(shape)
        if not array.size:
            self.refuse("is empty", "give numbers")
        self.use()
        return array

    def _flat(self, value: Any, shape: list[int], path: DataPath) -> Iterator[float]:
        if not shape:
            is_plain = type(value) in (int, float) and abs(value) < _LARGEST
            yield value if is_plain else replace(self, value=value, path=path).number()
            return
        if not isinstance(value, list) or len(value) != shape[0]:
            found = len(value) if isinstance(value, list) else "a single value"
            message = f"has {found}, but the first row has {shape[0]}"
            replace(self, path=path).refuse(message, "give rows of equal length")
        for index, entry in enumerate(value):
            yield from self._flat(entry, shape[1:], (*path, index))

    def _child(self, key: Any) -> Node:
        return replace(self, value=self.value[key], path=(*self.path, key)).followed()

    def followed(self) -> Node:
        """The same or, where it is an include, what the file holds that this names."""
        node = self
        while isinstance(node.value, Include):
            file = node.file.followed.get(node.path)
            node = Node(file.document.data, (), file, self.tree) if file else self.tree.included(node)
        return node


def open_root(path: Path, *, is_named: bool = True, allow_outside: bool = False) -> Node:
    """The data of the file that everything starts from; see ``Tree``."""
    tree = Tree(path, is_named=is_named, allow_outside=allow_outside)
    return Node(tree.files[0].document.data, (), tree.files[0], tree).followed()


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


def plain(value: Any, file: File, at: DataPath = ()) -> Any:
    """The data as windIO's validator takes them: None for includes that were left, and long arrays cut."""
    if isinstance(value, Include):
        inner = file.followed.get(at)
        return None if inner is None else plain(inner.document.data, inner)
    if isinstance(value, dict):
        return {key: plain(one, file, (*at, key)) for key, one in value.items() if one is not _NOT_READ}
    if isinstance(value, list):
        return [plain(one, file, (*at, index)) for index, one in enumerate(value)]
    if isinstance(value, np.ndarray):
        cut = value if value.size <= _LONGEST_CHECKED else value[tuple(slice(2) for _ in value.shape)]
        return cut.tolist()
    return value


def _includes(value: Any, path: DataPath) -> Iterator[tuple[DataPath, Include]]:
    if isinstance(value, Include):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _includes(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _includes(inner, (*path, index))
