"""Wind tables in CSV with column names of any kind: the usual ones, those of FLORIS, or those that are told.

``columns: {wind_speed: NAME, ...}`` tells them; a column that is told is used and no other of the same quantity.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple

from vindeby.campaign.reading.column_finder import Quantity, find_columns
from vindeby.campaign.reading.column_names import HeaderError
from vindeby.campaign.reading.number_table import NumberTable, TableReader
from vindeby.interop.file_reading import Options, read_text, refuse, refuse_option

_QUANTITIES = {
    "wind direction": Quantity(
        "deg", "winddirection", "winddirections", "direction", "wd", "dir", "winddir", "wdir"
    ),
    "wind speed": Quantity("m/s", "windspeed", "windspeeds", "speed", "ws", "wspd", "wsp", "u"),
    "turbulence intensity": Quantity(
        "-", "turbulenceintensity", "turbulenceintensities", "ti", "turbulence", "turb"
    ),
    "frequency": Quantity("-", "frequency", "frequencies", "freq", "freqval", "freqvals", "probability", "p"),
    "weight": Quantity("", "weight", "weights", "w"),
    "time": Quantity("", "time", "times", "timestamp", "date", "datetime", "timeutc", "utc"),
}
_SEPARATORS = (";", "\t", ",")


class WindColumns(NamedTuple):
    """The columns of a file, and the reader that names its lines in messages."""

    table: NumberTable
    reader: TableReader


def read_columns(path: Path, options: Options) -> WindColumns:
    """Direction and speed, and whatever else the file has of turbulence, frequency, weight and time."""
    reader = TableReader(str(path), "")
    text = _renamed(path, read_text(path), _told(options))
    table = reader.read(text, _QUANTITIES, ("wind direction", "wind speed"), as_text=("time",))
    reader.check_range(table, "wind direction", 0.0, 360.0, "give it in degrees, clockwise from north")
    reader.check_range(table, "wind speed", 0.0, 100.0, "give it in m/s")
    remedy = "give it as a fraction between 0 and 1, not in percent"
    reader.check_range(table, "turbulence intensity", 1e-9, 1.0 - 1e-9, remedy)
    for quantity in ("frequency", "weight"):
        reader.check_range(table, quantity, 0.0, 1e300, "it must not be negative")
    return WindColumns(table, reader)


def has_frequency(path: Path, options: Options) -> bool:
    """Whether a table holds frequencies, by its header: a wind rose; otherwise it is a series."""
    if "frequency" in _told(options):
        return True
    _, header, _ = _header(path, read_text(path))
    return any(_is(cell, "frequency") for cell in header)


def _told(options: Options) -> dict[str, str]:
    """Quantity to the name of its column."""
    told = options.get("columns") or {}
    known = {name.replace(" ", "_"): name for name in _QUANTITIES}
    if not isinstance(told, dict):
        refuse_option("columns", "must be a mapping", "write e.g. columns: {wind_speed: ws}", told)
    for key, name in told.items():
        if key not in known:
            refuse_option("columns", f"{key!r} is no quantity", f"known: {', '.join(known)}")
        if not isinstance(name, str) or not name.strip():
            refuse_option("columns", f"{key} must be the name of a column", "write it as text", name)
    return {known[key]: name.strip() for key, name in told.items()}


def _header(path: Path, text: str) -> tuple[int, list[str], str]:
    """The line of the header, its cells and what separates them."""
    lines = enumerate(text.splitlines())
    index, line = next(
        ((at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")), (0, "")
    )
    if not line:
        refuse(path, "has no header", "is it the right file?")
    separator = next((mark for mark in _SEPARATORS if mark in line), ",")
    try:
        return index, next(csv.reader([line], delimiter=separator, skipinitialspace=True)), separator
    except csv.Error:
        refuse(path, "has a header that cannot be split into columns", "is it the right file?", index + 1)


def _renamed(path: Path, text: str, told: dict[str, str]) -> str:
    """The same text with columns that are told under their own names, and others of these quantities hidden."""
    if not told:
        return text
    index, header, separator = _header(path, text)
    names = {name: quantity for quantity, name in told.items()}
    for quantity, name in told.items():
        if [cell.strip() for cell in header].count(name) != 1:
            refuse(
                path,
                f"has not one column of the name that is told for {quantity}",
                "check columns:",
                index + 1,
            )
    cells = []
    for number, cell in enumerate(header):
        if cell.strip() in names:
            cells.append(names[cell.strip()])
        else:
            hidden = any(_is(cell, quantity) for quantity in told)
            cells.append(f"other {number}" if hidden else cell)
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="").writerow(cells)
    lines = text.splitlines()
    lines[index] = line.getvalue()
    return "\n".join(lines) + "\n"


def _is(cell: str, quantity: str) -> bool:
    try:
        return quantity in find_columns([cell], {quantity: _QUANTITIES[quantity]})
    except HeaderError:  # the name is right, the unit is not
        return True
