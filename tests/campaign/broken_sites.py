"""Mistakes in the wind and the power curves of a campaign file: time series, states, turbulence, turbine tables.

Each case: what stands for the site or the tabulated turbine of the small campaign, the tables beside it, and the
words that the message must have.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.campaign.examples import SMALL


class BrokenSite(NamedTuple):
    """A wrong campaign with the tables that it names, and the words that must be said about it."""

    text: str
    words: tuple[str, ...]
    tables: dict[str, str]


_SITE = SMALL[SMALL.index("site:") : SMALL.index("wake:")]
_CURVE = SMALL[SMALL.index("      wind_speed: [3, 4") : SMALL.index("capacity_mw")]
_TURBULENCE = "    turbulence_intensity: 0.1\n"


def _site(text: str, *words: str, **tables: str) -> BrokenSite:
    return BrokenSite(SMALL.replace(_SITE, f"site:\n  {text}\n"), words, tables)


def _curve(text: str, *words: str, **tables: str) -> BrokenSite:
    return BrokenSite(SMALL.replace(_CURVE, f"      {text}\n"), words, tables)


def _turbulence(text: str, *words: str) -> BrokenSite:
    return BrokenSite(SMALL.replace(_TURBULENCE, f"    turbulence_intensity: {text}\n"), words, {})


def _series(csv: str, *words: str, more: str = "") -> BrokenSite:
    return _site(f"time_series: {{file: wind.csv{more}}}", "wind.csv:", *words, wind=csv)


_HEADER = "time,wd,ws,ti\n"
_STATES = "[{wind_direction: 270, wind_speed: 9, probability: %s, turbulence_intensity: 0.08}]"
_TABLE = (
    "table: {turbulence_intensity: 0.1, wind_directions: [0, 180], wind_speeds: [5, 10], probability: %s}"
)
_SPEEDS = "wind_speed: [4, 8, 12]"

BROKEN_SITES: dict[str, BrokenSite] = {
    "two sites": _site(
        f"states: {_STATES % 1}\n  time_series: {{wind_direction: [1], wind_speed: [8], turbulence_intensity: 0.1}}",
        "site: gives time_series and states, which exclude each other",
        "give exactly one of: weibull, table, time_series, states",
    ),
    "table with too few rows": _site(
        _TABLE % "[[0.5, 0.5]]",
        "site.table.probability: has 1 x 2 entries, but (wind_directions, wind_speeds) has 2 x 2",
    ),
    "table with a row that is too short": _site(
        _TABLE % "[[0.25, 0.25], [0.5]]",
        "site.table.probability: has rows of different lengths",
    ),
    "turbulence of a direction given twice": _site(
        "weibull: {turbulence_intensity: {wind_directions: [0, 0], values: [0.1, 0.1]}}",
        "site.weibull.turbulence_intensity.wind_directions[1]: must increase, but 0 follows 0",
        "list the directions from north clockwise, each once; 360 is 0",
    ),
    "series without turbulence": _site(
        "time_series: {wind_direction: [1, 2], wind_speed: [8, 9]}",
        "broken.yaml:25: site.time_series.turbulence_intensity",
        "is missing",
    ),
    "series of unequal lists": _site(
        "time_series: {wind_direction: [1, 2], wind_speed: [8], turbulence_intensity: 0.1}",
        "site.time_series.wind_speed: has 1 entries, but wind_direction has 2",
        "give one for each",
    ),
    "series with too few weights": _site(
        "time_series: {wind_direction: [1, 2], wind_speed: [8, 9], turbulence_intensity: 0.1, weight: [1]}",
        "site.time_series.weight: has 1 entries",
    ),
    "series with no weight at all": _site(
        "time_series: {wind_direction: [1], wind_speed: [8], turbulence_intensity: 0.1, weight: [0]}",
        "site.time_series.weight",
        "the weights are all 0",
    ),
    "series with a negative weight": _site(
        "time_series: {wind_direction: [1], wind_speed: [8], turbulence_intensity: 0.1, weight: [-2]}",
        "site.time_series.weight[0]: must be at least 0 (got -2)",
    ),
    "series with a direction of 400": _site(
        "time_series: {wind_direction: [400], wind_speed: [8], turbulence_intensity: 0.1}",
        "site.time_series.wind_direction[0]: must be at most 360 (got 400)",
    ),
    "series with text for a speed": _site(
        "time_series: {wind_direction: [40], wind_speed: [calm], turbulence_intensity: 0.1}",
        "site.time_series.wind_speed[0]: must be a number (got 'calm')",
    ),
    "series with turbulence in percent": _site(
        "time_series: {wind_direction: [40], wind_speed: [8], turbulence_intensity: [8.5]}",
        "site.time_series.turbulence_intensity[0]: must be less than 1 (got 8.5)",
    ),
    "series with all its turbulence in percent": _site(
        "time_series: {wind_direction: [40, 41], wind_speed: [8, 8], turbulence_intensity: [8.5, 9]}",
        "turbulence_intensity[0]: must be less than 1 (got 8.5)",
    ),
    "series with a misspelt key": _site(
        "time_series: {wind_direction: [40], wind_speed: [8], weights: [1], turbulence_intensity: 0.1}",
        "site.time_series.weights: is not a known key (got [1]); did you mean 'weight'?",
    ),
    "series whose times go back": _site(
        "time_series: {wind_direction: [4, 4], wind_speed: [8, 8], turbulence_intensity: 0.1, "
        'times: ["2020-10-25T02:30", "2020-10-25T02:00"]}',
        "site.time_series.times[1]: entry 1 is not after the one before",
        "got '2020-10-25T02:00'",
        "UTC",
    ),
    "series whose times are none": _site(
        "time_series: {wind_direction: [4], wind_speed: [8], turbulence_intensity: 0.1, times: [noon]}",
        "times[0]: entry 0 is not a time (got 'noon')",
        "2020-01-31T13:00",
    ),
    "series that is packed and damaged": _site(
        "time_series: {wind_direction: 'packed:float64:2:eJw!', wind_speed: [8, 9], turbulence_intensity: 0.1}",
        "site.time_series.wind_direction: is damaged: it cannot be unpacked",
        "copy the whole line",
    ),
    "series that is packed and cut": _site(
        "time_series: {wind_direction: 'packed:float64:2:eJxjYACBD/YAAicBMA==', wind_speed: [8, 9], "
        "turbulence_intensity: 0.1}",
        "does not hold 2 entries",
    ),
    "file that is absent": _site("time_series: {file: gone.csv}", "site.time_series.file", "no such file"),
    "file without a header": _series(
        "0,270,8,0.1\n1,271,8,0.1\n", ":1:", "has no header", "name the columns"
    ),
    "file without speeds": _series("wd,ti\n270,0.1\n", ":1:", "names no column of wind speed", "wind_speed"),
    "file with two speeds": _series(
        "wd,ws_50m,ws_100m\n270,8,9\n", "columns 2 and 3 both name the wind speed", "keep one"
    ),
    "file in Beaufort": _series("wd,ws [Bft]\n270,8\n", "the column of wind speed is in bft", "needs m/s"),
    "file with turbulence in per mille": _series(
        "wd,ws,TI [per mille]\n270,8,9\n", "turbulence intensity is in per mille", "a fraction"
    ),
    "file with a gap": _series(
        _HEADER + "2020-01-01,270,8,0.1\n2020-01-02,270,,0.1\n", ":3:", "has no wind speed", "remove the line"
    ),
    "file with nan": _series("wd,ws\n270,8\n271,nan\n", ":3:", "not a finite number", "remove the line"),
    "file with words": _series("wd,ws\n270,8\n271,secret\n", ":3:", "the wind speed is not a number"),
    "file with a negative speed": _series(
        "wd,ws\n270,8\n271,-999\n", ":3:", "the wind speed -999 is not from 0 to 100", "m/s"
    ),
    "file whose times repeat": _series(
        _HEADER + "2020-01-01,270,8,0.1\n2020-01-01,270,8,0.1\n",
        ":3:",
        "the time is not after the one before",
    ),
    "file that says what the campaign says": BrokenSite(
        SMALL.replace(_SITE, "site:\n  time_series: {file: wind.csv, turbulence_intensity: 0.1}\n"),
        (
            "broken.yaml:25: site.time_series.turbulence_intensity",
            "is given beside a column of the file",
        ),
        {"wind": _HEADER + "2020-01-01,270,8,0.1\n"},
    ),
    "states far from 1": _site(
        f"states: {_STATES % 0.5}", "the probabilities sum to 0.5, not to 1", "normalise: true"
    ),
    "states without turbulence": _site(
        "states: [{wind_direction: 270, wind_speed: 9, probability: 1}]",
        "site.states[0].turbulence_intensity: is missing",
    ),
    "states with a misspelt key": _site(
        "states: [{wind_direction: 270, wind_speed: 9, probability: 1, prob: 1, turbulence_intensity: 0.1}]",
        "site.states[0].prob: is not a known key",
        "probability",
    ),
    "states that are numbers": _site("states: [1]", "site.states[0]: must be a mapping (got 1)"),
    "normalise in words": _site(
        "states: {wind_direction: [270], wind_speed: [9], probability: [0.5], turbulence_intensity: 0.1, "
        "normalise: 'yes'}",
        "site.states.normalise",
    ),
    "turbulence by nothing": _turbulence(
        "{values: [0.1]}", "turbulence_intensity: has no points", "wind_speeds"
    ),
    "turbulence of unequal lists": _turbulence(
        "{wind_speeds: [3, 25], values: [0.1]}",
        "turbulence_intensity.values: has 1 entries, but (wind_speeds) has 2",
    ),
    "turbulence that does not reach the wind speeds": _turbulence(
        "{wind_speeds: [4, 25], values: [0.1, 0.1]}",
        "is known from 4 to 25 m/s, not at 3 m/s",
        ":26:",
    ),
    "turbulence without rows": _turbulence(
        "{wind_directions: [0, 180], wind_speeds: [3, 25], values: [0.1, 0.2]}",
        "has 2 entries, but (wind_directions, wind_speeds) has 2 x 2",
    ),
    "turbulence with a short row": _turbulence(
        "{wind_directions: [0, 180], wind_speeds: [3, 25], values: [[0.1, 0.2], [0.1]]}",
        "values: has rows of different lengths",
    ),
    "turbulence with 360 degrees": _turbulence(
        "{wind_directions: [0, 360], values: [0.1, 0.1]}",
        "wind_directions[1]: must be less than 360 (got 360)",
    ),
    "turbulence with disordered directions": _turbulence(
        "{wind_directions: [90, 0], values: [0.1, 0.1]}",
        "wind_directions[1]: must increase, but 0 follows 90",
    ),
    "turbulence with a misspelt key": _turbulence(
        "{wind_speed: [3, 25], values: [0.1, 0.1]}",
        "wind_speed: is not a known key (got [3, 25]); did you mean 'wind_speeds'?",
    ),
    "turbulence above 1": _turbulence(
        "{wind_speeds: [3, 25], values: [0.1, 1.5]}", "values[1]", "less than 1"
    ),
    "smart start outside the turbulence": BrokenSite(
        SMALL.replace(
            _TURBULENCE, "    turbulence_intensity: {wind_speeds: [3, 25], values: [0.1, 0.1]}\n"
        ).replace("random_pct: 30}", "random_pct: 30, wind_speeds: [8, 30]}"),
        ("smart-start.wind_speeds: ", "known from 3 to 25 m/s, not at 30 m/s", "broken.yaml:34"),
        {},
    ),
    "smart start in wind of its own": BrokenSite(
        SMALL.replace(_SITE, f"site:\n  states: {_STATES % 1}\n").replace(
            "random_pct: 30}", "random_pct: 30, wind_directions: [0]}"
        ),
        ("smart-start.wind_directions: has no meaning for a site of list of 1 state", "leave it out"),
        {},
    ),
    "curve without power": _curve(
        f"{_SPEEDS}\n      ct: [.8, .8, .4]", "table.power_kw: is missing", "or cp"
    ),
    "curve with power twice": _curve(
        f"{_SPEEDS}\n      ct: [.8, .8, .4]\n      cp: [.3, .4, .4]\n      power_kw: [1, 2, 3]",
        "table.cp: excludes power_kw",
    ),
    "curve with cp in percent": _curve(
        f"{_SPEEDS}\n      ct: [.8, .8, .4]\n      cp: [30, .4, .4]",
        "table.cp[0]: must be at most 1 (got 30)",
    ),
    "density for a power curve": _curve(
        f"{_SPEEDS}\n      ct: [.8, .8, .4]\n      power_kw: [1, 500, 2000]\n      air_density_kg_m3: 1.1",
        "air_density_kg_m3: has a meaning only with cp",
        "got 1.1",
    ),
    "thrust on other speeds": _curve(
        f"{_SPEEDS}\n      ct: [.8, .8]\n      ct_wind_speed: [3, 9, 12]\n      power_kw: [1, 500, 2000]",
        "table.ct: has 2 entries, but ct_wind_speed has 3",
    ),
    "thrust at one speed": _curve(
        f"{_SPEEDS}\n      ct: [.8]\n      ct_wind_speed: [3]\n      power_kw: [1, 500, 2000]",
        "table.ct_wind_speed: a curve needs two points or more",
    ),
    "outside that does not exist": _curve(
        f"{_SPEEDS}\n      ct: [.8, .8, .4]\n      power_kw: [1, 500, 2000]\n      outside: clip",
        "table.outside",
        "'hold' or 'zero'",
        "got 'clip'",
    ),
    "curve in horsepower": _curve(
        "file: curve.csv",
        "curve.csv:1:",
        "power is in hp; vindeby needs kW",
        curve="ws,power [hp],ct\n4,1,1\n8,2,1\n",
    ),
    "curve file without ct": _curve(
        "file: curve.csv", "curve.csv:1:", "names no column of ct", curve="ws,power\n4,1\n8,2\n"
    ),
    "cubic thrust without speeds": BrokenSite(
        SMALL.replace(
            "generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}",
            "cubic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90, rated_speed: 11, ct: [.8, .7]}",
        ),
        ("cubic.ct_wind_speed: is missing", "since ct is a list"),
        {},
    ),
    "cubic thrust with speeds for a number": BrokenSite(
        SMALL.replace(
            "generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}",
            "cubic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90, rated_speed: 11, outside: zero}",
        ),
        ("cubic.outside: has a meaning only where ct is a list",),
        {},
    ),
}
