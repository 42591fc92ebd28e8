"""Wind in CSV: roses of FLORIS 4 (``WindRose``, ``WindTIRose``) and time series.

Columns go by their usual names, by those of FLORIS, or by ``columns: {wind_speed: NAME, ...}``. Frequencies of a rose
are divided by their sum, as FLORIS does. Directions that go round evenly from north become a table of probabilities;
directions that do not, or several turbulence intensities at one direction and speed, become a list of states: each row
as it is. In a time series every row counts the same, unless there are weights.
"""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.columns import FREQUENCY, TIME, WEIGHT, WIND, named_columns
from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.tables import TableReader
from vindeby.campaign.reading.wind_files import time_series
from vindeby.campaign.reading.yaml_text import not_used
from vindeby.interop.common import Options, given_number, read_text, refuse_option
from vindeby.interop.site_files.options import turbulence
from vindeby.units import first_uneven

_QUANTITIES = {**WIND, "frequency": FREQUENCY, "weight": WEIGHT, "time": TIME}
_REQUIRED = ("wind direction", "wind speed")


def has_frequency(path: Path, options: Options) -> bool:
    """Whether a table holds frequencies, by its header: a wind rose; otherwise it is a series."""
    reader = TableReader(str(path), "", given_columns(options))
    header = reader.header(read_text(path), _QUANTITIES, _REQUIRED)
    return "frequency" in {**reader.names, **named_columns(header.cells, _QUANTITIES, reader.names)}


def given_columns(options: Options) -> dict[str, str]:
    """Quantity to the name of its column."""
    names = options.get("columns") or {}
    known = {name.replace(" ", "_"): name for name in _QUANTITIES}
    if not isinstance(names, dict):
        refuse_option("columns", "must be a mapping", "write e.g. columns: {wind_speed: ws}", names)
    for key, name in names.items():
        if key not in known:
            refuse_option("columns", f"{key!r} is not a quantity", f"known: {', '.join(known)}")
        if not isinstance(name, str) or not name.strip():
            refuse_option("columns", f"{key} must be the name of a column", "write it as text", name)
    return {known[key]: name.strip() for key, name in names.items()}


def read_floris_rose(path: Path, options: Options) -> FileContent:
    """The rose as a table or as states."""
    names = given_columns(options)
    for name in ("weight", "time"):
        if name in names:
            refuse_option("columns", f"{name} does not go with frequencies", "leave it out", names[name])
    reader = TableReader(str(path), "", names)
    table = reader.read(read_text(path), {**WIND, "frequency": FREQUENCY}, _REQUIRED)
    reader.check_wind(table)
    reader.check_range(table, "frequency", 0.0, 1e300, "it must not be negative")
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
    column = table.columns.get("turbulence intensity")
    turbulence(options, column)
    intensity: Any = given_number(options, "turbulence_intensity") if column is None else np.array(column)
    if column is not None and len(set(column)) == 1:
        intensity = float(column[0])
    rows: dict[tuple[float, ...], int] = {}
    values = np.broadcast_to(intensity, direction.shape)
    for line, *key in zip(table.lines, direction.tolist(), speed.tolist(), values.tolist(), strict=True):
        first = rows.setdefault(tuple(key), line)
        if first != line:
            reader.refuse(line, f"is the same bin as line {first}", "keep one of them, or add them up")
    section = _rose_table(direction, speed, frequency / total, intensity)
    if section is not None:
        return FileContent({"table": section}, "floris-rose", notes)
    states: dict[str, Any] = {
        "wind_direction": direction.tolist(),
        "wind_speed": speed.tolist(),
        "probability": (frequency / total).tolist(),
        "turbulence_intensity": intensity if isinstance(intensity, float) else intensity.tolist(),
    }
    return FileContent({"states": states}, "floris-rose", notes)


def _rose_table(
    direction: FloatArray, speed: FloatArray, probability: FloatArray, intensity: float | FloatArray
) -> dict[str, Any] | None:
    """The section ``table``; None where the rows are not the bins of one."""
    directions, speeds = np.unique(direction), np.unique(speed)
    row, column = np.searchsorted(directions, direction), np.searchsorted(speeds, speed)
    shape = (len(directions), len(speeds))
    even = np.arange(len(directions)) * (360.0 / len(directions))
    if first_uneven(directions.tolist()) is not None or len(set(zip(row, column, strict=True))) < len(row):
        return None
    if isinstance(intensity, np.ndarray) and len(row) < shape[0] * shape[1]:
        return None  # the turbulence of bins that are not listed is not known
    rows = np.zeros(shape)
    rows[row, column] = probability
    by_bin: Any = intensity
    if isinstance(intensity, np.ndarray):
        values = np.zeros(shape)
        values[row, column] = intensity
        by_bin = {
            "wind_directions": directions.tolist(),
            "wind_speeds": speeds.tolist(),
            "values": values.tolist(),
        }
    return {
        "turbulence_intensity": by_bin,
        "wind_directions": even.tolist(),
        "wind_speeds": speeds.tolist(),
        "probability": rows.tolist(),
    }


def read_time_series(path: Path, options: Options) -> FileContent:
    """Direction, speed and turbulence step by step."""
    reader = TableReader(str(path), "", given_columns(options), options.get("gaps", ""))
    if has_frequency(path, options):
        reader.refuse(1, "has a column of frequency", "this is a rose: format: floris-rose")
    section = time_series(read_text(path), reader)
    section["turbulence_intensity"] = turbulence(options, section.get("turbulence_intensity"))
    return FileContent({"time_series": section}, "time-series", (*reader.notes, *not_used(reader.unused)))
