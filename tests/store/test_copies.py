"""Which copy of a key counts when several files have it: the same in a database that is read and in a merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.examples import contents, flip, merge_keeping_shards, publish, record
from vindeby.errors import DataError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.file_format import Content
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.formats import file_format_named
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import segments_of
from vindeby.store.format.seal import FORMAT_VERSION
from vindeby.store.format.shard import Receipt, shard_bytes
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.states import Known, missing_tasks
from vindeby.store.validate import validate


def two_contents(run: RunDirectory, clock: Callable[[int], None]) -> tuple[Receipt, Receipt]:
    """One key with two contents: the first was published earlier, and its path comes later."""
    clock(2)
    later = publish(run, [record(1, shift=5.0), record(2)])
    clock(1)
    first = publish(run, [record(1), record(3)])
    moved = run.shards / "zzz-1-abc-0000" / first.path.name
    moved.parent.mkdir()
    first.path.rename(moved)
    return replace(first, path=moved), later


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the time at which a shard says that it was published."""
    return lambda now: monkeypatch.setattr("vindeby.store.format.shard.time.time_ns", lambda: now)


def test_the_first_published_counts_before_a_merge_and_after(
    run: RunDirectory, clock: Callable[[int], None]
) -> None:
    two_contents(run, clock)
    before = contents(run.output)
    assert before[record(1).key] == record(1)
    report = merge_keeping_shards(run)
    assert len(report.conflicts) == 1
    assert contents(run.output) == before


@pytest.mark.parametrize("times", [(1, 2), (2, 1)])
def test_a_shard_that_is_found_later_counts_if_it_was_published_earlier(
    run: RunDirectory, clock: Callable[[int], None], times: tuple[int, int]
) -> None:
    clock(times[0])
    publish(run, [record(1)])
    with Database(run.output) as database:
        assert sum(map(len, database.new_segments())) == 1
        clock(times[1])
        publish(run, [record(1, shift=5.0)])
        assert database.refresh() == 0
        winner = record(1) if times[0] == 1 else record(1, shift=5.0)
        assert database[winner.key] == winner
        handed = [one for segment in database.new_segments() for one in segment.records()]
        assert handed == ([] if times[0] == 1 else [winner])
    merge(run.output)
    assert contents(run.output)[winner.key] == winner


def test_the_path_decides_between_shards_of_one_time(run: RunDirectory, clock: Callable[[int], None]) -> None:
    clock(7)
    shards = {publish(run, [one]).path: one for one in (record(1), record(1, shift=5.0))}
    winner = shards[min(shards)]
    assert contents(run.output)[winner.key] == winner
    merge(run.output)
    assert contents(run.output)[winner.key] == winner


def test_a_damaged_copy_that_was_published_first_does_not_count(
    run: RunDirectory, clock: Callable[[int], None]
) -> None:
    first, _ = two_contents(run, clock)
    at = first.path.read_bytes().index(record(1).layout.tobytes())
    flip(first.path, at * 8)
    assert contents(run.output)[record(1).key] == record(1, shift=5.0)
    merge(run.output, MergeOptions(on_bad="skip"))
    assert contents(run.output)[record(1).key] == record(1, shift=5.0)


@pytest.mark.parametrize("how", ["key", "segments"])
@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_a_record_damaged_in_the_database_is_taken_from_a_shard_that_has_it(
    run: RunDirectory, file_format: str, how: str
) -> None:
    batch = [record(1, 6000), record(2, 6000)]
    publish(run, batch)
    merge_keeping_shards(run, MergeOptions(file_format=file_format))
    at = run.output.read_bytes().index(batch[1].layout.tobytes())
    flip(run.output, (at + 50_000) * 8)
    with Database(run.output) as database:
        if how == "key":
            assert database[batch[1].key] == batch[1]
        else:
            found = [one for segment in database.segments() for one in segment.records()]
            assert sorted(found, key=lambda one: one.key) == batch
        assert Finding(Verdict.CHECKSUM, "", batch[1].key) in database.findings[run.output]


def test_a_shard_whose_time_is_lost_comes_last(run: RunDirectory, clock: Callable[[int], None]) -> None:
    first, later = two_contents(run, clock)
    cut = first.path.read_bytes()
    first.path.write_bytes(cut[:-1])  # no seal any more, and every record whole
    assert contents(run.output)[record(1).key] == record(1, shift=5.0)
    report = merge(run.output, MergeOptions(on_bad="skip"))
    assert report.conflicts[0].kept == str(later.path)
    assert contents(run.output)[record(1).key] == record(1, shift=5.0)


def test_what_another_file_had_too_counts_when_a_file_is_gone(run: RunDirectory) -> None:
    publish(run, [record(1)])
    merge(run.output)
    publish(run, [record(1, shift=5.0)])
    merge(run.output)  # a conflict: the shard is kept
    with Database(run.output) as database:
        assert database[record(1).key] == record(1)
        run.output.unlink()
        database.refresh()
        assert database[record(1).key] == record(1, shift=5.0)


def test_a_database_that_shrank_while_shards_went_is_read_again_as_a_whole(
    run: RunDirectory, tmp_path: Path
) -> None:
    publish(run, [record(seed) for seed in range(1100)])
    merge(run.output, MergeOptions(file_format="table"))
    small = RunDirectory(tmp_path / "small.h5")
    publish(small, [record(5)])
    merge(small.output, MergeOptions(file_format="table"))
    shard = publish(run, [record(2000)]).path
    with Database(run.output) as database:
        shard.unlink()
        small.output.replace(run.output)
        assert [one for segment in database.segments() for one in segment.records()] == [record(5)]
        assert list(database) == [record(5).key]


def other_question(seed: int) -> Record:
    """The same key, with another fingerprint and other content."""
    old = record(seed, shift=9.0)
    return Record(old.key, "f" * 64, old.arrays, old.attributes)


@pytest.mark.parametrize("merged", [False, True])
def test_an_answer_counts_though_an_older_campaign_has_the_key_too(run: RunDirectory, merged: bool) -> None:
    publish(run, [other_question(1), other_question(2)])
    if merged:
        merge(run.output)
    publish(run, [record(1)])
    asked = {record(seed).key: record(seed).fingerprint for seed in (1, 2)}
    with Database(run.output) as database:
        assert [entry.key for entry in missing_tasks(asked, Known.of(database))] == [record(2).key]
    report = validate(run.output, expected=asked)
    assert [entry.key for entry in report.missing] == [record(2).key]
    assert [issue for issue in report.issues if "total_configs" not in issue.what] == []
    merge(run.output, MergeOptions(asked=asked))
    assert contents(run.output)[record(1).key] == record(1)


def test_validate_calls_a_conflict_what_a_merge_does(run: RunDirectory) -> None:
    publish(run, [record(1, seconds=1.0), record(2)])
    publish(run, [record(1, seconds=2.0)])
    assert validate(run.output).issues == []
    publish(run, [record(2, shift=5.0)])
    assert [(issue.key, issue.what) for issue in validate(run.output).issues] == [
        (record(2).key, "occurs twice with different content")
    ]
    assert [conflict.key for conflict in merge(run.output).conflicts] == [record(2).key]


def unmarked_shard(run: RunDirectory, batch: list[Record], without: str) -> Path:
    """A shard, whole and sealed, in which one record has another status than success."""
    segments = segments_of(batch)
    for segment in segments:
        segment.rows["status"][segment.rows["key"] == without.encode()] = b"failed"
        segment.rows["checksum"] = segment.computed_checksums()
    path = run.create().shards / "node-1-abc-0000" / "000000.shard"
    path.parent.mkdir()
    path.write_bytes(shard_bytes(segments))
    return path


def test_a_record_without_the_success_mark_is_no_result(run: RunDirectory) -> None:
    batch = [record(1), record(2)]
    path = unmarked_shard(run, batch, record(2).key)
    unmarked = Finding(Verdict.NOT_MARKED, "", record(2).key)
    with Database(run.output) as database:
        assert [one for segment in database.segments() for one in segment.records()] == batch[:1]
        assert database.findings[path] == [unmarked]
    with Database(run.output) as database, pytest.raises(DataError, match="record without success mark"):
        database[record(2).key]
    with Guard() as guard:
        assert read_any(path, guard).findings == [unmarked]
    with pytest.raises(BadFilesError, match="farm0_t1_s2: record without success mark"):
        merge(run.output)
    assert merge(run.output, MergeOptions(on_bad="skip")).records == 1
    assert contents(run.output) == {record(1).key: record(1)}


def test_a_marked_record_counts_instead_of_an_unmarked_one(run: RunDirectory) -> None:
    unmarked_shard(run, [record(1), record(2)], record(2).key)
    publish(run, [record(2, shift=5.0)])
    assert contents(run.output)[record(2).key] == record(2, shift=5.0)


@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_a_database_with_an_unmarked_record_is_not_merged_silently(
    run: RunDirectory, file_format: str
) -> None:
    segments = segments_of([record(1), record(2)])
    segments[0].rows["status"][1] = b"failed"
    segments[0].rows["checksum"] = segments[0].computed_checksums()
    root: dict[str, Attribute] = {"format_version": FORMAT_VERSION, "layout": file_format}
    widths = {name: segments[0].rows.dtype[name].itemsize for name in segments[0].schema.text_fields}
    content = Content(2, (segments[0].schema,), widths, root, segments)
    file_format_named(file_format).write(run.output, content)
    with Database(run.output) as database:
        assert [one for segment in database.segments() for one in segment.records()] == [record(1)]
    with pytest.raises(BadFilesError, match="farm0_t1_s2: record without success mark"):
        merge(run.output)
