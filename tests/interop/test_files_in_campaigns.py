"""Files of other tools in a campaign: read once, stored in full, in the fingerprint, and what was decided is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.command import vindeby
from tests.interop import site_examples as examples
from tests.interop.site_examples import written
from tests.interop.test_turbine_files import FLORIS, WTG
from tests.physics.oracle import needs_pywake
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.survey import notes_about_files, survey
from vindeby.errors import CampaignError

pytestmark = pytest.mark.oracle

CAMPAIGN = """\
name: files
farms: [{name: square, boundary: [[0, 0], [1000, 0], [1000, 1000], [0, 1000]]}]
turbines:
  - {name: one, file: t.wtg}
n_turbines: 3
min_spacing: 2 D
site: {file: wind.tab, turbulence_intensity: 0.08}
wake: {bastankhah-2014: {k: 0.0324555}}
method: random-start
seeds: 1
"""


def _write(folder: Path, text: str = CAMPAIGN) -> Path:
    written(folder / "t.wtg", WTG)
    written(folder / "t.yaml", FLORIS)
    written(folder / "wind.tab", examples.TAB)
    written(folder / "climate.lib", examples.LIB)
    return written(folder / "campaign.yaml", text)


def test_stored_campaign_is_complete_without_the_files(tmp_path: Path) -> None:
    path = _write(tmp_path)
    campaign = Campaign.load(path)
    for name in ("t.wtg", "wind.tab"):
        (tmp_path / name).unlink()

    again = Campaign.loads(campaign.dumps())

    assert again == campaign
    assert again.fingerprints() == campaign.fingerprints()
    assert again.site.source is not None
    assert (again.site.source.file, again.site.source.format) == ("wind.tab", "tab")


def test_content_of_the_files_is_in_the_fingerprint_and_their_names_are_not(tmp_path: Path) -> None:
    path = _write(tmp_path)
    first = Campaign.load(path).fingerprints()
    plain = Campaign.load(path).to_data()
    del plain["site"]["source"], plain["turbines"][0]["source"]
    written(tmp_path / "wind.tab", examples.TAB.replace("250.0 500.0", "260.0 500.0"))
    other_wind = Campaign.load(path).fingerprints()
    _write(tmp_path)
    written(tmp_path / "t.wtg", WTG.replace("700000", "710000"))
    other_turbine = Campaign.load(path).fingerprints()

    assert Campaign.from_data(plain).fingerprints() == first
    assert first != other_wind
    assert first != other_turbine


def test_name_of_a_turbine_is_that_of_the_file_unless_it_is_given(tmp_path: Path) -> None:
    text = CAMPAIGN.replace(
        "  - {name: one, file: t.wtg}", "  - {file: t.wtg}\n  - {name: two, file: t.yaml}"
    )

    campaign = Campaign.load(_write(tmp_path, text))

    assert [turbine.name for turbine in campaign.turbines] == ["Tested 2000", "two"]


def test_turbine_of_neighbours_may_stand_in_a_file(tmp_path: Path) -> None:
    text = (
        CAMPAIGN + "neighbours: {positions: [[3000, 0]], type: far, turbines: [{name: far, file: t.yaml}]}\n"
    )

    campaign = Campaign.load(_write(tmp_path, text))

    assert campaign.groups[0].turbines is not None
    assert campaign.groups[0].turbines[0].rotor_diameter_m == 126.0
    own, far = (
        [note for note in notes_about_files(campaign) if f"from {name}: " in note]
        for name in ("t.wtg", "t.yaml")
    )
    assert far
    assert all(note.startswith("neighbours, type far, ") for note in far)
    assert all(note.startswith("type one, ") for note in own)


@needs_pywake
def test_energy_of_a_campaign_with_an_xrsite_is_that_of_pywake(tmp_path: Path) -> None:
    from py_wake.literature.gaussian_models import Bastankhah_PorteAgel_2014
    from py_wake.site import XRSite
    from py_wake.wind_turbines import WindTurbines

    examples.turned().to_netcdf(tmp_path / "site.nc")
    campaign = Campaign.load(
        _write(tmp_path, CAMPAIGN.replace("wind.tab, turbulence_intensity: 0.08", "site.nc"))
    )
    theirs = Bastankhah_PorteAgel_2014(
        XRSite.load(str(tmp_path / "site.nc")),
        WindTurbines.from_WAsP_wtg(str(tmp_path / "t.wtg")),
        k=0.0324555,
    )
    x, y = np.array([10.0, 730.0, 250.0]), np.array([20.0, 950.0, 600.0])

    found = wind_farm(campaign, 0).aep(x, y)

    assert found == pytest.approx(float(theirs(x, y).aep().sum()), rel=1e-10)


def test_check_says_what_was_decided(tmp_path: Path) -> None:
    text = CAMPAIGN.replace(
        "wind.tab, turbulence_intensity: 0.08",
        "climate.lib, height: 70, roughness: 0.05, turbulence_intensity: 0.08",
    )
    path = _write(tmp_path, text)

    done = vindeby(tmp_path, "check", str(path))

    assert done.returncode == 0, done.stderr
    wanted = "vindeby: warning: site, from climate.lib: taken at a height of 70 m over a roughness of 0.05 m"
    assert wanted in done.stderr.splitlines()


def test_notes_about_turbines_name_the_type(tmp_path: Path) -> None:
    campaign = Campaign.load(_write(tmp_path, CAMPAIGN.replace("t.wtg", "t.yaml")))

    (note,) = [text for text in survey(campaign).warnings if "t.yaml" in text]

    assert note.startswith("type one, from t.yaml: not used: TSR")


BROKEN = {
    "an unknown option": (
        "turbulence_intensity: 0.08",
        "turbulence: 0.08",
        "7: site.turbulence: is not an option",
    ),
    "a missing option": (", turbulence_intensity: 0.08", "", "7: site.turbulence_intensity: is missing"),
    "no such file": ("wind.tab", "gone.tab", "7: site.file: "),
    "a number": ("file: wind.tab", "file: 7", "7: site.file: must be the path of a file"),
    "a section beside it": (
        "file: wind.tab",
        "file: wind.tab, weibull: {}",
        "7: site.weibull: is given beside",
    ),
    "a wrong value": (
        "intensity: 0.08",
        "intensity: 8",
        "7: site.table.turbulence_intensity: must be less than 1",
    ),
    "a table beside it": ("t.wtg", "t.wtg, table: {}", "4: turbines[0].table: is given beside file"),
    "an unknown key": ("t.wtg", "t.wtg, hub: 80", "4: turbines[0].hub: is not an option of a wtg file"),
    "another mode": ("t.wtg", "t.wtg, mode: 3", "4: turbines[0].mode: is not a table of the file (got 3)"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_mistakes_are_placed_in_the_campaign_file(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, words = BROKEN[case]
    _write(tmp_path, CAMPAIGN.replace(old, new))
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CampaignError) as caught:
        Campaign.load("campaign.yaml")

    assert f"campaign.yaml:{words}" in str(caught.value)


def test_mistakes_in_a_file_are_placed_in_that_file(tmp_path: Path) -> None:
    path = _write(tmp_path)
    written(tmp_path / "wind.tab", examples.TAB.replace(" 12 250.0", " 12 many"))

    with pytest.raises(CampaignError, match=r"wind\.tab:7: has an entry of"):
        Campaign.load(path)


def test_check_says_in_one_line_what_a_site_file_is_taken_for(tmp_path: Path) -> None:
    _write(tmp_path, CAMPAIGN.replace("wind.tab, turbulence_intensity: 0.08", "site.nc"))
    examples.dataset().to_netcdf(tmp_path / "site.nc", engine="h5netcdf")
    line = (
        "Weibull, 4 sectors, mean 8.947 m/s, interpolation nearest, turbulence intensity 0.08; "
        "from site.nc (xrsite)"
    )
    assert f"\nwind: {line}\n" in vindeby(tmp_path, "check", "campaign.yaml").stdout
    assert json.loads(vindeby(tmp_path, "check", "campaign.yaml", "--json").stdout)["site"] == line


@pytest.mark.parametrize(
    ("site", "words"),
    [
        (
            "{file: wind.tab, turbulence_intensity: 0.08}",
            (
                "table, 4 sectors, mean 6.840 m/s, interpolation nearest, "
                "turbulence intensity 0.08; from wind.tab (tab)"
            ),
        ),
        (
            "{file: site.nc, interpolation: linear}",
            (
                "Weibull, 4 sectors, mean 8.947 m/s, interpolation linear, "
                "turbulence intensity 0.08; from site.nc (xrsite)"
            ),
        ),
        (
            "{file: grid.wrg, turbulence_intensity: 0.07}",
            (
                "Weibull by place, mean 9.392 m/s in the middle of the grid, interpolation linear, "
                "turbulence intensity 0.07, weibull a, weibull k, sector frequency on a grid of 2 x 3 places, "
                "linear between them; from grid.wrg (wrg)"
            ),
        ),
        (
            "{file: series.csv}",
            (
                "time series, 2 steps, 2020-01-01T00:00 to 2020-01-01T01:00, mean 9.000 m/s, "
                "turbulence intensity 0.06 to 0.07; from series.csv (time-series)"
            ),
        ),
        (
            (
                "{states: [{wind_direction: 0, wind_speed: 8, probability: 0.25, turbulence_intensity: 0.1}, "
                "{wind_direction: 90, wind_speed: 12, probability: 0.75, turbulence_intensity: 0.1}]}"
            ),
            "list of 2 states, mean 11.000 m/s, turbulence intensity 0.1 to 0.1",
        ),
        (
            "{weibull: {turbulence_intensity: 0.1, sectors: [{direction: 0, a: 10, k: 2, frequency: 1}]}}",
            "Weibull, 1 sector, mean 8.862 m/s, interpolation linear, turbulence intensity 0.1",
        ),
    ],
    ids=["tab", "xrsite, linear", "wrg", "series", "states", "plain"],
)
def test_every_site_is_one_line_of_mean_speed_interpolation_turbulence_and_origin(
    site: str, words: str, tmp_path: Path
) -> None:
    square = CAMPAIGN.replace(
        "[[0, 0], [1000, 0], [1000, 1000], [0, 1000]]", "[[1000, 5000], [1500, 5000], [1500, 6000]]"
    )
    written(tmp_path / "grid.wrg", examples.wrg())
    written(tmp_path / "series.csv", examples.SERIES)
    examples.dataset().to_netcdf(tmp_path / "site.nc", engine="h5netcdf")
    path = _write(tmp_path, square.replace("{file: wind.tab, turbulence_intensity: 0.08}", site))
    campaign = Campaign.load(path)
    assert campaign.site.about == words
    assert Campaign.loads(campaign.dumps()).site.about == words
