"""Wind tables in CSV with column names of any kind: the usual ones, those of FLORIS, or those that are told.

``columns: {wind_speed: NAME, ...}`` tells them; a column that is told is used and no other of the same quantity.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from vindeby.campaign.reading.column_finder import FREQUENCY, TIME, WEIGHT, WIND, named_columns
from vindeby.campaign.reading.number_table import NumberTable, TableReader
from vindeby.interop.file_reading import Options, read_text, refuse_option

_QUANTITIES = {**WIND, "frequency": FREQUENCY, "weight": WEIGHT, "time": TIME}
_REQUIRED = ("wind direction", "wind speed")


class WindColumns(NamedTuple):
    """The columns of a file, and the reader that names its lines in messages."""

    table: NumberTable
    reader: TableReader


def read_columns(path: Path, options: Options) -> WindColumns:
    """Direction and speed, and whatever else the file has of turbulence, frequency, weight and time."""
    reader = TableReader(str(path), "", told_columns(options))
    table = reader.read(read_text(path), _QUANTITIES, _REQUIRED, as_text=("time",))
    reader.check_wind(table)
    for quantity in ("frequency", "weight"):
        reader.check_range(table, quantity, 0.0, 1e300, "it must not be negative")
    return WindColumns(table, reader)


def has_frequency(path: Path, options: Options) -> bool:
    """Whether a table holds frequencies, by its header: a wind rose; otherwise it is a series."""
    reader = TableReader(str(path), "", told_columns(options))
    header = reader.header(read_text(path), _QUANTITIES, _REQUIRED)
    return "frequency" in {**reader.told, **named_columns(header.cells, _QUANTITIES, reader.told)}


def told_columns(options: Options) -> dict[str, str]:
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
