"""The compiled loops of the quick judge: on a lattice, wakes depend only on rows and columns between two turbines.

For each offset (rows, columns) the wind directions are listed in which a wake is noticed, with what it adds to a sum:
a few for each offset, where pairs of turbines are many times as many. Each is then added to all turbines that have
another one at this offset, a row at a time. Thrust is that of the free wind, so that no order is needed; power is read
from a table by what share of the wind the wakes take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.lattices.felt_wakes import make_list_felt, power_left
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.superposition import superposition_of

NOTICED = 1e-3
"""Wakes that take less of the wind than this are left out: with them, lattices hardly change places."""


class LatticeGrid(NamedTuple):
    """A lattice's points in their rows and columns, counted from 0; then room for wakes.

    ``there`` (rows x columns) is 1 where a turbine stands, from column ``first`` to ``last`` of each row.
    ``offset_row``, ``offset_column``, ``direction`` and ``wake`` list wakes, ``summed`` (directions, rows x columns) is
    their sum at each point.
    """

    row: IntArray
    column: IntArray
    first: IntArray
    last: IntArray
    columns: int
    there: FloatArray
    summed: FloatArray
    offset_row: IntArray
    offset_column: IntArray
    direction: IntArray
    wake: FloatArray


def lattice_grid(row: IntArray, column: IntArray, directions: int) -> LatticeGrid:
    """Sort points into their rows."""
    row, column = row - row.min(), column - column.min()
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    there = np.zeros(rows * columns)
    there[row * columns + column] = 1.0
    first, last = np.full(rows, columns), np.full(rows, -1)
    np.minimum.at(first, row, column)
    np.maximum.at(last, row, column)
    most = (2 * rows - 1) * (2 * columns - 1) * directions
    r, c, direction = np.empty((3, most), np.int64)
    summed = np.empty((directions, rows * columns))
    return LatticeGrid(row, column, first, last, columns, there, summed, r, c, direction, np.empty(most))


@scalar
def _add_wake(grid, r, c, wake, summed):
    """Add a wake to the sums of all turbines that have another one at this offset."""
    rows, columns = grid.first.size, grid.columns
    for target in range(max(0, r), min(rows, rows + r)):
        source = target - r
        begin = max(grid.first[target], grid.first[source] + c)
        end = min(grid.last[target], grid.last[source] + c) + 1
        if begin < end:
            here = summed[target * columns + begin : target * columns + end]
            cast = grid.there[source * columns + begin - c : source * columns + end - c]
            for k in range(end - begin):
                here[k] += wake * cast[k]


def _make_list_wakes(model: WakeModel) -> Callable[..., int]:
    list_felt, term = make_list_felt(model), superposition_of(model).term

    @scalar
    def list_wakes(data, diameter, height, wind, vectors, grid, felt):
        """List the wakes that turbines notice, by offset and direction; returns how many."""
        rows, columns, many = grid.first.size, grid.columns, 0
        for r in range(1 - rows, rows):
            for c in range(1 - columns, columns):
                if r == 0 and c == 0:
                    continue
                east, north = c * vectors[0] + r * vectors[2], c * vectors[1] + r * vectors[3]
                for f in range(list_felt(data, diameter, height, wind, east, north, felt)):
                    if felt.share[f] >= NOTICED:
                        grid.offset_row[many], grid.offset_column[many] = r, c
                        grid.direction[many], grid.wake[many] = felt.direction[f], term(felt.share[f])
                        many += 1
        return many

    return list_wakes


@once_per_model
def quick_energy(model: WakeModel) -> Callable[..., None]:
    """Mean power (W) of every turbine of a lattice, or, with ``losses``, what all would lose without it."""
    list_wakes, taken = _make_list_wakes(model), superposition_of(model).taken

    @scalar
    def take_savings(grid, o, table, summed, out):
        """Take from each turbine's worth what another would gain without one of its wakes."""
        rows, columns = grid.first.size, grid.columns
        for i in range(grid.row.size):
            r, c = grid.row[i] + grid.offset_row[o], grid.column[i] + grid.offset_column[o]
            if 0 <= r < rows and 0 <= c < columns and grid.there[r * columns + c] > 0.0:
                here = summed[r * columns + c]
                left = max(here - grid.wake[o], 0.0)
                out[i] -= power_left(table, taken(left)) - power_left(table, taken(here))

    @kernel(model.identity, counts_references=False)
    def quick(data, diameter, height, wind, vectors, grid, felt, losses, out):
        out[:] = 0.0
        grid.summed[:] = 0.0
        many = list_wakes(data, diameter, height, wind, vectors, grid, felt)
        for o in range(many):
            d = grid.direction[o]
            _add_wake(grid, grid.offset_row[o], grid.offset_column[o], grid.wake[o], grid.summed[d])
        for d in range(wind.direction.size):
            for i in range(grid.row.size):
                summed = grid.summed[d, grid.row[i] * grid.columns + grid.column[i]]
                out[i] += power_left(wind.power[d], taken(summed))
        if losses:
            for o in range(many):
                d = grid.direction[o]
                take_savings(grid, o, wind.power[d], grid.summed[d], out)

    compiled: Callable[..., None] = quick
    return compiled
