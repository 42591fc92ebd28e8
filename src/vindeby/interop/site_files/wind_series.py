"""Time series in CSV, as FLORIS' ``TimeSeries`` is made of: every row counts the same, unless there are weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vindeby.campaign.reading.times import find_time_problem
from vindeby.interop.file_reading import FileContent, Options, refuse_option
from vindeby.interop.site_files.csv_columns import read_columns

_NAMES = {
    "wind direction": "wind_direction",
    "wind speed": "wind_speed",
    "turbulence intensity": "turbulence_intensity",
    "weight": "weight",
}


def read(path: Path, options: Options) -> FileContent:
    """Direction, speed and turbulence step by step."""
    gaps = options.get("gaps", "refuse")
    if gaps not in ("drop", "refuse"):
        refuse_option("gaps", "must be drop, or left out", "write gaps: drop", gaps)
    table, reader = read_columns(path, options, gaps)
    if "frequency" in table.columns:
        reader.refuse(table.header_line, "has a column of frequency", "this is a rose: format: floris-rose")
    section: dict[str, Any] = {
        key: table.columns[name] for name, key in _NAMES.items() if name in table.columns
    }
    own = options.get("turbulence_intensity")
    if own is not None and "turbulence_intensity" in section:
        refuse_option(
            "turbulence_intensity", "is given here and by a column of the file", "remove it here", own
        )
    if own is None and "turbulence_intensity" not in section:
        refuse_option(
            "turbulence_intensity", "is missing: the file has no column of it", "add it, or name its column"
        )
    if own is not None:
        section["turbulence_intensity"] = own
    if "time" in table.texts:
        section["times"] = table.texts["time"]
        if problem := find_time_problem(section["times"]):
            reader.refuse(table.lines[problem.entry], f"the time {problem.message}", problem.remedy)
    return FileContent({"time_series": section}, "time-series", tuple(reader.notes))
