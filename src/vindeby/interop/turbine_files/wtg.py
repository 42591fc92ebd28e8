"""Turbines of WAsP (``.wtg``, XML): power in W and thrust coefficients over wind speed.

Below the low cut-in and above the high cut-out the power is 0 and the thrust coefficient the stationary one, as
PyWake's ``WindTurbines.from_WAsP_wtg`` has them. The file is untrusted: a document type or entities are refused.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from vindeby.interop.file_reading import (
    FileContent,
    Options,
    as_float,
    read_bytes,
    refuse,
    refuse_option,
)

_DEEPEST = 30
_Row = tuple[float, float, float]
"""Wind speed, power and thrust coefficient."""


class _RefusedMarkupError(Exception):
    """The file uses what no turbine file needs."""


def read(path: Path, options: Options) -> FileContent:
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
        refuse_option("mode", "is no table of the file", f"it has 0 to {len(tables) - 1}", mode)
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
    rows += [_between(at, speeds, powers, thrusts) for at in (low, high) if speeds[0] < at < speeds[-1]]
    rows = sorted({row[0]: row for row in rows}.values())
    if low > 0.0:
        rows.insert(0, (math.nextafter(low, 0.0), 0.0, idle))
    rows.append((math.nextafter(high, math.inf), 0.0, idle))
    return {
        "wind_speed": [row[0] for row in rows],
        "power_kw": [row[1] / 1000.0 for row in rows],
        "ct": [row[2] for row in rows],
    }


def _between(at: float, speeds: list[float], powers: list[float], thrusts: list[float]) -> _Row:
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
