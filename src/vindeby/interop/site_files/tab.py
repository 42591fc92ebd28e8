"""Observed wind climates of WAsP (``.tab``): a histogram of wind speed for every sector.

A description; latitude, longitude and height; the number of sectors, a factor for wind speeds and an offset for
directions; sector frequencies in percent; then one line per bin, which begins with the bin's upper edge and has its
frequency in each sector, in per mille. Frequencies are divided by their sum. The probability of a bin stands at its
centre, as in windkit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from vindeby.interop.file_reading import FileContent, Lines, Options
from vindeby.interop.site_files.direction_table import step_notes, table_section

FloatArray = npt.NDArray[np.float64]
_MOST = 400


def read(path: Path, options: Options) -> FileContent:
    """The table of probabilities over direction and wind speed."""
    lines = Lines(path)
    lines.text("the description", blank=True)
    height = lines.numbers("latitude, longitude and height", 3)[2]
    sectors, factor, notes = _header(lines)
    by_sector = _frequencies(lines, sectors)
    edges, counts = _bins(lines, sectors)
    totals = counts.sum(axis=0)
    for sector in np.flatnonzero((totals == 0.0) & (by_sector > 0.0)):
        lines.refuse(
            f"is the last of a sector, {sector + 1}, that has a frequency but no speeds", "correct it"
        )
    shares = counts / np.where(totals > 0.0, totals, 1.0)
    speeds = factor * (edges[:-1] + edges[1:]) / 2.0
    section = table_section(by_sector[:, None] * shares.T, speeds, options)
    note = f"measured at {height:g} m and taken as the wind at hub height"
    return FileContent({"table": section}, "tab", (note, *notes, *step_notes(options)))


def _header(lines: Lines) -> tuple[int, float, tuple[str, ...]]:
    count, factor, offset = lines.numbers(
        "the number of sectors, the speed factor and the direction offset", 3
    )
    sectors = lines.whole_number(count, "the number of sectors", 1, _MOST)
    if not 0.0 < factor < 100.0:
        lines.refuse(f"has a speed factor of {factor:g}", "give the factor that makes m/s, usually 1.00")
    if offset != 0.0:
        lines.refuse(
            f"turns all directions by {offset:g} degrees",
            "bin the directions so that sector 1 is centred on north",
        )
    return sectors, factor, () if factor == 1.0 else (f"wind speeds are multiplied by its factor {factor:g}",)


def _frequencies(lines: Lines, sectors: int) -> FloatArray:
    values = np.array(lines.numbers("the sector frequencies", sectors))
    if (values < 0.0).any() or not values.sum() > 0.0:
        lines.refuse("has sector frequencies that are negative, or all 0", "give percentages of the year")
    return np.asarray(values / values.sum())


def _bins(lines: Lines, sectors: int) -> tuple[FloatArray, FloatArray]:
    """The edges of the bins, from 0 on, and the counts over bin and sector."""
    edges, counts = [0.0], []
    while lines.left:
        edge, *row = lines.numbers(f"a bin's upper edge and its {sectors} frequencies", sectors + 1)
        if edge <= edges[-1]:
            lines.refuse(
                f"has the upper edge {edge:g} after {edges[-1]:g}: edges must increase", "sort the bins"
            )
        if min(row) < 0.0:
            lines.refuse("has a negative frequency", "give per mille of the sector")
        edges.append(edge)
        counts.append(row)
        if len(counts) > _MOST:
            lines.refuse(f"is bin {_MOST + 1} of a sector", "is it the right file?")
    if not counts:
        lines.refuse("is the last, and there are no bins of wind speed", "is the file complete?")
    return np.array(edges), np.array(counts)
