"""Turbine files of WAsP and FLORIS: curves as their own libraries have them, and files that are refused."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.interop.site_examples import written
from tests.physics.oracle import needs_pywake
from vindeby.errors import InputError
from vindeby.interop import ForeignFileWarning, read_turbine
from vindeby.interop.formats import read_turbine_file

pytestmark = pytest.mark.oracle

WTG = """\
<?xml version="1.0" encoding="UTF-8"?>
<WindTurbineGenerator FormatVersion="1.01" Description="Tested 2000" RotorDiameter="80">
 <SuggestedHeights><Height>70.0</Height></SuggestedHeights>
 <PerformanceTable AirDensity="1.225" StationaryThrustCoEfficient="0.05">
  <StartStopStrategy LowSpeedCutOut="4" LowSpeedCutIn="4" HighSpeedCutIn="25" HighSpeedCutOut="25"/>
  <DataTable>
   <DataPoint WindSpeed="4" PowerOutput="60000" ThrustCoEfficient="0.85"/>
   <DataPoint WindSpeed="8" PowerOutput="700000" ThrustCoEfficient="0.8"/>
   <DataPoint WindSpeed="12.5" PowerOutput="2000000" ThrustCoEfficient="0.45"/>
   <DataPoint WindSpeed="25" PowerOutput="2000000" ThrustCoEfficient="0.05"/>
  </DataTable>
 </PerformanceTable>
</WindTurbineGenerator>
"""
FLORIS = """\
turbine_type: tested
hub_height: 90.0
rotor_diameter: 126.0
TSR: 8.0
operation_model: cosine-loss
power_thrust_table:
  ref_air_density: 1.225
  ref_tilt: 5.0
  cosine_loss_exponent_tilt: 1.88
  cosine_loss_exponent_yaw: 1.88
  helix_a: 1.802
  wind_speed: [3.0, 4.0, 8.0, 12.0, 25.0]
  power: [40.5, 177.0, 1700.0, 5000.0, 5000.0]
  thrust_coefficient: [1.12, 0.99, 0.78, 0.5, 0.0]
"""
SPEEDS = np.array([0.0, 1.0, 2.99, 3.0, 3.5, 3.95, 4.0, 5.0, 8.0, 11.7, 12.5, 24.99, 25.0, 25.01, 40.0])


@needs_pywake
def test_curves_of_wasp_are_those_of_pywake(tmp_path: Path) -> None:
    from py_wake.wind_turbines import WindTurbines

    path = written(tmp_path / "t.wtg", WTG)
    theirs = WindTurbines.from_WAsP_wtg(str(path))

    turbine = read_turbine(path)

    assert (turbine.name, turbine.rotor_diameter_m, turbine.hub_height_m) == ("Tested 2000", 80.0, 70.0)
    np.testing.assert_allclose(turbine.power_at(SPEEDS), theirs.power(SPEEDS), rtol=1e-12)
    np.testing.assert_allclose(turbine.thrust_coefficient_at(SPEEDS), theirs.ct(SPEEDS), rtol=1e-12)


@pytest.mark.skipif(
    importlib.util.find_spec("floris") is None,
    reason="floris is not installed; it is the oracle of this test",
)
def test_curves_of_floris_are_those_of_floris(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from floris.core.turbine.operation_models import SimpleTurbine
    path = written(tmp_path / "t.yaml", FLORIS)
    table = {
        "wind_speed": [3.0, 4.0, 8.0, 12.0, 25.0],
        "power": [40.5, 177.0, 1700.0, 5000.0, 5000.0],
        "thrust_coefficient": [1.12, 0.99, 0.78, 0.5, 0.0],
        "ref_air_density": 1.225,
    }
    speeds = SPEEDS[:, None, None, None]
    power = SimpleTurbine.power(power_thrust_table=table, velocities=speeds, air_density=1.225)
    thrust = SimpleTurbine.thrust_coefficient(power_thrust_table=table, velocities=speeds)

    with pytest.warns(
        ForeignFileWarning, match="not used: TSR, operation_model, power_thrust_table.ref_air_density"
    ):
        turbine = read_turbine(path)

    assert (turbine.name, turbine.rotor_diameter_m, turbine.hub_height_m) == ("tested", 126.0, 90.0)
    np.testing.assert_allclose(turbine.power_at(SPEEDS), power.ravel(), rtol=1e-12)
    np.testing.assert_allclose(turbine.thrust_coefficient_at(SPEEDS), thrust.ravel(), rtol=1e-12)


def test_one_of_several_tables_and_heights_is_taken_and_said(tmp_path: Path) -> None:
    second = WTG[WTG.index(" <PerformanceTable") : WTG.index("</WindTurbineGenerator")]
    text = WTG.replace(
        "</WindTurbineGenerator", second.replace("700000", "650000") + "</WindTurbineGenerator"
    )
    path = written(tmp_path / "t.wtg", text.replace("<Height>70.0<", "<Height>70.0</Height><Height>80.0<"))

    usual = read_turbine_file(path, {})
    chosen = read_turbine_file(path, {"mode": 1, "hub_height_m": 80.0})

    assert 700.0 in usual.data["table"]["power_kw"]
    assert 650.0 in chosen.data["table"]["power_kw"]
    assert (usual.data["table"]["hub_height_m"], chosen.data["table"]["hub_height_m"]) == (70.0, 80.0)
    assert "has 2 performance tables" in usual.notes[0]
    assert "70 (taken) and 80 m" in usual.notes[1]


@pytest.mark.parametrize("called", ["5", "''", "' '"])
def test_a_turbine_type_of_floris_that_is_not_text_is_not_a_name(called: str, tmp_path: Path) -> None:
    found = read_turbine_file(written(tmp_path / "t.yaml", FLORIS.replace("tested", called)), {})

    assert "name" not in found.data
    assert "not used: turbine_type" in found.notes[0]


def test_operation_and_density_that_are_not_applied_are_said(tmp_path: Path) -> None:
    text = FLORIS.replace("cosine-loss", "peak-shaving", 1).replace("1.225", "1.1")

    notes = read_turbine_file(written(tmp_path / "t.yaml", text), {}).notes

    assert "operation_model peak-shaving is not applied" in notes[1]
    assert "air density of 1.1 kg/m3" in notes[2]


BOMB = '<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
BROKEN: dict[str, tuple[str, str, str]] = {
    "wtg with entities": ("t.wtg", WTG.replace("<WindT", BOMB + "<WindT", 1), "a document type or entities"),
    "wtg cut short": ("t.wtg", WTG[:-40], "is not a valid turbine file"),
    "wtg of something else": ("t.wtg", "<html><body/></html>", "root is not WindTurbineGenerator"),
    "wtg without a diameter": ("t.wtg", WTG.replace("RotorDiameter", "Rotor"), "has no RotorDiameter"),
    "wtg with a word": ("t.wtg", WTG.replace('"700000"', '"much"'), "PowerOutput that is not a number"),
    "wtg with falling speeds": ("t.wtg", WTG.replace('"12.5"', '"7"'), "do not increase at point 3"),
    "wtg with a power below 0": ("t.wtg", WTG.replace('"700000"', '"-7"'), "has negative numbers in its table"),
    "wtg without points": ("t.wtg", WTG.replace("DataPoint", "Point"), "has 0 points"),
    "wtg without a height": ("t.wtg", WTG.replace("SuggestedHeights", "Heights"), "hub_height_m is missing"),
    "wtg that cuts out first": ("t.wtg", WTG.replace('HighSpeedCutOut="25"', 'HighSpeedCutOut="3"'), "cuts in at 4"),
    "wtg with entities in UTF-16": ("t.wtg", "UTF-16", "a document type or entities"),
    "FLORIS 3": ("t.yaml", FLORIS + "generator_efficiency: 0.94\n", "turbine of FLORIS 3"),
    "FLORIS in several dimensions": ("t.yaml", FLORIS + "multi_dimensional_cp_ct: true\n", "more than wind speed"),
    "FLORIS without a table": ("t.yaml", FLORIS.replace("power_thrust_table", "table"), "_table is missing"),
    "FLORIS with another length": ("t.yaml", FLORIS.replace("[40.5, ", "["), "t.yaml:13: power_thrust_table.power"),
    "FLORIS with falling speeds": ("t.yaml", FLORIS.replace("3.0, 4.0,", "3.0, 2.0,"), "wind_speed[1]: must be incr"),
    "FLORIS with a speed below 0": (
        "t.yaml", FLORIS.replace("3.0, 4.0,", "-3.0, 4.0,"), "0 to 200 m/s (got -3.0)"
    ),
    "FLORIS with one speed": (
        "t.yaml", FLORIS.replace("[3.0, 4.0, 8.0, 12.0, 25.0]", "3.0"), "power: has 5 numbers and wind_speed has 1"
    ),
    "FLORIS with a power below 0": (
        "t.yaml", FLORIS.replace("177.0", "-1.0"), "power[1]: must not be below 0 (got -1.0)"
    ),
    "FLORIS with a word": ("t.yaml", FLORIS.replace("177.0", "many"), "power[1]: must be a number"),
    "FLORIS without a height": ("t.yaml", FLORIS.replace("hub_height", "height"), "hub_height is missing"),
    "a turbine of windIO": ("t.yaml", "name: t\nperformance: {rated_power: 1}\n", "rotor_diameter is missing"),
    "no YAML": ("t.yaml", "a: [", "not valid YAML"),
    "a list": ("t.yaml", "- 1\n", "must be a mapping"),
    "a tag": ("t.yaml", "!!python/object/apply:os.system [ls]\n", "t.yaml:1"),
    "a table of curves": ("t.csv", "wind_speed,power,ct\n3,0,0\n", "write table: {file: ..., rotor_diameter_m"),
    "another suffix": ("t.json", "{}", "does not show it"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_wrong_turbine_is_refused_with_the_words_that_help(case: str, tmp_path: Path) -> None:
    name, text, words = BROKEN[case]
    path = tmp_path / name
    if text == "UTF-16":
        text = WTG.replace("UTF-8", "UTF-16").replace("<WindT", BOMB + "<WindT", 1)
        path.write_bytes(text.encode("utf-16"))
    else:
        path.write_text(text)

    with pytest.raises(InputError) as caught:
        read_turbine(path)

    assert words in str(caught.value)
    assert str(path) in str(caught.value)


WINDIO = """\
name: tested
hub_height: 90.0
rotor_diameter: 126.0
TSR: 8.0
performance:
  power_curve: {power_wind_speeds: [3.0, 8.0, 12.0, 25.0], power_values: [0.0, 1700000.0, 5000000.0, 5000000.0]}
  Ct_curve: {Ct_wind_speeds: [3.0, 12.0, 25.0], Ct_values: [0.9, 0.5, 0.1]}
"""


def test_turbine_of_windio_is_read_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "t.yaml", WINDIO)

    found = read_turbine_file(path, {})

    assert found.format == "windio-turbine"
    assert found.data["name"] == "tested"
    assert found.data["table"] == {
        "rotor_diameter_m": 126.0,
        "hub_height_m": 90.0,
        "wind_speed": [3.0, 8.0, 12.0, 25.0],
        "power_kw": [0.0, 1700.0, 5000.0, 5000.0],
        "ct_wind_speed": [3.0, 12.0, 25.0],
        "ct": [0.9, 0.5, 0.1],
    }
    assert "not used: TSR" in found.notes
    assert any("the first and last powers of the curve hold outside it" in note for note in found.notes)
