"""Two objectives: the weight of each seed, and what it does to a search."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tests.layout.zoned_problems import WEST
from vindeby.arrays import FloatArray
from vindeby.economy import CableTree, Costs, DepthGrid, Foundation, hull_area_m2
from vindeby.errors import ArgumentError
from vindeby.layout import (
    Boundary,
    Front,
    Gradient,
    LayoutProblem,
    Method,
    Pipeline,
    RandomSearch,
    RandomStart,
    Valuation,
)
from vindeby.layout.moves.place_costs import PlaceCosts, change_of_cost, cost_and_gradient, place_costs
from vindeby.parameters import weight_of
from vindeby.wake import UniformSite, WindFarm, iea37_335mw

HARBOUR = np.array([[1000.0, 1500.0]])


def _star(x: FloatArray, y: FloatArray) -> CableTree:
    """A cable from each turbine to the harbour; a metre costs 7 EUR."""
    ends = np.stack([np.arange(len(x)), np.full(len(x), -1)], axis=1)
    return CableTree(ends, np.full(len(x), 7.0), HARBOUR, np.zeros(len(x)))


def _problem(**given: object) -> LayoutProblem:
    valuation = Valuation("lcoe", Costs(1e6, 1e4, 0.05, 20.0), router=_star)
    farm = WindFarm(UniformSite([1 / 60] * 60, 9.8), iea37_335mw(), "iea37")
    problem = LayoutProblem(farm, Boundary([WEST]), 4, 400.0, "west", valuation=valuation)
    return replace(problem, **given)  # type: ignore[arg-type]


def _length(x: FloatArray, y: FloatArray) -> float:
    return float(np.hypot(x - HARBOUR[0, 0], y - HARBOUR[0, 1]).sum())


def test_weights_mirror_the_binary_digits_of_seeds_and_spread_evenly() -> None:
    assert [weight_of(seed) for seed in range(8)] == [0.0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]
    for count in (16, 64, 20, 33):
        gaps = np.diff(sorted([*map(weight_of, range(count)), 1.0]))
        assert gaps.max() <= 2.0 / count
    assert 0.0 < weight_of(2**32 - 1) < 1.0


@pytest.mark.slow
def test_more_weight_means_shorter_cables_and_less_energy() -> None:
    problem = _problem()
    start = RandomStart().run(problem, 3).layout
    front = Front(Gradient(200), "cable_length")
    found = {weight_of(seed): front.run(problem, seed, start) for seed in (0, 4, 2, 1, 3)}
    assert all(result.notes["weight"] == weight for weight, result in found.items())
    for (_, less), (_, more) in pairwise(sorted(found.items())):
        assert _length(more.x, more.y) < _length(less.x, less.y)
        assert more.aep_gwh < less.aep_gwh
    plain = Gradient(200).run(LayoutProblem(problem.farm, problem.boundary, 4, 400.0), 0, start)
    assert found[0.0].x.tobytes() == plain.x.tobytes(), "without weight it is the search for energy"


@pytest.mark.slow
def test_at_an_optimum_a_metre_of_cable_is_worth_its_price() -> None:
    """The gradients of energy and length balance at the price that the weight stands for, inside the area."""
    problem, weight = _problem(), weight_of(20)  # with larger weights, turbines stand at the harbour itself
    found = Front(Pipeline([RandomStart(), Gradient(400)]), "cable_length").run(problem, 20)
    free = problem.farm.wake_free_aep(4)
    price = weight / (1.0 - weight) * 0.1 * free / np.sqrt(2000.0 * 3000.0 * 4)
    _, east, north = problem.farm.aep_and_gradient(found.x, found.y)
    line = np.stack([found.x, found.y]) - HARBOUR.T
    pull = line / np.hypot(*line)
    gap = np.array([[a, b] for a, b in zip(found.x, found.y, strict=True)])
    apart = np.hypot(*(gap[:, None] - gap[None]).transpose(2, 0, 1)) + 1e9 * np.eye(4)
    free_to_move = (problem.zones[0].boundary.distances(found.x, found.y) > 1.0) & (apart.min(axis=0) > 401.0)
    slope = (np.stack([east, north]) - price * pull)[:, free_to_move]
    assert free_to_move.any()
    assert np.abs(slope).max() < 1e-3 * price


@pytest.mark.slow
def test_energy_against_lcoe_goes_from_the_most_energy_to_the_lowest_lcoe() -> None:
    x, y = np.linspace(-500.0, 2500.0, 121), np.linspace(-500.0, 3500.0, 161)
    depth = 20.0 + np.hypot(x[:, None] - 1000.0, y - 1500.0) ** 2 / 5e4  # a bank in the middle
    costs = Costs(1e6, 1e4, 0.05, 20.0, Foundation(DepthGrid(x, y, depth), polynomial=[0.0, 2e3]))
    problem = _problem(valuation=Valuation("lcoe", costs))
    start = RandomStart().run(problem, 1).layout

    def lcoe(result: object) -> float:
        parts = costs.parts(result.x, result.y, result.types)  # type: ignore[attr-defined]
        return costs.lcoe_eur_per_mwh(parts, result.aep_gwh)  # type: ignore[attr-defined]

    front = Front(Gradient(200), "lcoe")
    found = [front.run(problem, seed, start) for seed in (0, 1, 2**20 - 1)]
    alone = Gradient(200).run(problem, 0, start)
    assert found[0].aep_gwh > found[1].aep_gwh > found[2].aep_gwh
    assert lcoe(found[0]) > lcoe(found[1]) > lcoe(found[2])
    assert lcoe(found[2]) == pytest.approx(lcoe(alone), rel=1e-4)


def test_an_objective_without_its_costs_is_refused() -> None:
    with pytest.raises(ArgumentError, match="cable_length needs a valuation with costs or cables"):
        Front(RandomStart(), "cable_length").run(_problem(valuation=None), 1)


def _turned(x: FloatArray, y: FloatArray, degrees: float) -> tuple[FloatArray, FloatArray]:
    angle = np.deg2rad(degrees)
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def _area(x: FloatArray, y: FloatArray) -> float:
    """By Qhull; the hull of GEOS 3.14 lacks corners here."""
    return float(ConvexHull(np.stack([x, y], axis=1)).volume)


def _cost_of_area(turbines: int) -> PlaceCosts:
    return place_costs(Valuation("aep", price=1.0, eur_per_m2=1000.0), turbines, np.zeros(2), 1.0)


@pytest.mark.parametrize("degrees", [0.0, 15.0, 30.0, 45.0, 60.0, 71.3, 90.0, 123.4])
def test_the_hull_of_turbines_almost_in_a_line_has_all_its_corners(degrees: float) -> None:
    rng = np.random.default_rng(int(degrees))
    lattice = np.indices((6, 4)).reshape(2, -1) * np.array([[730.0], [910.0]]) - 1500.0
    ring = np.array([(0.0, 0.0), (5000.0, 1200.0), (6100.0, 5200.0), (900.0, 4100.0), (0.0, 0.0)])
    share = np.repeat(rng.uniform(0.0, 1.0, (1, 12)), 4, axis=0)[:, :, None]
    edges = (ring[:-1, None] + share * np.diff(ring, axis=0)[:, None]).reshape(-1, 2).T - 3000.0
    row = np.stack([np.arange(7.0) * 500.0 - 1500.0, np.zeros(7)])
    for points in (lattice, edges, np.concatenate([edges, lattice, lattice], axis=1)):
        for _ in range(20):
            x, y = map(np.ascontiguousarray, _turned(*rng.permutation(points, axis=1), degrees))
            whole = cost_and_gradient(_cost_of_area(len(x)), x, y, np.zeros((2, len(x))))
            assert whole == pytest.approx(_area(x, y), rel=1e-9)
            assert hull_area_m2(x, y) == pytest.approx(_area(x, y), rel=1e-9)
    x, y = map(np.ascontiguousarray, _turned(*row, degrees))
    assert cost_and_gradient(_cost_of_area(7), x, y, np.zeros((2, 7))) == pytest.approx(0.0, abs=1e-6)
    assert hull_area_m2(x, y) == pytest.approx(0.0, abs=1e-6)


def test_a_move_in_a_turned_lattice_changes_the_area_by_what_the_hulls_differ() -> None:
    rng = np.random.default_rng(3)
    lattice = np.indices((5, 5)).reshape(2, -1) * 1000.0 - 2000.0
    costs = _cost_of_area(25)
    for _ in range(10):
        x, y = map(np.ascontiguousarray, _turned(*rng.permutation(lattice, axis=1), 30.0))
        for turbine in range(25):
            after = x.copy(), y.copy()
            after[0][turbine] += rng.uniform(-300.0, 300.0)
            after[1][turbine] += rng.uniform(-300.0, 300.0)
            change = change_of_cost(costs, x, y, turbine, after[0][turbine], after[1][turbine])
            assert change == pytest.approx(_area(*after) - _area(x, y), abs=1e-3)


def test_area_is_that_of_the_hull_and_follows_moves_and_gradients() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0.0, 3000.0, (2, 12))
    value = Valuation("aep", price=50.0, eur_per_m2=3.0)
    costs = place_costs(value, 12, np.zeros(2), 1.0)
    gradient, unit = np.zeros((2, 12)), 3.0 / 50.0 / 1000.0
    whole = cost_and_gradient(costs, x, y, gradient)  # type: ignore[no-untyped-call]
    assert whole == pytest.approx(unit * ConvexHull(np.stack([x, y], axis=1)).volume, rel=1e-12)
    assert hull_area_m2(x, y) * unit == pytest.approx(whole, rel=1e-12)
    neighbours = np.append(x, 9e3), np.append(y, 9e3)  # who are not part of the farm
    for i in range(12):
        east = np.eye(12)[i]
        up, down = (hull_area_m2(x + step * east, y) for step in (1e-3, -1e-3))
        assert gradient[0, i] == pytest.approx(unit * (up - down) / 2e-3, rel=1e-6, abs=1e-9)
        up, down = (hull_area_m2(x, y + step * east) for step in (1e-3, -1e-3))
        assert gradient[1, i] == pytest.approx(unit * (up - down) / 2e-3, rel=1e-6, abs=1e-9)
        px, py = rng.uniform(-500.0, 3500.0, 2)
        after = np.where(east, px, x), np.where(east, py, y)
        change = change_of_cost(costs, *neighbours, i, px, py)  # type: ignore[no-untyped-call]
        assert change == pytest.approx(unit * (hull_area_m2(*after) - hull_area_m2(x, y)), rel=1e-9)
    np.testing.assert_array_equal(neighbours[0][:12], x)


def test_the_area_of_turbines_in_a_line_or_in_one_place_is_0() -> None:
    for x, y in ([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0, 6.0]), ([5.0] * 4, [1.0] * 4), ([0.0], [0.0]):
        costs = place_costs(Valuation("aep", price=1.0, eur_per_m2=1.0), len(x), np.zeros(2), 1.0)
        px, py = np.array(x), np.array(y)
        assert cost_and_gradient(costs, px, py, np.zeros((2, len(x)))) == 0.0  # type: ignore[no-untyped-call]


@pytest.mark.slow
@pytest.mark.parametrize("last", [Gradient(200), RandomSearch(1500)])
def test_more_weight_of_the_area_means_less_of_it_and_less_energy(last: Method) -> None:
    problem = _problem(valuation=None, n_turbines=12)  # too many for a line, whose area is 0
    start = RandomStart().run(problem, 3).layout
    found = [Front(last, "area").run(problem, seed, start) for seed in (0, 1, 3)]
    areas = [hull_area_m2(one.x, one.y) for one in found]
    assert areas[0] > areas[1] > areas[2] > 0.0
    assert found[0].aep_gwh > found[1].aep_gwh > found[2].aep_gwh
