"""What every other reader of HDF5 finds in OUT.h5, and what is left of it after other programs copied it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.old_files.make import FOLDER as NEWEST
from tests.store.examples import contents, publish, record
from vindeby.campaign.tasks import RESULT_ARRAYS
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute, Record
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

KEY = "farm0_t1_s1"
ROOT: dict[str, Attribute] = {"campaign": "name: Thor øst\n" * 100, "grid_size": 18, "random_pct": 30.0}
BATCH = [
    *(record(seed, 4 + seed % 3) for seed in range(12)),
    Record("few", "", {"layout": np.ones((2, 1)), "aep": np.array(1.0)}, {"empty": "", "farm_idx": 1}),
]
NAMES = sorted(["checksum", "fingerprint", "status", *BATCH[1].attributes])
NOT_BOOLEAN = [name for name in NAMES if not isinstance(BATCH[1].attributes.get(name), bool)]
"""What netcdf-c and PyTables show: they do not know how h5py writes a boolean attribute."""

ADDED_BY_PYTABLES = {"CLASS", "FILTERS", "FLAVOR", "PYTABLES_FORMAT_VERSION", "TITLE", "VERSION"}


def without_booleans(one: Record) -> Record:
    """PyTables does not know how h5py writes a boolean, and leaves the attribute out."""
    rest = {name: value for name, value in one.attributes.items() if not isinstance(value, bool)}
    return Record(one.key, one.fingerprint, one.arrays, rest)


def made(folder: Path, file_format: str, batch: list[Record]) -> Path:
    run = RunDirectory(folder / f"{file_format}.h5")
    publish(run, batch)
    merge(run.output, MergeOptions(file_format=file_format, root=ROOT))
    shutil.rmtree(run.path)
    return run.output


@pytest.fixture(params=["classic", "table"])
def file_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def classic(tmp_path: Path) -> Path:
    return made(tmp_path, "classic", BATCH)


def program(name: str, package: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed ({package})")
    return found


def called(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{command[0]} exits with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def python(package: str, text: str, *arguments: str | Path) -> Any:
    """What a script prints as JSON, in a process of its own, since a reader in C may abort it."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the Python package {package} is not installed (it is in the extra dev)")
    return json.loads(called(sys.executable, "-c", text, *arguments).splitlines()[-1])


def test_h5py_counts_lists_and_reads_every_attribute(classic: Path) -> None:
    with h5py.File(classic) as file:
        for one in BATCH:
            group = file[one.key]
            assert len(group.attrs) == h5py.h5a.get_num_attrs(group.id) == len(one.attributes) + 3
            assert {name: group.attrs[name] for name in group.attrs} == {
                **one.attributes,
                "fingerprint": one.fingerprint,
                "status": "success",
                "checksum": group.attrs["checksum"],
            }
            assert set(group) == set(one.arrays) >= {"aep", "layout"}
            for name in group:
                assert dict(group[name].attrs) == RESULT_ARRAYS[name]
        assert {name: file.attrs[name] for name in ROOT} == ROOT


def test_units_stand_beside_the_arrays_of_a_table_too(tmp_path: Path) -> None:
    with h5py.File(made(tmp_path, "table", BATCH)) as file:
        for name in ("aep", "layout"):
            assert RESULT_ARRAYS[name].items() <= dict(file[name].attrs).items()


def test_units_stand_beside_the_arrays_after_a_merge_into_the_other_form(
    file_format: str, tmp_path: Path
) -> None:
    path = made(tmp_path, file_format, BATCH)
    publish(RunDirectory(path), [record(99)])
    other = "table" if file_format == "classic" else "classic"
    merge(path, MergeOptions(file_format=other))
    with h5py.File(path) as file:
        dataset = file["aep"] if other == "table" else file["farm0_t1_s99/aep"]
        found = {name: dataset.attrs[name] for name in ("long_name", "units")}
        assert found == {"long_name": "annual energy production", "units": "GWh/year"}


NETCDF = """
import json, sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as file:
    group = file[sys.argv[2]] if sys.argv[2] else file
    layout = group["layout"]
    found = {"names": group.ncattrs(), "units": layout.units, "first": float(layout[:].ravel()[0])}
    axes = {name: list(one.dimensions) for name, one in file.variables.items()}
    print(json.dumps({**found, "campaign": file.campaign, "axes": axes, "groups": len(file.groups)}))
"""


def test_netcdf4_opens_both_forms(file_format: str, tmp_path: Path) -> None:
    path = made(tmp_path, file_format, BATCH)
    found = python("netCDF4", NETCDF, path, KEY if file_format == "classic" else "")
    assert found["campaign"] == ROOT["campaign"]
    assert found["units"] == "m"
    if file_format == "classic":
        assert sorted(found["names"]) == NOT_BOOLEAN
        assert found["first"] == BATCH[1].layout[0, 0]
        assert found["groups"] == len(BATCH)
    else:
        marks = {"key", "fingerprint", "status", "checksum", "schema"}
        fields = {name for one in BATCH for name in (*one.arrays, *one.attributes)}
        assert found["axes"].keys() == marks | fields
        assert found["axes"]["layout"] == ["key", "layout_axis0", "layout_axis1"]
        assert found["axes"]["farm"] == ["key", "farm_axis0"]
        assert found["axes"]["aep"] == found["axes"]["converged"] == ["key"]


XARRAY = """
import json, sys, xarray
engine, path, group = sys.argv[1:]
options = {"phony_dims": "sort"} if engine == "h5netcdf" and group else {}
with xarray.open_dataset(path, engine=engine, **options) as root:
    texts = {name: root.attrs[name] for name in ("campaign", "layout")}
with xarray.open_dataset(path, engine=engine, group=group or None, **options) as data:
    text = lambda value: value.decode() if isinstance(value, bytes) else value
    found = {"names": list(map(str, data.attrs)), "units": data["layout"].attrs["units"]}
    found["aep"] = data["aep"].values.ravel().tolist()
    if not group:
        names = ("key", "farm", "empty", "converged", "ss_seed")
        found["rows"] = {name: [text(one) for one in data[name].values.tolist()] for name in names}
        found["sizes"], found["coordinates"] = dict(data.sizes), list(data.coords)
        found["chosen"] = float(data.sel(key=data["key"][3].values)["aep"])
print(json.dumps({"texts": texts, **found}))
"""


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_xarray_opens_both_forms(engine: str, file_format: str, tmp_path: Path) -> None:
    path = made(tmp_path, file_format, BATCH)
    package = "netCDF4" if engine == "netcdf4" else "h5netcdf"
    found = python(package, XARRAY, engine, path, KEY if file_format == "classic" else "")
    assert found["texts"] == {"campaign": ROOT["campaign"], "layout": file_format}
    assert found["units"] == "m"
    if file_format == "classic":
        assert sorted(found["names"]) == (NOT_BOOLEAN if engine == "netcdf4" else NAMES)
        assert found["aep"] == [101.0]
        return
    rows, by_key = found["rows"], {one.key: one for one in BATCH}
    assert found["sizes"] == {"key": len(BATCH), "layout_axis0": 2, "layout_axis1": 6}
    assert found["coordinates"] == ["key"]
    for number, key in enumerate(rows["key"]):
        said = by_key[key].attributes
        assert found["aep"][number] == by_key[key].aep
        assert rows["farm"][number] == said.get("farm", "")
        assert rows["converged"][number] is said.get("converged", False)
        assert rows["ss_seed"][number] == said.get("ss_seed", 0)
    assert found["chosen"] == found["aep"][3]


PYFIVE = """
import json, sys, pyfive
with pyfive.File(sys.argv[1]) as file:
    group = file[sys.argv[2]]
    text = lambda value: value.decode() if isinstance(value, bytes) else value
    found = {"keys": list(file), "names": list(group.attrs), "campaign": text(file.attrs["campaign"])}
    found["units"] = text(group["layout"].attrs["units"])
    found["layout"] = group["layout"][:].tolist()
    print(json.dumps(found))
"""


def test_pyfive_reads_both_forms(file_format: str, tmp_path: Path) -> None:
    path = made(tmp_path, file_format, BATCH)
    found = python("pyfive", PYFIVE, path, KEY if file_format == "classic" else "/")
    assert (found["campaign"], found["units"]) == (ROOT["campaign"], "m")
    if file_format == "classic":
        assert sorted(found["keys"]) == sorted(one.key for one in BATCH)
        assert sorted(found["names"]) == NAMES
        assert found["layout"] == BATCH[1].layout.tolist()
    else:
        assert np.array(found["layout"]).shape == (len(BATCH), 2, 6)


PYTABLES = """
import json, sys, warnings, tables
warnings.simplefilter("ignore")
with tables.open_file(sys.argv[1]) as file:
    group = file.get_node("/" + sys.argv[2])
    names = group._v_attrs._f_list("user")
    found = {"names": names, "farm": str(group._v_attrs.farm), "seed": int(group._v_attrs.ss_seed)}
    found["units"] = str(group.layout.attrs.units)
    found["layout"] = group.layout.read().tolist()
    print(json.dumps(found))
"""


def test_pytables_reads_the_classic_form(classic: Path) -> None:
    found = python("tables", PYTABLES, classic, KEY)
    assert sorted(found["names"]) == NAMES
    assert (found["farm"], found["seed"], found["units"]) == ("Thor øst", 1, "m")
    assert found["layout"] == BATCH[1].layout.tolist()


HDF5R = """
suppressMessages(library(hdf5r))
arguments <- commandArgs(TRUE)
file <- H5File$new(arguments[1], mode = "r")
group <- file[[arguments[2]]]
cat(paste(h5attr_names(group), collapse = " "), h5attr(group, "farm"), h5attr(group, "ss_seed"),
    h5attr(group[["layout"]], "units"), sprintf("%.17g", sum(group[["layout"]]$read())),
    h5attr(file, "grid_size"), length(names(file)), sep = "\\n")
"""

NCDF4 = """
suppressMessages(library(ncdf4))
file <- nc_open(commandArgs(TRUE)[1])
for (name in names(file$var)) invisible(ncvar_get(file, name))
farms <- ncvar_get(file, "farm")
numbers <- sprintf("%.17g", ncvar_get(file, "aep"))
cat(paste(ncvar_get(file, "key"), farms, numbers, sep = ","), sep = "\\n")
"""


def r_prints(folder: Path, package: str, script: str, *arguments: str | Path) -> list[str]:
    rscript = program("Rscript", "Debian package r-base-core")
    if subprocess.run([rscript, "-e", f"library({package})"], capture_output=True, check=False).returncode:
        pytest.skip(f"the R package {package} is not installed (Debian package r-cran-{package})")
    (folder / "show.R").write_text(script)
    return called(rscript, folder / "show.R", *arguments).splitlines()


def test_hdf5r_shows_every_attribute(classic: Path, tmp_path: Path) -> None:
    names, *rest = r_prints(tmp_path, "hdf5r", HDF5R, classic, KEY)
    assert sorted(names.split()) == NAMES
    assert rest[:3] == ["Thor øst", "1", "m"]
    assert float(rest[3]) == pytest.approx(BATCH[1].layout.sum(), rel=1e-15)
    assert rest[4:] == ["18", str(len(BATCH))]


def test_ncdf4_reads_every_variable_of_a_table(tmp_path: Path) -> None:
    lines = r_prints(tmp_path, "ncdf4", NCDF4, made(tmp_path, "table", BATCH))
    expected = {f"{one.key},{one.attributes.get('farm', '')},{float(one.aep):.17g}" for one in BATCH}
    assert set(lines) == expected


def test_ncdump_shows_every_value_of_both_forms(file_format: str, tmp_path: Path) -> None:
    text = called(program("ncdump", "Debian package netcdf-bin"), made(tmp_path, file_format, BATCH))
    named = '"{}"' if file_format == "table" else "group: {} {{"
    assert all(named.format(one.key) in text for one in BATCH)


H5WASM = """
import { pathToFileURL } from "url";
const [folder, path, key] = process.argv.slice(2);
const h5 = await import(pathToFileURL(folder + "/h5wasm/dist/node/hdf5_hl.js").href);
await h5.ready;
const file = new h5.File(path, "r");
const group = file.get(key);
const layout = group.get("layout");
console.log(JSON.stringify({
  keys: file.keys(), names: Object.keys(group.attrs), farm: group.attrs.farm.value, units: layout.attrs.units.value,
  seed: Number(group.attrs.ss_seed.value), layout: Array.from(layout.value), campaign: file.attrs.campaign.value,
}));
file.close();
"""


def test_h5wasm_shows_every_attribute(classic: Path, tmp_path: Path) -> None:
    node = program("node", "Debian package nodejs")
    modules = os.environ.get("VINDEBY_NODE_MODULES", "")
    if not (Path(modules) / "h5wasm").is_dir():
        pytest.skip("VINDEBY_NODE_MODULES names no folder with h5wasm (npm install h5wasm)")
    (tmp_path / "show.mjs").write_text(H5WASM)
    found = json.loads(called(node, tmp_path / "show.mjs", modules, classic, KEY))
    assert sorted(found["keys"]) == sorted(one.key for one in BATCH)
    assert sorted(found["names"]) == NAMES
    assert (found["farm"], found["seed"], found["units"]) == ("Thor øst", 1, "m")
    assert found["layout"] == BATCH[1].layout.ravel().tolist()
    assert found["campaign"] == ROOT["campaign"]


def test_h5dump_and_h5ls_show_every_attribute(classic: Path) -> None:
    dumped = called(program("h5dump", "Debian package hdf5-tools"), "-A", "-g", KEY, classic)
    assert dumped.count("ATTRIBUTE ") == len(NAMES) + 4
    assert '"success"' in dumped
    listed = called(program("h5ls", "Debian package hdf5-tools"), "-v", f"{classic}/{KEY}")
    assert listed.count("Attribute: ") == 4


def copied(tool: str, path: Path) -> Path:
    copy = path.with_name(f"{tool}-{path.name}")
    if tool == "h5repack":
        called(program("h5repack", "Debian package hdf5-tools"), path, copy)
    else:
        called(program("ptrepack", "Python package tables"), f"{path}:/", f"{copy}:/")
    return copy


# PyTables copies no netCDF-4 file: it does not know the references of dimension scales.
COPIES = pytest.mark.parametrize(
    ("tool", "file_format"), [("h5repack", "classic"), ("h5repack", "table"), ("ptrepack", "classic")]
)


@COPIES
def test_a_copy_by_another_program_is_unsealed_but_complete(
    tool: str, file_format: str, tmp_path: Path
) -> None:
    batch = BATCH if tool == "h5repack" else [without_booleans(one) for one in BATCH]
    copy = copied(tool, made(tmp_path, file_format, batch))
    report = validate(copy, expected={one.key: one.fingerprint for one in batch})
    assert (report.issues, report.missing) == ([], [])
    assert report.valid
    assert not report.sealed
    assert any("its seal is missing" in note for note in report.notes)
    assert contents(copy) == {one.key: one for one in batch}


@COPIES
def test_a_merge_seals_a_copy_by_another_program_without_loss(
    tool: str, file_format: str, tmp_path: Path
) -> None:
    batch = BATCH if tool == "h5repack" else [without_booleans(one) for one in BATCH]
    original = made(tmp_path, file_format, batch)
    copy = copied(tool, original)
    merge(copy)
    with Database(copy) as database, Database(original) as first:
        assert database.sealed
        assert dict(database) == {one.key: one for one in batch}
        covered = set(first.attributes) - {"own_fields", "root_checksum"}
        assert {name: database.attributes.get(name) for name in covered} == {
            name: first.attributes[name] for name in covered
        }
    report = validate(copy)
    assert (report.valid, report.sealed) == (True, True)
    with h5py.File(copy) as one, h5py.File(original) as two:
        names: list[str] = ["/"]
        two.visit(names.append)
        for name in names:
            assert set(one[name].attrs) - ADDED_BY_PYTABLES == set(two[name].attrs) - ADDED_BY_PYTABLES


def test_what_pytables_leaves_out_is_never_certified(tmp_path: Path) -> None:
    """It warns of the boolean attribute that it does not copy, and exits with 0."""
    copy = copied("ptrepack", made(tmp_path, "classic", BATCH))
    report = validate(copy)
    assert not report.valid
    damaged = {issue.key for issue in report.issues if "checksum mismatch" in issue.what}
    assert damaged == {one.key for one in BATCH if "converged" in one.attributes}


def test_the_newest_samples_are_of_this_form(file_format: str) -> None:
    with (
        h5py.File(NEWEST / f"{file_format}.h5") as file,
        h5py.File(NEWEST / f"repacked_{file_format}.h5") as repacked,
    ):
        names: list[str] = ["/"]
        file.visit(names.append)
        for name in names:
            assert len(file[name].attrs) == len(repacked[name].attrs)
