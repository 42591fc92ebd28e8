"""Parts of windIO files, asked for by their keys: includes are followed on the way, and what is used is noted.

A netCDF file becomes what YAML would have: a list for a coordinate, ``{data, dims}`` for anything else.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple, NoReturn

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.files import UnreadableError, read_bounded_text
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Include, Origin, field_name, read, unused
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem, VindebyError
from vindeby.store.read.gridded_file import read_gridded_file


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
        for word, entries in (
            ("taken", self.taken),
            ("chosen", self.chosen),
            ("warning", self.doubtful),
            ("ignored", self.ignored),
            ("include left", self.left),
            ("schema", self.schema),
        ):
            yield from (f"{word}: {entry}" for entry in dict.fromkeys(entries))
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


class File(NamedTuple):
    """A file that was read, and where its data stand in the system."""

    path: Path
    document: Document
    at: DataPath


class Tree:
    """The data of a file, with the files that it includes in their places as soon as these are asked for."""

    def __init__(self, path: Path) -> None:
        self.files = [File(path, _read_text(path), ())]
        self.used: set[DataPath] = set()
        self._documents: dict[str, Document] = {}
        """The files that were included, by their real paths; their data are shared, and never changed."""
        self._followed: dict[DataPath, Any] = {}
        self.data = self.files[0].document.data
        self.follow(self.data, ())

    def follow(self, value: Any, at: DataPath) -> Any:
        """The value or, where it is an include, the data of the file that this names."""
        if isinstance(value, Include) and at not in self._followed:
            found: Any = value
            while isinstance(found, Include):
                self.files.append(self._open(self._path_of(found.file, at), found.file, at))
                found = self.files[-1].document.data
            self._followed[at] = found
            self.data = _with(self.data, at, found)
        return self._followed[at] if isinstance(value, Include) else value

    def file_at(self, path: DataPath) -> File:
        """The file that a part of the system stands in."""
        return max(reversed(self._files_around(path)), key=lambda file: len(file.at))

    def refuse(self, path: DataPath, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place."""
        file = self.file_at(path)
        file.document.refuse(path[len(file.at) :], message, remedy, value)

    def where(self, path: DataPath) -> str:
        """The file, and the field in it."""
        file = self.file_at(path)
        field = field_name(path[len(file.at) :])
        return f"{file.path.name}: {field}" if field else file.path.name

    def ignored_keys(self) -> list[str]:
        """What was not used of the files that were read, with the file that has it."""
        return unused(self.data, self.used, self.where)

    def left(self) -> list[tuple[DataPath, Include]]:
        """Includes that were not followed, and where they stand."""
        documents = {id(file.document): file.document for file in self.files}
        found = {key: list(_includes(one.data, ())) for key, one in documents.items()}
        places = [
            ((*file.at, *path), include) for file in self.files for path, include in found[id(file.document)]
        ]
        return [(at, include) for at, include in places if at not in self._followed]

    def left_includes(self) -> list[str]:
        """Includes that were not followed, with where they stand and whether the file is there."""
        lines = []
        for path, include in self.left():
            file = self.file_at(path).path.parent / include.file
            there = os.path.isfile(file)  # noqa: PTH113  (a name that no file can have is not there)
            lines.append(
                f"{include.file} ({self.where(path)}): not needed{'' if there else ', and not there'}"
            )
        return lines

    def _files_around(self, path: DataPath) -> list[File]:
        return [file for file in self.files if path[: len(file.at)] == file.at]

    def _path_of(self, name: str, at: DataPath) -> Path:
        is_elsewhere = (
            PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or name.startswith("~")
        )
        if not name or "\0" in name or is_elsewhere or "://" in name:
            self.refuse(
                at, "is not a relative path of a file", "include a file by its path from this one", name
            )
        if not name.lower().endswith((*_TEXTS, _NETCDF)):
            kinds = ", ".join((*_TEXTS, _NETCDF))
            self.refuse(at, "is not a kind of file that is included", f"include one of {kinds}", name)
        return self.file_at(at).path.parent / name

    def _open(self, path: Path, name: str, at: DataPath) -> File:
        """A file that is included here."""
        if os.path.realpath(path) in [os.path.realpath(file.path) for file in self._files_around(at)]:
            self.refuse(at, "includes itself", "remove the include, or name another file", name)
        if len(self.files) > MOST_INCLUDES:
            message = f"there are more than {MOST_INCLUDES} includes"
            self.refuse(at, message, "write parts of the system into one file")
        shown = os.path.normpath(path)
        try:
            if (real := os.path.realpath(path)) not in self._documents:
                is_netcdf = path.suffix.lower() == _NETCDF
                self._documents[real] = _read_netcdf(path) if is_netcdf else _read_text(path)
            return File(path, self._documents[real], at)
        except UnreadableError as error:
            self.refuse(at, error.problems[0].message, error.problems[0].remedy or "", shown)
        except CampaignError:
            raise
        except VindebyError as error:
            message = str(error).replace(str(path), shown)
            self.refuse(at, message, "correct it, or include another file with the wind resource")


@dataclass(frozen=True)
class Node:
    """A value somewhere in a system, and where it stands."""

    value: Any
    path: DataPath
    tree: Tree

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place."""
        self.tree.refuse(self.path, message, remedy, value)

    @property
    def where(self) -> str:
        """The file, and the field in it."""
        return self.tree.where(self.path)

    def get(self, key: str, *inner: str) -> Node | None:
        """What stands under a key, or under keys inside each other; None where there is nothing."""
        self.mapping()
        found = self._child(key) if self.has(key) else None
        return found.get(*inner) if inner and found is not None else found

    def use(self, *keys: str) -> None:
        """Note it, or what stands under a key, as used: the rest is listed. Numbers and text are used when taken."""
        self.tree.used.add((*self.path, *keys))

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
            yield value if is_plain else Node(value, path, self.tree).number()
            return
        if not isinstance(value, list) or len(value) != shape[0]:
            found = len(value) if isinstance(value, list) else "a single value"
            message = f"has {found}, but the first row has {shape[0]}"
            self.tree.refuse(path, message, "give rows of equal length")
        for index, entry in enumerate(value):
            yield from self._flat(entry, shape[1:], (*path, index))

    def _child(self, key: Any) -> Node:
        path = (*self.path, key)
        return Node(self.tree.follow(self.value[key], path), path, self.tree)


def open_root(path: Path) -> Node:
    """The data of the file that everything starts from."""
    tree = Tree(path)
    return Node(tree.data, (), tree)


def _with(data: Any, path: DataPath, inner: Any) -> Any:
    """The data with other data at a path; what lies beside it is shared."""
    if not path:
        return inner
    own, key = copy(data), path[0]
    own[key] = _with(data[key], path[1:], inner)
    return own


def _read_text(path: Path) -> Document:
    return read(read_bounded_text(path, MAX_BYTES), os.path.normpath(path), includes=True)


def _read_netcdf(path: Path) -> Document:
    found = read_gridded_file(path, (*COORDINATES, *DATA))
    data: dict[str, Any] = dict.fromkeys(found.others, _NOT_READ)
    for given, (axes, array) in found.arrays.items():
        name = given.lower()
        if name not in (*COORDINATES, *DATA):
            data[given] = _NOT_READ
        else:
            dims = [axis.lower() for axis in axes]
            data[name] = array if dims == [name] else {"data": array, "dims": dims}
    data |= {given.lower(): texts for given, texts in found.texts.items()}
    return Document(data, {(): Origin(os.path.normpath(path))})


def plain(value: Any) -> Any:
    """The data as windIO's validator takes them: None for includes that were left, and long arrays cut."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if inner is not _NOT_READ}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        cut = value if value.size <= _LONGEST_CHECKED else value[tuple(slice(2) for _ in value.shape)]
        return cut.tolist()
    return None if isinstance(value, Include) else value


def _includes(value: Any, path: DataPath) -> Iterator[tuple[DataPath, Include]]:
    if isinstance(value, Include):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _includes(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _includes(inner, (*path, index))
