"""The headers of tables: which column is what, by the names that people give, and in which unit.

``WIND``, ``SECTORS``, ``CURVE`` and their like are the columns of tables of wind and of turbine curves; positions have
pairs of columns of their own (``find_pair``).
"""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn

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
_LENGTHS = {
    "m": ("m", "metre", "metres", "meter", "meters"),
    "degrees": ("deg", "degree", "degrees", "°", "dd"),
    **{unit: (unit,) for unit in ("km", "ft", "feet", "foot", "mi", "nm", "yd", "cm", "mm")},
}
"""The units of positions."""
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names}
_LENGTH_OF = {name: unit for unit, names in _LENGTHS.items() for name in names}
_BRACKETS = re.compile(r"[\[(<{]\s*([^\])>}]*?)\s*[\])>}]")
_FORCES = ("n", "mn", "knots")
"""Units of a thrust that is a force and not a coefficient; in lower case, kN reads as a knot."""
_SPEEDS = {"km/h": 3.6, "knots": 3.6 / 1.852, "mph": 1.0 / 0.44704, "ft/s": 1.0 / 0.3048}
_FILLERS = re.compile(r"(?:at|hub|mean|avg|average|height|\d+(?:\.\d+)?m?)")
_POSITION_FILLERS = re.compile(
    r"utm\w*|epsg\d*|etrs\d*|wgs\d*|\d+n?|coords?|coordinates?|pos|position|point|vertex|corner"
)
_POSITIONS = {
    **dict.fromkeys(("x", "xcoord", "utmx"), "x"),
    **dict.fromkeys(("y", "ycoord", "utmy"), "y"),
    **dict.fromkeys(("easting", "eastings", "east", "utme"), "easting"),
    **dict.fromkeys(("northing", "northings", "north", "utmn"), "northing"),
    "e": "e",
    "n": "n",
    **dict.fromkeys(("lon", "long", "lng", "longitude"), "longitude"),
    **dict.fromkeys(("lat", "latitude"), "latitude"),
}
_PAIRS = (("x", "y"), ("easting", "northing"), ("e", "n"))
_IDENTIFIERS = {
    "id", "fid", "oid", "gid", "objectid", "name", "part", "ring", "polygon", "farm", "area", "site", "zone", "shape",
    "feature", "block", "lot", "tender", "label", "number", "no", "nr",
}  # fmt: skip
_TYPE_NAMES = {"type", "turbine type", "turbine", "wtg type", "wtg", "model"}
_NAME_THEM = "name them x,y or easting,northing"
METRES_WANTED = "project them to metres first, to UTM for example, with QGIS or pyproj"


Refuse = Callable[[str, str], NoReturn]
"""Raises with what a header leaves open, and what to do about it."""


class Column:
    """What a column may hold: its usual names, joined and in lower case, and the unit that its values are needed in.

    ``also`` are other units that it may be in, with how many of each make one of ``unit``.
    """

    def __init__(self, unit: str, *names: str, also: Mapping[str, float] | None = None) -> None:
        self.unit, self.names, self.also = unit, frozenset(names), also or {}

    def conversion(self, cell: str) -> tuple[str, float] | None:
        """The unit under this heading and the divisor of its values; None where nothing is to be converted."""
        unit = _name_and_unit(cell)[1]
        return (unit, self.also[unit]) if self.also.get(unit, 1.0) != 1.0 else None


WIND = {
    "wind direction": Column(
        "deg", "winddirection", "winddirections", "direction", "wd", "dir", "winddir", "wdir",
        also={"rad": math.pi / 180.0},
    ),
    "wind speed": Column("m/s", "windspeed", "windspeeds", "speed", "ws", "wspd", "wsp", "u", also=_SPEEDS),
    "turbulence intensity": Column(
        "-", "turbulenceintensity", "turbulenceintensities", "ti", "turbulence", "turb", also={"%": 100.0}
    ),
}  # fmt: skip
WEIGHT = Column("", "weight", "weights", "w")
TIME = Column("", "time", "times", "timestamp", "date", "datetime", "timeutc", "utc")
FREQUENCY = Column(
    "-", "probability", "probabilities", "p", "frequency", "frequencies", "freq", "freqval", "freqvals",
    also={"%": 100.0},
)  # fmt: skip
SECTORS = {
    "direction": Column("deg", *WIND["wind direction"].names, also=WIND["wind direction"].also),
    "sector": Column("", "sector", "sectors", "sectornumber", also={"deg": 1.0, "-": 1.0}),
    "a": Column("m/s", "a", "weibulla", "scale", "scaleparameter", also=_SPEEDS),
    "k": Column("-", "k", "weibullk", "shape", "shapeparameter"),
    "frequency": Column("-", *FREQUENCY.names, "f", "sectorfrequency", also=FREQUENCY.also),
}
CURVE = {
    "wind speed": WIND["wind speed"],
    "power": Column("kW", "power", "p", "powerkw", "electricalpower", also={"W": 1000.0, "MW": 0.001}),
    "ct": Column("-", "ct", "thrustcoefficient", "thrust", "thrustct"),
    "cp": Column("-", "cp", "powercoefficient"),
}


def named_columns(
    header: Sequence[str], wanted: Mapping[str, Column], given: Mapping[str, str]
) -> dict[str, list[int]]:
    """Where each quantity is named: by the very name that is given for it, or else by one of its usual names."""
    found: dict[str, list[int]] = {}
    for index, cell in enumerate(header):
        name, unit = _name_and_unit(cell)
        for key, column in wanted.items():
            known = name in column.names and (unit not in _FORCES or unit in column.also)
            if given[key] == cell.strip() if key in given else known and cell.strip() not in given.values():
                found.setdefault(key, []).append(index)
    return found


def find_columns(
    header: Sequence[str], wanted: Mapping[str, Column], given: Mapping[str, str], refuse: Refuse
) -> dict[str, int]:
    """Where each quantity stands; refuses two columns of one quantity, and an unknown unit."""
    named = named_columns(header, wanted, given)
    for quantity in given:
        if len(named.get(quantity, ())) != 1:
            refuse(
                f"does not have exactly one column with the name that columns: gives for {quantity}",
                "check columns:",
            )
    for quantity, (index, *others) in named.items():
        if others:
            refuse(
                f"columns {index + 1} and {others[0] + 1} both name the {quantity}: which of them to use is "
                "not clear",
                "keep one of them",
            )
        unit, needed = _name_and_unit(header[index])[1], wanted[quantity]
        if unit not in ("", needed.unit, *needed.also):
            refuse(
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
    bracketed = [one for one in _BRACKETS.findall(text) if not _FILLERS.fullmatch(one.replace(" ", ""))]
    known = [_UNIT_OF[one] for one in (re.sub(r"[\s.^*·]", "", one) for one in bracketed) if one in _UNIT_OF]
    unit = next(iter([*known, *bracketed]), "")
    words = [word for word in re.split(r"[\s_\-,:]+", _BRACKETS.sub(" ", text)) if word]
    if words[-2:] == ["m", "s"]:
        words[-2:] = ["m/s"]
    if len(words) > 1 and words[-1] in _UNIT_OF and not words[-1].isdecimal():
        unit = unit or _UNIT_OF[words[-1]]
        words.pop()
    kept = [word for word in words if not _FILLERS.fullmatch(word)]
    return "".join(kept), unit


class Pair(NamedTuple):
    """Where x and y stand in a row of ``width`` cells."""

    x: int
    y: int
    width: int
    in_metres: bool
    """Whether the header says so for both."""
    identifiers: tuple[tuple[str, int], ...]
    """Columns that may tell one area from another: a known name and where it stands."""


def names_a_pair(cells: Sequence[str]) -> bool:
    """Whether a line, a comment perhaps, names a pair of coordinates."""
    names = {_position(cell)[0] for cell in cells}
    return any(names.issuperset(pair) for pair in (*_PAIRS, ("longitude", "latitude")))


def find_pair(header: Sequence[str], refuse: Refuse) -> Pair:
    """The columns of x and y, in any order, with or without units; refuses what is not clear."""
    columns = [_position(cell) for cell in header]
    names = [name for name, _ in columns]
    complete = [pair for pair in _PAIRS if all(name in names for name in pair)]
    if not complete:
        _refuse_without_a_pair(names, refuse)
    x, y = complete[0]
    known = {"x", "y", "easting", "northing", *itertools.chain.from_iterable(complete)}
    rivals = [cell.strip() for cell, name in zip(header, names, strict=True) if name in known]
    if len(rivals) > 2:
        message = f"the header has {', '.join(rivals)}: which of them to use is not clear"
        refuse(message, "keep one pair")
    units = [columns[names.index(name)][1] for name in (x, y)]
    for unit in units:
        if unit not in ("", "m"):
            remedy = METRES_WANTED if unit == "degrees" else "convert them to metres"
            refuse(f"the columns are in {unit}; vindeby needs metres", remedy)
    return Pair(
        names.index(x),
        names.index(y),
        len(header),
        units == ["m", "m"],
        tuple((name, index) for index, name in enumerate(names) if name in _IDENTIFIERS),
    )


def type_column(header: Sequence[str], refuse: Refuse) -> int | None:
    """The column with the type of each turbine; None where there is none. Refuses two of them."""
    found = [
        index
        for index, cell in enumerate(header)
        if " ".join(re.findall(r"[^\W_]+", cell.lower())) in _TYPE_NAMES
    ]
    if len(found) > 1:
        refuse("the header has two columns of turbine types", "keep one, named type")
    return found[0] if found else None


def _position(cell: str) -> tuple[str, str]:
    """The name of a coordinate or identifier, and the unit; no name for any other heading."""
    words = re.findall(r"[^\W_]+|°", cell.lower())
    unit = _LENGTH_OF.get(words[-1], "") if len(words) > 1 else ""
    words = words[:-1] if unit else words
    kept = [word for word in words if word in _POSITIONS or not _POSITION_FILLERS.fullmatch(word)]
    if len(kept) == 1:
        return _POSITIONS.get(kept[0], kept[0]), unit
    known = [word for word in kept if word in _IDENTIFIERS]
    return known[0] if known else "", unit


def _refuse_without_a_pair(names: Sequence[str], refuse: Refuse) -> NoReturn:
    if "longitude" in names or "latitude" in names:
        refuse("the columns are longitude and latitude, in degrees; vindeby needs metres", METRES_WANTED)
    known = [name for name in names if name in ("x", "y", "easting", "northing", "e", "n")]
    if known:
        refuse(f"the header names {', '.join(known)}, which is not a pair of x and y", _NAME_THEM)
    refuse("the first line names no columns of x and y", _NAME_THEM)
