"""In which wakes and wind a climb is made, and what its steps know of the curvature."""

from __future__ import annotations

from tests.layout.small_problems import circle, fine_rose
from vindeby.layout import Gradient, Lattice, Pipeline, RandomStart, SmartStart
from vindeby.layout.methods.gradient import schedule_of
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


def test_wakes_are_wide_at_first_only_after_a_step_that_makes_a_start_of_its_own() -> None:
    assert Gradient().after(RandomStart()) == Gradient().after(SmartStart()) == Gradient(widening=16.0)
    assert Gradient().after(Lattice()) == Gradient()
    assert Gradient(widening=2.0).after(RandomStart()) == Gradient(widening=2.0)
    problem = circle()
    start = RandomStart().run(problem, 0).layout
    alone, true = (Gradient(20, widening).run(problem, 0, start) for widening in (None, 1.0))
    steps = Pipeline([RandomStart(), Gradient(20)]).run(problem, 0)
    wide = Gradient(20, 16.0).run(problem, 0, start)
    assert alone.aep_gwh == true.aep_gwh != wide.aep_gwh == steps.aep_gwh
