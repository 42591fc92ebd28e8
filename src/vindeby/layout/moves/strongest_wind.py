"""The strongest wind that blows anywhere, where it differs from place to place: for tables that hold at every place."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray
from vindeby.wake.loops.local.local_wind import LocalGrid, LocalWind
from vindeby.wake.loops.wind import Wind

SCALES, SHAPES = 16, 8
"""Weibull parameters, between the lowest and the highest of a grid, that probabilities are computed for."""


def strongest_wind(wind: Wind | LocalWind) -> Wind:
    """Wind states with the highest speed, probability and turbulence that each of them has anywhere.

    What is linear between points of the grid is highest at one of them. For Weibull distributions, which are not, it is
    the highest that any scale and shape give that lie within those of the grid.
    """
    if not isinstance(wind, LocalWind):
        return wind
    grid, speed, weight, turbulence = wind.grid, *map(np.array, (wind.speed, wind.weight, wind.turbulence))
    for d, (a, b) in enumerate(pairwise(wind.first)):
        if grid.speedup.size:
            speed[a:b] *= _at_points(grid.speedup, grid.sector[d], grid.share[d]).max()
        if grid.frequency.size:
            weight[a:b] = _highest_probability(grid, d)
        if grid.turbulence.size:
            here = _at_points(grid.turbulence, grid.turbulence_sector[d], grid.turbulence_share[d])
            turbulence[a:b] = here.max()
    return Wind(wind.cosine, wind.sine, wind.first, speed, weight, turbulence, wind.most)


def _at_points(values: FloatArray, sector: npt.NDArray[np.int64], share: float) -> FloatArray:
    """A quantity in one direction at all points of the grid."""
    here: FloatArray = values[..., sector[0]] * (1.0 - share) + values[..., sector[1]] * share
    return here


def _highest_probability(grid: LocalGrid, d: int) -> FloatArray:
    """Of every wind speed in one direction."""
    a, k, frequency = (
        _at_points(values, grid.sector[d], grid.share[d])
        for values in (grid.weibull_a, grid.weibull_k, grid.frequency)
    )
    scale = np.linspace(a.min(), a.max(), SCALES)[:, None, None]
    shape = np.linspace(k.min(), k.max(), SHAPES)[:, None]
    above = np.exp(-((np.maximum(grid.edges, 0.0) / scale) ** shape))
    highest: FloatArray = -np.diff(above, axis=2).min(axis=(0, 1))
    return frequency.max() * grid.frequency_share * highest
