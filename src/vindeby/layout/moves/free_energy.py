"""What a turbine alone has at every place, tabulated: what ``carried_estimate`` knows of wind that is not the same.

Where the free wind differs from place to place, a move also gains, or loses, what a turbine without any wakes has more
at its new place. In all wind states together that is one number per place and type.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.local.local_rows import make_fill_row, new_rows
from vindeby.wake.loops.local.local_wind import LocalWind
from vindeby.wake.turbines.curves import TurbineArrays, curves_at

POINTS_PER_TRIAL, FEWEST_POINTS, MOST_POINTS = 0.002, 2**8, 2**14
"""And per turbine: a table takes little of the time of its trials."""


class FreeEnergy(NamedTuple):
    """``watts`` (types, points from west to east, from south to north): the mean power (W) without wakes.

    The first point is at ``west`` and ``south``; there are ``per_m`` points per metre.
    """

    watts: FloatArray
    west: float
    south: float
    per_m: float


def no_free_energy() -> FreeEnergy:
    """A table that tells nothing, for wind that is the same everywhere."""
    return FreeEnergy(np.zeros((1, 0, 0)), 0.0, 0.0, 0.0)


def free_energy_of(
    wind: LocalWind, machines: TurbineArrays, x: FloatArray, y: FloatArray, trials: int
) -> FreeEnergy:
    """A table for turbines in and around a layout, within the grid of the wind, as fine as pays for so many trials."""
    points = min(max(POINTS_PER_TRIAL * trials * len(x), FEWEST_POINTS), MOST_POINTS)
    (west, east), (south, north) = (_ends(at, axis) for at, axis in ((x, wind.grid.x), (y, wind.grid.y)))
    step = sqrt((east - west) * (north - south) / points)
    columns, rows = (int((end - begin) / step) + 2 for begin, end in ((west, east), (south, north)))
    watts = np.zeros((len(machines.diameter), columns, rows))
    _fill(wind, machines, west, south, step, watts)
    return FreeEnergy(watts, west, south, 1.0 / step)


def _ends(at: FloatArray, axis: FloatArray) -> tuple[float, float]:
    """The ends of a table: beyond those of a layout, but within the grid."""
    beyond = 0.25 * float(np.ptp(at)) + 1.0
    low, high = max(float(at.min()) - beyond, float(axis[0])), min(float(at.max()) + beyond, float(axis[-1]))
    return low, max(high, low + 1.0)


_FILL_ROW = make_fill_row(False)


@kernel("free energy")
def _fill(wind, machines, west, south, step, watts):
    rows = new_rows(1, wind.most)
    east, north = wind.grid.x[wind.grid.x.size - 1], wind.grid.y[wind.grid.y.size - 1]
    for t in range(watts.shape[0]):
        for column in range(watts.shape[1]):
            for row in range(watts.shape[2]):
                total = 0.0
                for d in range(wind.cosine.size):
                    # The last points may be beyond the grid, which has nothing to tell there.
                    _FILL_ROW(
                        wind, d, t, min(west + step * column, east), min(south + step * row, north), rows, 0
                    )
                    for k in range(wind.first[d + 1] - wind.first[d]):
                        total += rows.weight[0, k] * curves_at(machines, t, rows.speed[0, k])[0]
                watts[t, column, row] = total


@inlined
def free_watts_at(free, t, x, y):
    """The mean power (W) of a turbine alone; beyond the table, that at its edge."""
    table = free.watts[t]
    across = min(max((x - free.west) * free.per_m, 0.0), table.shape[0] - 1.000001)
    up = min(max((y - free.south) * free.per_m, 0.0), table.shape[1] - 1.000001)
    i, j = int(across), int(up)
    across, up = across - i, up - j
    south = table[i, j] + across * (table[i + 1, j] - table[i, j])
    north = table[i, j + 1] + across * (table[i + 1, j + 1] - table[i, j + 1])
    return south + up * (north - south)
