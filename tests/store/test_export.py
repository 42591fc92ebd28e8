"""Results as an xarray dataset over farm, type, seed and turbine, and as a pandas data frame."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from tests.results.examples import campaign, finished, publish
from tests.store.examples import record
from vindeby.campaign import Campaign, Task
from vindeby.errors import DataError, InputError
from vindeby.results import tables
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.read.database import Database


def some(task: Task) -> bool:
    return task.farm_idx == 1 or task.seed != 1


@pytest.fixture
def partial(tmp_path: Path) -> Database:
    """A run in progress: two of twelve results are missing."""
    publish(tmp_path / "out.h5", campaign(), some)
    return Database(tmp_path / "out.h5")


def stored(folder: Path, *records: Record) -> Database:
    """A database without a campaign."""
    ShardWriter(RunDirectory(folder / "out.h5").create()).publish(list(records))
    return Database(folder / "out.h5")


def test_a_dataset_has_the_names_of_the_campaign_along_farm_type_seed_and_turbine(partial: Database) -> None:
    data = partial.to_xarray()
    assert dict(data.sizes) == {"farm": 2, "type": 2, "seed": 3, "turbine": 15}
    assert data.farm.values.tolist() == ["north", "south"]
    assert data.type.values.tolist() == ["five", "tabulated"]
    assert data.seed.values.tolist() == [0, 1, 2]
    one = data.sel(farm="south", type="five", seed=1)
    expected = partial["farm1_t0_s1"]
    assert float(one.aep) == expected.aep
    assert float(one.seconds) == expected.seconds
    assert int(one.n_turbines) == 6
    assert str(one.key.values) == "farm1_t0_s1"
    assert str(one.origin.values) == "computed"
    np.testing.assert_array_equal(one.x[:6], expected.layout[0])
    np.testing.assert_array_equal(one.y[:6], expected.layout[1])


def test_what_is_missing_is_nan(partial: Database) -> None:
    data = partial.to_xarray()
    fewer = data.sel(farm="south", type="five", seed=1)
    assert np.isnan(fewer.x[6:]).all()
    assert np.isnan(fewer.y[6:]).all()
    missing = data.sel(farm="north", seed=1)
    for name in ("aep", "seconds", "x", "y", "diameter"):
        assert np.isnan(missing[name]).all()
    assert (missing.n_turbines == 0).all()
    assert missing.key.values.tolist() == ["", ""]
    assert int(data.aep.count()) == 10


@pytest.fixture
def placed(tmp_path: Path) -> Database:
    """Results of a campaign that names its coordinate reference system."""
    data = campaign(seeds=2).to_data() | {"crs": "EPSG:32631"}
    publish(tmp_path / "out.h5", Campaign.from_data(data), lambda task: task.key != "farm0_t0_s1")
    return Database(tmp_path / "out.h5")


def test_results_have_their_wake_loss_capacity_factor_and_place(placed: Database) -> None:
    import pyproj

    frame, data = placed.to_dataframe(), placed.to_xarray()
    project = pyproj.Transformer.from_crs("EPSG:32631", "EPSG:4326", always_xy=True).transform
    asked = Campaign.loads(placed.campaign_text or "")
    for row in frame.itertuples():
        turbine, (x, y) = asked.turbines[row.type_idx], placed[row.key].layout
        free = asked.wind_farm(row.farm_idx, row.type_idx).free_aep_at(x, y)
        assert row.wake_loss == pytest.approx(1.0 - row.aep / free, rel=1e-12)
        full = 8.76 * turbine.rated_power_mw * len(x)
        assert row.capacity_factor == pytest.approx(row.aep / full, rel=1e-12)
        assert (row.longitude, row.latitude) == pytest.approx(project(x.mean(), y.mean()), abs=1e-8)
        one = data.isel(farm=row.farm_idx, type=row.type_idx, seed=row.seed)
        assert (float(one.wake_loss), float(one.capacity_factor)) == (row.wake_loss, row.capacity_factor)
        np.testing.assert_allclose(one.longitude[: len(x)], project(x, y)[0], rtol=0, atol=1e-8)
    assert np.isnan(data.wake_loss[0, 0, 1])
    assert np.isnan(data.longitude[0, 0, 1]).all()
    assert data.latitude.attrs["units"] == "degrees_north"


def test_every_result_is_in_its_own_cell(partial: Database) -> None:
    data = partial.to_xarray()
    found = {
        str(key): float(aep)
        for key, aep in zip(data.key.values.flat, data.aep.values.flat, strict=True)
        if key
    }
    assert found == {key: partial[key].aep for key in partial}


def test_variables_have_units_and_long_names(partial: Database) -> None:
    data = partial.to_xarray()
    units = {"aep": "GWh/year", "x": "m", "y": "m", "n_turbines": "1", "seconds": "s"}
    assert {name: data[name].attrs["units"] for name in units} == units
    for name in (*units, "farm", "type", "seed", "turbine", "key", "farm_idx", "type_idx"):
        assert data[name].attrs["long_name"]


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
@pytest.mark.parametrize("whole", [False, True], ids=["some missing", "all there"])
def test_a_dataset_survives_netcdf(tmp_path: Path, engine: Any, whole: bool) -> None:
    (finished if whole else publish)(tmp_path / "out.h5", campaign())
    with Database(tmp_path / "out.h5") as database:
        data = database.to_xarray()
    data.to_netcdf(tmp_path / "a.nc", engine=engine)
    with xarray.open_dataset(tmp_path / "a.nc", engine=engine) as read:
        read.load()
        xarray.testing.assert_equal(read, data)
        assert read.aep.attrs == data.aep.attrs
        assert read.attrs.get("total_configs") == (12 if whole else None)


def test_further_arrays_and_attributes_come_along_where_they_fit(tmp_path: Path) -> None:
    def more(seed: int, turbines: int) -> Record:
        base = record(seed, turbines)
        arrays = {
            **base.arrays,
            "turbine_aep": np.arange(turbines) + 0.5,
            "curtailed": np.arange(turbines),
            "cost": np.array(seed + 0.25),
            "history": np.arange(2 + seed),
            "x": np.zeros((2, 2)),
        }
        return Record(base.key, base.fingerprint, arrays, dict(base.attributes) | {"tries": seed + 1})

    data = stored(tmp_path, more(0, 3), more(1, 5)).to_xarray()
    assert data.farm.values.tolist() == ["farm0"]
    assert data.type.values.tolist() == ["t1"]
    assert data.turbine_aep.dims == ("farm", "type", "seed", "turbine")
    assert data.turbine_aep.values[0, 0, 0, :3].tolist() == [0.5, 1.5, 2.5]
    assert np.isnan(data.turbine_aep.values[0, 0, 0, 3:]).all()
    assert np.isnan(data.curtailed.values[0, 0, 0, 3:]).all()
    assert data.cost.values.ravel().tolist() == [0.25, 1.25]
    assert data.history.dims == ("farm", "type", "seed", "history_axis0")
    assert np.isnan(data.history.values[0, 0, 0, 2])
    assert data.tries.values.ravel().tolist() == [1, 2]
    assert data.engine.values.ravel().tolist() == ["vindeby", "vindeby"]
    assert data.converged.values.ravel().tolist() == [True, False]
    assert data.record_farm.values.ravel().tolist() == ["Thor øst"] * 2  # `farm` is a dimension
    assert data.record_x.shape == (1, 1, 2, 2, 2)
    data.to_netcdf(tmp_path / "a.nc", engine="netcdf4")


def test_two_labels_along_an_axis_are_never_equal(tmp_path: Path) -> None:
    asked = campaign()
    named = asked.loads(asked.dumps().replace("north", "farm2"))
    ShardWriter(publish(tmp_path / "out.h5", named)).publish([replace(record(0, farm=2), fingerprint="")])
    with Database(tmp_path / "out.h5") as database:
        assert database.to_xarray().farm.values.tolist() == ["farm2", "south", "farm2'"]


def test_results_that_have_no_place_are_left_out_with_a_warning(tmp_path: Path) -> None:
    odd = Record("elsewhere", "", {"aep": np.array(1.0)})
    database = stored(tmp_path, record(0), odd)
    with pytest.warns(UserWarning, match=r"1 of 2 results is left out.*to_dataframe\(\)"):
        data = database.to_xarray()
    assert data.sizes["seed"] == 1
    frame = database.to_dataframe()
    assert frame.key.tolist() == ["elsewhere", "farm0_t1_s0"]
    assert frame.farm.isna().tolist() == [True, False]
    assert frame.seed.isna().tolist() == [True, False]


def test_of_two_results_of_one_task_the_one_with_its_key_is_shown(tmp_path: Path) -> None:
    right = record(3)
    copy = Record("a copy", right.fingerprint, {"aep": np.array(1.0)}, right.attributes)
    with pytest.warns(UserWarning, match="1 of 2 results is left out"):
        data = stored(tmp_path, copy, right).to_xarray()
    assert data.aep.values.tolist() == [[[103.0]]]


def test_a_key_alone_says_farm_type_and_seed(tmp_path: Path) -> None:
    database = stored(tmp_path, Record("farm2_t0_s7", "", {"aep": np.array(5.0)}))
    data = database.to_xarray()
    assert float(data.sel(farm="farm2", type="t0", seed=7).aep) == 5.0
    assert str(data.origin.values[0, 0, 0]) == "foreign"
    assert data.sizes["turbine"] == 0


def test_an_array_whose_axes_differ_is_left_out_with_a_warning(tmp_path: Path) -> None:
    one = Record("farm0_t0_s0", "", {"odd": np.zeros(2)})
    two = Record("farm0_t0_s1", "", {"odd": np.zeros((2, 2))})
    with pytest.warns(UserWarning, match="'odd' is left out"):
        data = stored(tmp_path, one, two).to_xarray()
    assert "odd" not in data


def test_results_that_the_campaign_does_not_ask_for_are_there_too(tmp_path: Path) -> None:
    run = publish(tmp_path / "out.h5", campaign())
    ShardWriter(run).publish([Record("farm5_t0_s99", "", {"aep": np.array(5.0)})])
    data = Database(run.output).to_xarray()
    assert data.farm.values.tolist() == ["north", "south", "farm5"]
    assert data.seed.values.tolist() == [0, 1, 2, 99]
    assert float(data.sel(farm="farm5", type="five", seed=99).aep) == 5.0


def test_forged_numbers_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_LARGEST", 26)
    database = stored(tmp_path, *(Record(f"farm{n}{n}_t{n}{n}_s{n}{n}", "", {}) for n in range(3)))
    with pytest.raises(DataError, match="make 27 values, more than 26"):
        database.to_xarray()
    assert len(database.to_dataframe()) == 3


def test_a_data_frame_has_one_row_per_result_in_order(partial: Database) -> None:
    frame = partial.to_dataframe()
    assert frame.columns.tolist()[:8] == [
        "key",
        "farm",
        "type",
        "seed",
        "aep",
        "n_turbines",
        "seconds",
        "origin",
    ]
    assert frame.key.tolist() == sorted(partial)
    last = frame.iloc[-1]
    assert (last.farm, last.type, last.seed, last.n_turbines) == ("south", "tabulated", 2, 15)
    assert last.aep == partial["farm1_t1_s2"].aep
    assert last.fingerprint == partial["farm1_t1_s2"].fingerprint
    assert (frame.origin == "computed").all()
    assert frame.groupby("farm").size().to_dict() == {"north": 4, "south": 6}
    assert frame.attrs["units"]["aep"] == "GWh/year"


def test_a_database_without_results_gives_empty_ones(tmp_path: Path) -> None:
    run = publish(tmp_path / "out.h5", campaign(), lambda _: False)
    database = Database(run.output)
    assert len(database.to_dataframe()) == 0
    data = database.to_xarray()
    assert dict(data.sizes) == {"farm": 2, "type": 2, "seed": 3, "turbine": 0}
    assert np.isnan(data.aep).all()


@pytest.mark.parametrize("damage", ["not yaml: [", "name: x\n"])
def test_a_campaign_text_that_cannot_be_used_leaves_the_plain_names(tmp_path: Path, damage: str) -> None:
    run = publish(tmp_path / "out.h5", campaign())
    run.campaign_file.write_text(damage)
    data = Database(run.output).to_xarray()
    assert data.farm.values.tolist() == ["farm0", "farm1"]


@pytest.mark.parametrize(("library", "call"), [("xarray", "to_xarray"), ("pandas", "to_dataframe")])
def test_without_the_library_it_says_what_to_install(
    partial: Database, monkeypatch: pytest.MonkeyPatch, library: str, call: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=rf"{call} needs {library}.*pip install 'vindeby\[xarray\]'"):
        getattr(partial, call)()
