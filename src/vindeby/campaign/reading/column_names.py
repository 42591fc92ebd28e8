"""The header of a table of vertices: which columns are x and y, by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_NAMES = {
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
_METRES = {"m", "metre", "metres", "meter", "meters"}
_DEGREES = {"deg", "degree", "degrees", "°", "dd"}
_OTHER_UNITS = {"km", "ft", "feet", "foot", "mi", "nm", "yd", "cm", "mm"}
_FILLERS = re.compile(
    r"utm\w*|epsg\d*|etrs\d*|wgs\d*|\d+n?|coords?|coordinates?|pos|position|point|vertex|corner"
)
_IDENTIFIERS = {
    "id", "fid", "oid", "gid", "objectid", "name", "part", "ring", "polygon", "farm", "area", "site", "zone", "shape",
    "feature", "block", "lot", "tender", "label", "number", "no", "nr",
}  # fmt: skip
_TYPE_NAMES = {"type", "turbine type", "turbine", "wtg type", "wtg", "model"}
_REMEDY = "name them x,y or easting,northing"
METRES_WANTED = "project them to metres first, to UTM for example, with QGIS or pyproj"


class Columns(NamedTuple):
    """Where x and y stand in a row of ``width`` cells."""

    x: int
    y: int
    width: int
    in_metres: bool
    """Whether the header says so for both."""
    identifiers: tuple[tuple[str, int], ...]
    """Columns that may tell one area from another: a known name and where it stands."""


class HeaderError(Exception):
    """What a header leaves open, and what to do about it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


class _Column(NamedTuple):
    name: str
    unit: str


def is_header(cells: Sequence[str]) -> bool:
    """Whether a line, a comment perhaps, names a pair of coordinates."""
    names = {_column(cell).name for cell in cells}
    return any(names.issuperset(pair) for pair in (*_PAIRS, ("longitude", "latitude")))


def find_columns(header: Sequence[str]) -> Columns:
    """The columns of x and y, in any order, with or without units; raises HeaderError where that is not clear."""
    columns = [_column(cell) for cell in header]
    names = [column.name for column in columns]
    complete = [pair for pair in _PAIRS if all(name in names for name in pair)]
    if not complete:
        _refuse_without_a_pair(names)
    if len(complete) > 1:
        both = " and ".join(",".join(pair) for pair in complete)
        raise HeaderError(f"the header has {both}: which of them to use is not clear", "keep one pair")
    x, y = complete[0]
    rivals = [name for name in names if name in ("x", "y", "easting", "northing", x, y)]
    if len(rivals) > 2:
        told = f"the header has {', '.join(rivals)}: which of them to use is not clear"
        raise HeaderError(told, "keep one pair")
    units = [columns[names.index(name)].unit for name in (x, y)]
    _refuse_other_units(units)
    return Columns(
        names.index(x),
        names.index(y),
        len(header),
        units == ["m", "m"],
        tuple((name, index) for index, name in enumerate(names) if name in _IDENTIFIERS),
    )


def type_column(header: Sequence[str]) -> int | None:
    """The column that says of which type a turbine is; None where there is none. HeaderError for two of them."""
    found = [
        index
        for index, cell in enumerate(header)
        if " ".join(re.findall(r"[^\W_]+", cell.lower())) in _TYPE_NAMES
    ]
    if len(found) > 1:
        raise HeaderError("the header has two columns of turbine types", "keep one, named type")
    return found[0] if found else None


def _column(cell: str) -> _Column:
    words = re.findall(r"[^\W_]+|°", cell.lower())
    unit = ""
    if len(words) > 1:
        kinds = {"m": _METRES, "degrees": _DEGREES} | {other: {other} for other in _OTHER_UNITS}
        unit = next((kind for kind, some in kinds.items() if words[-1] in some), "")
        words = words[:-1] if unit else words
    kept = [word for word in words if word in _NAMES or not _FILLERS.fullmatch(word)]
    if len(kept) == 1:
        return _Column(_NAMES.get(kept[0], kept[0]), unit)
    known = [word for word in kept if word in _IDENTIFIERS]
    return _Column(known[0] if known else "", unit)


def _refuse_without_a_pair(names: Sequence[str]) -> None:
    if "longitude" in names or "latitude" in names:
        raise HeaderError(
            "the columns are longitude and latitude, in degrees; vindeby needs metres", METRES_WANTED
        )
    known = [name for name in names if name in ("x", "y", "easting", "northing", "e", "n")]
    if known:
        raise HeaderError(f"the header names {', '.join(known)}, which is no pair of x and y", _REMEDY)
    raise HeaderError("the first line names no columns of x and y", _REMEDY)


def _refuse_other_units(units: Sequence[str]) -> None:
    for unit in units:
        if unit == "degrees":
            raise HeaderError("the columns are in degrees; vindeby needs metres", METRES_WANTED)
        if unit not in ("", "m"):
            raise HeaderError(f"the columns are in {unit}; vindeby needs metres", "convert them to metres")
