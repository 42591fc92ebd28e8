"""Variables of a classic netCDF file (netCDF-3: CDF-1, CDF-2 and CDF-5), which HDF5 cannot read.

The format is a header of lists and then plain big-endian numbers (NetCDF Classic Format Specification, Unidata), so it
is read here with bounds on everything, without another library. Every failure is a refusal of the file.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from vindeby.interop.common import refuse
from vindeby.store.read.gridded_file import GriddedFile

FloatArray = npt.NDArray[np.float64]

SIGNATURE = b"CDF"
_TYPES = {
    1: "i1",
    2: "S1",
    3: ">i2",
    4: ">i4",
    5: ">f4",
    6: ">f8",
    7: "u1",
    8: ">u2",
    9: ">u4",
    10: ">i8",
    11: ">u8",
}
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_MOST_ENTRIES = 10_000
_MOST_NUMBERS = 20_000_000


class _Entry(NamedTuple):
    name: str
    dimensions: tuple[int, ...]
    attributes: dict[str, Any]
    type: str
    size: int
    begin: int


def read_classic(path: Path, data: bytes, wanted: Collection[str]) -> GriddedFile:
    """The variables of these names and the coordinates of their axes; what is missing is NaN."""
    try:
        file = _File(path, data)
    except (struct.error, UnicodeDecodeError, IndexError, ValueError, OverflowError):
        _broken(path)
    entries = {entry.name: entry for entry in file.variables}
    found = [name for name in entries if name in wanted]
    axes = {axis for name in found for axis in file.axes(entries[name])}
    missing = sorted(axes - set(entries))
    if missing:
        refuse(path, f"has an axis {missing[0]} without coordinates", "add a variable of this name")
    taken = sorted({*found, *axes})
    single = {name for name in taken if entries[name].type == ">f4"}
    arrays = {name: (file.axes(entries[name]), file.numbers(entries[name])) for name in taken}
    return GriddedFile(arrays, frozenset(single), tuple(name for name in entries if name not in taken))


def _broken(path: Path) -> NoReturn:
    refuse(path, "is a classic netCDF file whose header is damaged or incomplete", "write or copy it again")


class _File:
    """The header, read from its beginning on, and the numbers that it points to."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at = path, data, 4
        version = data[3]
        if version not in (1, 2, 5):
            _broken(path)
        self.count = ">q" if version == 5 else ">i"
        self.offset = ">i" if version == 1 else ">q"
        self.records = self._take(self.count)
        self.dimensions = [(self._name(), self._take(self.count)) for _ in range(self._list(_DIMENSIONS))]
        self._attributes()
        self.variables = [self._variable() for _ in range(self._list(_VARIABLES))]
        unlimited = [entry for entry in self.variables if self._is_record(entry)]
        padded = len(unlimited) > 1
        self.record_size = sum(_padded(entry.size) if padded else entry.size for entry in unlimited)

    def axes(self, entry: _Entry) -> tuple[str, ...]:
        return tuple(self.dimensions[index][0] for index in entry.dimensions)

    def numbers(self, entry: _Entry) -> FloatArray:
        """The values as float64, unpacked as the conventions say."""
        if entry.type == "S1":
            refuse(self.path, f"has {entry.name} that does not hold numbers", "correct it")
        shape = [self._length(index) for index in entry.dimensions]
        if min(shape, default=1) < 0 or math.prod(shape) > _MOST_NUMBERS:
            refuse(self.path, f"has {entry.name} of more than {_MOST_NUMBERS:,} numbers", "crop it")
        try:
            stored = self._stored(entry, shape)
        except ValueError:
            refuse(self.path, f"ends before the numbers of {entry.name} do", "write or copy it again")
        numbers = stored.astype(np.float64)
        for name in ("_FillValue", "missing_value"):
            if name in entry.attributes:
                numbers[stored == entry.attributes[name]] = np.nan
        scale, offset = entry.attributes.get("scale_factor", 1.0), entry.attributes.get("add_offset", 0.0)
        return numbers if (scale, offset) == (1.0, 0.0) else numbers * float(scale) + float(offset)

    def _stored(self, entry: _Entry, shape: list[int]) -> npt.NDArray[Any]:
        kind = np.dtype(entry.type)
        if not self._is_record(entry):
            return np.frombuffer(self.data, kind, math.prod(shape), entry.begin).reshape(shape)
        each = math.prod(shape[1:])
        starts = [entry.begin + index * self.record_size for index in range(shape[0])]
        rows = [np.frombuffer(self.data, kind, each, start) for start in starts]
        return np.array(rows, kind).reshape(shape)

    def _is_record(self, entry: _Entry) -> bool:
        return bool(entry.dimensions) and self.dimensions[entry.dimensions[0]][1] == 0

    def _length(self, index: int) -> int:
        return self.dimensions[index][1] or self.records

    def _take(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def _list(self, tag: int) -> int:
        """The number of entries of a list, which is absent or has this tag."""
        found, count = self._take(">i"), self._take(self.count)
        if (found, count) != (0, 0) and (found != tag or not 0 <= count <= _MOST_ENTRIES):
            _broken(self.path)
        return count

    def _bytes(self, length: int) -> bytes:
        if not 0 <= length <= len(self.data) - self.at:
            _broken(self.path)
        taken = self.data[self.at : self.at + length]
        self.at += _padded(length)
        return taken

    def _name(self) -> str:
        return self._bytes(self._take(self.count)).decode()

    def _attributes(self) -> dict[str, Any]:
        """The first value of each attribute that holds numbers."""
        found: dict[str, Any] = {}
        for _ in range(self._list(_ATTRIBUTES)):
            name, kind = self._name(), _TYPES.get(self._take(">i"), "")
            if not kind:
                _broken(self.path)
            values = np.frombuffer(self._bytes(self._take(self.count) * np.dtype(kind).itemsize), kind)
            if kind != "S1" and len(values):
                found[name] = values[0]
        return found

    def _variable(self) -> _Entry:
        name = self._name()
        dimensions = tuple(self._take(self.count) for _ in range(self._rank()))
        attributes = self._attributes()
        kind, size, begin = _TYPES.get(self._take(">i"), ""), self._take(self.count), self._take(self.offset)
        if not kind or begin < 0 or not all(0 <= index < len(self.dimensions) for index in dimensions):
            _broken(self.path)
        lengths = [self.dimensions[index][1] for index in dimensions]
        if (
            lengths and lengths[0] == 0
        ):  # the size of one record, which the header pads where there are several
            size = math.prod(lengths[1:]) * np.dtype(kind).itemsize
        return _Entry(name, dimensions, attributes, kind, size, begin)

    def _rank(self) -> int:
        rank = self._take(self.count)
        if not 0 <= rank <= 32:
            _broken(self.path)
        return rank


def _padded(length: int) -> int:
    return (length + 3) // 4 * 4
