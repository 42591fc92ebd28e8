"""What every method promises."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.layout.farms import mixed_farm, round_farm
from vindeby.errors import ArgumentError
from vindeby.layout import (
    Annealing,
    Auto,
    Gradient,
    InTurn,
    Lattice,
    Layout,
    LayoutProblem,
    Method,
    Pipeline,
    RandomSearch,
    RandomStart,
    Result,
    Search,
    SmartStart,
)
from vindeby.layout.problem import Report

pytestmark = pytest.mark.slow

METHODS: dict[str, Method] = {
    "smart-start": SmartStart(9, 20.0),
    "random-start": RandomStart(),
    "lattice": Lattice(trials=20),
    "lattice in rows": Lattice(rows=True, trials=20),
    "gradient": Pipeline([RandomStart(), Gradient(25)]),
    "random-search": Pipeline([RandomStart(), RandomSearch(200)]),
    "annealing": Pipeline([RandomStart(), Annealing(500)]),
    "auto": Auto(evaluations=300),
    "all": Pipeline([SmartStart(9, 20.0), Gradient(10), RandomSearch(100)]),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_pure_feasible_and_depends_on_its_seed(name: str) -> None:
    method, problem = METHODS[name], mixed_farm()
    search = method.prepare(problem)
    first, other, again = search(1, None), search(2, None), search(1, None)
    alone = method.run(problem, 1)
    for result in (first, other):
        assert problem.is_feasible(result.layout)
        assert result.aep_gwh == pytest.approx(problem.aep(result.layout), rel=1e-12)
        assert result.evaluations >= 1
        assert result.types.tolist() == [0, 1] * 4
    for result in (again, alone):
        assert result.x.tolist() == first.x.tolist()
        assert result.y.tolist() == first.y.tolist()
        assert result.aep_gwh == first.aep_gwh
    assert other.x.tolist() != first.x.tolist()


def test_a_refinement_after_smart_start_gains() -> None:
    problem = mixed_farm()
    alone = SmartStart(9, 20.0).run(problem, 0)
    refined = Pipeline([SmartStart(9, 20.0), Gradient(40), RandomSearch(500)]).run(problem, 0)
    assert refined.aep_gwh > alone.aep_gwh * 1.001


@pytest.mark.parametrize(
    "number", [np.array([5, 6]), np.array([5]), np.float64(5.0), np.bool_(True), "5", None]
)
def test_what_is_not_one_whole_number_is_refused_as_a_number_of_steps(number: Any) -> None:
    with pytest.raises(ArgumentError, match="max_iterations must be"):
        Gradient(max_iterations=number)


def test_numbers_of_numpy_become_plain_numbers() -> None:
    method = Gradient(max_iterations=np.int64(7), widening=np.float32(2.5))  # type: ignore[arg-type]
    assert (type(method.max_iterations), type(method.widening)) == (int, float)
    assert method == Gradient(max_iterations=7, widening=2.5)


@pytest.mark.parametrize(("grid_size", "random_pct"), [(1, 30.0), (5, 101.0), (5, -1.0)])
def test_parameters_that_make_no_sense_are_refused(grid_size: int, random_pct: float) -> None:
    with pytest.raises(ArgumentError):
        SmartStart(grid_size, random_pct)


def test_another_process_finds_the_same_layout_to_the_bit() -> None:
    code = (
        "from tests.layout.farms import round_farm\n"
        "from vindeby.layout import *\n"
        "r = Pipeline([SmartStart(9, 20.0), Gradient(20), RandomSearch(200)]).run(round_farm(), 3)\n"
        "print(r.x.tolist(), r.y.tolist())"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    here = Pipeline([SmartStart(9, 20.0), Gradient(20), RandomSearch(200)]).run(round_farm(), 3)
    assert outputs == {f"{here.x.tolist()} {here.y.tolist()}\n"}


class Telling(Method):
    """Keeps its start, and says something about it."""

    def __init__(self, said: str, budget: int = 9) -> None:
        self.said, self.budget = said, budget

    def prepare(self, problem: LayoutProblem) -> Search:
        def run(seed: int, start: Layout | None = None) -> Result:
            assert start is not None
            arrays = {"numbers": np.array([1.0, 2.0]), self.said: np.array([3.0])}
            return Result(start, problem.aep(start), "complete", 1, arrays, {"last": self.said, self.said: 1})

        return run

    def brief(self) -> Method:
        return Telling(self.said, 1)


def test_a_pipeline_keeps_what_its_steps_say_beside_the_layout() -> None:
    result = Pipeline([RandomStart(), Telling("a"), Telling("b"), RandomSearch(5)]).run(round_farm(), 1)
    assert {name: values.tolist() for name, values in result.arrays.items()} == {
        "numbers": [1.0, 2.0],
        "a": [3.0],
        "b": [3.0],
    }
    assert result.notes == {"last": "b", "a": 1, "b": 1}
    in_turn = InTurn([RandomStart(), Telling("a")]).run(round_farm(), 1)
    assert (dict(in_turn.arrays), in_turn.notes) == ({}, {"last": "a", "a": 1})


REPORTING = {
    "gradient": Gradient(25),
    "random-search": RandomSearch(200),
    "auto": Auto(evaluations=300),
}


@pytest.mark.parametrize("name", REPORTING)
def test_a_search_reports_how_far_it_is_and_finds_the_same_to_the_bit(name: str) -> None:
    method, problem, told = Pipeline([RandomStart(), REPORTING[name]]), mixed_farm(), list[tuple[Any, ...]]()
    report = Report(["random-start", name], problem.farm)
    report.tell = lambda *how_far: told.append(how_far)
    silent, found = method.run(problem, 1), method.run(replace(problem, report=report), 1)
    assert (found.x.tobytes(), found.y.tobytes(), found.aep_gwh) == (
        silent.x.tobytes(), silent.y.tobytes(), silent.aep_gwh,
    )  # fmt: skip
    first = [one for one in told if one[0] == "random-start (step 1 of 2)"]
    assert all(one[3] is None for one in first)
    last = [one for one in told if one[0] == f"{name} (step 2 of 2)"]
    assert all(0 <= count <= most for _, count, most, _ in last)
    assert max(most for _, _, most, _ in last) > 1
    energies = [energy for *_, energy in last]
    assert energies == sorted(energies)
    assert energies[0] == RandomStart().run(problem, 1).aep_gwh
    assert energies[-1] <= found.aep_gwh * (1 + 1e-9)


def test_what_holds_methods_is_brief_where_they_are() -> None:
    steps = [RandomStart(), Telling("a")]
    for whole in (Pipeline(steps), InTurn(steps, 3)):
        brief = whole.brief()
        assert isinstance(brief, Pipeline | InTurn)
        first, second = brief.steps
        assert first == RandomStart()
        assert isinstance(second, Telling)
        assert second.budget == 1
    assert Pipeline(steps[:1]).brief() == Pipeline(steps[:1])
    assert (Gradient().brief(), Gradient(3).brief()) == (Gradient(16), Gradient(3))
