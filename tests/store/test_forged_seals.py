"""Seals whose digests are right and whose numbers lie: an error of ours, whatever was forged."""

from __future__ import annotations

import copy
import hashlib
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.tools import FULL
from tests.store.examples import contents, publish, records
from vindeby.errors import DataError, VindebyError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.formats import iterate
from vindeby.store.format.seal import (
    BLOCK_SIZE,
    MAGIC,
    SealedFile,
    SealError,
    block_digests,
    read_seal,
    seal_bytes,
)
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200 if FULL else 1200)]

VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2**31, 2**40, 10**30, 1.5, "x", "O", "S0", "S1", "S99999999999", "U1", "M8[s]"),
    *("<f8", "|i1", "shard", "database", "classic", "table", "\ud800"),
    *([], {}, [[]], [0], [1], [2**40], [1] * 40, [0] * 100, [0, 2**62], [0, 2**40, 2**40], {"a": {}}),
]


class SharedGuard(Guard):
    """One child for the whole test; starting one for each file would take minutes."""

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Guard]:
    guard = SharedGuard()
    for module in ("read.database", "merge.merge", "salvage", "validate"):
        monkeypatch.setattr(sys.modules[f"vindeby.store.{module}"], "Guard", lambda _=None: guard)
    yield guard
    guard.abort()


@pytest.fixture(params=["classic", "table"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    run = RunDirectory(tmp_path / "out.h5")
    publish(run, records(3))
    merge(run.output, MergeOptions(file_format=request.param))
    return run.output


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a JSON tree."""
    yield above
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*above, name))
    elif isinstance(value, list):
        for number in range(len(value)):
            yield from places(value[number], (*above, number))


def forged(directory: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every value of the directory replaced by others, and left out."""
    for way in places(directory):
        if not way:
            yield from ((f"all = {value!r}", value) for value in VALUES)
            continue
        for value in [*VALUES, ...]:
            changed = copy.deepcopy(directory)
            inner: Any = changed
            for step in way[:-1]:
                inner = inner[step]
            if value is ...:
                del inner[way[-1]]
            else:
                inner[way[-1]] = value
            yield f"{way} = {value!r}", changed


def parts(path: Path) -> tuple[bytes, dict[str, Any]]:
    file = SealedFile.open(path)
    assert file is not None
    with file:
        return path.read_bytes()[: file.seal.length], json.loads(json.dumps(file.seal.directory))


def read_all(data: bytes) -> None:
    def read(length: int, offset: int) -> bytes:
        return data[offset : offset + length]

    seal = read_seal(read, len(data), "forged")
    if seal is None:  # no seal: HDF5 reads it
        return
    for segment in iterate(SealedFile(Path("forged"), read, seal)):
        segment.intact()
        for _ in segment.records():
            pass


def test_a_forged_directory_is_an_error_of_ours_wherever_it_lies(subject: Path) -> None:
    hdf5, directory = parts(subject)
    digests = block_digests(hdf5)
    refused = tried = 0
    for what, changed in forged(directory):
        tried += 1
        try:
            read_all(hdf5 + seal_bytes(len(hdf5), digests, changed))
        except VindebyError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
            pytest.fail(f"{what}: {type(error).__name__}: {error}")
    assert tried > 1000
    assert refused > 0.8 * tried


def test_every_command_survives_a_forged_directory(subject: Path, tmp_path: Path, shared: Guard) -> None:
    hdf5, directory = parts(subject)
    digests = block_digests(hdf5)
    for number, (what, changed) in enumerate(forged(directory)):
        if number % (1 if FULL else 499):
            continue
        folder = tmp_path / f"at{number}"
        folder.mkdir()
        run = RunDirectory(folder / "out.h5").create()
        path = run.output
        path.write_bytes(hdf5 + seal_bytes(len(hdf5), digests, changed))
        for read in (
            lambda path=path: validate(path),
            lambda run=run: validate(run.output),
            lambda run=run: contents(run.output),
            lambda run=run: [list(one.records()) for one in list(Database(run.output).segments())],
            lambda path=path, folder=folder: salvage([path], folder / "saved.h5"),
            lambda run=run: merge(run.output, MergeOptions(on_bad="skip")),
        ):
            try:
                read()
            except VindebyError:
                pass
            except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
                pytest.fail(f"{what}: {type(error).__name__}: {error}")


FORGED: dict[str, dict[str, Any]] = {
    "another kind": {"kind": "x"},
    "more than there is": {"count": 10**9},
    "no bytes per row": {"count": 3 * 10**8, "chunk_rows": 3 * 10**8, "columns": [["key", "key", "S1", [0]]]},
    "a root that is a list": {"root": {"campaign": []}},
}


def test_a_directory_that_claims_too_much_is_a_finding_and_hdf5_is_read(
    subject: Path, tmp_path: Path, shared: Guard
) -> None:
    hdf5, directory = parts(subject)
    path = tmp_path / "forged.h5"
    for what, change in FORGED.items():
        changed = {**directory, **change}
        path.write_bytes(hdf5 + seal_bytes(len(hdf5), block_digests(hdf5), changed))
        reading = read_any(path, shared)
        found = [record.key for segment in reading.segments for record in segment.records()]
        assert sorted(found) == sorted(record.key for record in records(3)), what
        assert "directory of the seal makes no sense" in reading.findings[0].detail, what
        assert len(Database(path)) == 3, what


NUMBERS = [0, 1, 2, 511, 2**16, 2**31, 2**32 - 1]


@pytest.mark.parametrize("field", [0, 1, 2, 3])
def test_forged_lengths_in_the_trailer_are_an_error_of_ours(
    subject: Path, field: int, tmp_path: Path, shared: Guard
) -> None:
    data = subject.read_bytes()
    for value in [*NUMBERS, *([2**40, 2**63, 2**64 - 1] if field < 2 else [])]:
        lengths = list(struct.unpack("<QQII", data[-32:-8]))
        lengths[field] = value
        body = data[lengths[0] : -64] if lengths[0] < len(data) else b""
        packed = struct.pack("<QQII", *lengths)
        made = data[:-64] + hashlib.sha256(body + packed).digest() + packed + MAGIC
        path = tmp_path / "made.h5"
        path.write_bytes(made)
        try:
            read_all(made)
        except VindebyError:
            pass
        except AssertionError:
            continue
        validate(path) if field != 3 or value < 2 else None


def test_a_block_size_of_nothing_is_refused(subject: Path) -> None:
    hdf5, directory = parts(subject)
    text = json.dumps(directory).encode()
    lengths = struct.pack("<QQII", len(hdf5), len(text), 0, 1)
    made = hdf5 + text + hashlib.sha256(text + lengths).digest() + lengths + MAGIC
    with pytest.raises(SealError, match="its blocks have 0 bytes"):
        read_all(made)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b"\xff", b"{", b"1" * 10_000, b'{"kind":"database"}', b"null"]
)
def test_a_directory_that_is_no_object_is_refused(text: bytes) -> None:
    hdf5 = bytes(100)
    blocks = block_digests(hdf5)[0]
    lengths = struct.pack("<QQII", len(hdf5), len(text), BLOCK_SIZE, 1)
    made = hdf5 + blocks + text + hashlib.sha256(blocks + text + lengths).digest() + lengths + MAGIC
    with pytest.raises(SealError, match="directory of the seal makes no sense"):
        read_all(made)


@pytest.mark.parametrize("subject", ["classic"], indirect=True)
def test_rows_that_are_named_often_do_not_multiply(subject: Path) -> None:
    hdf5, directory = parts(subject)
    directory["chunks"] *= 2_000
    with pytest.raises(DataError, match="bytes, and the file has"):
        read_all(hdf5 + seal_bytes(len(hdf5), block_digests(hdf5), directory))
