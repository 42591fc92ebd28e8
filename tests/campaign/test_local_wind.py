"""Local wind in a campaign: inline and from netCDF files, its checks and fingerprints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import SMALL, small
from vindeby.campaign import Campaign
from vindeby.campaign.sections.local_wind import LocalWindSection
from vindeby.errors import CampaignError

pytestmark = pytest.mark.slow

xarray = pytest.importorskip("xarray", reason="xarray writes the files of these tests")
pytest.importorskip("h5netcdf", reason="h5netcdf writes the files of these tests")

X, Y = np.array([-500.0, 4000.0, 10000.0]), np.array([-9500.0, 0.0, 2000.0, 9000.0])
HEIGHT, SECTORS = np.array([60.0, 120.0]), np.arange(0.0, 360.0, 90.0)
RNG = np.random.default_rng(7)
SPEEDUP = RNG.uniform(0.8, 1.3, (3, 4, 4))


def inline(**changes: Any) -> dict[str, Any]:
    data = small()
    data["site"]["local"] = {
        "x": X.tolist(),
        "y": Y.tolist(),
        "wind_directions": SECTORS.tolist(),
        "speedup": {"axes": ["x", "y", "wind_directions"], "values": SPEEDUP.tolist()},
    } | changes
    return data


def local_of(campaign: Campaign) -> LocalWindSection:
    assert campaign.site.local is not None
    return campaign.site.local


def loaded(folder: Path, dataset: Any, local: str = "", weibull: str | None = None) -> Campaign:
    dataset.to_netcdf(folder / "grid.nc", engine="h5netcdf")
    text = SMALL.replace("wake: nyg", f"  local: {{file: grid.nc{local}}}\nwake: nyg")
    if weibull is not None:
        begin, end = text.index("  weibull:"), text.index("  local:")
        text = text[:begin] + weibull + text[end:]
    (folder / "c.yaml").write_text(text)
    return Campaign.load(folder / "c.yaml")


def dataset(*order: str, **more: Any) -> Any:
    speedup = xarray.DataArray(SPEEDUP.copy(), dims=("x", "y", "wd"), coords={"x": X, "y": Y, "wd": SECTORS})
    return xarray.Dataset({"Speedup": speedup.transpose(*order or ("x", "y", "wd")), **more})


def test_nested_lists_are_numbers_over_axes() -> None:
    local = local_of(Campaign.from_data(inline()))
    assert local.array("speedup").shape == (3, 4, 1, 4)
    assert np.array_equal(local.array("speedup")[:, :, 0, :], SPEEDUP)


@pytest.mark.parametrize("order", [("x", "y", "wd"), ("wd", "y", "x"), ("y", "wd", "x")])
def test_axes_go_by_their_names_in_any_order(order: tuple[str, ...], tmp_path: Path) -> None:
    campaign = loaded(tmp_path, dataset(*order))
    assert np.array_equal(local_of(campaign).array("speedup")[:, :, 0, :], SPEEDUP)
    assert campaign.fingerprints() == Campaign.from_data(inline()).fingerprints()
    assert local_of(campaign).source == "grid.nc"


def test_the_stored_campaign_holds_the_numbers_to_the_bit(tmp_path: Path) -> None:
    x = np.linspace(-500.0, 10000.0, 20)
    many = xarray.Dataset(
        {"Speedup": (("y", "x"), RNG.uniform(0.8, 1.2, (30, 20)).astype(np.float32))},
        coords={"x": x, "y": np.linspace(-9500.0, 9000.0, 30)},
    )
    campaign = loaded(tmp_path, many)
    text = campaign.dumps()
    assert "packed:float64:600:" in text
    (tmp_path / "grid.nc").unlink()
    again = Campaign.loads(text)
    assert again == campaign
    assert again.fingerprints() == campaign.fingerprints()
    assert np.array_equal(local_of(again).array("speedup")[:, :, 0, 0], many.Speedup.values.T)


def test_weibull_parameters_on_the_grid_stand_for_the_sectors(tmp_path: Path) -> None:
    frequency = RNG.uniform(0.5, 1.0, (3, 4, 2, 4))
    frequency /= frequency.sum(axis=-1, keepdims=True)
    axes, coords = ("x", "y", "h", "wd"), {"x": X, "y": Y, "h": HEIGHT, "wd": SECTORS}
    grid = xarray.Dataset(
        {
            "Weibull_A": (axes, RNG.uniform(8, 11, (3, 4, 2, 4))),
            "Weibull_k": (axes, RNG.uniform(1.8, 2.4, (3, 4, 2, 4))),
            "Sector_frequency": (axes, frequency),
            "TI": 0.08,
        },
        coords=coords,
    )
    weibull = "  weibull: {interpolation: nearest, turbulence_intensity: 0.08}\n"
    campaign = loaded(tmp_path, grid, weibull=weibull)
    assert campaign.site.weibull is not None
    assert campaign.site.weibull.sectors == ()
    assert campaign.site.weibull.turbulence_intensity == 0.08
    assert local_of(campaign).height == (60.0, 120.0)
    assert Campaign.loads(campaign.dumps()) == campaign
    with pytest.raises(CampaignError, match=r"site.weibull.sectors: is given beside weibull_a"):
        loaded(tmp_path, grid)


def test_a_direction_of_360_may_repeat_0(tmp_path: Path) -> None:
    around = np.concatenate([SPEEDUP, SPEEDUP[..., :1]], axis=-1)
    grid = xarray.Dataset(
        {"Speedup": (("x", "y", "wd"), around)}, coords={"x": X, "y": Y, "wd": np.append(SECTORS, 360.0)}
    )
    assert local_of(loaded(tmp_path, grid)).wind_directions == (0.0, 90.0, 180.0, 270.0)
    grid["Speedup"][0, 0, 4] = 1.5
    with pytest.raises(CampaignError, match="differs between the directions 0 and 360"):
        loaded(tmp_path, grid)


def test_packed_numbers_of_a_file_are_scaled_and_gaps_are_refused(tmp_path: Path) -> None:
    grid = dataset()
    grid.Speedup.encoding = {"dtype": "int16", "scale_factor": 1e-4, "_FillValue": -1}
    campaign = loaded(tmp_path, grid)
    assert np.allclose(local_of(campaign).array("speedup")[:, :, 0, :], SPEEDUP, atol=6e-5)
    grid["Speedup"][1, 2, 3] = np.nan
    with pytest.raises(CampaignError, match="has 1 gaps in Speedup"):
        loaded(tmp_path, grid)


def changed_value() -> list[Any]:
    values = SPEEDUP.copy()
    values[0, 0, 0] = np.nextafter(values[0, 0, 0], 2.0)
    return list(values.tolist())


@pytest.mark.parametrize(
    "change",
    [
        {"speedup": {"axes": ["x", "y", "wind_directions"], "values": changed_value()}},
        {"x": [-500.001, 4000.0, 10000.0]},
        {"interpolation": "nearest"},
        {"position_interpolation": "nearest"},
        {"turning": 3.0},
        {"turbulence_intensity": 0.09},
    ],
)
def test_what_changes_the_local_wind_changes_every_fingerprint(change: dict[str, Any]) -> None:
    before = Campaign.from_data(inline()).fingerprints()
    after = Campaign.from_data(inline(**change)).fingerprints()
    assert not set(before.values()) & set(after.values())


def test_a_campaign_without_local_wind_says_nothing_of_it() -> None:
    assert "local" not in Campaign.from_data(small()).dumps()


def test_a_damaged_file_is_refused_in_words(tmp_path: Path) -> None:
    loaded(tmp_path, dataset())
    whole = (tmp_path / "grid.nc").read_bytes()
    (tmp_path / "grid.nc").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CampaignError, match=r"site.local.file: .*cannot be read"):
        Campaign.load(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    ("grid", "options", "words"),
    [
        (
            dataset().rename(Speedup="Secret"),
            "",
            "has none of Speedup, Turning, .* over x and y",
        ),
        (
            dataset(),
            ", x: [0, 1]",
            "local.x: is given beside file.*; give x or file, not both",
        ),
        (dataset().rename(wd="ws"), "", "has Speedup that depends on x, y, ws, not on x, y"),
        (dataset().drop_vars("x"), "", "the axis x has no coordinates"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(grid: Any, options: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=words):
        loaded(tmp_path, grid, options)
