"""Turbines of FLORIS 4 (YAML): power in kW and thrust coefficients over wind speed.

As in FLORIS, power is 0 outside the table, and the thrust coefficient is kept from 0.0001 to 0.9999. What FLORIS needs
for yaw, tilt, wake mixing and derating is not read, and that is said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.yaml_text import Document, not_used, unused
from vindeby.campaign.reading.yaml_text import read as read_yaml
from vindeby.interop.common import (
    Options,
    as_float,
    read_bytes,
    read_text,
    refuse,
    refuse_option,
)

Points = list[tuple[float, float]]
"""Wind speed and value."""


def with_value_outside(points: Points, outside: float) -> Points:
    """The points, with a jump to another value before the first and after the last of them."""
    (first, low), (last, high) = points[0], points[-1]
    before = [(math.nextafter(first, -math.inf), outside)] if first > 0.0 and low != outside else []
    after = [(math.nextafter(last, math.inf), outside)] if high != outside else []
    return [*before, *points, *after]


def limited(speeds: Sequence[float], values: Sequence[float], low: float, high: float) -> Points:
    """The line through the points, cut off at both limits, with a point wherever it crosses one of them."""
    points: Points = []
    for index, (speed, value) in enumerate(zip(speeds, values, strict=True)):
        if index:
            points += _crossings((speeds[index - 1], values[index - 1]), (speed, value), (low, high))
        points.append((speed, min(max(value, low), high)))
    return points


def _crossings(start: tuple[float, float], end: tuple[float, float], limits: tuple[float, float]) -> Points:
    """Where a piece crosses the limits, strictly inside it, in the order of wind speed."""
    found = []
    for limit in limits:
        if min(start[1], end[1]) < limit < max(start[1], end[1]):
            share = (limit - start[1]) / (end[1] - start[1])
            speed = start[0] + share * (end[0] - start[0])
            if start[0] < speed < end[0]:
                found.append((speed, limit))
    return sorted(found)


_LEAST_CT, _MOST_CT = 0.0001, 0.9999
_USED = ("turbine_type", "hub_height", "rotor_diameter", "power_thrust_table")
_CURVES = ("wind_speed", "power", "thrust_coefficient")
_VERSION_3 = ("generator_efficiency", "pP", "pT", "ref_density_cp_ct")
_PLAIN_OPERATION = ("cosine-loss", "simple", "mixed", "simple-derating", "awc")
"""Models of operation that give the curve itself where nothing is yawed, derated or mixed."""
_USUAL_DENSITY = 1.225


def read_floris_turbine(path: Path, options: Options) -> FileContent:
    """The turbine as an entry of a campaign, without the name unless the file has one."""
    del options  # there are none: the table of formats refuses any
    document = read_yaml(read_text(path), str(path))
    turbine = _FlorisFile(path, document)
    data = turbine.entry()
    return FileContent(data, "floris-turbine", tuple(turbine.notes))


class _FlorisFile:
    def __init__(self, path: Path, document: Document) -> None:
        self.path, self.document, self.notes = path, document, list[str]()
        if not isinstance(document.data, dict):
            refuse(path, "is not a mapping", "is it a turbine file of FLORIS?")
        self.data: dict[str, Any] = document.data
        self._refuse_other_kinds()
        self.table: dict[str, Any] = self.data["power_thrust_table"]

    def _refuse_other_kinds(self) -> None:
        if any(key in self.data for key in _VERSION_3):
            refuse(
                self.path,
                "is a turbine of FLORIS 3",
                "convert it: floris.turbine_library has convert_turbine_v3_to_v4",
            )
        if not isinstance(self.data.get("power_thrust_table"), dict):
            refuse(self.path, "has no power_thrust_table", "is it a turbine file of FLORIS 4?")
        if self.data.get("multi_dimensional_cp_ct") is True:
            refuse(
                self.path,
                "has curves that depend on more than wind speed (multi_dimensional_cp_ct)",
                "write a file with the curves of one condition",
            )

    def entry(self) -> dict[str, Any]:
        """Diameter, hub height and the curves with their ends as FLORIS has them."""
        speeds, power, thrust = (self._curve(name) for name in _CURVES)
        for name, values in (("power", power), ("thrust_coefficient", thrust)):
            if len(values) != len(speeds):
                self._refuse(
                    name, f"has {len(values)} entries, but wind_speed has {len(speeds)}", "give one for each"
                )
        if len(speeds) < 2:
            self._refuse("wind_speed", "has fewer than two entries", "tabulate the curve")
        for index in range(1, len(speeds)):
            if speeds[index] <= speeds[index - 1]:
                self._refuse("wind_speed", f"must increase, but entry {index} does not", "sort the table")
        powers = with_value_outside(list(zip(speeds, power, strict=True)), 0.0)
        thrusts = with_value_outside(limited(speeds, thrust, _LEAST_CT, _MOST_CT), _LEAST_CT)
        table: dict[str, Any] = {
            "rotor_diameter_m": self._size("rotor_diameter"),
            "hub_height_m": self._size("hub_height"),
            "wind_speed": [speed for speed, _ in powers],
            "power_kw": [value for _, value in powers],
            "ct_wind_speed": [speed for speed, _ in thrusts],
            "ct": [value for _, value in thrusts],
        }
        self._say_what_is_ignored()
        called = self.data.get("turbine_type")
        return {"table": table} | ({"name": called} if isinstance(called, str) and called else {})

    def _size(self, name: str) -> float:
        value = self.data.get(name)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0.0 < as_float(value) < math.inf
        ):
            self._refuse_at((name,), name, "must be a number of metres above 0", "correct it")
        return float(value)

    def _curve(self, name: str) -> list[float]:
        values = self.table.get(name)
        if not isinstance(values, list) or not values:
            self._refuse(name, "is missing" if values is None else "must be a list", "give a list of numbers")
        for index, value in enumerate(values):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0.0 <= as_float(value) < math.inf:
                self._refuse(
                    name, f"has an entry {index} that is not a number of 0 or more", "correct it", index
                )
        return [float(value) for value in values]

    def _say_what_is_ignored(self) -> None:
        inside = unused(self.table, {(key,) for key in _CURVES})
        self.notes += not_used([*unused(self.data, {(key,) for key in _USED}), *inside])
        model = self.data.get("operation_model", "cosine-loss")
        if str(model).lower() not in _PLAIN_OPERATION:
            self.notes.append(
                f"operation_model {str(model)[:40]} is not applied: the curves are those of the table"
            )
        density = self.table.get("ref_air_density", _USUAL_DENSITY)
        if density != _USUAL_DENSITY:
            self.notes.append(
                f"the curves are for an air density of {str(density)[:10]} kg/m3 and are taken as they are; FLORIS "
                "scales them to that of the flow"
            )

    def _refuse(self, name: str, message: str, remedy: str, *inside: int) -> NoReturn:
        self._refuse_at(("power_thrust_table", name, *inside), f"power_thrust_table.{name}", message, remedy)

    def _refuse_at(self, place: tuple[str | int, ...], name: str, message: str, remedy: str) -> NoReturn:
        refuse(self.path, f"{name} {message}", remedy, self.document.origin(place).line)


_DEEPEST = 30
_Row = tuple[float, float, float]
"""Wind speed, power and thrust coefficient."""


class _RefusedMarkupError(Exception):
    """The file uses what no turbine file needs."""


def read_wtg(path: Path, options: Options) -> FileContent:
    """The turbine as an entry of a campaign; ``mode`` and ``hub_height_m`` choose among what the file has."""
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
    builder, depth = TreeBuilder(), [0]

    def start(tag: str, attributes: dict[str, str]) -> None:
        depth[0] += 1
        if depth[0] > _DEEPEST:
            raise _RefusedMarkupError("nests elements too deeply")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        depth[0] -= 1
        builder.end(tag)

    def markup(*_: Any) -> NoReturn:
        raise _RefusedMarkupError("has a document type or entities")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = markup
    content = read_bytes(path)
    try:
        parser.Parse(content, True)
        return builder.close()
    except _RefusedMarkupError as error:
        refuse(path, f"{error}, which turbine files do without", "write it without them")
    except (LookupError, ValueError):  # what expat has no table for
        refuse(path, "is in an encoding that is not read", "write it in UTF-8", 1)
    except expat.ExpatError as error:
        refuse(
            path,
            f"is not valid XML: {expat.ErrorString(error.code)}",
            "is it a turbine file of WAsP?",
            error.lineno,
        )


def _performance(path: Path, root: Element, options: Options, notes: list[str]) -> Element:
    tables = list(root.iter("PerformanceTable"))
    if not tables:
        refuse(path, "has no PerformanceTable", "is the file complete?")
    mode = options.get("mode", 0)
    if isinstance(mode, bool) or not isinstance(mode, int) or not 0 <= mode < len(tables):
        refuse_option("mode", "is not a table of the file", f"it has 0 to {len(tables) - 1}", mode)
    if len(tables) > 1:
        densities = ", ".join(str(_density(table)) for table in tables)
        notes.append(
            f"has {len(tables)} performance tables, for air densities of {densities} kg/m3; mode {mode} is taken"
        )
    return tables[mode]


def _density(table: Element) -> float | str:
    try:
        return float(table.get("AirDensity", ""))
    except ValueError:
        return "unknown"


def _hub_height(path: Path, root: Element, options: Options, notes: list[str]) -> float:
    heights = [
        _parsed_number(path, one.text or "", "Height") for one in root.findall("SuggestedHeights/Height")
    ]
    wanted = options.get("hub_height_m")
    if wanted is not None:
        if isinstance(wanted, bool) or not isinstance(wanted, int | float):
            refuse_option("hub_height_m", "must be a number", "give it in metres", wanted)
        return as_float(wanted)
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
    low, high, idle = speeds[0], speeds[-1], thrusts[-1]
    if strategy is not None:
        low = _number(path, strategy, "LowSpeedCutIn")
        high = _number(path, strategy, "HighSpeedCutOut")
        if (
            _number(path, strategy, "HighSpeedCutIn", high) != high
            or _number(path, strategy, "LowSpeedCutOut", low) != low
        ):
            notes.append("restarts at another wind speed than it stops at; this hysteresis is ignored")
    if not 0.0 <= low < high:
        refuse(path, f"cuts in at {low:g} and out at {high:g} m/s", "correct StartStopStrategy")
    if table.get("StationaryThrustCoEfficient") is not None:
        idle = _number(path, table, "StationaryThrustCoEfficient")
    rows = [row for row in zip(speeds, powers, thrusts, strict=True) if low <= row[0] <= high]
    if len(rows) < len(speeds):
        notes.append(
            f"{len(speeds) - len(rows)} points outside cut-in {low:g} to cut-out {high:g} m/s are ignored"
        )
    if not rows:
        refuse(
            path, f"has no points from cut-in {low:g} to cut-out {high:g} m/s", "correct StartStopStrategy"
        )
    # A cut-in or cut-out between two points ends the line between them; it bends it no further.
    rows += [_point_at(at, speeds, powers, thrusts) for at in (low, high) if speeds[0] < at < speeds[-1]]
    rows = sorted({row[0]: row for row in rows}.values())
    if low > 0.0:
        rows.insert(0, (math.nextafter(low, 0.0), 0.0, idle))
    rows.append((math.nextafter(high, math.inf), 0.0, idle))
    return {
        "wind_speed": [row[0] for row in rows],
        "power_kw": [row[1] / 1000.0 for row in rows],
        "ct": [row[2] for row in rows],
    }


def _point_at(at: float, speeds: list[float], powers: list[float], thrusts: list[float]) -> _Row:
    """The point of the curves at a wind speed."""
    right = next(index for index, speed in enumerate(speeds) if speed >= at)
    share = (at - speeds[right - 1]) / (speeds[right] - speeds[right - 1])
    power, thrust = (
        values[right] if share == 1.0 else values[right - 1] + share * (values[right] - values[right - 1])
        for values in (powers, thrusts)
    )
    return at, power, thrust


def _points(path: Path, table: Element) -> tuple[list[float], list[float], list[float]]:
    points = [
        [_number(path, point, name) for name in ("WindSpeed", "PowerOutput", "ThrustCoEfficient")]
        for point in table.iter("DataPoint")
    ]
    if len(points) < 2:
        refuse(path, f"has {len(points)} points in its table", "give two or more")
    for index, (one, other) in enumerate(itertools.pairwise(points), 1):
        if other[0] <= one[0]:
            refuse(path, f"has wind speeds that do not increase at point {index + 1}", "sort the table")
    if min(value for point in points for value in point) < 0.0:
        refuse(path, "has negative numbers in its table", "correct them")
    speeds, powers, thrusts = ([point[column] for point in points] for column in range(3))
    return speeds, powers, thrusts


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
