"""The rated power of a turbine table, and how many turbines a capacity makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaign.examples import changed
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey
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


def count_and_warnings(data: dict[str, Any]) -> tuple[int, str]:
    campaign = Campaign.from_data(data)
    return campaign.tasks()[0].n_turbines, "\n".join(survey(campaign).warnings)


def test_a_stated_rated_power_decides_how_many_turbines_a_capacity_makes() -> None:
    assert count_and_warnings(with_curve(MEASURED_KW, 740, rated_power_mw=10)) == (74, "")


def test_a_curve_just_above_a_round_figure_is_warned_of_where_a_turbine_is_lost() -> None:
    count, warnings = count_and_warnings(with_curve(MEASURED_KW, 740))
    assert count == 73
    words = (
        "type ten",
        "740 MW make 73 turbines in farm north",
        "10.00004166 MW",
        "with 10 MW it would be 74",
    )
    assert all(word in warnings for word in words), warnings
    assert "give rated_power_mw" in warnings


@pytest.mark.parametrize(
    ("largest_kw", "capacity_mw", "warned"),
    [
        (MEASURED_KW, 745, False),  # 74 either way
        (10_000.0, 740, False),  # the curve has the round figure
        (9_999.9, 740, False),  # 74 either way
        (9_950.0, 10_000, True),  # 1,005 instead of 1,000
        (9_940.0, 10_000, True),
        (10_099.0, 1_000, True),  # 99 instead of 100
        (10_150.0, 1_000, False),  # 1.5 % above: another turbine
        (12_500.3, 500, True),  # half-way between two figures of two digits
        (2_000.1, 30, True),
        (850.01, 17, True),
    ],
)
def test_a_rating_is_doubted_only_within_a_percent_and_where_the_count_depends_on_it(
    largest_kw: float, capacity_mw: float, warned: bool
) -> None:
    _, warnings = count_and_warnings(with_curve(largest_kw, capacity_mw))
    assert ("give rated_power_mw" in warnings) is warned, warnings


def test_a_rating_is_not_doubted_where_the_number_of_turbines_is_given() -> None:
    data = with_curve(MEASURED_KW, 740)
    del data["capacity_mw"]
    data["n_turbines"] = 73
    assert count_and_warnings(data) == (73, "")


def test_a_type_is_warned_of_once_with_the_number_of_other_farms() -> None:
    data = with_curve(MEASURED_KW, 740)
    data["farms"] += [{**data["farms"][0], "name": name, "capacity_mw": 200} for name in ("b", "c")]
    _, warnings = count_and_warnings(data)
    assert warnings.count("give rated_power_mw") == 1
    assert "(and 2 more farms likewise)" in warnings


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
