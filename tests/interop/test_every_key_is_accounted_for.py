"""Readers of files of other tools: whatever a file holds is used, refused by name, or named in the notes."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import xarray
import yaml

from tests.interop import site_examples as examples
from tests.interop.engine_campaigns import data
from tests.interop.test_floris_engine import SITE, configuration
from tests.interop.test_turbine_files import FLORIS
from tests.interop.windio_examples import ROSE, SERIES, SYSTEM, changed, with_resource, write
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.reading.source import load
from vindeby.campaign.reading.yaml_text import field_name
from vindeby.errors import VindebyError
from vindeby.interop.formats import read_site_file, read_turbine_file
from vindeby.interop.windio.system import read_system

KEY = "surplus"
SYSTEMS = {
    "weibull": SYSTEM,
    "rose": with_resource(ROSE),
    "series": with_resource(SERIES),
    "circle": changed(SYSTEM, "site.boundaries", {"circle": {"center": {"x": 0, "y": 0}, "radius": 3000}}),
    "wakes": changed(
        SYSTEM,
        "attributes.analysis",
        {
            "wind_deficit_model": {"name": "Jensen", "wake_expansion_coefficient": {"k_b": 0.05}},
            "superposition_model": {"ws_superposition": "Linear"},
            "turbulence_model": {"name": "STF2005", "coefficients": {"c1": 1.5}},
            "blockage_model": {"name": "none"},
        },
    ),
}


def mappings(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every mapping in the data."""
    if isinstance(value, dict):
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for key, entry in inner:
        yield from mappings(entry, (*path, key))


def with_surplus(data_: Any, path: tuple[str | int, ...]) -> Any:
    copied = copy.deepcopy(data_)
    holder = copied
    for step in path:
        holder = holder[step]
    holder[KEY] = {"inside": [1, 2]}
    return copied


def is_named(lines: Iterable[str], path: tuple[str | int, ...]) -> bool:
    """Whether the key, or a part that holds it, is among the lines."""
    holders = {field_name(path[:length]) for length in range(1, len(path) + 1)}
    return any(KEY in line or holders & set(line.replace(", ", ": ").split(": ")) for line in lines)


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, given in SYSTEMS.items() for path in mappings(given)]
)
def test_a_key_anywhere_in_a_windio_system_is_refused_or_named(
    kind: str, path: tuple[str | int, ...], tmp_path: Path
) -> None:
    file = write(tmp_path / "system.yaml", with_surplus(SYSTEMS[kind], path))
    try:
        told = read_system(file, check_schema=False).notes.ignored
    except VindebyError as error:
        told = [str(error)]
    assert is_named(told, path)


@pytest.mark.parametrize(
    ("model", "dropped"),
    [
        ({"name": "TurbOPark", "wake_expansion_coefficient": {"k_a": 0.05, "k_b": 0.01}}, ["k_b"]),
        ({"name": "TurbOPark", "wake_expansion_coefficient": 0.05}, ["wake_expansion_coefficient"]),
        ({"name": "SuperGaussian", "wake_expansion_coefficient": {"k_a": 0.3, "k_b": 0.01}}, ["k_a", "k_b"]),
        ({"name": "Bastankhah2016", "wake_expansion_coefficient": {"k_a": 0, "k_b": 0.01}}, ["k_a"]),
    ],
    ids=["turbopark", "turbopark, bare", "super-gaussian", "bastankhah-2016 at 0"],
)
def test_a_wake_expansion_that_a_model_does_not_take_is_named(
    model: dict[str, Any], dropped: list[str], tmp_path: Path
) -> None:
    file = write(
        tmp_path / "system.yaml", changed(SYSTEM, "attributes.analysis", {"wind_deficit_model": model})
    )
    ignored = read_system(file, check_schema=False).notes.ignored
    whole = "system.yaml: attributes.analysis.wind_deficit_model.wake_expansion_coefficient"
    named = [line for line in ignored if line.startswith(whole)]
    assert named == [whole] or named == [f"{whole}.{name}" for name in dropped]
    assert len(named) == 1 or len(named) == len(dropped)


def test_an_axial_induction_and_a_shear_that_are_not_taken_are_named(tmp_path: Path) -> None:
    analysis = {"wind_deficit_model": {"name": "Jensen"}, "axial_induction_model": "Spline"}
    system = changed(SYSTEM, "attributes.analysis", analysis)
    system["site"]["energy_resource"]["wind_resource"]["shear"] = {"h_ref": 90, "alpha": 0.14}
    ignored = read_system(write(tmp_path / "system.yaml", system), check_schema=False).notes.ignored
    assert "system.yaml: attributes.analysis.axial_induction_model" in ignored
    assert "system.yaml: site.energy_resource.wind_resource.shear.alpha" in ignored


def test_a_variable_of_a_windio_netcdf_file_that_nobody_knows_is_named(tmp_path: Path) -> None:
    steps = {name: ("time", [8.0, 9.0]) for name in ("wind_speed", "wind_direction", "Gusts")}
    xarray.Dataset(
        {**steps, "turbulence_intensity": ("time", [0.1, 0.1])}, coords={"time": [0.0, 1.0]}
    ).to_netcdf(tmp_path / "wind.nc", engine="h5netcdf")
    system = with_resource("!include wind.nc")
    notes = read_system(write(tmp_path / "system.yaml", system), check_schema=False).notes
    assert "wind.nc: site.energy_resource.wind_resource.Gusts" in notes.ignored


def test_a_variable_of_a_site_file_that_nobody_knows_is_named(tmp_path: Path) -> None:
    examples.dataset(Roughness=0.1, flow_inc=("wd", [0.0] * len(examples.WD))).to_netcdf(
        tmp_path / "site.nc", engine="h5netcdf"
    )
    notes = read_site_file(tmp_path / "site.nc", {}).notes
    assert [sorted(note.removeprefix("not used: ").split(", ")) for note in notes] == [
        ["Roughness", "flow_inc"]
    ]


def test_a_variable_of_a_file_of_local_wind_that_nobody_knows_is_named(tmp_path: Path) -> None:
    grid = (("x", "y"), [[1.0, 1.1], [1.0, 1.2]])
    xarray.Dataset({"Speedup": grid, "Elevation": grid}, coords={"x": [0, 1e4], "y": [0, 1e4]}).to_netcdf(
        tmp_path / "grid.nc", engine="h5netcdf"
    )
    site = {**data("jensen")["site"], "local": {"file": "grid.nc"}}
    assert load(_campaign(tmp_path, site=site)).notes == ["grid.nc: not used: Elevation"]


def _campaign(folder: Path, **changes: Any) -> Path:
    path = folder / "campaign.yaml"
    path.write_text(yaml.safe_dump({**data("jensen"), **changes}))
    return path


TABLE = """\
,wd,ws,ti,{weight},density,stability
2020-01-01T00:00,270,8,0.07,{one},1.2,1
2020-01-01T01:00,0,9,0.08,{one},1.2,2
"""
SURPLUS = "not used: column 1, which has no name, density, stability"


@pytest.mark.parametrize(("section", "weight"), [("time_series", "weight"), ("states", "probability")])
def test_other_columns_of_a_wind_table_are_named(section: str, weight: str, tmp_path: Path) -> None:
    (tmp_path / "wind.csv").write_text(TABLE.format(weight=weight, one=0.5))
    path = _campaign(tmp_path, site={section: {"file": "wind.csv"}}, method=["random-start"])
    document = load(path)
    assert document.notes == [f"wind.csv: {SURPLUS}"]
    Campaign.from_document(document)


@pytest.mark.parametrize(("weight", "more"), [("weight", ""), ("freq_val", ", weight")])
def test_other_columns_of_a_site_file_in_csv_are_named(weight: str, more: str, tmp_path: Path) -> None:
    lines = TABLE.format(weight=weight, one=0.5).splitlines()
    if more:  # a rose has no weights beside its frequencies
        lines = [line + end for line, end in zip(lines, (",weight", ",1", ",2"), strict=True)]
    (tmp_path / "wind.csv").write_text("\n".join(lines))
    assert read_site_file(tmp_path / "wind.csv", {}).notes[-1] == SURPLUS + more


def test_other_columns_of_a_turbine_table_are_named(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text("ws,power,ct,pitch\n4,100,0.8,0\n9,2000,0.7,1\n")
    table = {"file": "curve.csv", "rotor_diameter_m": 100.0, "hub_height_m": 90.0}
    path = _campaign(tmp_path, turbines=[{"name": "one", "table": table}])
    assert load(path).notes == ["curve.csv: not used: pitch"]


@pytest.mark.parametrize("path", list(mappings(yaml.safe_load(io.StringIO(FLORIS)))))
def test_a_key_anywhere_in_a_floris_turbine_is_named(path: tuple[str | int, ...], tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(yaml.safe_dump(with_surplus(yaml.safe_load(FLORIS), path)))
    assert is_named(read_turbine_file(file, {}).notes, path)


# FLORIS is handed these as they are, and takes from them what its chosen models need.
OF_FLORIS = {
    ("solver",),
    *(("wake", f"wake_{of}_parameters") for of in ("velocity", "deflection", "turbulence")),
}


@pytest.mark.parametrize("path", [path for path in mappings(configuration()) if path not in OF_FLORIS])
def test_a_key_anywhere_in_a_floris_configuration_is_refused_or_named(
    path: tuple[str | int, ...], tmp_path: Path
) -> None:
    (tmp_path / "gch.yaml").write_text(yaml.safe_dump(with_surplus(configuration(), path)))
    document = load(_campaign(tmp_path, wake={"floris": "gch.yaml"}, **SITE))
    told = list(document.notes)
    try:
        wind_farm(Campaign.from_document(document), (0,))
    except VindebyError as error:
        told.append(str(error))
    assert is_named(told, path)


def test_what_a_campaign_replaces_in_a_floris_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "gch.yaml").write_text(yaml.safe_dump(configuration(), sort_keys=False))
    (note,) = load(_campaign(tmp_path, wake={"floris": "gch.yaml"}, **SITE)).notes
    assert note == (
        "gch.yaml: not used: name, description, logging, farm, flow_field.turbulence_intensities, "
        "flow_field.wind_directions, flow_field.wind_speeds"
    )


def test_wind_of_a_floris_configuration_that_differs_by_place_is_refused_until_it_is_taken_out(
    tmp_path: Path,
) -> None:
    given = configuration()
    given["flow_field"]["heterogeneous_inflow_config"] = {
        "speed_multipliers": [[1.0, 1.1]],
        "x": [0.0, 1.0],
        "y": [0.0, 1.0],
    }
    (tmp_path / "gch.yaml").write_text(yaml.safe_dump(given))
    with pytest.raises(VindebyError, match=r"heterogeneous_inflow_config: is wind that differs") as refused:
        Campaign.load(_campaign(tmp_path, wake={"floris": "gch.yaml"}, **SITE))
    assert "gch.yaml" in str(refused.value)
    without = {"flow_field": {"heterogeneous_inflow_config": None}}
    Campaign.load(_campaign(tmp_path, wake={"floris": "gch.yaml", "options": without}, **SITE))
