"""The energy of a result is stated in bins of 1 m/s over the turbines' operating range, whatever a search looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import SMALL, small
from vindeby.assembly.wind import site_of
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey
from vindeby.text import plural

PYWAKE = list(range(3, 26))


def _with(speeds: list[float] | None, cut_out: float = 25.0, **weibull: Any) -> Campaign:
    data = small()
    data["turbines"][1]["table"]["wind_speed"][-1] = cut_out
    data["site"]["weibull"] |= weibull | ({} if speeds is None else {"wind_speeds": speeds})
    return Campaign.from_data(data)


def _speeds(campaign: Campaign, *, searched: bool = False) -> list[float]:
    speeds: list[float] = np.unique(site_of(campaign, searched=searched).states().speed).tolist()
    return speeds


@pytest.mark.parametrize(
    ("given", "cut_out", "stated"),
    [
        (None, 25.0, PYWAKE),
        (None, 30.0, PYWAKE),
        ([9], 25.0, PYWAKE),
        ([5, 10, 15, 20, 25], 25.0, PYWAKE),
        (range(3, 20), 25.0, PYWAKE),
        (range(3, 31), 25.0, PYWAKE),
        (range(3, 31), 30.0, range(3, 31)),
        ([9], 29.5, range(3, 31)),
        (np.arange(2.5, 25.5, 0.5), 25.0, np.arange(2.5, 25.5, 0.5)),
    ],
)
def test_energy_is_stated_in_bins_of_one_metre_per_second(given: Any, cut_out: float, stated: Any) -> None:
    campaign = _with(None if given is None else [float(speed) for speed in given], cut_out)
    assert _speeds(campaign) == list(stated)
    assert _speeds(campaign, searched=True) == list(PYWAKE if given is None else given)


def test_wind_speeds_without_known_turbulence_are_left_out() -> None:
    table = {"wind_speeds": [7, 11], "values": [0.1, 0.06]}
    assert _speeds(_with([7, 9, 11], turbulence_intensity=table)) == [7, 8, 9, 10, 11]
    assert _speeds(_with([7.5], turbulence_intensity={**table, "wind_speeds": [7.2, 7.9]})) == [7.5]


def test_coarse_directions_and_speeds_are_stated_together() -> None:
    states = site_of(_with([9], direction_step=30)).states()
    assert states.shape == (360, 23)


@pytest.mark.parametrize("given", [[9], [5, 10, 15, 20, 25], range(3, 31)])
def test_check_says_how_coarse_the_wind_of_a_search_is(given: Any) -> None:
    (text,) = survey(_with(list(given))).warnings
    assert f"{plural(len(given), 'wind speed')}, and a search exploits the gaps" in text
    assert "aep_searched" in text


def test_check_mentions_a_turbine_that_operates_beyond_the_wind_speeds() -> None:
    assert survey(Campaign.loads(SMALL)).warnings == ()
    (text,) = survey(_with(None, 30.0)).warnings
    assert "type tabulated operates up to 30 m/s" in text


def test_results_of_coarse_speeds_have_another_fingerprint_for_other_stated_speeds() -> None:
    one, other = (
        Campaign.loads(SMALL).model_copy(
            update={"site": _with([9]).site, "turbines": _with([9], cut).turbines}
        )
        for cut in (25.0, 30.0)
    )
    key = "farm0_t0_s0"  # the other type has another curve in any case
    assert one.fingerprints()[key] != other.fingerprints()[key]
    assert _with(None).fingerprints()[key] == _with(None, 30.0).fingerprints()[key]
