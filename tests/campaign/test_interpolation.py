"""``interpolation`` in a campaign: what it changes, and that campaigns without it stay what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import SMALL, changed, small
from vindeby.assembly.wind import site_of
from vindeby.campaign import Campaign, presets

TABLE = {
    "turbulence_intensity": 0.05,
    "wind_directions": [0, 180],
    "wind_speeds": [8, 9],
    "probability": [[0.1, 0.2], [0.3, 0.4]],
}


def fingerprints(data: dict[str, Any]) -> list[str]:
    return [task.fingerprint for task in Campaign.from_data(data).tasks()]


def with_table(**more: Any) -> dict[str, Any]:
    return changed("site", {"table": {**TABLE, **more}})


def test_a_weibull_site_without_interpolation_is_linear_as_it_was() -> None:
    assert fingerprints(changed("site.weibull.interpolation", "linear")) == fingerprints(small())
    states = site_of(Campaign.from_data(small())).states([45.0])
    assert states.probability.sum() < 0.2 / 90.0 * 360.0
    nearest = changed("site.weibull.interpolation", "nearest")
    assert set(fingerprints(nearest)).isdisjoint(fingerprints(small()))


def test_a_table_without_interpolation_is_nearest_as_it_was() -> None:
    assert fingerprints(with_table(interpolation="nearest")) == fingerprints(with_table())
    assert set(fingerprints(with_table(interpolation="linear"))).isdisjoint(fingerprints(with_table()))


def test_fingerprints_of_a_table_site_stay_as_they_are() -> None:
    """As the ones of a Weibull site in test_fingerprint.py: stored results must not become stale."""
    assert fingerprints(with_table())[0] == "cfdcdbd1614e3e300e6f76c0b6c4e6c678d22b712ed49e2c90e089b34b7766f3"


@pytest.mark.parametrize(("interpolation", "row"), [("nearest", [0.3, 0.4]), ("linear", [0.2, 0.3])])
def test_the_interpolation_of_a_table_reaches_the_engine(interpolation: str, row: list[float]) -> None:
    campaign = Campaign.from_data(with_table(interpolation=interpolation))
    states = site_of(campaign).states([90.0, 270.0])
    assert states.probability[:2].tolist() == pytest.approx(row, rel=1e-14)


@pytest.mark.parametrize(("interpolation", "a"), [("nearest", 9.5), ("linear", 9.25)])
def test_the_interpolation_of_a_weibull_site_reaches_the_engine(interpolation: str, a: float) -> None:
    data = changed("site.weibull.interpolation", interpolation)
    for sector in data["site"]["weibull"]["sectors"]:
        sector |= {"k": 2.0, "frequency": 0.25}
    states = site_of(Campaign.from_data(data)).states([45.0, 46.0])
    below = 1.0 - np.exp(-((np.array([2.5, 3.5, 4.5]) / a) ** 2.0))
    assert states.probability[:2].tolist() == pytest.approx((np.diff(below) / 360.0).tolist(), rel=1e-12)


def test_the_frozen_campaign_states_its_interpolation() -> None:
    """What is kept with results must not change its meaning if a default ever does."""
    assert "interpolation: linear" in Campaign.loads(SMALL).dumps()
    assert "interpolation: nearest" in Campaign.from_data(with_table()).dumps()


@pytest.mark.parametrize("name", [name for name in presets.names() if name.startswith("energy-island")])
def test_the_energy_island_takes_the_nearest_sector(name: str) -> None:
    weibull = Campaign.load(name).site.weibull
    assert weibull is not None
    assert weibull.interpolation == "nearest"
