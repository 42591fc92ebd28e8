"""In which wakes and wind a climb is made, and what its steps know of the curvature."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.layout.small_problems import circle, fine_rose
from vindeby.layout.climbing.climb import Curvature
from vindeby.layout.climbing.stages import StageIterations, schedule_of
from vindeby.wake import WeibullSite, WindFarm


def test_wider_wakes_are_climbed_in_fewer_directions_and_the_last_stage_in_all() -> None:
    problem = fine_rose()
    schedule = schedule_of(problem, 16.0, "coarse-to-fine")
    assert [stage.farm.states.shape for stage in schedule.wide] == [(30, 6), (60, 6), (120, 6), (120, 6)]
    assert schedule.few_speeds is not None
    assert schedule.few_speeds.farm.states.shape == (120, 8)
    assert schedule.few_speeds.farm.model.constants == problem.farm.model.constants
    assert all(stage.farm.model.constants != problem.farm.model.constants for stage in schedule.wide)


def test_in_all_wind_states_nothing_is_left_out() -> None:
    problem = fine_rose()
    schedule = schedule_of(problem, 4.0, "all")
    assert [stage.farm.states.shape for stage in schedule.wide] == [(120, 12)] * 2
    assert schedule.few_speeds is None


def test_other_directions_stand_for_their_neighbours_from_stage_to_stage() -> None:
    first, second, *_ = (
        stage.farm.states.direction for stage in schedule_of(fine_rose(), 16.0, "coarse-to-fine").wide
    )
    assert not set(first) & set(second)


def test_few_wind_states_stay_as_they_are() -> None:
    problem = circle()
    schedule = schedule_of(problem, 16.0, "coarse-to-fine")
    assert [stage.farm.states is problem.farm.states for stage in schedule.wide] == [True] * 4
    assert schedule.few_speeds is None


def test_a_farm_with_wakes_of_its_own_is_climbed_in_all_wind_states() -> None:
    class OwnFarm(WindFarm):
        """As a farm is whose wakes another engine computes."""

    own = fine_rose()
    site = WeibullSite([1.0], [9.0], [2.0])
    object.__setattr__(own, "farm", OwnFarm(site, own.farm.turbines, own.farm.model))
    assert schedule_of(own, 1.0, "coarse-to-fine").few_speeds is None


@pytest.mark.parametrize("iterations", [1, 2, 7, 60, 120, 320, 2000])
@pytest.mark.parametrize("widening", [2.0, 4.0, 16.0])
def test_a_budget_is_spent_on_wide_wakes_but_for_a_part(iterations: int, widening: float) -> None:
    schedule = schedule_of(circle(), widening, "coarse-to-fine")
    budget, again = schedule.budget(iterations), schedule.repeated
    spent = (1 + budget.shakes) * sum(budget.wide[:again]) + sum(budget.wide[again:])
    assert 0 < iterations - spent <= min((iterations + 1) // 2, max(48, iterations // 8)) + 20
    assert len(budget.wide) == len(schedule.wide)
    assert not budget.shakes or min(budget.wide[:again]) >= 10


def test_the_widest_wakes_are_climbed_again_where_there_are_iterations_for_it() -> None:
    schedule = schedule_of(circle(), 16.0, "coarse-to-fine")
    assert schedule.repeated == 2
    assert [schedule.budget(n).shakes for n in (60, 120, 320, 1000)] == [0, 2, 12, 42]
    assert schedule.budget(320).wide == (10, 10, 16, 16)


def test_in_all_wind_states_half_of_the_iterations_are_shared_by_the_stages_and_none_is_for_shakes() -> None:
    schedule = schedule_of(circle(), 16.0, "all")
    assert (schedule.repeated, schedule.budget(500)) == (0, StageIterations(0, (62, 62, 62, 62)))
    assert schedule_of(circle(), 1.0, "all").budget(500) == StageIterations(0, ())


def test_the_direction_is_newtons_where_the_curvature_is_known() -> None:
    bends = np.array([[1.0, 4.0], [9.0, 0.25]])
    curvature = Curvature(4)
    assert curvature.direction(np.ones((2, 2))) is None
    for i in range(4):
        moved = np.zeros((2, 2))
        moved.flat[i] = 0.1 * (i + 1)
        curvature.learn(moved, -bends * moved)
    slope = np.array([[1.0, -2.0], [3.0, 0.5]])
    direction = curvature.direction(slope)
    assert direction is not None
    assert_allclose(direction, slope / bends, rtol=1e-12)


@pytest.mark.parametrize("turned", [1.0, 0.0])
def test_steps_along_which_the_slope_does_not_fall_are_not_learnt_from(turned: float) -> None:
    curvature = Curvature(4)
    curvature.learn(np.ones((2, 3)), turned * np.ones((2, 3)))
    assert curvature.direction(np.ones((2, 3))) is None


def test_no_more_steps_are_kept_than_the_memory_holds() -> None:
    curvature = Curvature(2)
    for size in (1.0, 2.0, 3.0):
        curvature.learn(np.full((2, 1), size), np.full((2, 1), -size))
    assert [float(moved[0, 0]) for moved, _, _ in curvature.pairs] == [2.0, 3.0]
