from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import vindeby
from tests.campaign.examples import changed
from vindeby import layout
from vindeby.assembly.physics import physics_checks
from vindeby.assembly.search import boundary_of, pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.campaign.sections.boundary import BoundarySection
from vindeby.campaign.sections.method import Step
from vindeby.campaign.sections.values import section_of
from vindeby.campaign.sections.wake_model import WakeSection
from vindeby.layout import Gradient, SmartStart
from vindeby.store.format.record import Record

pytestmark = pytest.mark.slow


def test_the_search_of_a_campaign_finds_a_layout_that_passes_its_checks() -> None:
    data = changed("method", {"smart-start": {"grid_size": 12, "random_pct": 20}})
    campaign = Campaign.from_data(data)
    for cell in campaign.cells():
        found = pipeline_of(campaign).run(problem_of(campaign, cell), seed=1)
        arrays = {"layout": np.array([found.x, found.y]), "aep": np.array(found.aep_gwh)}
        record = Record(f"farm{cell.farm_idx}_t{cell.type_idx}_s1", "", arrays)
        complaints = [text for check in physics_checks(campaign, deep=True) for text in check(record)]
        assert complaints == []


@pytest.mark.parametrize(
    "steps",
    [
        ["random-start"],
        ["lattice"],
        [{"lattice": {"rows": True, "trials": 30}}],
        ["random-start", {"gradient": {"max_iterations": 20, "widening": 2}}],
        ["random-start", {"random-search": {"max_evaluations": 50, "max_step_m": 300}}],
        ["random-start", {"annealing": {"max_evaluations": 50}}],
        [{"auto": {"evaluations": 100}}],
        ["random-start", {"auto": {"evaluations": 100}}],
    ],
)
def test_every_step_of_a_campaign_is_a_search(steps: list[Any]) -> None:
    data = Campaign.load("iea37-cs1-16").to_data() | {"method": steps}
    campaign = Campaign.from_data(data)
    problem = problem_of(campaign, campaign.cells()[0])
    found = pipeline_of(campaign).run(problem, seed=5)
    assert problem.is_feasible(found.layout)
    assert found.aep_gwh == pytest.approx(problem.aep(found.layout), rel=1e-12)


def test_what_a_campaign_says_of_gradient_reaches_it_and_defaults_are_the_same() -> None:
    data = Campaign.load("iea37-cs1-16").to_data()
    said = {"gradient": {"max_iterations": 7, "widening": 2, "wind": "all"}}
    given = pipeline_of(Campaign.from_data(data | {"method": ["random-start", said, "gradient"]}))
    assert given.steps[1:] == [Gradient(7, 2.0, "all"), Gradient()]


NOT_OURS = ("call", "python", "stored")
"""Steps that are no search methods of ``layout``."""


def test_every_step_of_the_campaign_file_but_those_of_a_user_is_known_to_the_search() -> None:
    names = {info.alias or name for name, info in Step.model_fields.items()} - {*NOT_OURS}
    data = Campaign.load("iea37-cs1-16").to_data()
    for name in names:
        assert pipeline_of(Campaign.from_data(data | {"method": ["random-start", name]})).steps


def test_smart_start_takes_its_speeds_from_the_scenario_that_it_judges_in() -> None:
    data = Campaign.load("iea37-cs1-16").to_data() | {"method": [{"smart-start": {"grid_size": 8}}]}
    site = deepcopy(data["site"])
    site["table"]["wind_speeds"] = [9.0]
    asked = Campaign.from_data(data | {"scenarios": {"calm": {"site": site}, "as it is": {}}})
    (step,) = pipeline_of(asked).steps
    assert isinstance(step, SmartStart)
    assert step.wind_speeds == (9.0,)


@pytest.mark.parametrize("preset", ["iea37-cs1-16", "iea37-cs1-36"])
def test_smart_start_judges_by_the_speeds_of_a_table(preset: str) -> None:
    campaign = Campaign.load(preset, ["method=[{smart-start: {grid_size: 15, random_pct: 0}}]"])
    found = pipeline_of(campaign).run(problem_of(campaign, campaign.cells()[0]), seed=0)
    assert found.aep_gwh > 0


@pytest.mark.parametrize(
    ("point", "inside"),
    [
        ((50, 50), True),
        ((350, 50), True),
        ((200, 50), False),
        ((20, 20), False),
        ((380, 80), False),
        ((0, 50), True),
    ],
)
def test_a_boundary_keeps_its_polygons_and_its_exclusions(point: tuple[float, float], inside: bool) -> None:
    boundary = BoundarySection.model_validate(
        {
            "polygons": [
                [[0, 0], [100, 0], [100, 100], [0, 100]],
                [[300, 0], [400, 0], [400, 100], [300, 100]],
            ],
            "exclusions": [
                [[10, 10], [30, 10], [30, 30], [10, 30]],
                {"circle": {"center": [380, 80], "radius_m": 9}},
            ],
        }
    )
    assert boundary_of(boundary).inside([point[0]], [point[1]])[0] == inside


def test_a_round_boundary_stays_round() -> None:
    boundary = boundary_of(BoundarySection.model_validate({"circle": {"center": [10, 20], "radius_m": 100}}))
    assert boundary.distances([110.0, 10.0], [20.0, 20.0]).tolist() == pytest.approx([0.0, 100.0], abs=1e-9)


@pytest.mark.parametrize("name", [name for name in Step.alternative_keys() if name not in NOT_OURS])
def test_a_search_method_takes_the_parameters_of_the_campaign_file(name: str) -> None:
    section = section_of(Step, name)
    named = section.__name__.removesuffix("Parameters").removesuffix("Section")
    method = inspect.signature(getattr(layout, named)).parameters
    assert [field.name for field in fields(section)] == [*method]


@pytest.mark.parametrize("name", vindeby.wake_models)
def test_a_wake_model_takes_the_parameters_and_defaults_of_the_campaign_file(name: str) -> None:
    section = section_of(WakeSection, name.replace("-", "_"))
    model = inspect.signature(vindeby.wake_models[name]).parameters
    assert {field.name: field.default for field in fields(section)} == {
        field: given.default for field, given in model.items()
    }
