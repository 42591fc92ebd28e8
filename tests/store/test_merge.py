from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from tests.store.examples import contents, flip, foreign_file, merge_keeping_shards, publish, record, records
from vindeby.errors import ArgumentError, BusyError, DataError, InputError
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute
from vindeby.store.format.seal import FORMAT_VERSION, open_sealed
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge

SKIP = MergeOptions(on_bad="skip")


def audits(run: RunDirectory) -> list[dict[str, object]]:
    return [json.loads(path.read_text()) for path in sorted(run.audit.glob("*.json"))]


@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_shards_become_one_database_and_are_deleted(run: RunDirectory, file_format: str) -> None:
    publish(run, records(6))
    publish(run, records(6, start=6))
    root: dict[str, Attribute] = {
        "campaign": "name: x",
        "grid_size": 18,
        "random_pct": 30.0,
        "total_configs": 20,
    }
    report = merge(run.output, MergeOptions(file_format=file_format, root=root))
    assert (report.records, report.outcome) == (12, "done")
    assert contents(run.output) == {one.key: one for one in records(12)}
    assert run.shard_paths() == []
    assert list(run.shards.iterdir()) == []
    with h5py.File(run.output) as file:
        assert file.attrs["successful_configs"] == 12
        assert file.attrs["total_configs"] == 20
        assert file.attrs["campaign"] == "name: x"
        assert file.attrs["format_version"] == FORMAT_VERSION


def test_shards_that_a_killed_merge_left_are_merged_once(run: RunDirectory) -> None:
    publish(run, records(3))
    merge_keeping_shards(run)
    assert len(run.shard_paths()) == 1
    assert merge(run.output).outcome == "nothing to do"
    assert not run.shard_paths()
    assert len(contents(run.output)) == 3


def test_more_shards_join_a_standing_database(run: RunDirectory) -> None:
    publish(run, records(3))
    merge(run.output, MergeOptions(file_format="table", root={"grid_size": 18}))
    publish(run, records(3, start=3))
    report = merge(run.output)
    assert report.file_format == "table"  # it stays what it was
    assert contents(run.output) == {one.key: one for one in records(6)}
    with h5py.File(run.output) as file:
        assert file.attrs["grid_size"] == 18


def test_one_layout_into_the_other_and_back_loses_nothing(run: RunDirectory) -> None:
    publish(run, records(50))
    merge(run.output)
    first = run.output.read_bytes()
    before = contents(run.output)
    for file_format in ("table", "classic"):
        assert merge(run.output, MergeOptions(file_format=file_format)).outcome == "done"
        assert contents(run.output) == before
    merge(run.output, MergeOptions(file_format="classic"))
    assert len(run.output.read_bytes()) == len(first)


def test_a_bad_file_stops_the_merge_before_anything_changes(run: RunDirectory) -> None:
    publish(run, records(3))
    merge(run.output)
    publish(run, records(3, start=3))
    flipped = publish(run, records(3, start=6)).path
    flip(flipped, 6000)
    empty = publish(run, records(1, start=9)).path
    empty.write_bytes(b"")
    cut = publish(run, records(1, start=10)).path
    cut.write_bytes(cut.read_bytes()[:-100])
    before = run.output.read_bytes()
    shards = run.shard_paths()
    with pytest.raises(BadFilesError) as caught:
        merge(run.output)
    message = str(caught.value)
    assert "nothing was changed; 3 of 5 files are bad" in message
    for path, words in (
        (flipped, "checksum mismatch"),
        (empty, "empty (0 bytes)"),
        (cut, "record 1 of 1 cut off"),
    ):
        assert str(path) in message
        assert words in message
    assert "--on-bad skip" in message
    assert run.output.read_bytes() == before
    assert run.shard_paths() == shards
    assert [audit["outcome"] for audit in audits(run)] == ["done", "nothing changed: bad files"]


def test_bad_files_can_be_left_out_and_are_kept_in_quarantine(run: RunDirectory) -> None:
    publish(run, records(3))
    empty = publish(run, records(1, start=9)).path
    empty.write_bytes(b"")
    report = merge(run.output, SKIP)
    assert report.records == 3
    assert [entry.path for entry in report.bad_files] == [str(empty)]
    kept = [path for path in run.quarantine.iterdir() if path.suffix == ".shard"]
    assert [path.stat().st_size for path in kept] == [0]
    note = json.loads(kept[0].with_name(kept[0].name + ".why.json").read_text())
    assert note["why"] == "empty (0 bytes)"
    assert note["file"] == str(empty)
    assert merge(run.output).outcome == "nothing to do"


def test_what_is_right_in_a_damaged_shard_is_taken(run: RunDirectory) -> None:
    path = publish(run, [record(1), record(2)]).path
    data = bytearray(path.read_bytes())
    data[bytes(data).index(record(1).layout.tobytes())] ^= 1
    path.write_bytes(data)
    report = merge(run.output, SKIP)
    assert contents(run.output) == {record(2).key: record(2)}
    assert any("farm0_t1_s1: checksum mismatch" in str(entry) for entry in report.files)


def test_a_damaged_database_is_never_merged_over_silently(run: RunDirectory) -> None:
    publish(run, [record(seed) for seed in range(20)])
    merge(run.output)
    at = run.output.read_bytes().index(record(7).layout.tobytes())
    flip(run.output, at * 8)
    publish(run, [record(50)])
    with pytest.raises(BadFilesError, match="farm0_t1_s7: checksum mismatch"):
        merge(run.output)
    report = merge(run.output, SKIP)
    assert report.records == 20
    assert set(contents(run.output)) == {record(seed).key for seed in [*range(20), 50] if seed != 7}
    copies = [path for path in run.quarantine.iterdir() if path.suffix == ".h5"]
    assert len(copies) == 1  # the damaged database, for someone to look at


def test_results_of_many_shards_are_gathered_by_schema(run: RunDirectory) -> None:
    batch = [record(seed, 4 + seed % 2) for seed in range(1100)]
    for start, stop in ((0, 1), (1, 2), (2, 700), (700, 1100)):
        publish(run, batch[start:stop])
    merge(run.output)
    with open_sealed(run.output) as file:
        assert sorted(chunk["count"] for chunk in file.seal.directory["chunks"]) == [38, 38, 512, 512]
    assert contents(run.output) == {one.key: one for one in batch}


def test_equal_records_count_once(run: RunDirectory) -> None:
    for _ in range(3):
        publish(run, records(4))
    report = merge(run.output)
    assert (report.records, report.conflicts) == (4, [])
    assert sum(entry.duplicates for entry in report.files) == 8
    assert run.shard_paths() == []


def test_the_same_result_computed_twice_is_no_conflict(run: RunDirectory) -> None:
    publish(run, [record(1, seconds=1.0)])
    publish(run, [record(1, seconds=2.0)])
    report = merge(run.output)
    assert (report.records, report.conflicts) == (1, [])
    assert contents(run.output)[record(1).key].seconds == 1.0


@pytest.mark.parametrize("merged_between", [False, True])
def test_a_key_with_two_contents_is_a_conflict_and_the_first_is_kept(
    run: RunDirectory, merged_between: bool
) -> None:
    first = publish(run, [record(1), record(2)])
    if merged_between:
        merge(run.output)
    second = publish(run, [record(1, shift=5.0), record(3)])
    report = merge(run.output)
    assert [conflict.key for conflict in report.conflicts] == [record(1).key]
    assert report.conflicts[0].refused == str(second.path)
    assert [conflict.key for conflict in report.conflicts] == ["farm0_t1_s1"]
    assert contents(run.output)[record(1).key] == record(1)
    assert record(3).key in contents(run.output)
    assert second.path.exists()  # it holds a record that is nowhere else
    assert not first.path.exists()


def test_foreign_worker_files_can_be_merged(run: RunDirectory, tmp_path: Path) -> None:
    foreign_file(tmp_path / "worker_1.h5", range(5))
    foreign_file(tmp_path / "worker_2.h5", range(5, 8), libver="latest")
    before = (tmp_path / "worker_1.h5").read_bytes()
    report = merge(run.output, MergeOptions(extra=[tmp_path / "worker_1.h5", tmp_path / "worker_2.h5"]))
    assert report.records == 8
    assert contents(run.output)["farm0_t1_s3"].n_turbines == 66
    assert (tmp_path / "worker_1.h5").read_bytes() == before


def test_a_foreign_file_in_the_place_of_the_database_is_taken_over(run: RunDirectory) -> None:
    foreign_file(run.output, range(4))
    publish(run, [record(50)])
    assert merge(run.output).records == 5


def test_files_that_are_not_results_are_refused(run: RunDirectory, tmp_path: Path) -> None:
    publish(run, records(2))
    foreign_file(tmp_path / "init.h5", range(0))
    (tmp_path / "text.h5").write_text("hello " * 100)
    missing = tmp_path / "nowhere.h5"
    with pytest.raises(BadFilesError) as caught:
        merge(run.output, MergeOptions(extra=[tmp_path / "init.h5", tmp_path / "text.h5", missing]))
    for words in ("holds no results", "no HDF5 signature", "missing"):
        assert words in str(caught.value)


def test_nothing_to_merge_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such database"):
        merge(tmp_path / "out.h5")
    assert list(tmp_path.iterdir()) == []
    RunDirectory(tmp_path / "out.h5").create()
    with pytest.raises(DataError, match="nothing to merge"):
        merge(tmp_path / "out.h5")


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ArgumentError, match="--on-bad: 'ignore'"):
        MergeOptions(on_bad="ignore")
    with pytest.raises(ArgumentError, match="there are: classic, table"):
        MergeOptions(file_format="columns")


def test_two_merges_at_once(run: RunDirectory) -> None:
    publish(run, records(2))
    holder = (
        "import sys, time; from pathlib import Path; from vindeby.store.disk.lock import Lock\n"
        "Lock(Path(sys.argv[1]), 'merge').acquire(); print('held', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", holder, str(run.path / "merge.lock")], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    try:
        with pytest.raises(BusyError, match=f"process {child.pid}"):
            merge(run.output)
    finally:
        child.kill()
        child.communicate()
    assert merge(run.output).records == 2


def test_a_database_replaced_during_the_merge_is_left_alone(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    publish(run, records(2))
    merge(run.output)
    publish(run, records(2, start=2))
    shutil.copy(run.output, tmp_path / "other")
    confirm = Lock.confirm

    def replacing(lock: Lock) -> None:
        confirm(lock)
        if (tmp_path / "other").exists():
            (tmp_path / "other").replace(run.output)

    monkeypatch.setattr(Lock, "confirm", replacing)
    with pytest.raises(DataError, match="another program replaced it during the merge"):
        merge(run.output)
    assert len(contents(run.output)) == 4
    assert list(tmp_path.glob(".out*")) == []


def test_the_audit_names_every_file_and_its_fate(run: RunDirectory) -> None:
    paths = [publish(run, records(2, start=start)).path for start in (0, 2)]
    merge(run.output)
    (audit,) = audits(run)
    assert audit["records"] == 4
    files = audit["files"]
    assert isinstance(files, list)
    assert [entry["path"] for entry in files] == [str(path) for path in paths]
    for entry in files:
        assert entry["size"] > 1000
        assert len(entry["digest"]) == 64
        assert (entry["found"], entry["taken"], entry["fate"]) == (2, 2, "merged and deleted")
    assert set(audit["versions"]) == {"vindeby", "h5py", "hdf5", "numpy", "python"}  # type: ignore[call-overload]


def test_temporary_files_of_dead_writers_are_cleaned_up_and_live_ones_are_not(run: RunDirectory) -> None:
    path = publish(run, records(2)).path
    dead = path.with_name(".000009.1.tmp")
    dead.write_bytes(b"x")
    elsewhere = run.shards / "node17-1-abc-0000"
    elsewhere.mkdir()
    alive = elsewhere / ".000000.123.tmp"
    alive.write_bytes(b"x")
    merge(run.output)
    assert not dead.exists()
    assert alive.exists()
