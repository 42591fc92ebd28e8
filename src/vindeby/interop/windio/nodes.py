"""Parts of windIO files, asked for by their keys: includes are followed on the way, and what is used is noted."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from vindeby.campaign.reading.files import UnreadableError, read_bounded_text
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Include, Origin, field_name, read, unused
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, VindebyError
from vindeby.store.read.gridded_file import GriddedFile, read_gridded_file


@dataclass
class Missing:
    """A field of the campaign that the file does not give, and why."""

    field: str
    """As ``--set`` names it: ``site.time_series.turbulence_intensity``."""
    why: str
    remedy: str


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
    missing: list[Missing] = field(default_factory=list)

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
        yield from (f"missing: {one.field}: {one.why}; {one.remedy}" for one in self.missing)


FloatArray = npt.NDArray[np.float64]

MOST_INCLUDES = 200
_TEXTS = (".yaml", ".yml", ".json")
_NETCDF = ".nc"
_LARGEST = 1e300

COORDINATES = ("time", "wind_direction", "wind_speed", "wind_turbine", "x", "y", "height")
DATA = ("probability", "sector_probability", "weibull_a", "weibull_k", "turbulence_intensity", "operating")
"""What is read of a wind resource; anything else is listed as ignored."""


@dataclass
class OpenFile:
    """A file that was read, and what became of its parts."""

    path: Path
    document: Document
    files: dict[Path, OpenFile]
    """All files of the system, each read once."""
    netcdf: GriddedFile | None = None
    used: set[DataPath] = field(default_factory=set)
    includes: dict[DataPath, OpenFile] = field(default_factory=dict)
    """The includes that were followed, by where they stand."""


@dataclass(frozen=True)
class Node:
    """A value somewhere in a system, and where it stands."""

    value: Any
    file: OpenFile
    path: DataPath
    chain: tuple[Path, ...]
    """The files that included each other on the way to it, and its own."""

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place."""
        self.file.document.refuse(self.path, message, remedy, value)

    @property
    def where(self) -> str:
        """The file, and the field in it."""
        field = field_name(self.path)
        return f"{self.file.path.name}: {field}" if field else self.file.path.name

    def get(self, key: str) -> Node | None:
        """What stands under a key; None where there is nothing."""
        mapping = self.mapping()
        return self._child(key, mapping[key]) if mapping.get(key) is not None else None

    def use(self, *keys: str) -> None:
        """Note it, or what stands under a key, as used: the rest is listed. Numbers and text are used when taken."""
        self.file.used.add((*self.path, *keys))

    def leave(self) -> None:
        """It was looked at, but is not used after all."""
        self.file.used.discard(self.path)

    def need(self, key: str, remedy: str = "add it") -> Node:
        """What stands under a key; an error where there is nothing."""
        found = self.get(key)
        if found is None:
            self.refuse(f"{key} is missing", remedy)
        return found

    def has(self, key: str) -> bool:
        """Whether there is such a key, without following what it includes."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def mapping(self) -> dict[str, Any]:
        """The value as a mapping."""
        if not isinstance(self.value, dict):
            self.refuse("must be a mapping", "write it as windIO has it, with keys", self.value)
        return self.value

    def entries(self) -> list[Node]:
        """The entries of a list; of anything else, the value itself."""
        if not isinstance(self.value, list):
            return [self]
        return [self._child(index, value) for index, value in enumerate(self.value)]

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
        """The value as numbers in nested lists of equal length."""
        shape: list[int] = []
        inner = self.value
        while isinstance(inner, list):
            shape.append(len(inner))
            inner = inner[0] if inner else None
        flat = list(self._flat(self.value, shape, self.path))
        if not flat:
            self.refuse("is empty", "give numbers")
        self.use()
        return np.array(flat, np.float64).reshape(shape)

    def _flat(self, value: Any, shape: list[int], path: DataPath) -> Iterator[float]:
        if not shape:
            is_plain = type(value) in (int, float) and abs(value) < _LARGEST
            yield value if is_plain else Node(value, self.file, path, self.chain).number()
            return
        if not isinstance(value, list) or len(value) != shape[0]:
            found = len(value) if isinstance(value, list) else "a single value"
            self.file.document.refuse(
                path, f"has {found}, but the first row has {shape[0]}", "give rows of equal length"
            )
        for index, entry in enumerate(value):
            yield from self._flat(entry, shape[1:], (*path, index))

    def _child(self, key: str | int, value: Any) -> Node:
        return Node(value, self.file, (*self.path, key), self.chain).followed()

    def followed(self) -> Node:
        """The same or, where an include stands here, the data of the file that it names."""
        if not isinstance(self.value, Include):
            return self
        self.use()
        path = self._path_of(self.value.file)
        real, files = _real(path), self.file.files
        if real in self.chain:
            self.refuse("includes itself", "remove the include, or name another file", self.value.file)
        if sum(len(one.includes) for one in files.values()) >= MOST_INCLUDES:
            self.refuse(
                f"there are more than {MOST_INCLUDES} includes", "write parts of the system into one file"
            )
        if real not in files:
            files[real] = self._opened(path)
        opened = self.file.includes[self.path] = files[real]
        data = opened.document.data if opened.netcdf is None else opened.netcdf
        return Node(data, opened, (), (*self.chain, real)).followed()

    def _path_of(self, name: str) -> Path:
        is_elsewhere = (
            PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or name.startswith("~")
        )
        if not name or "\0" in name or is_elsewhere or "://" in name:
            self.refuse("is not a relative path of a file", "include a file by its path from this one", name)
        if not name.lower().endswith((*_TEXTS, _NETCDF)):
            kinds = ", ".join((*_TEXTS, _NETCDF))
            self.refuse("is not a kind of file that is included", f"include one of {kinds}", name)
        return self.file.path.parent / name

    def _opened(self, path: Path) -> OpenFile:
        """A file that is included here."""
        shown, files = os.path.normpath(path), self.file.files
        try:
            if path.suffix.lower() != _NETCDF:
                return _text_file(path, files)
            found = read_gridded_file(path, (*COORDINATES, *DATA))
        except UnreadableError as error:
            self.refuse(error.problems[0].message, error.problems[0].remedy or "", shown)
        except CampaignError:
            raise
        except VindebyError as error:
            message = str(error).replace(str(path), shown)
            self.refuse(message, "correct it, or include another file with the wind resource")
        names = dict.fromkeys((*found.arrays, *found.others), True)
        return OpenFile(path, Document(names, {(): Origin(shown)}), files, found)


def open_root(path: Path) -> Node:
    """The data of the file that everything starts from."""
    files: dict[Path, OpenFile] = {}
    opened = files[_real(path)] = _text_file(path, files)
    return Node(opened.document.data, opened, (), (_real(path),)).followed()


def _text_file(path: Path, files: dict[Path, OpenFile]) -> OpenFile:
    text = read_bounded_text(path, MAX_BYTES)
    return OpenFile(path, read(text, os.path.normpath(path), includes=True), files)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def ignored_keys(root: Node) -> list[str]:
    """What was not used of the files that were read, with the file that has it."""
    return [
        f"{file.path.name}: {field}"
        for file in root.file.files.values()
        for field in unused(file.document.data, file.used)
    ]


def left_includes(root: Node) -> list[str]:
    """Includes that were not followed, with where they stand and whether the file is there."""
    return [
        f"{include.file} ({file.path.name}: {field_name(path)}): not needed"
        + ("" if _is_there(file.path.parent / include.file) else ", and not there")
        for file in root.file.files.values()
        for path, include in _includes(file.document.data, ())
        if path not in file.includes
    ]


def with_includes(file: OpenFile) -> Any:
    """The data of a file with what was read of includes in its place, as plain data; left ones are None."""
    if file.netcdf is None:
        return _plain(file, file.document.data, ())
    plain: dict[str, Any] = {}
    for name, (axes, array) in file.netcdf.arrays.items():
        # Only the form is looked at, so that long arrays are cut.
        cut = array if array.size <= 10_000 else array[tuple(slice(2) for _ in array.shape)]
        plain[name] = cut.tolist() if axes == (name,) else {"data": cut.tolist(), "dims": list(axes)}
    return plain


def _plain(file: OpenFile, value: Any, path: DataPath) -> Any:
    if isinstance(value, Include):
        return with_includes(file.includes[path]) if path in file.includes else None
    if isinstance(value, dict):
        return {key: _plain(file, inner, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(file, inner, (*path, index)) for index, inner in enumerate(value)]
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


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
