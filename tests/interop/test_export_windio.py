"""windIO files: valid by windIO's own schema, and of the same energy when PyWake is built from them by hand."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop.exports import campaign, database
from vindeby.assembly.wind import turbine_of, wind_farm
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.interop.turbine_curves import curve_points
from vindeby.results.result_set import ResultSet

pytestmark = pytest.mark.oracle

SCHEMA = "plant/wind_energy_system"
SYSTEM = "wind_energy_system.yaml"
SERIES = {
    "wind_direction": [270.0, 265.0, 12.5, 90.0],
    "wind_speed": [8.0, 9.5, 12.0, 6.0],
    "turbulence_intensity": [0.05, 0.06, 0.07, 0.08],
}
TABLE = {
    "turbulence_intensity": {"wind_directions": [0, 45, 200], "values": [0.05, 0.07, 0.1]},
    "wind_directions": [0, 90, 180, 270],
    "wind_speeds": [6, 10],
    "probability": [[0.1, 0.1], [0.2, 0.1], [0.1, 0.2], [0.15, 0.05]],
}


def exported(folder: Path, asked: Campaign, key: str | None, **options: Any) -> tuple[Path, list[str]]:
    where = None if key is None else f"key == '{key}'"
    results = ResultSet(database(folder / "layouts.h5", asked), where=where)
    done = export(results, "windio", folder / "out", ExportOptions(**options))
    return done.path, done.chosen.notes


def load(path: Path) -> dict[str, Any]:
    import windIO

    data: dict[str, Any] = windIO.load_yaml(path)
    return data


def oracle(system: dict[str, Any]) -> float:
    """AEP (GWh) by PyWake, from nothing but the file."""
    from py_wake.literature.gaussian_models import Bastankhah_PorteAgel_2014
    from py_wake.wind_turbines import WindTurbine, WindTurbines
    from py_wake.wind_turbines.power_ct_functions import PowerCtTabular

    farm = system["wind_farm"]
    layout = farm["layouts"][0]
    numbers = layout.get("turbine_types", [0] * len(layout["coordinates"]["x"]))
    described = farm.get("turbine_types") or {0: farm["turbines"]}
    order = sorted(described)
    turbines = []
    for number in order:
        one = described[number]
        power, thrust = one["performance"]["power_curve"], one["performance"]["Ct_curve"]
        speeds = np.array(power["power_wind_speeds"])
        assert thrust["Ct_wind_speeds"] == power["power_wind_speeds"]
        curve = PowerCtTabular(speeds, np.array(power["power_values"]), "w", np.array(thrust["Ct_values"]))
        turbines.append(WindTurbine(one["name"], one["rotor_diameter"], one["hub_height"], curve))
    kinds = np.array([order.index(number) for number in numbers])
    words = system["attributes"]["analysis"]
    assert words["superposition_model"] == {"ws_superposition": "Linear"}
    assert words["wind_deficit_model"]["name"] == "Bastankhah2014"
    site, wind, probability = pywake_site(system)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        k = words["wind_deficit_model"]["wake_expansion_coefficient"]["k_b"]
        ceps = words["wind_deficit_model"]["ceps"]
        assert ceps == 0.2
        model = Bastankhah_PorteAgel_2014(site, WindTurbines.from_WindTurbine_lst(turbines), k=k)
        simulation = model(layout["coordinates"]["x"], layout["coordinates"]["y"], type=kinds, **wind)
        if probability is None:
            return float(simulation.aep().sum())
        return float((simulation.Power.values.sum(axis=0) * probability).sum()) * 8760 / 1e9


def pywake_site(system: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
    """The site, which wind to compute, and how often each state is where PyWake does not know that."""
    import xarray as xr
    from py_wake.site import UniformSite, XRSite

    wind = system["site"]["energy_resource"]["wind_resource"]
    runs = system["attributes"]["model_outputs_specification"]["run_configuration"]
    intensity = wind["turbulence_intensity"]
    if "weibull_a" in wind:

        def around(name: str) -> tuple[str, list[float]]:
            assert wind[name]["dims"] == ["wind_direction"]
            return "wd", [*wind[name]["data"], wind[name]["data"][0]]

        data = xr.Dataset(
            {
                "Sector_frequency": around("sector_probability"),
                "Weibull_A": around("weibull_a"),
                "Weibull_k": around("weibull_k"),
                "TI": ("ws", intensity["data"]) if intensity["dims"] else intensity["data"],
            },
            coords={"wd": [*wind["wind_direction"], 360.0]}
            | ({"ws": wind["wind_speed"]} if intensity["dims"] else {}),
        )
        bins = {
            "wd": runs["directions_run"]["specific_values"],
            "ws": runs["wind_speeds_run"]["specific_values"],
        }
        return XRSite(data, interp_method="linear"), bins, None
    if "time" in wind:
        given = {"wd": wind["wind_direction"]["data"], "ws": wind["wind_speed"]["data"]}
        return UniformSite([1.0], ti=0.1), {**given, "TI": intensity["data"], "time": True}, None
    assert wind["probability"]["dims"] == ["wind_direction", "wind_speed"]
    probability = np.array(wind["probability"]["data"])
    directions, speeds = np.meshgrid(wind["wind_direction"], wind["wind_speed"], indexing="ij")
    turbulence = np.broadcast_to(np.array(intensity["data"]), probability.shape)
    states = {"wd": directions.ravel(), "ws": speeds.ravel(), "TI": turbulence.ravel(), "time": True}
    return UniformSite([1.0], ti=0.1), states, probability.ravel()


def ours(asked: Campaign, key: str) -> float:
    """The energy of the layout by vindeby's own engine, without neighbours: they are not in the file."""
    from tests.interop.exports import positions

    task = next(task for task in asked.tasks() if task.key == key)
    x, y = positions(asked, task)
    kinds = [0, 0, 0, 1, 1] if task.farm_idx == 2 else [task.type_idx] * task.n_turbines
    return wind_farm(asked, [0, 1]).aep(x, y, kinds)


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "table turbine": ({}, "farm1_t0_s0"),
    "cubic turbine": ({}, "farm1_t1_s7"),
    "mix": ({}, "farm2_t0_s0"),
    "table": ({"site": {"table": TABLE}}, "farm1_t0_s0"),
    "time series": ({"site": {"time_series": SERIES}}, "farm1_t0_s0"),
    "weighted series": ({"site": {"time_series": {**SERIES, "weight": [3, 1, 1, 2]}}}, "farm1_t0_s0"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_system_is_valid_and_of_the_same_energy_in_pywake(case: str, tmp_path: Path) -> None:
    import windIO

    changed, key = CASES[case]
    asked = campaign(**changed)
    path, _ = exported(tmp_path, asked, key)
    windIO.validate(path / SYSTEM, SCHEMA)
    # A cubic power curve is written in steps of 0.01 m/s.
    tolerance = 1e-9 if case not in ("cubic turbine", "mix") else 3e-6
    assert oracle(load(path / SYSTEM)) == pytest.approx(ours(asked, key), rel=tolerance)


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        ({"time_series": {**SERIES, "turbulence_intensity": 0.06}}, {"data": [0.06] * 4, "dims": ["time"]}),
        (
            {"table": {**TABLE, "turbulence_intensity": 0.06}},
            {"data": [[0.06] * 2] * 4, "dims": ["wind_direction", "wind_speed"]},
        ),
    ],
    ids=["time series", "table"],
)
def test_turbulence_that_never_changes_is_written_for_every_step(
    site: Any, expected: Any, tmp_path: Path
) -> None:
    """Other readers of windIO index it by step."""
    import windIO

    path, _ = exported(tmp_path, campaign(site=site), "farm0_t0_s0")
    assert load(path / SYSTEM)["site"]["energy_resource"]["wind_resource"]["turbulence_intensity"] == expected
    windIO.validate(path / SYSTEM, schema_type=SCHEMA, restrictive=False)


def test_turbulence_by_wind_speed_stays_with_the_weibull_rose(tmp_path: Path) -> None:
    site = {"weibull": {**campaign().to_data()["site"]["weibull"]}}
    site["weibull"]["turbulence_intensity"] = {"wind_speeds": [4, 15], "values": [0.12, 0.06]}
    asked = campaign(site=site)
    path, _ = exported(tmp_path, asked, "farm1_t0_s0")
    wind = load(path / SYSTEM)["site"]["energy_resource"]["wind_resource"]
    assert wind["turbulence_intensity"] == {"data": [0.12, 0.06], "dims": ["wind_speed"]}
    assert wind["wind_speed"] == [4.0, 15.0]


def test_many_results_share_their_parts(tmp_path: Path) -> None:
    import windIO

    asked = campaign()
    path, notes = exported(tmp_path, asked, None, crs="EPSG:32631")
    keys = sorted(one.name for one in path.iterdir() if one.is_dir())
    assert keys == sorted(task.key for task in asked.tasks())
    assert len(list(path.glob("**/energy_resource.yaml"))) == 1
    for key in ("farm0_t0_s0", "farm1_t0_s7", "farm2_t0_s0"):
        # Strictly, windIO 2.1 allows no key at all in the polygons of exclusions.
        windIO.validate(path / key / SYSTEM, SCHEMA, restrictive=not key.startswith("farm0"))
    assert any("restrictive=False" in note for note in notes)
    assert any("stand around farm 'mixed'" in note for note in notes)
    first = load(path / "farm0_t0_s0" / SYSTEM)["site"]
    (polygon,) = first["boundaries"]["polygons"]
    assert list(zip(polygon["x"], polygon["y"], strict=True)) == list(asked.farms[0].boundary.rings[0])
    assert polygon["crs"].startswith("+proj=utm +zone=31")
    assert len(first["exclusions"]["polygons"]) == 2
    zoned = load(path / "farm1_t0_s0" / SYSTEM)["site"]["boundaries"]["polygons"]
    assert len(zoned) == 2
    circle = load(path / "farm2_t0_s0" / SYSTEM)["site"]["boundaries"]["circle"]
    assert circle["radius"] == 2500.0


@pytest.mark.parametrize(
    ("wake", "name", "expansion"),
    [
        ("nygaard-2022", "TurbOPark", {"k_a": 0.04}),
        ({"jensen": {"k": 0.05}}, "Jensen", {"k_a": 0.0, "k_b": 0.05}),
        ("bastankhah-2014", "Bastankhah2014", {"k_a": 0.0, "k_b": 0.0324555}),
        ("niayifar-2016", "Bastankhah2014", {"k_a": 0.3837, "k_b": 0.003678}),
        ("bastankhah-2016", "Bastankhah2016", {"k_a": 0.38, "k_b": 0.004, "free_stream_ti": True}),
    ],
    ids=["nygaard-2022", "jensen", "bastankhah-2014", "niayifar-2016", "bastankhah-2016"],
)
def test_the_wake_model_is_named_in_words(
    wake: Any, name: str, expansion: dict[str, Any], tmp_path: Path
) -> None:
    import windIO

    from vindeby.interop.windio.system import read_system

    path, _ = exported(tmp_path, campaign(wake=wake), "farm1_t0_s0")
    windIO.validate(path / SYSTEM, SCHEMA)
    words = load(path / SYSTEM)["attributes"]["analysis"]["wind_deficit_model"]
    assert (words["name"], words["wake_expansion_coefficient"]) == (name, expansion)
    read = Campaign.from_data(read_system(path / SYSTEM).data)
    assert read.wake.identity() == campaign(wake=wake).wake.identity()


@pytest.mark.parametrize(
    ("wake", "deficit", "summed", "induction"),
    [
        (
            {"top-hat": {"k": 0.05, "superposition": "linear", "reference": "local"}},
            {"name": "Jensen", "use_effective_ws": True},
            "Linear",
            "Madsen",
        ),
        (
            {"gaussian": {"k": 0.05, "ceps": 0.3, "rotor": "overlap"}},
            {"name": "Bastankhah2014", "ceps": 0.3, "use_effective_ws": False},
            "Squared",
            "1D",
        ),
    ],
    ids=["top-hat", "gaussian"],
)
def test_a_composed_wake_is_named_in_words(
    wake: Any, deficit: dict[str, Any], summed: str, induction: str, tmp_path: Path
) -> None:
    import windIO

    path, notes = exported(tmp_path, campaign(wake=wake), "farm1_t0_s0")
    windIO.validate(path / SYSTEM, SCHEMA)
    words = load(path / SYSTEM)["attributes"]["analysis"]
    expansion = {"k_a": 0.0, "k_b": 0.05}
    assert words["wind_deficit_model"] == {**deficit, "wake_expansion_coefficient": expansion}
    assert words["superposition_model"] == {"ws_superposition": summed}
    assert words["axial_induction_model"] == induction
    assert any("the rotor average of gaussian" in note for note in notes) == ("gaussian" in wake)


@pytest.mark.parametrize(
    ("wake", "parts"),
    [
        ({"top-hat": {"thrust_of": "free"}}, "thrust_of of the wake model top-hat"),
        (
            {"gaussian": {"initial_width": "constant", "cut_sigmas": 2}},
            "initial_width, cut_sigmas of the wake model gaussian",
        ),
    ],
)
def test_a_composed_wake_with_a_part_without_words_is_left_out_and_said(
    wake: Any, parts: str, tmp_path: Path
) -> None:
    path, notes = exported(tmp_path, campaign(wake=wake), "farm1_t0_s0")
    assert "analysis" not in load(path / SYSTEM)["attributes"]
    assert any(f"windIO cannot describe {parts}: the file does not name one" in note for note in notes)


def test_a_wake_model_without_words_is_left_out_and_said(tmp_path: Path) -> None:
    import windIO

    path, notes = exported(tmp_path, campaign(wake="cumulative-curl"), "farm1_t0_s0")
    windIO.validate(path / SYSTEM, SCHEMA)
    assert "analysis" not in load(path / SYSTEM)["attributes"]
    assert any("cannot describe the wake model cumulative-curl" in note for note in notes)


def test_only_a_time_series_may_be_too_large_for_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vindeby.interop.export.windio._LARGEST_TABLE", 1)
    path, _ = exported(tmp_path, campaign(site={"table": TABLE}), "farm1_t0_s0")
    assert (path / SYSTEM).exists()
    weighted = {"time_series": {**SERIES, "weight": [3, 1, 1, 2]}}
    (tmp_path / "series").mkdir()
    with pytest.raises(ArgumentError, match="windIO has no weights for a time series"):
        exported(tmp_path / "series", campaign(site=weighted), "farm1_t0_s0")


def test_two_states_that_differ_in_turbulence_only_are_named(tmp_path: Path) -> None:
    series = {
        "wind_direction": [265.0, 270.0, 270.0],
        "wind_speed": [8.0, 9.5, 9.5],
        "turbulence_intensity": [0.05, 0.06, 0.07],
        "weight": [1, 2, 3],
    }
    with pytest.raises(ArgumentError, match=r"at 270 degrees and 9\.5 m/s for example"):
        exported(tmp_path, campaign(site={"time_series": series}), "farm1_t0_s0")


def test_local_wind_is_refused(tmp_path: Path) -> None:
    site = campaign().to_data()["site"]
    local = {"x": [4e5, 6e5], "y": [5.7e6, 5.9e6], "speedup": 1.1}
    asked = campaign(site={**site, "local": local})
    with pytest.raises(ArgumentError, match=r"differs from place to place"):
        exported(tmp_path, asked, "farm1_t0_s0")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("outside", ["hold", "zero"])
def test_the_points_of_a_curve_are_the_curve(outside: str) -> None:
    data = campaign().to_data()["turbines"]
    data[0]["table"] |= {"outside": outside, "ct_wind_speed": [2, 6, 10, 20, 24]}
    data[1]["cubic"] |= {"ct": [0.8, 0.7], "ct_wind_speed": [4, 24], "outside": outside}
    for turbine in map(turbine_of, campaign(turbines=data).turbines):
        points = curve_points(turbine)
        speed = np.concatenate([np.linspace(0, 40, 4001), turbine.start])
        thrust = np.interp(speed, points.speed, points.thrust)
        np.testing.assert_allclose(thrust, turbine.thrust_coefficient_at(speed), atol=1e-12)
        power = np.interp(speed, points.speed, points.power_w)
        np.testing.assert_allclose(power, turbine.power_at(speed), atol=3e-6 * 3.35e6)
