"""Arrays over named axes from a netCDF-4 file that may be anything; the library reads it in a guarded child."""

import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import refuse_special
from vindeby.store.read.guard import DONE, FAILED, RESULT, Guard, GuardError
from vindeby.store.read.inspect import SIGNATURE

_CLASSIC = b"CDF"


@dataclass(frozen=True)
class GriddedFile:
    """What a file holds of what was wanted."""

    arrays: dict[str, tuple[tuple[str, ...], FloatArray]]
    """Variables and coordinates by name: their axes, and the numbers; what is missing is NaN."""
    single_precision: frozenset[str] = frozenset()
    """Those that the file keeps as 32-bit floats."""
    others: tuple[str, ...] = ()
    """The names of what else is in the file."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Times that the file keeps as text."""
    units: dict[str, str] = field(default_factory=dict)
    """By name, the attribute ``units`` of arrays; empty where they have none."""


def read_gridded_file(path: Path, wanted: tuple[str, ...]) -> GriddedFile:
    """The variables of these names, whatever their capitals, with the coordinates of their axes."""
    _refuse_other_formats(path)
    arrays: dict[str, tuple[tuple[str, ...], FloatArray]] = {}
    single: set[str] = set()
    texts: dict[str, list[str]] = {}
    units: dict[str, str] = {}
    try:
        with Guard() as guard:
            deadline = time.monotonic() + guard.limits.seconds(path.stat().st_size)
            request = {"path": str(path.absolute()), "wanted": list(wanted), "deadline": deadline}
            for kind, data in guard.call("gridded", **request):
                if kind == RESULT:
                    line, _, numbers = data.partition(b"\n")
                    head = json.loads(line)
                    if "texts" in head:
                        texts[head["name"]] = head["texts"]
                        continue
                    array = np.frombuffer(numbers, "<f8").reshape(head["shape"]).astype(np.float64)
                    arrays[head["name"]] = (tuple(head["axes"]), array)
                    units[head["name"]] = head["units"]
                    single |= {head["name"]} if head["single"] else set()
                elif kind == FAILED:
                    raise DataError(
                        f"{path}: cannot be read: {data.decode(errors='replace').partition(': ')[2]}"
                    )
                elif kind == DONE:
                    others = tuple(json.loads(data)["others"])
                    return GriddedFile(arrays, frozenset(single), others, texts, units)
    except GuardError as error:
        raise DataError(f"{path}: cannot be read: {error.finding}") from None
    raise AssertionError("the guard ends with one or the other")


def _refuse_other_formats(path: Path) -> None:
    refuse_special(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(SIGNATURE))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if start.startswith(_CLASSIC):
        raise InputError(
            f"{path}: is a classic netCDF-3 file; convert it to netCDF-4 first: nccopy -k nc4 OLD.nc NEW.nc, or "
            "xarray.open_dataset(OLD).to_netcdf(NEW, engine='netcdf4')"
        )
    if start != SIGNATURE:
        raise InputError(f"{path}: is neither netCDF-4 nor HDF5; is it the right file?")


MOST_NUMBERS = 20_000_000
_MOST_VARIABLES = 1000
_MOST_TIMES = 1_000_000
_LONGEST_TIME = 40


def read_gridded(*, path: str, wanted: Collection[str], result: Callable[[bytes], None]) -> dict[str, Any]:
    """Send the variables that are wanted, and their coordinates: a line of JSON and float64 numbers each.

    Names are compared without regard to capitals. Times that are kept as text come as such. Returns the names of
    the others, which were not read.
    """
    import h5py  # only the guarded child needs it

    from vindeby.store.read.confined import no_more_files  # it loads h5py

    with h5py.File(path, "r", locking=False) as file, no_more_files():
        names = [
            name for name in list(file)[:_MOST_VARIABLES] if isinstance(file.get(name, getclass=True), type)
        ]
        found = [name for name in names if name.lower() in wanted and isinstance(file[name], h5py.Dataset)]
        left, coordinates = MOST_NUMBERS, set[str]()
        for name in found:
            axes = _axes(file[name])
            coordinates |= set(axes)
            left = _send(name, axes, file[name], left, result)
        for name in sorted(coordinates - set(found)):
            if name not in file or _is_only_a_length(file[name]):
                raise DataError(f"the axis {name} has no coordinates")
            left = _send(name, [name], file[name], left, result)
        others = [name for name in names if name not in coordinates | set(found)]
        return {"others": [name for name in others if not _is_only_a_length(file[name])]}


def _send(name: str, axes: list[str], data: Any, left: int, result: Callable[[bytes], None]) -> int:
    import h5py  # only the guarded child needs it

    if name.lower() == "time" and data.dtype.kind in "OS" and h5py.check_string_dtype(data.dtype):
        if data.size > _MOST_TIMES:
            raise DataError(f"there are more than {_MOST_TIMES:,} times")
        texts = [_bytes(one)[:_LONGEST_TIME].decode(errors="replace") for one in np.ravel(data[()])]
        result(json.dumps({"name": name, "texts": texts}).encode() + b"\n")
        return left - len(texts)
    if data.dtype.kind not in "fiu":
        raise DataError(f"{name} does not hold numbers")
    if data.size > left:
        raise DataError(f"there are more than {MOST_NUMBERS:,} numbers")
    numbers = _unpacked(data)
    single = bool(data.dtype == np.float32)
    units = _bytes(np.ravel(data.attrs.get("units", b""))[0])[:_LONGEST_TIME].decode(errors="replace")
    head = {"name": name, "axes": axes, "shape": list(numbers.shape), "single": single, "units": units}
    result(json.dumps(head).encode() + b"\n" + numbers.astype("<f8").tobytes())
    return left - int(data.size)


def _axes(data: Any) -> list[str]:
    """The name of each axis, by the coordinates that it refers to; coordinates are their own axis."""
    if data.is_scale and len(data.shape) == 1:
        return [data.name.rpartition("/")[2]]
    names = []
    for index, dimension in enumerate(data.dims):
        scales = list(dimension.values())
        label = scales[0].name.rpartition("/")[2] if scales else dimension.label
        if not label:
            raise DataError(f"axis {index} of {data.name.rpartition('/')[2]} has no name")
        names.append(str(label))
    return names


def _is_only_a_length(data: Any) -> bool:
    """Whether it is a dimension without coordinates, which netCDF keeps as an empty dataset."""
    return b"not a netCDF variable" in _bytes(data.attrs.get("NAME", b""))


def _unpacked(data: Any) -> Any:
    """The numbers as the conventions for netCDF mean them: fill values are missing, packed ones are scaled."""
    stored = np.asarray(data[()])
    numbers = stored.astype(np.float64)
    for name in ("_FillValue", "missing_value"):
        if name in data.attrs:
            numbers[stored == np.ravel(data.attrs[name])[0]] = np.nan
    scale, offset = (
        np.ravel(data.attrs.get(name, usual))[0]
        for name, usual in (("scale_factor", 1.0), ("add_offset", 0.0))
    )
    return numbers if (scale, offset) == (1.0, 0.0) else numbers * float(scale) + float(offset)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
