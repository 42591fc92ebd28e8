"""What is combined with local wind: blockage, and models that do not say what becomes of wakes in it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.physics.gridded_sites import DIRECTIONS, SPEEDS, Local, positions
from tests.physics.test_gradient import central_differences
from tests.physics.test_local_wind import TABLE
from vindeby.errors import ArgumentError
from vindeby.wake import MODELS, GriddedSite, Turbine, UniformSite, WindFarm, WindGrid, model_named
from vindeby.wake.models.contract import find_mistake

pytestmark = pytest.mark.slow

TURBINE = Turbine.tabulated("linear", 178.0, 119.0, *TABLE)


def test_the_gradient_with_blockage_in_local_wind_equals_central_differences() -> None:
    model = model_named("iea37").with_blockage("self-similar-2020")
    farm = WindFarm(Local().site(), TURBINE, model, directions=DIRECTIONS, speeds=SPEEDS)
    x, y = positions()
    energy, of_x, of_y = farm.aep_and_gradient(x, y)
    without = WindFarm(Local().site(), TURBINE, "iea37", directions=DIRECTIONS, speeds=SPEEDS).aep(x, y)
    assert energy == pytest.approx(farm.aep(x, y), rel=1e-13)
    assert energy < without
    expected = central_differences(farm, x, y, 0.05)
    found = np.concatenate([of_x, of_y])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"cumulative-curl"}))
def test_the_slopes_of_every_model_are_those_of_its_values(name: str) -> None:
    assert find_mistake(model_named(name)) == ""


def test_the_gradient_of_turbopark_2020_where_turbulence_is_local_equals_central_differences() -> None:
    axis = np.array([-100.0, 5000.0])
    grid = WindGrid(axis, axis, turbulence_intensity=[[0.05, 0.09], [0.11, 0.15]])
    farm = WindFarm(
        GriddedSite(UniformSite((1.0,), 9.0), grid), TURBINE, "turbopark-2020", directions=[270.0]
    )
    x, y = np.array([300.0, 1500.0, 3100.0]), np.array([300.0, 410.0, 350.0])
    _, of_x, of_y = farm.aep_and_gradient(x, y)
    expected = central_differences(farm, x, y, 0.05)
    found = np.concatenate([of_x, of_y])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


def test_a_model_that_is_not_defined_in_local_wind_is_refused() -> None:
    grid = WindGrid([0, 1000], [0, 1000], speedup=[[1.0, 1.1], [1.1, 1.2]], turning=[[0.0, 1.0], [1.0, 2.0]])
    site = GriddedSite(UniformSite((1.0,), 9.0, 0.1), grid)
    with pytest.raises(ArgumentError, match="cumulative-curl is defined only for wind that is the same"):
        WindFarm(site, TURBINE, "cumulative-curl")
    turned = GriddedSite(UniformSite((1.0,), 9.0, 0.1), grid, turned_wakes=True)
    with pytest.raises(ArgumentError, match="blockage is not defined for wakes that follow the turned wind"):
        WindFarm(turned, TURBINE, model_named("jensen").with_blockage("self-similar-2020"))
