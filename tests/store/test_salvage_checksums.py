"""Salvage saves every record whose checksum holds, and none that states one and does not meet it."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.command import vindeby
from tests.store.examples import NAMING, contents, flip, publish, record, rescued
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Verdict
from vindeby.store.format.record import Record
from vindeby.store.format.seal import SealedFile
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

BATCH = [record(seed, 30) for seed in range(1, 7)]


def cut_seal(path: Path) -> None:
    """As any program does that changes the file through HDF5."""
    file = SealedFile.open(path)
    assert file is not None
    with file:
        length = file.seal.length
    with path.open("r+b") as target:
        target.truncate(length)


def unsealed(folder: Path, file_format: str, batch: list[Record]) -> Path:
    run = RunDirectory(folder / f"{file_format}.h5")
    publish(run, batch)
    merge(run.output, MergeOptions(file_format=file_format))
    cut_seal(run.output)
    return run.output


def flip_in(path: Path, values: bytes, offset: int = 0) -> None:
    flip(path, (path.read_bytes().index(values) + offset) * 8 + 2)


def all_but(batch: list[Record], *numbers: int) -> dict[str, Record]:
    return {one.key: one for number, one in enumerate(batch) if number not in numbers}


@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_a_record_that_does_not_meet_its_checksum_is_not_saved(file_format: str, tmp_path: Path) -> None:
    path = unsealed(tmp_path, file_format, BATCH)
    flip_in(path, BATCH[2].arrays["aep"].tobytes())
    report = salvage([path], tmp_path / "new.h5", naming=NAMING)
    assert contents(tmp_path / "new.h5") == all_but(BATCH, 2)
    assert not report.complete
    assert [str(one) for one in report.files[0].findings] == [f"{BATCH[2].key}: checksum mismatch"]
    assert f"{BATCH[2].key}: checksum mismatch" in str(report.files[0])
    assert validate(tmp_path / "new.h5").valid


@pytest.mark.parametrize("naming", [NAMING, "", "{no_such_attribute}"])
def test_nor_is_it_saved_group_by_group(naming: str, tmp_path: Path) -> None:
    path = unsealed(tmp_path, "classic", BATCH)
    flip_in(path, BATCH[2].arrays["aep"].tobytes())
    path.write_bytes(bytes(96) + path.read_bytes()[96:])  # no name leads to any group
    with Guard() as guard:
        saved, records = rescued(path, guard, naming)
    assert records == (all_but(BATCH, 2) if naming == NAMING else {})
    refused = [one for one in saved.findings if one.verdict is Verdict.CHECKSUM]
    assert len(refused) == (1 if naming == NAMING else len(BATCH))
    assert all(one.key.startswith("unnamed_classic_") for one in refused)
    wanted = BATCH[2].key if naming == NAMING else "its key is lost"
    assert wanted in str(refused[0])


def test_a_key_that_a_flipped_attribute_spells_is_not_believed(tmp_path: Path) -> None:
    path = unsealed(tmp_path, "classic", BATCH)
    data = bytearray(path.read_bytes())
    at = bytes(data).index(b"ss_seed\0") + 8
    at = bytes(data).index(np.int64(BATCH[0].ss_seed).tobytes(), at)
    data[at] ^= 0x40
    data[:96] = bytes(96)
    path.write_bytes(data)
    with Guard() as guard:
        _, records = rescued(path, guard)
    assert records == all_but(BATCH, 0)


def test_the_command_says_with_its_exit_status_that_something_was_not_saved(tmp_path: Path) -> None:
    path = unsealed(tmp_path, "classic", BATCH)
    flip_in(path, BATCH[2].arrays["aep"].tobytes())
    done = vindeby(tmp_path, "salvage", str(path), "-o", "new.h5")
    assert done.returncode == 1
    assert f"{BATCH[2].key}: checksum mismatch" in done.stdout
    assert contents(tmp_path / "new.h5") == all_but(BATCH, 2)


MANY = [record(seed, 4 + seed % 2) for seed in range(1100)]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unsealed(tmp_path_factory.mktemp("table"), "table", MANY)


@pytest.mark.parametrize("column", ["layout", "aep", "engine", "key", "checksum", "schema"])
def test_a_flipped_bit_in_an_unsealed_table_costs_one_record_at_most(
    column: str, table: Path, tmp_path: Path
) -> None:
    path = tmp_path / "table.h5"
    path.write_bytes(table.read_bytes())
    with h5py.File(path) as file:
        dataset = file[column]
        chunk = dataset.id.get_chunk_info_by_coord((0,) * dataset.ndim)
        row = int(np.prod(dataset.shape[1:], dtype=int)) * dataset.dtype.itemsize
        key = b"".join(file["key"][10]).decode()
    flip(path, (chunk.byte_offset + 10 * row) * 8 + 1)
    report = salvage([path], tmp_path / "new.h5", naming=NAMING)
    found = contents(tmp_path / "new.h5")
    lost = {one.key for one in MANY} - found.keys()
    assert lost == (
        set() if column == "schema" else {key}
    )  # a row is known by its checksum, whatever it names
    assert {one: found[one] for one in found} == {one.key: one for one in MANY if one.key not in lost}
    assert len(report.files[0].findings) == len(lost)


@pytest.mark.parametrize("how", ["cut", "superblock", "flip"])
def test_the_columns_of_a_table_are_never_saved_as_a_record(how: str, tmp_path: Path) -> None:
    path = unsealed(tmp_path, "table", BATCH)  # of one size: nothing in the columns is padded
    data = bytearray(path.read_bytes())
    if how == "cut":
        del data[-10:]
    elif how == "superblock":
        data[:96] = bytes(96)
    else:
        data[bytes(data).index(BATCH[2].layout.tobytes())] ^= 4
    path.write_bytes(data)
    with Guard() as guard:
        saved, records = rescued(path, guard)
    known = {one.key: one for one in BATCH}
    assert saved.findings
    assert {key: known.get(key) for key in records} == records
    assert how != "flip" or len(records) == len(BATCH) - 1
