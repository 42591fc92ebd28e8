"""auto: budgets, curves, and what it does where not everything suits the problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from vindeby.layout import Auto, Boundary, Gradient, Layout, LayoutProblem, RandomStart, Result, SmartStart
from vindeby.layout.method import Method
from vindeby.layout.portfolio import contest
from vindeby.layout.portfolio.candidates import POINTS, Budget, Candidate, Candidates, Tools
from vindeby.layout.portfolio.contest import Climbs, Contest, Race
from vindeby.layout.portfolio.starts import GRADIENT, Start, starts_for
from vindeby.wake import Turbine, WeibullSite, WindFarm, WindStates
from vindeby.wake.layout_checks import Places

pytestmark = pytest.mark.slow

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
CURVE = ("curve_seconds", "curve_evaluations", "curve_aep_gwh")


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


def curve_of(result: Result) -> list[FloatArray]:
    return [np.asarray(result.arrays[name]) for name in CURVE]


def refuse_bad_curve(result: Result) -> None:
    seconds, evaluations, aep = curve_of(result)
    assert seconds.shape == evaluations.shape == aep.shape == (POINTS,)
    for values in (seconds, evaluations, aep):
        assert (np.diff(values) >= 0.0).all()
    assert aep[-1] == result.aep_gwh
    assert np.ceil(evaluations[-1]) == result.evaluations


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
    refuse_bad_curve(first)
    assert 0.9 * budget <= first.evaluations <= 1.15 * budget
    for name in ("x", "y", "types", "aep_gwh", "evaluations"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
    for name in CURVE[1:]:
        assert np.array_equal(first.arrays[name], again.arrays[name])


@pytest.mark.parametrize("evaluations", [pytest.param(1, marks=pytest.mark.core), 2, 3, 5, 10, 30])
def test_a_tiny_budget_is_kept_and_gives_a_layout(evaluations: int) -> None:
    problem = round_farm()
    result = Auto(evaluations=evaluations).run(problem, 1)
    assert problem.is_feasible(result.layout)
    refuse_bad_curve(result)
    assert result.evaluations <= evaluations + 5


def test_seconds_are_kept_and_what_they_give_is_said_not_to_be_repeatable() -> None:
    problem = round_farm()
    Auto().brief().run(problem, 0)
    for seconds in (0.02, 0.3):
        result = Auto(seconds=seconds).run(problem, 1)
        assert problem.is_feasible(result.layout)
        assert result.notes["repeatable"] is False
        refuse_bad_curve(result)
    assert result.aep_gwh > RandomStart().run(problem, 1).aep_gwh


def test_more_budget_finds_more_and_gains_on_every_start() -> None:
    problem = round_farm(16, 1300.0)
    short, long = (Auto(evaluations=count).run(problem, 2).aep_gwh for count in (20, 20_000))
    starts = [start.method.run(problem, seed).aep_gwh for start in starts_for(problem) for seed in range(3)]
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
    with pytest.raises(
        TaskError, match=r"farm round: auto found no start; .*random-start.*smart-start"
    ) as error:
        Auto(evaluations=50).run(round_farm(9, 200.0), 0)
    assert "fewer turbines" in str(error.value)


def test_what_a_worker_compiles_with_uses_every_start_and_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for kind in (SmartStart, RandomStart):
        prepare = kind.prepare

        def noted(self: SmartStart, problem: LayoutProblem, prepare=prepare, kind=kind):  # type: ignore[no-untyped-def]
            made.append(kind.__name__)
            return prepare(self, problem)

        monkeypatch.setattr(kind, "prepare", noted)
    result = Auto(seconds=1e6).brief().run(round_farm(), 0)
    assert sorted(made) == ["RandomStart", "SmartStart"]
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
    assert budget.pieces("trial", 0.1, 1.0) == 1  # nothing is known yet
    budget.begin()
    now[0] += 0.5
    budget.end("evaluation", 1, 1.0)
    assert budget.pieces("trial", 0.1, 1.0) == 190  # 9.5 s, a tenth of 0.5 s each
    budget.begin()
    now[0] += 1.5
    budget.end("trial", 15, 1.5)
    assert budget.pieces("trial", 0.1, 1.0) == 80  # 8 s, 0.1 s each
    assert budget.pieces("trial", 0.1, 0.1) == 0
    assert budget.share("trial", 0.5) == pytest.approx(0.01)  # 0.1 s each, whatever the rules say
    assert (budget.used, budget.evaluations) == (0.2, 2.5)


def test_a_budget_in_evaluations_asks_no_clock() -> None:
    budget = Budget(evaluations=100, clock=lambda: 0.0)
    assert budget.share("trial", 0.3) == 0.003
    assert budget.pieces("trial", 0.3, 0.5) == 166
    budget.end("trial", 7, 40.0)
    assert (budget.pieces("trial", 0.3, 0.5), budget.used) == (33, 0.4)


@pytest.mark.parametrize("count", [1, 5, POINTS, POINTS + 1, 5000])
def test_a_curve_has_its_first_and_last_point_and_never_falls(count: int) -> None:
    now, worth, problem = [0.0], np.random.default_rng(1).random(count), round_farm()
    layout = RandomStart().run(problem, 1).layout
    budget = Budget(evaluations=1, clock=lambda: now[0])
    found = Candidates(problem, budget)
    for at, value in enumerate(worth):
        now[0], budget.evaluations = 0.5 * at, 2.0 * at
        found.take(Candidate(value, value, layout, "random-start", at))
    seconds, evaluations, aep = (found.curve()[name] for name in CURVE)
    assert (seconds[0], seconds[-1], evaluations[-1]) == (0.0, 0.5 * (count - 1), 2.0 * (count - 1))
    assert (aep[0], aep[-1]) == (worth[0], worth.max())
    assert (np.diff(aep) >= 0.0).all()
    assert seconds[aep == worth.max()][0] == 0.5 * worth.argmax()


def test_a_curve_of_many_points_has_the_one_where_the_best_was_found() -> None:
    problem, now = round_farm(), [0.0]
    layout = RandomStart().run(problem, 1).layout
    found = Candidates(problem, Budget(evaluations=1, clock=lambda: now[0]))
    for at in range(400):
        now[0] = float(at)
        found.take(Candidate(min(at, 200), min(at, 200), layout, "random-start", 0))
    seconds, _, aep = (found.curve()[name] for name in CURVE)
    assert (seconds[aep == 200][0], seconds[-1]) == (200.0, 399.0)


def test_a_campaign_keeps_the_curve_in_its_records(tmp_path: Path) -> None:
    data = Campaign.load("iea37-cs1-16").to_data()
    data |= {"method": [{"auto": {"evaluations": 60}}], "seeds": 2, "run": {"workers": 1}}
    (tmp_path / "c.yaml").write_text(Campaign.from_data(data).dumps())
    done = vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5")
    assert done.returncode == 0, done.stderr
    shown = vindeby(tmp_path, "show", "out.h5", "farm0_t0_s1", "-o", "layout.svg")
    assert shown.returncode == 0, shown.stderr
    path, heading, *points = shown.stdout.splitlines()
    assert (path, heading.split()) == ("layout.svg", ["CPU", "seconds", "evaluations", "AEP,", "GWh"])
    with h5py.File(tmp_path / "out.h5") as file:
        record = file["farm0_t0_s1"]
        assert record["curve_aep_gwh"].shape == (POINTS,)
        assert record["curve_aep_gwh"][-1] == record["aep"][()]
        assert record["curve_evaluations"][-1] <= 70
        assert record["curve_seconds"].attrs["units"] == "s"
        assert points[-1].split()[-1] == f"{record['aep'][()]:,.3f}"
        assert 1 < len(points) <= 9
        assert record.attrs["repeatable"]
        assert record.attrs["search"] == "auto"
        assert record.attrs["best_start"] in {"random-start", "lattice", "boundary-grid", "smart-start"}


def test_quick_climbs_are_in_few_states_and_count_what_a_layout_is_worth_in_all() -> None:
    farm = round_farm().farm
    fine = WindFarm(
        WeibullSite((1.0,), (9.0,), (2.0,)),
        farm.turbines,
        "bastankhah-2014",
        directions=np.arange(0.0, 360.0, 3.0),
        speeds=np.arange(4.0, 23.0, 2.0),
    )
    problem = replace(round_farm(), farm=fine)
    tools, budget = Tools(problem), Budget(evaluations=100)
    assert tools.quick.farm.states.shape == (60, 5)
    assert tools.share == 0.25
    found = Candidates(problem, budget)
    start = RandomStart().run(problem, 1)
    candidate = Candidate(start.aep_gwh, start.aep_gwh, start.layout, "random-start", 0)
    found.take(candidate)
    found.climbs_lead_up = True  # the test of that counts too
    reached = Climbs(tools, found, quick=True).climb(candidate, 8, 1.0, 1.0)
    assert reached.aep_gwh == problem.aep(reached.layout) > start.aep_gwh
    assert reached.aep_gwh != tools.quick.aep(reached.layout)
    counted = (budget.evaluations - 1.0) / (
        0.25 * GRADIENT
    )  # gradients in a quarter of the states, and one evaluation
    assert counted == round(counted) >= 8


def test_where_no_state_can_be_left_out_quick_climbs_are_in_all() -> None:
    problem = round_farm()
    tools = Tools(problem)
    assert tools.quick is problem
    assert tools.search(Gradient(4), quick=True) is tools.search(Gradient(4))


def test_when_a_long_annealing_gains_nothing_further_starts_take_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts: list[str] = []
    race, moves = Race.run, Contest._moves

    def raced(self: Race, until: float) -> None:
        parts.append("race")
        race(self, until)

    def moved(self: Contest, method: Method) -> bool:
        best = list(self.found.best)
        done = moves(self, method)
        self.found.best = best  # nothing is gained
        parts.append(type(method).__name__)
        return done

    monkeypatch.setattr(Race, "run", raced)
    monkeypatch.setattr(Contest, "_moves", moved)
    Auto(evaluations=6000).run(round_farm(), 1)
    first = parts.index("race")
    assert parts[first : first + 4] == ["race", "RandomSearch", "Annealing", "race"]


def test_rounds_move_layouts_that_no_round_before_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "ROUND", 300)
    walked: list[float] = []
    ended: list[float] = []
    walk = Contest._walk

    def walks(self: Contest, until: float) -> None:
        walked.append(self.found.best[0].worth)
        walk(self, until)
        ended.append(self.found.best[0].worth)

    monkeypatch.setattr(Contest, "_walk", walks)
    problem = round_farm()
    found = Auto(evaluations=4000).run(problem, 1)
    refuse_bad_curve(found)
    first = len(walked)
    again = Auto(evaluations=4000).run(problem, 1)
    assert np.array_equal(found.x, again.x)
    assert walked[first:] == walked[:first]
    rounds = np.array(walked[: first - 1])  # the last goes on with the best of all
    assert len(rounds) >= 3
    assert np.all(
        np.abs(np.subtract.outer(rounds, rounds))[np.triu_indices(len(rounds), 1)] > 2e-6 * rounds.max()
    )
    assert found.aep_gwh >= max(ended[:first])


def test_starts_that_fail_in_a_later_round_leave_the_layouts_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "ROUND", 300)
    rounds: list[float] = []
    pass_on, made_by = Contest._pass_on, Race._made_by

    def passed_on(self: Contest, until: float) -> None:
        rounds.append(until)
        pass_on(self, until)

    def made(self: Race, start: Start) -> Layout | None:
        if len(rounds) < 2:
            return made_by(self, start)
        self._starts.remove(start)
        self.found.best = []  # as if all that was there had been moved
        return None

    monkeypatch.setattr(Contest, "_pass_on", passed_on)
    monkeypatch.setattr(Race, "_made_by", made)
    problem = round_farm()
    found = Auto(evaluations=4000).run(problem, 1)
    assert len(rounds) > 2
    assert problem.is_feasible(found.layout)
    refuse_bad_curve(found)


def test_layouts_are_compared_with_those_of_the_race_and_not_with_refined_ones() -> None:
    problem, budget = round_farm(), Budget(evaluations=400)
    tools, found = Tools(problem), Candidates(problem, budget)
    starts = [start for start in starts_for(problem) if start.name == "random-start"]
    race = Race(starts, Climbs(tools, found), iter(range(100)).__next__)
    race.run(0.2)
    assert race.goes_on()
    first = found.best[0]
    found.take(first._replace(worth=1.1 * first.worth))
    assert race.goes_on()


def test_what_was_moved_makes_room_but_the_best_of_all_is_kept() -> None:
    problem = round_farm()
    found = Candidates(problem, Budget(evaluations=1))
    layout = RandomStart().run(problem, 1).layout
    best = Candidate(2.0, 2.0, layout, "lattice", 0)
    found.take(best)
    found.take(Candidate(2.0 - 2e-6, 2.0, layout, "lattice", 1))
    found.take(Candidate(1.0, 1.0, layout, "lattice", 2))
    found.leave_out([2.0])
    assert [one.number for one in found.best] == [2]
    assert found.curve()["curve_aep_gwh"][-1] == 2.0
    assert found.go_on_with_first() == best
    assert found.best == [best]
