"""Arrays over named axes from a netCDF-4 file that may be anything; the library reads it in a guarded child."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import DataError, InputError
from vindeby.store.disk.regular_files import refuse_special
from vindeby.store.read.guard import DONE, FAILED, RESULT, Guard, GuardError

FloatArray = NDArray[np.float64]
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
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


def read_gridded_file(path: Path, wanted: tuple[str, ...]) -> GriddedFile:
    """The variables of these names, whatever their capitals, with the coordinates of their axes."""
    _refuse_other_formats(path)
    arrays: dict[str, tuple[tuple[str, ...], FloatArray]] = {}
    single: set[str] = set()
    texts: dict[str, list[str]] = {}
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
                    single |= {head["name"]} if head["single"] else set()
                elif kind == FAILED:
                    raise DataError(
                        f"{path}: cannot be read: {data.decode(errors='replace').partition(': ')[2]}"
                    )
                elif kind == DONE:
                    return GriddedFile(arrays, frozenset(single), tuple(json.loads(data)["others"]), texts)
    except GuardError as error:
        raise DataError(f"{path}: cannot be read: {error.finding}") from None
    raise AssertionError("the guard ends with one or the other")


def _refuse_other_formats(path: Path) -> None:
    refuse_special(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(_SIGNATURE))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if start.startswith(_CLASSIC):
        raise InputError(
            f"{path}: is a classic netCDF-3 file; convert it to netCDF-4 first: nccopy -k nc4 OLD.nc NEW.nc, or "
            "xarray.open_dataset(OLD).to_netcdf(NEW, engine='h5netcdf')"
        )
    if start != _SIGNATURE:
        raise InputError(f"{path}: is neither netCDF-4 nor HDF5; is it the right file?")
