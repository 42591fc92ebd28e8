"""A small campaign with costs and water depths, and files of depths, for tests to change."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.campaign.examples import SMALL

COSTS = """\
costs:
  discount: 0.0661
  years: 25
  turbine: {capex: 8.9e+7, opex: {five: 2.0e+6, tabulated: 1.0e+6}}
  foundation:
    depth: {x: [-500, 10000], y: [-9500, 9000], values: [[20, 25], [30, 40]], least: 10, most: 60}
    mass: [[10, 5.0e+5], [60, 2.0e+6]]
    price_per_kg: 3.36
    fixed: 1.0e+6
  fixed: 1.2e+9
objective: lcoe
"""
COSTED = SMALL + COSTS
DEPTH = "{x: [-500, 10000], y: [-9500, 9000], values: [[20, 25], [30, 40]], least: 10, most: 60}"
X, Y = np.arange(-1000.0, 10001.0, 1000.0), np.arange(-10000.0, 10001.0, 2000.0)
DEPTHS = 20.0 + X[:, None] / 1000.0 + Y[None, :] / 2000.0
"""Metres over (x, y), larger than the farms."""


def write_table(path: Path, header: str = "x,y,depth", sign: float = 1.0) -> None:
    """The depths as a table."""
    rows = [f"{x},{y},{sign * DEPTHS[i, j]!r}" for i, x in enumerate(X) for j, y in enumerate(Y)]
    path.write_text("\n".join([header, *(row.replace("np.float64(", "").replace(")", "") for row in rows)]))


def write_netcdf(
    path: Path,
    names: dict[str, float],
    axes: tuple[str, str] = ("y", "x"),
    axis_units: str = "m",
    gap: tuple[int, int] | None = None,
    **attributes: str,
) -> None:
    """The depths, times a number, as each of these variables of a netCDF file; rows of y, north first."""
    import xarray

    depths = DEPTHS.copy()
    if gap is not None:
        depths[gap] = np.nan
    variables = {name: (axes, sign * depths.T[::-1], attributes) for name, sign in names.items()}
    units = {"units": axis_units}
    coords = {axes[0]: (axes[0], Y[::-1], units), axes[1]: (axes[1], X, units)}
    xarray.Dataset(variables, coords=coords).to_netcdf(path, engine="h5netcdf")
