"""One mistake is told once: nothing is added that only follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaign.examples import small
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


def fields_of_problems(data: dict[str, Any]) -> list[str]:
    with pytest.raises(CampaignError) as caught:
        Campaign.from_data(data)
    return [problem.field for problem in caught.value.problems]


def test_an_error_in_the_only_farm_does_not_say_that_there_are_no_farms() -> None:
    data = small()
    data["farms"] = [{**data["farms"][0], "name": 12}]
    assert fields_of_problems(data) == ["farms[0].name"]


def test_an_error_in_each_farm_does_not_say_that_there_are_no_farms() -> None:
    data = small()
    for farm in data["farms"]:
        farm["name"] = 12
    assert fields_of_problems(data) == ["farms[0].name", "farms[1].name"]


def test_an_error_in_the_only_turbine_does_not_say_that_there_are_no_turbines() -> None:
    data = small()
    data["turbines"] = [{"name": "bad", "generic": {"rated_power_mw": -2}}]
    fields = [
        f"turbines[0].generic.{name}" for name in ("rated_power_mw", "rotor_diameter_m", "hub_height_m")
    ]
    assert fields_of_problems(data) == fields


@pytest.mark.parametrize(
    ("part", "value", "field"),
    [
        ("sectors", [{"direction": 0, "a": -1, "k": 2, "frequency": 1}], "sectors[0].a"),
        ("wind_speeds", [-1], "wind_speeds[0]"),
    ],
)
def test_an_error_in_the_only_entry_of_another_list_is_told_alone(part: str, value: Any, field: str) -> None:
    data = small()
    data["site"]["weibull"][part] = value
    assert fields_of_problems(data) == [f"site.weibull.{field}"]


@pytest.mark.parametrize("part", ["farms", "turbines", "method", "seeds"])
def test_a_list_that_is_empty_is_still_said_to_be_empty(part: str) -> None:
    assert fields_of_problems({**small(), part: []}) == [part]
