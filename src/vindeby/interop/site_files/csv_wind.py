"""Wind in CSV: roses of FLORIS 4 (``WindRose``, ``WindTIRose``) and time series.

Columns go by their usual names or by those of FLORIS. Frequencies of a rose
are divided by their sum, as FLORIS does. Directions that go round evenly from north become a table of probabilities;
directions that do not, or several turbulence intensities at one direction and speed, become a list of states: each row
as it is. In a time series every row counts the same, unless there are weights.
"""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.tables import WIND, TableReader, named_columns
from vindeby.campaign.reading.wind_files import time_series
from vindeby.campaign.reading.yaml_text import not_used
from vindeby.interop.common import Options, given_number, read_text
from vindeby.interop.site_files.options import turbulence
from vindeby.units import first_uneven

_QUANTITIES = (*WIND, "frequency", "weight", "time")
_REQUIRED = WIND[:2]


def has_frequency(path: Path) -> bool:
    """Return whether a table holds frequencies, by its header: a wind rose; otherwise it is a series."""
    header = TableReader(str(path), "").find_header(read_text(path), _QUANTITIES, _REQUIRED)
    return "frequency" in named_columns(header.cells, _QUANTITIES)


def read_floris_rose(path: Path, options: Options) -> FileContent:
    """Return the rose as a table or as states."""
    reader = TableReader(str(path), "")
    table = reader.read(read_text(path), (*WIND, "frequency"), (*_REQUIRED, "frequency"))
    reader.check_wind(table)
    reader.check_range(table, "frequency", 0.0, 1e300, "it must not be negative")
    frequency = np.array(table.columns["frequency"])
    total = float(frequency.sum())
    if not 0.0 < total < np.inf:
        reader.refuse(
            table.lines[-1], "is the last, and the frequencies sum to 0", "give some of them above 0"
        )
    summed = f"frequencies sum to {total:.10g} and are divided by this sum, as FLORIS does"
    notes = (*reader.notes, summed, *not_used(reader.unused))
    direction, speed = (np.array(table.columns[name]) for name in _REQUIRED)
    direction[direction == 360.0] = 0.0
    column = table.columns.get("turbulence intensity")
    turbulence(options, column)
    intensity: Any = given_number(options, "turbulence_intensity")
    if column is not None:
        intensity = np.array(column) if len(set(column)) > 1 else column[0]
    rows: dict[tuple[float, ...], int] = {}
    values = np.broadcast_to(intensity, direction.shape)
    for line, *key in zip(table.lines, direction.tolist(), speed.tolist(), values.tolist(), strict=True):
        first = rows.setdefault(tuple(key), line)
        if first != line:
            reader.refuse(line, f"is the same bin as line {first}", "keep one of them, or add them up")
    if (section := _rose_table(direction, speed, frequency / total, intensity)) is not None:
        return FileContent({"table": section}, "floris-rose", notes)
    columns = (direction, speed, frequency / total, np.asarray(intensity))
    keys = ("wind_direction", "wind_speed", "probability", "turbulence_intensity")
    states = {key: values.tolist() for key, values in zip(keys, columns, strict=True)}
    return FileContent({"states": states}, "floris-rose", notes)


def _rose_table(
    direction: FloatArray, speed: FloatArray, probability: FloatArray, intensity: float | FloatArray
) -> dict[str, Any] | None:
    (directions, row), (speeds, column) = (
        np.unique(axis, return_inverse=True) for axis in (direction, speed)
    )
    repeats = len(set(zip(row.tolist(), column.tolist(), strict=True))) < len(row)
    by_bin = isinstance(intensity, np.ndarray)  # the turbulence of bins that are not listed is not known
    lacks_bins = by_bin and len(row) < len(directions) * len(speeds)
    if first_uneven(directions.tolist()) is not None or repeats or lacks_bins:
        return None
    table = np.zeros((2, len(directions), len(speeds)))
    table[:, row, column] = probability, np.broadcast_to(intensity, row.shape)
    axes = {"wind_directions": directions.tolist(), "wind_speeds": speeds.tolist()}
    even = np.arange(len(directions)) * (360.0 / len(directions))
    return {
        "turbulence_intensity": {**axes, "values": table[1].tolist()} if by_bin else intensity,
        **axes,
        "wind_directions": even.tolist(),
        "probability": table[0].tolist(),
    }


def read_time_series(path: Path, options: Options) -> FileContent:
    """Return direction, speed and turbulence step by step."""
    reader = TableReader(str(path), "", options.get("gaps", ""))
    if has_frequency(path):
        reader.refuse(1, "has a column of frequency", "this is a rose: format: floris-rose")
    section = time_series(read_text(path), reader)
    section["turbulence_intensity"] = turbulence(options, section.get("turbulence_intensity"))
    return FileContent({"time_series": section}, "time-series", (*reader.notes, *not_used(reader.unused)))
