"""Arrays over named axes from a netCDF file that may be anything; the libraries read it in a guarded child."""

import contextlib
import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import Labelled
from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import refuse_special
from vindeby.store.foreign.guard import DONE, FAILED, RESULT, Guard, GuardError
from vindeby.store.foreign.superblock import SIGNATURE


@dataclass(frozen=True)
class GriddedFile:
    """The requested variables and other contents of a gridded file."""

    arrays: dict[str, Labelled]
    """Variables and coordinates by name; what is missing is NaN."""
    single_precision: frozenset[str] = frozenset()
    """The names of the variables that the file stores as 32-bit floats."""
    others: tuple[str, ...] = ()
    """The names of what else is in the file."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Times that the file keeps as text."""
    units: dict[str, str] = field(default_factory=dict)
    """The ``units`` attribute of each array, by name; empty if it has none."""


def read_gridded_file(path: Path, wanted: tuple[str, ...]) -> GriddedFile:
    """Return the variables of these names, ignoring capitals, with the coordinates of their axes."""
    _refuse_other_formats(path)
    arrays: dict[str, Labelled] = {}
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
                    arrays[head["name"]] = Labelled(tuple(head["axes"]), array)
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
    if start.startswith(b"CDF"):
        raise InputError(
            f"{path}: is a classic netCDF file (netCDF-3); convert it to netCDF-4: nccopy -k nc4 OLD.nc NEW.nc"
        )
    if start != SIGNATURE:
        raise InputError(f"{path}: is neither netCDF nor HDF5; is it the right file?")


MOST_NUMBERS = 20_000_000
_MOST_VARIABLES = 1000
_MOST_TIMES = 1_000_000
_LONGEST_TIME = 40


def read_gridded(*, path: str, wanted: Collection[str], result: Callable[[bytes], None]) -> dict[str, Any]:
    """Send the variables that are wanted, and their coordinates: a line of JSON and float64 numbers each.

    Names are compared without regard to capitals. Times that are kept as text come as such. Returns the names of
    the others, which were not read.
    """
    with contextlib.ExitStack() as stack:
        variables, others = _opened(path, stack)
        found = [name for name in variables if name.lower() in wanted]
        left, coordinates = MOST_NUMBERS, set[str]()
        for name in found:
            axes = _axes(variables[name])
            coordinates |= set(axes)
            left = _send(name, axes, variables[name], left, result)
        for name in sorted(coordinates - set(found)):
            if name not in variables or _is_only_a_length(variables[name]):
                raise DataError(f"the axis {name} has no coordinates")
            left = _send(name, [name], variables[name], left, result)
        lengths = [name for name, one in variables.items() if _is_only_a_length(one)]
        taken = {*found, *coordinates, *lengths}
        return {"others": [name for name in (*variables, *others) if name not in taken]}


def _opened(path: str, stack: contextlib.ExitStack) -> tuple[dict[str, Any], list[str]]:
    """Return the variables of a file by name, and the names of its groups."""
    import h5py  # only the guarded child needs it

    from vindeby.store.foreign.records import names_of, no_more_files  # it loads h5py

    file = stack.enter_context(h5py.File(path, "r", locking=False))
    stack.enter_context(no_more_files())
    kinds = {name: file.get(name, getclass=True) for name in list(names_of(file))[:_MOST_VARIABLES]}
    names = [name for name, kind in kinds.items() if isinstance(kind, type)]
    is_data = {name: isinstance(file[name], h5py.Dataset) for name in names}
    return {name: file[name] for name in names if is_data[name]}, [
        name for name in names if not is_data[name]
    ]


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
    single = bool(data.dtype.newbyteorder("=") == np.float32)
    units = _bytes(np.ravel(data.attrs.get("units", b""))[0])[:_LONGEST_TIME].decode(errors="replace")
    head = {"name": name, "axes": axes, "shape": list(numbers.shape), "single": single, "units": units}
    result(json.dumps(head).encode() + b"\n" + numbers.astype("<f8").tobytes())
    return left - int(data.size)


def _axes(data: Any) -> list[str]:
    """Return the name of each axis, by the coordinates that it refers to; a coordinate is its own axis."""
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
    """Return whether this is a dimension without coordinates, which netCDF stores as an empty dataset."""
    return b"not a netCDF variable" in _bytes(data.attrs.get("NAME", b""))


def _unpacked(data: Any) -> Any:
    """Return the numbers by the conventions of netCDF: fill values become NaN, packed values are scaled."""
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
