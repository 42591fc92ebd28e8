"""Parts of windIO files, asked for by their keys: includes are followed on the way, and what is used is noted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from vindeby.campaign.reading.yaml_text import Include, field_name, unused
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.interop.windio.files import Files, OpenFile, Place

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
