"""netCDF, Zarr, Parquet and CSV, each read back by its own library."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop.exports import AWKWARD, CRS, campaign, database, positions
from vindeby.campaign import Campaign, Task
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.results.result_set import ResultSet

MISSING = "farm1_t1_s7"


@pytest.fixture(scope="module")
def asked() -> Campaign:
    return campaign()


@pytest.fixture(scope="module", params=["classic", "table", "in progress"])
def results(
    request: pytest.FixtureRequest, asked: Campaign, tmp_path_factory: pytest.TempPathFactory
) -> ResultSet:
    """All results but one, as a database of either form or as the shards of a run."""
    path = tmp_path_factory.mktemp("db") / "layouts.h5"
    form = "classic" if request.param == "in progress" else request.param
    merged = request.param != "in progress"
    database(path, asked, wanted=lambda task: task.key != MISSING, file_format=form, merged=merged)
    return ResultSet(path)


def tasks(asked: Campaign) -> list[Task]:
    return [task for task in asked.tasks() if task.key != MISSING]


def lines_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def check_dataset(data: Any, asked: Campaign) -> None:
    assert dict(data.sizes) == {"farm": 3, "type": 2, "seed": 2, "turbine": 5}
    assert data["farm"].values.tolist() == [AWKWARD, "zoned", "mixed"]
    assert Campaign.loads(data.attrs["campaign"]) == asked
    assert data.attrs["exported_results"] == 9
    assert (data["x"].attrs["units"], data["aep"].attrs["units"]) == ("m", "GWh/year")
    for task in tasks(asked):
        one = data.isel(farm=task.farm_idx, type=task.type_idx).sel(seed=task.seed)
        count = task.n_turbines
        np.testing.assert_array_equal([one["x"][:count], one["y"][:count]], positions(asked, task))
        assert np.isnan(one["x"][count:]).all()
        assert float(one["aep"]) == 20.0 + task.farm_idx + task.type_idx / 10 + task.seed / 100
        assert str(one["key"].values) == task.key
        if task.farm_idx == 2:
            assert one["types"][:count].values.tolist() == [0, 0, 0, 1, 1]
        if task.farm_idx == 1:
            assert one["zone"][:count].values.tolist() == [0, 0, 1, 1, 1]
    assert np.isnan(data["aep"][1, 1, 1])


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_netcdf_is_read_back_by_xarray(
    results: ResultSet, asked: Campaign, tmp_path: Path, engine: str
) -> None:
    import xarray

    done = export(results, "netcdf", tmp_path / "out.nc")
    assert len(done.chosen) == 9
    with xarray.open_dataset(done.path, engine=engine) as data:
        check_dataset(data.load(), asked)


def test_netcdf_is_read_back_by_netcdf4(results: ResultSet, asked: Campaign, tmp_path: Path) -> None:
    import netCDF4

    export(results, "netcdf", tmp_path / "out.nc")
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file.Conventions == "CF-1.8"
        assert file["x"].standard_name == "projection_x_coordinate"
        np.testing.assert_array_equal(file["x"][0, 1, 0, :4], positions(asked, asked.tasks()[2])[0])
        assert file["x"][0, 0, 0].mask.tolist() == [False] * 4 + [True]
        assert file["farm"][0] == AWKWARD


def test_zarr_is_read_back_by_xarray_and_zarr(results: ResultSet, asked: Campaign, tmp_path: Path) -> None:
    import xarray
    import zarr

    done = export(results, "zarr", tmp_path / "out.zarr")
    with xarray.open_zarr(done.path) as data:
        check_dataset(data.load(), asked)
    group = zarr.open_group(str(done.path), mode="r")
    np.testing.assert_array_equal(group["x"][0, 0, 0, :4], positions(asked, asked.tasks()[0])[0])
    assert json.loads((done.path / ".zgroup").read_text()) == {"zarr_format": 2}


def expected_rows(asked: Campaign) -> list[dict[str, Any]]:
    rows = []
    for task in tasks(asked):
        mixed, zoned = task.farm_idx == 2, task.farm_idx == 1
        aep = 20.0 + task.farm_idx + task.type_idx / 10 + task.seed / 100
        kinds = [0, 0, 0, 1, 1] if mixed else [task.type_idx] * task.n_turbines
        farm = asked.wind_farm(task.farm_idx, task.type_idx)
        free = farm.free_aep_at(*positions(asked, task), kinds if mixed else 0)
        full = 8.76 * sum(asked.turbines[kind].rated_power_mw for kind in kinds)
        for turbine, (x, y) in enumerate(positions(asked, task).T.tolist()):
            kind = kinds[turbine]
            zone = int(turbine >= 2) if zoned else None
            rows.append(
                {
                    "key": task.key,
                    "farm_idx": task.farm_idx,
                    "farm": asked.farms[task.farm_idx].name,
                    "type_idx": task.type_idx,
                    "type": "table+cubic" if mixed else asked.turbines[task.type_idx].name,
                    "seed": task.seed,
                    "turbine": turbine,
                    "x_m": x,
                    "y_m": y,
                    "rotor_diameter_m": [80.0, 130.0][kind],
                    "hub_height_m": [70.0, 110.0][kind],
                    "turbine_type_idx": kind,
                    "turbine_type": ["table", "cubic"][kind],
                    "zone": zone,
                    "zone_name": "" if zone is None else ["west", "east"][zone],
                    "aep_gwh": aep,
                    "wake_loss": pytest.approx(1.0 - aep / free, rel=1e-12),
                    "capacity_factor": pytest.approx(aep / full, rel=1e-12),
                }
            )
    return rows


def test_parquet_has_a_row_for_each_turbine(results: ResultSet, asked: Campaign, tmp_path: Path) -> None:
    import pandas as pd
    import pyarrow.parquet as pq

    export(results, "parquet", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.to_pylist() == expected_rows(asked)
    assert table.schema.field("x_m").metadata == {b"units": b"m"}
    assert Campaign.loads(table.schema.metadata[b"campaign"].decode()) == asked
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert frame.groupby("key").size().to_dict() == {task.key: task.n_turbines for task in tasks(asked)}


def test_csv_has_a_line_for_each_turbine(results: ResultSet, asked: Campaign, tmp_path: Path) -> None:
    export(results, "csv", tmp_path / "out.csv")
    found = lines_of(tmp_path / "out.csv")
    wanted = expected_rows(asked)
    assert [list(row) for row in found] == [list(row) for row in wanted]
    for row, right in zip(found, wanted, strict=True):
        for name, value in right.items():
            if not isinstance(value, str | int | None):
                assert float(row[name]) == value
            else:
                # A spreadsheet must not run a name as a formula.
                shown = f"'{value}" if value == AWKWARD else str(value)
                assert row[name] == ("" if value is None else shown)


def test_positions_are_in_degrees_where_the_system_is_known(
    results: ResultSet, asked: Campaign, tmp_path: Path
) -> None:
    from pyproj import Transformer

    project = Transformer.from_crs(CRS, "EPSG:4326", always_xy=True).transform
    export(results, "csv", tmp_path / "turbines.csv", options=ExportOptions(crs=CRS))
    rows = lines_of(tmp_path / "turbines.csv")
    found = [[float(row[name]) for row in rows] for name in ("longitude", "latitude")]
    x, y = ([float(row[name]) for row in rows] for name in ("x_m", "y_m"))
    np.testing.assert_allclose(found, project(x, y), rtol=0, atol=1e-8)
    with pytest.raises(ArgumentError, match="EPSG:9999"):
        export(results, "csv", tmp_path / "unknown.csv", options=ExportOptions(crs="EPSG:9999"))


@pytest.mark.parametrize(
    ("where", "best", "keys"),
    [
        ("key == 'farm0_t1_s7'", False, ["farm0_t1_s7"]),
        ("farm == 'zoned'", False, ["farm1_t0_s0", "farm1_t0_s7", "farm1_t1_s0"]),
        ("farm == 'farm1' and seed == 7", False, ["farm1_t0_s7"]),
        ("type == 'cubic' and seed == 0", False, ["farm0_t1_s0", "farm1_t1_s0"]),
        ("aep > 21.5", False, ["farm2_t0_s0", "farm2_t0_s7"]),
        (None, True, ["farm0_t0_s7", "farm0_t1_s7", "farm1_t0_s7", "farm1_t1_s0", "farm2_t0_s7"]),
    ],
    ids=["key", "farm", "farm and seed", "type and seed", "energy", "best"],
)
def test_a_selection_is_exported(
    asked: Campaign, tmp_path: Path, where: str | None, best: bool, keys: list[str]
) -> None:
    import xarray

    path = database(tmp_path / "layouts.h5", asked, wanted=lambda task: task.key != MISSING, merged=False)
    results = ResultSet(path, where=where)
    done = export(results, "csv", tmp_path / "out.csv", ExportOptions(best=best))
    lines = lines_of(tmp_path / "out.csv")
    assert list(dict.fromkeys(line["key"] for line in lines)) == keys == list(done.chosen.places)
    export(results, "netcdf", tmp_path / "out.nc", ExportOptions(best=best))
    with xarray.open_dataset(tmp_path / "out.nc") as data:
        assert sorted(filter(None, data["key"].values.ravel().tolist())) == keys
        assert data.attrs["exported_results"] == len(keys)
