"""Mistakes that people make with local wind: each a wrong campaign file, and the words that the message must have."""

from __future__ import annotations

from tests.campaign.broken import Broken
from tests.campaign.examples import SMALL

_GRID = """\
  local:
    x: [-500, 10000]
    y: [-9500, 9000]
    speedup: {axes: [x, y], values: [[1.0, 1.1], [1.2, 1.3]]}
"""
_BEGIN = SMALL[: SMALL.index("wake: ")].count("\n") + 1
"""The line of ``local:``."""


def _local(old: str, new: str, *words: str) -> Broken:
    assert _GRID.count(old) == 1, old
    return Broken(SMALL.replace("wake: ", _GRID.replace(old, new) + "wake: "), words)


_VALUES = "[[1.0, 1.1], [1.2, 1.3]]"
_SPEEDUP = "    speedup: {axes: [x, y], values: [[1.0, 1.1], [1.2, 1.3]]}\n"
_OVER_DIRECTIONS = (
    "    speedup: {axes: [x, y, wind_directions], values: [[[1, 1], [1, 1]], [[1, 1], [1, 1]]]}\n"
)
_WEIBULL = "".join(f"    {name}: {value}\n" for name, value in (("weibull_a", 9.0), ("weibull_k", 2.0)))

BROKEN_LOCAL_WIND: dict[str, Broken] = {
    "an axis that falls": _local(
        "[-500, 10000]", "[10000, -500]", "site.local.x[1]", "must increase", "-500 follows 10000",
        f":{_BEGIN + 1}:", "sort the axis together with the values over it",
    ),
    "directions that are not even": _local(
        "    speedup", "    wind_directions: [0, 91, 180, 270]\n    speedup", "site.local.wind_directions[1]",
        "at 90 degrees", "at even distances; 360 may repeat 0",
    ),
    "an axis of one point": _local("[-500, 10000]", "[-500]", "site.local.speedup.values", "(x, y) has 1 x 2"),
    "an axis in words": _local("[-500, 10000]", "[-500, east]", "site.local.x[1]", "must be a number", "'east'"),
    "an axis left out": _local("    x: [-500, 10000]\n", "", "site.local.x", "is missing"),
    "an axis of kilometres too far": _local("[-500, 10000]", "[-500, 1.0e+9]", "site.local.x[1]", "in metres"),
    "too few rows": _local(
        _VALUES, "[[1.0, 1.1]]", "site.local.speedup.values", "has 1 x 2 entries, but (x, y) has 2 x 2"
    ),
    "too few in a row": _local(
        _VALUES, "[[1.0, 1.1], [1.2]]", "site.local.speedup.values", "rows of different lengths"
    ),
    "too many in a flat list": _local(
        _VALUES, "[1, 1, 1, 1, 1]", "has 5 numbers, but the grid has 4 (2 x x 2 y)", "one for each point"
    ),
    "axes out of order": _local("[x, y], v", "[y, x], v", "site.local.speedup.axes", "in this order"),
    "an axis that there is not": _local("[x, y], v", "[x, y, z], v", "site.local.speedup.axes[2]", "got 'z'"),
    "x without y": _local(
        "[x, y], values: [[1.0, 1.1], [1.2, 1.3]]", "[x], values: [1, 1]", "axes", "x and y together"
    ),
    "a speedup in percent": _local(
        _VALUES, "[[100, 110], [120, 130]]", "site.local.speedup.values", "is 100 at x -500, y -9500",
        "not between 0.01 and 5", "as a factor",
    ),
    "a speedup of 0": _local(_VALUES, "[[1.0, 0.0], [1.2, 1.3]]", "is 0 at x -500, y 9000", "between 0.01 and 5"),
    "a speedup that is not a number": _local(_VALUES, "[[1.0, .nan], [1, 1]]", "finite number", "speedup.values"),
    "nothing about the wind": _local(_SPEEDUP, "", "site.local", "holds nothing about the wind", "speedup"),
    "a turbulence in percent": _local(
        _SPEEDUP, "    turbulence_intensity: 8\n", "site.local.turbulence_intensity", "is 8", "not in percent"
    ),
    "sectors that do not begin with north": _local(
        _SPEEDUP,
        "    wind_directions: [45, 225]\n" + _OVER_DIRECTIONS,
        "site.local.wind_directions[0]", "sector 0 must be at 0 degrees", "got 45",
    ),
    "uneven sectors": _local(
        _SPEEDUP,
        "    wind_directions: [0, 90]\n" + _OVER_DIRECTIONS,
        "site.local.wind_directions[1]", "must be at 180 degrees",
    ),
    "a north that differs": _local(
        _SPEEDUP,
        "    wind_directions: [0, 360]\n"
        "    speedup: {axes: [x, y, wind_directions], values: [[[1, 1], [1, 1]], [[1, 1], [1, 1.1]]]}\n",
        "site.local.speedup.values", "directions 0 and 360",
    ),
    "half a Weibull distribution": _local(
        _SPEEDUP, _WEIBULL, "site.local", "sector_frequency is missing", "give all of weibull_a"
    ),
    "two Weibull distributions": _local(
        _SPEEDUP, _WEIBULL + "    sector_frequency: 1.0\n", "site.weibull.sectors", "is given beside", ":27:"
    ),
    "frequencies in percent": _local(
        _SPEEDUP,
        _WEIBULL + "    wind_directions: [0, 180]\n"
        "    sector_frequency: {axes: [wind_directions], values: [40, 60]}\n",
        "site.local.sector_frequency", "is 40", "fraction of the year",
    ),
    "frequencies that do not sum to 1": _local(
        _SPEEDUP,
        _WEIBULL + "    wind_directions: [0, 180]\n"
        "    sector_frequency: {axes: [wind_directions], values: [0.4, 0.5]}\n",
        "sector_frequency", "sum to 0.9, not to 1",
    ),
    "turned wakes without turning": _local(
        "  local:\n", "  local:\n    turned_wakes: true\n", "site.local.turned_wakes", "needs turning"
    ),
    "a corner outside": _local(
        "[-500, 10000]", "[-500, 8000]", "farms[1].boundary", "corner 1 of farm 'south' at (9000, -9000)",
        "from x -500 to 8000 and y -9500 to 9000", "a larger grid",
    ),
    "a hub outside": _local(
        "    speedup", "    height: [100, 150]\n    speedup", "turbines[0]", "the hub height of 'five', 90 m",
        "from 100 to 150 m",
    ),
    "a neighbour outside": Broken(
        SMALL.replace("wake: ", _GRID + "wake: ") + "neighbours: {type: five, positions: [[5000, 0], [99000, 0]]}\n",
        ("neighbours[0].positions[1]", "neighbour 1 at (99000, 0)", "outside the grid"),
    ),
    "a name of PyWake's": _local("    speedup", "    Speedup", "site.local.Speedup", "did you mean 'speedup'?"),
    "a file that is not there": _local(
        _GRID, "  local: {file: grid.nc}\n", "site.local.file", "grid.nc: no such file", f":{_BEGIN}:"
    ),
    "a file that is none of these": _local(
        _GRID, "  local: {file: broken.yaml}\n", "site.local.file", "neither netCDF nor HDF5"
    ),
    "a file and numbers": _local(
        "  local:\n", "  local:\n    file: grid.nc\n", "site.local.x", "is given beside file"
    ),
}  # fmt: skip
