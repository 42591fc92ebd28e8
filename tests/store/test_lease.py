"""A lock whose owner may live on another machine: kept by heartbeats, taken over without them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.store.locks import beat, held_by, holder_process, renewed
from vindeby.errors import BusyError
from vindeby.store.disk.lock import Lease, Lock, LockState, read_state

QUICK = Lease(beat_s=0.05, stale_s=1.0)


def test_a_lock_from_another_machine_is_taken_over_when_its_heartbeats_have_stopped(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "run.lock"
    held_by(path, host="node17", pid=1)
    with Lock(path, "run", lease=QUICK, say=said.append) as lock:
        lock.confirm()
        assert (holder := lock.holder()) is not None
        assert holder.pid == os.getpid()
    assert [text.partition("; ")[2] for text in said] == [
        "watching whether it still lives, for up to 1 s (--take-over does not wait)",
        "it is taken over",
    ]
    assert all("process 1 on node17 holds it (run) since 20" in text for text in said)


def test_a_lock_from_another_machine_is_left_alone_while_its_heart_beats(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    seen = held_by(path, host="node17", pid=1)
    threading.Timer(0.1, beat, [path]).start()
    with pytest.raises(BusyError, match=r"process 1 on node17 holds it \(run\) since .*--take-over"):
        Lock(path, "run", lease=Lease(beat_s=0.05, stale_s=60.0)).acquire()
    assert read_state(path) == renewed(seen)


def test_a_heartbeat_between_the_last_look_and_the_takeover_saves_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    seen = held_by(path, host="node17", pid=1)
    beat(path)
    assert not Lock(path, "run")._enter(seen)
    assert read_state(path) == renewed(seen)


def test_a_user_may_take_over_at_once(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "run.lock"
    held_by(path, host="node17", pid=1)
    with Lock(path, "run", take_over=True, say=said.append) as lock:
        lock.confirm()
    assert len(said) == 1
    assert "process 1 on node17 holds it (run)" in said[0]


def test_of_two_that_take_over_at_the_same_time_the_second_is_refused(tmp_path: Path) -> None:
    """It was told to take the lock from the owner that it saw, not from one that just began."""
    path = tmp_path / "run.lock"
    held_by(path, host="node17", pid=1)
    second = Lock(path, "run", take_over=True)
    enter = second._enter

    def late(old: LockState) -> bool:
        if not first.token:
            first.acquire()
        return enter(old)

    first = Lock(path, "run", take_over=True)
    second._enter = late  # type: ignore[method-assign]
    with pytest.raises(BusyError, match=rf"process {os.getpid()} on"):
        second.acquire()
    first.confirm()
    first.release()


def test_the_owner_renews_the_lock_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    with Lock(path, "run", lease=Lease(beat_s=0.01)) as lock:
        before = read_state(path)
        assert before is not None
        changed = threading.Event()
        for _ in range(1000):
            if read_state(path) != before:
                break
            changed.wait(0.01)
        after = read_state(path)
        assert after is not None
        assert (after.token, after.count > before.count) == (lock.token, True)


STOPPED = """
import signal, sys
from pathlib import Path
from vindeby.errors import BusyError
from vindeby.store.disk.lock import Lease
from vindeby.store.disk.lock import Lock
lock = Lock(Path(sys.argv[1]), "merge", lease=Lease(beat_s=0.05)).acquire()
print("held", flush=True)
sys.stdin.readline()
try:
    lock.confirm()
    print("published")
except BusyError as error:
    print(error)
lock.release()
"""


def test_an_owner_that_was_stopped_and_lost_the_lock_goes_no_further(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", STOPPED, str(path)], stdin=pipe, stdout=pipe, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    child.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(BusyError, match=f"process {child.pid} on"):
            Lock(path, "merge", lease=QUICK).acquire()
        with Lock(path, "merge", take_over=True) as lock:
            child.send_signal(signal.SIGCONT)
            output, _ = child.communicate("go on\n", timeout=60)
            assert f"taken away by process {os.getpid()} on" in output
            lock.confirm()
    finally:
        child.kill()
        child.communicate()


def test_an_owner_that_lives_on_this_machine_is_not_watched_but_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    child = holder_process(path)
    said: list[str] = []
    try:
        with pytest.raises(BusyError, match=f"process {child.pid} on"):
            Lock(path, "merge", say=said.append).acquire()
        assert said == []
    finally:
        child.kill()
        child.communicate()


def test_clearing_frees_a_lock_of_the_dead_and_refuses_one_of_the_living(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    Lock(path, "run").clear()
    assert not path.exists()
    held_by(path, started="1")
    Lock(path, "run").clear()
    state = read_state(path)
    assert state is not None
    assert not state.token
    with Lock(path, "run") as lock, pytest.raises(BusyError):
        Lock(path, "run").clear()
    assert not lock.is_lost
