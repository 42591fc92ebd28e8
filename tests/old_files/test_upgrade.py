"""Databases of earlier versions, and copies of them by h5repack, become such as this version writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import pytest

from tests.old_files.make import ROOT, records, various
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of
from vindeby.store.format.seal import FORMAT_VERSION
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.validate import validate

VERSIONS = sorted(Path(__file__).parent.glob("version_*"))


@pytest.fixture(params=VERSIONS, ids=lambda folder: folder.name)
def version(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(params=["classic", "table"])
def file_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def copied(source: Path, folder: Path) -> Path:
    path = folder / "old.h5"
    shutil.copy(source, path)
    return path


@pytest.mark.parametrize(
    ("name", "batch"), [("", records()), ("various_", various())], ids=["usual", "various"]
)
def test_a_merge_alone_makes_the_newest_form_of_an_old_database(
    version: Path, file_format: str, name: str, batch: list[Record], tmp_path: Path
) -> None:
    path = copied(version / f"{name}{file_format}.h5", tmp_path)
    expected = {one.key: one for one in batch}
    with Database(path) as database:
        assert database.sealed
        assert dict(database) == expected
    merge(path)
    with Database(path) as database:
        assert database.sealed
        assert dict(database) == expected
        assert database.attributes.items() >= {**ROOT, "format_version": FORMAT_VERSION}.items()
    assert validate(path).valid
    merge(path, MergeOptions(file_format="classic"))
    with h5py.File(path) as file:
        for one in batch:
            group = file[one.key]
            assert len(group.attrs) == len(one.attributes) + 3
            assert group.attrs["checksum"] == checksum_of(one)


def test_a_copy_by_h5repack_has_lost_nothing(version: Path, file_format: str, tmp_path: Path) -> None:
    path = copied(version / f"repacked_{file_format}.h5", tmp_path)
    for _ in range(2):
        with Database(path) as database:
            assert dict(database) == {one.key: one for one in records()}
            assert database.attributes.items() >= ROOT.items()
        assert validate(path).valid
        merge(path)
    assert validate(path).sealed
