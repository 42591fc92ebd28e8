"""More mistakes that people make in a campaign file: in the interpolation of a site and the rating of a table.

Each case is like those of ``broken.py``: a wrong file, and the words that the message must have.
"""

from __future__ import annotations

from tests.campaign.broken import Broken
from tests.campaign.examples import SMALL


def _with(old: str, new: str, *words: str) -> Broken:
    assert SMALL.count(old) == 1, f"{old!r} occurs {SMALL.count(old)} times in the small campaign"
    return Broken(SMALL.replace(old, new), words)


_TURBULENCE = "    turbulence_intensity: 0.1\n"
_SIZE = "      rotor_diameter_m: 80\n"
_TABLE_SITE = (
    "site: {table: {turbulence_intensity: .1, wind_directions: [0, 180], wind_speeds: [8], "
    "probability: [[.5], [.5]], interpolation: %s}}\n"
)

BROKEN_WINDS_AND_TABLES: dict[str, Broken] = {
    "interpolation that does not exist": _with(
        _TURBULENCE,
        _TURBULENCE + "    interpolation: cubic\n",
        "site.weibull.interpolation",
        "'linear' or 'nearest'",
        "got 'cubic'",
        ":27:",
    ),
    "interpolation misspelt": _with(
        _TURBULENCE,
        _TURBULENCE + "    interpolate: nearest\n",
        "site.weibull.interpolate",
        "did you mean 'interpolation'?",
    ),
    "interpolation left empty": _with(
        _TURBULENCE, _TURBULENCE + "    interpolation:\n", "site.weibull.interpolation", "'nearest'"
    ),
    "interpolation at the wrong level": _with(
        "site:\n", "site:\n  interpolation: nearest\n", "site.interpolation", "is not a known key"
    ),
    "interpolation of a table": Broken(
        SMALL[: SMALL.index("site:")] + _TABLE_SITE % "[nearest]" + SMALL[SMALL.index("wake:") :],
        ("site.table.interpolation", "'linear' or 'nearest'", "got ['nearest']"),
    ),
    "rating in kW": _with(
        _SIZE,
        "      rated_power_mw: 2000\n" + _SIZE,
        "turbines[1].table.rated_power_mw",
        "far from the largest power of the curve, 2 MW",
        "got 2000",
        "in MW",
    ),
    "rating of another turbine": _with(
        _SIZE, "      rated_power_mw: 3\n" + _SIZE, "table.rated_power_mw", "of the same turbine"
    ),
    "rating of nothing": _with(
        _SIZE, "      rated_power_mw: 0\n" + _SIZE, "table.rated_power_mw", "greater than 0", "got 0"
    ),
    "rating in words": _with(
        _SIZE, "      rated_power_mw: 2 MW\n" + _SIZE, "table.rated_power_mw", "must be a number", "'2 MW'"
    ),
}
