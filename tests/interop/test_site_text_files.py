"""Site files of WAsP and FLORIS: what they hold is what their own rules, or their own libraries, make of it."""

from __future__ import annotations

import gzip
import importlib.util
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import changed
from tests.command import vindeby
from tests.interop import site_examples as examples
from tests.interop.site_examples import written
from vindeby.campaign import Campaign
from vindeby.campaign.sections.site import SiteSection
from vindeby.errors import CampaignError
from vindeby.interop import ForeignFileWarning, read_site
from vindeby.interop.formats import read_site_file

pytestmark = pytest.mark.oracle

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


def test_a_histogram_is_not_read_in_so_few_directions_that_energies_are_overstated(tmp_path: Path) -> None:
    path = written(tmp_path / "wind.tab", examples.TAB)
    about = {"turbulence_intensity": 0.08}
    fine, coarse = (read_site_file(path, {**about, "direction_step": step}) for step in (1.0, 10.0))
    assert coarse.data == fine.data
    assert len(fine.data["table"]["wind_directions"]) == 360
    assert "direction_step 10 is taken as 1: coarser, energies would be overstated" in coarse.notes
    assert not any("direction_step" in note for note in fine.notes)


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


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_rose_below_a_line_that_names_its_separator_is_the_same_rose(separator: str, tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text(examples.ROSE)
    (tmp_path / "sep.csv").write_text(f"sep={separator}\n" + examples.ROSE.replace(",", separator))
    plain, named = (
        read_site_file(tmp_path / name, {"turbulence_intensity": 0.08}) for name in ("plain.csv", "sep.csv")
    )
    assert named.format == "floris-rose"
    assert named.data == plain.data


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


def test_series_without_frequencies_is_a_time_series(tmp_path: Path) -> None:
    path = written(tmp_path / "series.csv", examples.SERIES)

    section = read_site_file(path, {}).data["time_series"]

    assert section == {
        "wind_direction": [270.0, 275.0],
        "wind_speed": [8.5, 9.5],
        "turbulence_intensity": [0.06, 0.07],
        "times": ["2020-01-01T00:00", "2020-01-01T01:00"],
    }


UNITS = [
    ("wind_speed", "wind_speed_100m (km/h)", 36.0, 10.0),
    ("wind_speed", "speed (mph)", 10.0, 4.4704),
    ("wind_speed", "WS_kn", 10.0, 5.144444444444444),
    ("wind_speed", "speed (ft/s)", 10.0, 3.048),
    ("wind_speed", "speed [km h-1]", 36.0, 10.0),
    ("turbulence_intensity", "ti [%]", 8.0, 0.08),
    ("wind_direction", "direction (rad)", 3.141592653589793, 180.0),
]


@pytest.mark.parametrize(("quantity", "name", "value", "expected"), UNITS)
@pytest.mark.parametrize("kind", ["series", "rose"])
def test_unit_in_a_header_is_converted_and_reported(
    kind: str, quantity: str, name: str, value: float, expected: float, tmp_path: Path
) -> None:
    cells = {"wind_speed": ("ws", "8"), "wind_direction": ("wd", "0"), "turbulence_intensity": ("ti", "0.1")}
    cells[quantity] = (name, str(value))
    if kind == "rose":
        cells["frequency"] = ("freq_val", "1")
    names, numbers = zip(*cells.values(), strict=True)
    path = written(tmp_path / "wind.csv", f"{','.join(names)}\n{','.join(numbers)}\n")

    found = read_site_file(path, {})

    site = Campaign.from_data(changed("site", found.data)).site
    states = site_of_one(site.chosen[1].model_dump())
    assert states[quantity] == pytest.approx(expected, rel=1e-12)
    assert any(f"the {quantity.replace('_', ' ')} is converted from " in note for note in found.notes)


def site_of_one(data: dict[str, Any]) -> dict[str, float]:
    """Direction, speed and turbulence of wind that has one state, whatever its form."""
    names = {"wind_directions": "wind_direction", "wind_speeds": "wind_speed"}
    values = {names.get(name, name): value for name, value in data.items() if value is not None}
    return {
        name: np.ravel(values[name])[0] for name in ("wind_direction", "wind_speed", "turbulence_intensity")
    }


@pytest.mark.parametrize("name", ["speed [Bft]", "speed (ERA5)", "speed [kW]"])
def test_unit_that_cannot_be_converted_is_refused(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "wind.csv", f"wd,{name},ti\n0,8,0.1\n")

    with pytest.raises(CampaignError) as caught:
        read_site_file(path, {})

    assert "wind.csv:1: the column of wind speed is in " in str(caught.value)
    assert "needs m/s" in str(caught.value)
    assert "[m/s]" in str(caught.value.problems[0].remedy)


def test_unit_beside_another_note_in_a_header_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "wind.csv", "wd,speed (ERA5) [km/h],ti\n0,36,0.1\n")

    found = read_site_file(path, {})

    assert found.data["time_series"]["wind_speed"] == [10.0]


OPEN_METEO = """\
latitude,longitude,elevation,utc_offset_seconds,timezone,timezone_abbreviation
55.5,7.9,0.0,0,GMT,GMT

time,temperature_2m (\N{DEGREE SIGN}C),wind_speed_100m (km/h),wind_direction_100m (\N{DEGREE SIGN})
2024-01-01T00:00,3.1,36.0,270
2024-01-01T01:00,3.0,18.0,275
"""


def test_table_below_a_preamble_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "om.csv", OPEN_METEO)

    found = read_site_file(path, {"turbulence_intensity": 0.06})

    assert found.data["time_series"]["wind_speed"] == [10.0, 5.0]
    assert found.data["time_series"]["wind_direction"] == [270.0, 275.0]
    assert "not used: 2 lines above the header" in found.notes
    assert "the wind speed is converted from km/h to m/s" in found.notes


def test_mistake_below_a_preamble_is_named_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "om.csv", OPEN_METEO.replace("18.0", "calm"))
    other = written(tmp_path / "other.csv", OPEN_METEO.replace("wind_direction", "wind_bearing"))

    with pytest.raises(CampaignError, match=r"om\.csv:6: the wind speed is not a number"):
        read_site_file(path, {"turbulence_intensity": 0.06})
    with pytest.raises(CampaignError, match=r"other\.csv:4: names no column of wind direction"):
        read_site_file(other, {"turbulence_intensity": 0.06})


def test_check_reports_what_was_converted(tmp_path: Path) -> None:
    written(tmp_path / "om.csv", OPEN_METEO)
    data = changed("site", {"file": "om.csv", "turbulence_intensity": 0.06})
    written(tmp_path / "c.yaml", json.dumps(data))
    written(tmp_path / "own.yaml", json.dumps(data | {"site": {"time_series": data["site"]}}))

    for name in ("c.yaml", "own.yaml"):
        done = vindeby(tmp_path, "check", name)
        assert done.returncode == 0, done.stderr
        wanted = "site, from om.csv: the wind speed is converted from km/h to m/s"
        assert wanted in done.stderr, name


def test_compressed_table_is_the_table(tmp_path: Path) -> None:
    for name, text in (("rose.csv", examples.ROSE), ("series.csv", examples.SERIES)):
        options = {"turbulence_intensity": 0.07} if name == "rose.csv" else {}
        path = written(tmp_path / name, text)
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(text.encode()))

        assert read_site_file(packed, options).data == read_site_file(path, options).data


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"0" * 100_000_000), "more than"),
        (gzip.compress(b"wd,ws,ti\n" * 99)[:-9], "damaged"),
        (b"\x1f\x8bsomething else", "damaged"),
    ],
    ids=["large", "cut", "other"],
)
@pytest.mark.parametrize("inside", [{}, {"time_series": True}])
def test_compressed_table_that_is_damaged_or_too_large_is_refused(
    inside: dict[str, bool], content: bytes, words: str, tmp_path: Path
) -> None:
    (tmp_path / "wind.csv.gz").write_bytes(content)
    site: dict[str, Any] = {"file": "wind.csv.gz", "turbulence_intensity": 0.06}
    data = changed("site", {"time_series": site} if inside else site)
    path = written(tmp_path / "c.yaml", json.dumps(data))

    with pytest.raises(CampaignError) as caught:
        Campaign.load(path)

    assert "wind.csv.gz" in str(caught.value)
    assert words in str(caught.value)


def test_a_wind_resource_grid_of_one_point_is_a_site_that_is_the_same_everywhere(tmp_path: Path) -> None:
    point = examples.wrg_line(1000, 5000, [(200, 80, 200), (100, 90, 210), (300, 100, 220), (400, 115, 230)])
    path = written(tmp_path / "point.wrg", f"1 1 1000 5000 500\n{point}\n")
    found = read_site_file(path, {"turbulence_intensity": 0.08})
    assert "local" not in found.data
    assert [tuple(sector.values()) for sector in found.data["weibull"]["sectors"]] == [
        (0.0, 0.2, 8.0, 2.0), (90.0, 0.1, 9.0, 2.1), (180.0, 0.3, 10.0, 2.2), (270.0, 0.4, 11.5, 2.3),
    ]  # fmt: skip
    assert "has one point, whose wind is taken everywhere" in found.notes
    SiteSection.model_validate(found.data)
    row = written(tmp_path / "row.wrg", f"2 1 1000 5000 500\n{point}\n{point}\n")
    with pytest.raises(CampaignError, match="number of rows, which is not a whole number from 2"):
        read_site_file(row, {"turbulence_intensity": 0.08})
