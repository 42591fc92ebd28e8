"""Ten years of hourly wind in a campaign: compact text, the same numbers, a fingerprint, a database that holds it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.campaign.examples import changed
from tests.store.examples import publish, record
from vindeby.campaign import Campaign
from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, PackedListError, abridged, pack, unpack
from vindeby.errors import CampaignError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database

HOURS = 87_600
EXTREMES = (0.0, 5e-324, 1.7976931348623157e308, -1.5, 0.1 + 0.2)


def series(count: int) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    start = datetime(2010, 1, 1, tzinfo=UTC)
    return {
        "wind_direction": rng.uniform(0, 360, count).round(2).tolist(),
        "wind_speed": rng.weibull(2, count).tolist(),
        "turbulence_intensity": rng.uniform(0.05, 0.2, count).round(4).tolist(),
        "times": [(start + timedelta(hours=hour)).isoformat() for hour in range(count)],
    }


@pytest.fixture(scope="module")
def decade() -> Campaign:
    return Campaign.from_data(changed("site", {"time_series": series(HOURS)}))


@pytest.mark.slow
def test_the_text_is_compact_and_holds_every_bit(decade: Campaign) -> None:
    text = decade.dumps()
    assert len(text) < 2_600_000
    again = Campaign.loads(text)
    assert again == decade
    assert again.cells() == decade.cells()
    assert again.dumps() == text
    assert len(abridged(text)) < 3000
    assert f"packed:float64:{HOURS}:..." in abridged(text)


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_a_database_holds_the_whole_campaign_for_any_reader(
    decade: Campaign, file_format: str, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "out.h5")
    publish(run, [record(1, 4)])
    merge(run.output, MergeOptions(file_format=file_format, root=decade.root_attributes()))
    with h5py.File(run.output) as file:
        assert Campaign.loads(file.attrs["campaign"]) == decade
    assert Database(run.output).attributes["campaign"] == decade.dumps()


def test_short_lists_stay_plain_and_long_ones_do_not() -> None:
    short, long = (
        Campaign.from_data(changed("site", {"time_series": series(count)}))
        for count in (LONGEST_PLAIN, LONGEST_PLAIN + 1)
    )
    assert "packed" not in short.dumps()
    assert long.dumps().count("packed:float64:501:") == 3
    assert isinstance(long.to_data()["site"]["time_series"]["wind_speed"], list)
    assert Campaign.from_data(long.to_data()) == long


def test_every_number_and_text_comes_back() -> None:
    assert unpack(pack(EXTREMES)) == list(EXTREMES)
    assert np.signbit(unpack(pack((-0.0,)))[0])
    assert unpack(pack(("a", "", "\u00e9"))) == ["a", "", "\u00e9"]


@pytest.mark.parametrize(
    "text",
    [
        "packed:",
        "packed:float64:x:eJw=",
        "packed:float64:99999999999:eJw=",
        "packed:float32:1:eJw=",
        pack((1.0, 2.0))[:-6],
        pack((1.0, 2.0))[:-4],  # all numbers, but not the whole checksum
        pack((1.0, 2.0)).replace(":2:", ":3:"),
        pack((1.0, 2.0)).replace(":2:", ":1:"),
        pack(("a", "b")).replace(":2:", ":1:"),
    ],
)
def test_a_damaged_list_is_refused(text: str) -> None:
    with pytest.raises(PackedListError, match=r"is damaged|is not of the form"):
        unpack(text)
    with pytest.raises(CampaignError, match=r"site.time_series.wind_speed"):
        Campaign.from_data(changed("site", {"time_series": {**series(2), "wind_speed": text}}))
