"""A table of probabilities over direction and wind speed, at its own directions or spread over others.

Spread as PyWake does it: the values of a sector stand at its centre, ``nearest`` (a tie goes up) or ``linear`` between
them, and a sector's probability is shared out over the directions of the width that they have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.interop.common import Options, as_float, refuse_option

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


FloatArray = npt.NDArray[np.float64]

_LEAST_STEP = 0.1
_LARGEST_STEP = 1.0
"""A search finds the gaps between directions farther apart, and the energy would be overstated."""


def table_section(
    probability: FloatArray, speeds: FloatArray, options: Options, turbulence_intensity: Any = None
) -> dict[str, Any]:
    """The section ``table`` of a site: one row per sector, the first centred on north, one column per speed."""
    how = interpolation(options, "nearest")
    rows = spread(probability, how, number(options, "direction_step"))
    return {
        "turbulence_intensity": turbulence(options) if turbulence_intensity is None else turbulence_intensity,
        "interpolation": how,
        "wind_directions": [index * 360.0 / len(rows) for index in range(len(rows))],
        "wind_speeds": [float(speed) for speed in speeds],
        "probability": rows.tolist(),
        **given(options, "normalise"),
    }


def step_notes(options: Options) -> tuple[str, ...]:
    """What is decided in place of a step that is too coarse."""
    step = number(options, "direction_step")
    if step is None or step <= _LARGEST_STEP:
        return ()
    return (f"direction_step {step:g} is taken as {_LARGEST_STEP:g}: coarser, energies would be overstated",)


def spread(probability: FloatArray, how: str, step: float | None) -> FloatArray:
    """The probabilities for directions ``step`` degrees apart, at most 1; the rows as they are without one."""
    if step is None:
        return probability
    count = round(360.0 / step) if step > _LEAST_STEP / 2.0 else 0
    if not 1 <= count <= round(360.0 / _LEAST_STEP) or abs(count * step - 360.0) > 1e-9:
        refuse_option("direction_step", "does not divide 360 degrees", "use e.g. 1, 2, 5 or 10", step)
    if step > _LARGEST_STEP:
        step, count = _LARGEST_STEP, round(360.0 / _LARGEST_STEP)
    sectors = len(probability)
    place = np.arange(count) * step / (360.0 / sectors)
    if how == "nearest":
        rows = probability[np.floor(place + 0.5).astype(int) % sectors]
    else:
        left = np.floor(place).astype(int)
        share = (place - left)[:, None]
        rows = probability[left % sectors] * (1.0 - share) + probability[(left + 1) % sectors] * share
    return np.asarray(rows * (sectors / count))
