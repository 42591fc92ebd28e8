"""Verdicts on bad files, the guarded child, the database, validate, missing."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.store.examples import flip, foreign_file, publish, record, records
from vindeby.errors import DataError, InputError, StorageError
from vindeby.store.disk.events import FailedTask
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import FAILED, Guard, GuardError, ReadLimits
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of, segments_of
from vindeby.store.format.seal import FORMAT_VERSION, block_digests, seal_bytes
from vindeby.store.format.shard import shard_bytes
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.states import Known, TaskState, missing_tasks
from vindeby.store.validate import repeated, validate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    with Guard(ReadLimits(silence_s=20.0)) as shared:
        yield shared


def marked_open(path: Path) -> None:
    foreign_file(path, range(2), libver="latest")
    data = bytearray(path.read_bytes())
    data[11] = 1
    path.write_bytes(data)


def incomplete(path: Path) -> None:
    foreign_file(path, range(4))
    with h5py.File(path, "r+") as file:
        del file["farm0_t1_s2"]["aep"]


def without_mark(path: Path) -> None:
    foreign_file(path, range(2))
    with h5py.File(path, "r+") as file:
        file["farm0_t1_s0"].attrs["status"] = "running"


def wrong_checksum(path: Path) -> None:
    foreign_file(path, range(2))
    with h5py.File(path, "r+") as file:
        file["farm0_t1_s0"].attrs["checksum"] = "0" * 64


def not_finite(path: Path) -> None:
    foreign_file(path, range(2), aep=float("nan"))


def of_text(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_group("a").create_dataset("words", data="text")


CASES = {
    "missing": (lambda path: None, Verdict.MISSING),
    "empty": (lambda path: path.write_bytes(b""), Verdict.EMPTY),
    "short": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n\0\0"), Verdict.TOO_SHORT),
    "text": (lambda path: path.write_text("x" * 900), Verdict.NO_SIGNATURE),
    "zeros": (lambda path: path.write_bytes(bytes(5000)), Verdict.NO_SIGNATURE),
    "open": (marked_open, Verdict.LEFT_OPEN),
    "init only": (lambda path: foreign_file(path, range(0)), Verdict.NO_RESULTS),
    "incomplete": (incomplete, Verdict.INCOMPLETE),
    "unmarked": (without_mark, Verdict.NOT_MARKED),
    "checksum": (wrong_checksum, Verdict.CHECKSUM),
    "implausible": (not_finite, Verdict.IMPLAUSIBLE),
    "foreign": (of_text, Verdict.FOREIGN),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_of_bad_file_gets_its_verdict(case: str, guard: Guard, tmp_path: Path) -> None:
    make, verdict = CASES[case]
    path = tmp_path / "a.h5"
    make(path)  # type: ignore[no-untyped-call]
    assert read_any(path, guard).findings[0].verdict is verdict


def test_a_cut_file_and_a_broken_one_get_their_verdicts(guard: Guard, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    foreign_file(path, range(3))
    data = path.read_bytes()
    path.write_bytes(data[:5000])
    assert str(read_any(path, guard).findings[0]) == f"truncated: 5000 bytes of {len(data)}"
    path.write_bytes(data[:96] + bytes(1000) + data[1096:])
    finding = read_any(path, guard).findings[0]
    assert finding.verdict is Verdict.CANNOT_OPEN
    assert len(finding.detail) > 10  # the library's reason


@pytest.mark.parametrize(("name", "verdict"), [("crash", Verdict.CRASHED), ("hang", Verdict.HUNG)])
def test_a_child_that_crashes_or_hangs_is_a_verdict(name: str, verdict: Verdict, misbehaving: Path) -> None:
    with Guard(ReadLimits(silence_s=3.0)) as own:
        with pytest.raises(GuardError) as caught:
            list(own.call("gridded", path=str(misbehaving / name), wanted=[]))
        assert caught.value.finding.verdict is verdict
        assert [kind for kind, _ in own.call("gridded", path=str(misbehaving / "fine"), wanted=[])] == [
            FAILED
        ]


def test_a_child_that_is_silent_when_its_time_is_up_is_not_waited_for_any_longer(misbehaving: Path) -> None:
    with Guard(ReadLimits(silence_s=3000.0)) as own:
        list(own.call("gridded", path=str(misbehaving / "fine"), wanted=[]))
        deadline = time.monotonic() + 0.5
        with pytest.raises(GuardError, match="it takes too long for its size"):
            list(own.call("gridded", path=str(misbehaving / "hang"), wanted=[], deadline=deadline))


def test_a_child_that_wants_all_memory_is_refused_it(misbehaving: Path) -> None:
    with Guard(ReadLimits(memory_bytes=1 << 30)) as own:
        ((kind, data),) = own.call("gridded", path=str(misbehaving / "memory"), wanted=[])
        assert kind == FAILED
        assert b"MemoryError" in data


def test_a_child_that_cannot_start_is_not_a_verdict_on_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign_file(tmp_path / "a.h5", range(2))
    monkeypatch.setattr("vindeby.store.foreign.guard.sys.executable", "/bin/false")
    with Guard() as own, pytest.raises(StorageError, match="cannot start a process"):
        read_any(tmp_path / "a.h5", own)


class CrashingGuard(Guard):
    """A child that dies on one record each time it gets there."""

    def __init__(self, deadly: str) -> None:
        super().__init__()
        self.deadly = deadly
        self.calls: list[list[str]] = []

    def call(self, task: str, **arguments: Any) -> Iterator[tuple[bytes, bytes]]:
        self.calls.append(list(arguments["skip"]))
        if self.deadly not in arguments["skip"]:
            raise GuardError(Finding(Verdict.CRASHED, "killed by SIGSEGV"), self.deadly)
        yield from super().call(task, **arguments)


def test_a_record_that_kills_the_library_costs_only_itself(tmp_path: Path) -> None:
    foreign_file(tmp_path / "a.h5", range(5))
    with CrashingGuard("farm0_t1_s2") as own:
        reading = read_any(tmp_path / "a.h5", own)
    assert own.calls == [[], ["farm0_t1_s2"]]
    keys = {key.decode() for segment in reading.segments for key in segment.rows["key"].tolist()}
    assert keys == {f"farm0_t1_s{seed}" for seed in (0, 1, 3, 4)}
    assert [str(finding) for finding in reading.findings] == [
        "farm0_t1_s2: the HDF5 library crashed on it: killed by SIGSEGV"
    ]


@pytest.mark.parametrize(("step", "use"), [(1, "a newer one"), (-1, "the vindeby that wrote it")])
def test_a_file_of_another_version_is_refused_with_the_remedy(tmp_path: Path, step: int, use: str) -> None:
    hdf5, version = bytes(1000), FORMAT_VERSION + step
    seal = seal_bytes(len(hdf5), block_digests(hdf5), {"kind": "database", "format_version": version})
    (tmp_path / "a.h5").write_bytes(hdf5 + seal)
    with pytest.raises(
        InputError, match=f"version {version}; this vindeby reads {FORMAT_VERSION}, use {use}"
    ):
        Database(tmp_path / "a.h5")


@pytest.fixture(params=["shards", "classic", "table", "both"])
def filled(request: pytest.FixtureRequest, run: RunDirectory) -> RunDirectory:
    publish(run, records(10))
    if request.param != "shards":
        merge(run.output, MergeOptions(file_format="classic" if request.param == "both" else request.param))
    if request.param == "both":
        publish(run, records(5, start=10))
    else:
        publish(run, records(5, start=10)) if request.param == "shards" else None
    return run


def test_a_database_is_a_mapping_of_records(filled: RunDirectory) -> None:
    with Database(filled.output) as database:
        count = len(database)
        assert count in {10, 15}
        assert dict(database) == {one.key: one for one in records(count)}
        assert database["farm0_t1_s3"].aep == 103.0
        assert "farm0_t1_s99" not in database
        with pytest.raises(KeyError):
            database["farm0_t1_s99"]
        assert sum(map(len, database.segments())) == count
        assert database.findings == {}


def test_a_database_sees_what_is_published_and_merged_meanwhile(run: RunDirectory) -> None:
    publish(run, records(3))
    with Database(run.output) as database:
        assert len(database) == 3
        publish(run, records(2, start=3))
        assert database.refresh() == 2
        merge(run.output)
        assert dict(database) == {one.key: one for one in records(5)}  # the shards are gone
        assert database.refresh() == 0
        publish(run, records(1, start=5))
        merge(run.output)
        assert sum(map(len, database.segments())) == 5  # what was there when it was opened
        assert database.refresh() == 1
        assert len(dict(database)) == 6


def test_each_key_of_a_shard_is_found_without_comparing_all_others(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, records(6))
    with Database(run) as database:
        assert database.checksum("farm0_t1_s0")
        monkeypatch.setattr(np, "flatnonzero", lambda _: pytest.fail("searched"))
        assert len({database.checksum(key) for key in database}) == 6


def test_of_a_key_that_is_twice_in_a_shard_the_first_record_counts(run: RunDirectory) -> None:
    batch = [record(1), record(1, shift=1.0)]
    path = publish(run, [record(2)]).path
    path.write_bytes(shard_bytes(segments_of(batch)))
    with Database(run.output) as database:
        assert checksum_of(database["farm0_t1_s1"]) == checksum_of(batch[0])
    merge(run.output)
    with Database(run.output) as database:
        assert checksum_of(database["farm0_t1_s1"]) == checksum_of(batch[0])


def test_what_is_no_database_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such database"):
        Database(tmp_path / "out.h5")
    with pytest.raises(InputError, match="this is a folder"):
        Database(tmp_path)
    (tmp_path / "a.h5").write_text("x" * 200)
    with pytest.raises(DataError, match="no HDF5 signature"):
        Database(tmp_path / "a.h5")


def test_a_file_of_an_older_script_is_a_database_too(tmp_path: Path) -> None:
    foreign_file(tmp_path / "a.h5", range(3))
    with Database(tmp_path / "a.h5") as database:
        assert sorted(database) == [f"farm0_t1_s{seed}" for seed in range(3)]
        assert not database.sealed


def test_a_database_that_another_program_changed_is_still_read_and_said(run: RunDirectory) -> None:
    publish(run, records(4))
    merge(run.output)
    with h5py.File(run.output, "r+") as file:
        file.attrs["note"] = "mine"
        file["farm0_t1_s1/aep"][()] = 1e6
    with Database(run.output) as database:
        assert set(database) == {f"farm0_t1_s{seed}" for seed in (0, 2, 3)}
    report = validate(run.output)
    assert not report.valid
    words = "\n".join(map(str, report.issues))
    assert "farm0_t1_s1: checksum mismatch" in words
    assert "in the root attributes" not in words
    notes = "\n".join(report.notes)
    assert "its seal is missing: it was cut off, or another program changed or copied" in notes


def test_validate_finds_nothing_wrong_with_what_is_right(filled: RunDirectory) -> None:
    expected = {one.key: one.fingerprint for one in records(10)}
    report = validate(filled.output, expected=expected)
    assert (report.issues, report.missing) == ([], [])
    assert report.valid


def test_validate_calls_the_checks_it_is_given(run: RunDirectory) -> None:
    publish(run, records(4))

    def odd(one: Record) -> Iterator[str]:
        if one.ss_seed % 2:
            yield "is odd"

    report = validate(run.output, checks=[odd])
    assert sorted(issue.key for issue in report.issues) == ["farm0_t1_s1", "farm0_t1_s3"]
    assert repeated(report.issues, 2) == [("is odd", 2)]


def failure(key: str, fingerprint: str) -> FailedTask:
    return FailedTask(key, fingerprint, "out of memory", "no room", "", "", 2, 0.0)


def test_validate_and_missing_tell_what_is_missing_and_why(run: RunDirectory) -> None:
    publish(run, [record(0), record(1)])
    bad = publish(run, [record(2), record(3)]).path
    flip(bad, 8 * bad.read_bytes().index(record(2).layout.tobytes()))
    expected = {record(seed).key: record(seed).fingerprint for seed in range(8)} | {record(0).key: "other"}
    with Database(run.output) as database:
        known = Known.of(
            database,
            failed={
                record(4).key: failure(record(4).key, record(4).fingerprint),
                record(5).key: failure(record(5).key, "of an older campaign"),
            },
            begun={record(6).key: "was running when its run ended"},
            running={record(7).key},
        )
        missing = missing_tasks(expected, known)
    assert [str(entry).partition("_s")[2] for entry in missing] == [
        "0\tstale\tthe campaign was edited since",
        f"2\tinvalid\t{bad.name}: checksum mismatch",
        "4\tfailed\tout of memory: no room",
        "5\topen\tnever started",
        "6\topen\twas running when its run ended",
        "7\trunning",
    ]
    report = validate(run.output, expected=expected)
    assert [(entry.key[-2:], entry.state) for entry in report.missing] == [
        ("s0", TaskState.STALE),
        ("s2", TaskState.INVALID),
        *((f"s{seed}", TaskState.OPEN) for seed in (4, 5, 6, 7)),
    ]


def test_a_result_under_the_key_of_another_task_is_not_missing(run: RunDirectory) -> None:
    """As after a farm was inserted before others; the next merge gives the result its key."""
    publish(run, [record(0), record(1)])
    expected = {record(1).key: record(0).fingerprint, record(2).key: record(1).fingerprint}
    with Database(run.output) as database:
        assert missing_tasks(expected, Known.of(database)) == []
    assert validate(run.output, expected=expected).missing == []


def test_a_result_without_a_fingerprint_counts_as_present(tmp_path: Path) -> None:
    foreign_file(tmp_path / "a.h5", range(2))
    with Database(tmp_path / "a.h5") as database:
        assert missing_tasks({"farm0_t1_s0": "x", "farm0_t1_s1": "y"}, Known.of(database)) == []


def test_a_database_that_is_no_longer_used_is_free_without_a_collection_of_garbage(run: RunDirectory) -> None:
    publish(run, records(3))
    merge(run.output)
    publish(run, records(3, start=10))
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with Database(run) as database:
            assert len([database[key] for key in database]) == 6
            assert sum(map(len, database.segments())) == 6
            left: list[Any] = [weakref.ref(database), weakref.ref(database._chunks)]
        del database
        assert [reference() for reference in left] == [None, None]
    finally:
        if was_enabled:
            gc.enable()
