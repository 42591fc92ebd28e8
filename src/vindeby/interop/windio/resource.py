"""The wind of a windIO site, as a campaign describes it.

A coordinate is a bare list or number; data are ``{data, dims}``; a netCDF file has both as variables. Axes go by their
names, never by their order. Only numbers, coordinates and data of the steps of a time series may be without ``dims``.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from vindeby.arrays import FloatArray, Labelled
from vindeby.campaign.reading.labelled_wind import LabelledWind
from vindeby.campaign.reading.tables import find_time_problem
from vindeby.campaign.sections.values import SUM_TOLERANCE
from vindeby.errors import Problem
from vindeby.interop.windio.nodes import COORDINATES, DATA, Node, Notes
from vindeby.text import listed
from vindeby.units import first_uneven

_REMEDY = "give it as a fraction, e.g. 0.08"
_SAME = 1e-9


class Quantities(LabelledWind):
    """The known quantities of a resource, each with its place in the file."""

    axis_names = {  # noqa: RUF012
        "x": "x", "y": "y", "height": "height",
        "wind_direction": "wind_directions", "wind_speed": "wind_speeds",
    }  # fmt: skip
    names = {  # noqa: RUF012
        "weibull_a": "weibull_a", "weibull_k": "weibull_k", "sector_probability": "sector_frequency",
        "turbulence_intensity": "turbulence_intensity",
    }  # fmt: skip

    def __init__(
        self, by_name: dict[str, Labelled], nodes: dict[str, Node], times: list[str] | None, node: Node
    ) -> None:
        self.by_name, self.nodes, self.node = by_name, nodes, node
        self.times = times
        """The times of steps, if they are times and not numbers."""
        self.heights: list[float] = []
        """The heights of the wind by the file; none if it does not state any."""

    def refuse_part(self, name: str, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names where a quantity stands, or the resource."""
        self.nodes.get(name, self.node).refuse(message, remedy, value)

    def length(self, name: str) -> int:
        """Return the number of values of a quantity; 0 if there is no such quantity."""
        return self.by_name[name].values.size if name in self.by_name else 0


def read_quantities(node: Node) -> Quantities:
    """Return all quantities of a ``wind_resource``."""
    times, found, nodes = _times(node), dict[str, Labelled](), dict[str, Node]()
    waiting: list[tuple[str, Node, FloatArray, list[object] | None]] = []
    lengths = {} if times is None else {"time": len(times)}
    for name in (*COORDINATES, *DATA):
        inner = None if name == "time" and times is not None else node.get(name)
        if inner is None:
            continue
        given, dims = _data_and_dims(inner)
        array = given.array()
        if name in COORDINATES and (dims == [name] or not isinstance(inner.value, dict)):
            lengths[name] = array.size
        waiting.append((name, inner, array, dims))
    if "time" in lengths:  # then these are data of the steps, written without dims
        lengths = {name: n for name, n in lengths.items() if name not in ("wind_speed", "wind_direction")}
    for name, inner, array, dims in waiting:
        found[name] = Labelled(_axes(name, inner, array, dims, lengths), array)
        nodes[name] = inner
    return Quantities(found, nodes, times, node)


def _times(node: Node) -> list[str] | None:
    inner = node.get("time")
    if inner is None:
        return None
    if isinstance(inner.value, dict):
        inner = inner.need("data")
    entries = inner.value if isinstance(inner.value, list) else [inner.value]
    if not entries or not all(isinstance(entry, str) for entry in entries):
        return None
    inner.use()
    return list(entries)


def _data_and_dims(node: Node) -> tuple[Node, list[object] | None]:
    if not isinstance(node.value, dict):
        return node, None
    dims = node.get("dims")
    if dims is not None:
        dims.use()
    if dims is not None and not isinstance(dims.value, list):
        return node.need("data"), [dims.value]
    return node.need("data", "give {data, dims}"), None if dims is None else list(dims.value)


def _axes(
    name: str, node: Node, array: FloatArray, dims: list[object] | None, lengths: dict[str, int]
) -> tuple[str, ...]:
    if dims is None and array.ndim == 0:
        return ()
    if dims is None and array.ndim == 1 and (name in lengths or "time" in lengths):
        dims = [name if name in lengths else "time"]
    if dims is None or not all(isinstance(dim, str) for dim in dims):
        node.refuse(
            "has no names of axes", "name one axis of the resource for each level of its lists in dims"
        )
    axes = tuple(str(dim).lower() for dim in dims)
    if len(axes) != array.ndim or len(set(axes)) < len(axes):
        node.refuse(
            f"has {array.ndim} levels of lists, but dims {node.shown(', '.join(axes) or 'is empty')}",
            "give one name of dims per level",
        )
    for axis, length in zip(axes, array.shape, strict=True):
        if axis not in COORDINATES:
            message = f"depends on {node.shown(axis)}, which is not an axis of windIO"
            node.refuse(message, f"use {', '.join(COORDINATES)}")
        if axis in lengths and lengths[axis] != length:
            node.refuse(
                f"has {length} values along {axis}, but {axis} has {lengths[axis]}", "give one for each"
            )
    return axes


def _turbulence(found: Quantities, form: str, notes: Notes) -> Labelled | None:
    given, field = found.by_name.get("turbulence_intensity"), f"site.{form}.turbulence_intensity"
    if given is None:
        notes.missing.append(Problem("", field, "turbulence_intensity is not in the file", None, _REMEDY))
        return None
    low, high = float(given.values.min()), float(given.values.max())
    if not (low > 0.0 and high < 1.0):
        shown = f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"
        why = f"turbulence_intensity is {shown} in the file, not a fraction that a wake model can take"
        notes.missing.append(Problem("", field, why, None, _REMEDY))
        return None
    return given


def _of_rose(found: Quantities, form: str, notes: Notes) -> dict[str, Any]:
    given = _turbulence(found, form, notes)
    return {} if given is None else {"turbulence_intensity": found.number_or_table("turbulence_intensity")}


def read_series(found: Quantities, notes: Notes) -> dict[str, Any]:
    """Return the section ``site`` of a resource with steps in time."""
    series: dict[str, Any] = {}
    for name in ("wind_direction", "wind_speed"):
        given = found.by_name.get(name)
        if given is None:
            found.node.refuse(f"{name} is missing", "give time, wind_speed and wind_direction")
        series[name] = found.over(name, "time", exact=True).tolist()
    if (turbulence := _turbulence(found, "time_series", notes)) is not None:
        by_step = found.over("turbulence_intensity", "time")
        series["turbulence_intensity"] = by_step.tolist() if turbulence.axes else float(turbulence.values)
    if "probability" in found.by_name:
        series["weight"] = found.over("probability", "time", exact=True).tolist()
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
    """Return the section ``site`` of a resource with probabilities: a table, or states where directions are uneven."""
    found = found.in_order("wind_speed")
    directions, speeds = (found.axis(axis) for axis in _ROSE_AXES)
    table = _joint(found, found.over("probability", *_ROSE_AXES), notes)
    if table.shape != (len(directions), len(speeds)):
        message = f"does not depend on both {' and '.join(_ROSE_AXES)}"
        found.refuse_part("probability", message, "correct dims")
    if first_uneven(directions.tolist()) is None:
        rose = {"wind_directions": directions.tolist(), "wind_speeds": speeds.tolist()}
        return {"table": {**_of_rose(found, "table", notes), **rose, "probability": table.tolist()}}
    states: dict[str, Any] = {
        "wind_direction": np.repeat(directions, len(speeds)).tolist(),
        "wind_speed": np.tile(speeds, len(directions)).tolist(),
        "probability": table.ravel().tolist(),
    }
    if (given := _turbulence(found, "states", notes)) is not None:
        by_state = found.over("turbulence_intensity", *_ROSE_AXES)
        each = np.broadcast_to(by_state, table.shape).ravel().tolist()
        states["turbulence_intensity"] = each if given.axes else float(given.values)
    notes.chosen.append("the wind directions are not evenly around, so that the wind is a list of states")
    return {"states": states}


def _joint(found: Quantities, table: FloatArray, notes: Notes) -> FloatArray:
    """Return the joint probabilities, whichever kind the file has; one row per direction."""
    total, rows = float(table.sum()), table.sum(axis=1)
    conditional = len(rows) > 1 and bool(np.all(np.abs(rows - 1.0) <= SUM_TOLERANCE))
    if "sector_probability" in found.by_name and conditional:
        table = table * found.over("sector_probability", "wind_direction", exact=True)[:, None]
        notes.chosen.append(
            f"probability sums to 1 in each sector ({total:.6f} in all): it is that of a wind speed within its sector, "
            f"and is multiplied by sector_probability; then it sums to {table.sum():.8f}"
        )
    elif "sector_probability" in found.by_name:
        notes.ignored.append(
            "sector_probability: the probabilities are those of direction and speed together"
        )
    notes.taken.append(
        f"wind: probabilities of {table.shape[0]} directions x {table.shape[1]} speeds that sum to {table.sum():.8f}; "
        "they are not divided by it"
    )
    return table


WEIBULL = ("sector_probability", "weibull_a", "weibull_k")
_ROSE_AXES = ("wind_direction", "wind_speed")
_USUAL_SPEEDS = tuple(float(speed) for speed in range(3, 26))


def read_weibull(found: Quantities, notes: Notes) -> dict[str, Any]:
    """Return the section ``site`` of a resource with Weibull distributions."""
    for name in WEIBULL:
        if found.by_name.get(name) is None:
            found.node.refuse(f"{name} is missing", f"give {', '.join(WEIBULL)}")
    if found.depends_on("x", *WEIBULL) or found.depends_on("y", *WEIBULL):
        return _on_a_grid(found, notes)
    sectors = found.sectors(*WEIBULL)
    total = sum(sector["frequency"] for sector in sectors)
    notes.taken.append(f"wind: Weibull, {len(sectors)} sectors, frequencies that sum to {total:.8f}")
    turbulence = _of_rose(found, "weibull", notes)
    weibull: dict[str, Any] = {"interpolation": "linear", **_speeds(turbulence, notes), **turbulence}
    weibull["sectors"] = sectors
    notes.chosen.append("sectors are joined linearly between their centres, as in PyWake's XRSite")
    return {"weibull": weibull}


def _speeds(section: dict[str, Any], notes: Notes) -> dict[str, Any]:
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
    found = found.in_order("x", "y", "height")
    taken = ["weibull_a", "weibull_k", "sector_probability"]
    weibull: dict[str, Any] = {"interpolation": "linear"}
    turbulence = _turbulence(found, "weibull", notes)
    if turbulence is not None:
        # Where it depends on the place, that of the grid holds.
        weibull["turbulence_intensity"] = float(turbulence.values.mean())
        taken += ["turbulence_intensity"] * bool(turbulence.axes)
    grid = found.local(taken)
    notes.taken.append(f"wind: Weibull on a grid of {len(grid['x'])} x {len(grid['y'])} places")
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
    """Return the section ``site`` of a campaign; refuse a resource that no layout search can use."""
    _note_height(found, hub_heights, notes)
    found = _at_hub_height(found, hub_heights, notes)
    _refuse_by_turbine(found)
    by_time = "time" in found.by_name or found.times is not None
    if not by_time:
        found = _with_north_once(found, notes)
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


def read_resource(node: Node) -> Quantities:
    """Return the resource of an ``energy_resource``, of its ``wind_resource``, or of a site that holds it."""
    for key in ("energy_resource", "wind_resource"):
        if node.has(key):
            node.use("name")
            node = node.need(key)
    quantities = read_quantities(node)
    if not quantities.by_name:
        node.refuse("describes no wind", _FORMS)
    quantities.heights = _heights(node, quantities)
    return quantities


def _heights(node: Node, quantities: Quantities) -> list[float]:
    given = quantities.by_name.get("height")
    found = [] if given is None else np.unique(given.values).tolist()
    if isinstance(node.value, dict):
        reference, shear = node.get("reference_height"), node.get("shear")
        if reference is not None:
            found.append(reference.positive())
        if shear is not None:
            found.append(shear.need("h_ref").positive())
    return sorted(set(found))


def _with_north_once(found: Quantities, notes: Notes) -> Quantities:
    once = found.with_north_once(_SAME)
    if once.length("wind_direction") < found.length("wind_direction"):
        sums = ""
        if once.length("sector_probability") == once.length("wind_direction"):
            both, one = (float(part.by_name["sector_probability"].values.sum()) for part in (found, once))
            sums = f": frequencies sum to {both:.8f} with both and {one:.8f} with one"
        notes.chosen.append(f"wind_direction has 0 and 360, which are one sector and counted once{sums}")
    return once


def _at_hub_height(found: Quantities, hub_heights: Sequence[float], notes: Notes) -> Quantities:
    """Remove the axis of height, except on a grid of places, which has heights of its own."""
    if not found.depends_on("height", *_MAIN) or found.depends_on("x", *WEIBULL):
        return found
    heights = found.axis("height")
    wanted = sorted(set(hub_heights))
    index = next((i for i, height in enumerate(heights) if wanted and abs(height - wanted[0]) <= 0.01), None)
    if len(heights) == 1:
        index = 0
    if index is None or len(wanted) > 1:
        hubs = " and ".join(f"{hub:g} m" for hub in wanted) or "unknown"
        message = f"has {listed(heights.tolist())} m, but the hub height is {hubs}"
        found.refuse_part("height", message, "give the wind at the hub height")
    notes.chosen.append(f"of the heights, {heights[index]:g} m is taken")
    return found.take("height", index)


def _refuse_by_turbine(found: Quantities) -> None:
    """Refuse wind that is known only where the turbines of one layout stand: a search moves them."""
    for name in _MAIN:
        if found.depends_on("wind_turbine", name):
            found.refuse_part(
                name,
                "is given at each turbine of one layout, which says nothing about other places",
                "give the wind for the whole site, or on a grid of x and y",
            )
