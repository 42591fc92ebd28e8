"""What the move of one turbine changes in the cost of a layout, compiled: its foundation, and the kept cables at it.

The same bilinear depths, tables and polynomials as in ``economy``, for one place at a time.
"""

from math import hypot
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.valuation import Valuation
from vindeby.wake.compiling.compiled import kernel, scalar


class PlaceCosts(NamedTuple):
    """Places relative to an origin; all costs times ``factor`` are in the unit of the energies of moves.

    ``x``, ``y`` and ``depth`` are the grid of depths, empty without foundations; ``depths`` and ``numbers`` as in
    ``Foundation``. Cables at turbine ``i`` are those from ``first[i]`` to ``first[i + 1]``: their ``other`` end (``i``:
    a turbine, ``-1 - s``: a substation) and what a metre costs (``eur_per_m``); without cables ``first`` is empty.
    """

    factor: float
    x: FloatArray
    y: FloatArray
    depth: FloatArray
    depths: FloatArray
    numbers: FloatArray
    first: IntArray
    other: IntArray
    eur_per_m: FloatArray
    substations: FloatArray


def place_costs(valuation: Valuation | None, turbines: int, origin: FloatArray, unit: float) -> PlaceCosts:
    """The costs of a farm of so many turbines for its moves, whose energies are GWh times ``unit``."""
    nothing, none = np.empty(0), np.empty(0, np.int64)
    if valuation is None:
        flat = np.empty((0, 0))
        return PlaceCosts(
            0.0, nothing, nothing, flat, nothing, nothing, none, none, nothing, np.empty((0, 2))
        )
    foundation, tree = valuation.costs.foundation, valuation.tree
    ground = (nothing, nothing, np.empty((0, 0)), nothing, nothing)
    if foundation is not None:
        grid = foundation.grid
        ground = (grid.x - origin[0], grid.y - origin[1], grid.depth, foundation.depths, foundation.numbers)
    cables = (none, none, nothing, np.empty((0, 2)))
    if tree is not None:
        here, there = np.concatenate([tree.ends, tree.ends[:, ::-1]]).T
        order = np.argsort(here, kind="stable")
        order = order[here[order] >= 0]
        first = np.searchsorted(here[order], np.arange(turbines + 1))
        rates = np.tile(tree.eur_per_m, 2)[order]
        cables = (first, there[order], rates, np.ascontiguousarray(tree.substations - origin))
    return PlaceCosts(unit * valuation.gwh_per_eur * valuation.costs.recovery, *ground, *cables)


@scalar
def _step_of(axis, value):
    """The step of an axis that a value is in; the first or the last beyond its ends."""
    low, high = 0, axis.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if axis[middle] <= value:
            low = middle
        else:
            high = middle
    return low


@scalar
def foundation_eur(costs, px, py):
    """The cost of a foundation at a place."""
    i, j = _step_of(costs.x, px), _step_of(costs.y, py)
    right = (px - costs.x[i]) / (costs.x[i + 1] - costs.x[i])
    up = (py - costs.y[j]) / (costs.y[j + 1] - costs.y[j])
    below = costs.depth[i, j] + right * (costs.depth[i + 1, j] - costs.depth[i, j])
    above = costs.depth[i, j + 1] + right * (costs.depth[i + 1, j + 1] - costs.depth[i, j + 1])
    depth = below + up * (above - below)
    depths, numbers = costs.depths, costs.numbers
    if depths.size > 0:
        depth = min(max(depth, depths[0]), depths[depths.size - 1])
        k = _step_of(depths, depth)
        return numbers[k] + (depth - depths[k]) * (numbers[k + 1] - numbers[k]) / (depths[k + 1] - depths[k])
    eur = 0.0
    for k in range(numbers.size - 1, -1, -1):
        eur = eur * depth + numbers[k]
    return eur


@kernel(counts_references=False, inline=True)
def no_change(costs, x, y, i, px, py):
    """Where nothing costs anything."""
    return 0.0


@kernel(counts_references=False, inline=True)
def change_of_cost(costs, x, y, i, px, py):
    """By how much the cost rises if turbine ``i`` of a layout moves to a place."""
    change = 0.0
    if costs.x.size > 0:
        change += foundation_eur(costs, px, py) - foundation_eur(costs, x[i], y[i])
    if costs.first.size > 0:
        for e in range(costs.first[i], costs.first[i + 1]):
            j = costs.other[e]
            if j >= 0:
                end_x, end_y = x[j], y[j]
            else:
                end_x, end_y = costs.substations[-1 - j, 0], costs.substations[-1 - j, 1]
            longer = hypot(px - end_x, py - end_y) - hypot(x[i] - end_x, y[i] - end_y)
            change += costs.eur_per_m[e] * longer
    return costs.factor * change
