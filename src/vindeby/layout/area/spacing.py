"""The least distance between turbines: which pairs stand near each other, and how far a layout falls short.

Turbines are sorted into the cells of a grid. A cell is as wide as the largest distance asked for, so that whoever is
nearer stands in the same cell or in one of the eight around it. Turbines that keep a spacing are few for each
cell, so time and memory grow with their number, not with its square. The lists are in ascending order, as a loop over
all pairs would meet them. For few turbines, or where cells would be hardly smaller than the farm, looking at all pairs
is faster.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import kernel, scalar

FEW = (64, 40)
"""Up to so many turbines, or so many cells, all pairs are looked at."""
ROUNDING = 1.0 + 1e-9
"""Cells are wider by this factor than they must be, and distances up to it further are near."""


class Near(NamedTuple):
    """Those near turbine ``i`` that come after it are ``other[first[i]:last[i]]``, ascending."""

    first: IntArray
    last: IntArray
    other: npt.NDArray[np.uint32]


class _Cells(NamedTuple):
    """Turbines by cell: those of cell ``c`` are ``member[first[c]:first[c + 1]]``.

    The cell of turbine ``i`` is ``row[i] * columns + column[i]``. Without columns there are no cells.
    """

    columns: int
    rows: int
    column: IntArray
    row: IntArray
    first: IntArray
    member: IntArray


@scalar
def near_pairs(x: FloatArray, y: FloatArray, movable: int, reach: float, few: tuple[int, int]) -> Near:
    """The pairs nearer than ``reach`` (m) of which one is among the first ``movable``.

    Some that are further by rounding may be among them. ``few``: see ``FEW``.
    """
    cells = _sorted_into_cells(x, y, reach, few)
    if cells.columns == 0:
        return _of_all_pairs(x, y, movable, reach)
    first, last = np.empty(movable, np.int64), np.empty(movable, np.int64)
    room = 0
    for i in range(movable):
        first[i] = last[i] = room
        for r in range(max(cells.row[i] - 1, 0), min(cells.row[i] + 2, cells.rows)):
            begin, end = _members(cells, r, cells.column[i])
            room += end - begin
    other = np.empty(room, np.uint32)
    most = reach * reach * ROUNDING
    # Each turbine in turn is added to the lists of those before it, so that all lists are ascending.
    for j in range(x.size):
        for r in range(max(cells.row[j] - 1, 0), min(cells.row[j] + 2, cells.rows)):
            begin, end = _members(cells, r, cells.column[j])
            for m in range(begin, end):
                i = cells.member[m]
                if i < min(j, movable) and _square(x, y, i, j) <= most:
                    other[last[i]] = j
                    last[i] += 1
    return Near(first, last, other)


@scalar
def _square(x: FloatArray, y: FloatArray, i: int, j: int) -> float:
    dx, dy = float(x[i] - x[j]), float(y[i] - y[j])
    return dx * dx + dy * dy


@scalar
def _of_all_pairs(x: FloatArray, y: FloatArray, movable: int, reach: float) -> Near:
    first, last = np.empty(movable, np.int64), np.empty(movable, np.int64)
    other = np.empty(movable * x.size + 1, np.uint32)
    most = reach * reach * ROUNDING
    count = 0
    for i in range(movable):
        first[i] = count
        for j in range(i + 1, x.size):
            other[count] = j
            count += _square(x, y, i, j) <= most
        last[i] = count
    return Near(first, last, other)


@scalar
def _members(cells: _Cells, row: int, column: int) -> tuple[int, int]:
    """Where the members of three cells side by side begin and end; they are next to each other in the list."""
    before = row * cells.columns
    return (
        cells.first[before + max(column - 1, 0)],
        cells.first[before + min(column + 2, cells.columns)],
    )


@scalar
def _sorted_into_cells(x: FloatArray, y: FloatArray, reach: float, few: tuple[int, int]) -> _Cells:
    """The cells for distances below ``reach`` (m): about as many as turbines at most, however far these stand apart."""
    n = x.size
    west = south = inf
    east = north = -inf
    for i in range(n):
        west, east = min(west, x[i]), max(east, x[i])
        south, north = min(south, y[i]), max(north, y[i])
    wide, high = east - west, north - south
    columns = rows = 0
    per_metre = 0.0
    if n > few[0] and reach > 0.0 and wide < inf and high < inf:
        per_metre = 1.0 / max(reach * ROUNDING, max(wide, high) / n, sqrt(wide) * sqrt(high / n))
        columns, rows = int(wide * per_metre) + 1, int(high * per_metre) + 1
    if columns * rows <= few[1]:
        nothing = np.empty(0, np.int64)
        return _Cells(0, 0, nothing, nothing, nothing, nothing)
    column, row = np.empty(n, np.int64), np.empty(n, np.int64)
    first, member = np.zeros(columns * rows + 1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        column[i] = min(max(int((x[i] - west) * per_metre), 0), columns - 1)
        row[i] = min(max(int((y[i] - south) * per_metre), 0), rows - 1)
        first[row[i] * columns + column[i]] += 1
    for c in range(columns * rows):
        first[c + 1] += first[c]
    for i in range(n):
        c = row[i] * columns + column[i]
        first[c] -= 1
        member[first[c]] = i
    return _Cells(columns, rows, column, row, first, member)


ROOM_M = -1.0
"""Pairs with more room to spare than this are not looked for."""


@kernel("spacing")
def worst_pair(
    x: FloatArray, y: FloatArray, need: FloatArray, movable: int, few: tuple[int, int] = FEW
) -> float:
    """The largest shortfall (m) of the distance of a pair below the mean of what its two need.

    Pairs of which neither is among the first ``movable`` do not count. Negative: all pairs have room to
    spare, 1 m at least if it is -1.
    """
    most = 0.0
    for i in range(x.size):
        most = max(most, need[i])
    reach = most - ROOM_M
    near = near_pairs(x, y, movable, reach, few)
    worst = ROOM_M
    for i in range(movable):
        for p in range(near.first[i], near.last[i]):
            j = near.other[p]
            dx, dy = x[i] - x[j], y[i] - y[j]
            least = 0.5 * (need[i] + need[j])
            square = dx * dx + dy * dy
            if square < (least - worst) * (least - worst):
                worst = max(worst, least - sqrt(square))
    return worst
