"""Time series in CSV, as FLORIS' ``TimeSeries`` is made of: every row counts the same, unless there are weights."""

from __future__ import annotations

from pathlib import Path

from vindeby.campaign.reading.number_table import TableReader
from vindeby.campaign.reading.wind_files import time_series
from vindeby.campaign.reading.yaml_text import not_used
from vindeby.interop.file_reading import FileContent, Options, read_text
from vindeby.interop.site_files.csv_columns import has_frequency, told_columns, turbulence_of


def read(path: Path, options: Options) -> FileContent:
    """Direction, speed and turbulence step by step."""
    reader = TableReader(str(path), "", told_columns(options), options.get("gaps", ""))
    if has_frequency(path, options):
        reader.refuse(1, "has a column of frequency", "this is a rose: format: floris-rose")
    section = time_series(read_text(path), reader)
    section["turbulence_intensity"] = turbulence_of(options, section.get("turbulence_intensity"))
    return FileContent({"time_series": section}, "time-series", (*reader.notes, *not_used(reader.unused)))
