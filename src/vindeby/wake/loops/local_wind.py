"""The free wind at a position, as the compiled loops read it from a grid.

``LocalWind`` is ``wind.Wind`` with a grid. For each turbine type the quantities are kept at its hub height, so that
a place has four points of the grid around it and a direction one or two sectors.
``fill_row`` works out the free wind of one turbine in all wind speeds of a direction, and how it changes with x and y:
the slopes of a multilinear function, exact within each cell of the grid.
"""

from collections.abc import Sequence
from math import cos, exp, log, pi, sin
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.loops.wind import Wind, wind_of
from vindeby.wake.sites.gridded_site import GriddedSite, WindGrid
from vindeby.wake.sites.site import Interpolation, WindStates, around, direction_bin, speed_edges


class LocalGrid(NamedTuple):
    """A grid for the loops. Quantities are (types, x, y, sectors), or empty where they are not local.

    ``sector`` and ``share`` are by direction: the two sectors around it and the part of the second; turbulence has its
    own, since it is linear where others are not. ``edges`` are those of the bins of wind speed, ``frequency_share`` is
    what a sector's frequency is multiplied by for one direction.
    """

    x: FloatArray
    y: FloatArray
    nearest: bool
    sector: IntArray
    share: FloatArray
    turbulence_share: FloatArray
    turbulence_sector: IntArray
    speedup: FloatArray
    turning: FloatArray
    weibull_a: FloatArray
    weibull_k: FloatArray
    frequency: FloatArray
    turbulence: FloatArray
    edges: FloatArray
    frequency_share: float


class LocalWindArrays(NamedTuple):
    """The fields of ``Wind``, and the grid of local quantities."""

    cosine: FloatArray
    sine: FloatArray
    first: IntArray
    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray
    most: int
    grid: LocalGrid


def local_wind_of(site: GriddedSite, states: WindStates, heights: Sequence[float]) -> LocalWindArrays:
    """Pack the wind for the loops; ``heights`` (m) are the hub heights of the turbine types."""
    grid, wind = site.grid, wind_of(states)
    sectors = 1 if grid.direction is None else len(grid.direction)
    sector, share = around(states.direction, sectors, site.interpolation)
    linear_sector, linear_share = around(states.direction, sectors, "linear")

    def packed(name: str, how: Interpolation = site.position_interpolation) -> FloatArray:
        if getattr(grid, name) is None:
            return np.empty((0, 0, 0, 0))
        return _at_heights(grid, name, heights, how, sectors)

    turning = packed("turning")
    packed_grid = LocalGrid(
        x=grid.x,
        y=grid.y,
        nearest=site.position_interpolation == "nearest",
        sector=sector,
        share=share,
        turbulence_sector=linear_sector,
        turbulence_share=linear_share,
        speedup=packed("speedup"),
        turning=(turning + 180.0) % 360.0 - 180.0,
        weibull_a=packed("weibull_a"),
        weibull_k=packed("weibull_k"),
        frequency=packed("sector_frequency"),
        turbulence=packed("turbulence_intensity", "linear"),
        edges=speed_edges(states.speed[: states.shape[1]]) if grid.has_weibull else np.empty(0),
        frequency_share=sectors / 360.0 * direction_bin(states.direction),
    )
    return LocalWindArrays(*wind, packed_grid)


def wind_near(wind: Wind | LocalWindArrays, origin: Sequence[float] | FloatArray) -> Wind | LocalWindArrays:
    """Return the wind for positions relative to this origin."""
    if isinstance(wind, Wind):
        return wind
    grid = wind.grid
    return wind._replace(grid=grid._replace(x=grid.x - origin[0], y=grid.y - origin[1]))


def _at_heights(
    grid: WindGrid, name: str, heights: Sequence[float], how: Interpolation, sectors: int
) -> FloatArray:
    """Return a quantity at these heights, over (heights, x, y, sectors)."""
    values: FloatArray = getattr(grid, name)
    full = (len(grid.x), len(grid.y), values.shape[2], sectors)
    values = np.broadcast_to(values, full)
    layers = []
    for height in heights:
        if values.shape[2] == 1 and grid.height is None:
            layers.append(values[:, :, 0])
            continue
        low, share = _layer(grid, height, how)
        high = min(low + 1, values.shape[2] - 1)
        if values.shape[2] == 1:  # this quantity does not depend on height, though the grid has some
            low = high = 0
        below = values[:, :, low]
        layers.append(below if share == 0.0 else below * (1.0 - share) + values[:, :, high] * share)
    return np.ascontiguousarray(np.stack(layers))


def _layer(grid: WindGrid, height: float, how: Interpolation) -> tuple[int, float]:
    assert grid.height is not None
    levels = grid.height
    if not levels[0] <= height <= levels[-1]:
        raise ArgumentError(
            f"hub height {height:g} m is outside the grid of the local wind, which goes from {levels[0]:g} to "
            f"{levels[-1]:g} m; give a grid that holds this height"
        )
    low = min(int(np.searchsorted(levels, height, side="right")) - 1, max(len(levels) - 2, 0))
    share = 0.0 if len(levels) == 1 else float((height - levels[low]) / (levels[low + 1] - levels[low]))
    if how == "nearest":
        return low + int(share >= 0.5), 0.0
    return low, share


class LocalRows(NamedTuple):
    """The free wind of every turbine in one direction; by turbine and wind speed, or by turbine.

    ``speed``, ``weight``, ``turbulence`` and, for the turned wind, ``cosine`` and ``sine`` of the turning; then slopes
    with x and y: of the speedup, the weights, the turbulence intensity and the turning (radians).
    """

    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray
    cosine: FloatArray
    sine: FloatArray
    speedup_xy: FloatArray
    weight_x: FloatArray
    weight_y: FloatArray
    turbulence_xy: FloatArray
    turning_xy: FloatArray


def rows_for(n: int, most: int) -> LocalRows:
    return LocalRows(
        np.empty((n, most)), np.empty((n, most)), np.empty((n, most)), np.empty(n), np.empty(n),
        np.empty((n, 2)), np.empty((n, most)), np.empty((n, most)), np.empty((n, 2)), np.empty((n, 2)),
    )  # fmt: skip


new_rows = scalar(rows_for)
"""The compiled version of ``rows_for``, for use in loops."""


@scalar
def step_of(axis, at):
    """Return the interval of an axis that contains a coordinate; the first or the last beyond its ends."""
    low, high = 0, axis.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if axis[middle] <= at:
            low = middle
        else:
            high = middle
    return low


@scalar
def _cell(axis, at, nearest):
    """Return the index before a coordinate on an axis, the weight of the next point, and the weight's slope."""
    low = step_of(axis, at)
    per = 1.0 / (axis[low + 1] - axis[low])
    share = (at - axis[low]) * per
    if nearest:
        return low, 1.0 if share >= 0.5 else 0.0, 0.0
    return low, share, per


@scalar
def _between_points(values, i, j, s, across, up):
    """Return a quantity of one type and sector, and its slopes with the weights of both axes."""
    a, b, c, d = values[i, j, s], values[i + 1, j, s], values[i, j + 1, s], values[i + 1, j + 1, s]
    south, north = a + (b - a) * across, c + (d - c) * across
    of_across = (b - a) + ((d - c) - (b - a)) * up
    return south + (north - south) * up, of_across, north - south


@scalar
def _interpolated(values, sector, share, place):
    """Return a quantity and its slopes with x and y; ``place`` is the cell, its weights and their slopes."""
    i, j, across, up, per_x, per_y = place
    value, of_across, of_up = _between_points(values, i, j, sector[0], across, up)
    if share > 0.0:
        other, other_across, other_up = _between_points(values, i, j, sector[1], across, up)
        value += share * (other - value)
        of_across += share * (other_across - of_across)
        of_up += share * (other_up - of_up)
    return value, of_across * per_x, of_up * per_y


@scalar
def _below(edge, a, k):
    """Return the Weibull probability of a lower wind speed, and its slopes with scale and shape."""
    if edge <= 0.0:
        return 0.0, 0.0, 0.0
    ratio = edge / a
    power = ratio**k
    above = exp(-power)
    return 1.0 - above, -above * power * k / a, above * power * log(ratio)


@scalar
def _fill_weights(grid, d, t, place, weight, weight_x, weight_y):
    """Fill the probabilities of all wind speeds of a direction at a position, and their slopes with x and y."""
    sector, share = grid.sector[d], grid.share[d]
    a, a_x, a_y = _interpolated(grid.weibull_a[t], sector, share, place)
    k, k_x, k_y = _interpolated(grid.weibull_k[t], sector, share, place)
    f, f_x, f_y = _interpolated(grid.frequency[t], sector, share, place)
    f, f_x, f_y = f * grid.frequency_share, f_x * grid.frequency_share, f_y * grid.frequency_share
    low, low_a, low_k = _below(grid.edges[0], a, k)
    for n in range(weight.size):
        high, high_a, high_k = _below(grid.edges[n + 1], a, k)
        weight[n] = f * (high - low)
        of_a, of_k = f * (high_a - low_a), f * (high_k - low_k)
        weight_x[n] = f_x * (high - low) + of_a * a_x + of_k * k_x
        weight_y[n] = f_y * (high - low) + of_a * a_y + of_k * k_y
        low, low_a, low_k = high, high_a, high_k


@scalar
def _place(grid, x, y, nearest):
    """Return the grid cell of a position, the weights of the next points, and their slopes."""
    left, across, per_x = _cell(grid.x, x, nearest)
    lower, up, per_y = _cell(grid.y, y, nearest)
    return left, lower, across, up, per_x, per_y


@scalar
def _fill_turbulence(grid, d, t, x, y, turbulence, slopes):
    """Fill the turbulence at a position, always linear between points."""
    place = _place(grid, x, y, False)
    value, slopes[0], slopes[1] = _interpolated(
        grid.turbulence[t], grid.turbulence_sector[d], grid.turbulence_share[d], place
    )
    for k in range(turbulence.size):
        turbulence[k] = value


@scalar
def fill_row(wind, d, t, x, y, rows, i):
    """Work out the free wind of turbine ``i``, of type ``t``, in direction ``d``."""
    grid, first = wind.grid, wind.first[d]
    count = wind.first[d + 1] - first
    place, sector, share = _place(grid, x, y, grid.nearest), grid.sector[d], grid.share[d]
    speedup, angle = 1.0, 0.0
    for slopes in (rows.speedup_xy[i], rows.turbulence_xy[i], rows.turning_xy[i]):
        slopes[0] = slopes[1] = 0.0
    if grid.speedup.size > 0:
        speedup, rows.speedup_xy[i, 0], rows.speedup_xy[i, 1] = _interpolated(
            grid.speedup[t], sector, share, place
        )
    for k in range(count):
        rows.speed[i, k] = speedup * wind.speed[first + k]
        rows.weight[i, k] = wind.weight[first + k]
        rows.turbulence[i, k] = wind.turbulence[first + k]
        rows.weight_x[i, k] = rows.weight_y[i, k] = 0.0
    if grid.frequency.size > 0:
        _fill_weights(grid, d, t, place, rows.weight[i, :count], rows.weight_x[i], rows.weight_y[i])
    if grid.turbulence.size > 0:
        _fill_turbulence(grid, d, t, x, y, rows.turbulence[i, :count], rows.turbulence_xy[i])
    if grid.turning.size > 0:
        angle, of_x, of_y = _interpolated(grid.turning[t], sector, share, place)
        rows.turning_xy[i, 0], rows.turning_xy[i, 1] = of_x * (pi / 180.0), of_y * (pi / 180.0)
    rows.cosine[i], rows.sine[i] = cos(angle * (pi / 180.0)), sin(angle * (pi / 180.0))
