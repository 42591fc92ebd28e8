"""Wind resource grids of WAsP (``.wrg``): sector-wise Weibull parameters at the points of a regular grid.

Columns have fixed widths and may touch: 10 characters of text, x 10, y 10, elevation 8, height 5, A 5, k 6, power
density 15, number of sectors 3, then for every sector frequency 4 (in 1/1000), A 4 (in 0.1 m/s) and k 5 (in 0.01).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.interop.file_reading import FileContent, Lines, Options
from vindeby.interop.site_files.weibull_options import given, interpolation, turbulence

FloatArray = npt.NDArray[np.float64]
_MOST_POINTS = 1_000_000
_X, _Y, _HEIGHT, _SECTORS = slice(10, 20), slice(20, 30), slice(38, 43), slice(69, 72)
_FIRST, _WIDTH = 72, 13
_COLUMNS = (("frequency", 0, 4, 1000.0), ("A", 4, 8, 10.0), ("k", 8, 13, 100.0))
_ROUNDING_M = 0.5


def read(path: Path, options: Options) -> FileContent:
    """Gridded Weibull parameters as local wind; linear between the points and over direction unless told otherwise."""
    lines = Lines(path)
    x, y = _grid(lines)
    values, height, sectors = _points(lines, x, y)
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
        weibull["sectors"] = [
            {"direction": index * 360.0 / sectors, "frequency": share, "a": a, "k": k}
            for index, (share, a, k) in enumerate(values[0, 0].tolist())
        ]
        return FileContent(
            {"weibull": weibull}, "wrg", (*notes, "has one point, whose wind is taken everywhere")
        )
    axes = ["x", "y", "wind_directions"]
    names = ("sector_frequency", "weibull_a", "weibull_k")
    local = {
        "source": path.name,
        "x": x.tolist(),
        "y": y.tolist(),
        "wind_directions": [index * 360.0 / sectors for index in range(sectors)],
        **{name: {"axes": axes, "values": values[..., i].ravel().tolist()} for i, name in enumerate(names)},
        "interpolation": how,
        "position_interpolation": how,
    }
    return FileContent({"weibull": weibull, "local": local}, "wrg", tuple(notes))


def _grid(lines: Lines) -> tuple[FloatArray, FloatArray]:
    columns, rows, west, south, cell = lines.numbers("the size, corner and cell of the grid", 5)
    least = 1 if columns == rows == 1 else 2  # a single point is a site; a single row is no grid
    across = lines.whole_number(columns, "the number of columns", least, _MOST_POINTS)
    up = lines.whole_number(rows, "the number of rows", least, _MOST_POINTS)
    if across * up > _MOST_POINTS:
        lines.refuse(f"asks for {across * up:,} points", f"stay below {_MOST_POINTS:,}")
    if not cell > 0.0:
        lines.refuse(f"has a cell size of {cell:g}", "give it in metres")
    return np.array([west + cell * index for index in range(across)]), np.array(
        [south + cell * index for index in range(up)]
    )


def _points(lines: Lines, x: FloatArray, y: FloatArray) -> tuple[FloatArray, float, int]:
    """Frequency, A and k over x, y and sector; the height and the number of sectors, which all points share."""
    points: dict[tuple[int, int], FloatArray] = {}  # what the header promises takes no memory
    shared: tuple[float, int] | None = None
    for _ in range(len(x) * len(y)):
        line = lines.text("a point of the grid")
        own = (_field(lines, line, _HEIGHT, "height"), _sectors(lines, line))
        shared = shared or own
        if own != shared:
            lines.refuse("has another height or number of sectors than the points before", "split the file")
        i = _index(lines, _field(lines, line, _X, "x"), x, "x")
        j = _index(lines, _field(lines, line, _Y, "y"), y, "y")
        if (i, j) in points:
            lines.refuse(f"is a point, x {x[i]:.10g} and y {y[j]:.10g}, that was there before", "remove one")
        points[i, j] = _parameters(lines, line, own[1])
    assert shared is not None, "a grid has points"
    found = np.empty((len(x), len(y), shared[1], 3))
    for place, values in points.items():
        found[place] = values
    return found, *shared


def _parameters(lines: Lines, line: str, sectors: int) -> FloatArray:
    end = _FIRST + _WIDTH * sectors
    if len(line.rstrip()) > end:
        lines.refuse(f"is longer than its {sectors} sectors", "correct the number of sectors or the columns")
    rows = []
    for start in range(_FIRST, end, _WIDTH):
        row = [_field(lines, line, slice(start + a, start + b), name) / unit for name, a, b, unit in _COLUMNS]
        if row[0] < 0.0 or row[1] <= 0.0 or row[2] <= 0.0:
            lines.refuse(
                "has a negative frequency, or an A or k that is not above 0", "correct it, or crop the grid"
            )
        rows.append(row)
    return np.array(rows)


def _field(lines: Lines, line: str, columns: slice, what: str) -> float:
    cell = line[columns].strip()
    if not cell:
        lines.refuse(
            f"has no {what} in columns {columns.start + 1} to {columns.stop}", "columns have fixed widths"
        )
    return lines.number_in(cell, f"{what}, columns {columns.start + 1} to {columns.stop},")


def _sectors(lines: Lines, line: str) -> int:
    return lines.whole_number(
        _field(lines, line, _SECTORS, "number of sectors"), "the number of sectors", 1, 360
    )


def _index(lines: Lines, value: float, axis: FloatArray, name: str) -> int:
    """Which point of the axis this is; coordinates in the columns may be rounded to metres."""
    index = int(np.argmin(np.abs(axis - value)))
    if abs(axis[index] - value) > _ROUNDING_M:
        lines.refuse(f"has {name} {value:.10g}, which is not on the grid of the header", "correct the header")
    return index
