"""Probabilities of a windIO resource by wind direction, or by wind direction and wind speed.

With ``sector_probability`` beside it, ``probability`` is in some files the joint one and in others the one within each
sector. The sums tell: joint ones sum to 1 in all, conditional ones in each sector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.campaign.sections.normalising import SUM_TOLERANCE
from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.quantities import Quantities
from vindeby.interop.windio.sectors import are_even
from vindeby.interop.windio.turbulence import at_states, of_rose

FloatArray = npt.NDArray[np.float64]


def read_probability(found: Quantities, notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a resource with probabilities."""
    given = found.by_name["probability"]
    if not set(given.axes) <= {"wind_direction", "wind_speed"}:
        given.refuse(
            f"depends on {', '.join(given.axes)}",
            "give it by wind_direction and wind_speed, for the whole site",
        )
    directions, speeds = found.axis("wind_direction"), found.axis("wind_speed")
    for axis, points in (("wind_direction", directions), ("wind_speed", speeds)):
        if axis not in given.axes and len(points) > 1:
            given.refuse(f"does not depend on {axis}, which has {len(points)} values", "correct dims")
    axes = [axis for axis in ("wind_direction", "wind_speed") if axis in given.axes]
    table = given.over(*axes).reshape(len(directions), len(speeds))
    table = joint(found, table, notes)
    order = np.argsort(speeds, kind="stable")
    if len(np.unique(speeds)) < len(speeds):
        found.by_name["wind_speed"].refuse("has a wind speed twice", "list each once")
    found = Quantities(
        {name: one.taken("wind_speed", order) for name, one in found.by_name.items()}, found.times, found.node
    )
    return _site(found, directions, speeds[order], table[:, order], notes)


def joint(found: Quantities, table: FloatArray, notes: Notes) -> FloatArray:
    """The joint probabilities, whichever kind the file has; one row per direction."""
    given, sectors = found.by_name["probability"], found.get("sector_probability")
    if table.min() < 0.0:
        given.refuse("has a negative value", "give fractions of the year", float(table.min()))
    total, rows = float(table.sum()), table.sum(axis=1)
    conditional = len(rows) > 1 and bool(np.all(np.abs(rows - 1.0) <= SUM_TOLERANCE))
    if conditional and sectors is not None:
        shares = sectors.over("wind_direction")
        table = table * shares[:, None]
        notes.chosen.append(
            f"probability sums to 1 in each sector ({total:.6f} in all): it is that of a wind speed within its sector, "
            f"and is multiplied by sector_probability; then it sums to {table.sum():.8f}"
        )
        total = float(table.sum())
    elif sectors is not None:
        notes.ignored.append(
            "sector_probability: the probabilities are those of direction and speed together"
        )
    if conditional and sectors is None:
        given.refuse(
            f"sums to 1 in each sector, {total:.6g} in all, and there is no sector_probability",
            "add sector_probability, or give joint probabilities that sum to 1",
        )
    if abs(total - 1.0) > SUM_TOLERANCE:
        given.refuse(f"the probabilities sum to {total:.6g}, not to 1", "give fractions of the year")
    notes.taken.append(
        f"wind: probabilities of {table.shape[0]} directions x {table.shape[1]} speeds that sum to {total:.8f}; they "
        "are not divided by it"
    )
    return table


def _site(
    found: Quantities, directions: FloatArray, speeds: FloatArray, table: FloatArray, notes: Notes
) -> dict[str, Any]:
    """A table where the directions go evenly around, a list of states otherwise."""
    if are_even(directions):
        turbulence = of_rose(found, "site.table.turbulence_intensity", notes)
        rose: dict[str, Any] = {} if turbulence is None else {"turbulence_intensity": turbulence}
        rose |= {"wind_directions": directions.tolist(), "wind_speeds": speeds.tolist()}
        return {"table": {**rose, "probability": table.tolist()}}
    turbulence = at_states(found, "site.states.turbulence_intensity", table.shape, notes)
    states: dict[str, Any] = {
        "wind_direction": np.repeat(directions, len(speeds)).tolist(),
        "wind_speed": np.tile(speeds, len(directions)).tolist(),
        "probability": table.ravel().tolist(),
    }
    if turbulence is not None:
        states["turbulence_intensity"] = turbulence
    notes.chosen.append("the wind directions are not evenly around, so that the wind is a list of states")
    return {"states": states}
