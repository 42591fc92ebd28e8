"""Fewer wind states: the same energy of a turbine alone, the same sum, all directions in turn, wakes nearly as dear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.layout.small_problems import circle, mixed
from vindeby.layout import Boundary, Gradient, LayoutProblem, RandomStart
from vindeby.layout.climbing.simplified_farm import direction_step, thinned, thinned_states
from vindeby.layout.methods.gradient import schedule_of
from vindeby.wake import (
    GriddedSite,
    TimeSeriesSite,
    Turbine,
    WeibullSite,
    WindFarm,
    WindGrid,
    WindStates,
)

pytestmark = pytest.mark.slow

TURBINE = Turbine.generic("t", 8.0, 160.0, 110.0)
SITE = WeibullSite([0.3, 0.2, 0.1, 0.4], [9.0, 10.0, 8.0, 11.0], [2.0, 2.1, 2.2, 1.9])
AREA = Boundary([((0.0, 0.0), (3000.0, 0.0), (3000.0, 3000.0), (0.0, 3000.0))])
GRID = WindGrid([-100.0, 3100.0], [-100.0, 3100.0], speedup=[[0.9, 1.0], [1.0, 1.1]])


def problem(
    site: WeibullSite | GriddedSite | TimeSeriesSite = SITE, model: str = "bastankhah-2014"
) -> LayoutProblem:
    return LayoutProblem(WindFarm(site, TURBINE, model), AREA, 6, 480.0)


def mean_power(states: WindStates) -> float:
    return float(TURBINE.power_at(states.speed) @ states.probability)


@pytest.mark.parametrize("directions", [24, 36, 72, 120, 360])
@pytest.mark.parametrize("speeds", [2, 5, 8, 23])
@pytest.mark.parametrize("offset", [0, 1, 7])
def test_sum_and_mean_power_of_a_turbine_alone_stay(directions: int, speeds: int, offset: int) -> None:
    states = SITE.states()
    few = thinned_states(states, [TURBINE], directions, speeds, offset)
    assert few.shape == (directions, speeds)
    assert few.probability.min() >= 0.0
    assert_allclose(few.probability.sum(), states.probability.sum(), rtol=1e-12)
    assert_allclose(mean_power(few), mean_power(states), rtol=1e-12)
    assert set(few.speed) <= set(states.speed)


def test_each_direction_stands_for_itself_and_its_neighbours() -> None:
    states = WeibullSite(np.eye(36)[5], np.full(36, 9.0), np.full(36, 2.0)).states(np.arange(0, 360, 10.0))
    few = thinned_states(states, [TURBINE], 12, 99, offset=1)
    held = few.probability.reshape(few.shape).sum(axis=1)
    assert_array_equal(few.direction, np.arange(10.0, 360.0, 30.0))
    assert_allclose(held, states.probability.sum() * (few.direction == 40.0), atol=1e-15)


@pytest.mark.parametrize(("directions", "step"), [(24, 15), (30, 12), (60, 6), (120, 3), (180, 2)])
def test_the_offsets_take_every_direction_once_and_opposites_stay_together(
    directions: int, step: int
) -> None:
    states = SITE.states()
    used = [thinned_states(states, [TURBINE], directions, 5, offset).direction for offset in range(step)]
    assert_array_equal(np.sort(np.concatenate(used)), states.direction)
    for some in used:
        assert set((some + 180.0) % 360.0) == set(some)
    again = thinned_states(states, [TURBINE], directions, 5, step).direction
    assert_array_equal(again, used[0])


def test_energy_and_slopes_in_wakes_are_nearly_those_of_all_states() -> None:
    rng = np.random.default_rng(1)
    whole = problem()
    x, y = rng.uniform(0, 3000, (2, 6))
    energy, *slopes = whole.farm.aep_and_gradient(x, y)
    few = thinned(whole, 180, 8)
    assert few is not None
    near, *near_slopes = few.farm.aep_and_gradient(x, y)
    free = whole.farm.wake_free_aep(6)
    assert_allclose(free - near, free - energy, rtol=0.02)
    all_slopes, few_slopes = np.ravel(slopes), np.ravel(near_slopes)
    cosine = all_slopes @ few_slopes / np.linalg.norm(all_slopes) / np.linalg.norm(few_slopes)
    assert cosine > 0.99


def test_turbulence_is_that_of_the_states_that_are_kept() -> None:
    site = replace(SITE, turbulence_intensity=[0.05, 0.1, 0.15, 0.2])
    few, states = thinned_states(site.states(), [TURBINE], 36, 5, 3), site.states()
    by_direction = dict(zip(states.direction, states.turbulence.reshape(states.shape)[:, 0], strict=True))
    expected = [by_direction[direction] for direction in few.direction]
    assert_array_equal(few.turbulence.reshape(few.shape), np.repeat(expected, 5).reshape(few.shape))


@pytest.mark.parametrize(
    ("direction", "wanted", "step"),
    [
        (np.arange(360.0), 361, 1),
        (np.arange(360.0), 100, 3),
        (np.arange(360.0), 180, 2),
        (np.arange(0.0, 360.0, 15.0), 24, 1),
        (np.arange(0.0, 360.0, 360 / 7), 2, 1),
        (np.arange(90.0), 30, 1),
        (np.array([270.0, 0.0, 90.0, 180.0]), 2, 1),
        (np.arange(90.0, 450.0, 10.0), 12, 3),
    ],
)
def test_a_direction_stands_for_others_only_where_all_are_evenly_spread(
    direction: np.ndarray, wanted: int, step: int
) -> None:
    assert direction_step(direction, wanted) == step


def test_where_nothing_can_be_left_out_there_is_no_thinner_problem() -> None:
    series = TimeSeriesSite(np.linspace(4.0, 14.0, 500), np.linspace(0.0, 359.0, 500))
    assert thinned(problem(series), 24, 3) is None
    assert thinned(circle(), 24, 8) is None
    assert thinned(mixed(), 24, 5) is None


def long_series(steps: int = 3000) -> TimeSeriesSite:
    rng = np.random.default_rng(4)
    speed, direction = 9.0 * rng.weibull(2.1, steps), rng.normal(250.0, 60.0, steps) % 360.0
    return TimeSeriesSite(
        speed, direction, rng.uniform(0.05, 0.12, steps), weight=rng.uniform(0.5, 1.0, steps)
    )


def test_a_long_time_series_is_thinned_as_the_rose_that_it_makes() -> None:
    states = long_series().states()
    few = thinned_states(states, [TURBINE], 60, 6, offset=2)
    assert (few.shape, few.step) == ((60, 6), None)
    assert_array_equal(few.direction, np.arange(2.0, 360.0, 6.0))
    assert few.probability.min() >= 0.0
    assert_allclose(few.probability.sum(), states.probability.sum(), rtol=1e-12)
    assert_allclose(mean_power(few), mean_power(states), rtol=1e-9)
    west = few.probability.reshape(few.shape)[(few.direction > 205.0) & (few.direction < 295.0)].sum()
    from_west = (states.direction > 205.0) & (states.direction < 295.0)
    steps = np.repeat(from_west, np.diff(states.first))
    assert_allclose(west, states.probability[steps].sum(), rtol=0.02)
    longer = long_series(20_000).states()
    rose = thinned_states(longer, [TURBINE], 360, 99)
    assert_allclose(rose.turbulence @ rose.probability, longer.turbulence @ longer.probability, rtol=1e-12)
    calm = TimeSeriesSite(np.zeros(2000), np.arange(2000.0) % 360.0).states()
    assert thinned_states(calm, [TURBINE], 24, 3) is calm


def test_a_climb_in_a_long_time_series_is_made_in_few_states_and_its_energy_is_of_all_steps() -> None:
    whole = problem(long_series(), "jensen")
    schedule = schedule_of(whole, 4.0, "coarse-to-fine")
    assert [len(stage.farm.states.speed) for stage in schedule.wide] == [120 * 6, 180 * 6]
    assert schedule.few_speeds is not None
    assert len(schedule.few_speeds.farm.states.speed) == 360 * 8
    start = RandomStart().run(whole, 1)
    found = Gradient(24, 4.0).run(whole, 1, start.layout)
    assert found.aep_gwh == whole.aep(found.layout) > start.aep_gwh


def test_neighbours_and_types_stay() -> None:
    whole = mixed()
    few = thinned(whole, 6, 2)
    assert few is not None
    assert few.farm.neighbours is whole.farm.neighbours
    assert few.farm.turbines == whole.farm.turbines
    assert few.farm.states.shape == (6, 2)


def test_local_wind_stays_local() -> None:
    whole = problem(GriddedSite(SITE, GRID))
    few = thinned(whole, 36, 5)
    assert few is not None
    assert few.farm.states.shape == (36, 5)
    corners = [100.0, 2900.0], [100.0, 2900.0]
    windy, all_windy = (p.farm.turbine_aep(*corners) for p in (few, whole))
    assert windy[1] > 1.1 * windy[0]
    assert_allclose(windy, all_windy, rtol=0.03)


def test_local_probabilities_keep_all_wind_speeds() -> None:
    grid = WindGrid(
        [-100.0, 3100.0],
        [-100.0, 3100.0],
        direction=[0.0, 90.0, 180.0, 270.0],
        weibull_a=np.full((2, 2, 4), 9.0),
        weibull_k=np.full((2, 2, 4), 2.0),
        sector_frequency=np.full((2, 2, 4), 0.25),
    )
    whole = problem(GriddedSite(WeibullSite((1.0,), (9.0,), (2.0,)), grid))
    few = thinned(whole, 36, 5)
    assert few is not None
    assert few.farm.states.shape == (36, 23)
    assert_allclose(few.farm.aep([1500.0], [1500.0]), whole.farm.aep([1500.0], [1500.0]), rtol=1e-6)
