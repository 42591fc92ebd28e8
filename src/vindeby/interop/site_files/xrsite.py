"""Sites of PyWake (``XRSite.save``, netCDF), read as ``XRSite.load`` reads them.

Values of a sector stand at its centre; frequency, Weibull parameters, P, Speedup and Turning are ``nearest`` unless
told otherwise, turbulence intensity is linear in any case; nothing is normalised. Axes go by their names; PyWake goes
by their position, so an order in which it would read something else is said. No attribute of the file is read: PyWake
keeps the interpolation in its objects, not in files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.interop.file_reading import FileContent, Options, as_float, refuse, refuse_option
from vindeby.interop.site_files.direction_table import step_notes, table_section
from vindeby.interop.site_files.weibull_options import WEIBULL as WEIBULL_OPTIONS
from vindeby.interop.site_files.weibull_options import given
from vindeby.interop.site_files.xrsite_variables import FloatArray, Variable, Variables, read_variables

OPTIONS = WEIBULL_OPTIONS | {"turned_wakes", "height"}
_WEIBULL = {"Sector_frequency": "frequency", "Weibull_A": "a", "Weibull_k": "k"}
_LOCAL = {
    "Speedup": "speedup",
    "Turning": "turning",
    "Weibull_A": "weibull_a",
    "Weibull_k": "weibull_k",
    "Sector_frequency": "sector_frequency",
    "TI": "turbulence_intensity",
}
_AXES = {"x": "x", "y": "y", "h": "height", "wd": "wind_directions"}
_USUAL_SPEEDS = tuple(float(speed) for speed in range(3, 26))


def read(path: Path, options: Options) -> FileContent:
    """The site as a section of a campaign, with local wind where the file has grids."""
    found = read_variables(path, options)
    over_direction, over_position = _interpolations(options)
    turbulence = _turbulence(found, options)
    if "P" in found:
        plain = {**options, "interpolation": over_direction}
        data: dict[str, Any] = {"table": _table(found, plain, turbulence)}
    else:
        data = {"weibull": _weibull(found, options, over_direction, turbulence)}
    local = _local(found)
    if local:
        data["local"] = local | {"interpolation": over_direction, "position_interpolation": over_position}
        data["local"] |= given(options, "turned_wakes")
    elif options.get("turned_wakes"):
        refuse_option("turned_wakes", "needs Turning over x and y in the file", "leave it out")
    notes = (*found.notes, *(step_notes(options) if "P" in found else ()))
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


def _turbulence(found: Variables, options: Options) -> Any:
    """One number, or a table by direction and speed; what is over x and y is local and replaces this."""
    own = options.get("turbulence_intensity")
    if "TI" not in found:
        if own is None:
            refuse_option("turbulence_intensity", "is missing: the file has no TI", "add it as a fraction")
        return own
    if own is not None:
        refuse_option("turbulence_intensity", "is given here and by TI of the file", "remove it here", own)
    intensity = found["TI"]
    if "x" in intensity.axes:
        return float(intensity.values.mean())
    if not intensity.axes:
        return float(intensity.values)
    names = {"wd": "wind_directions", "ws": "wind_speeds"}
    axes = {names[axis]: found.axis(axis).tolist() for axis in intensity.axes}
    return {**axes, "values": intensity.values.tolist()}


def _table(found: Variables, options: Options, turbulence: Any) -> dict[str, Any]:
    """P over direction and speed, over one of them, or one number."""
    table = found["P"]
    if "x" in table.axes:
        refuse(
            found.path,
            "has P over x and y",
            "give Weibull_A, Weibull_k and Sector_frequency over x and y instead",
        )
    speeds = found.axis("ws") if "ws" in found.axes else None
    if "ws" in table.axes:
        if options.get("wind_speeds") is not None:
            refuse_option("wind_speeds", "are those of P in the file", "leave it out")
    elif options.get("wind_speeds") is not None:
        speeds = np.array(_one_speed(options["wind_speeds"]))
    if speeds is None or ("ws" not in table.axes and len(speeds) != 1):
        refuse_option(
            "wind_speeds",
            f"is needed: P is over {' and '.join(table.axes) or 'nothing'}, and each of "
            f"{23 if speeds is None else len(speeds)} wind speeds would have the whole of it",
            "give the one wind speed that it holds for, e.g. wind_speeds: [9.8]",
        )
    rows = found.over(table, ("wd", "ws"))
    return table_section(rows, speeds, options, turbulence)


def _one_speed(given_speeds: Any) -> list[float]:
    if (
        not isinstance(given_speeds, list | tuple)
        or len(given_speeds) != 1
        or isinstance(given_speeds[0], bool)
        or not isinstance(given_speeds[0], int | float)
    ):
        refuse_option(
            "wind_speeds", "is not a list of one number", "write e.g. wind_speeds: [9.8]", given_speeds
        )
    return [as_float(given_speeds[0])]


def _weibull(found: Variables, options: Options, how: str, turbulence: Any) -> dict[str, Any]:
    missing = [name for name in _WEIBULL if name not in found]
    if missing:
        refuse(
            found.path,
            f"has neither P nor {' and '.join(missing)}",
            "name the variables as PyWake does: P, or Weibull_A, Weibull_k and Sector_frequency; capitals count",
        )
    section: dict[str, Any] = {"turbulence_intensity": turbulence, "interpolation": how}
    section["wind_speeds"] = found.axis("ws").tolist() if "ws" in found.axes else list(_USUAL_SPEEDS)
    section |= given(options, "wind_speeds", "direction_step", "normalise")
    for name in _WEIBULL:
        if "ws" in found[name].axes:
            refuse(found.path, f"has {name} over ws", "a Weibull distribution holds for all wind speeds")
    if not any("x" in found[name].axes for name in _WEIBULL):
        columns = {key: found.over(found[name], ("wd",)) for name, key in _WEIBULL.items()}
        section["sectors"] = [
            {
                "direction": 360.0 * index / found.sectors,
                **{key: float(values[index]) for key, values in columns.items()},
            }
            for index in range(found.sectors)
        ]
    elif options.get("normalise"):
        refuse_option("normalise", "is not possible where frequencies differ by place", "correct the file")
    return section


def _local(found: Variables) -> dict[str, Any]:
    """What is over x and y, in the form of a campaign; a whole Weibull distribution where part of one is."""
    weibull_by_place = "P" not in found and any("x" in found[name].axes for name in _WEIBULL)
    taken = {
        name: variable
        for name, variable in found.variables.items()
        if name in _LOCAL and ("x" in variable.axes or (weibull_by_place and name in _WEIBULL))
    }
    for name in ("Speedup", "Turning"):
        if name in found and name not in taken and not _changes_nothing(name, found[name]):
            refuse(found.path, f"has {name} that is not over x and y", "give it over x and y, or remove it")
    if not taken:
        return {}
    used = [axis for axis in _AXES if any(axis in variable.axes for variable in taken.values())]
    return {
        "source": found.path.name,
        **{_AXES[axis]: found.axis(axis).tolist() for axis in used},
        **{_LOCAL[name]: _grid(found, name, variable) for name, variable in taken.items()},
    }


def _grid(found: Variables, name: str, variable: Variable) -> dict[str, Any]:
    if "ws" in variable.axes:
        refuse(
            found.path,
            f"has {name} over x, y and ws",
            "local wind does not depend on ws: leave this axis out",
        )
    return {"axes": [_AXES[axis] for axis in variable.axes], "values": variable.values.ravel().tolist()}


def _changes_nothing(name: str, variable: Variable) -> bool:
    neutral: FloatArray = np.full_like(variable.values, 1.0 if name == "Speedup" else 0.0)
    return bool(np.array_equal(variable.values, neutral))
