"""FLORIS inputs: FLORIS itself loads and runs them, with our layout and our energy without wakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.interop.exports import campaign, database, positions
from tests.interop.test_export_windio import SERIES
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import export
from vindeby.results.result_set import ResultSet

pytestmark = pytest.mark.oracle


def exported(folder: Path, asked: Campaign, key: str | None) -> tuple[Path, list[str]]:
    where = None if key is None else f"key == '{key}'"
    results = ResultSet(database(folder / "layouts.h5", asked), where=where)
    done = export(results, "floris", folder / "out")
    return done.path, done.chosen.notes


def loaded(path: Path) -> Any:
    from floris import FlorisModel

    return FlorisModel(str(path))


def set_wind(model: Any, path: Path) -> Any:
    """Give the model the wind of the export; the frequencies of its states are returned."""
    from floris import TimeSeries

    states = pd.read_csv(path / "wind.csv")
    columns = ("wind_directions", "wind_speeds", "turbulence_intensities")
    model.set(wind_data=TimeSeries(*(states[name].to_numpy() for name in columns)))
    return states["freq_val"].to_numpy()


@pytest.mark.parametrize("key", ["farm1_t0_s0", "farm1_t1_s7", "farm2_t0_s0"], ids=["table", "cubic", "mix"])
def test_floris_computes_the_same_energy_without_wakes(key: str, tmp_path: Path) -> None:
    asked = campaign()
    path, _ = exported(tmp_path, asked, key)
    model = loaded(path / "floris.yaml")
    task = next(task for task in asked.tasks() if task.key == key)
    np.testing.assert_array_equal([model.layout_x, model.layout_y], positions(asked, task))
    assert model.core.description == "written by vindeby from layouts.h5"
    model.run()
    assert model.get_farm_power()[0] > 0
    frequencies = set_wind(model, path)
    model.run_no_wake()
    kinds = [0, 0, 0, 1, 1] if task.farm_idx == 2 else [task.type_idx] * task.n_turbines
    free = wind_farm(asked, [0, 1]).wake_free_aep(task.n_turbines, kinds)
    # A cubic power curve is written in steps of 0.01 m/s.
    tolerance = 1e-9 if key == "farm1_t0_s0" else 3e-6
    assert model.get_farm_AEP(freq=frequencies) / 1e9 == pytest.approx(free, rel=tolerance)


@pytest.mark.parametrize("wake", ["bastankhah-2016", "cumulative-curl"])
def test_floris_computes_the_same_energy_with_wakes(wake: str, tmp_path: Path) -> None:
    asked = campaign(wake=wake)
    path, notes = exported(tmp_path, asked, "farm0_t0_s0")
    assert not any("not exactly the same" in note for note in notes)
    model = loaded(path / "floris.yaml")
    frequencies = set_wind(model, path)
    model.run()
    task = next(task for task in asked.tasks() if task.key == "farm0_t0_s0")
    energy = wind_farm(asked, 0).aep(*positions(asked, task))
    assert energy < 0.9995 * wind_farm(asked, 0).wake_free_aep(task.n_turbines)
    assert model.get_farm_AEP(freq=frequencies) / 1e9 == pytest.approx(energy, rel=1e-12)


def test_a_time_series_keeps_its_steps(tmp_path: Path) -> None:
    asked = campaign(site={"time_series": SERIES})
    path, _ = exported(tmp_path, asked, "farm0_t0_s0")
    steps = pd.read_csv(path / "wind.csv")
    assert steps["wind_directions"].tolist() == SERIES["wind_direction"]
    assert steps["wind_speeds"].tolist() == SERIES["wind_speed"]
    assert steps["turbulence_intensities"].tolist() == SERIES["turbulence_intensity"]
    assert steps["freq_val"].tolist() == [0.25] * 4
    model = loaded(path / "floris.yaml")
    set_wind(model, path)
    model.run_no_wake()
    energy = float((model.get_farm_power() * steps["freq_val"]).sum()) * 8760 / 1e9
    assert energy == pytest.approx(wind_farm(asked, 0).wake_free_aep(4), rel=1e-9)


@pytest.mark.parametrize(
    ("wake", "velocity"),
    [
        ({"jensen": {"k": 0.05}}, "jensen"),
        ("nygaard-2022", "turboparkgauss"),
        ("bastankhah-2016", "gauss"),
        ("cumulative-curl", "cc"),
        ("iea37", "gauss"),
    ],
)
def test_the_wake_model_runs_in_floris(wake: Any, velocity: str, tmp_path: Path) -> None:
    path, notes = exported(tmp_path, campaign(wake=wake), "farm0_t0_s0")
    model = loaded(path / "floris.yaml")
    assert model.core.wake.model_strings["velocity_model"] == velocity
    model.set(wind_directions=[270.0], wind_speeds=[8.0], turbulence_intensities=[0.08])
    model.run()
    power = model.get_turbine_powers()[0]
    assert power[0] == pytest.approx(700e3)
    assert power[1] < 0.99 * power[0]
    assert any("no wake model like iea37" in note for note in notes) == (wake == "iea37")


def test_many_results_share_turbines_and_wind(tmp_path: Path) -> None:
    asked = campaign()
    path, notes = exported(tmp_path, asked, None)
    keys = sorted(one.name for one in path.iterdir() if one.is_dir())
    assert keys == sorted(task.key for task in asked.tasks())
    assert sorted(one.name for one in path.glob("*.yaml")) == ["turbine_t0.yaml", "turbine_t1.yaml"]
    assert loaded(path / "farm0_t1_s7" / "floris.yaml").core.farm.rotor_diameters[0] == 130.0
    assert any("not in the files" in note for note in notes)


def test_local_wind_is_refused(tmp_path: Path) -> None:
    local = {"x": [4e5, 6e5], "y": [5.7e6, 5.9e6], "speedup": 1.1}
    asked = campaign(site={**campaign().to_data()["site"], "local": local})
    with pytest.raises(ArgumentError, match=r"differs from place to place"):
        exported(tmp_path, asked, "farm0_t0_s0")
