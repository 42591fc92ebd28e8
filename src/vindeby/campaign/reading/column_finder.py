"""The header of a table of wind states or of a turbine curve: which column is what, by the names people give."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vindeby.campaign.reading.column_names import HeaderError

_FILLERS = re.compile(r"(?:at|hub|mean|avg|average|height|\d+(?:\.\d+)?m?)")
_UNITS = {
    "deg": ("deg", "degree", "degrees", "°", "degn"),
    "m/s": ("m/s", "ms-1", "mps", "ms", "m/sec"),
    "kW": ("kw",),
    "%": ("%", "percent", "pct"),
    "km/h": ("km/h", "kmh", "kph"),
    "knots": ("kn", "kt", "kts", "knot", "knots"),
    "mph": ("mph",),
    "ft/s": ("ft/s", "fps"),
    "rad": ("rad", "radian", "radians"),
    "W": ("w",),
    "MW": ("mw",),
    "-": ("-", "1", "fraction"),
}
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names}
_BRACKETS = re.compile(r"[\[(<{]\s*([^\])>}]*?)\s*[\])>}]")


class Quantity:
    """What a column may hold: the names it goes by, joined and in lower case, and the unit it must have."""

    def __init__(self, unit: str, *names: str) -> None:
        self.unit, self.names = unit, frozenset(names)


def find_columns(header: Sequence[str], wanted: Mapping[str, Quantity]) -> dict[str, int]:
    """Where each quantity stands; raises HeaderError for two columns of one quantity or another unit."""
    found: dict[str, int] = {}
    for index, cell in enumerate(header):
        name, unit = _name_and_unit(cell)
        quantity = next((key for key, some in wanted.items() if name in some.names), None)
        if quantity is None:
            continue
        if quantity in found:
            raise HeaderError(
                f"columns {found[quantity] + 1} and {index + 1} both name the {quantity}: which of them to use is "
                "not clear",
                "keep one of them",
            )
        if unit not in ("", wanted[quantity].unit):
            raise HeaderError(
                f"the column of {quantity} is in {unit}; vindeby needs {_unit_text(wanted[quantity].unit)}",
                "convert it, and name the unit in the header",
            )
        found[quantity] = index
    return found


def _unit_text(unit: str) -> str:
    return "a fraction" if unit == "-" else unit


def _name_and_unit(cell: str) -> tuple[str, str]:
    """The name without its unit, fillers and separators, and the unit: ``Wind speed [m/s]`` is a windspeed."""
    text = cell.strip().lstrip("#").strip().lower()
    unit = ""
    if match := _BRACKETS.search(text):
        told = match[1].replace(" ", "")
        unit = "" if _FILLERS.fullmatch(told) else _UNIT_OF.get(told, match[1])
        text = _BRACKETS.sub(" ", text)
    words = [word for word in re.split(r"[\s_\-,:]+", text) if word]
    if words[-2:] == ["m", "s"]:
        words[-2:] = ["m/s"]
    if len(words) > 1 and words[-1] in _UNIT_OF:
        unit = _UNIT_OF[words.pop()]
    kept = [word for word in words if not _FILLERS.fullmatch(word)]
    return "".join(kept), unit
