"""Exports of results without layouts, and of a campaign whose coordinate system has no code."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
import yaml

from tests.evaluation.stored import campaign, compute, evaluated, series
from vindeby.assembly.merging import merge_options
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.results.result_set import ResultSet
from vindeby.runner import CallTask
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database

OWN_MERIDIAN = (
    'PROJCS["own",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],'
    'PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",10.5],'
    'PARAMETER["Scale_Factor",1.0],PARAMETER["Latitude_Of_Origin",55.0],UNIT["Meter",1.0]]'
)


def square(task: CallTask) -> dict[str, Any]:
    return {"value": float(task.seed**2)}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a function that has nothing to do with wind."""
    call = {"function": "tests.interop.test_review_exports:square", "returns": ["value"]}
    asked = Campaign.from_data({"name": "squares", "method": {"call": call}, "seeds": 3})
    return compute(asked, tmp_path_factory.mktemp("numbers") / "o.h5")


@pytest.mark.parametrize("file_format", ["windio", "floris", "geojson"])
def test_results_without_layouts_are_refused(numbers: Path, tmp_path: Path, file_format: str) -> None:
    with pytest.raises(ArgumentError, match=r"needs layouts, and .* has none \(3 of 3 results\)"):
        export(ResultSet(numbers), file_format, tmp_path / "out", options=ExportOptions(crs="EPSG:32631"))
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_turbines_says_which_results_have_none(numbers: Path, tmp_path: Path) -> None:
    done = export(ResultSet(numbers), "csv", tmp_path / "turbines.csv")
    assert done.chosen.notes == [
        "3 of the results have no turbines, and so no row in the table; `vindeby query` lists results"
    ]
    with xarray.open_dataset(export(ResultSet(numbers), "netcdf", tmp_path / "results.nc").path) as data:
        assert data["value"].values.ravel().tolist() == [0.0, 1.0, 4.0]


def test_a_system_of_no_registry_is_exported(tmp_path: Path) -> None:
    output = compute(campaign(1, 1, crs=OWN_MERIDIAN), tmp_path / "o.h5")
    export(ResultSet(output), "geojson", tmp_path / "o.geojson")
    area = json.loads((tmp_path / "o.geojson").read_text(encoding="utf-8"))["features"][0]
    assert area["geometry"]["coordinates"][0][0] == pytest.approx([10.5, 55.0], abs=1e-8)
    export(ResultSet(output), "windio", tmp_path / "windio")
    assert "+lon_0=10.5" in (tmp_path / "windio" / "site_farm0.yaml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_table_of_evaluations_has_their_losses(tmp_path: Path) -> None:
    source = compute(campaign(2, 1), tmp_path / "o.h5")
    around = {"one_by_one": [{"farm": "farm b", "type": "small"}]}
    records = evaluated(source, tmp_path / "s.h5", farms="farm a", types="small", neighbours=around)
    export(ResultSet(tmp_path / "s.h5"), "csv", tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    said = {row["neighbours"]: (float(row["wake_loss"]), float(row["aep_gwh"])) for row in rows}
    assert said == {str(one.attributes["neighbours"]): (float(one.loss_total), one.aep) for one in records}
    assert "aep" not in rows[0]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layouts, two combinations, the power of each turbine at eight steps."""
    folder = tmp_path_factory.mktemp("stored")
    source = compute(campaign(2, 2), folder / "o.h5")
    evaluated(
        source,
        folder / "s.h5",
        farms="farm a",
        types="small",
        seeds="all",
        site=series(8, times=True),
        neighbours={"one_by_one": [{"farm": "farm b", "type": "small"}]},
        output="power",
    )
    return folder / "s.h5"


def dataset_of(path: Path) -> xarray.Dataset:
    with Database(path) as database:
        found: xarray.Dataset = database.to_xarray()
        return found


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["netcdf", "zarr"])
def test_evaluations_are_exported_over_combinations_and_times_with_units(
    stored: Path, tmp_path: Path, file_format: str
) -> None:
    export(ResultSet(stored), file_format, tmp_path / "s")
    engine = "zarr" if file_format == "zarr" else None
    with xarray.open_dataset(tmp_path / "s", engine=engine) as data:
        expected = dataset_of(stored)
        assert data.sizes == expected.sizes
        assert set(expected.variables) <= set(data.variables)
        for name in expected.data_vars:
            np.testing.assert_array_equal(data[name].transpose(*expected[name].dims), expected[name])
        assert data.neighbours.values.tolist() == ["none", "farm b"]
        assert str(data.time.values[1])[:10] == "2020-01-02"
        units = {name: data[name].attrs.get("units") for name in ("aep_free", "loss_external", "power")}
        assert units == {"aep_free": "GWh/year", "loss_external": "1", "power": "W"}
        assert set(data.aep.dims) == {"farm", "type", "neighbours", "seed"}


def test_a_selection_of_evaluations_has_only_its_combinations_and_layouts(
    stored: Path, tmp_path: Path
) -> None:
    campaign = ResultSet(stored).campaign
    assert campaign is not None
    key = f"farm0_t0_s1_{campaign.combinations[1].tag}"
    export(ResultSet(stored, where=f"key == '{key}'"), "netcdf", tmp_path / "s.nc")
    with xarray.open_dataset(tmp_path / "s.nc") as data:
        assert (data.neighbours.values.tolist(), data.seed.values.tolist()) == (["farm b"], [1])
        assert float(data.aep.squeeze()) == float(
            dataset_of(stored).aep.sel(neighbours="farm b", seed=1).squeeze()
        )


@pytest.mark.parametrize("form", ["classic", "table"])
def test_arrays_of_evaluations_say_their_units_and_dimensions_in_the_database(
    stored: Path, tmp_path: Path, form: str
) -> None:
    shutil.copy(stored, tmp_path / "s.h5")
    options = merge_options(ResultSet(stored).campaign, MergeOptions(file_format=form))
    merge(RunDirectory(tmp_path / "s.h5"), options)
    with h5py.File(tmp_path / "s.h5") as file:
        arrays = file if form == "table" else file[next(key for key in file if key.startswith("farm0_t0_s1"))]
        said = {
            name: (arrays[name].attrs["units"], arrays[name].attrs["dimensions"])
            for name in ("layout", "turbine_aep", "power")
        }
        assert arrays["loss_internal"].attrs["units"] == "1"
        assert "dimensions" not in arrays["aep"].attrs
    assert said == {
        "layout": ("m", "coordinate turbine"),
        "turbine_aep": ("GWh/year", "turbine"),
        "power": ("W", "turbine time"),
    }


def test_sectors_that_are_turned_are_written_in_order(tmp_path: Path) -> None:
    sectors = [{"direction": 90 * i, "a": 9, "k": 2, "frequency": 0.1 * (i + 1)} for i in range(4)]
    weibull = {"turbulence_intensity": 0.08, "interpolation": "nearest", "sectors": sectors}
    site = {"weibull": weibull, "grid_convergence_deg": 2.0}
    output = compute(campaign(1, 1, site=site), tmp_path / "o.h5")
    done = export(ResultSet(output), "windio", tmp_path / "windio")
    text = (tmp_path / "windio" / "energy_resource.yaml").read_text(encoding="utf-8")
    wind = yaml.safe_load(text)["wind_resource"]
    assert wind["wind_direction"] == list(range(360))
    data = np.array(wind["probability"]["data"])
    calm = np.array(wind["wind_speed"]) == 0.0
    sums = data[:, ~calm].sum(axis=1)
    assert 90 * sums[[88, 178, 268, 358]] / sums.sum() == pytest.approx([0.2, 0.3, 0.4, 0.1])
    from_3_to_25 = np.exp(-((2.5 / 9) ** 2)) - np.exp(-((25.5 / 9) ** 2))
    assert sums.sum() == pytest.approx(from_3_to_25, rel=1e-9)
    assert data.sum() == pytest.approx(1.0, rel=1e-12)
    assert any("calm" in note for note in done.chosen.notes), done.chosen.notes
