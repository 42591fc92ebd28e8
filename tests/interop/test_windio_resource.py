"""The wind of windIO files in every form that it is written in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from tests.interop.windio_examples import ROSE, SERIES, SIX_SECTORS, WEIBULL, changed, write
from vindeby.errors import CampaignError
from vindeby.interop.windio.nodes import Notes, open_root
from vindeby.interop.windio.resource import read_quantities, read_resource, site_section


def site_of(folder: Path, resource: Any, notes: Notes | None = None, hub: float = 90.0) -> dict[str, Any]:
    path = write(folder / "resource.yaml", {"name": "r", "wind_resource": resource})
    return site_section(read_resource(open_root(path)), [hub], notes or Notes())


def netcdf(folder: Path, resource: dict[str, Any]) -> str:
    """The same resource as a netCDF file."""
    variables = {
        name: (value["dims"], value["data"]) if isinstance(value, dict) else value
        for name, value in resource.items()
    }
    coordinates = {
        name: value for name, value in variables.items() if isinstance(value, list) and name != "time"
    }
    data = {name: value for name, value in variables.items() if name not in coordinates}
    xarray.Dataset(data, coords=coordinates).to_netcdf(folder / "resource.nc", engine="h5netcdf")
    return "!include resource.nc"


def test_sectors_are_taken_as_they_are(tmp_path: Path) -> None:
    notes = Notes()
    weibull = site_of(tmp_path, WEIBULL, notes)["weibull"]
    assert weibull["sectors"][4] == {"direction": 240.0, "a": 11.0, "k": 2.3, "frequency": 0.3}
    assert [sector["direction"] for sector in weibull["sectors"]] == SIX_SECTORS
    assert weibull["turbulence_intensity"] == 0.08
    assert "wind_speeds" not in weibull  # those of a campaign are PyWake's, 3 to 25 m/s
    assert "sum to 1.00000000" in notes.taken[0]
    assert not notes.missing


@pytest.mark.parametrize("resource", [WEIBULL, ROSE], ids=["weibull", "rose"])
def test_netcdf_gives_the_same_as_yaml(resource: dict[str, Any], tmp_path: Path) -> None:
    assert site_of(tmp_path, netcdf(tmp_path, resource)) == site_of(tmp_path, resource)


def test_a_last_direction_of_360_that_repeats_0_counts_once_and_the_sums_are_told(tmp_path: Path) -> None:
    both = {
        name: {"data": [*value["data"], value["data"][0]], "dims": value["dims"]}
        if isinstance(value, dict) and value["dims"]
        else value
        for name, value in WEIBULL.items()
    }
    notes = Notes()
    assert site_of(tmp_path, {**both, "wind_direction": [*SIX_SECTORS, 360]}, notes) == site_of(
        tmp_path, WEIBULL
    )
    assert any("1.10000000 with both and 1.00000000 with one" in line for line in notes.chosen)


def test_the_order_of_dims_and_of_the_sectors_does_not_matter(tmp_path: Path) -> None:
    turned = {
        **ROSE,
        "wind_speed": [11, 8],
        "wind_direction": [270, 180, 90, 0],
        "probability": {
            "data": np.array(ROSE["probability"]["data"])[::-1, ::-1].T.tolist(),
            "dims": ["wind_speed", "wind_direction"],
        },
    }
    assert site_of(tmp_path, turned) == site_of(tmp_path, ROSE)


def test_probabilities_within_each_sector_are_told_by_their_sums(tmp_path: Path) -> None:
    rows = np.array(ROSE["probability"]["data"])
    shares = rows.sum(axis=1)
    conditional = {
        **ROSE,
        "sector_probability": {"data": shares.tolist(), "dims": ["wind_direction"]},
        "probability": {"data": (rows / shares[:, None]).tolist(), "dims": ["wind_direction", "wind_speed"]},
    }
    notes = Notes()
    table = site_of(tmp_path, conditional, notes)["table"]
    assert np.allclose(table["probability"], rows, rtol=1e-14)
    assert any("within its sector" in line and "4.000000 in all" in line for line in notes.chosen)


def test_joint_probabilities_beside_sector_probability_are_left_as_they_are(tmp_path: Path) -> None:
    shares = np.array(ROSE["probability"]["data"]).sum(axis=1).tolist()
    joint = {**ROSE, "sector_probability": {"data": shares, "dims": ["wind_direction"]}}
    notes = Notes()
    assert site_of(tmp_path, joint, notes) == site_of(tmp_path, ROSE)
    assert any("sector_probability" in line for line in notes.ignored)


@pytest.mark.parametrize("speed", [9.8, [9.8]], ids=["bare", "list"])
def test_probability_by_direction_at_one_speed(speed: Any, tmp_path: Path) -> None:
    rose = {
        "wind_direction": [0, 120, 240],
        "wind_speed": speed,
        "probability": {"data": [0.2, 0.3, 0.5], "dims": ["wind_direction"]},
        "turbulence_intensity": {"data": 0.075, "dims": []},
    }
    table = site_of(tmp_path, rose)["table"]
    assert (table["wind_speeds"], table["probability"]) == ([9.8], [[0.2], [0.3], [0.5]])


def test_directions_that_do_not_go_around_become_states(tmp_path: Path) -> None:
    rose = {
        **ROSE,
        "wind_direction": [200, 210, 220, 230],
        "turbulence_intensity": {"data": [0.06, 0.08], "dims": ["wind_speed"]},
    }
    states = site_of(tmp_path, rose)["states"]
    assert states["wind_direction"][:3] == [200.0, 200.0, 210.0]
    assert states["turbulence_intensity"][:3] == [0.06, 0.08, 0.06]
    assert states["probability"][6] == 0.3


def test_a_sum_below_1_is_told_and_not_divided_by(tmp_path: Path) -> None:
    less = changed(ROSE, "probability.data.0.0", 0.0985)
    notes = Notes()
    assert site_of(tmp_path, less, notes)["table"]["probability"][0][0] == 0.0985
    assert "sum to 0.99850000; they are not divided by it" in notes.taken[-1]


def test_wind_speed_beside_sectors_is_the_axis_of_turbulence_and_bounds_the_bins(tmp_path: Path) -> None:
    by_speed = {
        **WEIBULL,
        "wind_speed": [4, 10, 25],
        "turbulence_intensity": {"data": [0.14, 0.08, 0.05], "dims": ["wind_speed"]},
    }
    weibull = site_of(tmp_path, by_speed)["weibull"]
    assert weibull["turbulence_intensity"] == {"wind_speeds": [4, 10, 25], "values": [0.14, 0.08, 0.05]}
    assert weibull["wind_speeds"] == list(range(4, 26))


def test_turbulence_by_direction_and_speed_goes_by_the_names_of_dims(tmp_path: Path) -> None:
    by_both = {
        **ROSE,
        "turbulence_intensity": {
            "data": [[0.05, 0.06, 0.07, 0.08], [0.15, 0.16, 0.17, 0.18]],
            "dims": ["wind_speed", "wind_direction"],
        },
    }
    table = site_of(tmp_path, by_both)["table"]["turbulence_intensity"]
    assert table["values"] == [[0.05, 0.15], [0.06, 0.16], [0.07, 0.17], [0.08, 0.18]]


@pytest.mark.parametrize(
    "intensity", [None, {"data": [0.58, 3.15, 0.9], "dims": ["time"]}], ids=["none", "above 1"]
)
def test_turbulence_is_asked_for_and_never_guessed(intensity: Any, tmp_path: Path) -> None:
    notes = Notes()
    series = site_of(tmp_path, changed(SERIES, "turbulence_intensity", intensity), notes)["time_series"]
    assert "turbulence_intensity" not in series
    assert [one.field for one in notes.missing] == ["site.time_series.turbulence_intensity"]


def test_a_time_series_of_plain_lists(tmp_path: Path) -> None:
    series = site_of(tmp_path, changed(SERIES, "turbulence_intensity.dims", None))["time_series"]
    assert series == {
        "wind_direction": [270.0, 0.0, 31.0],
        "wind_speed": [8.0, 9.5, 12.0],
        "turbulence_intensity": [0.1, 0.09, 0.08],
        "times": SERIES["time"],
    }


def test_a_time_series_in_netcdf_has_steps_and_flags_that_are_told_as_ignored(tmp_path: Path) -> None:
    steps = ("time", [8.0, 9.0])
    xarray.Dataset(
        {
            "wind_speed": steps,
            "wind_direction": ("time", [270.0, 280.0]),
            "turbulence_intensity": ("time", [0.1, 0.1]),
            "operating": (("time", "wind_turbine"), [[0.0, 1.0], [1.0, 1.0]]),
        },
        coords={"time": [0.0, 1.0], "wind_turbine": [0, 1]},
    ).to_netcdf(tmp_path / "resource.nc", engine="h5netcdf")
    notes = Notes()
    series = site_of(tmp_path, "!include resource.nc", notes)["time_series"]
    assert series["wind_speed"] == [8.0, 9.0]
    assert "times" not in series
    assert any("operating: 1 of 4 entries" in line for line in notes.ignored)


def test_times_that_a_netcdf_file_keeps_as_text_are_read(tmp_path: Path) -> None:
    times = [f"2023-08-24T00:{minute}0:00.000000000" for minute in range(3)]
    axes = ("time", "height")
    variables = {
        "wind_speed": (axes, [[7.0, 8.0], [8.0, 9.5], [9.0, 12.0]]),
        "wind_direction": (axes, [[270.0, 271.0], [0.0, 1.0], [30.0, 31.0]]),
        "turbulence_intensity": (axes, [[0.1, 0.09]] * 3),
    }
    coordinates = {"time": np.array(times, object), "height": [60.0, 90.0]}
    xarray.Dataset(variables, coords=coordinates).to_netcdf(tmp_path / "resource.nc", engine="h5netcdf")
    series = site_of(tmp_path, "!include resource.nc")["time_series"]
    assert series["times"] == times
    assert series["wind_speed"] == [8.0, 9.5, 12.0]


def test_a_message_shows_the_first_of_many_heights(tmp_path: Path) -> None:
    heights = [2.5 + 5.0 * index for index in range(490)]
    resource = {
        "time": [0, 1],
        "height": heights,
        **{
            name: {"data": [[1.0] * 490] * 2, "dims": ["time", "height"]}
            for name in ("wind_speed", "wind_direction")
        },
    }
    with pytest.raises(CampaignError) as raised:
        site_of(tmp_path, resource)
    assert "has 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 32.5, 37.5, and 482 more m, but the hub" in str(
        raised.value
    )


def test_of_several_heights_the_hub_height_is_taken_and_dims_must_be_names(tmp_path: Path) -> None:
    by_height = {
        "time": SERIES["time"],
        "height": [50, 90],
        "wind_speed": {"data": [[5, 7], [2, 6], [3, 3.3]], "dims": ["time", "height"]},
        "wind_direction": {"data": [[0, 2], [333, 350], [20, 30]], "dims": ["time", "height"]},
        "turbulence_intensity": {"data": 0.1, "dims": []},
    }
    assert site_of(tmp_path, by_height)["time_series"]["wind_speed"] == [7.0, 6.0, 3.3]
    for dims in ([3, 2], None):
        with pytest.raises(CampaignError, match=r"wind_speed: has no names of axes; name one axis"):
            site_of(tmp_path, changed(by_height, "wind_speed.dims", dims))


def test_weibull_on_a_grid_goes_by_the_names_of_axes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frequency = np.array([0.25, 0.25, 0.25, 0.25])
    shape = (3, 2, 4)  # y, x, wind_direction
    scale = 8.0 + rng.random(shape)
    grid = {
        "x": [0, 4000],
        "y": [3000, 1500, 0],
        "wind_direction": [0, 90, 180, 270],
        "weibull_a": {"data": scale.tolist(), "dims": ["y", "x", "wind_direction"]},
        "weibull_k": {"data": np.full(shape, 2.1).tolist(), "dims": ["y", "x", "wind_direction"]},
        "sector_probability": {
            "data": np.broadcast_to(frequency, shape).tolist(),
            "dims": ["y", "x", "wind_direction"],
        },
        "turbulence_intensity": {"data": 0.1, "dims": []},
    }
    site = site_of(tmp_path, grid)
    local = site["local"]
    assert (local["x"], local["y"]) == ([0.0, 4000.0], [0.0, 1500.0, 3000.0])
    assert local["weibull_a"]["axes"] == ["x", "y", "wind_directions"]
    values = np.reshape(local["weibull_a"]["values"], (2, 3, 4))
    assert np.array_equal(values, scale[::-1].transpose(1, 0, 2))
    assert site["weibull"]["turbulence_intensity"] == 0.1


def test_another_height_than_the_hub_is_told(tmp_path: Path) -> None:
    for given, told in (
        ({"height": 90.0}, ""),
        ({"reference_height": 60.0}, "the wind is that of 60 m, the hub height 90 m"),
        ({"shear": {"alpha": 0.1, "h_ref": 119}}, "the wind is that of 119 m"),
        ({}, "does not say of which height"),
    ):
        notes = Notes()
        site_of(tmp_path, {**changed(WEIBULL, "height", None), **given}, notes)
        assert told in " ".join(notes.doubtful)
        assert bool(notes.doubtful) == bool(told)


def test_wind_at_each_turbine_is_read_but_no_layout_search_can_use_it(tmp_path: Path) -> None:
    by_turbine = {
        "wind_turbine": [0, 1],
        "wind_direction": [0, 180],
        "weibull_a": {"data": [[8, 9], [8.5, 9.5]], "dims": ["wind_turbine", "wind_direction"]},
    }
    path = write(tmp_path / "r.yaml", {"name": "r", "wind_resource": by_turbine})
    found = read_quantities(open_root(path).need("wind_resource")).by_name["weibull_a"]
    assert found.over("wind_direction", "wind_turbine").tolist() == [[8.0, 8.5], [9.0, 9.5]]
