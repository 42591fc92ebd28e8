"""What a report and a ``repr`` say of wind that is given state by state, or of turbulence that depends on the wind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaign.examples import changed
from vindeby.campaign import Campaign
from vindeby.report.page import campaign_facts

STATES = {"wind_direction": [270, 10], "wind_speed": [8, 9.5], "turbulence_intensity": [0.08, 0.1]}


@pytest.mark.parametrize(
    ("site", "wind"),
    [
        ({"time_series": STATES}, "time series, 2 steps, 8 to 9.5 m/s, turbulence intensity 0.08 to 0.1"),
        (
            {"states": {**STATES, "probability": [0.5, 0.5], "turbulence_intensity": 0.07}},
            "list of 2 states, 8 to 9.5 m/s, turbulence intensity 0.07",
        ),
        (
            {
                "table": {
                    "turbulence_intensity": {"wind_speeds": [8, 9], "values": [0.1, 0.05]},
                    "wind_directions": [0],
                    "wind_speeds": [8, 9],
                    "probability": [[0.5, 0.5]],
                }
            },
            "probability table, 1 sector, 8 to 9 m/s, turbulence intensity 0.05 to 0.1 by wind speed",
        ),
    ],
)
def test_the_wind_is_said_in_a_few_words(site: dict[str, Any], wind: str) -> None:
    campaign = Campaign.from_data(changed("site", site))
    assert dict(campaign_facts(campaign))["wind"] == campaign.site.about
    assert repr(campaign.site) == f"<Site: {wind[: wind.index(', turbulence')].removeprefix('probability ')}>"
