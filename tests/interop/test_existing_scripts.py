"""Scripts that people wrote for databases of the older kind run unchanged on OUT.h5.

``tests/store/test_independent_readers.py`` has the other libraries and programs that read HDF5.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.interop.exports import campaign, database, positions, record
from tests.store.test_independent_readers import program
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import merge

pytestmark = pytest.mark.slow

ANALYSIS = """
import json, sys, h5py, numpy as np
found = {}
with h5py.File(sys.argv[1], "r") as f:
    for i in range(3):
        for t in range(2):
            for s in (0, 7):
                if f"farm{i}_t{t}_s{s}" in f:
                    layout = f[f"farm{i}_t{t}_s{s}"]["layout"][:]
                    x, y = layout
                    group = f[f"farm{i}_t{t}_s{s}"]
                    found[group.name[1:]] = {
                        "x": x.tolist(), "y": y.tolist(), "aep": float(group["aep"][()]),
                        "n": int(group.attrs["n_turbines"]), "d": float(group.attrs["diameter"]),
                        "place": [int(group.attrs[name]) for name in ("farm_idx", "type_idx", "ss_seed")],
                    }
print(json.dumps(found))
"""

MONITOR = """
import json, sys, h5py
with h5py.File(sys.argv[1], "r", swmr=True) as f:
    done = sum(1 for key in f.keys() if key.startswith("farm"))
    by_farm = {}
    f.visititems(lambda name, one: by_farm.update({name.split("_")[0]: by_farm.get(name.split("_")[0], 0) + 1})
                 if isinstance(one, h5py.Group) else None)
    root = {name: f.attrs[name] for name in ("grid_size", "random_pct", "total_configs", "successful_configs")}
    print(json.dumps({"done": done, "by_farm": by_farm, **{name: float(value) for name, value in root.items()}}))
"""

VALIDATOR = """
import json, sys, h5py, numpy as np
bad = []
with h5py.File(sys.argv[1], "r") as f:
    for key in f:
        if "layout" not in f[key] or "aep" not in f[key]:
            bad.append(key)
        elif f[key]["layout"].shape != (2, f[key].attrs["n_turbines"]) or not np.isfinite(f[key]["aep"][()]):
            bad.append(key)
print(json.dumps(bad))
"""


@pytest.fixture(scope="module")
def asked() -> Campaign:
    method = [{"smart-start": {"grid_size": 18, "random_pct": 30}}]
    return campaign(method=method)


@pytest.fixture
def output(asked: Campaign, tmp_path: Path) -> Path:
    return database(tmp_path / "layouts.h5", asked, wanted=lambda task: task.seed == 0)


def script(text: str, path: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text, path],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_an_analysis_script_reads_layouts_by_their_names(asked: Campaign, output: Path) -> None:
    found = script(ANALYSIS, output)
    tasks = {task.key: task for task in asked.tasks() if task.seed == 0}
    assert set(found) == set(tasks)
    for key, one in found.items():
        task = tasks[key]
        np.testing.assert_array_equal([one["x"], one["y"]], positions(asked, task))
        assert one["aep"] == 20.0 + task.farm_idx + task.type_idx / 10
        assert one["n"] == task.n_turbines
        assert one["d"] == asked.turbines[task.type_idx].rotor_diameter_m
        assert one["place"] == [task.farm_idx, task.type_idx, task.seed]


def test_a_monitor_script_counts_groups_with_swmr(output: Path) -> None:
    assert script(MONITOR, output) == {
        "done": 5,
        "by_farm": {"farm0": 2, "farm1": 2, "farm2": 1},
        "grid_size": 18.0,
        "random_pct": 30.0,
        "total_configs": 10.0,
        "successful_configs": 5.0,
    }


def test_a_reader_with_swmr_keeps_its_file_while_a_merge_replaces_it(asked: Campaign, output: Path) -> None:
    later = [record(asked, task) for task in asked.tasks() if task.seed == 7]
    with h5py.File(output, "r", swmr=True) as file:
        before = len(file)
        ShardWriter(RunDirectory(output)).publish(later)
        merge(output)
        assert len(file) == before == 5
        np.testing.assert_array_equal(file["farm0_t0_s0"]["layout"][:], positions(asked, asked.tasks()[0]))
    with h5py.File(output, "r", swmr=True) as file:
        assert len(file) == 10
        assert file.attrs["successful_configs"] == 10


def test_a_validator_script_finds_nothing_missing_in_a_group(output: Path) -> None:
    assert script(VALIDATOR, output) == []


def test_a_validator_script_finds_what_somebody_removed(output: Path) -> None:
    """So that the test above can fail."""
    copy = output.with_name("copy.h5")
    shutil.copy(output, copy)
    with h5py.File(copy, "r+") as file:
        del file["farm0_t0_s0"]["aep"]
        del file["farm1_t1_s0"]["layout"]
    assert script(VALIDATOR, copy) == ["farm0_t0_s0", "farm1_t1_s0"]


def test_h5dump_prints_the_layout_exactly(asked: Campaign, output: Path) -> None:
    command = [
        program("h5dump", "Debian package hdf5-tools"),
        "-m",
        "%.17g",
        "-y",
        "-d",
        "/farm1_t1_s0/layout",
        str(output),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    body, *_ = re.findall(r"DATA \{(.*?)\}", done.stdout, flags=re.DOTALL)  # after it, those of attributes
    numbers = [float(text) for text in re.findall(r"[-+.\deE]+", body)]
    task = next(task for task in asked.tasks() if task.key == "farm1_t1_s0")
    assert numbers == positions(asked, task).ravel().tolist()


def test_h5repack_keeps_what_scripts_read(output: Path) -> None:
    repacked = output.with_name("repacked.h5")
    command = [program("h5repack", "Debian package hdf5-tools"), "-f", "GZIP=4", str(output), str(repacked)]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    for text in (ANALYSIS, MONITOR, VALIDATOR):
        assert script(text, repacked) == script(text, output)


PYTABLES = """
import json, sys, warnings, tables
warnings.simplefilter("ignore")
with tables.open_file(sys.argv[1]) as file:
    groups = [group._v_name for group in file.iter_nodes("/", classname="Group")]
    aep = {group._v_name: float(group.aep.read()) for group in file.iter_nodes("/", classname="Group")}
    print(json.dumps({"groups": groups, "aep": aep, "grid_size": int(file.root._v_attrs.grid_size)}))
"""


def test_pytables_walks_the_groups(asked: Campaign, output: Path) -> None:
    pytest.importorskip("tables")
    found = script(PYTABLES, output)
    keys = sorted(task.key for task in asked.tasks() if task.seed == 0)
    assert sorted(found["groups"]) == keys
    assert found["grid_size"] == 18
    assert found["aep"]["farm1_t1_s0"] == 21.1


GROUPS = """
import json, sys
found = {}
path, key = sys.argv[1], "farm1_t1_s0"
import netCDF4
with netCDF4.Dataset(path) as file:
    found["netCDF4"] = [file[key]["layout"][:].tolist(), float(file[key]["aep"][()]), len(file.groups)]
import xarray
with xarray.open_datatree(path, engine="h5netcdf", phony_dims="sort") as tree:
    found["xarray"] = [tree[key]["layout"].values.tolist(), float(tree[key]["aep"]), len(tree.children)]
import pyfive
with pyfive.File(path) as file:
    found["pyfive"] = [file[key]["layout"][:].tolist(), float(file[key]["aep"][()]), len(list(file))]
print(json.dumps(found))
"""


def test_every_library_finds_the_same_numbers(asked: Campaign, output: Path) -> None:
    task = next(task for task in asked.tasks() if task.key == "farm1_t1_s0")
    right = [positions(asked, task).tolist(), 21.1, 5]
    assert script(GROUPS, output) == {"netCDF4": right, "xarray": right, "pyfive": right}
