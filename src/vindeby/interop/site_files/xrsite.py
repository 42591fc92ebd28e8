"""Sites of PyWake: files (``XRSite.save``, netCDF), read as ``XRSite.load`` reads them, and ``XRSite`` objects.

Values of a sector stand at its centre; frequency, Weibull parameters, P, Speedup and Turning are ``nearest`` by
default, turbulence intensity is linear in any case; nothing is normalised. Axes go by their names. No attribute of the
file is read: PyWake keeps the interpolation in its objects, not in files.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from vindeby.arrays import Labelled
from vindeby.campaign.reading.labelled_wind import LabelledWind
from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.yaml_text import not_used, unused
from vindeby.interop.common import Options, given_number, refuse, refuse_option
from vindeby.interop.site_files.options import WEIBULL as WEIBULL_OPTIONS
from vindeby.interop.site_files.options import given, step_notes, table_section, turbulence
from vindeby.interop.site_files.wasp import between, place_on
from vindeby.store.foreign.gridded_file import GriddedFile, read_gridded_file

LOCAL = {
    "Speedup": "speedup",
    "Turning": "turning",
    "Weibull_A": "weibull_a",
    "Weibull_k": "weibull_k",
    "Sector_frequency": "sector_frequency",
    "TI": "turbulence_intensity",
}
_WEIBULL = ("Sector_frequency", "Weibull_A", "Weibull_k")
_READ = ("P", *LOCAL)
_NAMES = (*_READ, "WS", "WD", "ws", "wd")


class _XRSite(LabelledWind):
    """The variables of a file or an ``XRSite`` that PyWake reads, by PyWake's names."""

    axis_names = {"x": "x", "y": "y", "h": "height", "wd": "wind_directions", "ws": "wind_speeds"}  # noqa: RUF012
    names = LOCAL

    def __init__(self, path: Path, by_name: dict[str, Labelled]) -> None:
        self.path, self.by_name = path, by_name

    def refuse_part(self, name: str, message: str, remedy: str) -> NoReturn:
        refuse(self.path, f"has {name} that {message}" if name else message, remedy)

    def axes_of(self, name: str) -> tuple[str, ...]:
        """Return the axes of a variable; none if it is not there."""
        return self.by_name[name].axes if name in self.by_name else ()


def _wind(path: Path, file: GriddedFile, options: Options) -> tuple[_XRSite, list[str]]:
    """Return the variables with increasing axes, and notes."""
    arrays, notes = dict(file.arrays), list[str]()
    used = {axis for name in _READ if name in arrays for axis in arrays[name].axes} | {"ws"}
    for axis in sorted(used):
        if axis not in _XRSite.axis_names:
            words = {"i": "by the number of a turbine", "time": "by time"}.get(axis, "over another axis")
            refuse(
                path, f"has values {words} ({axis})", f"values may be over {', '.join(_XRSite.axis_names)}"
            )
        own = arrays.get(axis, Labelled((), np.zeros(0)))
        is_list = own.axes == (axis,) and len(own.values) > 0 and np.isfinite(own.values).all()
        if not is_list and (axis in arrays or axis != "ws"):  # the wind speeds may be left out
            refuse(path, f"has an axis {axis} that is not a list of numbers", "correct it")
    _take_height(arrays, options, notes)
    if "Turning" in arrays:
        values = arrays["Turning"].values
        # Between -180 and 180, rounded as in PyWake, which computes this in the precision of the file.
        kept = values.astype(np.float32) if "Turning" in file.single_precision else values
        turning = np.asarray((kept + 180) % 360 - 180, np.float64)
        arrays["Turning"] = Labelled(arrays["Turning"].axes, turning)
    wind = _XRSite(path, {name: one for name, one in arrays.items() if name in {*_READ, *used}})
    if "ws" in wind.by_name and (np.diff(wind.axis("ws")) <= 0.0).any():
        refuse(path, "has wind speeds that do not increase", "sort the axis ws")
    for name in filter(wind.by_name.__contains__, _READ):
        _check_variable(wind, name)
    wind = wind.in_order("x", "y", "h").with_north_once()
    if "wd" in wind.by_name:
        wind.refuse_uneven()
    known = {(name,) for name in (*_NAMES, *_XRSite.axis_names)}
    notes += not_used(unused(dict.fromkeys((*arrays, *file.others), True), known))
    for name, what in (("WS", "wind speeds"), ("WD", "wind directions")):
        if name in arrays:
            message = f"has {name}, which replaces the {what} of all states in PyWake"
            refuse(path, message, "give Speedup or Turning instead")
    return wind, notes


def _take_height(arrays: dict[str, Labelled], options: Options, notes: list[str]) -> None:
    """Interpolate variables over height, but not over place, linearly to one height."""
    used = {name: arrays[name].axes for name in _READ if name in arrays}
    names = [name for name, axes in used.items() if "h" in axes and "x" not in axes]
    if not names:
        if options.get("height") is not None:
            refuse_option("height", "goes with heights in a file without x and y only", "leave it out")
        return
    order = np.argsort(arrays["h"].values)
    levels = arrays["h"].values[order]
    at = place_on(options, "height", levels)
    notes.append(f"taken at a height of {at:g} m")
    for name in names:
        rest = tuple(axis for axis in arrays[name].axes if axis != "h")
        rows = arrays[name].take("h", order).over("h", *rest)
        arrays[name] = Labelled(rest, between(rows, levels, at))


def _check_variable(wind: _XRSite, name: str) -> None:
    """Refuse gaps and axes that do not go together."""
    axes, values = wind.axes_of(name), wind.by_name[name].values
    if gaps := int(np.count_nonzero(~np.isfinite(values))):
        refuse(wind.path, f"has {gaps} gaps in {name}", "fill them, or crop the grid")
    if ("x" in axes) != ("y" in axes) or ("h" in axes and "x" not in axes):
        over = ", ".join(axes)
        refuse(wind.path, f"has {name} over ({over})", "give x and y together, and h only with them")


OPTIONS = WEIBULL_OPTIONS | {"turned_wakes", "height"}


def read_xrsite(path: Path, options: Options) -> FileContent:
    """Return the site as a section of a campaign, with local wind where the file has grids."""
    return site_section(path, _read(path), options)


def read_local_wind(path: Path) -> FileContent:
    """Return the local wind of a file, over x and y, as the section ``local``; all else is listed as not used."""
    file = _read(path)
    arrays = {name: one for name, one in file.arrays.items() if "x" in one.axes or one.axes == (name,)}
    others = (*file.others, *(name for name in file.arrays if name not in arrays))
    wind, notes = _wind(path, replace(file, arrays=arrays, others=others), {})
    if not (local := _local(wind)):
        refuse(path, f"has none of {', '.join(LOCAL)} over x and y", "name a file with the local wind")
    return FileContent(local, "xrsite", tuple(notes))


def _read(path: Path) -> GriddedFile:
    return read_gridded_file(path, tuple(sorted({name.lower() for name in _NAMES})))


def site_section(path: Path, file: GriddedFile, options: Options) -> FileContent:
    """Return the section ``site`` for arrays already read, or held by an ``XRSite``."""
    wind, notes = _wind(path, file, options)
    over_direction, over_position = _interpolations(options)
    intensity = turbulence(options, _turbulence(wind))
    has_table = "P" in wind.by_name
    if has_table:
        plain = {**options, "interpolation": over_direction}
        data: dict[str, Any] = {"table": _table(wind, plain, intensity)}
    else:
        data = {"weibull": _weibull(wind, options, over_direction, intensity)}
    local = _local(wind)
    if local:
        data["local"] = local | {"interpolation": over_direction, "position_interpolation": over_position}
        data["local"] |= given(options, "turned_wakes")
    elif options.get("turned_wakes"):
        refuse_option("turned_wakes", "needs Turning over x and y in the file", "leave it out")
    return FileContent(data, "xrsite", (*notes, *(step_notes(options) if has_table else ())))


def _interpolations(options: Options) -> tuple[str, str]:
    """Return the interpolation over direction and over position, from a word or from a mapping by axis."""
    how = options.get("interpolation", "nearest")
    by_axis: dict[str, Any] = how if isinstance(how, dict) else dict.fromkeys(("wd", "x", "y", "h"), how)
    for axis, word in by_axis.items():
        if axis not in _XRSite.axis_names or word not in ("linear", "nearest"):
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


def _turbulence(wind: _XRSite) -> Any:
    """Return the turbulence as a number or a table by direction and speed; the local one over x and y replaces it."""
    if "TI" not in wind.by_name:
        return None
    return (
        float(wind.by_name["TI"].values.mean()) if "x" in wind.axes_of("TI") else wind.number_or_table("TI")
    )


def _table(wind: _XRSite, options: Options, intensity: Any) -> dict[str, Any]:
    """Return the probabilities P over direction and speed, over one of them, or as a number."""
    axes = wind.axes_of("P")
    if "x" in axes:
        remedy = "give Weibull_A, Weibull_k and Sector_frequency over x and y instead"
        refuse(wind.path, "has P over x and y", remedy)
    speeds, given_speeds = (
        wind.axis("ws") if "ws" in wind.by_name else np.zeros(0),
        options.get("wind_speeds"),
    )
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
    rows = wind.over("P", "wd", "ws")
    if "wd" not in axes and "wd" in wind.by_name:
        rows = np.repeat(rows, len(wind.axis("wd")), axis=0)
    return table_section(rows, speeds, options, intensity)


def _weibull(wind: _XRSite, options: Options, how: str, intensity: Any) -> dict[str, Any]:
    missing = [name for name in _WEIBULL if name not in wind.by_name]
    if missing:
        refuse(
            wind.path,
            f"has neither P nor {' and '.join(missing)}",
            "name the variables as PyWake does: P, or Weibull_A, Weibull_k and Sector_frequency; capitals count",
        )
    section: dict[str, Any] = {"turbulence_intensity": intensity, "interpolation": how}
    if "ws" in wind.by_name:
        section["wind_speeds"] = wind.axis("ws").tolist()
    section |= given(options, "wind_speeds", "direction_step", "normalise")
    for name in _WEIBULL:
        if "ws" in wind.axes_of(name):
            refuse(wind.path, f"has {name} over ws", "a Weibull distribution holds for all wind speeds")
    if not wind.depends_on("x", *_WEIBULL):
        section["sectors"] = wind.sectors(*_WEIBULL)
    elif options.get("normalise"):
        refuse_option("normalise", "is not possible where frequencies differ by place", "correct the file")
    return section


def _local(wind: _XRSite) -> dict[str, Any]:
    """Return the variables over x and y as a campaign has them, with all of a Weibull distribution if part is local."""
    by_place = [name for name in LOCAL if "x" in wind.axes_of(name)]
    if "P" not in wind.by_name and wind.depends_on("x", *_WEIBULL):
        by_place = [name for name in LOCAL if name in by_place or name in _WEIBULL]
    for name, neutral in (("Speedup", 1.0), ("Turning", 0.0)):
        if name in wind.by_name and name not in by_place and (wind.by_name[name].values != neutral).any():
            refuse(wind.path, f"has {name} that is not over x and y", "give it over x and y, or remove it")
    return {"source": wind.path.name, **wind.local(by_place)} if by_place else {}
