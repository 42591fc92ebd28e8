"""The variables of a PyWake site file over named axes, in one order, without a direction of 360 that repeats 0."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.campaign.reading.yaml_text import not_used, unused
from vindeby.interop.file_reading import read_bytes, refuse
from vindeby.interop.site_files.classic_netcdf import SIGNATURE, read_classic
from vindeby.store.read.gridded_file import GriddedFile, read_gridded_file

FloatArray = npt.NDArray[np.float64]

ORDER = ("x", "y", "h", "wd", "ws")
_PYWAKE_ORDER = ("i", "x", "y", "h", "time", "wd", "ws")
_READ = ("P", "Weibull_A", "Weibull_k", "Sector_frequency", "TI", "Speedup", "Turning")
_IGNORED = {"TI_std": "the spread of the turbulence intensity", "Elevation": "the elevation of the ground"}
_OTHER_WIND = {"WS": "ws", "WD": "wd"}


class Variable(NamedTuple):
    """Numbers over axes that stand in the order of ``ORDER``."""

    axes: tuple[str, ...]
    values: FloatArray


class Variables:
    """What a file has of what PyWake reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.axes: dict[str, FloatArray] = {}
        self.variables: dict[str, Variable] = {}
        self.notes: list[str] = []
        self.repeats_north = False
        self.falling: set[str] = set()
        """Axes that fall in the file, and are turned round here with the values over them."""

    def __contains__(self, name: str) -> bool:
        return name in self.variables

    def __getitem__(self, name: str) -> Variable:
        return self.variables[name]

    def axis(self, name: str) -> FloatArray:
        """The coordinates of an axis."""
        return self.axes[name]

    @property
    def sectors(self) -> int:
        """The number of direction sectors; 1 where nothing depends on direction."""
        return len(self.axes["wd"]) if "wd" in self.axes else 1

    def over(self, variable: Variable, axes: tuple[str, ...]) -> FloatArray:
        """A variable over exactly these axes, repeated along those that it does not depend on."""
        lengths = [len(self.axes[axis]) if axis in self.axes else 1 for axis in axes]
        shape = [len(self.axes[axis]) if axis in variable.axes else 1 for axis in axes]
        if "ws" in axes and "ws" not in variable.axes:
            lengths[axes.index("ws")] = 1
        return np.array(np.broadcast_to(variable.values.reshape(shape), lengths))


def read_variables(path: Path) -> Variables:
    """Read a netCDF file, of the classic form or of version 4."""
    names = (*_READ, *_IGNORED, *_OTHER_WIND, "ws", "wd")
    file = _file(path, names)
    arrays, single = file.arrays, file.single_precision
    if "Turning" in arrays:
        axes, values = arrays["Turning"]
        arrays["Turning"] = axes, _half_turns(values, single="Turning" in single)
    found = Variables(path)
    _take_axes(found, arrays)
    for name in _READ:
        if name in arrays:
            found.variables[name] = _in_order(found, name, *arrays[name])
    for name, what in _IGNORED.items():
        if name in arrays:
            found.notes.append(f"{name}, {what}, is ignored")
    known = {(name,) for name in (*names, *ORDER)}
    found.notes += not_used(unused(dict.fromkeys((*arrays, *file.others), True), known))
    for name, axis in _OTHER_WIND.items():
        _refuse_other_wind(found, arrays, name, axis)
    return found


_Arrays = dict[str, tuple[tuple[str, ...], FloatArray]]


def _file(path: Path, names: Iterable[str]) -> GriddedFile:
    """The variables of these names."""
    if path.is_file() and _is_classic(path):
        return read_classic(path, read_bytes(path), tuple(names))
    return read_gridded_file(path, tuple(sorted({name.lower() for name in names})))


def _is_classic(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def _half_turns(degrees: FloatArray, *, single: bool) -> FloatArray:
    """Between -180 and 180, rounded as in PyWake, which computes this in the precision of the file."""
    kept = degrees.astype(np.float32) if single else degrees
    return np.asarray((kept + 180) % 360 - 180, np.float64)


def _take_axes(found: Variables, arrays: _Arrays) -> None:
    used = {axis for name in _READ if name in arrays for axis in arrays[name][0]} | {"ws"}
    for axis in sorted(used):
        if axis not in ORDER:
            words = {"i": "by the number of a turbine", "time": "by time"}.get(axis, "over another axis")
            refuse(found.path, f"has values {words} ({axis})", f"values may be over {', '.join(ORDER)}")
        if axis not in arrays:
            continue  # the wind speeds may be left out
        own, values = arrays[axis]
        if own != (axis,) or not np.isfinite(values).all() or not len(values):
            refuse(found.path, f"has an axis {axis} that is not a list of numbers", "correct it")
        if axis in ("x", "y", "h") and len(values) > 1 and (np.diff(values) < 0.0).all():
            found.falling.add(axis)
            values = values[::-1]
        found.axes[axis] = _sectors(found, values) if axis == "wd" else values
    if "ws" in found.axes and (np.diff(found.axes["ws"]) <= 0.0).any():
        refuse(found.path, "has wind speeds that do not increase", "sort the axis ws")


def _sectors(found: Variables, directions: FloatArray) -> FloatArray:
    """The centres of the sectors, which must be even and begin at north."""
    found.repeats_north = len(directions) > 1 and bool(directions[-1] == 360.0)
    centres = directions[:-1] if found.repeats_north else directions
    even = np.arange(len(centres)) * (360.0 / len(centres))
    if np.abs(centres - even).max() > 1e-6:
        index = int(np.argmax(np.abs(centres - even) > 1e-6))
        refuse(
            found.path,
            f"has {len(centres)} directions, number {index + 1} at {centres[index]:g}, not at {even[index]:g} degrees",
            "give even sectors from 0 clockwise, as PyWake needs them; 360 may repeat 0",
        )
    return np.asarray(even)


def _in_order(found: Variables, name: str, axes: tuple[str, ...], values: FloatArray) -> Variable:
    by_position = tuple(axis for axis in _PYWAKE_ORDER if axis in axes)
    if axes != by_position:
        found.notes.append(
            f"{name} is over ({', '.join(axes)}) and is read by these names; PyWake goes by position and would take "
            f"its axes for ({', '.join(by_position)})"
        )
    values = values.transpose([axes.index(axis) for axis in by_position])
    values = np.flip(values, tuple(at for at, axis in enumerate(by_position) if axis in found.falling))
    if not np.isfinite(values).all():
        refuse(
            found.path,
            f"has {int((~np.isfinite(values)).sum())} gaps in {name}",
            "fill them, or crop the grid",
        )
    if ("x" in axes) != ("y" in axes) or ("h" in axes and "x" not in axes):
        refuse(
            found.path, f"has {name} over ({', '.join(axes)})", "give x and y together, and h only with them"
        )
    if found.repeats_north and "wd" in by_position:
        values = _without_360(found, name, values, by_position.index("wd"))
    return Variable(by_position, np.array(values, order="C"))


def _without_360(found: Variables, name: str, values: FloatArray, place: int) -> FloatArray:
    first, last = np.take(values, 0, axis=place), np.take(values, -1, axis=place)
    if not np.array_equal(first, last):
        refuse(
            found.path, f"has {name} that differs between 0 and 360 degrees, which are the same", "correct it"
        )
    return np.delete(values, -1, axis=place)


def _refuse_other_wind(found: Variables, arrays: _Arrays, name: str, axis: str) -> None:
    """WS and WD replace the wind speed and direction in PyWake; only ones that change nothing are understood."""
    if name not in arrays:
        return
    axes, values = arrays[name]
    own = found.axes.get(axis)
    if axes == (axis,) and own is not None and np.array_equal(values, own):
        return
    what = "wind speeds" if name == "WS" else "wind directions"
    refuse(
        found.path, f"has {name}, which replaces the {what} of all states", "give Speedup or Turning instead"
    )
