"""What a merge does before it lets go of anything: on the disk first, verified first, told first."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import pytest

import vindeby.store.merge.merge as merging
from tests.store.examples import contents, flip, merge_keeping_shards, publish, record, records
from vindeby.errors import StorageError, VindebyError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.classic import _GroupWriter
from vindeby.store.format.file_format import Content
from vindeby.store.format.formats import FILE_FORMATS
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import block_digests, open_sealed, seal_bytes
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.merge.sources import MergeSelection, Source
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

FILE_FORMAT_NAMES = ["classic", "table"]


class Notebook:
    """What is done to which file, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[str, Path]] = []
        for name in ("pwrite", "fsync"):
            monkeypatch.setattr(os, name, self._of_descriptor(name, getattr(os, name)))
        for name in ("replace", "unlink"):
            monkeypatch.setattr(Path, name, self._of_path(name, getattr(Path, name)))

    def _of_descriptor(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noting(descriptor: int, *rest: Any) -> Any:
            self.steps.append((name, Path(f"/proc/self/fd/{descriptor}").readlink()))
            return call(descriptor, *rest)

        return noting

    def _of_path(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noting(path: Path, *rest: Any, **more: Any) -> Any:
            self.steps.append((name, path))
            return call(path, *rest, **more)

        return noting

    def places(self, name: str, path: Path) -> list[int]:
        return [place for place, step in enumerate(self.steps) if step == (name, path)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to know the name of an open file")
@pytest.mark.parametrize("file_format", FILE_FORMAT_NAMES)
def test_the_new_database_is_on_the_disk_before_it_takes_its_place_and_shards_go_after(
    file_format: str, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = [publish(run, records(3, start=start)).path for start in (0, 3)]
    with monkeypatch.context() as patches:
        notebook = Notebook(patches)
        merge(run.output, MergeOptions(file_format=file_format))
    (new,) = [
        path for name, path in notebook.steps if name == "replace" and path.name.startswith(".out.h5.merge")
    ]
    (renamed,) = notebook.places("replace", new)
    (forced,) = notebook.places("fsync", new)
    assert notebook.places("pwrite", new)[-1] < forced < renamed
    named = next(place for place in notebook.places("fsync", run.output.parent) if place > renamed)
    assert all(named < place for shard in shards for place in notebook.places("unlink", shard))
    assert all(len(notebook.places("unlink", shard)) == 1 for shard in shards)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to know the name of an open file")
def test_a_database_that_a_killed_merge_left_is_forced_to_the_disk_before_shards_go(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = publish(run, records(3)).path
    merge_keeping_shards(run)
    with monkeypatch.context() as patches:
        notebook = Notebook(patches)
        assert merge(run.output).outcome == "nothing to do"
    (gone,) = notebook.places("unlink", shard)
    assert notebook.places("fsync", run.output)[0] < gone
    assert notebook.places("fsync", run.output.parent)[0] < gone


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to know the name of an open file")
def test_the_copy_of_a_damaged_database_is_on_the_disk_before_another_takes_its_place(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, [record(seed) for seed in range(5)])
    merge(run.output)
    flip(run.output, run.output.read_bytes().index(record(3).layout.tobytes()) * 8)
    with monkeypatch.context() as patches:
        notebook = Notebook(patches)
        merge(run.output, MergeOptions(on_bad="skip"))
    (copy,) = run.quarantine.glob("*.h5")
    (new,) = [
        path for name, path in notebook.steps if path.name.startswith(".out.h5.merge") and name == "replace"
    ]
    assert notebook.places("fsync", copy)[0] < notebook.places("replace", new)[0]


def spoiling(change: Callable[[Segment], None]) -> Callable[..., Iterator[Segment]]:
    """Memory that changes between the reading of a shard and the writing of the database."""
    chosen = merging._chosen

    def spoiled(sources: Sequence[Source], selection: MergeSelection) -> Iterator[Segment]:
        for segment in chosen(sources, selection):
            changed = Segment(segment.schema, segment.rows.copy())
            change(changed)
            yield changed

    return spoiled


def shift_a_turbine(segment: Segment) -> None:
    segment.rows["array:layout"][0, 0, 0] += 1.0


def shift_a_turbine_and_its_checksum(segment: Segment) -> None:
    shift_a_turbine(segment)
    segment.rows["checksum"] = segment.computed_checksums()


def say_a_record_twice(segment: Segment) -> None:
    segment.rows[1:] = segment.rows[:1]


@pytest.mark.parametrize("change", [shift_a_turbine, shift_a_turbine_and_its_checksum, say_a_record_twice])
@pytest.mark.parametrize("file_format", FILE_FORMAT_NAMES)
def test_a_database_that_is_not_what_the_shards_hold_never_takes_its_place(
    file_format: str, change: Callable[[Segment], None], run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, [record(1)])
    merge(run.output)
    publish(run, [record(2), record(3)])
    before, shards = run.output.read_bytes(), run.shard_paths()
    with monkeypatch.context() as patches:
        patches.setattr(merging, "_chosen", spoiling(change))
        # What HDF5 sees is looked at last: it must not be needed to notice this.
        patches.setattr(FILE_FORMATS[file_format], "look", lambda path: None)
        with pytest.raises(
            StorageError, match=r"not what was written|does not hold the records|already exists"
        ):
            merge(run.output, MergeOptions(file_format=file_format))
    assert run.output.read_bytes() == before
    assert run.shard_paths() == shards
    assert [path.name for path in run.output.parent.iterdir() if path.name.startswith(".")] == []
    assert merge(run.output).records == 3


def test_bytes_that_belong_to_no_record_are_verified_too(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bit in a place of a symbol table that HDF5 does not look at, in a block without records."""
    publish(run, [record(seed) for seed in range(2000)])
    write = FILE_FORMATS["classic"].write

    def damaging(path: Path, content: Content) -> None:
        write(path, content)
        flip(path, (path.read_bytes().rindex(b"SNOD") + 8 + 24) * 8)

    with monkeypatch.context() as patches:
        patches.setattr(FILE_FORMATS["classic"], "write", damaging)
        with pytest.raises(VindebyError, match="checksum mismatch in bytes"):
            merge(run.output)
    assert not run.output.exists()
    assert merge(run.output).records == 2000


def test_a_database_that_hdf5_reads_otherwise_never_takes_its_place(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, records(3))
    write = _GroupWriter.write

    def misnaming(writer: _GroupWriter, segment: Segment) -> Any:
        rows = segment.rows.copy()
        rows["key"] = [b"x" + key[1:] for key in rows["key"].tolist()]
        return write(writer, Segment(segment.schema, rows))

    with monkeypatch.context() as patches:
        patches.setattr(_GroupWriter, "write", misnaming)
        with pytest.raises(StorageError, match="HDF5 reads other values"):
            merge(run.output)
    assert not run.output.exists()
    assert len(contents(run.output)) == 3


def test_a_table_that_hdf5_reads_otherwise_never_takes_its_place(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, [record(1), record(2)])

    read = h5py.Dataset.__getitem__

    def misreading(dataset: h5py.Dataset, rows: Any) -> Any:
        values = read(dataset, rows)
        return values + 1.0 if dataset.name == "/layout" else values

    with monkeypatch.context() as patches:
        patches.setattr(h5py.Dataset, "__getitem__", misreading)
        with pytest.raises(StorageError, match="HDF5 reads other values"):
            merge(run.output, MergeOptions(file_format="table"))
    assert not run.output.exists()
    assert len(contents(run.output)) == 2


def test_the_audit_is_written_before_the_new_database_takes_its_place(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, records(2))

    def die(merging: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vindeby.store.merge.merge._Merge._replace", die)
    with pytest.raises(KeyboardInterrupt):
        merge(run.output)
    (audit,) = [json.loads(path.read_text()) for path in run.audit.glob("*.json")]
    assert audit["outcome"] == "verified; about to take its place"
    assert audit["records"] == 2


def test_what_a_killed_merge_left_beside_the_database_is_removed(run: RunDirectory) -> None:
    publish(run, records(2))
    left = run.output.with_name(".out.h5.merge-0123abcd.tmp")
    other = run.output.with_name(".other.h5.merge-0123abcd.tmp")
    notes = [
        folder / ".merge-1.json.7-0123abcd-0.tmp" for folder in (run.audit, run.quarantine, run.replaced)
    ]
    run.replaced.mkdir()
    for path in (left, other, *notes):
        path.write_bytes(b"half")
    merge(run.output)
    assert not any(path.exists() for path in (left, *notes))
    assert other.exists()


@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize("file_format", FILE_FORMAT_NAMES)
def test_a_write_that_failed_once_is_told_with_its_reason(
    file_format: str, number: int, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, [record(seed) for seed in range(8000 if file_format == "classic" else 10)])
    write, calls = os.pwrite, itertools.count(1)

    def failing(descriptor: int, data: Any, offset: int) -> int:
        if next(calls) == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data, offset)

    with monkeypatch.context() as patches:
        patches.setattr("os.pwrite", failing)
        with pytest.raises(StorageError, match="No space left on device"):
            merge(run.output, MergeOptions(file_format=file_format))
    assert not run.output.exists()
    assert len(run.shard_paths()) == 1


def with_a_wrong_record(path: Path) -> str:
    """One record is changed and the file sealed again, as if it had been changed in memory before; its key."""
    wrong = records(3)[1]
    if path.suffix == ".shard":
        body = bytearray(path.read_bytes()[:-32])
        body[bytes(body).index(wrong.layout.tobytes())] ^= 4
        path.write_bytes(body + hashlib.sha256(body).digest())
        return wrong.key
    with open_sealed(path) as file:
        length, directory = file.seal.length, file.seal.directory
    hdf5 = bytearray(path.read_bytes()[:length])
    hdf5[bytes(hdf5).index(wrong.layout[0].tobytes())] ^= 4  # a table pads each row of it
    path.write_bytes(hdf5 + seal_bytes(length, block_digests(hdf5), directory))
    return wrong.key


@pytest.mark.parametrize("where", ["shard", "classic", "table"])
def test_a_record_that_misses_its_checksum_in_a_sealed_file_is_left_out_and_named(
    run: RunDirectory, where: str
) -> None:
    path = publish(run, records(3)).path
    if where != "shard":
        merge(run.output, MergeOptions(file_format=where))
        path = run.output
    key = with_a_wrong_record(path)
    publish(run, records(2, start=10))
    with pytest.raises(BadFilesError) as caught:
        merge(run.output)
    assert f"{key}: checksum mismatch" in str(caught.value)
    assert path.exists()
    report = merge(run.output, MergeOptions(on_bad="skip"))
    assert report.records == 4
    (bad,) = report.bad_files
    assert (bad.found, bad.taken) == (2, 2)
    assert contents(run.output).keys() == {one.key for one in records(3) + records(2, start=10)} - {key}
    assert validate(run.output).valid
    assert len([one for one in run.quarantine.iterdir() if one.suffix == path.suffix]) == 1


def test_the_right_copy_is_taken_where_another_misses_its_checksum(run: RunDirectory) -> None:
    with_a_wrong_record(publish(run, records(3)).path)
    publish(run, records(3))
    report = merge(run.output, MergeOptions(on_bad="skip"))
    assert not report.conflicts
    assert sorted((entry.taken, entry.duplicates) for entry in report.files) == [(1, 2), (2, 0)]
    assert validate(run.output).valid
    assert contents(run.output).keys() == {one.key for one in records(3)}
