"""The compiled loops of the quick judge: on a lattice, wakes depend only on rows and columns between two turbines.

For each wind direction the offsets (rows, columns) are listed at which a wake is noticed, with what it adds to a sum:
a few for each turbine that stands upwind, where pairs are many times as many. Each is then added to all turbines that
have another one at this offset, a row at a time. Thrust is that of the free wind, so that no order is needed; power is
read from a table by what share of the wind the wakes take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.superposition import superposition_of

__all__ = [
    "POINTS",
    "LatticeGrid",
    "QuickWind",
    "lattice_grid",
    "make_deficit_at",
    "power_left",
    "quick_energy",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

POINTS = 257
"""Of each table of power, from no wake at all to no wind at all."""
NOTICED = 1e-3
"""Wakes that take less of the wind than this are left out: with them, lattices hardly change places."""
ABREAST = 1e-6
"""Turbines less than so many diameters downwind of another stand beside it."""


class QuickWind(NamedTuple):
    """By direction: where it blows from, the thrust coefficient and the turbulence intensity that make the wakes.

    ``power`` (directions, ``POINTS``) is the mean power (W) by the share of the wind that wakes take.
    """

    cosine: FloatArray
    sine: FloatArray
    thrust: FloatArray
    turbulence: FloatArray
    power: FloatArray


class LatticeGrid(NamedTuple):
    """A lattice's points in their rows and columns, counted from 0; then room for the wakes of one direction.

    ``there`` (rows x columns) is 1 where a turbine stands, from column ``first`` to ``last`` of each row.
    ``offset_row``, ``offset_column`` and ``wake`` list offsets, ``summed`` (rows x columns) is the sum of wakes.
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
    wake: FloatArray


def lattice_grid(row: IntArray, column: IntArray) -> LatticeGrid:
    """Sort points into their rows."""
    row, column = row - row.min(), column - column.min()
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    there = np.zeros(rows * columns)
    there[row * columns + column] = 1.0
    first, last = np.full(rows, columns), np.full(rows, -1)
    np.minimum.at(first, row, column)
    np.maximum.at(last, row, column)
    offsets = (2 * rows - 1) * (2 * columns - 1)
    whole = np.empty((2, offsets), np.int64)
    return LatticeGrid(
        row, column, first, last, columns, there, np.empty_like(there), whole[0], whole[1], np.empty(offsets)
    )


@scalar
def _sum_wakes(grid, many):  # type: ignore[no-untyped-def]
    """Add up the wakes of the offsets listed, for every turbine."""
    grid.summed[:] = 0.0
    rows, columns = grid.first.size, grid.columns
    for o in range(many):
        r, c, wake = grid.offset_row[o], grid.offset_column[o], grid.wake[o]
        for target in range(max(0, r), min(rows, rows + r)):
            source = target - r
            begin = max(grid.first[target], grid.first[source] + c)
            end = min(grid.last[target], grid.last[source] + c) + 1
            if begin < end:
                here = grid.summed[target * columns + begin : target * columns + end]
                cast = grid.there[source * columns + begin - c : source * columns + end - c]
                for k in range(end - begin):
                    here[k] += wake * cast[k]


@scalar
def power_left(table, share):  # type: ignore[no-untyped-def]
    """The power where wakes take this share of the wind; straight lines between the points."""
    at = min(share, 1.0) * (POINTS - 1)
    k = min(int(at), POINTS - 2)
    return table[k] + (at - k) * (table[k + 1] - table[k])


def make_deficit_at(model: WakeModel) -> Callable[..., float]:
    """Make the share of the wind that a turbine takes at one of the same size, so far downwind and aside."""
    deficit, reach = model.deficit, model.reach

    @scalar
    def deficit_at(data, diameter, height, thrust, turbulence, far, aside):  # type: ignore[no-untyped-def]
        if far <= ABREAST * diameter or aside >= reach(data, far, diameter, diameter, thrust, turbulence):
            return 0.0
        return deficit(data, far, aside, 0.0, 2.0 * height, diameter, diameter, thrust, turbulence)

    made: Callable[..., float] = deficit_at
    return made


def _make_list_offsets(model: WakeModel) -> Callable[..., int]:
    deficit_at, term = make_deficit_at(model), superposition_of(model).term

    @scalar
    def list_offsets(data, diameter, height, wind, d, vectors, grid):  # type: ignore[no-untyped-def]
        """The offsets from a turbine to those that notice its wake; returns how many."""
        along_u, across_u = turn(wind.cosine[d], wind.sine[d], vectors[0], vectors[1])
        along_v, across_v = turn(wind.cosine[d], wind.sine[d], vectors[2], vectors[3])
        thrust, turbulence, rows, many = wind.thrust[d], wind.turbulence[d], grid.first.size, 0
        for r in range(1 - rows, rows):
            for c in range(1 - grid.columns, grid.columns):
                far, aside = c * along_u + r * along_v, abs(c * across_u + r * across_v)
                value = deficit_at(data, diameter, height, thrust, turbulence, far, aside)
                if value >= NOTICED:
                    grid.offset_row[many], grid.offset_column[many] = r, c
                    grid.wake[many] = term(value)
                    many += 1
        return many

    return list_offsets


@once_per_model
def quick_energy(model: WakeModel) -> Callable[..., None]:
    """Mean power (W) of every turbine of a lattice, or, with ``losses``, what all would lose without it."""
    list_offsets, taken = _make_list_offsets(model), superposition_of(model).taken

    @scalar
    def take_savings(grid, table, many, out):  # type: ignore[no-untyped-def]
        """Take from each turbine's worth what the others would gain without it."""
        rows, columns = grid.first.size, grid.columns
        for i in range(grid.row.size):
            for o in range(many):
                r, c = grid.row[i] + grid.offset_row[o], grid.column[i] + grid.offset_column[o]
                if 0 <= r < rows and 0 <= c < columns and grid.there[r * columns + c] > 0.0:
                    summed = grid.summed[r * columns + c]
                    left = max(summed - grid.wake[o], 0.0)
                    out[i] -= power_left(table, taken(left)) - power_left(table, taken(summed))

    @kernel(model.identity, counts_references=False)
    def quick(data, diameter, height, wind, vectors, grid, losses, out):  # type: ignore[no-untyped-def]
        out[:] = 0.0
        for d in range(wind.cosine.size):
            many = list_offsets(data, diameter, height, wind, d, vectors, grid)
            _sum_wakes(grid, many)
            table = wind.power[d]
            for i in range(grid.row.size):
                out[i] += power_left(table, taken(grid.summed[grid.row[i] * grid.columns + grid.column[i]]))
            if losses:
                take_savings(grid, table, many, out)

    compiled: Callable[..., None] = quick
    return compiled
