"""Which reader a site file has: one table, by the format's name and by how file names end."""

from __future__ import annotations

import difflib
from pathlib import Path

from vindeby.campaign.reading.number_table import suffix_of
from vindeby.interop import iea37
from vindeby.interop.file_reading import FileContent, FileFormat, Options, refuse_option, refuse_unreachable
from vindeby.interop.site_files import csv_columns, floris_rose, lib, tab, wind_series, wrg, xrsite
from vindeby.interop.site_files.weibull_options import STATES, TABLE, WEIBULL

__all__ = ["FORMATS", "read_site_file"]


FORMATS = {
    "xrsite": FileFormat((".nc", ".nc4", ".netcdf", ".cdf"), xrsite.OPTIONS, xrsite.read),
    "lib": FileFormat((".lib", ".gwc"), WEIBULL | {"height", "roughness"}, lib.read),
    "tab": FileFormat((".tab",), TABLE, tab.read),
    "wrg": FileFormat((".wrg",), WEIBULL, wrg.read),
    "floris-rose": FileFormat((".csv",), STATES, floris_rose.read),
    "time-series": FileFormat((".csv",), STATES | {"gaps"}, wind_series.read),
    "iea37-rose": FileFormat((".yaml", ".yml"), frozenset(), iea37.read_rose),
}


def read_site_file(path: Path, options: Options) -> FileContent:
    """A site file as the section ``site`` of a campaign; ``format`` among the options says what it is."""
    refuse_unreachable(path)
    name = _format_of(path, options)
    known = FORMATS[name].options
    for option in options:
        if option not in known and option != "format":
            close = difflib.get_close_matches(option, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            refuse_option(
                option, f"is no option of a {name} file", f"{hint}known: format, {', '.join(sorted(known))}"
            )
    return FORMATS[name].read(path, options)


def _format_of(path: Path, options: Options) -> str:
    """By the option, by the suffix, and for CSV by the header: a rose has frequencies, a series has none."""
    told = options.get("format")
    if told is not None:
        if not isinstance(told, str) or told not in FORMATS:
            refuse_option("format", "is not known", f"known: {', '.join(FORMATS)}", told)
        return told
    fitting = [name for name, one in FORMATS.items() if suffix_of(path) in one.suffixes]
    if not fitting:
        suffixes = ", ".join(dict.fromkeys(suffix for one in FORMATS.values() for suffix in one.suffixes))
        refuse_option(
            "format",
            f"is not said, and the name of the file, {path.name}, does not tell it",
            f"add format: ({', '.join(FORMATS)}); the suffixes {suffixes} are known",
        )
    if len(fitting) > 1:
        return "floris-rose" if csv_columns.has_frequency(path, options) else "time-series"
    return fitting[0]
