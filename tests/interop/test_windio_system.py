"""Whole windIO systems: farms, turbines, boundaries, wake words, includes, and what is said about them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from tests.interop.windio_examples import ROSE, SERIES, SYSTEM, TURBINE, changed, with_resource, write
from vindeby.campaign import Campaign
from vindeby.interop.windio.farm import read_boundary
from vindeby.interop.windio.nodes import Notes, open_root
from vindeby.interop.windio.system import System, campaign_text, read_system
from vindeby.interop.windio.turbine import read_turbine

pytestmark = pytest.mark.slow


def system_of(folder: Path, data: dict[str, Any], *, check_schema: bool = False) -> System:
    return read_system(write(folder / "system.yaml", data), check_schema=check_schema)


def test_a_system_becomes_a_campaign(tmp_path: Path) -> None:
    system = system_of(tmp_path, SYSTEM)
    campaign = Campaign.from_data(system.data)
    assert campaign.name == "small system"
    assert campaign.farms[0].n_turbines == 4
    assert campaign.turbines[0].rated_power_mw == 3.0  # not the largest of the curve
    assert campaign.turbines[0].table is not None
    assert campaign.turbines[0].table.ct_wind_speed == (4.0, 9.0, 12.0, 25.0)
    assert (system.layouts[0].x, system.layouts[0].types) == ([500.0, 1500.0, 2500.0, 3500.0], ["three"] * 4)
    assert not system.notes.missing


@pytest.mark.parametrize(
    ("key", "layouts"),
    [
        ("layouts", {"coordinates": {"x": [1, 2], "y": [3, 4]}}),
        ("layouts", [{"coordinates": {"x": [1, 2], "y": [3, 4]}}]),
        ("layouts", {"initial_layout": {"coordinates": {"x": [1, 2], "y": [3, 4]}}}),
    ],
    ids=["mapping", "list", "by name"],
)
def test_layouts_in_every_form(key: str, layouts: Any, tmp_path: Path) -> None:
    system = system_of(tmp_path, changed(SYSTEM, f"wind_farm.{key}", layouts))
    assert [(one.x, one.y) for one in system.layouts] == [([1.0, 2.0], [3.0, 4.0])]
    assert system.data["farms"][0]["n_turbines"] == 2
    assert any("begins a search with them" in line for line in system.notes.chosen)


def test_the_wrong_key_turbine_is_taken_and_told(tmp_path: Path) -> None:
    wrong = changed(changed(SYSTEM, "wind_farm.turbines", None), "wind_farm.turbine", TURBINE)
    system = system_of(tmp_path, wrong)
    assert system.data == system_of(tmp_path, SYSTEM).data
    assert any("'turbine' is not windIO's 'turbines'" in line for line in system.notes.doubtful)


def two_types() -> dict[str, Any]:
    other = {**TURBINE, "name": "other", "rotor_diameter": 110.0, "hub_height": 95.0}
    data = changed(SYSTEM, "wind_farm.turbines", None)
    data["wind_farm"]["turbine_types"] = {0: TURBINE, 2: other}
    data["wind_farm"]["layouts"][0]["turbine_types"] = [0, 2, 2, 2]
    return data


def test_several_types_in_one_farm_are_a_mix(tmp_path: Path) -> None:
    system = system_of(tmp_path, two_types())
    assert system.data["farms"][0]["mix"] == {"three": 1, "other": 3}
    assert system.layouts[0].types == ["three", "other", "other", "other"]
    assert Campaign.from_data(system.data).total_configs == 4


def two_farms(second_x: float) -> dict[str, Any]:
    farm = SYSTEM["wind_farm"]
    other = {**farm, "layouts": [{"coordinates": {"x": [second_x, second_x + 800], "y": [500, 1500]}}]}
    polygons = [
        {"x": [0, 4000, 4000, 0], "y": [0, 0, 3000, 3000]},
        {"x": [4000, 8000, 8000, 4000], "y": [0, 0, 3000, 3000]},
    ]
    return changed(changed(SYSTEM, "wind_farm", [farm, other]), "site.boundaries.polygons", polygons)


def test_farms_with_a_polygon_each_are_zones_and_equal_names_are_told_apart(tmp_path: Path) -> None:
    system = system_of(tmp_path, two_farms(5000.0))
    zones = system.data["farms"][0]["zones"]
    assert [(zone["name"], zone["n_turbines"]) for zone in zones] == [("farm", 4), ("farm (2)", 2)]
    assert zones[1]["boundary"]["polygon"][0] == [4000.0, 0.0]
    assert len(system.data["turbines"]) == 1  # one type, though written twice
    assert Campaign.from_data(system.data).total_configs == 4


def test_farms_that_share_an_area_are_one_farm(tmp_path: Path) -> None:
    (farm,) = system_of(tmp_path, two_farms(3700.0)).data["farms"]
    assert (farm["n_turbines"], len(farm["boundary"]["polygons"])) == (6, 2)


@pytest.mark.parametrize(
    ("boundaries", "exclusions", "expected"),
    [
        (
            {"circle": {"center": {"x": 1, "y": 2}, "radius": 3}},
            None,
            {"circle": {"center": [1.0, 2.0], "radius_m": 3.0}},
        ),
        (
            {"polygons": [{"x": [0, 9, 9], "y": [0, 0, 9]}, {"x": [20, 29, 29], "y": [0, 0, 9]}]},
            {"polygons": [{"x": [1, 2, 2], "y": [0, 0, 1]}]},
            {
                "polygons": [[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0]], [[20.0, 0.0], [29.0, 0.0], [29.0, 9.0]]],
                "exclusions": [[[1.0, 0.0], [2.0, 0.0], [2.0, 1.0]]],
            },
        ),
        (
            {"polygons": [{"x": [0, 9, 9], "y": [0, 0, 9]}]},
            {"circle": {"center": {"x": 5, "y": 2}, "radius": 1}},
            {
                "polygon": [[0.0, 0.0], [9.0, 0.0], [9.0, 9.0]],
                "exclusions": [{"circle": {"center": [5.0, 2.0], "radius_m": 1.0}}],
            },
        ),
    ],
    ids=["circle", "polygons", "excluded circle"],
)
def test_boundaries_and_exclusions(boundaries: Any, exclusions: Any, expected: Any, tmp_path: Path) -> None:
    site = {"name": "s", "boundaries": boundaries} | (
        {} if exclusions is None else {"exclusions": exclusions}
    )
    assert read_boundary(open_root(write(tmp_path / "site.yaml", site)), Notes()) == expected


def test_power_by_coefficients_and_by_rated_figures(tmp_path: Path) -> None:
    curve = {"Cp_wind_speeds": [4, 8, 25], "Cp_values": [0.3, 0.45, 0.04]}
    by_cp = changed(changed(TURBINE, "performance.power_curve", None), "performance.rated_power", None)
    by_cp["performance"]["Cp_curve"] = curve
    assert read_turbine(open_root(write(tmp_path / "cp.yaml", by_cp)), Notes())["table"]["cp"] == [
        0.3,
        0.45,
        0.04,
    ]
    rated = changed(TURBINE, "performance.power_curve", None)
    rated["performance"] |= {"rated_wind_speed": 11, "cutin_wind_speed": 4, "cutout_wind_speed": 25}
    notes = Notes()
    cubic = read_turbine(open_root(write(tmp_path / "rated.yaml", rated)), notes)["cubic"]
    assert (cubic["rated_speed"], cubic["ct_wind_speed"]) == (11.0, [4.0, 9.0, 12.0, 25.0])
    assert any("power is cubic" in line for line in notes.chosen)


def test_power_that_holds_below_cut_in_is_told(tmp_path: Path) -> None:
    notes = Notes()
    read_turbine(open_root(write(tmp_path / "t.yaml", TURBINE)), notes)
    assert any("120 kW below 4 m/s" in line and "outside: zero" in line for line in notes.chosen)


@pytest.mark.parametrize(
    ("analysis", "wake"),
    [
        (
            {"wind_deficit_model": {"name": "Jensen"}, "axial_induction_model": "1D"},
            {"jensen": {"induction": "momentum"}},
        ),
        (
            {"wind_deficit_model": {"name": "Jensen", "wake_expansion_coefficient": {"k_a": 0, "k_b": 0.05}}},
            {"jensen": {"k": 0.05}},
        ),
        (
            {
                "wind_deficit_model": {
                    "name": "Bastankhah2014",
                    "wake_expansion_coefficient": {"k_a": 0.38, "k_b": 0.004},
                }
            },
            {"niayifar-2016": {"a0": 0.38, "a1": 0.004}},
        ),
        (
            {"wind_deficit_model": {"name": "Bastankhah2014", "wake_expansion_coefficient": {"k_a": 0.03}}},
            {"bastankhah-2014": {"k": 0.03}},
        ),
        (
            {"wind_deficit_model": {"name": "TurbOPark", "wake_expansion_coefficient": {"k_a": 0.05}}},
            {"nygaard-2022": {"a": 0.05}},
        ),
        (
            {
                "wind_deficit_model": {"name": "Bastankhah2016"},
                "blockage_model": {"name": "SelfSimilarityDeficit2020"},
            },
            {"bastankhah-2016": {}, "blockage": "self-similar-2020"},
        ),
        ({"wind_deficit_model": {"name": "SuperGaussian"}}, {"nygaard-2022": {}}),
    ],
    ids=[
        "jensen 1D",
        "jensen k",
        "bastankhah with turbulence",
        "bastankhah k_a alone",
        "turbopark",
        "blockage",
        "unknown",
    ],
)
def test_wake_models_in_words(analysis: Any, wake: Any, tmp_path: Path) -> None:
    system = system_of(tmp_path, changed(SYSTEM, "attributes.analysis", analysis))
    assert system.data["wake"] == wake
    Campaign.from_data(system.data)
    unknown = analysis["wind_deficit_model"]["name"] == "SuperGaussian"
    assert any("is not known here" in line for line in system.notes.doubtful) == unknown


def test_what_the_wake_words_ask_for_in_vain_is_told(tmp_path: Path) -> None:
    asked = {
        "wind_deficit_model": {"name": "TurbOPark", "ceps": 0.23},
        "superposition_model": {"ws_superposition": "Max"},
        "turbulence_model": {"name": "STF2005"},
        "blockage_model": {"name": "Rathmann"},
    }
    told = " ".join(system_of(tmp_path, changed(SYSTEM, "attributes.analysis", asked)).notes.ignored)
    for word in ("ceps 0.23", "ws_superposition Max", "STF2005", "Rathmann"):
        assert word in told


def test_only_the_includes_that_are_needed_are_followed(tmp_path: Path) -> None:
    site = changed(SYSTEM["site"], "energy_resource", "!include ../wind/resource.yaml")
    site["bathymetry"] = "!include depths.nc"
    write(tmp_path / "plant/site.yaml", site)
    write(tmp_path / "wind/resource.yaml", SYSTEM["site"]["energy_resource"])
    farm = changed(SYSTEM["wind_farm"], "turbines", "!include three.yaml")
    farm["electrical_substations"] = []
    write(tmp_path / "plant/farm.yaml", farm)
    write(tmp_path / "plant/three.yaml", TURBINE)
    parts = {**SYSTEM, "site": "!include plant/site.yaml", "wind_farm": "!include plant/farm.yaml"}
    system = system_of(tmp_path, parts)
    assert system.data == system_of(tmp_path / "whole", SYSTEM).data
    assert {"site.yaml: site.bathymetry", "farm.yaml: wind_farm.electrical_substations"} <= {
        *system.notes.ignored
    }


def test_where_the_schema_does_not_hold_is_told_and_left_includes_are_not_held_against_it(
    tmp_path: Path,
) -> None:
    data = changed(SYSTEM, "site.bathymetry", "!include depths.nc")
    data["wind_farm"]["layouts"] = {"initial_layout": data["wind_farm"]["layouts"][0]}
    notes = system_of(tmp_path, data, check_schema=True).notes
    assert len(notes.schema) == 1
    assert notes.schema[0].startswith("$.wind_farm.layouts: ")


def test_what_is_not_used_of_an_included_file_is_named_with_the_file(tmp_path: Path) -> None:
    write(tmp_path / "three.yaml", {**TURBINE, "performance": "!include performance.yaml", "unheard_of": 1})
    write(tmp_path / "performance.yaml", {**TURBINE["performance"], "other": 1})
    farm = {**SYSTEM["wind_farm"], "turbines": "!include three.yaml"}
    farms = [{**farm, "name": name} for name in ("north", "south")]
    system = system_of(tmp_path, {**SYSTEM, "wind_farm": farms})
    assert [note for note in system.notes.ignored if not note.startswith("system.yaml")] == [
        "performance.yaml: wind_farm[].turbines.performance.other",
        "three.yaml: wind_farm[].turbines.unheard_of",
    ]


def test_without_the_windio_package_the_schema_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, package: str | None = None) -> Any:
        raise ImportError(name, package)

    monkeypatch.setattr(importlib, "import_module", refuse)
    (told,) = system_of(tmp_path, SYSTEM, check_schema=True).notes.schema
    assert told.startswith("not checked")
    assert "vindeby[interop]" in told


def test_a_written_campaign_is_the_same_campaign(tmp_path: Path) -> None:
    steps = 600
    long = {
        "time": [f"2023-01-{1 + i // 24:02d}T{i % 24:02d}:00" for i in range(steps)],
        "wind_speed": [5.0 + i % 7 / 3 for i in range(steps)],
        "wind_direction": [(i * 37.1) % 360 for i in range(steps)],
        "turbulence_intensity": {"data": [0.08 + i % 5 / 100 for i in range(steps)], "dims": ["time"]},
    }
    for data in (SYSTEM, with_resource(ROSE), with_resource(SERIES), with_resource(long), two_types()):
        system = system_of(tmp_path, data)
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        text = campaign_text(system, Path("c.yaml"))
        (folder / "c.yaml").write_text(text)
        written = Campaign.load(folder / "c.yaml")
        assert written.fingerprints() == Campaign.from_data(system.data).fingerprints()
        assert ("packed:float64:600:" in text) == (data == with_resource(long))
        assert text.count("# ") > 10


@pytest.mark.parametrize(
    ("dotted", "field"),
    [
        ("wind_farm.turbines", "turbines"),
        ("wind_farm.layouts", "n_turbines"),
        ("site.boundaries", "farms.0.boundary"),
        ("site.energy_resource", "site"),
        ("site.energy_resource.wind_resource.turbulence_intensity", "site.weibull.turbulence_intensity"),
    ],
)
def test_what_a_system_does_not_say_is_named_with_the_way_out(
    dotted: str, field: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "system.yaml", changed(SYSTEM, dotted, None))
    text = campaign_text(read_system(path), Path("c.yaml"))
    assert f"# missing: {field}: " in text
