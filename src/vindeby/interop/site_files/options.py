"""A table of probabilities over direction and wind speed, at its own directions or spread over others.

Spread as PyWake does it: the values of a sector stand at its centre, ``nearest`` (a tie goes up) or ``linear`` between
them, and a sector's probability is shared out over the directions of the width that they have.
"""

from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.interop.common import Options, given_number, refuse_option
from vindeby.wake.sites.site import over_directions

WEIBULL = frozenset({"turbulence_intensity", "interpolation", "wind_speeds", "direction_step", "normalise"})
TABLE = frozenset({"turbulence_intensity", "interpolation", "direction_step", "normalise"})
STATES = frozenset({"turbulence_intensity"})


def given(options: Options, *names: str) -> dict[str, Any]:
    """Return those of the named options that have a value."""
    return {name: options[name] for name in names if options.get(name) is not None}


def turbulence(options: Options, own: Any = None) -> Any:
    """Return the turbulence intensity of the file, or of the option if the file has none."""
    given_value = options.get("turbulence_intensity")
    if own is None and given_value is None:
        remedy = "add it as a fraction, e.g. turbulence_intensity: 0.06"
        refuse_option("turbulence_intensity", "is missing: the file does not have it", remedy)
    if own is not None and given_value is not None:
        refuse_option("turbulence_intensity", "is given here and by the file", "remove it here", given_value)
    return given_value if own is None else own


def sector_centres(sectors: int) -> list[float]:
    """Return the directions at the middle of even sectors, the first of which is centred on north."""
    return [index * 360.0 / sectors for index in range(sectors)]


def interpolation(options: Options, usual: str) -> str:
    """Return the interpolation, ``linear`` or ``nearest``; refuse any other."""
    how = options.get("interpolation", usual)
    if how not in ("linear", "nearest"):
        refuse_option("interpolation", "is neither linear nor nearest", "write one of them", how)
    return str(how)


_LEAST_STEP = 0.1
_LARGEST_STEP = 1.0
"""A search finds the gaps between directions farther apart, and the energy would be overstated."""


def table_section(
    probability: FloatArray, speeds: FloatArray, options: Options, turbulence_intensity: Any
) -> dict[str, Any]:
    """Return the section ``table`` of a site: a row per sector, the first centred on north, and a column per speed."""
    how = interpolation(options, "nearest")
    rows = spread(probability, how, _directions(options) or len(probability))
    return {
        "turbulence_intensity": turbulence_intensity,
        "interpolation": how,
        "wind_directions": sector_centres(len(rows)),
        "wind_speeds": [float(speed) for speed in speeds],
        "probability": rows.tolist(),
        **given(options, "normalise"),
    }


def step_notes(options: Options) -> tuple[str, ...]:
    """Return a remark if the direction step is too coarse and a finer one is used."""
    step = given_number(options, "direction_step")
    if step is None or step <= _LARGEST_STEP:
        return ()
    return (f"direction_step {step:g} is taken as {_LARGEST_STEP:g}: coarser, energies would be overstated",)


def _directions(options: Options) -> int | None:
    """Return the number of directions by ``direction_step``; at least 360, as coarser ones overstate energies."""
    step = given_number(options, "direction_step")
    if step is None:
        return None
    count = round(360.0 / step) if step > _LEAST_STEP / 2.0 else 0
    if not 1 <= count <= round(360.0 / _LEAST_STEP) or abs(count * step - 360.0) > 1e-9:
        refuse_option("direction_step", "does not divide 360 degrees", "use e.g. 1, 2, 5 or 10", step)
    return max(count, round(360.0 / _LARGEST_STEP))


def spread(probability: FloatArray, how: str, count: int) -> FloatArray:
    """Return the probabilities of ``count`` directions, from those of sectors."""
    sectors = len(probability)
    if count == sectors:
        return probability
    directions = np.asarray(np.arange(count) * (360.0 / count), np.float64)
    return np.asarray(over_directions(probability, directions, how) * (sectors / count))
