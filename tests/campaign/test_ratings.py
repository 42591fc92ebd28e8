"""The rated power of a turbine table, and how many turbines a capacity makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaign.examples import changed
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError

MEASURED_KW = 10_000.04166


def with_curve(largest_kw: float, capacity_mw: float, **table: Any) -> dict[str, Any]:
    data = changed("capacity_mw", capacity_mw)
    curve = {"wind_speed": [3, 11, 25], "power_kw": [0, largest_kw, largest_kw], "ct": [0.8, 0.7, 0.1]}
    data["turbines"] = [
        {"name": "ten", "table": {"rotor_diameter_m": 198, "hub_height_m": 119, **curve, **table}}
    ]
    data["farms"][0]["boundary"] = [[0, 0], [90000, 0], [90000, 90000], [0, 90000]]
    data["farms"] = data["farms"][:1]
    data["method"] = ["random-start"]
    return data


def count_of(data: dict[str, Any]) -> int:
    return Campaign.from_data(data).tasks()[0].n_turbines


def test_a_stated_rated_power_decides_how_many_turbines_a_capacity_makes() -> None:
    assert count_of(with_curve(MEASURED_KW, 740, rated_power_mw=10)) == 74


def test_a_curve_just_above_a_round_figure_makes_fewer() -> None:
    assert count_of(with_curve(MEASURED_KW, 740)) == 73


@pytest.mark.parametrize("rated", [10_000, 0.01, 5, 12.6])
def test_a_rated_power_far_from_the_curve_is_refused(rated: float) -> None:
    with pytest.raises(CampaignError) as caught:
        Campaign.from_data(with_curve(MEASURED_KW, 740, rated_power_mw=rated))
    told = str(caught.value)
    assert "turbines[0].table.rated_power_mw: is far from the largest power of the curve, 10 MW" in told
    assert "in MW" in told


def test_a_rating_is_kept_with_the_campaign_where_it_is_given() -> None:
    without = Campaign.from_data(with_curve(MEASURED_KW, 740))
    stated = Campaign.from_data(with_curve(MEASURED_KW, 740, rated_power_mw=10))
    assert Campaign.loads(stated.dumps()).tasks() == stated.tasks()
    assert "rated_power_mw" not in without.dumps()
