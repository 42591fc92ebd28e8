"""Wind roses of FLORIS 4 in CSV (``WindRose``, ``WindTIRose``): one row per bin with its frequency.

Frequencies are divided by their sum, as FLORIS does. Directions that go round evenly from north become a table of
probabilities; directions that do not, or several turbulence intensities at one direction and speed, become a list of
states: each row as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.campaign.reading.number_table import NumberTable, TableReader
from vindeby.campaign.reading.yaml_text import not_used
from vindeby.interop.file_reading import FileContent, Options, as_float, refuse_option
from vindeby.interop.site_files.csv_columns import read_columns, turbulence_of

FloatArray = npt.NDArray[np.float64]


def read(path: Path, options: Options) -> FileContent:
    """The rose as a table or as states."""
    table, reader = read_columns(path, options)
    if "frequency" not in table.columns:
        reader.refuse(
            table.header_line, "names no column of frequency", "name it: columns: {frequency: NAME}"
        )
    frequency = np.array(table.columns["frequency"])
    total = float(frequency.sum())
    if not 0.0 < total < np.inf:
        reader.refuse(
            table.lines[-1], "is the last, and the frequencies sum to 0", "give some of them above 0"
        )
    summed = f"frequencies sum to {total:.10g} and are divided by this sum, as FLORIS does"
    notes = (*reader.notes, summed, *not_used(reader.unused))
    direction, speed = np.array(table.columns["wind direction"]), np.array(table.columns["wind speed"])
    direction = np.where(direction == 360.0, 0.0, direction)
    intensity = _turbulence(table, options)
    _refuse_twice(reader, table.lines, direction, speed, intensity)
    section = _table(direction, speed, frequency / total, intensity)
    if section is not None:
        return FileContent({"table": section}, "floris-rose", notes)
    states: dict[str, Any] = {
        "wind_direction": direction.tolist(),
        "wind_speed": speed.tolist(),
        "probability": (frequency / total).tolist(),
        "turbulence_intensity": intensity if isinstance(intensity, float) else intensity.tolist(),
    }
    return FileContent({"states": states}, "floris-rose", notes)


def _turbulence(table: NumberTable, options: Options) -> float | FloatArray:
    """One number, or one for each row."""
    given = turbulence_of(options, table.columns.get("turbulence intensity"))
    if isinstance(given, list):
        return float(given[0]) if len(set(given)) == 1 else np.array(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        refuse_option("turbulence_intensity", "must be a number", "give it as a fraction", given)
    return as_float(given)


def _refuse_twice(
    reader: TableReader,
    lines: list[int],
    direction: FloatArray,
    speed: FloatArray,
    intensity: float | FloatArray,
) -> None:
    rows: dict[tuple[float, ...], int] = {}
    values = np.broadcast_to(intensity, direction.shape)
    bins = zip(lines, direction.tolist(), speed.tolist(), values.tolist(), strict=True)
    for line, *key in bins:
        first = rows.setdefault(tuple(key), line)
        if first != line:
            reader.refuse(line, f"is the same bin as line {first}", "keep one of them, or add them up")


def _table(
    direction: FloatArray, speed: FloatArray, probability: FloatArray, intensity: float | FloatArray
) -> dict[str, Any] | None:
    """The section ``table``; None where the rows are not the bins of one."""
    directions, speeds = np.unique(direction), np.unique(speed)
    row, column = np.searchsorted(directions, direction), np.searchsorted(speeds, speed)
    shape = (len(directions), len(speeds))
    even = np.arange(len(directions)) * (360.0 / len(directions))
    if np.abs(directions - even).max() > 1e-9 or len(set(zip(row, column, strict=True))) < len(row):
        return None
    if isinstance(intensity, np.ndarray) and len(row) < shape[0] * shape[1]:
        return None  # the turbulence of bins that are not listed is not known
    rows = np.zeros(shape)
    rows[row, column] = probability
    turbulence: Any = intensity
    if isinstance(intensity, np.ndarray):
        values = np.zeros(shape)
        values[row, column] = intensity
        turbulence = {
            "wind_directions": directions.tolist(),
            "wind_speeds": speeds.tolist(),
            "values": values.tolist(),
        }
    return {
        "turbulence_intensity": turbulence,
        "wind_directions": even.tolist(),
        "wind_speeds": speeds.tolist(),
        "probability": rows.tolist(),
    }
