from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vindeby.errors import BusyError
from vindeby.store.lock import Lock
from vindeby.store.process import Identity

HOLD = """
import sys, time
from pathlib import Path
from vindeby.store.lock import Lock
lock = Lock(Path(sys.argv[1]), "merge").acquire()
print("held", flush=True)
time.sleep(60)
"""


def holder_process(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


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
    assert path.exists()
    with Lock(path, "merge"):
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_a_reused_process_number_is_not_taken_for_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    me = Identity.current()
    path.write_text(json.dumps({**me.to_json(), "started": "1", "token": "other"}))
    with Lock(path, "merge") as lock:
        lock.confirm()
        assert json.loads(path.read_text())["token"] != "other"


def test_a_lock_from_before_the_machine_was_started_again_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    me = Identity.current().to_json()
    path.write_text(json.dumps({**me, "boot": "another/pid", "since": 1000.0}))
    with Lock(path, "merge") as lock:
        lock.confirm()
        assert json.loads(path.read_text())["boot"] == me["boot"]


def test_another_machine_of_the_same_name_is_not_taken_for_dead(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    me = Identity.current().to_json()
    for boot in ("another/pid", me["boot"].split("/")[0] + "/another namespace"):
        path.write_text(json.dumps({**me, "boot": boot, "since": time.time(), "started": "1"}))
        with pytest.raises(BusyError):
            Lock(path, "merge").acquire()


def test_a_lock_of_another_machine_is_never_broken(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    path.write_text(json.dumps({**Identity.current().to_json(), "host": "node17", "pid": 1}))
    with pytest.raises(
        BusyError, match=r"process 1 on node17 holds it.*delete this file if that machine is gone"
    ):
        Lock(path, "merge").acquire()


def test_a_lock_that_cannot_be_read_is_respected(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    path.write_text("{")
    with pytest.raises(BusyError):
        Lock(path, "merge").acquire()


def test_one_can_wait_for_it(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    first = Lock(path, "merge").acquire()
    threading.Timer(0.3, first.release).start()
    with Lock(path, "merge", wait_s=20):
        assert path.exists()
    assert not path.exists()


def test_confirm_notices_that_the_lock_was_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    lock = Lock(path, "merge").acquire()
    path.write_text(json.dumps({**Identity.current().to_json(), "token": "somebody"}))
    with pytest.raises(BusyError, match="taken away"):
        lock.confirm()


RACE = """
import sys, time
from pathlib import Path
from vindeby.store.lock import Lock
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
    path.write_text(json.dumps({**Identity.current().to_json(), "pid": 4_000_000, "token": "other"}))
    monkeypatch.setattr("vindeby.store.process.os.kill", hidden)
    with pytest.raises(BusyError):
        Lock(path, "merge").acquire()
    monkeypatch.undo()
    with Lock(path, "merge") as lock:  # there is no such process
        lock.confirm()


def test_claims_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    path = tmp_path / "merge.lock"
    child = holder_process(path)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    path.unlink()  # it died while it waited: only its claim is left
    elsewhere = tmp_path / ".merge.lock.node17-1-abc-7f"
    elsewhere.write_text(json.dumps({**Identity.current().to_json(), "host": "node17"}))
    with Lock(path, "merge"):
        assert len(list(tmp_path.glob(".merge.lock.*"))) == 2
    assert list(tmp_path.iterdir()) == [elsewhere]


def test_the_owner_is_on_the_disk_before_the_lock_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for name in ("link", "fsync"):
        monkeypatch.setattr(f"os.{name}", noted(name, getattr(os, name), done))
    with Lock(tmp_path / "merge.lock", "merge"):
        assert done == ["fsync", "link"]


def noted(name: str, call: Callable[..., None], done: list[str]) -> Callable[..., None]:
    def noting(*arguments: object) -> None:
        done.append(name)
        call(*arguments)

    return noting


def test_a_lock_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr("os.link", refuse)
    with pytest.raises(OSError, match="no links here"):
        Lock(tmp_path / "merge.lock", "merge").acquire()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_somebody_took_meanwhile_is_not_broken(tmp_path: Path) -> None:
    """Two find the same dead owner; the slower one must not take the lock away from the faster."""
    path = tmp_path / "merge.lock"
    dead = Identity.from_json({**Identity.current().to_json(), "started": "1", "token": "dead"})
    with Lock(path, "merge") as faster:
        Lock(path, "merge")._break(dead)
        faster.confirm()
        assert len(list(tmp_path.iterdir())) == 2  # the lock and its claim
