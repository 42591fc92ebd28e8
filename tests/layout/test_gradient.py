"""gradient: feasible from any start, at an optimum when it says so, never worse than its start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.layout.small_problems import PROBLEMS, circle, fine_rose, mixed
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import Boundary, Gradient, Layout, LayoutProblem, Pipeline, RandomStart
from vindeby.layout.area.limits import Limits
from vindeby.wake import WindFarm

pytestmark = pytest.mark.slow

TOLERANCE_M = 1e-6


def anywhere(problem: LayoutProblem, seed: int) -> Layout:
    """Points in and around the area, some on one spot: a start that breaks every rule."""
    rng = np.random.default_rng(seed)
    west, south, east, north = problem.boundary.bounds
    wide, high = 0.2 * (east - west), 0.2 * (north - south)
    x = rng.uniform(west - wide, east + wide, problem.n_turbines)
    y = rng.uniform(south - high, north + high, problem.n_turbines)
    x[1], y[1] = x[0], y[0]
    return Layout.of(x, y, problem.types_in_order())


def allowed_rise(problem: LayoutProblem, layout: Layout, step_m: float) -> float:
    """What the gradient promises (as a fraction of AEP) of the best step of this size that the rules allow."""
    limits = Limits(problem, layout.types)
    energy, east, north = problem.farm.aep_and_gradient(layout.x, layout.y, layout.types)
    slope = np.stack([east, north])
    wanted = slope * (step_m / np.abs(slope).max())
    step = limits.nearest_step(np.stack([layout.x, layout.y]) - limits.origin[:, None], wanted, step_m)
    return float((slope * step).sum()) / energy


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("widening", [1.0, 8.0])
def test_a_start_that_breaks_every_rule_ends_feasible_and_better_than_random(
    name: str, widening: float
) -> None:
    problem = PROBLEMS[name]()
    search = Gradient(60, widening).prepare(problem)
    for seed in range(6):
        result = search(0, anywhere(problem, seed))
        assert max(problem.shortfalls(result.layout)) <= TOLERANCE_M
        assert result.aep_gwh == problem.aep(result.layout)
        assert (result.types == problem.types_in_order()).all()
        assert result.aep_gwh > RandomStart().run(problem, seed).aep_gwh


@pytest.mark.parametrize("name", PROBLEMS)
def test_where_it_says_converged_no_allowed_step_leads_up(name: str) -> None:
    problem = PROBLEMS[name]()
    start = RandomStart().run(problem, 3)
    result = Gradient(3000, 1.0).run(problem, 0, start.layout)
    assert result.status == "converged"
    assert allowed_rise(problem, result.layout, 1.0) < 1e-7
    assert allowed_rise(problem, start.layout, 1.0) > 1e-5


def test_small_moves_around_a_converged_layout_gain_nothing() -> None:
    problem = circle()
    best = Gradient(3000, 1.0).run(problem, 0, RandomStart().run(problem, 1).layout)
    rng = np.random.default_rng(0)
    tried = 0
    while tried < 200:
        x, y = best.x + rng.normal(0, 0.5, 9), best.y + rng.normal(0, 0.5, 9)
        assert problem.zones[0].boundary.circle is not None
        (middle_x, middle_y), radius = problem.zones[0].boundary.circle
        back = np.minimum(radius / np.hypot(x - middle_x, y - middle_y), 1.0)  # moved back to the circle
        nearby = Layout(middle_x + back * (x - middle_x), middle_y + back * (y - middle_y), best.types)
        if problem.is_feasible(nearby):
            tried += 1
            assert problem.aep(nearby) <= best.aep_gwh * (1 + 1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("widening", [1.0, 16.0])
def test_a_feasible_start_is_never_made_worse(name: str, widening: float) -> None:
    problem = PROBLEMS[name]()
    good = Gradient(400, 16.0).run(problem, 0, RandomStart().run(problem, 0).layout)
    for start in (good, RandomStart().run(problem, 5)):
        again = Gradient(7, widening).run(problem, 0, start.layout)
        assert again.aep_gwh >= start.aep_gwh


def test_wide_wakes_first_lead_to_better_optima() -> None:
    problem = circle(16, 1300.0)
    starts = [RandomStart().run(problem, seed).layout for seed in range(8)]
    plain, wide = (
        np.mean([Gradient(400, widening).run(problem, 0, start).aep_gwh for start in starts])
        for widening in (1.0, 16.0)
    )
    assert wide > 1.01 * plain


@pytest.mark.core
def test_the_same_start_and_seed_give_the_same_layout_to_the_bit_whatever_ran_before() -> None:
    problem = mixed()
    start, other = RandomStart().run(problem, 1).layout, RandomStart().run(problem, 2).layout
    search = Gradient(40, 4.0).prepare(problem)
    first = search(0, start)
    search(1, other)
    second, third = search(0, start), Gradient(40, 4.0).run(mixed(), 0, start)
    for result in (second, third):
        assert (result.x == first.x).all()
        assert (result.y == first.y).all()
        assert result.aep_gwh == first.aep_gwh


def test_rounding_errors_of_a_gradient_lead_to_no_other_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of another processor, or of a card."""
    problem = circle()
    search, start = Gradient(60).prepare(problem), RandomStart().run(problem, 1).layout
    exact, gradient, rng = search(0, start), WindFarm.aep_and_gradient, np.random.default_rng(0)

    def noisy(farm: WindFarm, *layout: Any) -> Any:
        exact = gradient(farm, *layout)
        return [value * (1.0 + 1e-15 * rng.standard_normal(np.shape(value))) for value in exact]

    monkeypatch.setattr(WindFarm, "aep_and_gradient", noisy)
    found = search(0, start)
    assert np.array_equal(found.x, exact.x)
    assert np.array_equal(found.y, exact.y)


def test_a_small_budget_is_a_status_and_not_an_error() -> None:
    problem = circle()
    result = Gradient(2, 1.0).run(problem, 0, anywhere(problem, 0))
    assert result.status == "budget"
    assert problem.is_feasible(result.layout)


def test_a_turbine_leans_into_a_corner() -> None:
    # Wind from the west alone: of three in a narrow field, the optimum uses corners.
    problem = mixed()
    result = Gradient(2000, 16.0).run(problem, 0, RandomStart().run(problem, 4).layout)
    corner = np.hypot(np.minimum(result.x, 3000.0 - result.x), np.minimum(result.y, 2500.0 - result.y))
    assert corner.min() < 1e-3


def test_without_a_start_it_says_what_to_put_before_it() -> None:
    with pytest.raises(
        TaskError, match="gradient needs a start; put smart-start, lattice or random-start before it"
    ):
        Gradient().run(circle(), 0)


def test_a_farm_that_cannot_be_mended_is_refused_with_the_reason() -> None:
    problem = circle()
    full = LayoutProblem(problem.farm, Boundary(circle=((0.0, 0.0), 300.0)), 9, 260.0, "full")
    with pytest.raises(TaskError, match=r"farm full: Gradient found no layout .* smaller spacing"):
        Gradient(5, 1.0).run(full, 0, anywhere(full, 0))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ((0,), "max_iterations"),
        ((5, 0.5), "widening"),
        ((5, 2.0, "coarse"), "wind must be 'coarse-to-fine' or 'all', not 'coarse'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: tuple[float, ...], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Gradient(*parameters)  # type: ignore[arg-type]


def test_a_pipeline_from_a_random_start_depends_on_the_seed_alone() -> None:
    problem = circle()
    search = Pipeline([RandomStart(), Gradient(50)]).prepare(problem)
    assert (search(4, None).x == search(4, None).x).all()
    assert (search(4, None).x != search(5, None).x).any()


FIRST = {
    ("circle", 24, 4.0): (218.4108091642333, 30, 4975.4425098094125),
    ("boomerang", 40, 16.0): (408.8732659263177, 51, 4543.727193885892),
    ("mixed", 24, 4.0): (137.9439711198156, 30, 1480.5021527909537),
    ("round with hole", 40, 16.0): (224.5534702959194, 55, 447.2691741591237),
}
"""AEP, evaluations and x of the first turbine from the version that did not know ``wind``."""


@pytest.mark.parametrize(("name", "iterations", "widening"), FIRST)
@pytest.mark.core
def test_all_wind_states_give_the_results_of_the_first_version(
    name: str, iterations: int, widening: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vindeby.layout.climbing.climb.BITS", 60)  # that version did not round slopes
    problem = PROBLEMS[name]()
    start = RandomStart().run(problem, 1).layout
    found = Gradient(iterations, widening, "all").run(problem, 0, start)
    aep, evaluations, x = FIRST[name, iterations, widening]
    assert found.aep_gwh == pytest.approx(aep, rel=1e-12)
    assert found.evaluations == evaluations
    assert found.x[0] == pytest.approx(x, rel=1e-9)


def test_coarse_to_fine_gains_what_all_wind_states_gain() -> None:
    problem = fine_rose()
    starts = [RandomStart().run(problem, seed).layout for seed in range(4)]
    coarse, whole = (
        np.mean([Gradient(60, 8.0, wind).run(problem, 0, start).aep_gwh for start in starts])
        for wind in ("coarse-to-fine", "all")
    )
    before = np.mean([problem.aep(start) for start in starts])
    assert coarse - before > 0.9 * (whole - before) > 0.0


@pytest.mark.parametrize("iterations", [1, 3, 30])
def test_coarse_to_fine_never_makes_a_start_worse_in_all_wind_states(iterations: int) -> None:
    problem = fine_rose()
    good = Gradient(200, 1.0, "all").run(problem, 0, RandomStart().run(problem, 2).layout)
    again = Gradient(iterations, 16.0).run(problem, 0, good.layout)
    assert again.aep_gwh >= good.aep_gwh
    assert again.aep_gwh == problem.aep(again.layout)
