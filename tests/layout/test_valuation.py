"""Searches by LCOE and net present value: on a sloping sea bed, judged by functions that share no code with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.layout.farms import mixed_farm, round_farm
from tests.layout.small_problems import fine_rose
from tests.layout.zoned_problems import three_zones
from vindeby.arrays import FloatArray
from vindeby.economy import CableTree, Costs, DepthGrid, Foundation
from vindeby.errors import ArgumentError
from vindeby.layout import (
    Annealing,
    Auto,
    Boundary,
    Gradient,
    InTurn,
    Layout,
    LayoutProblem,
    Method,
    Pipeline,
    RandomSearch,
    RandomStart,
    SmartStart,
    Valuation,
)
from vindeby.layout.climbing.climb import Climb
from vindeby.layout.moves.place_costs import change_of_cost, cost_and_gradient, place_costs
from vindeby.wake import UniformSite, WindFarm, iea37_335mw

DISCOUNT, YEARS, CAPEX, OPEX, FIXED = 0.07, 20, 5e6, 1.5e5, 2e7
SLOPE, SHALLOW = 0.02, 15.0
"""The sea bed falls to the east."""


def _depth(problem: LayoutProblem, x: FloatArray) -> FloatArray:
    return SHALLOW + SLOPE * (x - problem.boundary.bounds[0])


def _sloping(problem: LayoutProblem, objective: str = "lcoe", cables: bool = False) -> LayoutProblem:
    """The problem on a sea bed that falls to the east, where foundations cost more."""
    west, south, east, north = problem.boundary.bounds
    x, y = np.linspace(west - 50.0, east + 50.0, 7), np.linspace(south - 50.0, north + 50.0, 4)
    grid = DepthGrid(x, y, np.repeat(_depth(problem, x)[:, None], 4, axis=1))
    foundation = Foundation(grid, polynomial=(1e6, 2e4, 9e2))
    costs = Costs(CAPEX, OPEX, DISCOUNT, YEARS, foundation, FIXED)
    price = 60.0 if objective == "npv" else None
    router = _to_the_corner(problem) if cables else None
    return replace(problem, valuation=Valuation(objective, costs, price, router))  # type: ignore[arg-type]


def _to_the_corner(problem: LayoutProblem) -> object:
    """Every turbine has a cable of its own to the corner in the south-west: the least that a router can be."""
    west, south, _, _ = problem.boundary.bounds

    def route(x: FloatArray, y: FloatArray) -> CableTree:
        many = len(x)
        ends = np.stack([np.arange(many), np.full(many, -1)], axis=1)
        return CableTree(ends, np.full(many, 400.0), np.array([[west, south]]), np.zeros(many))

    return route


def _lcoe(problem: LayoutProblem, layout: Layout, cables: bool = False) -> float:
    """The levelised cost of energy, year by year, by the formulas of this file alone."""
    west, south, _, _ = problem.boundary.bounds
    depth = _depth(problem, layout.x)
    spent = sum(CAPEX + 1e6 + 2e4 * d + 9e2 * d**2 for d in depth) + FIXED
    if cables:
        spent += sum(400.0 * np.hypot(layout.x - west, layout.y - south))
    mwh = problem.farm.aep(layout.x, layout.y, layout.types) * 1000.0
    later = [1.0 / (1.0 + DISCOUNT) ** year for year in range(1, YEARS + 1)]
    return float((spent + OPEX * len(layout.x) * sum(later)) / (mwh * sum(later)))


METHODS: dict[str, Method] = {
    "gradient": Pipeline([RandomStart(), Gradient(40)]),
    "gradient in all wind": Pipeline([RandomStart(), Gradient(30, wind="all", widening=1.0)]),
    "random-search": Pipeline([RandomStart(), RandomSearch(600)]),
    "annealing": Pipeline([RandomStart(), Annealing(1500)]),
    "smart-start and random-search": Pipeline([SmartStart(11, 1.0), RandomSearch(600)]),
    "auto": Auto(evaluations=400),
}


@pytest.mark.slow
@pytest.mark.parametrize("cables", [False, True], ids=["foundations", "foundations and cables"])
@pytest.mark.parametrize("name", METHODS)
def test_a_search_by_lcoe_finds_a_lower_lcoe_than_one_by_energy(name: str, cables: bool) -> None:
    by_energy = replace(round_farm(8, 1500.0), spacing_m=300.0)
    by_lcoe = _sloping(by_energy, cables=cables)
    found = [METHODS[name].run(problem, 3) for problem in (by_energy, by_lcoe)]
    energy, lcoe = (_lcoe(by_lcoe, one.layout, cables) for one in found)
    assert lcoe < energy * (1.0 - 1e-4)
    assert found[1].aep_gwh == pytest.approx(by_lcoe.aep(found[1].layout), rel=1e-12)
    assert by_lcoe.objective(found[1].layout, found[1].aep_gwh) == pytest.approx(lcoe, rel=1e-9)
    again = METHODS[name].run(by_lcoe, 3)
    assert (again.x.tobytes(), again.y.tobytes()) == (found[1].x.tobytes(), found[1].y.tobytes())


@pytest.mark.slow
def test_a_climb_does_not_stay_where_wide_wakes_crowd_turbines_on_cheap_ground() -> None:
    """In four wind directions the widest wakes spare no place, so only costs decide there."""
    farm = WindFarm(UniformSite((0.2, 0.1, 0.4, 0.3), wind_speed=9.8), iea37_335mw(), "iea37")
    area = Boundary([[(0, 0), (2600, 0), (2600, 2600), (0, 2600)]], round_holes=[((1300, 1300), 300)])
    by_energy = LayoutProblem(farm, area, 9, 390.0)
    by_lcoe = _sloping(by_energy)
    for seed in range(2):
        start = RandomStart().run(by_energy, seed).layout
        energy, lcoe = (
            _lcoe(by_lcoe, Gradient(60).run(one, seed, start).layout) for one in (by_energy, by_lcoe)
        )
        assert lcoe < 0.98 * energy


@pytest.mark.slow
@pytest.mark.parametrize("cables", [False, True])
def test_a_start_is_never_made_worse(cables: bool) -> None:
    problem = _sloping(fine_rose(), cables=cables)
    for seed in range(3):
        start = Pipeline([RandomStart(), Gradient(30)]).run(problem, seed).layout
        for method in (Gradient(4), RandomSearch(30), Annealing(60, 0.1)):
            after = method.run(problem, seed, start).layout
            assert _lcoe(problem, after, cables) <= _lcoe(problem, start, cables) * (1.0 + 1e-12)


def test_the_slope_of_a_climb_is_that_of_energy_less_cost() -> None:
    problem = _sloping(mixed_farm(), "npv", cables=True)
    layout = RandomStart().run(problem, 1).layout
    climb = Climb(problem, layout, valuation=problem.valued_at(layout))
    moved = np.random.default_rng(0).standard_normal((2, len(layout.x)))
    ahead, back = (climb.evaluate(climb.place + step * moved)[0] for step in (1e-3, -1e-3))
    assert (ahead - back) / 2e-3 == pytest.approx((climb.slope * moved).sum(), rel=1e-5)
    west, south, *_ = problem.boundary.bounds
    depth = _depth(problem, layout.x)
    eur = (1e6 + 2e4 * depth + 9e2 * depth**2).sum() + 400.0 * np.hypot(
        layout.x - west, layout.y - south
    ).sum()
    recovery = DISCOUNT / (1.0 - (1.0 + DISCOUNT) ** -YEARS)
    assert climb.energy == pytest.approx(problem.aep(layout) - eur * recovery / 60.0 / 1000.0, rel=1e-12)


@pytest.mark.parametrize("table", [False, True])
def test_the_cost_of_a_move_is_the_difference_of_whole_layouts(table: bool) -> None:
    rng = np.random.default_rng(5)
    x_axis, y_axis = np.sort(rng.uniform(-3000, 3000, 13)), np.sort(rng.uniform(-2000, 2000, 8))
    grid = DepthGrid(x_axis, y_axis, rng.uniform(10, 60, (13, 8)))
    by_depth = {"table": ([20, 30, 45], [1e6, 3e6, 4e6])} if table else {"polynomial": (1.0, 2e4, 3e2)}
    costs = Costs(0.0, 0.0, 0.05, 25, Foundation(grid, **by_depth))
    tree = CableTree(
        np.array([[0, -2], [1, 0], [2, 0], [3, -1], [-1, 4]]), rng.uniform(100, 700, 5),
        rng.uniform(-500, 500, (2, 2)), rng.uniform(0, 90, 5),
    )  # fmt: skip
    value = Valuation("npv", costs, 75.0, tree=tree)
    x, y = rng.uniform(x_axis[0], x_axis[-1], 5), rng.uniform(y_axis[0], y_axis[-1], 5)
    origin = np.array([130.0, -70.0])

    def cost(px: FloatArray, py: FloatArray) -> float:
        """The yearly cost as energy, by the functions of ``economy``."""
        yearly = costs.places(px, py, np.zeros(5, np.int64)).sum() + costs.recovery * tree.eur(px, py)
        return float(yearly / 75.0)  # in thousandths of a GWh

    kernel_costs = place_costs(value, 5, origin, 1e3)
    for i in range(5):
        after = x.copy(), y.copy()
        after[0][i], after[1][i] = rng.uniform(x_axis[0], x_axis[-1]), rng.uniform(y_axis[0], y_axis[-1])
        change = change_of_cost(  # type: ignore[no-untyped-call]
            kernel_costs, x - origin[0], y - origin[1], i, after[0][i] - origin[0], after[1][i] - origin[1]
        )
        assert change == pytest.approx(cost(*after) - cost(x, y), rel=1e-9)
    gradient = np.zeros((2, 5))
    whole = cost_and_gradient(  # type: ignore[no-untyped-call]
        kernel_costs, x - origin[0], y - origin[1], gradient
    )
    assert whole == pytest.approx(cost(x, y), rel=1e-12)
    for i in range(5):
        step = np.zeros(5)
        step[i] = 1e-3
        slopes = [
            (cost(x + step, y) - cost(x - step, y)) / 2e-3,
            (cost(x, y + step) - cost(x, y - step)) / 2e-3,
        ]
        np.testing.assert_allclose(gradient[:, i], slopes, rtol=1e-5, atol=1e-5 * np.abs(gradient).max())


@pytest.mark.slow
def test_zones_in_turn_lower_the_lcoe_of_the_farm() -> None:
    by_energy = three_zones()
    by_lcoe = _sloping(by_energy)
    method = InTurn([RandomStart(), Gradient(30)], rounds=2)
    energy, lcoe = (_lcoe(by_lcoe, method.run(one, 1).layout) for one in (by_energy, by_lcoe))
    assert lcoe < energy


def test_costs_that_are_the_same_everywhere_change_no_search() -> None:
    plain = round_farm(6)
    valued = replace(plain, valuation=Valuation("lcoe", Costs(CAPEX, OPEX, DISCOUNT, YEARS, fixed=FIXED)))
    steps = Pipeline([RandomStart(), Gradient(12), RandomSearch(200)])
    first, second = steps.run(plain, 4), steps.run(valued, 4)
    assert (first.x.tobytes(), first.aep_gwh) == (second.x.tobytes(), second.aep_gwh)


def test_wrong_valuations_are_refused_with_a_reason() -> None:
    costs = Costs(CAPEX, OPEX, DISCOUNT, YEARS)
    with pytest.raises(ArgumentError, match="npv with costs needs a price"):
        Valuation("npv", costs)
    with pytest.raises(ArgumentError, match="price must be above 0 EUR per MWh, not -3"):
        Valuation("npv", costs, -3)
    problem = round_farm(4)
    grid = DepthGrid(np.array([0.0, 10.0]), np.array([0.0, 10.0]), np.ones((2, 2)))
    value = Valuation("lcoe", Costs(CAPEX, OPEX, DISCOUNT, YEARS, Foundation(grid, polynomial=[1.0])))
    with pytest.raises(
        ArgumentError,
        match=r"farm round: its boundary, from .* is outside the grid of depths, from \(0, 0\) to \(10, 10\)",
    ):
        replace(problem, valuation=value)
