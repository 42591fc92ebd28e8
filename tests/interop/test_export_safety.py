"""An export is there as a whole or not at all, replaces only what it may, and takes only what is valid."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.command import vindeby
from tests.interop.exports import campaign, database, record
from tests.store.examples import foreign_file
from vindeby.errors import ArgumentError, InputError, ShortfallError, StorageError
from vindeby.interop.export import FORMATS
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

pytestmark = pytest.mark.slow

CRS = ExportOptions(crs="EPSG:32631")
FORCE = ExportOptions(crs="EPSG:32631", force=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    """One of the results of a database."""
    path = database(tmp_path_factory.mktemp("db") / "layouts.h5", campaign())
    return ResultSet(path, where="key == 'farm0_t0_s0'")


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {str(one): one.read_bytes() for one in files}


@pytest.mark.parametrize("file_format", FORMATS)
def test_what_stands_there_is_replaced_only_when_that_is_said(
    results: ResultSet, tmp_path: Path, file_format: str
) -> None:
    path = tmp_path / "out"
    export(results, file_format, path, CRS)
    before = contents(path)
    other = ResultSet(results.path, where="key == 'farm1_t0_s0'")
    with pytest.raises(ArgumentError, match=r"exists and is left as it is.*--force"):
        export(other, file_format, path, CRS)
    assert contents(path) == before
    export(other, file_format, path, FORCE)
    assert contents(path) != before
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("file_format", ["zarr", "windio", "floris"])
def test_a_folder_that_is_no_earlier_export_is_never_replaced(
    results: ResultSet, tmp_path: Path, file_format: str
) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.txt").write_text("years of work")
    with pytest.raises(ArgumentError, match="not an earlier export"):
        export(results, file_format, precious, FORCE)
    assert (precious / "chapter.txt").read_text() == "years of work"
    assert names(tmp_path) == ["thesis"]


@pytest.mark.parametrize("file_format", FORMATS)
def test_the_database_and_its_run_directory_are_never_written_to(
    results: ResultSet, tmp_path: Path, file_format: str
) -> None:
    link = tmp_path / "link"
    link.symlink_to(results.path)
    inside = RunDirectory(results.path).path / "out"
    before = contents(results.path)
    for path in (results.path, link, inside):
        with pytest.raises(ArgumentError, match=r"is the database itself|is inside the run directory"):
            export(results, file_format, path, FORCE)
    assert contents(results.path) == before
    assert not inside.exists()


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """As on a full disk, a write fails half-way.

    Python keeps bytecode that was written half-way, and then cannot load the module: it must not write any.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sys, "dont_write_bytecode", True)
        changed.setenv("PYTHONDONTWRITEBYTECODE", "1")
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("file_format", sorted(set(FORMATS) - {"netcdf"}))
def test_a_limit_on_file_size_leaves_nothing_behind(
    results: ResultSet, tmp_path: Path, file_format: str
) -> None:
    with largest_file(300), pytest.raises(StorageError, match="cannot write"):
        export(results, file_format, tmp_path / "out", CRS)
    assert names(tmp_path) == []


def test_a_limit_on_file_size_stops_netcdf_with_a_message(results: ResultSet, tmp_path: Path) -> None:
    """In a process of its own, which the HDF5 library might end."""
    code = (
        "import resource, sys\nfrom vindeby.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
        f"sys.argv = ['vindeby', 'export', {str(results.path)!r}, '--to', 'netcdf', '-o', 'out']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # it would be cut short too, and stay so
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert names(tmp_path) == []


def test_an_error_half_way_leaves_what_stood_there(
    results: ResultSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"No space left on device.*make room"):
        export(results, "csv", path, FORCE)
    assert path.read_text() == "before"
    assert names(tmp_path) == ["out.csv"]


def test_a_kill_leaves_no_half_file_under_the_name(results: ResultSet, tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom pathlib import Path\nimport vindeby\n"
        "from vindeby.interop.export import columns, exporting\n"
        "def write(path, columns):\n"
        "    path.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "columns.write_csv = write\n"
        f"exporting.export(vindeby.ResultSet({str(results.path)!r}), 'csv', Path('out.csv'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "out.csv").exists()
    export(results, "csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()


def test_only_valid_results_that_answer_the_campaign_are_exported(tmp_path: Path) -> None:
    """One is damaged, one of another campaign, one of no task, and one that nothing vouches for is impossible."""
    asked, other = campaign(), campaign(wake="jensen")
    path = tmp_path / "layouts.h5"
    tasks = {task.key: task for task in asked.tasks()}
    database(path, asked, wanted=lambda task: task.farm_idx == 1 and task.seed == 0, merged=False)
    stale = next(task for task in other.tasks() if task.key == "farm0_t0_s0")
    foreign = record(asked, tasks["farm0_t1_s0"])
    impossible = Record(foreign.key, "", {**foreign.arrays, "aep": np.array(1e6)}, foreign.attributes)
    none = Record("farm0_t0_s99", "0" * 64, foreign.arrays, {**foreign.attributes, "ss_seed": 99})
    ShardWriter(RunDirectory(path)).publish([record(other, stale), impossible, none])
    results = ResultSet(path)
    done = export(results, "csv", tmp_path / "out.csv")
    assert list(done.chosen.places) == ["farm1_t0_s0", "farm1_t1_s0"]
    for where in ("key == 'farm0_t0_s0'", "key == 'farm1_t0_s1'", "farm == 'mixed'", "farm == 'nowhere'"):
        with pytest.raises(ShortfallError, match="no valid result is what was asked for"):
            export(ResultSet(path, where=where), "csv", tmp_path / "other.csv")


def test_a_key_from_elsewhere_names_no_folder(tmp_path: Path) -> None:
    asked = campaign()
    path = tmp_path / "db" / "layouts.h5"
    path.parent.mkdir()
    database(path, asked, wanted=lambda task: task.key == "farm1_t0_s0", merged=False)
    task = next(task for task in asked.tasks() if task.key == "farm1_t1_s0")
    evil = Record("x ..", task.fingerprint, record(asked, task).arrays, record(asked, task).attributes)
    ShardWriter(RunDirectory(path)).publish([evil])
    for file_format in ("windio", "floris"):
        done = export(ResultSet(path), file_format, tmp_path / file_format)
        folders = sorted(one.name for one in done.path.iterdir() if one.is_dir())
        assert folders == ["farm1_t0_s0", "farm1_t1_s0"]


def test_a_database_without_a_campaign_has_its_layouts(tmp_path: Path) -> None:
    foreign_file(tmp_path / "old.h5", range(3))
    results = ResultSet(tmp_path / "old.h5")
    done = export(results, "csv", tmp_path / "out.csv")
    assert len(done.path.read_text().splitlines()) == 1 + 3 * 66
    export(results, "netcdf", tmp_path / "out.nc")
    with pytest.raises(ArgumentError, match=r"needs the campaign.*--campaign FILE"):
        export(results, "windio", tmp_path / "out")


@pytest.mark.parametrize(
    ("file_format", "module", "extra"),
    [
        ("netcdf", "xarray", "interop"),
        ("zarr", "zarr", "interop"),
        ("parquet", "pyarrow", "interop"),
        ("geojson", "pyproj", "geo"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    results: ResultSet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file_format: str,
    module: str,
    extra: str,
) -> None:
    there = importlib.import_module

    def without(name: str) -> object:
        if name == module:
            raise ImportError(name)
        return there(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(InputError, match=rf"needs {module}.*pip install 'vindeby\[{extra}\]'"):
        export(results, file_format, tmp_path / "out", CRS)
    assert names(tmp_path) == []


def test_the_command_says_what_it_wrote_and_what_is_missing(tmp_path: Path) -> None:
    database(tmp_path / "layouts.h5", campaign(), wanted=lambda task: task.seed == 0, merged=False)
    done = vindeby(tmp_path, "export", "layouts.h5", "--to", "csv")
    assert (done.returncode, done.stdout) == (0, "layouts.csv\n")
    assert "5 results exported" in done.stderr
    assert "5 of 10 are missing; `vindeby missing layouts.h5` lists them" in done.stderr
    chosen = ("--where", "farm == 'zoned' and seed == 0", "--json")
    done = vindeby(tmp_path, "export", "layouts.h5", "--to", "csv", "--force", *chosen)
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert (told["path"], told["format"]) == ("layouts.csv", "csv")
    assert told["results"] == ["farm1_t0_s0", "farm1_t1_s0"]
    assert "missing" not in done.stderr
    done = vindeby(tmp_path, "export", "layouts.h5", "--to", "excel")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--to: 'excel' is not known; use one of netcdf, zarr" in done.stderr
