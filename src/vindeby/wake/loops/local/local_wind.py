"""The free wind at a place, as the compiled loops read it from a grid.

``LocalWind`` is ``wind.Wind`` with a grid. For each turbine type the quantities are kept at its hub height, so that
a place has four points of the grid around it and a direction one or two sectors. ``local_rows`` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError
from vindeby.wake.loops.wind import wind_of
from vindeby.wake.sites.gridded_site import GriddedSite
from vindeby.wake.sites.site import Interpolation, WindStates, _direction_bin, _speed_edges
from vindeby.wake.sites.wind_grid import WindGrid

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


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


class LocalWind(NamedTuple):
    """``Wind``, and the grid of what is local."""

    cosine: FloatArray
    sine: FloatArray
    first: IntArray
    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray
    most: int
    grid: LocalGrid


def local_wind_of(site: GriddedSite, states: WindStates, heights: Sequence[float]) -> LocalWind:
    """Pack the wind for the loops; ``heights`` (m) are the hub heights of the turbine types."""
    grid, wind = site.grid, wind_of(states)
    sectors = 1 if grid.direction is None else len(grid.direction)
    sector, share = _around(states.direction, sectors, site.interpolation)
    linear_sector, linear_share = _around(states.direction, sectors, "linear")

    def packed(name: str) -> FloatArray:
        if getattr(grid, name) is None:
            return np.empty((0, 0, 0, 0))
        return _at_heights(grid, name, heights, site.position_interpolation, sectors)

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
        turbulence=_at_heights(grid, "turbulence_intensity", heights, "linear", sectors)
        if grid.turbulence_intensity is not None
        else np.empty((0, 0, 0, 0)),
        edges=_speed_edges(states.speed[: states.shape[1]]) if grid.has_weibull else np.empty(0),
        frequency_share=sectors / 360.0 * _direction_bin(states.direction),
    )
    return LocalWind(*wind, packed_grid)


def moved_grid(wind: LocalWind, origin: Sequence[float] | FloatArray) -> LocalWind:
    """The same wind for places that are given relative to this origin."""
    grid = wind.grid
    return wind._replace(grid=grid._replace(x=grid.x - origin[0], y=grid.y - origin[1]))


def _around(directions: FloatArray, sectors: int, how: Interpolation) -> tuple[IntArray, FloatArray]:
    """By direction, the sectors before and after it and the share of the latter."""
    place = np.mod(directions, 360.0) / (360.0 / sectors)
    if how == "nearest":
        place = np.floor(place + 0.5)
    before = np.floor(place)
    pair = np.stack([before, before + 1.0], axis=1).astype(np.int64) % sectors
    return pair, np.asarray(place - before, np.float64)


def _at_heights(
    grid: WindGrid, name: str, heights: Sequence[float], how: Interpolation, sectors: int
) -> FloatArray:
    """A quantity at these heights, over (heights, x, y, sectors)."""
    values = grid.over_all_axes(name)
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
    """The layer of the grid below a height, and the share of the next one."""
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
