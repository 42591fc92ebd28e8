"""What is said of a database without its seal: it was cut, or another program changed it; and what was compared."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from tests.store.examples import publish, records, sums
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.superblock import read_superblock
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow


def merged(run: RunDirectory, form: str = "classic") -> tuple[Path, bytes, int]:
    """A database, its bytes, and where its HDF5 part ends."""
    publish(run, records(20))
    merge(run.output, MergeOptions(file_format=form))
    data = run.output.read_bytes()
    block = read_superblock(data)
    assert block is not None
    return run.output, data, block.end


@pytest.mark.parametrize("form", ["classic", "table"])
def test_a_database_that_is_cut_behind_its_hdf5_part_is_bad_and_loses_nothing(
    run: RunDirectory, form: str
) -> None:
    path, data, end = merged(run, form)
    for length in (end + 1, (end + len(data)) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        report = validate(path)
        assert report.records == 20
        assert [str(issue) for issue in report.issues] == [
            f"{path}: truncated: {length - end} bytes follow its HDF5 part, but no seal"
        ]
    with pytest.raises(BadFilesError):
        merge(path)
    merge(path, MergeOptions(on_bad="skip"))
    with Database(path) as database:
        assert {key: database.checksum(key) for key in database} == sums(records(20))


def test_a_cut_where_the_seal_begins_reads_like_a_change_of_nothing(run: RunDirectory) -> None:
    path, data, end = merged(run)
    h5py.File(path, "r+").close()
    assert path.read_bytes() == data[:end]
    report = validate(path)
    assert report.valid
    assert "its seal is missing: it was cut off, or another program" in report.notes[0]


def test_what_was_not_compared_is_not_said_to_be(run: RunDirectory) -> None:
    path, data, end = merged(run)
    place = data.index(b"checksum\0", data.index(b"farm0_t1_s1"))
    path.write_bytes(data[: place + 2] + b"d" + data[place + 3 : end])
    report = validate(path)
    assert (report.records, report.issues) == (20, [])
    assert "every record that states a checksum was compared with it" in report.notes[0]
    assert "20 results, 1 of unverified origin (foreign)" in report.notes
