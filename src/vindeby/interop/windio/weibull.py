"""Sector-wise Weibull distributions of a windIO resource: for the whole site, or on a grid of places."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.campaign.sections.local_wind import AXES
from vindeby.campaign.sections.normalising import SUM_TOLERANCE
from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.quantities import Quantities, Quantity
from vindeby.interop.windio.sectors import refuse_uneven
from vindeby.interop.windio.turbulence import of_rose, usable

FloatArray = npt.NDArray[np.float64]
WEIBULL = ("weibull_a", "weibull_k", "sector_probability")
_TURBULENCE = "site.weibull.turbulence_intensity"
_GRID_NAMES = {"sector_probability": "sector_frequency", "wind_direction": "wind_directions"}
_USUAL_SPEEDS = tuple(float(speed) for speed in range(3, 26))


def read_weibull(found: Quantities, notes: Notes) -> dict[str, Any]:
    """The section ``site`` of a resource with Weibull distributions."""
    for name in WEIBULL:
        if found.get(name) is None:
            found.node.refuse(f"{name} is missing", f"give {', '.join(WEIBULL)}")
    frequency = found.by_name["sector_probability"]
    if found.depends_on("x", *WEIBULL) or found.depends_on("y", *WEIBULL):
        return _on_a_grid(found, notes)
    if frequency.axes != ("wind_direction",):
        told = ", ".join(frequency.axes) or "nothing"
        frequency.refuse(f"depends on {told}, not on wind_direction", "give it by wind_direction")
    total = float(frequency.values.sum())
    refuse_uneven(found, total)
    if abs(total - 1.0) > SUM_TOLERANCE:
        frequency.refuse(f"the frequencies sum to {total:.6g}, not to 1", "give fractions of the year")
    notes.taken.append(f"wind: Weibull, {len(frequency.values)} sectors, frequencies that sum to {total:.8f}")
    directions = found.axis("wind_direction")
    columns = [_by_sector(found.by_name[name], len(directions)) for name in WEIBULL]
    weibull: dict[str, Any] = {"interpolation": "linear"}
    turbulence = of_rose(found, _TURBULENCE, notes)
    _put_speeds(weibull, turbulence, notes)
    if turbulence is not None:
        weibull["turbulence_intensity"] = turbulence
    weibull["sectors"] = [
        {"direction": direction, "a": a, "k": k, "frequency": share}
        for direction, a, k, share in zip(
            directions.tolist(), *(column.tolist() for column in columns), strict=True
        )
    ]
    notes.chosen.append("sectors are joined linearly between their centres, as in PyWake's XRSite")
    return {"weibull": weibull}


def _by_sector(given: Quantity, count: int) -> FloatArray:
    """One value per sector; a single number holds in all of them."""
    if not given.axes:
        return np.full(count, float(given.values))
    return given.over("wind_direction")


def _put_speeds(weibull: dict[str, Any], turbulence: Any, notes: Notes) -> None:
    """The wind speeds to compute with: those of PyWake, as far as the turbulence is known at them."""
    known = turbulence.get("wind_speeds") if isinstance(turbulence, dict) else None
    speeds = [speed for speed in _USUAL_SPEEDS if known is None or known[0] <= speed <= known[-1]]
    told = "3 to 25 m/s by 1, as in PyWake"
    if len(speeds) < len(_USUAL_SPEEDS):
        if not speeds:
            speeds = list(known or [])
        told = f"{speeds[0]:g} to {speeds[-1]:g} m/s, where the turbulence intensity is known"
        weibull["wind_speeds"] = speeds
    notes.chosen.append(
        f"wind speeds: {told}; a wind_speed beside Weibull parameters is only the axis of turbulence"
    )


def _on_a_grid(found: Quantities, notes: Notes) -> dict[str, Any]:
    """Distributions that differ from place to place."""
    axes = {axis for name in WEIBULL for axis in found.by_name[name].axes}
    if axes - {"x", "y", "height", "wind_direction"}:
        found.by_name["weibull_a"].refuse(
            f"depends on {', '.join(sorted(axes))}", "use x, y, height, wind_direction"
        )
    frequency = found.by_name["sector_probability"]
    if "wind_direction" not in frequency.axes:
        frequency.refuse("does not depend on wind_direction", "give it by wind_direction")
    total = float(frequency.values.sum(axis=frequency.axes.index("wind_direction")).mean())
    refuse_uneven(found, total)
    found = _sorted(found)
    grid: dict[str, Any] = {}
    taken = list(WEIBULL)
    weibull: dict[str, Any] = {"interpolation": "linear"}
    turbulence = usable(found, _TURBULENCE, notes)
    if turbulence is not None and not turbulence.axes:
        weibull["turbulence_intensity"] = float(turbulence.values)
    elif turbulence is not None:
        if "wind_speed" in turbulence.axes:
            turbulence.refuse(
                "depends on wind_speed beside a grid of places", "give it by place or as a number"
            )
        taken.append("turbulence_intensity")
        weibull["turbulence_intensity"] = float(turbulence.values.mean())  # that of the grid holds instead
    for axis in ("x", "y", "height", "wind_direction"):
        if any(axis in found.by_name[name].axes for name in taken):
            grid[_GRID_NAMES.get(axis, axis)] = found.axis(axis).tolist()
    for name in taken:
        grid[_GRID_NAMES.get(name, name)] = _values(found.by_name[name])
    places = f"{len(grid['x'])} x {len(grid['y'])} places"
    notes.taken.append(
        f"wind: Weibull on a grid of {places}, frequencies that sum to {total:.6f} in the mean"
    )
    return {"weibull": weibull, "local": grid}


def _values(given: Quantity) -> dict[str, Any]:
    own = [_GRID_NAMES.get(axis, axis) for axis in given.axes]
    order = [own.index(axis) for axis in AXES if axis in own]
    values = given.values.transpose(order).ravel().tolist()
    return {"axes": [axis for axis in AXES if axis in own], "values": values}


def _sorted(found: Quantities) -> Quantities:
    """The same with x, y and height increasing."""
    by_name = found.by_name
    for axis in ("x", "y", "height"):
        if axis in by_name and by_name[axis].axes == (axis,):
            order = np.argsort(found.axis(axis), kind="stable")
            by_name = {name: one.taken(axis, order) for name, one in by_name.items()}
    return Quantities(by_name, found.times, found.node)
