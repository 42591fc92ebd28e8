"""auto: budgets, and what it does where not everything suits the problem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.command import vindeby
from tests.layout.farms import mixed_farm, round_farm
from tests.layout.zoned_problems import PROBLEMS
from tests.physics.gridded_sites import SOUTH, WEST, Local
from vindeby.assembly.foreign_farm import ForeignFarm
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import Auto, Boundary, Lattice, Layout, LayoutProblem, Method, RandomStart
from vindeby.layout.methods import auto
from vindeby.layout.methods.auto import RECENT, SPREAD, STARTS, Budget, Runs
from vindeby.wake import Turbine, WindFarm, WindStates
from vindeby.wake.layout_checks import Places

pytestmark = pytest.mark.slow

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def local_wind() -> LayoutProblem:
    """A farm in wind that differs from place to place."""
    corners = [(WEST + x, SOUTH + y) for x, y in ((250, 250), (2750, 250), (2750, 2750), (250, 2750))]
    turbine = Turbine.generic("ten", 10.0, 178.0, 119.0)
    farm = WindFarm(
        Local().site(), turbine, "bastankhah-2014", directions=(10.0, 130.0, 250.0), speeds=(7.0, 11.0)
    )
    return LayoutProblem(farm, Boundary([corners]), 6, 534.0, "local")


class NoGradient:
    """An engine of another tool, without a gradient: vindeby's own wakes stand in for its."""

    title = "none"

    def __init__(self, farm: WindFarm) -> None:
        self.farm = farm
        self.calls = 0

    def state_powers(self, layout: Places, states: WindStates) -> tuple[FloatArray, FloatArray]:
        self.calls += 1
        x, y, types = layout
        shape = len(x), len(states.speed)
        return self.farm.power(x, y, types).reshape(shape), self.farm.wind_speed(x, y, types).reshape(shape)

    def state_speeds_at(
        self, layout: Places, states: WindStates, x: FloatArray, y: FloatArray, height_m: float
    ) -> FloatArray:
        return np.tile(states.speed, (len(x), 1))

    def mean_power_and_slopes(
        self, layout: Places, counted: int, states: WindStates
    ) -> tuple[float, FloatArray, FloatArray]:
        raise ArgumentError("it has no gradient")


def foreign() -> tuple[LayoutProblem, NoGradient]:
    own = round_farm(6)
    engine = NoGradient(own.farm)
    farm = ForeignFarm(own.farm.site, own.farm.turbines, engine, "none")
    return LayoutProblem(farm, own.boundary, 6, own.spacing_m, "foreign"), engine


KINDS: dict[str, Callable[[], LayoutProblem]] = {
    **PROBLEMS,
    "types and neighbours": mixed_farm,
    "local wind": local_wind,
    "engine": lambda: foreign()[0],
    "models that add turbulence": lambda: mixed_farm("niayifar-2016", count=5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_problem_gets_a_feasible_layout_within_the_budget(kind: str) -> None:
    problem, budget = KINDS[kind](), 250
    search = Auto(evaluations=budget).prepare(problem)
    first, again = search(3, None), search(3, None)
    assert problem.is_feasible(first.layout)
    assert first.aep_gwh == pytest.approx(problem.aep(first.layout), rel=1e-12)
    assert first.notes["repeatable"] is True
    assert 0.9 * budget <= first.evaluations <= 1.15 * budget
    for name in ("x", "y", "types", "aep_gwh", "evaluations"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name


@pytest.mark.parametrize("evaluations", [pytest.param(1, marks=pytest.mark.core), 2, 3, 5, 10, 30])
def test_a_tiny_budget_is_kept_and_gives_a_layout(evaluations: int) -> None:
    problem = round_farm()
    result = Auto(evaluations=evaluations).run(problem, 1)
    assert problem.is_feasible(result.layout)
    assert result.evaluations <= evaluations + 5


def test_seconds_are_kept_and_what_they_give_is_said_not_to_be_repeatable() -> None:
    problem = round_farm()
    Auto().brief().run(problem, 0)
    for seconds in (0.02, 0.3):
        result = Auto(seconds=seconds).run(problem, 1)
        assert problem.is_feasible(result.layout)
        assert result.notes["repeatable"] is False
        assert result.aep_gwh > RandomStart().run(problem, 1).aep_gwh


def test_more_budget_finds_more_and_gains_on_every_start() -> None:
    problem = round_farm(16, 1300.0)
    short, long = (Auto(evaluations=count).run(problem, 2).aep_gwh for count in (20, 20_000))
    starts = [start.run(problem, seed).aep_gwh for start, _ in STARTS.values() for seed in range(3)]
    assert long > max(short, *starts) * 1.002


def test_a_layout_that_is_given_is_never_made_worse_and_one_that_breaks_the_rules_is_mended() -> None:
    problem = round_farm()
    good = Auto(evaluations=3000).run(problem, 5)
    for evaluations in (1, 30, 300):
        assert Auto(evaluations=evaluations).run(problem, 1, good.layout).aep_gwh >= good.aep_gwh
    assert Auto(evaluations=1).run(problem, 1, good.layout).notes["best_start"] == "given"
    broken = Layout.of(good.x + 400.0, good.y)
    assert not problem.is_feasible(broken)
    assert problem.is_feasible(Auto(evaluations=10).run(problem, 1, broken).layout)


def test_an_engine_is_not_asked_more_often_than_the_budget_says() -> None:
    problem, engine = foreign()
    result = Auto(evaluations=100).run(problem, 1)
    # Each part also evaluates what it begins and ends with.
    assert engine.calls <= 1.3 * result.evaluations


def test_a_farm_without_room_fails_with_what_every_start_says() -> None:
    with pytest.raises(TaskError, match=r"farm round: auto found no start; lattice: .*random-start") as error:
        Auto(evaluations=50).run(round_farm(9, 200.0), 0)
    assert "fewer turbines" in str(error.value)


def test_what_a_worker_compiles_with_uses_every_start_and_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for kind in (Lattice, RandomStart):
        prepare = kind.prepare

        def noting(self: Method, problem: LayoutProblem, prepare=prepare, kind=kind):  # type: ignore[no-untyped-def]
            made.append(kind.__name__)
            return prepare(self, problem)

        monkeypatch.setattr(kind, "prepare", noting)
    result = Auto(seconds=1e6).brief().run(round_farm(), 0)
    assert sorted(made) == ["Lattice", "RandomStart"]
    assert result.evaluations < 100


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Auto(seconds=0.0), "seconds"),
        (lambda: Auto(seconds=float("nan")), "seconds"),
        (lambda: Auto(evaluations=0), "evaluations"),
        (lambda: Auto(seconds=1.0, evaluations=1), "not both"),
    ],
)
def test_budgets_that_make_no_sense_are_refused(make: Callable[[], Auto], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()


def test_a_budget_in_seconds_learns_what_work_takes() -> None:
    now = [100.0]
    budget = Budget(seconds=10.0, clock=lambda: now[0])
    assert budget.cost("trial", 0.1) == 0.0  # nothing is known yet
    now[0] += 0.5
    budget.note("", 0.0, 1.0, 1.0)
    assert budget.cost("trial", 0.1) == pytest.approx(0.05)  # as an evaluation, which took 0.5 s
    now[0] += 1.5
    budget.note("trial", 0.5, 1.5, 1.5)
    assert budget.cost("trial", 0.1) == pytest.approx(0.1)
    assert (budget.left(), budget.left(0.5), budget.evaluations) == (8.0, 3.0, 2.5)


def test_a_budget_in_evaluations_asks_no_clock() -> None:
    budget = Budget(evaluations=100, clock=lambda: 0.0)
    assert budget.cost("trial", 0.3) == 0.3
    budget.note("trial", 0.0, 30.0, 40.0)
    assert (budget.cost("trial", 0.3), budget.left(0.5)) == (0.3, 10.0)


def test_the_expected_gain_of_a_run_is_that_of_a_normal_distribution() -> None:
    runs = Runs()
    runs.worths += [99.0, 101.0, 100.0]
    spread = np.sqrt((2.0 + (SPREAD * 100.5) ** 2) / 3.0)
    drawn = 100.0 + spread * np.random.default_rng(0).standard_normal(1_000_000)
    assert runs.expected_gain(100.5) == pytest.approx(np.maximum(drawn - 100.5, 0.0).mean(), rel=5e-3)


def test_a_pipeline_whose_last_runs_were_far_below_the_best_is_not_expected_to_gain() -> None:
    near, far = Runs(), Runs()
    near.worths += [1000.0]
    far.worths += [1000.0, *[950.0] * RECENT]
    assert near.expected_gain(1000.0) > 0.1 > 1e-9 > far.expected_gain(1000.0)


def test_annealings_are_expected_to_gain_what_the_last_ones_did() -> None:
    runs = Runs()
    fresh = runs.expected_gain(1000.0)
    runs.gains += [5.0, 0.0, 0.0]
    assert 0.0 < runs.expected_gain(1000.0) < fresh
    runs.gains += [3.0]
    assert runs.expected_gain(1000.0) > 10.0 * fresh


def test_a_campaign_keeps_in_its_records_which_start_was_best(tmp_path: Path) -> None:
    data = Campaign.load("iea37-cs1-16").to_data()
    data |= {"method": [{"auto": {"evaluations": 60}}], "seeds": 2, "run": {"workers": 1}}
    (tmp_path / "c.yaml").write_text(Campaign.from_data(data).dumps())
    done = vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5")
    assert done.returncode == 0, done.stderr
    shown = vindeby(tmp_path, "show", "out.h5", "farm0_t0_s1", "-o", "layout.svg")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "layout.svg\n"
    with h5py.File(tmp_path / "out.h5") as file:
        record = file["farm0_t0_s1"]
        assert record.attrs["evaluations"] <= 70
        assert record.attrs["repeatable"]
        assert record.attrs["search"] == "auto"
        assert record.attrs["best_start"] in {"random-start", "lattice"}


def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the steps that are run from now on."""
    names: list[str] = []
    step = auto._Contest._step

    def noting(self, made, *others):  # type: ignore[no-untyped-def]
        found = step(self, made, *others)
        if found is not None:
            names.append(type(made).__name__)
        return found

    monkeypatch.setattr(auto._Contest, "_step", noting)
    return names


def test_every_pipeline_is_run_and_turbines_of_the_best_layout_are_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = noted(monkeypatch)
    Auto(evaluations=20_000).run(round_farm(), 1)
    assert {"Lattice", "RandomStart", "Gradient", "RandomSearch"} <= set(names)
