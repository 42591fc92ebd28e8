"""Every bit of a small shard and of a small database flipped, and both cut at every byte."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.tools import FULL, tell
from tests.store.examples import publish, record
from vindeby.errors import DataError, VindebyError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.classic import stored_type
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Schema
from vindeby.store.format.seal import SealedFile, SealError, read_seal
from vindeby.store.format.shard import ShardFile
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database

pytestmark = pytest.mark.timeout(7200 if FULL else 1200)

BATCH = [record(1, 2), record(2, 3)]
TRUE = {one.key: one for one in BATCH}


@pytest.fixture(params=["shard", "classic", "table"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A file to damage, and the database that it is, or is part of."""
    run = RunDirectory(tmp_path / "out.h5")
    shard = publish(run, BATCH).path
    if request.param == "shard":
        return shard, run.output
    merge(run.output, MergeOptions(file_format=request.param, root={"campaign": "name: x", "grid_size": 18}))
    return run.output, run.output


@pytest.fixture
def guard() -> Iterator[Guard]:
    with Guard() as shared:
        yield shared


def read_carefully(output: Path, root: dict[str, Attribute], guard: Guard) -> int:
    """Read everything through vindeby: right values, or an error of ours. How many were right."""
    right = 0
    try:
        with Database(output, guard) as database:
            assert not database.attributes or dict(database.attributes) == root or database.findings
            for key in [*TRUE, *database]:
                try:
                    found: Record = database[key]
                except (DataError, KeyError):
                    continue
                assert found == TRUE[key]
                right += 1
            for segment in database.segments():
                assert all(one == TRUE[one.key] for one in segment.records())
    except VindebyError:
        return right
    return right


def test_hashing_finds_every_flipped_bit_of_a_shard(tmp_path: Path) -> None:
    path = publish(RunDirectory(tmp_path / "out.h5"), BATCH).path
    data = bytearray(path.read_bytes())
    for bit in range(len(data) * 8):
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SealError):
            ShardFile(path, bytes(data)).verify()
        data[bit // 8] ^= 1 << bit % 8
    for length in range(len(data)):
        with pytest.raises(SealError):
            ShardFile(path, bytes(data[:length])).verify()
    ShardFile(path, bytes(data)).verify()


@pytest.mark.parametrize("subject", ["classic", "table"], indirect=True)
def test_hashing_finds_every_flipped_bit_of_a_database(subject: tuple[Path, Path]) -> None:
    """Without HDF5, in this process: the seal does not hold, or is not recognised as one."""
    data = bytearray(subject[0].read_bytes())
    read_from = []

    def read(length: int, offset: int) -> bytes:
        read_from.append(offset)
        return bytes(data[offset : offset + length])

    seal = read_seal(read, len(data), "whole")
    assert seal is not None
    assert min(read_from) == seal.length  # so a bit of the content cannot change what is read as the seal
    step = 1 if FULL else 7
    for bit in range(0, len(data) * 8, step):
        data[bit // 8] ^= 1 << bit % 8
        try:
            found = seal if bit < seal.length * 8 else read_seal(read, len(data), "flipped")
            if found is not None:
                SealedFile(Path("flipped"), read, found).verify()
                pytest.fail(f"bit {bit} of {len(data) * 8} went unnoticed")
        except SealError:
            pass
        data[bit // 8] ^= 1 << bit % 8
    SealedFile(Path("whole"), read, seal).verify()


def set_byte(path: Path, at: int, value: int) -> None:
    """Write one byte in place, which is much faster than the whole file again."""
    with path.open("r+b", buffering=0) as file:
        file.seek(at)
        file.write(bytes([value]))


def bits(size: int, seal: int) -> list[int]:
    """All bits in a full sweep; else some everywhere, and more where the seal's trailer is."""
    if FULL:
        return list(range(size * 8))
    generator = random.Random(5)
    return [
        *(generator.randrange(size * 8) for _ in range(60)),
        *(size * 8 - 1 - 37 * n for n in range(seal)),
    ]


def test_a_flipped_bit_never_gives_a_wrong_value(subject: tuple[Path, Path], guard: Guard) -> None:
    path, output = subject
    original = path.read_bytes()
    with Database(output) as database:
        root = dict(database.attributes)
    total = 0
    tried = bits(len(original), 12)
    for bit in tried:
        set_byte(path, bit // 8, original[bit // 8] ^ 1 << bit % 8)
        total += read_carefully(output, root, guard)
        set_byte(path, bit // 8, original[bit // 8])
    assert total > 0  # much is still read, and right
    tell(
        f"{path.name}: {len(tried)} bits of {len(original)} bytes flipped, {total} of {4 * len(tried)} reads right"
    )
    assert read_carefully(output, root, guard) == 4


def test_a_cut_file_never_gives_a_wrong_value(subject: tuple[Path, Path], guard: Guard) -> None:
    path, output = subject
    original = path.read_bytes()
    with Database(output) as database:
        root = dict(database.attributes)
    generator = random.Random(6)
    some = range(len(original)) if FULL else generator.sample(range(len(original)), 40)
    lengths = sorted({0, 1, 8, 95, 96, *some, len(original) - 1}, reverse=True)
    for length in lengths:
        os.truncate(path, length)
        read_carefully(output, root, guard)
    tell(f"{path.name}: cut to {len(lengths)} lengths of {len(original)}")
    path.write_bytes(original)
    assert read_carefully(output, root, guard) == 4


def test_a_damaged_block_costs_only_the_records_in_it(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5")
    path = publish(run, BATCH).path
    data = bytearray(path.read_bytes())
    data[bytes(data).index(BATCH[0].layout.tobytes())] ^= 4
    path.write_bytes(data)
    with Database(run.output) as database:
        assert dict(database) == {BATCH[1].key: BATCH[1]}
        assert [finding.key for finding in database.findings[path]] == ["", BATCH[0].key]
    with pytest.raises(SealError, match="its bytes are not those that were written"):
        ShardFile.open(path).segments()


@pytest.mark.parametrize("turbines", [2, 6000], ids=["small", "large"])
@pytest.mark.parametrize("file_format", ["classic", "table"])
@pytest.mark.core
def test_a_damaged_number_inside_a_database_costs_only_its_record(
    file_format: str, turbines: int, tmp_path: Path
) -> None:
    """The address of an array, or the number of a schema, is wrong; in a large file, the keys are in another block."""
    run = RunDirectory(tmp_path / "out.h5")
    batch = [record(1, turbines), record(2, turbines)]
    publish(run, batch)
    merge(run.output, MergeOptions(file_format=file_format))
    file = SealedFile.open(run.output)
    assert file is not None
    with file:
        directory = file.seal.directory
    if file_format == "table":
        at = directory["places"][-1][0] + 4
    else:
        (chunk,) = directory["chunks"]
        stored = stored_type(Schema.from_json(directory["schemas"][0]), chunk["widths"])
        names = stored.names or ()
        before = sum(stored[name].itemsize for name in names[: names.index("array:layout")])
        at = chunk["offset"] + 2 * before + 8 + 6
    set_byte(run.output, at, 0x7F)
    with Database(run.output) as database:
        found = [one for segment in database.segments() for one in segment.records()]
        assert found == (
            batch if file_format == "table" else batch[:1]
        )  # one schema: nothing else can be meant
        assert database[batch[0].key] == batch[0]
        assert run.output in database.findings
        if file_format == "classic":
            with pytest.raises((DataError, KeyError), match=r"checksum mismatch|farm0_t1_s2"):
                database[batch[1].key]
