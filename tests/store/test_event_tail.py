from __future__ import annotations

import json
from pathlib import Path

import pytest

from vindeby.store.disk.events import EventTail, read_now
from vindeby.store.disk.run_directory import RunDirectory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "o.h5").create()


def line(number: float, event: str = "published") -> bytes:
    return json.dumps({"time": number, "event": event}).encode() + b"\n"


def times(tail: EventTail) -> list[float]:
    return [event["time"] for event in tail.read_new()]


def test_what_was_read_is_not_read_again(run: RunDirectory) -> None:
    path, tail = run.events / "a.jsonl", EventTail(run)
    path.write_bytes(line(1) + line(2))
    assert times(tail) == [1, 2]
    assert times(tail) == []
    with path.open("ab") as file:
        file.write(line(3))
    assert times(tail) == [3]


def test_a_torn_line_is_taken_up_when_it_is_whole(run: RunDirectory) -> None:
    path, tail = run.events / "a.jsonl", EventTail(run)
    whole = line(2)
    path.write_bytes(line(1) + whole[:9])
    assert times(tail) == [1]
    with path.open("ab") as file:
        file.write(whole[9:])
    assert times(tail) == [2]


def test_lines_that_are_no_events_are_passed_over(run: RunDirectory) -> None:
    bad = b'\x00\xff\n[1]\n{"event": 3, "time": 1}\n{"event": "x"}\n\n'
    (run.events / "a.jsonl").write_bytes(bad + line(5))
    assert times(EventTail(run)) == [5]


def test_several_coordinators_are_put_in_the_order_of_time(run: RunDirectory) -> None:
    (run.events / "a.jsonl").write_bytes(line(1) + line(4))
    (run.events / "b.jsonl").write_bytes(line(2) + line(3))
    assert times(EventTail(run)) == [1, 2, 3, 4]


def test_a_file_that_was_replaced_is_read_from_its_start(run: RunDirectory) -> None:
    path, tail = run.events / "a.jsonl", EventTail(run)
    path.write_bytes(line(1) + line(2))
    assert times(tail) == [1, 2]
    path.write_bytes(line(7))
    assert times(tail) == [7]


def test_no_run_directory_says_nothing(tmp_path: Path) -> None:
    nothing = RunDirectory(tmp_path / "none.h5")
    assert (times(EventTail(nothing)), read_now(nothing)) == ([], {})


def test_the_state_of_a_moment_is_read_and_damage_is_not(run: RunDirectory) -> None:
    (run.events / "a.now.json").write_text('{"time": 1}')
    (run.events / "b.now.json").write_text('{"time": ')
    (run.events / "c.now.json").write_text("[]")
    assert read_now(run) == {"a": {"time": 1}}
