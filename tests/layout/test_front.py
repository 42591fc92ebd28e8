"""Two objectives: the weight of each seed, and what it does to a search."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.layout.zoned_problems import WEST
from vindeby.arrays import FloatArray
from vindeby.economy import CableTree, Costs, DepthGrid, Foundation
from vindeby.errors import ArgumentError
from vindeby.layout import Boundary, Front, Gradient, LayoutProblem, Pipeline, RandomStart, Valuation
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
    return problem if not given else problem.__class__(**{**vars(problem), **given})


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
