"""Wind tables in CSV with column names of any kind: the usual ones, those of FLORIS, or those that are told.

``columns: {wind_speed: NAME, ...}`` tells them; a column that is told is used and no other of the same quantity.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vindeby.campaign.reading.column_finder import FREQUENCY, TIME, WEIGHT, WIND, named_columns
from vindeby.campaign.reading.number_table import NumberTable, TableReader
from vindeby.interop.file_reading import Options, read_text, refuse_option

_QUANTITIES = {**WIND, "frequency": FREQUENCY, "weight": WEIGHT, "time": TIME}
_REQUIRED = ("wind direction", "wind speed")


def read_columns(path: Path, options: Options) -> tuple[NumberTable, TableReader]:
    """Direction and speed, and whatever else the file has of turbulence and frequency."""
    told = told_columns(options)
    for name in ("weight", "time"):
        if name in told:
            refuse_option("columns", f"{name} does not go with frequencies", "leave it out", told[name])
    reader = TableReader(str(path), "", told)
    table = reader.read(read_text(path), {**WIND, "frequency": FREQUENCY}, _REQUIRED)
    reader.check_wind(table)
    reader.check_range(table, "frequency", 0.0, 1e300, "it must not be negative")
    return table, reader


def turbulence_of(options: Options, column: list[float] | None) -> Any:
    """The turbulence intensity: what the file has, or what is said beside it."""
    given = options.get("turbulence_intensity")
    if given is not None and column is not None:
        told = "is given here and by a column of the file"
        refuse_option("turbulence_intensity", told, "remove it here", given)
    if given is None and column is None:
        told, remedy = "is missing: the file has no column of it", "give it as a fraction, or name its column"
        refuse_option("turbulence_intensity", told, remedy)
    return given if column is None else column


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
