"""The wind of a windIO site, as a campaign describes it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.tables import find_time_problem
from vindeby.campaign.sections.local_wind import AXES
from vindeby.campaign.sections.values import SUM_TOLERANCE
from vindeby.errors import Problem
from vindeby.interop.windio.nodes import Node, Notes
from vindeby.interop.windio.quantities import (
    Quantities,
    Quantity,
    read_quantities,
    refuse_uneven,
    with_north_once,
)
from vindeby.text import listed
from vindeby.units import first_uneven

_REMEDY = "give it as a fraction, e.g. 0.08"


def _turbulence(found: Quantities, field: str, notes: Notes, axes: Sequence[str]) -> Quantity | None:
    """The turbulence intensity, over some of these axes, if it is between 0 and 1; noted as missing otherwise."""
    given = found.by_name.get("turbulence_intensity")
    if given is None:
        notes.missing.append(Problem("", field, "turbulence_intensity is not in the file", None, _REMEDY))
        return None
    low, high = float(given.values.min()), float(given.values.max())
    if not (low > 0.0 and high < 1.0):
        shown = f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"
        why = f"turbulence_intensity is {shown} in the file, not a fraction that a wake model can take"
        notes.missing.append(Problem("", field, why, None, _REMEDY))
        return None
    if not set(given.axes) <= set(axes):
        given.refuse(
            f"depends on {', '.join(given.axes)}", f"give it by {' and '.join(axes)}, or as a number"
        )
    return given


def _of_rose(found: Quantities, field: str, notes: Notes) -> dict[str, Any]:
    """A number or a table by wind direction, wind speed or both, under its name; nothing where it is missing."""
    given = _turbulence(found, field, notes, _ROSE_AXES)
    if given is None:
        return {}
    if not given.axes:
        return {"turbulence_intensity": float(given.values)}
    axes = [axis for axis in _ROSE_AXES if axis in given.axes]
    table = {f"{axis}s": found.axis(axis).tolist() for axis in axes}
    return {"turbulence_intensity": {**table, "values": given.over(*axes).tolist()}}


def read_series(found: Quantities, notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a resource with steps in time."""
    series: dict[str, Any] = {}
    for name in ("wind_direction", "wind_speed"):
        given = found.by_name.get(name)
        if given is None:
            found.node.refuse(f"{name} is missing", "give time, wind_speed and wind_direction")
        low, high = float(given.values.min()), float(given.values.max())
        if low < 0.0 or (name == "wind_direction" and high > 360.0):
            message = "is not between 0 and 360" if name == "wind_direction" else "is negative"
            given.refuse(message, "correct it", low if low < 0.0 else high)
        series[name] = given.over("time").tolist()
    turbulence = _turbulence(found, "site.time_series.turbulence_intensity", notes, ("time",))
    if turbulence is not None:
        series["turbulence_intensity"] = turbulence.values.tolist()
    weight = found.by_name.get("probability")
    if weight is not None:
        series["weight"] = weight.over("time").tolist()
        notes.chosen.append("probability by time is the weight of a step")
    period = ""
    if found.times is None:
        notes.ignored.append("time: numbers, not times; the steps are taken in their order")
    else:
        if problem := find_time_problem(found.times):
            entry, why, remedy = problem
            found.node.need("time").refuse(f"entry {entry} {why}", remedy, found.times[entry])
        series["times"] = found.times
        period = f", {found.times[0]} to {found.times[-1]}"
    if (operating := found.by_name.get("operating")) is not None:
        off = int(np.count_nonzero(operating.values == 0.0))
        notes.ignored.append(
            f"operating: {off} of {operating.values.size} entries say that a turbine stands still; here all run"
        )
    notes.taken.append(f"wind: time series of {len(series['wind_speed'])} steps{period}")
    return {"time_series": series}


def read_probability(found: Quantities, notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a resource with probabilities."""
    given = found.by_name["probability"]
    if not set(given.axes) <= set(_ROSE_AXES):
        given.refuse(
            f"depends on {', '.join(given.axes)}",
            "give it by wind_direction and wind_speed, for the whole site",
        )
    directions, speeds = (found.axis(axis) for axis in _ROSE_AXES)
    table = given.spread(*_ROSE_AXES)
    for axis, points, length in zip(_ROSE_AXES, (directions, speeds), table.shape, strict=True):
        if length != len(points):
            given.refuse(f"does not depend on {axis}, which has {len(points)} values", "correct dims")
    table = joint(found, table, notes)
    order = np.argsort(speeds, kind="stable")
    if len(np.unique(speeds)) < len(speeds):
        found.by_name["wind_speed"].refuse("has a wind speed twice", "list each once")
    found = found.taken("wind_speed", order)
    return _site(found, directions, speeds[order], table[:, order], notes)


def joint(found: Quantities, table: FloatArray, notes: Notes) -> FloatArray:
    """The joint probabilities, whichever kind the file has; one row per direction."""
    given, sectors = found.by_name["probability"], found.by_name.get("sector_probability")
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
    if first_uneven(directions.tolist()) is None:
        turbulence = _of_rose(found, "site.table.turbulence_intensity", notes)
        rose = {"wind_directions": directions.tolist(), "wind_speeds": speeds.tolist()}
        return {"table": {**turbulence, **rose, "probability": table.tolist()}}
    states: dict[str, Any] = {
        "wind_direction": np.repeat(directions, len(speeds)).tolist(),
        "wind_speed": np.tile(speeds, len(directions)).tolist(),
        "probability": table.ravel().tolist(),
    }
    given = _turbulence(found, "site.states.turbulence_intensity", notes, _ROSE_AXES)
    if given is not None:
        each = np.broadcast_to(given.spread(*_ROSE_AXES), table.shape).ravel().tolist()
        states["turbulence_intensity"] = each if given.axes else float(given.values)
    notes.chosen.append("the wind directions are not evenly around, so that the wind is a list of states")
    return {"states": states}


WEIBULL = ("weibull_a", "weibull_k", "sector_probability")
_TURBULENCE = "site.weibull.turbulence_intensity"
_GRID_AXES = ("x", "y", "height", "wind_direction")
_GRID_NAMES = {"sector_probability": "sector_frequency", "wind_direction": "wind_directions"}
_ROSE_AXES = ("wind_direction", "wind_speed")
_USUAL_SPEEDS = tuple(float(speed) for speed in range(3, 26))


def read_weibull(found: Quantities, notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a resource with Weibull distributions."""
    for name in WEIBULL:
        if found.by_name.get(name) is None:
            found.node.refuse(f"{name} is missing", f"give {', '.join(WEIBULL)}")
    frequency = found.by_name["sector_probability"]
    if found.depends_on("x", *WEIBULL) or found.depends_on("y", *WEIBULL):
        return _on_a_grid(found, notes)
    if frequency.axes != ("wind_direction",):
        message = ", ".join(frequency.axes) or "nothing"
        frequency.refuse(f"depends on {message}, not on wind_direction", "give it by wind_direction")
    total = float(frequency.values.sum())
    refuse_uneven(found, total)
    if abs(total - 1.0) > SUM_TOLERANCE:
        frequency.refuse(f"the frequencies sum to {total:.6g}, not to 1", "give fractions of the year")
    notes.taken.append(f"wind: Weibull, {len(frequency.values)} sectors, frequencies that sum to {total:.8f}")
    directions = found.axis("wind_direction")
    columns = [
        np.broadcast_to(found.by_name[name].spread("wind_direction"), directions.shape) for name in WEIBULL
    ]
    turbulence = _of_rose(found, _TURBULENCE, notes)
    weibull: dict[str, Any] = {"interpolation": "linear", **_speeds(turbulence, notes), **turbulence}
    weibull["sectors"] = [
        {"direction": direction, "a": a, "k": k, "frequency": share}
        for direction, a, k, share in zip(
            directions.tolist(), *(column.tolist() for column in columns), strict=True
        )
    ]
    notes.chosen.append("sectors are joined linearly between their centres, as in PyWake's XRSite")
    return {"weibull": weibull}


def _speeds(section: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """The wind speeds to compute with: those of PyWake, as far as the turbulence is known at them."""
    turbulence = section.get("turbulence_intensity")
    known = turbulence.get("wind_speeds") if isinstance(turbulence, dict) else None
    speeds = [speed for speed in _USUAL_SPEEDS if known is None or known[0] <= speed <= known[-1]]
    message, chosen = "3 to 25 m/s by 1, as in PyWake", {}
    if len(speeds) < len(_USUAL_SPEEDS):
        speeds = speeds or list(known or [])
        message = f"{speeds[0]:g} to {speeds[-1]:g} m/s, where the turbulence intensity is known"
        chosen = {"wind_speeds": speeds}
    notes.chosen.append(
        f"wind speeds: {message}; a wind_speed beside Weibull parameters is only the axis of turbulence"
    )
    return chosen


def _on_a_grid(found: Quantities, notes: Notes) -> dict[str, Any]:
    """Distributions that differ from place to place."""
    axes = {axis for name in WEIBULL for axis in found.by_name[name].axes}
    if axes - set(_GRID_AXES):
        found.by_name["weibull_a"].refuse(
            f"depends on {', '.join(sorted(axes))}", f"use {', '.join(_GRID_AXES)}"
        )
    frequency = found.by_name["sector_probability"]
    if "wind_direction" not in frequency.axes:
        frequency.refuse("does not depend on wind_direction", "give it by wind_direction")
    total = float(frequency.values.sum(axis=frequency.axes.index("wind_direction")).mean())
    refuse_uneven(found, total)
    for axis in ("x", "y", "height"):
        if axis in found.by_name and found.by_name[axis].axes == (axis,):
            found = found.taken(axis, np.argsort(found.axis(axis), kind="stable"))
    grid: dict[str, Any] = {}
    taken = list(WEIBULL)
    weibull: dict[str, Any] = {"interpolation": "linear"}
    turbulence = _turbulence(found, _TURBULENCE, notes, _GRID_AXES)
    if turbulence is not None and not turbulence.axes:
        weibull["turbulence_intensity"] = float(turbulence.values)
    elif turbulence is not None:
        taken.append("turbulence_intensity")
        weibull["turbulence_intensity"] = float(turbulence.values.mean())  # that of the grid holds instead
    for axis in _GRID_AXES:
        if any(axis in found.by_name[name].axes for name in taken):
            grid[_GRID_NAMES.get(axis, axis)] = found.axis(axis).tolist()
    for name in taken:
        own = [_GRID_NAMES.get(axis, axis) for axis in found.by_name[name].axes]
        ordered = [axis for axis in AXES if axis in own]
        values = found.by_name[name].values.transpose([own.index(axis) for axis in ordered])
        grid[_GRID_NAMES.get(name, name)] = {"axes": ordered, "values": values.ravel().tolist()}
    places = f"{len(grid['x'])} x {len(grid['y'])} places"
    notes.taken.append(
        f"wind: Weibull on a grid of {places}, frequencies that sum to {total:.6f} in the mean"
    )
    return {"weibull": weibull, "local": grid}


_MAIN = ("probability", *WEIBULL, "wind_speed", "wind_direction", "turbulence_intensity")
_BESIDE = ("wind_speed", "wind_direction", "turbulence_intensity", "height")
_FORM_NAMES = {
    "time": ("time", "probability", "operating", "wind_turbine"),
    "weibull_a": (*WEIBULL, "x", "y"),
    "probability": ("probability", "sector_probability"),
}
_FORMS = (
    "give probability; weibull_a, weibull_k and sector_probability; or time, wind_speed and wind_direction"
)


def site_section(found: Quantities, hub_heights: Sequence[float], notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a campaign; refuses what no layout search can use."""
    _note_height(found, hub_heights, notes)
    found = _at_hub_height(found, hub_heights, notes)
    _refuse_by_turbine(found)
    by_time = "time" in found.by_name or found.times is not None
    if not by_time:
        found = with_north_once(found, notes)
    forms = ["time"] if by_time else []
    forms += [name for name in ("weibull_a", "probability") if name in found.by_name]
    if by_time and "probability" in forms:
        forms.remove("probability")  # then it is the weight of a step
    if len(forms) != 1:
        message = f"gives {' and '.join(forms)}, which exclude each other" if forms else "describes no wind"
        found.node.refuse(message, _FORMS)
    beside = [name for name in found.by_name if name not in (*_BESIDE, *_FORM_NAMES[forms[0]])]
    notes.ignored += [f"{name}: it does not go with {forms[0]}" for name in beside]
    reader = {"time": read_series, "weibull_a": read_weibull, "probability": read_probability}[forms[0]]
    return reader(found, notes)


def _note_height(found: Quantities, hub_heights: Sequence[float], notes: Notes) -> None:
    if not found.heights:
        notes.doubtful.append(
            "the file does not say of which height the wind is; it is taken as that at hub height"
        )
        return
    if found.depends_on("height", *_MAIN):
        return  # then the one at hub height is taken, or refused
    for hub in sorted(set(hub_heights)):
        if all(abs(height - hub) > 0.01 for height in found.heights):
            notes.doubtful.append(
                f"the wind is that of {listed(found.heights)} m, the hub height {hub:g} m; it is taken as it is, "
                "without shear"
            )


def read_resource(node: Node, notes: Notes) -> Quantities:
    """The resource of an ``energy_resource``, of its ``wind_resource``, or of a site that holds it."""
    for key in ("energy_resource", "wind_resource"):
        if node.has(key):
            node.use("name")
            node = node.need(key)
    quantities = read_quantities(node, notes)
    if not quantities.by_name:
        node.refuse("describes no wind", _FORMS)
    quantities.heights = _heights(node, quantities)
    return quantities


def _heights(node: Node, quantities: Quantities) -> list[float]:
    """The reference height, wherever the file has it."""
    given = quantities.by_name.get("height")
    found = [] if given is None else np.unique(given.values).tolist()
    if isinstance(node.value, dict):
        reference, shear = node.get("reference_height"), node.get("shear")
        if reference is not None:
            found.append(reference.positive())
        if shear is not None:
            found.append(shear.need("h_ref").positive())
    return sorted(set(found))


def _at_hub_height(found: Quantities, hub_heights: Sequence[float], notes: Notes) -> Quantities:
    """Without the axis of height, except on a grid of places, which has heights of its own."""
    if not found.depends_on("height", *_MAIN) or found.depends_on("x", *WEIBULL):
        return found
    heights = found.axis("height")
    wanted = sorted(set(hub_heights))
    index = next((i for i, height in enumerate(heights) if wanted and abs(height - wanted[0]) <= 0.01), None)
    if len(heights) == 1:
        index = 0
    if index is None or len(wanted) > 1:
        hubs = " and ".join(f"{hub:g} m" for hub in wanted) or "unknown"
        found.by_name["height"].refuse(
            f"has {listed(heights.tolist())} m, but the hub height is {hubs}",
            "give the wind at the hub height",
        )
    notes.chosen.append(f"of the heights, {heights[index]:g} m is taken")
    others = {name: one.taken("height", index) for name, one in found.by_name.items() if name != "height"}
    return replace(found, by_name={**found.by_name, **others})


def _refuse_by_turbine(found: Quantities) -> None:
    """Refuse wind that is known only where the turbines of one layout stand: a search moves them."""
    for name in _MAIN:
        given = found.by_name.get(name)
        if given is not None and "wind_turbine" in given.axes:
            given.refuse(
                "is given at each turbine of one layout, which says nothing about other places",
                "give the wind for the whole site, or on a grid of x and y",
            )
