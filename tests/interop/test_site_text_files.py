"""Site files of WAsP and FLORIS: what they hold is what their own rules, or their own libraries, make of it."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop import site_examples as examples
from tests.interop.site_examples import written
from vindeby.interop import ForeignFileWarning, read_site
from vindeby.interop.site_files.formats import read_site_file

needs_floris = pytest.mark.skipif(
    importlib.util.find_spec("floris") is None,
    reason="floris is not installed; it is the oracle of this test",
)


def _floris() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import floris
    return floris


def test_wind_climate_is_linear_in_roughness_and_height(tmp_path: Path) -> None:
    path = written(tmp_path / "climate.lib", examples.LIB)

    found = read_site_file(path, {"roughness": 0.025, "height": 80.0, "turbulence_intensity": 0.08})

    weibull = found.data["weibull"]
    first = weibull["sectors"][0]
    assert first["frequency"] == pytest.approx(0.75 * 0.20 + 0.25 * 0.22)
    assert first["a"] == pytest.approx(0.4 * (0.75 * 8.0 + 0.25 * 6.0) + 0.6 * (0.75 * 9.0 + 0.25 * 7.0))
    assert first["k"] == pytest.approx(0.4 * (0.75 * 2.0 + 0.25 * 1.8) + 0.6 * (0.75 * 2.2 + 0.25 * 2.0))
    assert [sector["direction"] for sector in weibull["sectors"]] == list(examples.WD)
    assert weibull["interpolation"] == "linear"
    assert found.notes == ("taken at a height of 80 m over a roughness of 0.025 m",)


def test_frequencies_of_a_wind_climate_are_divided_by_their_sum(tmp_path: Path) -> None:
    text = examples.LIB.replace(" 20.0 10.0 30.0 40.0", " 10.0 5.0 15.0 20.0")
    path = written(tmp_path / "climate.gwc", text)

    found = read_site_file(path, {"roughness": 0.0, "height": 50.0, "turbulence_intensity": 0.08})

    frequencies = [sector["frequency"] for sector in found.data["weibull"]["sectors"]]
    assert frequencies == pytest.approx(examples.FREQUENCY)


def test_bins_of_a_histogram_stand_at_their_centres(tmp_path: Path) -> None:
    path = written(tmp_path / "wind.tab", examples.TAB.replace("4 1.00 0.00", "4 0.50 0.00"))

    found = read_site_file(path, {"turbulence_intensity": 0.08})

    table = found.data["table"]
    assert table["wind_speeds"] == [1.0, 3.0, 5.0]
    assert table["probability"][0] == pytest.approx([0.05, 0.1, 0.05])
    assert table["probability"][3] == pytest.approx([0.04, 0.2, 0.16])
    assert found.notes[0] == "measured at 100 m and taken as the wind at hub height"
    assert "multiplied by its factor 0.5" in found.notes[1]


@needs_floris
def test_wind_resource_grid_has_the_parameters_that_floris_reads(tmp_path: Path) -> None:
    path = written(tmp_path / "grid.wrg", examples.wrg())
    theirs = _floris().WindRoseWRG(str(path))

    local = read_site_file(path, {"turbulence_intensity": 0.08}).data["local"]

    assert (local["x"], local["y"]) == (theirs.x_array.tolist(), theirs.y_array.tolist())
    for name, expected in (
        ("sector_frequency", theirs.sector_freq),
        ("weibull_a", theirs.weibull_A),
        ("weibull_k", theirs.weibull_k),
    ):
        np.testing.assert_allclose(np.reshape(local[name]["values"], (2, 3, 4)), expected, rtol=1e-14)


def test_columns_of_a_wind_resource_grid_may_touch(tmp_path: Path) -> None:
    sectors = [(1000, 1234, 23456)]
    lines = ["2 2 100000000 5000 500"]
    lines += [examples.wrg_line(x, y, sectors) for x in (100000000, 100000500) for y in (5000, 5500)]
    text = "\n".join(line.replace(f"{100000000:10d}", "1000000000")[:200] for line in lines).replace(
        "2 2 1000000000", "2 2 100000000"
    )
    path = written(tmp_path / "grid.wrg", text.replace("1000000000", " 100000000"))

    found = read_site_file(path, {"turbulence_intensity": 0.08}).data["local"]

    assert found["weibull_a"]["values"] == [123.4] * 4
    assert found["weibull_k"]["values"] == [234.56] * 4


def test_frequencies_of_a_grid_are_normalised_only_where_that_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "grid.wrg", examples.wrg().replace(" 400 115", " 395 115"))

    plain = read_site_file(path, {"turbulence_intensity": 0.08})
    asked = read_site_file(path, {"turbulence_intensity": 0.08, "normalise": True})

    sums = [
        np.reshape(found.data["local"]["sector_frequency"]["values"], (6, 4)).sum(axis=1)
        for found in (plain, asked)
    ]
    np.testing.assert_allclose(sums[0].min(), 0.995)
    np.testing.assert_allclose(sums[1], 1.0)
    assert "sum to 0.995 to 1, not to 1" in plain.notes[1]
    assert "divided by their sum" in asked.notes[1]


@needs_floris
def test_rose_has_the_frequencies_of_floris(tmp_path: Path) -> None:
    path = written(tmp_path / "rose.csv", examples.ROSE)
    theirs = _floris().WindRose.read_csv_long(str(path), "ws", "wd", 0.07, "freq_val")

    found = read_site_file(path, {"turbulence_intensity": 0.07})

    table = found.data["table"]
    np.testing.assert_allclose(table["probability"], theirs.freq_table, rtol=1e-14)
    assert table["wind_directions"] == theirs.wind_directions.tolist()
    assert found.notes == ("frequencies sum to 1.8 and are divided by this sum, as FLORIS does",)


@needs_floris
def test_turbulence_rose_has_the_states_of_floris(tmp_path: Path) -> None:
    path = written(tmp_path / "rose.csv", examples.TI_ROSE)
    theirs = _floris().WindTIRose.read_csv_long(str(path), "ws", "wd", "ti", "freq_val")

    with pytest.warns(ForeignFileWarning, match="divided by this sum"):
        states = read_site(path).states()

    assert states.probability.sum() == pytest.approx(1.0)
    table = theirs.freq_table
    for direction, speed, ti, frequency in ((0, 0, 0, 0.25), (0, 0, 1, 0.25), (0, 1, 0, 0.2), (1, 0, 0, 0.3)):
        assert table[direction, speed, ti] == pytest.approx(frequency)
    assert sorted(states.probability) == pytest.approx(sorted(table[table > 0.0]))


def test_columns_that_are_told_are_used_and_no_others(tmp_path: Path) -> None:
    text = "ws,speed at 90 m,heading,n\n1,8,0,3\n1,9,180,1\n"
    path = written(tmp_path / "rose.csv", text)
    columns = {"wind_speed": "speed at 90 m", "wind_direction": "heading", "frequency": "n"}

    found = read_site_file(path, {"turbulence_intensity": 0.07, "columns": columns})

    assert found.data["table"]["wind_speeds"] == [8.0, 9.0]
    assert found.data["table"]["probability"] == [[0.75, 0.0], [0.0, 0.25]]


def test_series_without_frequencies_is_a_time_series(tmp_path: Path) -> None:
    path = written(tmp_path / "series.csv", examples.SERIES)

    section = read_site_file(path, {}).data["time_series"]

    assert section == {
        "wind_direction": [270.0, 275.0],
        "wind_speed": [8.5, 9.5],
        "turbulence_intensity": [0.06, 0.07],
        "times": ["2020-01-01T00:00", "2020-01-01T01:00"],
    }
