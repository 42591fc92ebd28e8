"""The turbulence intensity of a windIO resource: a number, or by wind direction, wind speed, step or place.

It is never guessed. Where it is not given, or is no fraction that a wake model may take, it is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vindeby.interop.windio.notes import Missing, Notes
from vindeby.interop.windio.quantities import Quantities, Quantity

_NAME = "turbulence_intensity"
_REMEDY = "give it as a fraction, e.g. 0.08"


def usable(found: Quantities, field: str, notes: Notes) -> Quantity | None:
    """The turbulence intensity, if there is one between 0 and 1; noted as missing under ``field`` otherwise."""
    given = found.get(_NAME)
    if given is None:
        notes.missing.append(Missing(field, "turbulence_intensity is not in the file", _REMEDY))
        return None
    low, high = float(given.values.min()), float(given.values.max())
    if not (low > 0.0 and high < 1.0):
        shown = f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"
        why = f"turbulence_intensity is {shown} in the file, no fraction that a wake model may take"
        notes.missing.append(Missing(field, why, _REMEDY))
        return None
    return given


def of_rose(found: Quantities, field: str, notes: Notes) -> Any:
    """A number or a table by wind direction, wind speed or both; None where it is missing."""
    given = usable(found, field, notes)
    if given is None:
        return None
    if not given.axes:
        return float(given.values)
    if not set(given.axes) <= {"wind_direction", "wind_speed"}:
        given.refuse(f"depends on {', '.join(given.axes)}", "give it by wind_direction and wind_speed")
    axes = [axis for axis in ("wind_direction", "wind_speed") if axis in given.axes]
    table = {f"{axis}s": found.axis(axis).tolist() for axis in axes}
    return {**table, "values": given.over(*axes).tolist()}


def of_steps(found: Quantities, field: str, notes: Notes) -> Any:
    """A number, or one per step; None where it is missing."""
    given = usable(found, field, notes)
    if given is None:
        return None
    return float(given.values) if not given.axes else given.over("time").tolist()


def at_states(found: Quantities, field: str, shape: tuple[int, int], notes: Notes) -> Any:
    """A number, or one per state of a table of directions and wind speeds, row by row; None where it is missing."""
    given = usable(found, field, notes)
    if given is None:
        return None
    if not given.axes:
        return float(given.values)
    if not set(given.axes) <= {"wind_direction", "wind_speed"}:
        given.refuse(f"depends on {', '.join(given.axes)}", "give it by wind_direction and wind_speed")
    if set(given.axes) == {"wind_direction", "wind_speed"}:
        return given.over("wind_direction", "wind_speed").ravel().tolist()
    column = given.values[:, None] if given.axes == ("wind_direction",) else given.values[None, :]
    return np.broadcast_to(column, shape).ravel().tolist()
