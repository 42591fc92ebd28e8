"""Files that earlier versions wrote are read for ever, and never silently differently."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.old_files.make import ROOT, records
from vindeby.errors import InputError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.validate import validate

FOLDERS = sorted(Path(__file__).parent.glob("version_*"))


def test_there_are_old_files() -> None:
    assert [folder.name for folder in FOLDERS] == ["version_3", "version_4", "version_5"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_an_old_database_is_read_and_merged(folder: Path, file_format: str, tmp_path: Path) -> None:
    path = tmp_path / "old.h5"
    shutil.copy(folder / f"{file_format}.h5", path)
    expected = {one.key: one for one in records()}
    with Database(path) as database:
        assert database.sealed
        assert dict(database) == expected
        assert database.attributes.items() >= ROOT.items()
    assert validate(path).issues == []
    other = "table" if file_format == "classic" else "classic"
    assert merge(path, MergeOptions(file_format=other)).records == 4
    with Database(path) as database:
        assert dict(database) == expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_old_shard_is_merged(folder: Path, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5").create()
    (run.shards / "old").mkdir()
    shutil.copy(folder / "records.shard", run.shards / "old" / "000000.shard")
    assert merge(run.output).records == 4
    with Database(run.output) as database:
        assert dict(database) == {one.key: one for one in records()}


def test_an_hdf5_shard_is_refused_by_name(tmp_path: Path) -> None:
    """As no release wrote them; each of these reads a run directory on its way to something else."""
    run = RunDirectory(tmp_path / "out.h5").create()
    old = run.shards / "old" / "000000.h5"
    old.parent.mkdir()
    old.touch()
    for read in (lambda: merge(run.output), lambda: Database(run), lambda: validate(run), run.shard_paths):
        with pytest.raises(InputError, match=r"old/000000\.h5: is a shard of an older vindeby"):
            read()
