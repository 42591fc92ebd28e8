"""Variables of a classic netCDF file (netCDF-3: CDF-1 and CDF-2), which HDF5 cannot read.

The format is a header of lists and then plain big-endian numbers (NetCDF Classic Format Specification, Unidata), so it
is read here with bounds on everything, without another library. Every failure is a refusal of the file.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.interop.common import refuse
from vindeby.store.read.gridded_file import MOST_NUMBERS, GriddedFile

SIGNATURE = b"CDF"
_CDF_5 = b"\x05"
_CONVERT = "convert it to netCDF-4: nccopy -k nc4 OLD.nc NEW.nc"
_TYPES = {1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8"}
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_MOST_ENTRIES = 10_000


class _Variable(NamedTuple):
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    attributes: dict[str, Any]
    type: str
    begin: int


def read_classic(path: Path, data: bytes, wanted: Collection[str]) -> GriddedFile:
    """The variables of these names and the coordinates of their axes; what is missing is NaN."""
    if data[3:4] == _CDF_5:
        refuse(path, "is a classic netCDF file of the kind CDF-5 (64-bit data)", _CONVERT)
    try:
        variables = _Header(data).variables
    except (struct.error, LookupError, ValueError):
        refuse(
            path, "is a classic netCDF file whose header is damaged or incomplete", "write or copy it again"
        )
    found = [name for name in variables if name in wanted]
    axes = {axis for name in found for axis in variables[name].axes}
    missing = sorted(axes - set(variables))
    if missing:
        refuse(path, f"has an axis {missing[0]} without coordinates", "add a variable of this name")
    taken = sorted({*found, *axes})
    single = frozenset(name for name in taken if variables[name].type == ">f4")
    arrays = {name: (variables[name].axes, _numbers(path, data, name, variables[name])) for name in taken}
    return GriddedFile(arrays, single, tuple(name for name in variables if name not in taken))


def _numbers(path: Path, data: bytes, name: str, variable: _Variable) -> npt.NDArray[np.float64]:
    """The values as float64, unpacked as the conventions say."""
    if variable.type == "S1":
        refuse(path, f"has {name} that does not hold numbers", "correct it")
    if 0 in variable.shape:  # the dimension that grows has this length
        refuse(path, f"has {name} over an unlimited dimension", _CONVERT)
    if math.prod(variable.shape) > MOST_NUMBERS:
        refuse(path, f"has {name} of more than {MOST_NUMBERS:,} numbers", "crop it")
    try:
        flat = np.frombuffer(data, variable.type, math.prod(variable.shape), variable.begin)
        stored = flat.reshape(variable.shape)
    except ValueError:
        refuse(path, f"ends before the numbers of {name} do", "write or copy it again")
    numbers = stored.astype(np.float64)
    for missing in ("_FillValue", "missing_value"):
        if missing in variable.attributes:
            numbers[stored == variable.attributes[missing]] = np.nan
    scale, offset = (variable.attributes.get(name, usual) for name, usual in _PACKED)
    return numbers if (scale, offset) == (1.0, 0.0) else numbers * float(scale) + float(offset)


_PACKED = (("scale_factor", 1.0), ("add_offset", 0.0))


class _Header:
    """The header, read from its beginning on; ValueError, LookupError or struct.error where it is damaged."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 4
        self.offset = {1: ">i", 2: ">q"}[data[3]]
        self._take(">i")  # the length of the unlimited dimension
        dimensions = [(self._name(), self._count()) for _ in range(self._list(_DIMENSIONS))]
        self._attributes()
        self.variables = dict(self._variable(dimensions) for _ in range(self._list(_VARIABLES)))

    def _take(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def _count(self) -> int:
        count = self._take(">i")
        if count < 0:
            raise ValueError(count)
        return count

    def _list(self, tag: int) -> int:
        """The number of entries of a list, which is absent or has this tag."""
        found, count = self._take(">i"), self._count()
        if (found, count) != (0, 0) and (found != tag or count > _MOST_ENTRIES):
            raise ValueError(tag)
        return count

    def _bytes(self, length: int) -> bytes:
        taken = self.data[self.at : self.at + length]
        if len(taken) < length:
            raise ValueError(length)
        self.at += (length + 3) // 4 * 4
        return taken

    def _name(self) -> str:
        return self._bytes(self._count()).decode()

    def _attributes(self) -> dict[str, Any]:
        """The first value of each attribute that holds numbers."""
        found: dict[str, Any] = {}
        for _ in range(self._list(_ATTRIBUTES)):
            name, kind = self._name(), np.dtype(_TYPES[self._take(">i")])
            values = np.frombuffer(self._bytes(self._count() * kind.itemsize), kind)
            if kind.kind != "S" and len(values):
                found[name] = values[0]
        return found

    def _variable(self, dimensions: list[tuple[str, int]]) -> tuple[str, _Variable]:
        name = self._name()
        own = [dimensions[self._count()] for _ in range(min(self._count(), _MOST_ENTRIES))]
        attributes, kind = self._attributes(), _TYPES[self._take(">i")]
        self._take(">i")  # the size, which follows from the rest
        axes, shape = tuple(axis for axis, _ in own), tuple(length for _, length in own)
        return name, _Variable(axes, shape, attributes, kind, self._take(self.offset))
