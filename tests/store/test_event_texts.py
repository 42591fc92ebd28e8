"""Events with texts of any size: they are cut when written, and an overlong line does not hide what follows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vindeby.store.disk import events
from vindeby.store.disk.events import SET_ASIDE, EventLog, EventTail, read_failures
from vindeby.store.disk.files import LONGEST_TEXT, bounded
from vindeby.store.disk.run_directory import RunDirectory


def line(number: int, **more: object) -> bytes:
    return json.dumps({"time": float(number), "event": "published", "tasks": number, **more}).encode() + b"\n"


def test_a_text_of_30_megabytes_is_cut_when_it_is_written_and_says_so(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5").create()
    log = EventLog(run)
    log.write(
        SET_ASIDE, task="farm0_t0_s1", fingerprint="f", kind="exception", reason="x" * 30_000_000,
        traceback="y" * 100, log="", attempts=1,
    )  # fmt: skip
    log.write("published", tasks=3)
    log.close()
    assert log.path.stat().st_size < 2 * LONGEST_TEXT
    failure = read_failures(run)["farm0_t0_s1"]
    assert failure.reason.endswith("bytes left out) ... " + "x" * (LONGEST_TEXT // 2 - 50))
    assert len(failure.reason.encode()) <= LONGEST_TEXT
    assert failure.traceback == "y" * 100
    assert [event["event"] for event in EventTail(run).read_new()] == [SET_ASIDE, "published"]


@pytest.mark.parametrize(
    "text", ["", "short", "x" * LONGEST_TEXT, "\N{GRINNING FACE}" * LONGEST_TEXT, "\udc80" * 9]
)
def test_a_bounded_text_is_valid_unicode_of_a_bounded_size_and_bounding_it_again_changes_nothing(
    text: str,
) -> None:
    once = bounded(text)
    assert len(once.encode()) <= LONGEST_TEXT
    assert bounded(once) == once
    assert once == text or "bytes left out" in once or "\\udc80" in once


def test_an_overlong_line_is_skipped_and_later_events_are_seen(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5").create()
    path = run.events / "host-1-token.jsonl"
    path.write_bytes(line(1) + line(2, reason="x" * 30_000_000) + line(3) + line(4)[:-5])
    assert [event["tasks"] for event in EventTail(run).read_new()] == [1, 3]
    assert [event["tasks"] for event in EventTail(run).read_new(complete=True)] == [1, 3]


@pytest.mark.parametrize("step", [1, 7, 64])
def test_following_a_file_gives_every_event_once_whatever_is_there_at_each_look(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LONGEST_LINE", 100)
    run = RunDirectory(tmp_path / "out.h5").create()
    path = run.events / "host-1-token.jsonl"
    data = b"".join(
        [line(1), line(2, reason="x" * 200), line(3), b"\n", line(4, reason="x" * 1000), line(5, why="y" * 90), line(6)]
    )  # fmt: skip
    tail, seen = EventTail(run), []
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(data), step):
            file.write(data[start : start + step])
            seen += [event["tasks"] for event in tail.read_new()]
    assert seen == [1, 3, 6]
    assert [event["tasks"] for event in EventTail(run).read_new(complete=True)] == seen
    path.write_bytes(data + line(7)[:-1])
    assert [event["tasks"] for event in EventTail(run).read_new(complete=True)] == [*seen, 7]
