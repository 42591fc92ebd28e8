"""Time series in CSV, as FLORIS' ``TimeSeries`` is made of: every row counts the same, unless there are weights."""

from __future__ import annotations

from pathlib import Path

from vindeby.campaign.reading.number_table import DROP_GAPS, REFUSE_GAPS, TableReader
from vindeby.campaign.reading.wind_files import time_series
from vindeby.interop.file_reading import FileContent, Options, read_text, refuse_option
from vindeby.interop.site_files.csv_columns import has_frequency, told_columns


def read(path: Path, options: Options) -> FileContent:
    """Direction, speed and turbulence step by step."""
    gaps = options.get("gaps", REFUSE_GAPS)
    if gaps not in (DROP_GAPS, REFUSE_GAPS):
        refuse_option("gaps", "is not drop", "write gaps: drop", gaps)
    reader = TableReader(str(path), "", told_columns(options), gaps)
    if has_frequency(path, options):
        reader.refuse(1, "has a column of frequency", "this is a rose: format: floris-rose")
    section = time_series(read_text(path), reader)
    own = options.get("turbulence_intensity")
    if own is not None and "turbulence_intensity" in section:
        refuse_option(
            "turbulence_intensity", "is given here and by a column of the file", "remove it here", own
        )
    if own is None and "turbulence_intensity" not in section:
        refuse_option(
            "turbulence_intensity", "is missing: the file has no column of it", "add it, or name its column"
        )
    return FileContent(
        {"time_series": {"turbulence_intensity": own, **section}}, "time-series", tuple(reader.notes)
    )
