"""Options that all site files share: how often wind is looked at, and the turbulence that most files do not hold."""

from __future__ import annotations

from typing import Any

from vindeby.interop.file_reading import Options, as_float, refuse_option

WEIBULL = frozenset({"turbulence_intensity", "interpolation", "wind_speeds", "direction_step", "normalise"})
TABLE = frozenset({"turbulence_intensity", "interpolation", "direction_step", "normalise"})
STATES = frozenset({"turbulence_intensity", "columns"})


def given(options: Options, *names: str) -> dict[str, Any]:
    """Those options that are given."""
    return {name: options[name] for name in names if options.get(name) is not None}


def turbulence(options: Options) -> Any:
    """The turbulence intensity, which the file does not hold."""
    if options.get("turbulence_intensity") is None:
        refuse_option(
            "turbulence_intensity",
            "is missing: files of this kind hold none",
            "add it as a fraction, e.g. turbulence_intensity: 0.06",
        )
    return options["turbulence_intensity"]


def interpolation(options: Options, usual: str) -> str:
    """``linear`` or ``nearest``."""
    how = options.get("interpolation", usual)
    if how not in ("linear", "nearest"):
        refuse_option("interpolation", "is neither linear nor nearest", "write one of them", how)
    return str(how)


def number(options: Options, name: str) -> float | None:
    """An option that is a number; None where it is not given."""
    value = options.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse_option(name, "must be a number", "write a number, without quotes", value)
    return as_float(value)
