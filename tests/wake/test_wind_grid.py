"""What a grid of local wind accepts, and what it says of what it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vindeby.errors import ArgumentError
from vindeby.wake import GriddedSite, TimeSeriesSite, Turbine, UniformSite, WindFarm, WindGrid

X, Y = [0.0, 100.0, 300.0], [0.0, 50.0]
ONES = np.ones((3, 2))
WEIBULL = {"weibull_a": 9.0, "weibull_k": 2.0, "sector_frequency": 1.0}

BROKEN: list[tuple[dict[str, Any], str]] = [
    ({}, "at least one quantity: speedup, turning"),
    ({"x": [0.0], "speedup": 1.0}, r"x must be a list of at least 2 numbers, not of shape \(1,\)"),
    ({"x": [0.0, 100.0, 90.0], "speedup": ONES}, "x must increase, but 100 is followed by 90"),
    ({"y": [0.0, np.nan], "speedup": ONES}, r"y\[1\] is nan; it must be a finite number"),
    ({"height": [50.0, 50.0], "speedup": ONES}, "height must increase, but 50 is followed by 50"),
    (
        {"direction": [45.0, 225.0], "speedup": ONES},
        r"beginning with 0, not \[45.0, 225.0\]; 2 sectors are 180",
    ),
    ({"direction": [0.0, 90.0, 200.0], "speedup": ONES}, "equal sectors"),
    (
        {"speedup": ONES.T},
        r"speedup has shape \(2, 3\); with these axes it must be a number, \(3, 2\) over x, y",
    ),
    (
        {"speedup": np.full((3, 2), -0.5)},
        r"speedup\[0, 0\] is -0.5; it must be a finite number in \[0, 100\]",
    ),
    (
        {"turbulence_intensity": np.full((3, 2), 12.0)},
        r"turbulence_intensity\[0, 0\] is 12.0; it must be a finite number in \[0, 5\]",
    ),
    ({"speedup": "fast"}, "speedup must be numbers"),
    ({"speedup": 1.0, "weibull_a": 9.0}, "weibull_k and sector_frequency is missing: give all three or none"),
    (
        {"height": [50.0, 90.0], "direction": [0.0, 180.0], "speedup": np.ones((3, 2, 2))},
        r"speedup of shape \(3, 2, 2\) could be over height or over direction",
    ),
    (
        {"direction": [0.0, 180.0, 360.0], "speedup": [1.0, 1.1, 1.2]},
        "speedup differs between the directions 0 and 360",
    ),
]


@pytest.mark.parametrize(("given", "message"), BROKEN)
def test_what_is_wrong_with_a_grid_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        WindGrid(**{"x": X, "y": Y, **given})


def test_a_direction_of_360_may_repeat_the_first() -> None:
    grid = WindGrid(X, Y, direction=[0.0, 180.0, 360.0], speedup=np.ones((3, 2, 3)), turning=[1.0, 2.0, 1.0])
    assert grid.direction is not None
    assert grid.direction.tolist() == [0.0, 180.0]
    assert grid.speedup.shape == (3, 2, 1, 2)
    assert grid.turning.shape == (1, 1, 1, 2)
    assert repr(grid) == "<WindGrid: speedup, turning; 3 x 2 x 2 points, 0.3 km x 0.05 km>"


def test_what_is_wrong_with_a_gridded_site_is_said() -> None:
    grid = WindGrid(X, Y, speedup=ONES)
    with pytest.raises(ArgumentError, match="interpolation must be 'linear' or 'nearest', not 'cubic'"):
        GriddedSite(UniformSite(), grid, "cubic")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="turned_wakes needs turning"):
        GriddedSite(UniformSite(), grid, turned_wakes=True)
    with pytest.raises(ArgumentError, match="not a gridded one"):
        GriddedSite(GriddedSite(UniformSite(), grid), grid)
    series = TimeSeriesSite([8.0, 9.0], [10.0, 20.0])
    with pytest.raises(ArgumentError, match="a time series has its own weights"):
        GriddedSite(series, WindGrid(X, Y, **WEIBULL)).states()


def test_a_hub_outside_the_heights_of_the_grid_is_refused() -> None:
    grid = WindGrid(X, Y, height=[50.0, 90.0], speedup=np.ones((3, 2, 2)))
    turbine = Turbine.generic("tall", 10.0, 178.0, 119.0)
    with pytest.raises(ArgumentError, match=r"hub height 119 m is outside the grid .* from 50 to 90 m"):
        WindFarm(GriddedSite(UniformSite(), grid), turbine, "jensen")


def test_turbulence_of_zero_anywhere_is_refused_by_models_that_need_it() -> None:
    calm = ONES * 0.1
    calm[1, 1] = 0.0
    site = GriddedSite(UniformSite(), WindGrid(X, Y, turbulence_intensity=calm))
    with pytest.raises(ArgumentError, match="needs a turbulence intensity above 0"):
        WindFarm(site, Turbine.generic("ten", 10.0, 178.0, 119.0), "nygaard-2022")
