"""stochastic-gradient: may break the rules on its way, never at its end; never worse than its start."""

from __future__ import annotations

import numpy as np
import pytest

from tests.layout.small_problems import PROBLEMS, circle, mixed
from tests.layout.test_gradient import anywhere
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import Boundary, Gradient, Layout, Problem, RandomStart, StochasticGradient
from vindeby.layout.climbing.simplified_farm import MOST_GROUPS, groups_of_directions, sampled_farms
from vindeby.layout.method import Result, Search
from vindeby.layout.methods import stochastic_gradient
from vindeby.layout.methods.stochastic_gradient import _push_apart
from vindeby.wake import TimeSeriesSite, Turbine, WindFarm

pytestmark = pytest.mark.slow

TOLERANCE_M = 1e-6


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_start_that_breaks_every_rule_ends_feasible_and_better_than_random(name: str) -> None:
    problem = PROBLEMS[name]()
    search = StochasticGradient(200).prepare(problem)
    for seed in range(3):
        result = search(seed, anywhere(problem, seed))
        assert max(problem.shortfalls(result.layout)) <= TOLERANCE_M
        assert result.aep_gwh == problem.aep(result.layout)
        assert (result.types == problem.types_in_order()).all()
        assert result.aep_gwh > RandomStart().run(problem, seed).aep_gwh


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_feasible_start_is_never_made_worse(name: str) -> None:
    problem = PROBLEMS[name]()
    good = Gradient(400, 16.0).run(problem, 0, RandomStart().run(problem, 0).layout)
    for start in (good, RandomStart().run(problem, 5)):
        for steps in (1, 40):
            again = StochasticGradient(steps).run(problem, 3, start.layout)
            assert again.aep_gwh >= start.aep_gwh


def test_the_same_seed_gives_the_same_layout_to_the_bit_whatever_ran_before() -> None:
    problem = mixed()
    start, other = RandomStart().run(problem, 1).layout, RandomStart().run(problem, 2).layout
    search = StochasticGradient(60, 2).prepare(problem)
    first = search(7, start)
    search(1, other)
    for result in (search(7, start), StochasticGradient(60, 2).run(mixed(), 7, start)):
        assert (result.x == first.x).all()
        assert (result.y == first.y).all()
        assert result.aep_gwh == first.aep_gwh
    assert (search(8, start).x != first.x).any()


@pytest.mark.parametrize("samples", [1, 3, 5, 100])
def test_the_sampled_directions_make_up_the_whole_wind(samples: int) -> None:
    problem = mixed()
    layout = RandomStart().run(problem, 0).layout
    parts = sampled_farms(problem.farm, samples, problem.farm.model)
    assert len(parts) == max(1, -(-12 // samples))
    assert sum(part.aep(layout.x, layout.y, layout.types) for part in parts) == pytest.approx(
        problem.aep(layout), rel=1e-12
    )


def test_the_steps_of_a_time_series_are_sampled_in_no_more_than_so_many_groups() -> None:
    rng = np.random.default_rng(0)
    site = TimeSeriesSite(rng.uniform(4.0, 20.0, 500), rng.uniform(0.0, 360.0, 500))
    farm = WindFarm(site, Turbine.generic("15MW", 15.0, 240.0, 150.0), "nygaard-2022")
    parts = sampled_farms(farm, 2, farm.model)
    assert len(parts) == MOST_GROUPS
    x, y = np.arange(5) * 900.0, np.zeros(5)
    assert sum(part.aep(x, y) for part in parts) == pytest.approx(farm.aep(x, y), rel=1e-12)


def test_directions_of_a_group_are_spread_over_the_rose() -> None:
    assert [group.tolist() for group in groups_of_directions(8, 4)] == [[0, 2, 4, 6], [1, 3, 5, 7]]


def dense() -> Problem:
    """Thirty turbines in an area that is full."""
    problem = circle()
    return Problem(problem.farm, Boundary(circle=((0.0, 0.0), 800.0)), 30, 260.0, "dense")


def test_in_a_dense_farm_it_finds_more_than_a_climb_that_keeps_to_the_rules() -> None:
    problem = dense()
    starts = [RandomStart().run(problem, seed).layout for seed in range(4)]
    # Shakes find as much by other means; one climb does not.
    climb, free = Gradient(500, wind="all").prepare(problem), StochasticGradient(1000).prepare(problem)
    kept = np.mean([climb(seed, start).aep_gwh for seed, start in enumerate(starts)])
    found = [free(seed, start) for seed, start in enumerate(starts)]
    assert all(problem.is_feasible(result.layout) for result in found)
    assert np.mean([result.aep_gwh for result in found]) > 1.002 * kept


def test_without_a_start_it_says_what_to_put_before_it() -> None:
    with pytest.raises(
        TaskError, match="stochastic-gradient needs a start; put smart-start, lattice or random-start"
    ):
        StochasticGradient().run(circle(), 0)


def test_a_farm_that_cannot_be_mended_is_refused_with_the_reason() -> None:
    full = Problem(circle().farm, Boundary(circle=((0.0, 0.0), 300.0)), 9, 260.0, "full")
    with pytest.raises(TaskError, match=r"farm full: StochasticGradient found no layout .* smaller spacing"):
        StochasticGradient(5).run(full, 0, anywhere(full, 0))


def test_where_nothing_can_be_mended_a_feasible_start_is_kept() -> None:
    # Four in the corners of a square of exactly the spacing: there is no other layout.
    farm = circle().farm
    square = Problem(farm, Boundary([((0, 0), (260, 0), (260, 260), (0, 260))]), 4, 260.0, "square")
    start = Layout.of([0.0, 260.0, 260.0, 0.0], [0.0, 0.0, 260.0, 260.0])
    result = StochasticGradient(30).run(square, 1, start)
    assert max(square.shortfalls(result.layout)) <= TOLERANCE_M
    assert result.aep_gwh >= square.aep(start)


@pytest.mark.parametrize(("parameters", "words"), [((0,), "max_iterations"), ((5, 0), "samples")])
def test_parameters_that_make_no_sense_are_refused(parameters: tuple[int, ...], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        StochasticGradient(*parameters)


def test_what_breaks_a_rule_is_pushed_by_as_much_and_what_keeps_it_is_not() -> None:
    rows = np.array([[0, -1], [1, 0], [2, 1], [2, -1]])
    normals = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    rooms = np.array([-10.0, -3.0, -0.5, 7.0])
    push = np.full((2, 3), 100.0)
    _push_apart(rows, normals, rooms, push)
    assert push - 100.0 == pytest.approx(np.array([[6.0 - 3.0, 3.0, 0.0], [8.0, -0.5, 0.5]]))


def test_the_end_is_refined_and_every_evaluation_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, steps = mixed(), 60
    start = RandomStart().run(problem, 1).layout
    refined = StochasticGradient(steps).run(problem, 3, start)
    monkeypatch.setattr(stochastic_gradient, "REFINING", steps)
    hardly = StochasticGradient(steps).run(problem, 3, start)
    assert refined.aep_gwh > hardly.aep_gwh
    assert steps + 1 <= hardly.evaluations < refined.evaluations


def test_a_start_that_is_refined_instead_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, prepare, counts = mixed(), Gradient.prepare, list[int]()
    good = Gradient(400, 16.0).run(problem, 0, RandomStart().run(problem, 0).layout)

    def counted(self: Gradient, problem: Problem) -> Search:
        search = prepare(self, problem)

        def run(seed: int, start: Layout | None = None) -> Result:
            result = search(seed, start)
            counts.append(result.evaluations)
            return result

        return run

    monkeypatch.setattr(Gradient, "prepare", counted)
    result = StochasticGradient(5).run(problem, 3, good.layout)
    assert len(counts) == 2
    assert result.evaluations == 5 + sum(counts)
