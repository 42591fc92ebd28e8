from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.locks import held_by, holder_process
from vindeby.errors import BusyError
from vindeby.store.disk.lock import Lock, LockState, read_state, swap_state
from vindeby.store.disk.process import Identity


def is_free(path: Path) -> bool:
    state = read_state(path)
    return state is not None and not state.token


def test_a_second_one_is_told_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    child = holder_process(path)
    try:
        with pytest.raises(BusyError, match=rf"process {child.pid} on .* holds it \(merge\)"):
            Lock(path, "merge").acquire()
    finally:
        child.kill()
        child.communicate()


def test_a_lock_left_by_a_dead_process_is_not_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    child = holder_process(path)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    dead = Lock(path, "merge").holder()
    assert dead is not None
    assert (dead.pid, dead.is_dead) == (child.pid, True)
    with Lock(path, "merge") as lock:
        assert (holder := lock.holder()) is not None
        assert holder.pid == os.getpid()
    assert is_free(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_reused_process_number_is_not_taken_for_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    held_by(path, started="1")
    with Lock(path, "merge") as lock:
        lock.confirm()
        assert (holder := lock.holder()) is not None
        assert holder.pid == os.getpid()


def test_a_lock_from_before_the_machine_was_started_again_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    held_by(path, boot="another.pid", since=1000.0)
    with Lock(path, "merge") as lock:
        lock.confirm()
        assert (holder := lock.holder()) is not None
        assert holder.pid == os.getpid()


@pytest.mark.parametrize(
    "boot", ["another.pid", f"{Identity.current().boot.split('.')[0]}.another_namespace"]
)
def test_another_machine_of_the_same_name_is_not_taken_for_dead(tmp_path: Path, boot: str) -> None:
    path = tmp_path / "merge.lock"
    held_by(path, boot=boot, since=time.time(), started="1")
    owner = Lock(path, "merge").holder()
    assert owner is not None
    assert (owner.is_dead, owner.is_alive) == (False, False)


def test_a_lock_that_cannot_be_read_is_respected(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    path.write_text("{")
    with pytest.raises(BusyError):
        Lock(path, "merge").acquire()


def test_one_can_wait_for_it_and_is_told_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    first = Lock(path, "merge").acquire()
    threading.Timer(0.3, first.release).start()
    said: list[str] = []
    with Lock(path, "merge", wait_s=20, say=said.append) as second:
        second.confirm()
        with pytest.raises(BusyError, match="taken away"):
            first.confirm()
    assert is_free(path)
    [told] = said
    assert re.match(rf"{path}: process {os.getpid()} on .* holds it \(merge\) since 20", told)
    assert told.endswith("; waiting until it ends, for up to 20 s (--take-over does not wait)")


def test_confirm_notices_that_the_lock_was_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    lock = Lock(path, "merge").acquire()
    ours = read_state(path)
    assert ours is not None
    taken = LockState.held(replace(Identity.current(), host="node17", token="somebody"))
    assert swap_state(path, ours, taken)
    with pytest.raises(BusyError, match=r"taken away by process \d+ on node17"):
        lock.confirm()
    lock.release()
    assert read_state(path) == taken


RACE = """
import sys, time
from pathlib import Path
from vindeby.store.disk.lock import Lock
folder = Path(sys.argv[1])
for number in range(25):
    with Lock(folder / "x.lock", "race", wait_s=60):
        value = int((folder / "count").read_text())
        time.sleep(0.001)
        (folder / "count").write_text(str(value + 1))
"""


def test_only_one_at_a_time_holds_it(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    children = [subprocess.Popen([sys.executable, "-c", RACE, str(tmp_path)]) for _ in range(3)]
    deadline = time.monotonic() + 120
    assert [child.wait(deadline - time.monotonic()) for child in children] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "75"


def test_a_process_that_this_user_may_not_see_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where /proc hides the processes of others, only a signal tells that there is one."""

    def hidden(number: int, signal_number: int) -> None:
        raise PermissionError

    path = tmp_path / "merge.lock"
    held_by(path, pid=4_000_000)
    monkeypatch.setattr("vindeby.store.disk.process.os.kill", hidden)
    with pytest.raises(BusyError):
        Lock(path, "merge").acquire()
    monkeypatch.undo()
    with Lock(path, "merge") as lock:  # there is no such process
        lock.confirm()


def test_what_was_prepared_by_a_process_that_died_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    prepared = path.with_name(f".{path.name}.killed-while-making.new")
    prepared.mkdir()
    (prepared / LockState.free().name).touch()
    with Lock(path, "merge"):
        assert list(tmp_path.iterdir()) == [path]


def test_a_lock_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: object) -> None:
        raise OSError(errno.EPERM, "no renaming here")

    monkeypatch.setattr("os.rename", refuse)
    with pytest.raises(OSError, match="no renaming here"):
        Lock(tmp_path / "merge.lock", "merge").acquire()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_somebody_took_meanwhile_is_not_taken_from_them(tmp_path: Path) -> None:
    """Two find the same dead owner; the slower one must not take the lock away from the faster."""
    path = tmp_path / "merge.lock"
    dead = held_by(path, started="1")
    with Lock(path, "merge") as faster:
        assert not Lock(path, "merge")._enter(dead)
        faster.confirm()
        assert set(tmp_path.iterdir()) == {path}


def test_a_lock_directory_that_lost_its_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    path.mkdir()
    with Lock(path, "merge") as lock:
        lock.confirm()
        assert lock.holder() is not None
    assert lock.holder() is None


def test_two_states_as_after_copying_directories_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    held_by(path, started="1")
    (path / LockState.free().name).touch()
    with pytest.raises(
        BusyError, match=r"more than one state .*free-.*held-.*-other-7.*delete this directory"
    ):
        Lock(path, "merge").acquire()
