"""The cost of foundations, fixed cables and area, compiled: with the gradient, and for a move of one turbine.

The same bilinear depths, tables and polynomials as in ``economy``, for one place at a time: in a small farm, arrays
would take as long as the energy.
"""

from math import hypot
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.valuation import Valuation
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.loops.local_wind import step_of


class PlaceCosts(NamedTuple):
    """The data of costs by position, relative to an origin; ``factor`` converts costs to the energies of moves.

    ``x``, ``y`` and ``depth`` are the grid of depths, empty without foundations; ``depths`` and ``numbers`` as in
    ``Foundation``. Cables at turbine ``i`` are those from ``first[i]`` to ``first[i + 1]``: their ``other`` end (``i``:
    a turbine, ``-1 - s``: a substation) and what a metre costs (``eur_per_m``); without cables ``first`` is empty.
    ``detours`` is what the detours of all cables cost (EUR). The convex hull of the first ``turbines`` costs
    ``eur_per_m2``.
    """

    factor: float = 0.0
    x: FloatArray = np.empty(0)
    y: FloatArray = np.empty(0)
    depth: FloatArray = np.empty((0, 0))
    depths: FloatArray = np.empty(0)
    numbers: FloatArray = np.empty(0)
    first: IntArray = np.empty(0, np.int64)
    other: IntArray = np.empty(0, np.int64)
    eur_per_m: FloatArray = np.empty(0)
    substations: FloatArray = np.empty((0, 0))
    detours: float = 0.0
    turbines: int = 0
    eur_per_m2: float = 0.0


def place_costs(valuation: Valuation | None, turbines: int, origin: FloatArray, unit: float) -> PlaceCosts:
    """Return the costs of a farm of so many turbines for its moves, whose energies are GWh times ``unit``."""
    if valuation is None:
        return PlaceCosts()
    factor = unit * valuation.gwh_per_eur * valuation.costs.recovery
    costs = PlaceCosts(factor, turbines=turbines, eur_per_m2=valuation.eur_per_m2)
    if (foundation := valuation.costs.foundation) is not None:
        x, y = foundation.grid.x - origin[0], foundation.grid.y - origin[1]
        costs = costs._replace(x=x, y=y, depth=foundation.grid.depth)
        costs = costs._replace(depths=foundation.depths, numbers=foundation.numbers)
    if (tree := valuation.tree) is None:
        return costs
    here, there = np.concatenate([tree.ends, tree.ends[:, ::-1]]).T
    order = np.argsort(here, kind="stable")
    order = order[here[order] >= 0]
    return costs._replace(
        first=np.searchsorted(here[order], np.arange(turbines + 1)),
        other=there[order],
        eur_per_m=np.tile(tree.eur_per_m, 2)[order],
        substations=np.ascontiguousarray(tree.substations - origin),
        detours=float(tree.eur_per_m @ tree.detour_m),
    )


@scalar
def _foundation(costs, px, py):
    """Return the cost of a foundation at a position (EUR), and its slopes to the east and to the north."""
    i, j = step_of(costs.x, px), step_of(costs.y, py)
    width, height = costs.x[i + 1] - costs.x[i], costs.y[j + 1] - costs.y[j]
    right, up = (px - costs.x[i]) / width, (py - costs.y[j]) / height
    on_south = costs.depth[i + 1, j] - costs.depth[i, j]
    on_north = costs.depth[i + 1, j + 1] - costs.depth[i, j + 1]
    below, above = costs.depth[i, j] + right * on_south, costs.depth[i, j + 1] + right * on_north
    depth, depths, numbers = below + up * (above - below), costs.depths, costs.numbers
    eur = slope = 0.0
    if depths.size > 0:
        k = step_of(depths, depth)
        slope = (numbers[k + 1] - numbers[k]) / (depths[k + 1] - depths[k])
        within = min(max(depth, depths[0]), depths[depths.size - 1])
        eur = numbers[k] + slope * (within - depths[k])
        slope = slope if within == depth else 0.0
    else:
        for k in range(numbers.size - 1, -1, -1):
            eur, slope = eur * depth + numbers[k], slope * depth + eur
    return eur, slope * (on_south + up * (on_north - on_south)) / width, slope * (above - below) / height


@scalar
def _other_end(costs, x, y, e):
    j = costs.other[e]
    if j >= 0:
        return x[j], y[j]
    return costs.substations[-1 - j, 0], costs.substations[-1 - j, 1]


@kernel(counts_references=False)
def _hull_area(x, y, count, slope, gradient):
    """Return the hull area (m2) of the first turbines; add ``slope`` times its gradient unless that is 0.

    Its corners are found one after the other, counter-clockwise (R. A. Jarvis, Information Processing Letters 2 (1973)
    18), first eastwards and then westwards: where turbines stand almost in a line, rounding cannot end that too early.
    """
    first = 0
    for i in range(1, count):
        if x[i] < x[first] or (x[i] == x[first] and y[i] < y[first]):
            first = i
    twice, a = 0.0, first
    for onward in (1.0, -1.0):
        for _ in range(count):
            b, east, north = a, 0.0, 0.0
            for i in range(count):
                right, up = onward * (x[i] - x[a]), onward * (y[i] - y[a])
                turn = east * up - north * right
                outside = turn < 0.0 or (turn == 0.0 and right + abs(up) > east + abs(north))
                if outside and (right > 0.0 or (right == 0.0 and up > 0.0)):
                    b, east, north = i, right, up
            if b == a:
                break
            twice += (x[a] - x[first]) * (y[b] - y[first]) - (x[b] - x[first]) * (y[a] - y[first])
            if slope > 0.0:
                gradient[0, a] += 0.5 * slope * y[b]
                gradient[1, a] -= 0.5 * slope * x[b]
                gradient[0, b] -= 0.5 * slope * y[a]
                gradient[1, b] += 0.5 * slope * x[a]
            a = b
    return 0.5 * twice


@kernel(counts_references=False, inline=True)
def no_change(costs, x, y, i, px, py):
    return 0.0


@kernel(counts_references=False, inline=True)
def change_of_cost(costs, x, y, i, px, py):
    """Return the rise of the cost if turbine ``i`` of a layout moves to a position."""
    change = 0.0
    if costs.x.size > 0:
        change += _foundation(costs, px, py)[0] - _foundation(costs, x[i], y[i])[0]
    if costs.first.size > 0:
        for e in range(costs.first[i], costs.first[i + 1]):
            end_x, end_y = _other_end(costs, x, y, e)
            longer = hypot(px - end_x, py - end_y) - hypot(x[i] - end_x, y[i] - end_y)
            change += costs.eur_per_m[e] * longer
    if costs.eur_per_m2 > 0.0:
        before, was_x, was_y = _hull_area(x, y, costs.turbines, 0.0, costs.depth), x[i], y[i]
        x[i], y[i] = px, py
        change += costs.eur_per_m2 * (_hull_area(x, y, costs.turbines, 0.0, costs.depth) - before)
        x[i], y[i] = was_x, was_y
    return costs.factor * change


@kernel(counts_references=False)
def cost_and_gradient(costs, x, y, gradient):
    """Return the cost of foundations, cables and area; add its gradient per metre to ``gradient`` (2, turbines)."""
    total = costs.detours
    if costs.eur_per_m2 > 0.0:
        slope = costs.factor * costs.eur_per_m2
        total += costs.eur_per_m2 * _hull_area(x, y, costs.turbines, slope, gradient)
    for i in range(x.size):
        if costs.x.size > 0:
            eur, east, north = _foundation(costs, x[i], y[i])
            total += eur
            gradient[0, i] += costs.factor * east
            gradient[1, i] += costs.factor * north
        if costs.first.size > 0:
            for e in range(costs.first[i], costs.first[i + 1]):
                end_x, end_y = _other_end(costs, x, y, e)
                length = hypot(x[i] - end_x, y[i] - end_y)
                # Each end of a cable between two turbines has its half of it.
                total += (0.5 if costs.other[e] >= 0 else 1.0) * costs.eur_per_m[e] * length
                if length > 0.0:
                    pull = costs.factor * costs.eur_per_m[e] / length
                    gradient[0, i] += pull * (x[i] - end_x)
                    gradient[1, i] += pull * (y[i] - end_y)
    return costs.factor * total
