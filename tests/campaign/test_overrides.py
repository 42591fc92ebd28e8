from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.campaign.examples import SMALL
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


@pytest.fixture
def campaign_file(tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize(
    ("assignment", "path", "value"),
    [
        ("seeds=2", "seeds", (0, 1)),
        ("seeds=[4, 9]", "seeds", (4, 9)),
        ("method.smart-start.grid_size=12", "method.0.smart_start.grid_size", 12),
        ("method.0.smart-start.grid_size=12", "method.0.smart_start.grid_size", 12),
        ("method.gradient.max_iterations=9", "method.1.gradient.max_iterations", 9),
        ("wake=jensen", "wake.jensen.k", 0.1),
        ("wake.nygaard-2022.a=0.06", "wake.nygaard_2022.a", 0.06),
        ("farms.south.capacity_mw=20", "farms.1.capacity_mw", 20.0),
        ("farms.1.boundary.exclusions=[]", "farms.1.boundary.exclusions", ()),
        ("turbines.five.generic.hub_height_m=95", "turbines.0.generic.hub_height_m", 95.0),
        ("run.time_limit_s=1e3", "run.time_limit_s", 1000.0),
        ("site.weibull.direction_step=5", "site.weibull.direction_step", 5.0),
    ],
)
def test_an_override_changes_the_field_it_names(
    campaign_file: Path, assignment: str, path: str, value: object
) -> None:
    changed: Any = Campaign.load(campaign_file, [assignment])
    for step in path.split("."):
        changed = changed[int(step)] if step.isdecimal() else getattr(changed, step)
    assert changed == value


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("seeds", "is not of the form field=value"),
        ("=3", "is not of the form field=value"),
        ("method.smart-start.grid_size=-1", "method[0].smart-start.grid_size: must be at least 2 (got -1)"),
        ("method.smart-start.gridsize=9", "did you mean 'grid_size'?"),
        ("methods.smart-start.grid_size=9", "did you mean 'method'?"),
        ("method.smartstart.grid_size=9", "method has no entry 'smartstart'; it has: smart-start, gradient"),
        ("farms.7.capacity_mw=9", "farms has no entry '7'; it has: north, south"),
        ("farms.west.capacity_mw=9", "it has: north, south"),
        ("capacity_mw.x=9", "capacity_mw has no fields of its own"),
        ("seeds=[1, 2", "not valid YAML"),
        ("capacity_mw=many", "must be a number (got 'many')"),
        ("seeds=", "neither a number nor a list"),
    ],
)
def test_a_wrong_override_is_named_with_what_is_wrong(
    campaign_file: Path, assignment: str, words: str
) -> None:
    with pytest.raises(CampaignError) as caught:
        Campaign.load(campaign_file, [assignment])
    assert str(caught.value).startswith(f"--set {assignment}: ")
    assert words in str(caught.value)


def test_an_override_equals_the_same_change_in_the_file(campaign_file: Path) -> None:
    overridden = Campaign.load(campaign_file, ["method.smart-start.grid_size=12", "seeds=2"])
    campaign_file.write_text(SMALL.replace("grid_size: 18", "grid_size: 12").replace("seeds: 3", "seeds: 2"))
    assert overridden == Campaign.load(campaign_file)


def test_an_override_of_an_aliased_value_changes_one_place_only(tmp_path: Path) -> None:
    text = SMALL.replace("boundary: [[0, 0]", "boundary: &area [[0, 0]").replace("seeds:", "x: 1\nseeds:")
    path = tmp_path / "c.yaml"
    path.write_text(text.replace("x: 1\n", ""))
    before = Campaign.load(path)
    after = Campaign.load(path, ["farms.0.boundary.0=[1, 1]"])
    assert after.farms[0] != before.farms[0]
    assert after.farms[1] == before.farms[1]
