"""Broken windIO files: refused with the file, the field and what would be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.interop.windio_examples import (
    ROSE,
    SERIES,
    SYSTEM,
    TURBINE,
    WEIBULL,
    changed,
    read,
    with_resource,
    write,
)
from vindeby.errors import CampaignError
from vindeby.interop.windio.nodes import MOST_INCLUDES
from vindeby.interop.windio.system import read_system

pytestmark = pytest.mark.slow

POLYGON = "site.boundaries.polygons.0"
WIND = "site.energy_resource.wind_resource"


def refusal(folder: Path, data: Any) -> str:
    path = write(folder / "system.yaml", data)
    with pytest.raises(CampaignError) as raised:
        read(path)
    message = str(raised.value)
    assert message.startswith(str(folder))
    assert "; " in message  # what to do about it
    return message


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"name": "s", "boundaries": {}}, "is not a whole windIO system"),
        ({"name": "s", "wind_resource": ROSE}, "is not a whole windIO system"),
        (TURBINE, "has neither site nor wind_farm"),
        ({"name": "s"}, "has neither site nor wind_farm"),
        ([SYSTEM], "has neither site nor wind_farm"),
        (changed(SYSTEM, "site", [1, 2]), "site: must be a mapping"),
        (changed(SYSTEM, "name", 7), "name: must be text (got 7)"),
    ],
)
def test_systems(data: Any, told: str, tmp_path: Path) -> None:
    assert told in refusal(tmp_path, data)


@pytest.mark.parametrize(
    ("dotted", "value", "told"),
    [
        (f"{POLYGON}.x", [-90, 3834, 3, 3834, 3, -90], "x has 6 numbers and y has 4"),
        (f"{POLYGON}.y", None, "polygons[0]: y is missing"),
        (f"{POLYGON}.x", [0, "4000 m", 4000, 0], "x[1]: must be a number (got '4000 m')"),
        (f"{POLYGON}.x", [0, [1], 4000, 0], "x: has rows of different lengths"),
        (f"{POLYGON}.crs", "EPSG:4326", "crs: is not in metres (got 'EPSG:4326')"),
        ("site.boundaries", {"square": 3}, "must have either polygons or a circle"),
        ("site.boundaries", {"polygons": []}, "polygons: the list is empty"),
        ("site.boundaries", {"circle": {"center": {"x": 0, "y": 0}}}, "circle: radius is missing"),
        (
            "site.exclusions",
            {"polygons": [{"x": [0, 1], "y": [0]}]},
            "exclusions.polygons[0]: x has 2 numbers and y has 1",
        ),
    ],
)
def test_a_boundary_that_cannot_be_used_is_missing_with_the_reason(
    dotted: str, value: Any, told: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "system.yaml", changed(SYSTEM, dotted, value))
    system = read_system(path, check_schema=False)
    (missing,) = system.notes.missing
    assert missing.field == "farms.0.boundary"
    assert missing.message.startswith(f"the one in the file is not used: {path}:")
    assert told in missing.message
    assert "boundary" not in system.data["farms"][0]


def test_a_wake_model_that_cannot_be_used_is_missing_with_the_reason(tmp_path: Path) -> None:
    dotted = "attributes.analysis.wind_deficit_model.name"
    path = write(tmp_path / "system.yaml", changed(SYSTEM, dotted, 3))
    system = read_system(path, check_schema=False)
    (missing,) = system.notes.missing
    assert missing.field == "wake"
    assert missing.message.startswith(f"the one in the file is not used: {path}:")
    assert f"{dotted}: must be text (got 3)" in missing.message
    assert "wake" not in system.data


def test_two_coordinate_systems_in_one_system(tmp_path: Path) -> None:
    data = changed(SYSTEM, f"{POLYGON}.crs", "EPSG:32631")
    data["wind_farm"]["layouts"][0]["coordinates"]["crs"] = "EPSG:25831"
    assert "crs: differs from what is given elsewhere (the coordinate system is EPSG:32631;" in refusal(
        tmp_path, data
    )


def test_a_polygon_that_crosses_itself_is_refused_by_the_check_of_campaigns(tmp_path: Path) -> None:
    crossing = changed(SYSTEM, f"{POLYGON}.x", [0, 4000, 0, 4000])
    path = write(tmp_path / "system.yaml", crossing)
    with pytest.raises(CampaignError, match="cross"):
        read(path)


@pytest.mark.parametrize(
    ("resource", "told"),
    [
        (changed(WEIBULL, "weibull_k", None), "weibull_k is missing"),
        (
            changed(WEIBULL, "weibull_a.data", [8, 9]),
            "has 2 values along wind_direction, but wind_direction has 6",
        ),
        (changed(WEIBULL, "sector_probability.data", [0.2] * 6), "the frequencies sum to 1.2, not to 1"),
        (
            changed(WEIBULL, "wind_direction", [0, 30, 60, 90, 120, 150]),
            "with 6 sectors, sector 1 must be at 60 degrees",
        ),
        (changed(WEIBULL, "wind_direction.5", 60), "has a direction twice"),
        (changed(WEIBULL, "wind_direction.5", 400), "is not between 0 and 360 (got 400.0)"),
        (changed(WEIBULL, "weibull_a.dims", ["sector"]), "depends on sector, which is not an axis of windIO"),
        (
            changed(WEIBULL, "weibull_a.dims", ["wind_direction", "height"]),
            "has 1 levels of lists, but dims wind_direction, height",
        ),
        (
            changed({**WEIBULL, "wind_speed": [4, 5, 6, 7, 8, 9]}, "weibull_k.dims", ["wind_speed"]),
            "weibull_k: depends on wind_speed, not on wind_direction",
        ),
        (changed(WEIBULL, "weibull_a.data.2", "nine"), "data[2]: must be a number (got 'nine')"),
        (changed(WEIBULL, "weibull_a.data.2", float("nan")), "data[2]: is not finite"),
        (
            {**WEIBULL, "probability": ROSE["probability"], "wind_speed": [8, 11]},
            "has 4 values along wind_direction",
        ),
        (
            {**WEIBULL, "time": [f"2023-07-0{day}" for day in range(1, 7)]},
            "gives time and weibull_a, which exclude each other",
        ),
        ({"wind_direction": [0]}, "describes no wind"),
        (
            changed(changed(WEIBULL, "wind_direction.5", 360), "weibull_a.data.5", 8.0),
            "differs between the directions 0 and 360",
        ),
        (changed(ROSE, "probability.data.0", [0.9, 0.9]), "the probabilities sum to 2.6, not to 1"),
        (
            changed(ROSE, "probability.data", [[0.5, 0.5]] * 4),
            "the probabilities sum to 4, not to 1",
        ),
        (
            changed(ROSE, "probability.data.0", [0.3, -0.1]),
            "site.table.probability[0][1]: must be at least 0 (got -0.1)",
        ),
        (changed(ROSE, "probability.data.0", [0.2]), "has rows of different lengths"),
        (changed(ROSE, "wind_speed", None), "wind_speed is missing"),
        (changed(SERIES, "wind_direction", None), "wind_direction is missing"),
        (changed(SERIES, "wind_speed", [8, 9]), "has 2 values along time, but time has 3"),
        (
            changed(SERIES, "wind_speed.1", -3),
            "site.time_series.wind_speed[1]: must be at least 0 (got -3.0)",
        ),
        (changed(SERIES, "time.2", "2023-07-24T00:00:00Z"), "entry 2 is not after the one before"),
        (
            {**SERIES, "height": [10, 20], "wind_speed": {"data": [[1, 2]] * 3, "dims": ["time", "height"]}},
            "has 10, 20 m, but the hub height is 90 m",
        ),
        (
            {
                **SERIES,
                "wind_turbine": [0, 1],
                "wind_speed": {"data": [[1, 2]] * 3, "dims": ["time", "wind_turbine"]},
            },
            "is given at each turbine of one layout",
        ),
        ("!include nowhere.nc", "no such file"),
        ("!include system.yaml", "includes itself"),
        ("just text", "must be a mapping"),
    ],
)
def test_resources(resource: Any, told: str, tmp_path: Path) -> None:
    message = refusal(tmp_path, with_resource(resource))
    assert told in message, message


@pytest.mark.parametrize(
    ("dotted", "value", "told"),
    [
        ("performance", None, "performance is missing"),
        ("hub_height", None, "hub_height is missing"),
        ("rotor_diameter", -100, "rotor_diameter: must be above 0 and at most 1000 (got -100.0)"),
        ("rotor_diameter", 10**400, "rotor_diameter: a number of 401 digits"),
        ("hub_height", 9000, "hub_height: must be above 0 and at most 1000 (got 9000.0)"),
        (
            "performance.Ct_curve.Ct_wind_speeds.3",
            2500,
            "Ct_wind_speeds[3]: must be increasing wind speeds from 0 to 200 m/s (got 2500.0)",
        ),
        ("performance.Ct_curve", None, "performance: Ct_curve is missing"),
        ("performance.power_curve", None, "does not say how much power the turbine gives"),
        (
            "performance.power_curve.power_values",
            [1, 2],
            "power_values: has 2 numbers and power_wind_speeds has 6",
        ),
        (
            "performance.power_curve.power_wind_speeds",
            [4, 6, 8, 10, 10, 25],
            "power_wind_speeds[4]: must be increasing wind speeds from 0 to 200 m/s (got 10.0)",
        ),
        (
            "performance.power_curve.power_values",
            [120, 500, 1250, 2400, 3000, 3000],
            "the largest power is 3000 W",
        ),
        (
            "performance.power_curve.power_values",
            [1.2e6, 5e6, 12.5e6, 24e6, 30e6, 30e6],
            "above the Betz limit of 0.593",
        ),
        (
            "performance.rated_power",
            3000,
            "rated_power_mw: is far from the largest power of the curve, 3.00004 MW",
        ),
        ("performance.Ct_curve.Ct_values", "high", "Ct_values: must be a number"),
    ],
)
def test_turbines(dotted: str, value: Any, told: str, tmp_path: Path) -> None:
    message = refusal(tmp_path, changed(SYSTEM, f"wind_farm.turbines.{dotted}", value))
    assert told in message, message


def test_a_number_of_an_included_turbine_is_refused_in_the_campaign_file(tmp_path: Path) -> None:
    write(tmp_path / "three.yaml", changed(TURBINE, "performance.rated_power", 3000))
    path = write(tmp_path / "system.yaml", changed(SYSTEM, "wind_farm.turbines", "!include three.yaml"))
    with pytest.raises(CampaignError) as raised:
        read(path)
    assert str(raised.value).startswith(f"{tmp_path / 'from-windio.yaml'}:")
    assert ": turbines[0].table.rated_power_mw: " in str(raised.value)


@pytest.mark.parametrize(
    ("dotted", "value", "told"),
    [
        ("layouts", [{"positions": []}], "coordinates is missing"),
        ("layouts", {}, "layouts: has no layout"),
        ("layouts.0.coordinates.x", [1, 2, 3], "x has 3 numbers and y has 4"),
        ("layouts.0.coordinates.x", [], "x: is empty"),
        (
            "layouts.0.coordinates",
            {"x": list(range(10_001)), "y": list(range(10_001))},
            "layouts[0]: has 10,001 turbines; a farm has at most 10,000",
        ),
        ("layouts.0.turbine_types", [0, 0, 0, 1], "entry 0 is not a type of the farm"),
        ("layouts.0.turbine_types", [0, 0], "has 2 entries, but there are 4 turbines"),
        ("turbines", [TURBINE, TURBINE], "must be one turbine"),
        ("turbines", "!include ../../../etc/passwd", "is not a kind of file that is included"),
        ("turbines", "!include /elsewhere/turbine.yaml", "is not a relative path of a file"),
        ("turbines", "!include https://example.org/turbine.yaml", "is not a relative path of a file"),
        ("turbines", "!include nowhere.yaml", "no such file"),
        ("name", ["a"], "name: must be text"),
    ],
)
def test_farms(dotted: str, value: Any, told: str, tmp_path: Path) -> None:
    message = refusal(tmp_path, changed(SYSTEM, f"wind_farm.{dotted}", value))
    assert told in message, message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("site: !!python/object/apply:os.system [ls]\nwind_farm: {}\n", "YAML tags are not supported"),
        ("site: {\nwind_farm: 3", "not valid YAML"),
        ("site: &a [*a]\nwind_farm: {}\n", "alias *a stands for nothing complete"),
        ("name: s\nsite: {}\nsite: {}\nwind_farm: {}\n", "duplicate key 'site'"),
        ("site: !include [a, b]\nwind_farm: {}\n", "YAML tags are not supported"),
    ],
)
def test_text_that_is_no_plain_yaml(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(text)
    with pytest.raises(CampaignError) as raised:
        read_system(path)
    assert told in str(raised.value), str(raised.value)


def test_files_that_include_each_other_in_a_circle(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", {**SYSTEM["wind_farm"], "turbines": "!include b.yaml"})
    write(tmp_path / "b.yaml", changed(TURBINE, "performance", "!include a.yaml"))
    assert "includes itself" in refusal(tmp_path, changed(SYSTEM, "wind_farm", "!include a.yaml"))
    (tmp_path / "a.yaml").write_text("!include a.yaml\n")
    assert "must be a mapping" in refusal(tmp_path, changed(SYSTEM, "wind_farm", "!include a.yaml"))


def test_more_includes_than_any_system_needs(tmp_path: Path) -> None:
    write(tmp_path / "farm.yaml", SYSTEM["wind_farm"])
    many = ["!include farm.yaml"] * (MOST_INCLUDES + 1)
    assert "more than" in refusal(tmp_path, {**SYSTEM, "wind_farm": many})


def test_a_netcdf_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "wind.nc").write_bytes(b"\x89HDF\r\n\x1a\nnothing behind the signature")
    assert "cannot be read" in refusal(tmp_path, with_resource("!include wind.nc"))
    (tmp_path / "wind.nc").write_bytes(b"CDF\x01")
    assert "nccopy -k nc4" in refusal(tmp_path, with_resource("!include wind.nc"))
