"""The header of a table of wind or of a turbine curve: which column is what, by the names people give, and its unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from vindeby.campaign.reading.column_names import HeaderError

_FILLERS = re.compile(r"(?:at|hub|mean|avg|average|height|\d+(?:\.\d+)?m?)")
_UNITS = {
    "deg": ("deg", "degree", "degrees", "°", "degn", "°n", "degtrue"),
    "m/s": ("m/s", "ms-1", "mps", "ms", "m/sec"),
    "kW": ("kw",),
    "%": ("%", "percent", "pct"),
    "km/h": ("km/h", "kmh", "kph", "kmh-1"),
    "knots": ("kn", "kt", "kts", "knot", "knots"),
    "mph": ("mph", "mi/h"),
    "ft/s": ("ft/s", "fps"),
    "rad": ("rad", "radian", "radians"),
    "W": ("w",),
    "MW": ("mw",),
    "-": ("-", "1", "fraction"),
}
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names}
_BRACKETS = re.compile(r"[\[(<{]\s*([^\])>}]*?)\s*[\])>}]")
_FORCES = ("n", "mn", "knots")
"""Units of a thrust that is no thrust coefficient; in lower case, kN is a knot."""
_SPEEDS = {"km/h": 3.6, "knots": 3.6 / 1.852, "mph": 1.0 / 0.44704, "ft/s": 1.0 / 0.3048}


class Quantity:
    """What a column may hold: the names it goes by, joined and in lower case, and the unit it must have.

    ``also`` are units that it may be in as well, with how many of each make one of ``unit``.
    """

    def __init__(self, unit: str, *names: str, also: Mapping[str, float] | None = None) -> None:
        self.unit, self.names, self.also = unit, frozenset(names), also or {}

    def conversion(self, cell: str) -> tuple[str, float] | None:
        """The unit under this heading and what values are divided by, where it is not the unit it must have."""
        unit = _name_and_unit(cell)[1]
        return (unit, self.also[unit]) if self.also.get(unit, 1.0) != 1.0 else None


WIND = {
    "wind direction": Quantity(
        "deg", "winddirection", "winddirections", "direction", "wd", "dir", "winddir", "wdir",
        also={"rad": math.pi / 180.0},
    ),
    "wind speed": Quantity("m/s", "windspeed", "windspeeds", "speed", "ws", "wspd", "wsp", "u", also=_SPEEDS),
    "turbulence intensity": Quantity(
        "-", "turbulenceintensity", "turbulenceintensities", "ti", "turbulence", "turb", also={"%": 100.0}
    ),
}  # fmt: skip
WEIGHT = Quantity("", "weight", "weights", "w")
TIME = Quantity("", "time", "times", "timestamp", "date", "datetime", "timeutc", "utc")
FREQUENCY = Quantity(
    "-", "probability", "probabilities", "p", "frequency", "frequencies", "freq", "freqval", "freqvals",
    also={"%": 100.0},
)  # fmt: skip
SECTORS = {
    "direction": Quantity("deg", *WIND["wind direction"].names, also=WIND["wind direction"].also),
    "sector": Quantity("", "sector", "sectors", "sectornumber", also={"deg": 1.0, "-": 1.0}),
    "a": Quantity("m/s", "a", "weibulla", "scale", "scaleparameter", also=_SPEEDS),
    "k": Quantity("-", "k", "weibullk", "shape", "shapeparameter"),
    "frequency": Quantity("-", *FREQUENCY.names, "f", "sectorfrequency", also=FREQUENCY.also),
}
CURVE = {
    "wind speed": WIND["wind speed"],
    "power": Quantity("kW", "power", "p", "powerkw", "electricalpower", also={"W": 1000.0, "MW": 0.001}),
    "ct": Quantity("-", "ct", "thrustcoefficient", "thrust", "thrustct"),
    "cp": Quantity("-", "cp", "powercoefficient"),
}


def named_columns(
    header: Sequence[str], wanted: Mapping[str, Quantity], told: Mapping[str, str]
) -> dict[str, list[int]]:
    """Where each quantity is named: by the very name that is told for it, or else by one of the names it goes by."""
    found: dict[str, list[int]] = {}
    for index, cell in enumerate(header):
        name, unit = _name_and_unit(cell)
        for key, some in wanted.items():
            known = name in some.names and (unit not in _FORCES or unit in some.also)
            if told[key] == cell.strip() if key in told else known and cell.strip() not in told.values():
                found.setdefault(key, []).append(index)
    return found


def find_columns(
    header: Sequence[str], wanted: Mapping[str, Quantity], told: Mapping[str, str]
) -> dict[str, int]:
    """Where each quantity stands; raises HeaderError for two columns of one quantity or another unit."""
    named = named_columns(header, wanted, told)
    for quantity in told:
        if len(named.get(quantity, ())) != 1:
            raise HeaderError(f"has not one column of the name that is told for {quantity}", "check columns:")
    for quantity, (index, *others) in named.items():
        if others:
            raise HeaderError(
                f"columns {index + 1} and {others[0] + 1} both name the {quantity}: which of them to use is "
                "not clear",
                "keep one of them",
            )
        unit, needed = _name_and_unit(header[index])[1], wanted[quantity]
        if unit not in ("", needed.unit, *needed.also):
            raise HeaderError(
                f"the column of {quantity} is in {unit}; vindeby needs {unit_text(needed.unit)}",
                f"convert it, and name the unit in the header: [{needed.unit}]",
            )
    return {quantity: index for quantity, (index,) in named.items()}


def unit_text(unit: str) -> str:
    """A unit in words."""
    return "a fraction" if unit == "-" else unit


def _name_and_unit(cell: str) -> tuple[str, str]:
    """The name without its unit, fillers and separators, and the unit: ``Wind speed [m/s]`` is a windspeed."""
    text = cell.strip().lstrip("#").strip().lower()
    told = [one for one in _BRACKETS.findall(text) if not _FILLERS.fullmatch(one.replace(" ", ""))]
    known = [_UNIT_OF[one] for one in (re.sub(r"[\s.^*·]", "", one) for one in told) if one in _UNIT_OF]
    unit = next(iter([*known, *told]), "")
    words = [word for word in re.split(r"[\s_\-,:]+", _BRACKETS.sub(" ", text)) if word]
    if words[-2:] == ["m", "s"]:
        words[-2:] = ["m/s"]
    if len(words) > 1 and words[-1] in _UNIT_OF and not words[-1].isdecimal():
        unit = unit or _UNIT_OF[words[-1]]
        words.pop()
    kept = [word for word in words if not _FILLERS.fullmatch(word)]
    return "".join(kept), unit
