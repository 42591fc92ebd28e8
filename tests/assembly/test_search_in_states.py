"""Searches of campaigns whose wind is given state by state, or whose turbulence depends on the wind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vindeby.assembly.physics import physics_checks
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.layout import SmartStart
from vindeby.layout.method import Method
from vindeby.plots.wind import prevailing
from vindeby.store.format.record import Record

pytestmark = pytest.mark.slow

SERIES = {
    "wind_direction": [240.0, 243.5, 60.0, 0.0, 241.0, 180.0],
    "wind_speed": [7.0, 8.0, 9.0, 10.0, 8.5, 9.5],
    "turbulence_intensity": [0.08, 0.07, 0.1, 0.09, 0.08, 0.07],
}
STATES = {**SERIES, "probability": [0.2, 0.2, 0.1, 0.1, 0.2, 0.2]}
ROSE = {
    "turbulence_intensity": {"wind_speeds": [7, 11], "values": [0.1, 0.06]},
    "sectors": [{"direction": d, "a": 9, "k": 2, "frequency": 0.25} for d in (0, 90, 180, 270)],
    "wind_speeds": [7, 9, 11],
    "direction_step": 30,
}


def campaign(site: dict[str, Any], method: Any) -> Campaign:
    data = Campaign.load("iea37-cs1-16").to_data()
    return Campaign.from_data(data | {"site": site, "method": method, "n_turbines": 6})


@pytest.mark.parametrize(
    "site", [{"time_series": {**SERIES, "weight": [1, 1, 2, 1, 1, 3]}}, {"states": STATES}, {"weibull": ROSE}]
)
def test_smart_start_and_refinement_work_in_this_wind(site: dict[str, Any]) -> None:
    refinement = [{"gradient": {"max_iterations": 5}}, {"random-search": {"max_evaluations": 20}}]
    asked = campaign(site, [{"smart-start": {"grid_size": 9}}, *refinement])
    problem = problem_of(asked, asked.cells()[0])
    found = pipeline_of(asked).run(problem, seed=5)
    assert problem.is_feasible(found.layout)
    assert found.aep_gwh == pytest.approx(problem.aep(found.layout), rel=1e-12)
    stated = np.array(problem.stated_aep(found.layout))
    record = Record("farm0_t0_s0", "", {"layout": np.array([found.x, found.y]), "aep": stated})
    assert [text for check in physics_checks(asked, deep=True) for text in check(record)] == []


def _start(asked: Campaign) -> SmartStart:
    (step,) = pipeline_of(asked).steps
    assert isinstance(step, Method)
    assert isinstance(step, SmartStart)
    return step


def test_a_smart_start_leaves_out_the_wind_speeds_at_which_turbulence_is_not_known() -> None:
    assert _start(campaign({"weibull": ROSE}, "smart-start")).wind_speeds == (8.0, 10.0)
    narrow = {
        **ROSE,
        "turbulence_intensity": {"wind_speeds": [8.5, 9.5], "values": [0.1, 0.06]},
        "wind_speeds": [9],
    }
    assert _start(campaign({"weibull": narrow}, "smart-start")).wind_speeds == (8.5, 9.5)
    assert (
        _start(campaign({"weibull": {**ROSE, "turbulence_intensity": 0.1}}, "smart-start")).wind_speeds
        is None
    )


def test_the_prevailing_wind_of_a_series_is_where_most_of_its_steps_come_from() -> None:
    asked = campaign({"time_series": SERIES}, "random-start")
    direction, speed = prevailing(problem_of(asked, asked.cells()[0]).farm)
    assert 229 <= direction <= 255
    assert speed == 7.8  # the mean of the three steps around 241 degrees
