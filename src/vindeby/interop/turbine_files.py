"""Turbines of FLORIS 4 (YAML) and of WAsP (``.wtg``).

As in FLORIS, power is 0 outside its table, and the thrust coefficient is kept from 0.0001 to 0.9999. What FLORIS needs
for yaw, tilt, wake mixing and derating is not read, and that is reported.
"""

import itertools
import math
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.yaml_text import not_used
from vindeby.interop.common import Options, given_number, read_bytes, refuse, refuse_option
from vindeby.interop.windio.nodes import Node, Notes, open_root
from vindeby.interop.windio.turbine import curve, read_turbine
from vindeby.text import plural

Points = list[tuple[float, float]]
"""Wind speed and value."""


def with_value_outside(points: Points, outside: float) -> Points:
    """Return the points, with a jump to another value before the first and after the last of them."""
    (first, low), (last, high) = points[0], points[-1]
    before = [(math.nextafter(first, -math.inf), outside)] if first > 0.0 and low != outside else []
    after = [(math.nextafter(last, math.inf), outside)] if high != outside else []
    return [*before, *points, *after]


def limited(points: Points, limits: tuple[float, float]) -> Points:
    """Return the line through the points, limited to the given range, with a point wherever it crosses a limit."""
    found = points[:1]
    for start, end in itertools.pairwise(points):
        for limit in limits if start[1] < end[1] else limits[::-1]:
            if min(start[1], end[1]) < limit < max(start[1], end[1]):
                share = (limit - start[1]) / (end[1] - start[1])
                speed = start[0] + share * (end[0] - start[0])
                if start[0] < speed < end[0]:
                    found.append((speed, limit))
        found.append(end)
    return [(speed, min(max(value, limits[0]), limits[1])) for speed, value in found]


_CT_LIMITS = (0.0001, 0.9999)
_VERSION_3 = ("generator_efficiency", "pP", "pT", "ref_density_cp_ct")
_PLAIN_OPERATION = ("cosine-loss", "simple", "mixed", "simple-derating", "awc")
"""Models of operation that give the curve itself where nothing is yawed, derated or mixed."""
_USUAL_DENSITY = 1.225


def read_floris_turbine(path: Path, _: Options) -> FileContent:
    """Read the turbine as an entry of a campaign, without a name unless the file has one."""
    root = open_root(path, is_named=False)
    if any(map(root.has, _VERSION_3)):
        root.refuse(
            "is a turbine of FLORIS 3", "convert it: floris.turbine_library has convert_turbine_v3_to_v4"
        )
    curves = root.need("power_thrust_table", "is it a turbine file of FLORIS 4?")
    if root.mapping().get("multi_dimensional_cp_ct") is True:
        root.refuse(
            "has curves that depend on more than wind speed (multi_dimensional_cp_ct)",
            "write a file with the curves of one condition",
        )
    powers, thrusts = _floris_curves(curves)
    powers = with_value_outside(powers, 0.0)
    thrusts = with_value_outside(limited(thrusts, _CT_LIMITS), _CT_LIMITS[0])
    table = {
        "rotor_diameter_m": root.need("rotor_diameter", "give it in metres").positive(),
        "hub_height_m": root.need("hub_height", "give it in metres").positive(),
        "wind_speed": [speed for speed, _ in powers],
        "power_kw": [value for _, value in powers],
        "ct_wind_speed": [speed for speed, _ in thrusts],
        "ct": [value for _, value in thrusts],
    }
    called = root.get("turbine_type")
    is_named = called is not None and isinstance(called.value, str) and called.value.strip()
    name = {"name": called.text()} if called is not None and is_named else {}
    return FileContent({"table": table, **name}, "floris-turbine", _floris_notes(root, curves))


def _floris_curves(curves: Node) -> list[Points]:
    found = []
    for name in ("power", "thrust_coefficient"):
        speeds, values = curve(curves, "wind_speed", name)
        for entry, value in zip(curves.need(name).entries(), values, strict=True):
            if value < 0.0:
                entry.refuse("must not be below 0", "correct it", value)
        found.append(list(zip(speeds, values, strict=True)))
    return found


def _floris_notes(root: Node, curves: Node) -> tuple[str, ...]:
    notes = unused_keys(root)
    model = str(root.mapping().get("operation_model", "cosine-loss"))
    if model.lower() not in _PLAIN_OPERATION:
        notes.append(f"operation_model {model[:40]} is not applied: the curves are those of the table")
    density = curves.mapping().get("ref_air_density", _USUAL_DENSITY)
    if density != _USUAL_DENSITY:
        notes.append(
            f"the curves are for an air density of {str(density)[:10]} kg/m3 and are taken as they are; FLORIS "
            "scales them to that of the flow"
        )
    return tuple(notes)


def read_windio_turbine(path: Path, _: Options) -> FileContent:
    """Read a windIO turbine from a file of its own."""
    root, notes = open_root(path, is_named=False), Notes()
    data = read_turbine(root, notes)
    return FileContent(data, "windio-turbine", (*notes.chosen, *notes.doubtful, *unused_keys(root)))


def unused_keys(root: Node) -> list[str]:
    """Return the note that lists the unused keys of a file."""
    name = root.tree.path.name
    return not_used([key.removeprefix(f"{name}: ") for key in root.tree.ignored_keys()])


class _WithoutDoctype(TreeBuilder):
    def doctype(self, *_: Any) -> NoReturn:
        raise ParseError("it has a document type or entities")


def read_wtg(path: Path, options: Options) -> FileContent:
    """Read the turbine as an entry of a campaign; ``mode`` and ``hub_height_m`` choose among the file's curves."""
    root = _parsed(path)
    if root.tag != "WindTurbineGenerator":
        refuse(
            path, "is not a turbine of WAsP: its root is not WindTurbineGenerator", "is it the right file?"
        )
    notes: list[str] = []
    performance = _performance(path, root, options, notes)
    table = {
        "rotor_diameter_m": _number(path, root, "RotorDiameter"),
        "hub_height_m": _hub_height(path, root, options, notes),
        **_curves(path, performance, notes),
    }
    name = " ".join((root.get("Description") or "").split())[:120]
    return FileContent({"table": table} | ({"name": name} if name else {}), "wtg", tuple(notes))


def _parsed(path: Path) -> Element:
    parser = XMLParser(target=_WithoutDoctype())  # noqa: S314  without a document type there are no entities
    content = read_bytes(path)
    try:
        parser.feed(content)
        root: Element = parser.close()
    except (LookupError, ValueError):  # what expat has no table for
        refuse(path, "is in an encoding that is not read", "write it in UTF-8", 1)
    except ParseError as error:
        line, _ = getattr(error, "position", (None, None))
        refuse(path, f"is not a valid turbine file: {error}", "is it a turbine file of WAsP?", line)
    return root


def _performance(path: Path, root: Element, options: Options, notes: list[str]) -> Element:
    tables = list(root.iter("PerformanceTable"))
    if not tables:
        refuse(path, "has no PerformanceTable", "is the file complete?")
    mode = options.get("mode", 0)
    if isinstance(mode, bool) or not isinstance(mode, int) or not 0 <= mode < len(tables):
        refuse_option("mode", "is not a table of the file", f"it has 0 to {len(tables) - 1}", mode)
    if len(tables) > 1:
        densities = ", ".join(table.get("AirDensity", "unknown")[:10] for table in tables)
        notes.append(
            f"has {len(tables)} performance tables, for air densities of {densities} kg/m3; mode {mode} is taken"
        )
    return tables[mode]


def _hub_height(path: Path, root: Element, options: Options, notes: list[str]) -> float:
    wanted = given_number(options, "hub_height_m")
    if wanted is not None:
        return wanted
    heights = [
        _parsed_number(path, one.text or "", "Height") for one in root.findall("SuggestedHeights/Height")
    ]
    if not heights:
        refuse_option("hub_height_m", "is missing: the file suggests no height", "give it in metres")
    if len(heights) > 1:
        rest = ", ".join(f"{height:g}" for height in heights[1:])
        notes.append(
            f"suggests hub heights of {heights[0]:g} (taken) and {rest} m; hub_height_m: chooses another"
        )
    return heights[0]


def _curves(path: Path, table: Element, notes: list[str]) -> dict[str, Any]:
    speeds, powers, thrusts = _points(path, table)
    strategy = table.find("StartStopStrategy")
    low, high = float(speeds[0]), float(speeds[-1])
    idle = _number(path, table, "StationaryThrustCoEfficient", float(thrusts[-1]))
    if strategy is not None:
        low = _number(path, strategy, "LowSpeedCutIn")
        high = _number(path, strategy, "HighSpeedCutOut")
        restart = (
            _number(path, strategy, "HighSpeedCutIn", high),
            _number(path, strategy, "LowSpeedCutOut", low),
        )
        if restart != (high, low):
            notes.append("restarts at another wind speed than it stops at; this hysteresis is ignored")
    if not 0.0 <= low < high:
        refuse(path, f"cuts in at {low:g} and out at {high:g} m/s", "correct StartStopStrategy")
    inside, limits = speeds[(low <= speeds) & (speeds <= high)], f"cut-in {low:g} to cut-out {high:g} m/s"
    if not len(inside):
        refuse(path, f"has no points from {limits}", "correct StartStopStrategy")
    if len(inside) < len(speeds):
        notes.append(f"{plural(len(speeds) - len(inside), 'point')} outside {limits} ignored")
    # A cut-in or cut-out between two points ends the line between them; it bends it no further.
    running = np.unique([*inside, *(at for at in (low, high) if speeds[0] < at < speeds[-1])])
    power_kw, ct = np.interp(running, speeds, powers) / 1000.0, np.interp(running, speeds, thrusts)
    before = [math.nextafter(low, 0.0)] if low > 0.0 else []
    return {
        "wind_speed": [*before, *running.tolist(), math.nextafter(high, math.inf)],
        "power_kw": [*(0.0 for _ in before), *power_kw.tolist(), 0.0],
        "ct": [*(idle for _ in before), *ct.tolist(), idle],
    }


def _points(path: Path, table: Element) -> tuple[FloatArray, ...]:
    """Return wind speeds, powers in W and thrust coefficients of a table."""
    names = ("WindSpeed", "PowerOutput", "ThrustCoEfficient")
    points = [[_number(path, point, name) for name in names] for point in table.iter("DataPoint")]
    if len(points) < 2:
        refuse(path, f"has {len(points)} points in its table", "give two or more")
    columns = np.array(points).T
    falling = np.flatnonzero(np.diff(columns[0]) <= 0.0)
    if len(falling):
        refuse(path, f"has wind speeds that do not increase at point {falling[0] + 2}", "sort the table")
    if columns.min() < 0.0:
        refuse(path, "has negative numbers in its table", "correct them")
    return tuple(columns)


def _number(path: Path, element: Element, name: str, missing: float | None = None) -> float:
    text = element.get(name)
    if text is None:
        if missing is not None:
            return missing
        refuse(path, f"has no {name} in {element.tag}", "is the file complete?")
    return _parsed_number(path, text, name)


def _parsed_number(path: Path, text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        refuse(path, f"has a {name} that is not a number", "correct it")
    if not math.isfinite(value):
        refuse(path, f"has a {name} that is not finite", "correct it")
    return value
