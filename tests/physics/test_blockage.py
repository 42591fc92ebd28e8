"""Blockage with any wake model: beside PyWake, its gradient, and the searches that use it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.layout.small_problems import mixed
from tests.physics.oracle import (
    needs_pywake,
    pywake_generic,
    pywake_model,
    pywake_weibull_site,
    simulate,
    spread_out,
    turbine_aep,
)
from tests.physics.test_gradient import DIRECTIONS, SITE, central_differences, smooth_turbine
from tests.physics.test_pywake import LARGE, TABLE, pywake_turbines, site, turbines
from vindeby.errors import ArgumentError
from vindeby.layout import Gradient, RandomSearch, SmartStart
from vindeby.wake import UniformSite, WindFarm, model_named
from vindeby.wake.models import WakeModel

pytestmark = pytest.mark.oracle


def blocked(name: str) -> WakeModel:
    return model_named(name).with_blockage("self-similar-2020")


def pywake_blocked(name: str, turbine: Any) -> Any:
    from py_wake.deficit_models.selfsimilarity import SelfSimilarityDeficit2020
    from py_wake.superposition_models import LinearSum
    from py_wake.wind_farm_models.all2alliterative import All2AllIterative, FixedPointSolver

    where = pywake_weibull_site()
    wakes = pywake_model(name, where, turbine)
    zone = SelfSimilarityDeficit2020(
        upstream_only=True, superpositionModel=LinearSum(), use_effective_ws=True
    )
    return All2AllIterative(
        where,
        turbine,
        wakes.wake_deficitModel,
        wakes.superpositionModel,
        blockage_deficitModel=zone,
        turbulenceModel=wakes.turbulenceModel,
        solver=FixedPointSolver(tolerance=1e-11),
    )


@needs_pywake
@pytest.mark.parametrize("name", ["iea37", "nygaard-2022"])
def test_energies_with_blockage_are_those_of_pywake(name: str) -> None:
    directions = np.arange(0, 360, 40.0)
    farm = WindFarm(site(), turbines(), blocked(name), directions=directions)
    plain = WindFarm(site(), turbines(), name, directions=directions)
    oracle = pywake_blocked(name, pywake_turbines())
    for seed in range(2):
        x, y = spread_out(seed, 12, 700, 5000)
        kind = np.arange(12) % 2 if seed else 1
        ours, theirs = farm.turbine_aep(x, y, kind), turbine_aep(oracle, x, y, type=kind, wd=directions)
        assert theirs.sum() < 0.9995 * plain.aep(x, y, kind)  # there is blockage to compare
        np.testing.assert_allclose(ours, theirs, rtol=TABLE[name][1] if name in TABLE else 1e-9)


@needs_pywake
def test_the_flow_map_upwind_of_a_farm_is_that_of_pywake() -> None:
    from py_wake import HorizontalGrid

    x, y = spread_out(2, 6, 700, 3000)
    grid_x = np.linspace(x.min() - 900, x.max() + 900, 25)
    grid_y = np.linspace(y.min() - 500, y.max() + 500, 15)
    farm = WindFarm(UniformSite(turbulence_intensity=0.1), turbines()[1], blocked("iea37"))
    ours = farm.flow_map(x, y, direction=262.0, speed=9.0, grid_x=grid_x, grid_y=grid_y, height_m=130.0)
    result = simulate(pywake_blocked("iea37", pywake_generic(*LARGE)), x, y, wd=262.0, ws=9.0)
    theirs = result.flow_map(HorizontalGrid(x=grid_x, y=grid_y, h=130.0)).WS_eff.values.reshape(15, 25)
    assert 8.0 < theirs[:, 0].min() < 8.999  # the westernmost points are upwind of all turbines
    np.testing.assert_allclose(ours.wind_speed, theirs, rtol=1e-8)


def test_the_gradient_with_blockage_equals_central_differences() -> None:
    speeds = np.arange(6.0, 15.0, 2.0)
    farm = WindFarm(SITE, smooth_turbine(), blocked("iea37"), directions=DIRECTIONS, speeds=speeds)
    x, y = spread_out(11, 8, 700, 3600)
    aep, along_x, along_y = farm.aep_and_gradient(x, y)
    assert aep == farm.aep(x, y)
    expected = central_differences(farm, x - x.mean(), y - y.mean(), 0.05)
    np.testing.assert_allclose(
        np.concatenate([along_x, along_y]), expected, atol=1e-7 * np.abs(expected).max(), rtol=1e-6
    )
    plain = WindFarm(SITE, smooth_turbine(), "iea37", directions=DIRECTIONS, speeds=speeds)
    assert np.abs(plain.aep_and_gradient(x, y)[1] - along_x).max() > 1e-3 * np.abs(expected).max()


def test_what_is_left_of_a_taylor_series_shrinks_with_the_square() -> None:
    farm = WindFarm(SITE, smooth_turbine(), blocked("iea37"), directions=DIRECTIONS)
    x, y = (v - v.mean() for v in spread_out(12, 10, 700, 5000))
    dx, dy = np.random.default_rng(0).normal(size=(2, 10))
    aep, along_x, along_y = farm.aep_and_gradient(x, y)
    slope = along_x @ dx + along_y @ dy
    steps = np.array([4.0, 2.0, 1.0])
    left = np.array([abs(farm.aep(x + h * dx, y + h * dy) - aep - h * slope) for h in steps])
    np.testing.assert_allclose(np.log2(left[:-1] / left[1:]), 2.0, atol=0.15)


def test_every_kind_of_search_evaluates_its_layouts_with_blockage() -> None:
    problem = mixed("iea37")
    farm = problem.farm
    problem = replace(
        problem, farm=WindFarm(farm.site, farm.turbines, blocked("iea37"), directions=[0.0, 90.0, 250.0])
    )
    start = SmartStart(8, 30.0).run(problem, 0)
    for result in (
        start,
        RandomSearch(30).run(problem, 0, start.layout),
        Gradient(3, 1.0).run(problem, 0, start.layout),
    ):
        assert result.aep_gwh == pytest.approx(problem.aep(result.layout), rel=1e-12)
        assert result.aep_gwh >= start.aep_gwh


def test_tables_of_pairs_are_not_used_with_blockage() -> None:
    model = blocked("nygaard-2022")
    assert not model.tabulate
    assert model.identity != model_named("nygaard-2022").identity
    assert model.with_blockage(None).blockage is None
    with pytest.raises(ArgumentError, match="blockage must be 'self-similar-2020', not 'vortex'"):
        model_named("iea37").with_blockage("vortex")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"tabulate=True needs .*blockage=None"):
        replace(model, tabulate=True)
