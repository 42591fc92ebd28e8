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
from vindeby.errors import CampaignError, Problem, VindebyError
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


@dataclass(frozen=True)
class Node:
    """A value somewhere in a system, with the place that messages name."""

    value: Any
    place: Place
    files: Files

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place."""
        self.place.refuse(message, remedy, value)

    @property
    def where(self) -> str:
        """The file, and the field in it."""
        field = field_name(self.place.path)
        name = self.place.file.path.name
        return f"{name}: {field}" if field else name

    def get(self, key: str) -> Node | None:
        """What stands under a key; None where there is nothing."""
        mapping = self.mapping()
        return self._child(key, mapping[key]) if mapping.get(key) is not None else None

    def use(self, *keys: str) -> None:
        """Note it, or what stands under a key, as used: the rest is listed. Numbers and text are used when taken."""
        self.place.file.used.add((*self.place.path, *keys))

    def leave(self) -> None:
        """It was looked at, but is not used after all."""
        self.place.file.used.discard(self.place.path)

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
        number = _finite(self.value, self.place)
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
        flat = list(self._flat(self.value, shape, self.place.path))
        if not flat:
            self.refuse("is empty", "give numbers")
        self.use()
        return np.array(flat, np.float64).reshape(shape)

    def _flat(self, value: Any, shape: list[int], path: DataPath) -> Iterator[float]:
        if not shape:
            yield _finite(value, Place(self.place.file, path, self.place.chain))
            return
        if not isinstance(value, list) or len(value) != shape[0]:
            found = len(value) if isinstance(value, list) else "a single value"
            Place(self.place.file, path, self.place.chain).refuse(
                f"has {found}, but the first row has {shape[0]}", "give rows of equal length"
            )
        for index, entry in enumerate(value):
            yield from self._flat(entry, shape[1:], (*path, index))

    def _child(self, key: str | int, value: Any) -> Node:
        place = Place(self.place.file, (*self.place.path, key), self.place.chain)
        while isinstance(value, Include):
            self.place.file.used.add(place.path)
            value, place = self.files.follow(value, place)
        return Node(value, place, self.files)


def _finite(value: Any, place: Place) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        place.refuse("must be a number", "write a number, without quotes", value)
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        place.refuse("is not finite", "write a number", number)
    return number


def open_root(path: Path) -> Node:
    """The data of the file that everything starts from."""
    files = Files()
    value, place = files.root(path)
    node = Node(value, place, files)
    while isinstance(node.value, Include):
        value, place = files.follow(node.value, node.place)
        node = Node(value, place, files)
    return node


def ignored_keys(files: Files) -> list[str]:
    """What was not used of the files that were read, with the file that has it."""
    return [
        f"{file.path.name}: {field}"
        for file in files.all_files()
        for field in unused(file.document.data, file.used)
    ]


def left_includes(files: Files) -> list[str]:
    """Includes that were not followed, with where they stand and whether the file is there."""
    return [
        f"{include.file} ({file.path.name}: {field_name(path)}): not needed"
        + ("" if _is_there(file.path.parent / include.file) else ", and not there")
        for file in files.all_files()
        for path, include in _includes(file.document.data, ())
        if path not in file.used
    ]


def with_includes(files: Files, opened: OpenFile, path: DataPath = ()) -> Any:
    """The data with what was read of includes in its place, as plain data; left ones are None."""
    return _plain(files, opened, _at(opened.document.data, path), path)


def _plain(files: Files, file: OpenFile, value: Any, path: DataPath) -> Any:
    if isinstance(value, Include):
        if path not in file.used:
            return None
        data, place = files.follow(value, Place(file, path, ()))
        return (
            _netcdf_plain(place.file)
            if place.file.netcdf is not None
            else _plain(files, place.file, data, ())
        )
    if isinstance(value, dict):
        return {key: _plain(files, file, inner, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(files, file, inner, (*path, index)) for index, inner in enumerate(value)]
    return value


def _netcdf_plain(file: OpenFile) -> dict[str, Any]:
    """A netCDF file as windIO writes it in YAML; long arrays are cut, since only their form is looked at."""
    assert file.netcdf is not None
    plain: dict[str, Any] = {}
    for name, (axes, array) in file.netcdf.arrays.items():
        cut = array if array.size <= 10_000 else array[tuple(slice(2) for _ in array.shape)]
        plain[name] = cut.tolist() if axes == (name,) else {"data": cut.tolist(), "dims": list(axes)}
    return plain


def _at(data: Any, path: DataPath) -> Any:
    for step in path:
        data = data[step]
    return data


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


MOST_INCLUDES = 200
MOST_CHARACTERS = 64_000_000
_TEXTS = (".yaml", ".yml", ".json")
_NETCDF = ".nc"

VARIABLES = (
    "time", "wind_direction", "wind_speed", "wind_turbine", "x", "y", "height", "operating", "probability",
    "weibull_a", "weibull_k", "sector_probability", "turbulence_intensity", "lmo", "z0", "k", "epsilon",
    "potential_temperature", "friction_velocity", "ground_temperature", "stability", "abl_height",
    "capping_inversion_thickness", "capping_inversion_strength", "capping_inversion_height", "lapse_rate", "fc",
    "tau_x", "tau_y", "density", "reference_height",
)  # fmt: skip
"""What windIO's schema knows of a resource; these are looked for in a netCDF file."""


@dataclass
class OpenFile:
    """A file that was read, and which parts of it were used."""

    path: Path
    document: Document
    netcdf: GriddedFile | None = None
    used: set[DataPath] = field(default_factory=set)


@dataclass(frozen=True)
class Place:
    """Which part of which file; ``chain`` are the files that included it."""

    file: OpenFile
    path: DataPath
    chain: tuple[Path, ...]

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place."""
        self.file.document.refuse(self.path, message, remedy, value)


class Files:
    """All files of one system, each read once."""

    def __init__(self) -> None:
        self._open: dict[Path, OpenFile] = {}
        self._includes = 0
        self._characters = 0

    def root(self, path: Path) -> tuple[Any, Place]:
        """The data of the file that everything starts from."""
        if path.suffix.lower() == _NETCDF:
            raise _refused(str(path), "is not a YAML file", "name the YAML file that includes it")
        opened = self._text_file(path, str(path), "")
        return opened.document.data, Place(opened, (), (_real(path),))

    def follow(self, include: Include, place: Place) -> tuple[Any, Place]:
        """The data of a file that is included, and where they stand."""
        path = self._path_of(include, place)
        real = _real(path)
        if real in place.chain:
            place.refuse("includes itself", "remove the include, or name another file", include.file)
        self._includes += 1
        if self._includes > MOST_INCLUDES:
            place.refuse(
                f"there are more than {MOST_INCLUDES} includes", "write parts of the system into one file"
            )
        if real not in self._open:
            origin = place.file.document.origin(place.path)
            where = origin.source if origin.line is None else f"{origin.source}:{origin.line}"
            if path.suffix.lower() == _NETCDF:
                self._open[real] = _netcdf_file(path, place)
            else:
                self._open[real] = self._text_file(path, where, field_name(place.path))
        opened = self._open[real]
        data = opened.netcdf if opened.netcdf is not None else opened.document.data
        return data, Place(opened, (), (*place.chain, real))

    def all_files(self) -> Iterator[OpenFile]:
        """Every file that was read."""
        yield from self._open.values()

    def _path_of(self, include: Include, place: Place) -> Path:
        name = include.file
        if not name or "\0" in name or PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive:
            place.refuse("is not a relative path of a file", "include a file by its path from this one", name)
        if name.startswith("~") or "://" in name:
            place.refuse("is not a relative path of a file", "include a file by its path from this one", name)
        if not name.lower().endswith((*_TEXTS, _NETCDF)):
            kinds = ", ".join((*_TEXTS, _NETCDF))
            place.refuse("is not a kind of file that is included", f"include one of {kinds}", name)
        return place.file.path.parent / name

    def _text_file(self, path: Path, named_in: str, field_: str) -> OpenFile:
        text = self._text(path, named_in, field_)
        opened = OpenFile(path, read(text, os.path.normpath(path), includes=True))
        self._open[_real(path)] = opened
        return opened

    def _text(self, path: Path, named_in: str, field_: str) -> str:
        value = None if named_in == str(path) else os.path.normpath(path)
        try:
            text = read_bounded_text(path, MAX_BYTES)
        except UnreadableError as error:
            problem = error.problems[0]
            raise _refused(named_in, problem.message, problem.remedy or "", field_, value) from None
        self._characters += len(text)
        if self._characters > MOST_CHARACTERS:
            message = f"the files have more than the {MOST_CHARACTERS:,} characters that are read"
            raise _refused(named_in, message, "is it the right file?", field_, value)
        return text


def _netcdf_file(path: Path, place: Place) -> OpenFile:
    try:
        found = read_gridded_file(path, VARIABLES)
    except VindebyError as error:
        message = str(error).replace(str(path), os.path.normpath(path))
        place.refuse(message, "correct it, or include another file with the wind resource")
    names = dict.fromkeys((*found.arrays, *found.others), True)
    return OpenFile(path, Document(names, {(): Origin(os.path.normpath(path))}), found)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _refused(
    source: str, message: str, remedy: str, field_: str = "", value: str | None = None
) -> CampaignError:
    return CampaignError([Problem(source, field_, message, value, remedy)])
