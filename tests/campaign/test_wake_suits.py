"""Wake models that do not suit the rest of a campaign are refused before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaign.examples import SMALL
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import read
from vindeby.errors import CampaignError

GRID = {
    "x": [-1e5, 1e7],
    "y": [-1e5, 1e7],
    "speedup": {"axes": ["x", "y"], "values": [[1.0, 1.1], [1.1, 1.2]]},
    "turning": {"axes": ["x", "y"], "values": [[0.0, 1.0], [1.0, 2.0]]},
}


def _campaign(wake: Any, **local: Any) -> dict[str, Any]:
    data: dict[str, Any] = read(SMALL, "small.yaml").data
    site = {**data["site"], "local": {**GRID, **local}}
    return {**data, "site": site, "wake": wake, "method": ["random-start"]}


def test_a_model_that_is_not_defined_in_local_wind_is_refused() -> None:
    with pytest.raises(CampaignError) as refused:
        Campaign.from_data(_campaign("cumulative-curl"))
    assert "site.local: the wake model cumulative-curl is defined only for wind that is the same" in str(
        refused.value
    )
    assert "use another wake model, or leave local out" in str(refused.value)


def test_blockage_is_refused_for_wakes_that_follow_the_turned_wind() -> None:
    wake = {"jensen": {}, "blockage": "self-similar-2020"}
    with pytest.raises(CampaignError, match=r"site\.local\.turned_wakes: blockage is not defined"):
        Campaign.from_data(_campaign(wake, turned_wakes=True))
    assert Campaign.from_data(_campaign(wake)).wake.blockage == "self-similar-2020"
