"""Scenarios of a campaign: what is refused, what each of them is, what is drawn, and what decides a result."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from tests.campaign.broken_scenarios import NEAR
from tests.campaign.examples import SMALL, changed, small
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of
from vindeby.campaign.worlds import identity_of_scenarios, worlds
from vindeby.errors import CampaignError


def of(*scenarios: dict[str, Any], **more: Any) -> Campaign:
    return Campaign.from_data(small() | {"scenarios": list(scenarios)} | more)


def test_each_scenario_is_the_campaign_with_what_it_changes() -> None:
    near = {"type": "five", "positions": [[5000, 0], [5000, 1000]]}
    asked = of(
        {"name": "alone"},
        {"name": "near", "neighbours": near, "weight": 0.5},
        {"wake": "jensen", "wind_speed_factor": 0.95},
    )
    alone, beside, other = worlds(asked)
    assert [world.name for world in worlds(asked)] == ["alone", "near", "scenario 3"]
    assert [world.weight for world in worlds(asked)] == [1.0, 0.5, 1.0]
    assert (alone.campaign.site, alone.campaign.wake) == (asked.site, asked.wake)
    assert [len(neighbours_of(world.campaign, 0)) for world in (alone, beside, other)] == [0, 2, 0]
    assert len(neighbours_of(asked, 0)) == 2, "layouts keep clear of the neighbours of every scenario"
    assert other.campaign.wake.chosen[0] == "jensen"
    assert other.campaign.site.wind_speed_factor == 0.95
    assert other.campaign.site.weibull == asked.site.weibull
    assert Campaign.loads(asked.dumps()) == asked


def test_samples_cover_their_distribution_evenly_and_are_the_same_every_time() -> None:
    vary = {"wake.a": {"normal": [0.04, 0.005]}, "wind_speed_factor": {"uniform": [0.9, 1.1]}}
    given = {"name": "doubt", "vary": vary, "samples": 20, "weight": 2.0}
    drawn = worlds(of({"name": "sure"}, given))[1:]
    assert [world.weight for world in drawn] == [0.1] * 20
    a = [world.campaign.wake.nygaard_2022.a for world in drawn]
    factor = [world.campaign.site.wind_speed_factor for world in drawn]
    shares = [NormalDist(0.04, 0.005).cdf(value) for value in a]
    assert sorted(int(share * 20) for share in shares) == list(range(20))
    assert sorted(int((value - 0.9) / 0.2 * 20) for value in factor) == list(range(20))
    assert abs(np.corrcoef(a, factor)[0, 1]) < 0.7, "the two are drawn apart"
    again = worlds(of({"name": "sure"}, given))[1:]
    assert a == [world.campaign.wake.nygaard_2022.a for world in again]
    assert a != [world.campaign.wake.nygaard_2022.a for world in worlds(of(given | {"seed": 1}))]


NEAR_DATA = {"type": "five", "positions": [[5000, 0], [5000, 1000]]}
BASE: list[dict[str, Any]] = [{"name": "alone"}, {"name": "near", "neighbours": NEAR_DATA}]


@pytest.mark.parametrize(
    ("scenarios", "objective"),
    [
        ([BASE[0]], None),
        ([BASE[1], BASE[0]], None),
        ([BASE[0] | {"weight": 2}, BASE[1]], None),
        ([BASE[0] | {"direction_std_deg": 3}, BASE[1]], None),
        ([BASE[0] | {"wake": "jensen"}, BASE[1]], None),
        ([BASE[0], {"neighbours": NEAR_DATA | {"positions": [[5000, 0]]}}], None),
        ([BASE[0] | {"vary": {"wake.a": {"normal": [0.04, 0.001]}}, "samples": 1}, BASE[1]], None),
        (BASE, {"of": "aep", "over": "worst"}),
        (BASE, {"of": "aep", "over": "regret"}),
    ],
)
def test_what_differs_between_scenarios_decides_the_result(scenarios: Any, objective: Any) -> None:
    more = {} if objective is None else {"objective": objective}
    before, after = of(*BASE).fingerprints(), of(*scenarios, **more).fingerprints()
    assert not before.keys() & {key for key, one in after.items() if before[key] == one}


def test_a_distribution_that_is_not_given_decides_nothing() -> None:
    given = {"name": "a", "vary": {"wake.a": {"normal": [0.04, 0.001]}}, "samples": 2, "seed": 3}
    (identity,) = identity_of_scenarios(of(given), 0)
    assert identity["vary"] == {"wake.a": {"normal": (0.04, 0.001)}}


def test_names_decide_nothing_and_neither_does_the_mean_that_is_the_default() -> None:
    renamed = of({"name": "one"}, BASE[1] | {"name": "two"}, objective={"of": "aep", "over": "mean"})
    assert renamed.fingerprints() == of(*BASE).fingerprints()
    assert Campaign.from_data(small()).fingerprints() != of(*BASE).fingerprints()


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
    text = f"{SMALL}scenarios:\n  - site: dry.csv\n  - neighbours: {{file: east.csv, type: five}}\n"
    Path("campaign.yaml").write_text(text)
    dry, near = worlds(Campaign.load("campaign.yaml"))
    assert dry.campaign.site.time_series.wind_speed == (8.0, 9.0)
    assert [(one.x, one.y) for one in neighbours_of(near.campaign, 0)] == [(5000, 0), (5000, 1000)]
    Path("dry.csv").write_text("wind_speed,wind_direction,turbulence_intensity\n8,270,0.1\n9,500,0.1\n")
    with pytest.raises(CampaignError, match=r"dry\.csv:3: scenarios\[0\]\.site"):
        Campaign.load("campaign.yaml")


def test_the_same_neighbours_may_stand_in_two_scenarios() -> None:
    text = f"{SMALL}scenarios:\n  - neighbours: {NEAR}\n  - neighbours: {NEAR}\n"
    assert len(neighbours_of(Campaign.loads(text), 0)) == 2
