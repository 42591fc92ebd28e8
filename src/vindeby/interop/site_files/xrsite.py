"""Sites of PyWake: files (``XRSite.save``, netCDF), read as ``XRSite.load`` reads them, and ``XRSite`` objects.

Values of a sector stand at its centre; frequency, Weibull parameters, P, Speedup and Turning are ``nearest`` by
default, turbulence intensity is linear in any case; nothing is normalised. Axes go by their names; PyWake goes
by their position, so an order in which it would read something else is said. No attribute of the file is read: PyWake
keeps the interpolation in its objects, not in files.
"""

import io
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.yaml_text import not_used, unused
from vindeby.errors import CampaignError
from vindeby.interop.common import Options, given_number, read_bytes, refuse, refuse_option
from vindeby.interop.site_files.options import WEIBULL as WEIBULL_OPTIONS
from vindeby.interop.site_files.options import (
    given,
    step_notes,
    table_section,
    turbulence,
    weibull_sectors,
)
from vindeby.interop.site_files.wasp import between, place_on
from vindeby.store.read.gridded_file import MOST_NUMBERS, GriddedFile, read_gridded_file
from vindeby.units import count_sectors, first_uneven

ORDER = ("x", "y", "h", "wd", "ws")
_PYWAKE_ORDER = ("i", "x", "y", "h", "time", "wd", "ws")
_READ = ("P", "Weibull_A", "Weibull_k", "Sector_frequency", "TI", "Speedup", "Turning")
_OTHER_WIND = {"WS": "ws", "WD": "wd"}
_OTHER_NAMES = _OTHER_WIND | {
    "wind_speed": "ws", "wind_direction": "wd", "sector": "wd", "height": "h",
    "weibull_a": "Weibull_A", "weibull_k": "Weibull_k", "A": "Weibull_A", "k": "Weibull_k",
    "sector_probability": "Sector_frequency", "sector_frequency": "Sector_frequency", "wdfreq": "Sector_frequency",
    "probability": "P", "turbulence_intensity": "TI",
}  # fmt: skip
"""Names of windIO, foxes, windkit and NEWA; WS and WD only where they are axes."""


_Arrays = dict[str, tuple[tuple[str, ...], FloatArray]]
"""Numbers by name, with the names of their axes."""


class Variables:
    """What a file or an ``XRSite`` has of what PyWake reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.axes: dict[str, FloatArray] = {}
        self.arrays: _Arrays = {}
        """The variables, over axes that stand in the order of ``ORDER``."""
        self.notes: list[str] = []
        self.repeats_north = False
        self.falling: set[str] = set()
        """Axes that fall in the file, and are turned round here with the values over them."""

    def axes_of(self, name: str) -> tuple[str, ...]:
        """The axes of a variable; none where it is not there."""
        return self.arrays[name][0] if name in self.arrays else ()

    def by_direction(self, name: str) -> FloatArray:
        """A variable with directions as its first axis, repeated along them if it does not depend on them."""
        own, values = self.arrays[name]
        return values if "wd" in own else np.repeat(values[None], len(self.axes.get("wd", [0])), axis=0)


_NAMES = (*_READ, *_OTHER_WIND, "ws", "wd")


def _variables(path: Path, file: GriddedFile, options: Options) -> Variables:
    """The variables by PyWake's names, over axes in its order."""
    found = Variables(path)
    arrays = _at_height(found, _by_pywakes_names(found, file.arrays), options)
    if "Turning" in arrays:
        axes, values = arrays["Turning"]
        # Between -180 and 180, rounded as in PyWake, which computes this in the precision of the file.
        kept = values.astype(np.float32) if "Turning" in file.single_precision else values
        arrays["Turning"] = axes, np.asarray((kept + 180) % 360 - 180, np.float64)
    _take_axes(found, arrays)
    for name in _READ:
        if name in arrays:
            found.arrays[name] = _in_order(found, name, *arrays[name])
    known = {(name,) for name in (*_NAMES, *ORDER)}
    found.notes += not_used(unused(dict.fromkeys((*arrays, *file.others), True), known))
    # WS and WD replace the wind speed and direction in PyWake; only ones that change nothing are understood.
    for name in [name for name in _OTHER_WIND if name in arrays]:
        (axes, values), axis = arrays[name], _OTHER_WIND[name]
        if axes != (axis,) or not np.array_equal(values, found.axes.get(axis, np.zeros(0))):
            what = "wind speeds" if name == "WS" else "wind directions"
            message = f"has {name}, which replaces the {what} of all states"
            refuse(path, message, "give Speedup or Turning instead")
    return found


def _by_pywakes_names(found: Variables, arrays: _Arrays) -> _Arrays:
    """Variables and axes that have names of windIO, foxes, windkit or NEWA by those of PyWake, where that is clear."""
    names: dict[str, str] = {}
    for name, (axes, _) in arrays.items():
        own = _OTHER_NAMES.get(name)
        if (
            own is not None
            and own not in {*arrays, *names.values()}
            and (name not in _OTHER_WIND or axes == (name,))
        ):
            names[name] = own
    found.notes += [f"{name} is read as PyWake's {own}" for name, own in names.items() if own not in ORDER]
    return {
        names.get(name, name): (tuple(names.get(axis, axis) for axis in axes), values)
        for name, (axes, values) in arrays.items()
    }


def _at_height(found: Variables, arrays: _Arrays, options: Options) -> _Arrays:
    """What depends on height but not on the place, at one height: linear between those of the file."""
    names = [name for name, (axes, _) in arrays.items() if "h" in axes and "x" not in axes and name != "h"]
    if not names:
        if options.get("height") is not None:
            refuse_option("height", "goes with heights in a file without x and y only", "leave it out")
        return arrays
    order = np.argsort(arrays["h"][1])
    levels = arrays["h"][1][order]
    at = place_on(options, "height", levels)
    found.notes.append(f"taken at a height of {at:g} m")
    for name in names:
        axes, values = arrays[name]
        rows = np.moveaxis(values, axes.index("h"), 0)[order]
        arrays[name] = tuple(axis for axis in axes if axis != "h"), between(rows, levels, at)
    return arrays


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
    count, index = count_sectors(directions.tolist()), first_uneven(directions.tolist())
    found.repeats_north = count < len(directions)
    even = np.arange(count) * (360.0 / count)
    if index is not None:
        refuse(
            found.path,
            f"has {count} directions, number {index + 1} at {directions[index]:g}, not at {even[index]:g} degrees",
            "give even sectors from 0 clockwise, as PyWake needs them; 360 may repeat 0",
        )
    return np.asarray(even)


def _in_order(
    found: Variables, name: str, axes: tuple[str, ...], values: FloatArray
) -> tuple[tuple[str, ...], FloatArray]:
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
        along = by_position.index("wd")
        if not np.array_equal(np.take(values, 0, axis=along), np.take(values, -1, axis=along)):
            message = f"has {name} that differs between 0 and 360 degrees, which are the same"
            refuse(found.path, message, "correct it")
        values = np.delete(values, -1, axis=along)
    return by_position, np.array(values, order="C")


OPTIONS = WEIBULL_OPTIONS | {"turned_wakes", "height"}
_WEIBULL = ("Sector_frequency", "Weibull_A", "Weibull_k")
LOCAL = {
    "Speedup": "speedup",
    "Turning": "turning",
    "Weibull_A": "weibull_a",
    "Weibull_k": "weibull_k",
    "Sector_frequency": "sector_frequency",
    "TI": "turbulence_intensity",
}
_AXES = {"x": "x", "y": "y", "h": "height", "wd": "wind_directions"}
_CONVERT = "convert it to netCDF-4: nccopy -k nc4 OLD.nc NEW.nc"
_USUAL_SPEEDS = tuple(float(speed) for speed in range(3, 26))


def read_xrsite(path: Path, options: Options) -> FileContent:
    """The site as a section of a campaign, with local wind where the file has grids."""
    names = (*_NAMES, *_OTHER_NAMES)
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(4)
        if start.startswith(b"CDF"):
            return site_section(path, _read_classic(path, start, names), options)
    return site_section(path, read_gridded_file(path, tuple(sorted({*map(str.lower, names)}))), options)


class _ReadOnce(io.BytesIO):
    """A file whose header cannot claim the same bytes for variable after variable, which would take all memory."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.taken = getattr(self, "taken", 0) + len(data)
        if self.taken > 2 * len(self.getbuffer()):
            raise ValueError("read more than there is")
        return data


def _read_classic(path: Path, start: bytes, wanted: Collection[str]) -> GriddedFile:
    """The same from a classic netCDF file (netCDF-3), which HDF5 cannot read, but scipy; what is missing is NaN."""
    if start.endswith(b"\x05"):
        refuse(path, "is a classic netCDF file of the kind CDF-5 (64-bit data)", _CONVERT)
    try:
        from scipy.io import netcdf_file
    except ImportError:
        install = "install scipy: pip install 'vindeby[interop]'"
        refuse(path, "is a classic netCDF file, which is read with scipy", f"{install}; or {_CONVERT}")
    try:
        variables = netcdf_file(_ReadOnce(read_bytes(path)), mmap=False, maskandscale=True).variables
        found = [name for name in variables if name in wanted]
        taken = sorted({*found, *(axis for name in found for axis in variables[name].dimensions)})
        arrays: _Arrays = {}
        for name in taken:
            if name not in variables:
                refuse(path, f"has an axis {name} without coordinates", "add a variable of this name")
            one = variables[name]
            if one.data.size > MOST_NUMBERS:
                refuse(path, f"has {name} of more than {MOST_NUMBERS:,} numbers", "crop it")
            if one.data.dtype.kind not in "iuf":
                refuse(path, f"has {name} that does not hold numbers", "correct it")
            values = np.ma.filled(np.ma.asarray(one[...], np.float64), np.nan)
            # Beside _FillValue, scipy does not look at it.
            values[np.isin(one.data, getattr(one, "missing_value", []))] = np.nan
            arrays[name] = tuple(one.dimensions), values
    except CampaignError:
        raise
    except Exception:  # noqa: BLE001  whatever scipy raises, the file is not what it should be
        refuse(
            path, "is a classic netCDF file whose content is damaged or incomplete", "write or copy it again"
        )
    single = frozenset(name for name in taken if variables[name].data.dtype == ">f4")
    return GriddedFile(arrays, single, tuple(name for name in variables if name not in taken))


def site_section(path: Path, file: GriddedFile, options: Options) -> FileContent:
    """The same for arrays that were read already, or that an ``XRSite`` holds."""
    found = _variables(path, file, options)
    over_direction, over_position = _interpolations(options)
    intensity = turbulence(options, _turbulence(found))
    if "P" in found.arrays:
        plain = {**options, "interpolation": over_direction}
        data: dict[str, Any] = {"table": _table(found, plain, intensity)}
    else:
        data = {"weibull": _weibull(found, options, over_direction, intensity)}
    local = _local(found)
    if local:
        data["local"] = local | {"interpolation": over_direction, "position_interpolation": over_position}
        data["local"] |= given(options, "turned_wakes")
    elif options.get("turned_wakes"):
        refuse_option("turned_wakes", "needs Turning over x and y in the file", "leave it out")
    notes = (*found.notes, *(step_notes(options) if "P" in found.arrays else ()))
    return FileContent(data, "xrsite", notes)


def _interpolations(options: Options) -> tuple[str, str]:
    """Over direction and over position, from one word or from a mapping by axis."""
    how = options.get("interpolation", "nearest")
    by_axis: dict[str, Any] = how if isinstance(how, dict) else dict.fromkeys(("wd", "x", "y", "h"), how)
    for axis, word in by_axis.items():
        if axis not in (*_AXES, "ws") or word not in ("linear", "nearest"):
            refuse_option(
                "interpolation",
                "is neither linear nor nearest, nor one of them for each of wd, x, y and h",
                "write e.g. interpolation: linear, or {wd: nearest, x: linear, y: linear}",
                how,
            )
    places = {word for axis, word in by_axis.items() if axis in ("x", "y", "h")}
    if len(places) > 1:
        refuse_option("interpolation", "differs between x, y and h", "give them the same", how)
    return str(by_axis.get("wd", "nearest")), str(places.pop() if places else "nearest")


def _turbulence(found: Variables) -> Any:
    """One number, or a table by direction and speed; what is over x and y is local and replaces this."""
    if "TI" not in found.arrays:
        return None
    axes, values = found.arrays["TI"]
    if "x" in axes:
        return float(values.mean())
    if not axes:
        return float(values)
    names = {"wd": "wind_directions", "ws": "wind_speeds"}
    return {**{names[axis]: found.axes[axis].tolist() for axis in axes}, "values": values.tolist()}


def _table(found: Variables, options: Options, intensity: Any) -> dict[str, Any]:
    """P over direction and speed, over one of them, or one number."""
    axes = found.axes_of("P")
    if "x" in axes:
        refuse(
            found.path,
            "has P over x and y",
            "give Weibull_A, Weibull_k and Sector_frequency over x and y instead",
        )
    speeds, given_speeds = found.axes.get("ws", np.zeros(0)), options.get("wind_speeds")
    if given_speeds is not None:
        if "ws" in axes:
            refuse_option("wind_speeds", "are those of P in the file", "leave it out")
        one = given_speeds[0] if isinstance(given_speeds, list | tuple) and len(given_speeds) == 1 else None
        speed = given_number({"wind_speeds": one}, "wind_speeds")
        speeds = np.zeros(0) if speed is None else np.array([speed])
    if "ws" not in axes and len(speeds) != 1:
        refuse_option(
            "wind_speeds",
            f"must be one: P is over {' and '.join(axes) or 'nothing'}, and each of several wind speeds would "
            "have the whole of it",
            "give the one wind speed that it holds for, e.g. wind_speeds: [9.8]",
            given_speeds,
        )
    rows = found.by_direction("P")
    return table_section(rows if "ws" in axes else rows[:, None], speeds, options, intensity)


def _weibull(found: Variables, options: Options, how: str, intensity: Any) -> dict[str, Any]:
    missing = [name for name in _WEIBULL if name not in found.arrays]
    if missing:
        refuse(
            found.path,
            f"has neither P nor {' and '.join(missing)}",
            "name the variables as PyWake does: P, or Weibull_A, Weibull_k and Sector_frequency; capitals count",
        )
    section: dict[str, Any] = {"turbulence_intensity": intensity, "interpolation": how}
    section["wind_speeds"] = found.axes["ws"].tolist() if "ws" in found.axes else list(_USUAL_SPEEDS)
    section |= given(options, "wind_speeds", "direction_step", "normalise")
    for name in _WEIBULL:
        if "ws" in found.axes_of(name):
            refuse(found.path, f"has {name} over ws", "a Weibull distribution holds for all wind speeds")
    if not any("x" in found.axes_of(name) for name in _WEIBULL):
        section["sectors"] = weibull_sectors(*map(found.by_direction, _WEIBULL))
    elif options.get("normalise"):
        refuse_option("normalise", "is not possible where frequencies differ by place", "correct the file")
    return section


def _local(found: Variables) -> dict[str, Any]:
    """What is over x and y, in the form of a campaign; a whole Weibull distribution where part of one is."""
    by_place = [name for name in found.arrays if name in LOCAL and "x" in found.axes_of(name)]
    if "P" not in found.arrays and any(name in by_place for name in _WEIBULL):
        by_place = [name for name in found.arrays if name in (*by_place, *_WEIBULL)]
    for name, neutral in (("Speedup", 1.0), ("Turning", 0.0)):
        if name in found.arrays and name not in by_place and (found.arrays[name][1] != neutral).any():
            refuse(found.path, f"has {name} that is not over x and y", "give it over x and y, or remove it")
    grids = {}
    for name in by_place:
        axes, values = found.arrays[name]
        if "ws" in axes:
            remedy = "local wind does not depend on ws: leave this axis out"
            refuse(found.path, f"has {name} over x, y and ws", remedy)
        grids[LOCAL[name]] = {"axes": [_AXES[axis] for axis in axes], "values": values.ravel().tolist()}
    if not grids:
        return {}
    used = [axis for axis in _AXES if any(axis in found.axes_of(name) for name in by_place)]
    return {
        "source": found.path.name,
        **{_AXES[axis]: found.axes[axis].tolist() for axis in used},
        **grids,
    }
