"""Every bit of a small shard and of a small database flipped, and both cut at every byte."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.tools import FULL
from tests.store.examples import publish, record
from vindeby.errors import DataError, VindebyError
from vindeby.store.database import Database
from vindeby.store.guard import Guard
from vindeby.store.merge import MergeOptions, merge
from vindeby.store.record import Attribute, Record
from vindeby.store.rundir import RunDirectory
from vindeby.store.seal import SealedFile, SealError
from vindeby.store.shard import read_segments

pytestmark = pytest.mark.timeout(7200 if FULL else 300)

BATCH = [record(1, 2), record(2, 3)]
TRUE = {one.key: one for one in BATCH}


@pytest.fixture(params=["shard", "classic", "table"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A file to damage, and the database that it is, or is part of."""
    run = RunDirectory(tmp_path / "out.h5")
    shard = publish(run, BATCH).path
    if request.param == "shard":
        return shard, run.output
    merge(run.output, MergeOptions(layout=request.param, root={"campaign": "name: x", "grid_size": 18}))
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


def test_hashing_finds_every_flipped_bit(subject: tuple[Path, Path]) -> None:
    """Without HDF5, in this process: the seal does not hold, or is not recognised as one."""
    data = bytearray(subject[0].read_bytes())
    step = 1 if FULL else 7
    for bit in range(0, len(data) * 8, step):
        data[bit // 8] ^= 1 << bit % 8
        try:
            file = SealedFile.of_bytes(bytes(data), "flipped")
            if file is not None:
                file.load()
                pytest.fail(f"bit {bit} of {len(data) * 8} went unnoticed")
        except SealError:
            pass
        data[bit // 8] ^= 1 << bit % 8
    whole = SealedFile.of_bytes(bytes(data), "whole")
    assert whole is not None
    whole.load()


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
        data = bytearray(original)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        total += read_carefully(output, root, guard)
    assert total > 0  # much is still read, and right
    path.write_bytes(original)
    assert read_carefully(output, root, guard) == 4


def test_a_cut_file_never_gives_a_wrong_value(subject: tuple[Path, Path], guard: Guard) -> None:
    path, output = subject
    original = path.read_bytes()
    with Database(output) as database:
        root = dict(database.attributes)
    generator = random.Random(6)
    lengths = range(len(original)) if FULL else sorted(generator.sample(range(len(original)), 40))
    for length in [0, 1, 8, 95, 96, *lengths, len(original) - 1]:
        path.write_bytes(original[:length])
        read_carefully(output, root, guard)
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
    file = SealedFile.open(path)
    assert file is not None
    with file, pytest.raises(SealError):
        read_segments(file)
