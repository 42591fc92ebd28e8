"""In which wind states random-search and annealing make their trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import hypot

import numpy as np
import numpy.typing as npt
import pytest

from tests.layout.small_problems import circle, fine_rose, mixed
from tests.physics.gridded_sites import SOUTH, WEST, Local
from vindeby.errors import ArgumentError
from vindeby.layout import Annealing, Boundary, LayoutProblem, Method, RandomSearch, RandomStart, Result
from vindeby.layout.climbing.simplified_farm import thinned
from vindeby.layout.moves.walk import Stage, Walk, stages_of, trial_work, walk
from vindeby.wake import TimeSeriesSite, Turbine, WeibullSite, WindFarm, iea37_335mw

pytestmark = pytest.mark.slow

FloatArray = npt.NDArray[np.float64]
ROSE = WeibullSite([0.3, 0.2, 0.1, 0.4], [9.0, 10.0, 8.0, 11.0], [2.0, 2.1, 2.2, 1.9])
DEGREES = np.arange(0.0, 360.0, 1.0)
SPEEDS = np.arange(3.0, 26.0, 1.0)


def same_bits(one: Result, other: Result) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("x", "y", "aep_gwh"))


def in_wind(farm: WindFarm) -> LayoutProblem:
    return replace(fine_rose(), farm=farm, n_turbines=4)


def local_wind(local: Local, directions: FloatArray, speeds: FloatArray) -> LayoutProblem:
    corners = [(WEST + x, SOUTH + y) for x, y in ((250, 250), (2750, 250), (2750, 2750), (250, 2750))]
    turbine = Turbine.generic("ten", 10.0, 178.0, 119.0)
    farm = WindFarm(local.site(), turbine, "bastankhah-2014", directions=directions, speeds=speeds)
    return LayoutProblem(farm, Boundary([corners]), 3, 534.0, "local")


class OwnFarm(WindFarm):
    """As a farm is whose wakes another engine computes."""


def own_wakes() -> LayoutProblem:
    farm = fine_rose().farm
    return in_wind(OwnFarm(ROSE, farm.turbines, farm.model, directions=DEGREES[::3], speeds=SPEEDS))


def in_few_states() -> LayoutProblem:
    farm = fine_rose().farm
    return in_wind(WindFarm(ROSE, farm.turbines, farm.model, directions=DEGREES[::3], speeds=SPEEDS[1:17:2]))


def time_series() -> LayoutProblem:
    rng = np.random.default_rng(4)
    site = TimeSeriesSite(rng.uniform(4.0, 20.0, 200), rng.uniform(0.0, 360.0, 200))
    return in_wind(WindFarm(site, fine_rose().farm.turbines, "bastankhah-2014"))


STAY: dict[str, Callable[[], LayoutProblem]] = {
    "few states": in_few_states,
    "two types in few states": mixed,
    "steady wakes in few states": circle,
    "steady wakes": lambda: in_wind(
        WindFarm(ROSE, iea37_335mw(), "iea37", directions=DEGREES, speeds=SPEEDS)
    ),
    "time series": time_series,
    "wakes that follow the turned wind": lambda: local_wind(
        Local(turned=True), DEGREES[::2], np.array([7.0, 11.0])
    ),
    "model that adds turbulence": lambda: in_wind(
        WindFarm(ROSE, fine_rose().farm.turbines, "niayifar-2016", directions=DEGREES[::9], speeds=SPEEDS)
    ),
    "engine": own_wakes,
}


@pytest.mark.parametrize("name", STAY)
def test_where_few_states_would_not_pay_the_walk_is_that_in_all_of_them(name: str) -> None:
    problem = STAY[name]()
    assert [(stage.problem is problem, stage.share) for stage in stages_of(problem, "coarse-to-fine")] == [
        (True, 1.0)
    ]
    start = RandomStart().run(problem, 1).layout
    assert same_bits(
        RandomSearch(6).run(problem, 2, start), RandomSearch(6, None, "all").run(problem, 2, start)
    )


def fine(directions: FloatArray, speeds: FloatArray, turbines: int = 4) -> LayoutProblem:
    farm = fine_rose().farm
    made = WindFarm(ROSE, farm.turbines, farm.model, directions=directions, speeds=speeds)
    return replace(in_wind(made), n_turbines=turbines, spacing_m=0.0)


@pytest.mark.parametrize(
    ("problem", "shapes"),
    [
        (fine(DEGREES, SPEEDS), [(120, 6, 0.9), (360, 6, 0.1)]),
        (fine(DEGREES, SPEEDS[:4]), [(120, 4, 0.9), (360, 4, 0.1)]),
        (fine(DEGREES[::3], SPEEDS), [(120, 6, 1.0)]),
        (
            fine(DEGREES, SPEEDS, 125),
            [(120, 6, 1.0)],
        ),  # the pairs in all directions do not fit into the memory
        (local_wind(Local(weibull=False), DEGREES, SPEEDS), [(120, 8, 0.9), (360, 8, 0.1)]),
        (local_wind(Local(), DEGREES, SPEEDS), [(120, 23, 0.9), (360, 23, 0.1)]),
    ],
)
def test_a_fine_rose_is_walked_in_few_states_and_at_last_in_all_directions(
    problem: LayoutProblem, shapes: list[tuple[int, int, float]]
) -> None:
    stages = stages_of(problem, "coarse-to-fine")
    assert [(*stage.problem.farm.states.shape, stage.share) for stage in stages] == shapes
    assert [(stage.problem is problem, stage.share) for stage in stages_of(problem, "all")] == [(True, 1.0)]


def test_the_trials_and_the_cooling_go_on_from_stage_to_stage() -> None:
    how = Walk(1005, 1000.0, 0.1, 2.5, 0.01, 0.001)
    first, last = how.part(0.0, 0.9), how.part(0.9, 1.0)
    assert first.budget + last.budget == 1005
    assert first.hot == 0.01
    assert last.cold == pytest.approx(0.001)
    assert first.cold == last.hot == pytest.approx(0.01 * 0.1**0.9)
    without_heat = replace(how, hot=0.0, cold=0.0).part(0.9, 1.0)
    assert (without_heat.hot, without_heat.cold) == (0.0, 0.0)


def test_both_stages_are_walked_and_counted() -> None:
    problem = fine(DEGREES, SPEEDS[1:17:2])
    start = RandomStart().run(problem, 0).layout
    first, last = stages_of(problem, "coarse-to-fine")
    assert Annealing(100).run(problem, 3, start).evaluations == 102
    both, one = (
        RandomSearch(200).run(problem, 3, start),
        walk(problem, start, 3, Walk(200, 1000.0, 0.5, 3.0), "random-search", [first]),
    )
    assert both.aep_gwh > problem.aep(start)
    assert not same_bits(both, one)
    assert last.problem.farm.states.shape == (360, 6)
    assert same_bits(both, RandomSearch(200).run(problem, 3, start))


HOW = {"random-search": Walk(60, 3000.0, 0.5, 3.0), "annealing": Walk(60, 3000.0, 0.1, 2.5, 0.001, 0.0001)}


@pytest.mark.parametrize("name", HOW)
def test_a_start_is_never_made_worse_in_all_wind_states(name: str) -> None:
    problem = fine_rose()
    few = thinned(problem, 12, 3)
    assert few is not None
    good = RandomSearch(2000, None, "all").run(problem, 0, RandomStart().run(problem, 2).layout)
    worse = 0
    for seed in range(6):
        found = walk(problem, good.layout, seed, HOW[name], name, [Stage(few, 1.0)])
        assert found.aep_gwh == problem.aep(found.layout)
        in_few = walk(few, good.layout, seed, HOW[name], name)
        after = problem.aep(in_few.layout)
        worse += after < good.aep_gwh
        assert (found.x == (good.x if after < good.aep_gwh else in_few.x)).all()
    assert worse > 0  # otherwise nothing was tried that leads below the start


@pytest.mark.parametrize("method", [RandomSearch(40), Annealing(40), Annealing(40, 0.03)], ids=str)
def test_methods_never_make_a_start_worse(method: Method) -> None:
    problem = fine_rose()
    good = RandomSearch(2000, None, "all").run(problem, 0, RandomStart().run(problem, 2).layout)
    for seed in range(4):
        found = method.run(problem, seed, good.layout)
        assert found.aep_gwh == problem.aep(found.layout) >= good.aep_gwh


def test_few_states_gain_nearly_what_all_gain() -> None:
    problem = fine_rose()
    starts = [RandomStart().run(problem, seed).layout for seed in range(4)]
    before = np.mean([problem.aep(start) for start in starts])
    few, whole = (
        np.mean([Annealing(1500, None, wind).run(problem, 0, start).aep_gwh for start in starts])
        for wind in ("coarse-to-fine", "all")
    )
    assert few - before > 0.9 * (whole - before) > 0.0


def test_the_temperature_follows_from_the_wake_loss_in_all_wind_states() -> None:
    problem = fine_rose()
    start = RandomStart().run(problem, 0).layout
    loss = problem.farm.wake_loss(start.x, start.y, start.types)
    west, south, east, north = problem.boundary.bounds
    how = Walk(100, hypot(east - west, north - south), 0.1, 2.5, 0.1 * loss, 0.01 * loss)
    stages = stages_of(problem, "coarse-to-fine")
    assert same_bits(Annealing(100).run(problem, 3, start), walk(problem, start, 3, how, "annealing", stages))


def test_a_start_that_breaks_the_rules_is_mended_in_few_states_too() -> None:
    problem = fine_rose()
    start = RandomStart().run(problem, 0).layout
    start.x[:] += 400.0
    assert not problem.is_feasible(start)
    assert problem.is_feasible(Annealing(20).run(problem, 0, start).layout)


def test_a_trial_in_few_states_is_counted_as_what_it_costs() -> None:
    problem = fine_rose()
    assert trial_work(problem) == pytest.approx(4.0 / 9 * 6 / 12)
    assert trial_work(fine(DEGREES, SPEEDS, 100)) == pytest.approx(
        4.0 / 100 * (0.9 * 120 + 0.1 * 360) * 6 / (360 * 23)
    )
    assert trial_work(in_few_states()) == pytest.approx(0.5)


@pytest.mark.parametrize("make", [RandomSearch, Annealing])
def test_unknown_wind_is_refused(make: Callable[..., Method]) -> None:
    with pytest.raises(ArgumentError, match="wind must be 'coarse-to-fine' or 'all', not 'few'"):
        make(10, None, "few")
