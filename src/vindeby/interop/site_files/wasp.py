"""Wind climates of WAsP: .lib and .gwc, .tab and .wrg."""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.labelled_wind import weibull_sectors
from vindeby.campaign.reading.readers import FileContent
from vindeby.interop.common import Lines, Options, given_number, refuse_option
from vindeby.interop.site_files.options import (
    given,
    interpolation,
    sector_centres,
    step_notes,
    table_section,
    turbulence,
)

_MOST = 400


def read_lib(path: Path, options: Options) -> FileContent:
    """Read the wind climate at a height and over a roughness, as sectors of a Weibull site."""
    lines = Lines(path)
    lines.text("the description", blank=True)
    counts = lines.numbers("the counts of roughness lengths, heights and sectors", 3)
    names = ("the number of roughness lengths", "the number of heights", "the number of sectors")
    roughness, heights, sectors = (
        lines.whole_number(count, name, 1, _MOST) for count, name in zip(counts, names, strict=True)
    )
    roughnesses = _lib_axis(lines, "the roughness lengths", roughness)
    levels = _lib_axis(lines, "the heights", heights)
    frequency, scale, shape = _lib_climates(lines, roughness, heights, sectors)
    lines.refuse_more()
    at_roughness = place_on(options, "roughness", roughnesses)
    at_height = place_on(options, "height", levels)
    weibull = {
        "turbulence_intensity": turbulence(options),
        "interpolation": interpolation(options, "linear"),
        "sectors": weibull_sectors(
            sector_centres(sectors),
            between(frequency, roughnesses, at_roughness),
            between(between(scale, roughnesses, at_roughness), levels, at_height),
            between(between(shape, roughnesses, at_roughness), levels, at_height),
        ),
        **given(options, "wind_speeds", "direction_step", "normalise"),
    }
    note = f"taken at a height of {at_height:g} m over a roughness of {at_roughness:g} m"
    return FileContent({"weibull": weibull}, "lib", (note,))


def _lib_axis(lines: Lines, what: str, count: int) -> FloatArray:
    values = np.array(lines.numbers(what, count))
    if (np.diff(values) <= 0).any() or values[0] < 0.0:
        lines.refuse(f"has {what} that do not increase from 0 or more", "sort them with their climates")
    return values


def _lib_climates(
    lines: Lines, roughness: int, heights: int, sectors: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the frequencies over roughness and sector, and A and k over roughness, height and sector."""
    frequency = np.zeros((roughness, sectors))
    scale, shape = np.zeros((roughness, heights, sectors)), np.zeros((roughness, heights, sectors))
    for row in range(roughness):
        frequency[row] = _shares(lines, f"the frequencies of roughness {row + 1}", sectors)
        for level in range(heights):
            for values, name in ((scale, "A"), (shape, "k")):
                values[row, level] = lines.numbers(f"{name} at height {level + 1}", sectors)
                if (values[row, level] <= 0.0).any():
                    lines.refuse(f"has values of {name} that are not above 0", "correct them")
    return frequency, scale, shape


def _shares(lines: Lines, what: str, sectors: int) -> FloatArray:
    values = np.array(lines.numbers(what, sectors))
    if (values < 0.0).any() or not values.sum() > 0.0:
        lines.refuse("has frequencies that are negative, or all 0", "give percentages of the year")
    return np.asarray(values / values.sum())


def place_on(options: Options, name: str, known: FloatArray) -> float:
    """Return the position on an axis at which the climate is wanted; no option is needed if there is one point."""
    value = given_number(options, name)
    range_text = f"the file has {known[0]:g} to {known[-1]:g} m"
    if value is None and len(known) > 1:
        refuse_option(
            name, "is missing: it decides what is taken from the file", f"give it in metres; {range_text}"
        )
    if value is None:
        return float(known[0])
    if not known[0] <= value <= known[-1]:
        refuse_option(name, "is outside the file", f"nothing is extended; {range_text}", value)
    return value


def between(values: FloatArray, axis: FloatArray, at: float) -> FloatArray:
    """Interpolate linearly along the first axis."""
    if len(axis) == 1:
        return np.asarray(values[0])
    left = min(int(np.searchsorted(axis, at, side="right")) - 1, len(axis) - 2)
    share = (at - axis[left]) / (axis[left + 1] - axis[left])
    return np.asarray(values[left] * (1.0 - share) + values[left + 1] * share)


def read_tab(path: Path, options: Options) -> FileContent:
    """Read the table of probabilities over direction and wind speed."""
    lines = Lines(path)
    lines.text("the description", blank=True)
    height = lines.numbers("latitude, longitude and height", 3)[2]
    sectors, factor = _tab_header(lines)
    by_sector = _shares(lines, "the sector frequencies", sectors)
    edges, counts = _tab_bins(lines, sectors)
    totals = counts.sum(axis=0)
    for sector in np.flatnonzero((totals == 0.0) & (by_sector > 0.0)):
        lines.refuse(
            f"is the last of a sector, {sector + 1}, that has a frequency but no speeds", "correct it"
        )
    shares = counts / np.where(totals > 0.0, totals, 1.0)
    speeds = factor * (edges[:-1] + edges[1:]) / 2.0
    section = table_section(by_sector[:, None] * shares.T, speeds, options, turbulence(options))
    notes = [f"measured at {height:g} m and taken as the wind at hub height"]
    if factor != 1.0:
        notes.append(f"wind speeds are multiplied by its factor {factor:g}")
    return FileContent({"table": section}, "tab", (*notes, *step_notes(options)))


def _tab_header(lines: Lines) -> tuple[int, float]:
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
    return sectors, factor


def _tab_bins(lines: Lines, sectors: int) -> tuple[FloatArray, FloatArray]:
    """Return the edges of the bins, from 0 on, and the counts over bin and sector."""
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


_MOST_POINTS = 1_000_000
_X, _Y, _HEIGHT, _SECTORS = slice(10, 20), slice(20, 30), slice(38, 43), slice(69, 72)
_FIRST, _WIDTH = 72, 13
_COLUMNS = (("frequency", 0, 4, 1000.0), ("A", 4, 8, 10.0), ("k", 8, 13, 100.0))
_ROUNDING_M = 0.5


def read_wrg(path: Path, options: Options) -> FileContent:
    """Read gridded Weibull parameters as local wind; linear between the points and over direction by default."""
    lines = Lines(path)
    x, y = _wrg_grid(lines)
    values, height, sectors = _wrg_points(lines, x, y)
    lines.refuse_more()
    notes = [f"made for a height of {height:g} m and taken as the wind at hub height"]
    sums = values[..., 0].sum(axis=-1)
    if options.get("normalise"):
        values[..., 0] /= sums[..., None]
        notes.append("frequencies are divided by their sum at each point (normalise: true)")
    elif np.abs(sums - 1.0).max() > 1e-6:
        notes.append(
            f"frequencies sum to {sums.min():.4g} to {sums.max():.4g}, not to 1, and are taken as they are; write "
            "normalise: true to divide by the sum at each point"
        )
    how = interpolation(options, "linear")
    weibull: dict[str, Any] = {
        "turbulence_intensity": turbulence(options),
        "interpolation": how,
        **given(options, "wind_speeds", "direction_step"),
    }
    if values.shape[:2] == (1, 1):
        weibull["sectors"] = weibull_sectors(sector_centres(sectors), *values[0, 0].T)
        return FileContent(
            {"weibull": weibull}, "wrg", (*notes, "has one point, whose wind is taken everywhere")
        )
    axes = ["x", "y", "wind_directions"]
    names = ("sector_frequency", "weibull_a", "weibull_k")
    local = {
        "source": path.name,
        "x": x.tolist(),
        "y": y.tolist(),
        "wind_directions": sector_centres(sectors),
        **{name: {"axes": axes, "values": values[..., i].ravel().tolist()} for i, name in enumerate(names)},
        "interpolation": how,
        "position_interpolation": how,
    }
    return FileContent({"weibull": weibull, "local": local}, "wrg", tuple(notes))


def _wrg_grid(lines: Lines) -> tuple[FloatArray, FloatArray]:
    columns, rows, west, south, cell = lines.numbers("the size, corner and cell of the grid", 5)
    least = 1 if columns == rows == 1 else 2  # a single point is a site; a single row is not a grid
    across = lines.whole_number(columns, "the number of columns", least, _MOST_POINTS)
    up = lines.whole_number(rows, "the number of rows", least, _MOST_POINTS)
    if across * up > _MOST_POINTS:
        lines.refuse(f"asks for {across * up:,} points", f"stay below {_MOST_POINTS:,}")
    if not cell > 0.0:
        lines.refuse(f"has a cell size of {cell:g}", "give it in metres")
    x, y = (
        first + cell * np.arange(count, dtype=np.float64) for first, count in ((west, across), (south, up))
    )
    return np.asarray(x), np.asarray(y)


def _wrg_points(lines: Lines, x: FloatArray, y: FloatArray) -> tuple[FloatArray, float, int]:
    """Return frequency, A and k over x, y and sector, and the height and number of sectors common to all points."""
    points: dict[tuple[int, int], FloatArray] = {}  # what the header promises takes no memory
    shared: tuple[float, int] | None = None
    for _ in range(len(x) * len(y)):
        line = lines.text("a point of the grid")
        sectors = _wrg_field(lines, line, _SECTORS, "number of sectors")
        own = (
            _wrg_field(lines, line, _HEIGHT, "height"),
            lines.whole_number(sectors, "the number of sectors", 1, 360),
        )
        shared = shared or own
        if own != shared:
            lines.refuse("has another height or number of sectors than the points before", "split the file")
        i = _wrg_index(lines, _wrg_field(lines, line, _X, "x"), x, "x")
        j = _wrg_index(lines, _wrg_field(lines, line, _Y, "y"), y, "y")
        if (i, j) in points:
            lines.refuse(f"is a point, x {x[i]:.10g} and y {y[j]:.10g}, that was there before", "remove one")
        points[i, j] = _wrg_parameters(lines, line, own[1])
    assert shared is not None, "a grid has points"
    found = np.empty((len(x), len(y), shared[1], 3))
    for place, values in points.items():
        found[place] = values
    return found, *shared


def _wrg_parameters(lines: Lines, line: str, sectors: int) -> FloatArray:
    end = _FIRST + _WIDTH * sectors
    if len(line.rstrip()) > end:
        lines.refuse(f"is longer than its {sectors} sectors", "correct the number of sectors or the columns")
    rows = []
    for start in range(_FIRST, end, _WIDTH):
        row = [
            _wrg_field(lines, line, slice(start + a, start + b), name) / unit for name, a, b, unit in _COLUMNS
        ]
        if row[0] < 0.0 or row[1] <= 0.0 or row[2] <= 0.0:
            lines.refuse(
                "has a negative frequency, or an A or k that is not above 0", "correct it, or crop the grid"
            )
        rows.append(row)
    return np.array(rows)


def _wrg_field(lines: Lines, line: str, columns: slice, what: str) -> float:
    cell = line[columns].strip()
    if not cell:
        lines.refuse(
            f"has no {what} in columns {columns.start + 1} to {columns.stop}", "columns have fixed widths"
        )
    return lines.number_in(cell, f"{what}, columns {columns.start + 1} to {columns.stop},")


def _wrg_index(lines: Lines, value: float, axis: FloatArray, name: str) -> int:
    """Return the index on the axis; coordinates in the columns may be rounded to metres."""
    index = int(np.argmin(np.abs(axis - value)))
    if abs(axis[index] - value) > _ROUNDING_M:
        lines.refuse(f"has {name} {value:.10g}, which is not on the grid of the header", "correct the header")
    return index
