"""Time series of a windIO resource."""

from __future__ import annotations

from typing import Any

import numpy as np

from vindeby.campaign.reading.times import find_time_problem
from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.quantities import Quantities
from vindeby.interop.windio.turbulence import of_steps


def read_series(found: Quantities, notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a resource with steps in time."""
    series: dict[str, Any] = {}
    for name in ("wind_direction", "wind_speed"):
        given = found.get(name)
        if given is None:
            found.node.refuse(f"{name} is missing", "give time, wind_speed and wind_direction")
        low, high = float(given.values.min()), float(given.values.max())
        if low < 0.0 or (name == "wind_direction" and high > 360.0):
            told = "is not between 0 and 360" if name == "wind_direction" else "is negative"
            given.refuse(told, "correct it", low if low < 0.0 else high)
        series[name] = given.over("time").tolist()
    turbulence = of_steps(found, "site.time_series.turbulence_intensity", notes)
    if turbulence is not None:
        series["turbulence_intensity"] = turbulence
    weight = found.get("probability")
    if weight is not None:
        series["weight"] = weight.over("time").tolist()
        notes.chosen.append("probability by time is the weight of a step")
    period = _put_times(found, series, notes)
    _note_operating(found, notes)
    notes.taken.append(f"wind: time series of {len(series['wind_speed'])} steps{period}")
    return {"time_series": series}


def _put_times(found: Quantities, series: dict[str, Any], notes: Notes) -> str:
    if found.times is None:
        notes.ignored.append("time: numbers, not times; the steps are taken in their order")
        return ""
    if problem := find_time_problem(found.times):
        found.node.need("time").refuse(
            f"entry {problem.entry} {problem.message}", problem.remedy, found.times[problem.entry]
        )
    series["times"] = found.times
    return f", {found.times[0]} to {found.times[-1]}"


def _note_operating(found: Quantities, notes: Notes) -> None:
    operating = found.get("operating")
    if operating is not None:
        off = int(np.count_nonzero(operating.values == 0.0))
        notes.ignored.append(
            f"operating: {off} of {operating.values.size} entries say that a turbine stands still; here all run"
        )
