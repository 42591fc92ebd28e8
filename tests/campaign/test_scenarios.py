"""Scenarios of a campaign: what each of them is, and what decides a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.campaign.broken_scenarios import NEAR
from tests.campaign.examples import SMALL, changed, small
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of
from vindeby.errors import CampaignError

NEAR_DATA = {"type": "five", "positions": [[5000, 0], [5000, 1000]]}
BASE: dict[str, dict[str, Any]] = {"alone": {}, "near": {"neighbours": NEAR_DATA}}


def of(scenarios: dict[str, Any], **more: Any) -> Campaign:
    return Campaign.from_data(small() | {"scenarios": scenarios} | more)


def test_each_scenario_is_the_campaign_with_what_it_sets() -> None:
    asked = of(
        {
            "alone": {},
            "near": {"neighbours": NEAR_DATA, "weight": 0.5},
            "other": {"wake": "jensen", "site.wind_speed_factor": 0.95},
            "wide": {"wake.nygaard-2022.a": 0.06},
        }
    )
    alone, beside, other, wide = asked.worlds
    assert [world.name for world in asked.worlds] == ["alone", "near", "other", "wide"]
    assert [world.weight for world in asked.worlds] == [1.0, 0.5, 1.0, 1.0]
    assert (alone.campaign.site, alone.campaign.wake) == (asked.site, asked.wake)
    assert [len(neighbours_of(world.campaign, 0)) for world in (alone, beside, other)] == [0, 2, 0]
    assert len(neighbours_of(asked, 0)) == 2, "layouts keep clear of the neighbours of every scenario"
    assert other.campaign.wake.chosen[0] == "jensen"
    assert other.campaign.site.wind_speed_factor == 0.95
    assert other.campaign.site.weibull == asked.site.weibull
    assert wide.campaign.wake.nygaard_2022.a == 0.06
    assert Campaign.loads(asked.dumps()) == asked


def test_neighbours_of_a_scenario_stand_in_place_of_those_of_the_campaign() -> None:
    far = {"type": "five", "positions": [[9000, 0]]}
    asked = of({"as it is": {}, "near": {"neighbours": NEAR_DATA}}, neighbours=far)
    as_it_is, near = (neighbours_of(world.campaign, 0) for world in asked.worlds)
    assert [(one.x, one.y) for one in as_it_is] == [(9000, 0)]
    assert [(one.x, one.y) for one in near] == [(5000, 0), (5000, 1000)]
    assert len(neighbours_of(asked, 0)) == 3
    replaced = of({"near": {"neighbours": NEAR_DATA}}, neighbours=far)
    assert neighbours_of(replaced, 0) == near, "those of the campaign stand in no scenario"


def test_an_axis_may_set_scenarios_and_what_is_wrong_with_one_is_said_at_its_place() -> None:
    axes: dict[str, Any] = {
        "scenarios": {"none": "none", "two": {"alone": {}, "near": {"neighbours": NEAR_DATA}}}
    }
    one, two = Campaign.from_data(small() | {"vary": axes}).variants
    assert (one.worlds, [world.name for world in two.worlds]) == ((), ["alone", "near"])
    axes["scenarios"]["two"]["near"] = {"neighbours": {"type": "six", "positions": [[5000, 0]]}}
    with pytest.raises(CampaignError, match=r"vary\.scenarios\.two\.near\.neighbours.*'six'"):
        Campaign.from_data(small() | {"vary": axes})


@pytest.mark.parametrize(
    ("scenarios", "objective"),
    [
        ({"alone": {}}, None),
        ({"near": BASE["near"], "alone": {}}, None),
        (BASE | {"alone": {"weight": 2}}, None),
        (BASE | {"alone": {"site.direction_std_deg": 3}}, None),
        (BASE | {"alone": {"wake": "jensen"}}, None),
        (BASE | {"near": {"neighbours": NEAR_DATA | {"positions": [[5000, 0]]}}}, None),
        (BASE, {"of": "aep", "over": "worst"}),
    ],
)
def test_what_differs_between_scenarios_decides_the_result(scenarios: Any, objective: Any) -> None:
    more = {} if objective is None else {"objective": objective}
    before, after = of(BASE).fingerprints(), of(scenarios, **more).fingerprints()
    assert not before.keys() & {key for key, one in after.items() if before[key] == one}


def test_names_decide_nothing_and_neither_does_the_mean_that_is_the_default() -> None:
    renamed = of({"one": {}, "two": BASE["near"]}, objective={"of": "aep", "over": "mean"})
    assert renamed.fingerprints() == of(BASE).fingerprints()
    assert Campaign.from_data(small()).fingerprints() != of(BASE).fingerprints()


def test_fingerprints_are_those_of_scenarios_before_they_were_named_sets_of_fields() -> None:
    asked = of(BASE, method="random-start")
    assert asked.fingerprints()["farm0_t0_s2"] == (
        "5aef29289da9756110e5808ff88c8cfd2188c100cc0dab9c0a74fa82011a5895"
    )


@pytest.mark.parametrize("name", ["wind_speed_factor", "direction_std_deg"])
def test_a_change_of_the_wind_decides_the_result(name: str) -> None:
    plain, other = (
        Campaign.from_data(small()),
        Campaign.from_data(changed("site", small()["site"] | {name: 1.5})),
    )
    assert not set(plain.fingerprints().values()) & set(other.fingerprints().values())


def test_a_scenario_may_have_its_wind_and_neighbours_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dry.csv").write_text("wind_speed,wind_direction,turbulence_intensity\n8,270,0.1\n9,200,0.1\n")
    Path("east.csv").write_text("x,y\n5000,0\n5000,1000\n")
    text = f"{SMALL}scenarios:\n  dry: {{site: dry.csv}}\n  near: {{neighbours: {{file: east.csv, type: five}}}}\n"
    Path("campaign.yaml").write_text(text)
    dry, near = Campaign.load("campaign.yaml").worlds
    assert dry.campaign.site.time_series.wind_speed == (8.0, 9.0)
    assert [(one.x, one.y) for one in neighbours_of(near.campaign, 0)] == [(5000, 0), (5000, 1000)]
    Path("dry.csv").write_text("wind_speed,wind_direction,turbulence_intensity\n8,270,0.1\n9,500,0.1\n")
    with pytest.raises(CampaignError, match=r"dry\.csv:3: scenarios\.dry\.site"):
        Campaign.load("campaign.yaml")


def test_the_same_neighbours_may_stand_in_two_scenarios() -> None:
    text = f"{SMALL}scenarios:\n  a: {{neighbours: {NEAR}}}\n  b: {{neighbours: {NEAR}}}\n"
    assert len(neighbours_of(Campaign.loads(text), 0)) == 2
