"""The judges of open cases: published energies to the last digit, PyWake, and layouts that break rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vindeby.cases import Case, all_cases, case_named, judged
from vindeby.cases.judges import _miscounted, energy_mwh, inside_m
from vindeby.errors import InputError

PUBLISHED = json.loads((Path(__file__).parents[1] / "physics/iea37_cs1.json").read_text())["layouts"]
CASES = all_cases()


@pytest.mark.parametrize("layout", PUBLISHED, ids=lambda layout: layout["name"])
def test_the_judge_gives_the_published_energy_of_published_layouts(layout: dict[str, Any]) -> None:
    case = case_named(f"iea37-cs1-{len(layout['x'])}")
    verdict = judged(case, np.array(layout["x"]), np.array(layout["y"]))
    assert verdict.worth == pytest.approx(layout["aep_mwh"], abs=6e-5)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            case.name,
            marks=pytest.mark.slow if case.judge == "competition" or case.name == "horns-rev-1" else (),
        )
        for case in CASES
        if case.judge != "pywake"
    ],
)
def test_every_record_is_worth_what_its_file_says_and_keeps_the_rules(name: str) -> None:
    case = case_named(name)
    if case.record is None:
        return
    verdict = judged(case, case.record.x, case.record.y)
    assert verdict.problems == ()
    assert verdict.worth == pytest.approx(case.record.worth, rel=1e-9)


def circle() -> Case:
    return case_named("iea37-cs1-16")


def test_a_turbine_outside_is_named_with_its_distance() -> None:
    case = circle()
    assert case.record is not None
    x, y = case.record.x.copy(), case.record.y.copy()
    outermost = int(np.argmax(np.hypot(x, y)))
    x[outermost], y[outermost] = np.array([x[outermost], y[outermost]]) * 1302.5 / 1300.0
    (problem,) = judged(case, x, y).problems
    assert problem.startswith(f"turbine {outermost} at (")
    assert problem.endswith(" is 2.5 m outside the area")


@pytest.mark.parametrize(
    ("wake", "said"),
    [
        ({"jensen": {"k": 0.05, "rotor": "centre", "induction": "madsen"}}, "wake.jensen.induction: madsen"),
        ({"gaussian": {"k": 0.04, "cut_sigmas": 2}}, "wake.gaussian.cut_sigmas: 2"),
        ({"top-hat": {"k": 0.04, "superposition": "linear"}}, "wake.top-hat.superposition: linear"),
    ],
)
def test_the_judge_refuses_wakes_that_its_formulas_are_not_for(wake: dict[str, Any], said: str) -> None:
    document = {**circle().document, "wake": wake}
    with pytest.raises(InputError, match=f"does not know {said}"):
        energy_mwh(document, np.array([0.0, 500.0]), np.zeros(2))


def test_turbines_that_are_too_near_are_named() -> None:
    case = circle()
    assert case.record is not None
    x, y = case.record.x.copy(), case.record.y.copy()
    x[1], y[1] = x[0] * 0.9, y[0] * 0.9
    problem = judged(case, x, y).problems[-1]
    assert problem.startswith("turbines 0 and 1 are ")
    assert problem.endswith(" m apart, less than 260 m")


def test_a_turbine_too_many_is_a_problem() -> None:
    case = circle()
    assert case.record is not None
    problems = judged(case, case.record.x[:-1], case.record.y[:-1]).problems
    assert problems == ("has 15 turbines instead of 16",)


@pytest.mark.parametrize("apart", [259.9999, 260.0, 260.1])
def test_the_least_distance_itself_is_allowed(apart: float) -> None:
    case = replace(circle(), turbines=2)
    verdict = judged(case, np.array([0.0, apart]), np.zeros(2))
    assert (verdict.problems == ()) == (apart >= 260.0)


def test_areas_with_several_polygons_and_exclusions() -> None:
    area = {
        "polygons": [
            [[0, 0], [10, 0], [10, 10], [0, 10]],
            [[20, 0], [30, 0], [30, 10], [25, 4], [20, 10]],
        ],
        "exclusions": [[[4, 4], [6, 4], [6, 6], [4, 6]], {"circle": {"center": [28, 2], "radius_m": 1}}],
    }
    x = np.array([1.0, 5.0, 15.0, 25.0, 25.0, 28.0, 10.0])
    y = np.array([2.0, 5.0, 5.0, 2.0, 9.0, 2.5, 5.0])
    inside = inside_m(area, x, y)
    # The fifth point is in the notch of the second polygon, the sixth in the circle that is left out.
    np.testing.assert_allclose(inside[[0, 1, 2, 5, 6]], [1.0, -1.0, -5.0, -0.5, 0.0], atol=1e-12)
    assert inside[3] > 0.0 > inside[4]


COMPETITION = {
    "gecco-2014-1": 0.000814542,
    "gecco-2014-2": 0.000978663,
    "gecco-2014-3": 0.001103144,
    "gecco-2014-4": 0.001124145,
    "gecco-2014-5": 0.001414672,
    "gecco-2015-1": 0.001268221,
    "gecco-2015-2": 0.001218873,
    "gecco-2015-3": 0.000700930,
    "gecco-2015-4": 0.000715394,
    "gecco-2015-5": 0.001284021,
}
"""Cost of the points of a grid of 400 m, as the competition's own evaluator prints it: ``evaluate SCENARIO LAYOUT``,
compiled with g++ 12 from github.com/d9w/WindFLO."""


@pytest.mark.parametrize("name", COMPETITION)
@pytest.mark.slow
def test_the_cost_of_a_layout_is_that_of_the_competitions_evaluator(name: str) -> None:
    case = case_named(name)
    area = case.document["farms"][0]["boundary"]
    width, height = area["polygon"][2]
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(0, width, 400.0), np.arange(0, height, 400.0)))
    inside = inside_m(area, x, y) >= 0.0
    verdict = judged(case, x[inside], y[inside])
    assert verdict.problems == ()
    assert f"{verdict.worth:.9f}" == f"{COMPETITION[name]:.9f}"


def test_a_wake_of_the_competition_reaches_the_turbine_just_upwind() -> None:
    """Two turbines 310 m apart, nearly along the wind of one sector; the cost is printed by the evaluator."""
    x, y = np.array([1000.0, 1306.6, 1000.0]), np.array([1000.0, 1045.8, 3000.0])
    assert f"{judged(case_named('gecco-2015-5'), x, y).worth:.9f}" == "0.034144850"


def test_the_competition_allows_no_rounding() -> None:
    case = case_named("gecco-2015-5")
    assert judged(case, np.array([0.0, 308.0]), np.zeros(2)).problems == ()
    near = judged(case, np.array([0.0, 308.0 - 1e-9]), np.zeros(2))
    assert near.problems == ("turbines 0 and 1 are 308 m apart, less than 308 m",)
    assert len(judged(case, np.array([-1e-9, 400.0]), np.zeros(2)).problems) == 1


def test_three_rows_on_mosettis_grid_give_the_published_power() -> None:
    """Ten columns with turbines in the first, sixth and last of ten cells: 14,310 kW in Grady et al. 2005."""
    x, y = (axis.ravel() for axis in np.meshgrid(100.0 + 200.0 * np.arange(10), [100.0, 900.0, 1900.0]))
    verdict = judged(case_named("mosetti-1"), x, y)
    assert verdict.problems == ()
    assert verdict.worth == pytest.approx(14310.0, abs=5.0)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", ["iea-740-10 regular", "iea-740-10 irregular", "iea-2200-22 plant", "iea-2200-22 recorder"]
)
def test_pywake_gives_the_published_energy_of_the_reference_plants(name: str) -> None:
    plant = json.loads((Path(__file__).parents[1] / "physics/reference_plants.json").read_text())[name]
    case = case_named(plant["preset"])
    verdict = judged(case, np.array(plant["x"]), np.array(plant["y"]))
    assert verdict.worth == pytest.approx(plant["aep_gwh"], rel=1e-9)
    outside = [problem for problem in verdict.problems if "outside" in problem]
    assert len(outside) <= 1


def test_a_turbine_in_the_wrong_zone_is_a_problem() -> None:
    case = case_named("iea-2200-22")
    zones = case.document["farms"][0]["zones"]
    x, y = np.repeat(np.array([np.mean(zone["boundary"], axis=0) for zone in zones]), [34, 33, 33], axis=0).T
    problems = list(_miscounted(case, x, y))
    assert problems == [
        "has 34 turbines in zone north instead of 33",
        "has 33 turbines in zone south instead of 34",
    ]
