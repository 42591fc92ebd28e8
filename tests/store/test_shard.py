"""Shards as files: what each byte means, and what is left of one that was damaged or forged."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.crash.tools import FULL
from tests.store.examples import contents, flip, publish, records
from tests.store.test_forged_seals import forged
from vindeby.errors import InputError, VindebyError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Verdict
from vindeby.store.format.seal import OtherFormatError, SealError
from vindeby.store.format.shard import ShardFile
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate

BATCH = records(6)
TRUE = {one.key: one for one in BATCH}


class NoGuard(Guard):
    """A shard is read in this process."""

    def _start(self) -> None:
        raise AssertionError("no child process may read a shard")


@pytest.fixture(autouse=True)
def no_child(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patches:
        for module in ("read.database", "merge.merge", "salvage", "validate"):
            patches.setattr(sys.modules[f"vindeby.store.{module}"], "Guard", NoGuard)
        yield


@pytest.fixture
def shard(run: RunDirectory) -> Path:
    return publish(run, BATCH).path


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the rows."""
    magic, header, rows = data[:-32].split(b"\n", 2)
    assert magic == b"vindeby shard"
    return json.loads(header), rows


def joined(header: Any, rows: bytes) -> bytes:
    body = b"vindeby shard\n" + json.dumps(header).encode() + b"\n" + rows
    return body + hashlib.sha256(body).digest()


def test_numpy_and_hashlib_are_enough_to_read_a_shard(shard: Path) -> None:
    data = shard.read_bytes()
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    header, rows = split(data)
    assert (header["format_version"], len(header["tables"])) == (1, 3)
    kinds = {"int": "<i8", "float": "<f8", "bool": "|b1"}
    at = 0
    found: dict[bytes, Any] = {}
    for table in header["tables"]:
        width, schema = table["widths"], table["schema"]
        fields: list[Any] = [(name, f"S{width[name]}") for name in ("key", "fingerprint", "status")]
        for name, kind in schema["attributes"]:
            text = f"S{width[f'attribute:{name}']}" if kind == "str" else kinds[kind]
            fields.append((f"attribute:{name}", text))
        fields += [(f"array:{name}", dtype, tuple(shape)) for name, dtype, shape in schema["arrays"]]
        dtype = np.dtype([*fields, ("checksum", "S64")])
        values = np.frombuffer(rows, dtype, table["count"], at)
        at += values.nbytes
        found.update(zip(values["key"].tolist(), values["array:layout"], strict=True))
    assert at == len(rows)
    assert {key.decode() for key in found} == set(TRUE)
    assert all(np.array_equal(layout, TRUE[key.decode()].layout) for key, layout in found.items())


def test_every_flip_and_cut_is_noticed_and_what_is_left_is_right(run: RunDirectory, shard: Path) -> None:
    data = shard.read_bytes()
    generator = random.Random(42)
    size, left = len(data), []
    damaged = [
        *((bit, None) for bit in generator.sample(range(size * 8), 2000 if FULL else 300)),
        *((None, length) for length in [0, 1, 14, size - 1, *generator.sample(range(size), 60)]),
    ]
    for bit, length in damaged:
        shard.write_bytes(data[:length])
        if bit is not None:
            flip(shard, bit)
        with Database(run) as database:
            assert database.findings[shard]
            found = {one.key: one for segment in database.segments() for one in segment.records()}
        assert found.items() <= TRUE.items()
        report = validate(run)
        assert report.issues
        assert report.records <= len(TRUE)
        left.append(len(found))
        lost = set(TRUE) - set(found)
        if bit is not None and bit // 8 >= data.index(b"}\n") + 2:
            assert len(lost) <= 1  # no more than the row with the bit
    with pytest.raises(BadFilesError, match="the only file is bad"):
        merge(run)
    shard.write_bytes(data)
    assert contents(run.output) == TRUE
    assert np.mean(left) > 2  # a bit of the header may cost them all


def test_a_cut_shard_says_by_number_what_is_lost(run: RunDirectory, shard: Path) -> None:
    size = shard.stat().st_size
    os.truncate(shard, size - 600)
    report = merge(run, MergeOptions(on_bad="skip"))
    assert report.records == 4
    assert f"truncated: {size - 600} bytes of {size}; records 5 to 6 of 6 cut off" in str(report.files[0])
    assert {path.suffix for path in run.quarantine.iterdir()} == {".json", ".shard"}
    assert validate(run).valid


def test_a_shard_without_a_header_gives_nothing_and_says_so(run: RunDirectory, shard: Path) -> None:
    shard.write_bytes(b"\0" * shard.stat().st_size)
    with Database(run) as database:
        assert not list(database)
        assert [finding.verdict for finding in database.findings[shard]] == [Verdict.CHECKSUM]
        assert "its header cannot be read, and so none of its records" in str(database.findings[shard][0])


def test_a_damaged_shard_counts_after_those_that_are_intact(run: RunDirectory) -> None:
    first = publish(run, records(2)).path
    data = bytearray(first.read_bytes())
    data[bytes(data).index(b"published_ns") + 16] ^= 1  # a digit: the header can still be read
    first.write_bytes(data)
    later = publish(run, records(2)).path
    report = merge(run, MergeOptions(on_bad="skip"))
    assert [(Path(entry.path), entry.taken, entry.duplicates) for entry in report.files] == [
        (later, 2, 0),
        (first, 0, 2),
    ]


def test_damaged_shards_are_salvaged_wherever_they_are(
    run: RunDirectory, shard: Path, tmp_path: Path
) -> None:
    other = tmp_path / "kept"
    other.mkdir()
    flip(shard, shard.read_bytes().index(BATCH[0].layout.tobytes()) * 8)
    shard.rename(other / ".000000.123.tmp")
    report = salvage([other], tmp_path / "saved.h5")
    assert report.records == 5
    assert {finding.key for saved in report.files for finding in saved.findings} == {"", BATCH[0].key}
    assert contents(tmp_path / "saved.h5") == {key: one for key, one in TRUE.items() if key != BATCH[0].key}


def test_a_newer_shard_is_refused_by_name(run: RunDirectory, shard: Path) -> None:
    header, rows = split(shard.read_bytes())
    shard.write_bytes(joined({"format_version": 2, "whatever": header}, rows))
    with pytest.raises(
        OtherFormatError,
        match=r"000000\.shard: written in format version 2; this vindeby reads 1, use a newer one",
    ):
        Database(run)


def test_a_forged_header_is_an_error_of_ours_wherever_it_lies(shard: Path) -> None:
    header, rows = split(shard.read_bytes())
    refused = tried = 0
    for what, changed in forged(header):
        tried += 1
        file = ShardFile(Path("forged"), joined(changed, rows))
        try:
            for segment in [*file.unverified().segments(), *file.segments()]:
                segment.intact()
                for _ in segment.records():
                    pass
        except VindebyError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
            pytest.fail(f"{what}: {type(error).__name__}: {error}")
    assert tried > 1000
    assert refused > 0.8 * tried


def test_every_command_survives_a_forged_header(run: RunDirectory, shard: Path, tmp_path: Path) -> None:
    header, rows = split(shard.read_bytes())
    for number, (what, changed) in enumerate(forged(header)):
        if number % (1 if FULL else 499):
            continue
        shard.parent.mkdir(parents=True, exist_ok=True)
        run.output.unlink(missing_ok=True)
        shard.write_bytes(joined(changed, rows))
        for read in (
            lambda: validate(shard),
            lambda: validate(run),
            lambda: contents(run.output),
            lambda: [list(one.records()) for one in list(Database(run).segments())],
            lambda number=number: salvage([shard], tmp_path / f"saved{number}.h5"),
            lambda: merge(run, MergeOptions(on_bad="skip")),
        ):
            try:
                read()
            except VindebyError:
                pass
            except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
                pytest.fail(f"{what}: {type(error).__name__}: {error}")


@pytest.mark.parametrize("change", [{"count": 10**18}, {"count": 0}, {"widths": {}}])
def test_a_header_that_does_not_fit_its_rows_is_a_finding(
    change: dict[str, Any], run: RunDirectory, shard: Path
) -> None:
    header, rows = split(shard.read_bytes())
    changed = copy.deepcopy(header)
    changed["tables"][-1].update(change)
    shard.write_bytes(joined(changed, rows))
    with pytest.raises(SealError):
        ShardFile.open(shard).verify()
    with NoGuard() as guard:
        reading = read_any(shard, guard)
    assert reading.findings
    assert {one.key for segment in reading.segments for one in segment.records()} <= set(TRUE)


def test_a_table_twice_in_the_header_does_not_multiply_its_rows(shard: Path) -> None:
    header, rows = split(shard.read_bytes())
    header["tables"] *= 2000
    with pytest.raises(SealError, match="its header states"):
        ShardFile(shard, joined(header, rows)).verify()


def test_a_shard_can_be_validated_by_itself(run: RunDirectory) -> None:
    shard = publish(run, records(4)).path
    report = validate(shard)
    assert (report.valid, report.records, report.files, report.sealed) == (True, 4, 1, True)
    data = bytearray(shard.read_bytes())
    data[bytes(data).index(records(4)[1].layout.tobytes())] ^= 4
    shard.write_bytes(data)
    report = validate(shard)
    assert records(4)[1].key in {issue.key for issue in report.issues}
    assert report.records == 3
    with pytest.raises(InputError):
        validate(shard.with_name("none.shard"))
