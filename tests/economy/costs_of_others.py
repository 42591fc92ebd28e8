"""Costs, LCOE, NPV and depths beside those of costmodels, TopFarm, SciPy and PyWake; see ``test_costs_of_others``."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from vindeby.arrays import FloatArray
from vindeby.economy import Costs, DepthGrid, Foundation

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

FARMS = 20


def _grid(rng: np.random.Generator, even: bool = False) -> DepthGrid:
    x, y = np.sort(rng.uniform(5e5, 5.2e5, 9)), np.sort(rng.uniform(6e6, 6.01e6, 7))
    if even:
        x, y = np.linspace(5e5, 5.2e5, 9), np.linspace(6e6, 6.012e6, 7)
    return DepthGrid(x, y, rng.uniform(8.0, 55.0, (9, 7)))


def _places(rng: np.random.Generator, grid: DepthGrid, many: int) -> tuple[FloatArray, FloatArray]:
    west, south, east, north = grid.bounds
    return rng.uniform(west, east, many), rng.uniform(south, north, many)


@pytest.mark.parametrize("even", [False, True])
def test_depths_are_those_of_scipy_and_pywake(even: bool) -> None:
    interpolators = pytest.importorskip("py_wake.utils.grid_interpolator")
    rng = np.random.default_rng(4)
    grid = _grid(rng, even)
    x, y = _places(rng, grid, 500)
    depth = grid.at(x, y)
    np.testing.assert_allclose(
        depth, RegularGridInterpolator((grid.x, grid.y), grid.depth)((x, y)), rtol=1e-12
    )
    pywake = interpolators.GridInterpolator([grid.x, grid.y], grid.depth)
    np.testing.assert_allclose(depth, pywake(np.stack([x, y], axis=1)), rtol=1e-11)
    if even:
        equidistant = interpolators.EqDistRegGrid2DInterpolator(grid.x, grid.y, grid.depth)
        np.testing.assert_allclose(depth, equidistant(x, y), rtol=1e-11)


def test_lcoe_and_npv_are_those_of_costmodels_on_random_farms(monkeypatch: pytest.MonkeyPatch) -> None:
    finance = pytest.importorskip("costmodels.finance")
    monkeypatch.setattr(
        finance, "_break_even_price", lambda *_: 0.0
    )  # a long search for what is not compared
    rng = np.random.default_rng(28)
    for _ in range(FARMS):
        grid, many = _grid(rng), int(rng.integers(3, 80))
        x, y = _places(rng, grid, many)
        types, years = rng.integers(0, 2, many), int(rng.choice([20, 25, 30]))
        depths, masses = np.linspace(5.0, 60.0, 12), np.sort(rng.uniform(3e5, 3e6, 12))
        capex, opex, fixed, cables = (
            rng.uniform(1e7, 9e7, 2),
            rng.uniform(1e5, 3e6, 2),
            *rng.uniform(1e8, 1e9, 2),
        )
        discount, price, aep_gwh = (
            rng.uniform(0.01, 0.12),
            rng.uniform(30.0, 150.0),
            rng.uniform(10.0, 60.0) * many,
        )
        costs = Costs(
            capex,
            opex,
            discount,
            years,
            Foundation(grid, table=(depths.tolist(), (3.36 * masses).tolist()), fixed=5e5),
            fixed,
        )
        parts = costs.parts(x, y, types, cables)
        deep = RegularGridInterpolator((grid.x, grid.y), grid.depth)((x, y))
        each = capex[types] + 3.36 * np.interp(deep, depths, masses) + 5e5
        spent, yearly, mwh = each.sum() + fixed + cables, opex[types].sum(), 1000.0 * aep_gwh
        electricity = finance.Product.SPOT_ELECTRICITY
        wind = finance.Technology(
            "wind", years, capex=spent, opex=yearly, wacc=discount, product=electricity,
            production=np.full(years, mwh),
        )  # fmt: skip
        others = finance.finances(
            [wind], {electricity: price}, 0.0, finance.Inflation(), 0.0, finance.Depreciation()
        )
        assert parts.capex == pytest.approx(spent, rel=1e-12)
        assert costs.lcoe_eur_per_mwh(parts, aep_gwh) == pytest.approx(float(others["LCOE"][0]), rel=1e-9)
        # Of a sum that may be near 0: relative to what goes into it.
        assert costs.npv_eur(parts, aep_gwh, price) == pytest.approx(float(others["NPV"]), abs=1e-9 * spent)


def test_npv_is_that_of_topfarm_with_the_foundations_of_the_dtu_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapper = pytest.importorskip("topfarm.cost_models.economic_models.finance_wrapper")
    finance = pytest.importorskip("costmodels.finance")
    monkeypatch.setattr(finance, "_break_even_price", lambda *_: 0.0)
    from py_wake.examples.data.hornsrev1 import V80

    rng, price, years, many = np.random.default_rng(3), 84.0, 25, 12
    topfarm = wrapper.OffshoreWindPlantFinanceWrapper(V80(), many, price, years)
    # What one turbine costs is a polynomial of degree 2 in its depth.
    at = np.array([10.0, 30.0, 50.0])
    found = [topfarm.cost_model.run(water_depth=np.full(many, depth), aep=1e6) for depth in at]
    numbers = np.polynomial.polynomial.polyfit(at, [1e6 * float(one.capex) / many for one in found], 2)
    yearly = 1e6 * float(found[0].opex) / many
    for _ in range(FARMS):
        grid = _grid(rng)
        x, y = _places(rng, grid, many)
        costs = Costs(0.0, yearly, 0.0, years, Foundation(grid, polynomial=numbers.tolist()))
        aep_gwh = rng.uniform(5.0, 9.0) * many
        parts = costs.parts(x, y, np.zeros(many, np.int64))
        deep = RegularGridInterpolator((grid.x, grid.y), grid.depth)((x, y))
        theirs = float(topfarm.cost_function(aep=np.full(years, 1000.0 * aep_gwh), water_depth=deep))
        assert costs.npv_eur(parts, aep_gwh, price) == pytest.approx(theirs, abs=1e-9 * parts.capex)
