from __future__ import annotations

import pytest

from tests.layout.farms import mixed_farm, round_farm
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import Layout, LayoutProblem, Method, Pipeline, RandomStart, Result, Search, SmartStart


def test_shortfalls_are_in_metres() -> None:
    problem = round_farm(3, radius=1000.0, spacing=260.0)
    layout = Layout.of([500.0, 500.0 + 250.0, 500.0 + 1003.0], [-300.0, -300.0, -300.0])
    outside, too_near = problem.shortfalls(layout)
    assert outside == pytest.approx(3.0)
    assert too_near == pytest.approx(10.0)
    assert not problem.is_feasible(layout)


def test_a_pair_of_types_keeps_the_mean_of_their_spacings_and_neighbours_count() -> None:
    problem = mixed_farm(count=2)  # types 0 and 1: 585 m and 720 m; neighbour 1 (type 1) at (600, 900)
    far = Layout.of([5000.0, 5000.0], [1000.0, 1000.0 + 652.4], [0, 1])
    assert problem.shortfalls(far)[1] == pytest.approx(0.1)
    near = Layout.of([600.0 + 652.0, 8000.0], [900.0, 1000.0], [0, 1])
    assert problem.shortfalls(near)[1] == pytest.approx(0.5)


def test_rounding_is_forgiven_and_more_is_not() -> None:
    problem = round_farm(2, radius=1000.0, spacing=260.0)
    assert problem.is_feasible(Layout.of([500.0, 760.0 - 9e-7], [-300.0, -300.0]))
    assert not problem.is_feasible(Layout.of([500.0, 760.0 - 2e-6], [-300.0, -300.0]))
    assert not problem.is_feasible(Layout.of([500.0], [-300.0]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_turbines": 0}, "n_turbines"),
        ({"spacing_m": -1.0}, "spacing_m"),
        ({"spacing_m": [1.0, 2.0]}, "spacing_m"),
        ({"types": [0]}, "types"),
        ({"types": [0, 1, 0]}, "types"),
    ],
)
def test_a_problem_that_makes_no_sense_is_refused(changes: dict[str, object], words: str) -> None:
    whole = round_farm(3)
    arguments: dict[str, object] = {
        "farm": whole.farm,
        "boundary": whole.boundary,
        "n_turbines": 3,
        **changes,
    }
    with pytest.raises(ArgumentError, match=words):
        LayoutProblem(**arguments)  # type: ignore[arg-type]


class _Liar(Method):
    """Returns what it was given, feasible or not."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def prepare(self, problem: LayoutProblem) -> Search:
        return lambda seed, start: Result(self.layout, 1.0, "complete", 1)


def test_no_method_can_return_a_layout_that_breaks_the_rules() -> None:
    problem = round_farm(2)
    with pytest.raises(TaskError, match=r"farm round: _Liar found no layout .* 160 m too near"):
        _Liar(Layout.of([500.0, 600.0], [-300.0, -300.0])).run(problem, 0)
    with pytest.raises(TaskError, match="returned 1 turbines, not 2"):
        Pipeline([RandomStart(), _Liar(Layout.of([500.0], [-300.0]))]).run(problem, 0)


@pytest.mark.slow
def test_too_small_a_grid_is_said_with_a_remedy_that_works() -> None:
    problem = round_farm(30, radius=1000.0)
    with pytest.raises(
        TaskError, match=r"farm round: only \d+ of 30 turbines fit a grid of 5 x 5 at 2 D"
    ) as error:
        SmartStart(5).run(problem, 0)
    finer = int(str(error.value).partition("grid_size >= ")[2].partition(",")[0])
    assert SmartStart(finer).run(problem, 0).layout.x.shape == (30,)


@pytest.mark.slow
def test_too_many_turbines_are_a_task_error_of_random_start() -> None:
    with pytest.raises(TaskError, match="random-start found no room for 60 turbines"):
        RandomStart().run(round_farm(60, radius=600.0), 0)


def test_a_full_area_is_filled_by_pushing_apart() -> None:
    problem = round_farm(22, radius=620.0)  # drawing one by one finds room for about 15
    assert problem.is_feasible(RandomStart().run(problem, 3).layout)


def test_a_pipeline_hands_on_what_was_found_and_counts_everything() -> None:
    problem = round_farm(5)
    starts: list[Layout | None] = []

    class Watching(Method):
        def prepare(self, problem: LayoutProblem) -> Search:
            def run(seed: int, start: Layout | None = None) -> Result:
                starts.append(start)
                assert start is not None
                return Result(start, 2.0, "converged", 10)

            return run

    first = RandomStart().run(problem, 4)
    result = Pipeline([RandomStart(), Watching(), Watching()]).run(problem, 4)
    assert [s.x.tolist() for s in starts if s] == [first.x.tolist()] * 2
    assert (result.evaluations, result.status) == (21, "converged")
    with pytest.raises(ArgumentError, match="at least one"):
        Pipeline([])
