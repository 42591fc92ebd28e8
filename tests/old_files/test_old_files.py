"""Files that an earlier vindeby wrote in this format version are read, and never silently differently."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import pytest

from tests.old_files.make import FOLDER, ROOT, records, various
from vindeby.errors import InputError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.validate import validate


@pytest.fixture(params=["classic", "table"])
def file_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copy(FOLDER / name, folder / "old.h5"))


@pytest.mark.parametrize(
    ("name", "batch"), [("", records()), ("various_", various())], ids=["usual", "various"]
)
def test_an_old_database_is_read_and_merged_into_both_forms(
    file_format: str, name: str, batch: list[Record], tmp_path: Path
) -> None:
    path = copied(f"{name}{file_format}.h5", tmp_path)
    expected = {one.key: one for one in batch}
    for form in ("table", "classic"):
        with Database(path) as database:
            assert database.sealed
            assert dict(database) == expected
            assert database.attributes.items() >= ROOT.items()
        assert validate(path).valid
        assert merge(path, MergeOptions(file_format=form)).records == len(batch)
    with h5py.File(path) as file:
        for one in batch:
            group = file[one.key]
            assert len(group.attrs) == len(one.attributes) + 3
            assert group.attrs["checksum"] == checksum_of(one)


def test_a_copy_by_h5repack_has_lost_nothing(file_format: str, tmp_path: Path) -> None:
    path = copied(f"repacked_{file_format}.h5", tmp_path)
    for _ in range(2):
        with Database(path) as database:
            assert dict(database) == {one.key: one for one in records()}
            assert database.attributes.items() >= ROOT.items()
        assert validate(path).valid
        merge(path)
    assert validate(path).sealed


def test_an_old_shard_is_merged(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5").create()
    (run.shards / "old").mkdir()
    shutil.copy(FOLDER / "records.shard", run.shards / "old" / "000000.shard")
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
