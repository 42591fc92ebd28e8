"""A run whose lock another process takes over: it stops, and publishes and merges nothing more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runner.campaigns import ROOT, calling, marked_processes, one_cell, results
from tests.store.examples import publish, records
from tests.store.locks import held_by
from vindeby.errors import BusyError, StorageError
from vindeby.runner import run
from vindeby.runner.resume import hold
from vindeby.store.disk.lock import LeasedFiles
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, _Merge, merge

pytestmark = pytest.mark.slow

COORDINATOR = """
import sys
from vindeby.campaign import Campaign
from vindeby.errors import VindebyError
from vindeby.runner import run
from vindeby.store.disk import lock
from vindeby.store.disk.lock import Lease
lock.LEASE = Lease(beat_s=0.1)
try:
    run(Campaign.load(sys.argv[1]), sys.argv[2])
except VindebyError as error:
    print(type(error).__name__, error)
"""


STOPPED_IN_MERGE = (
    """
import os, signal
from vindeby.store.merge.merge import _Merge
build = _Merge._build
def stopped(self, *arguments):
    build(self, *arguments)
    os.kill(os.getpid(), signal.SIGSTOP)
_Merge._build = stopped
"""
    + COORDINATOR
)


def wait_until_stopped(pid: int) -> None:
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def shards(output: Path) -> set[str]:
    return set(RunDirectory(output).shard_names())


def test_a_stopped_coordinator_that_is_taken_over_leaves_the_campaign_to_the_other(tmp_path: Path) -> None:
    output, gate = tmp_path / "out.h5", tmp_path / "gate"
    asked = one_cell(calling("versatile", 4, {"gate": str(gate)}, workers=1))
    (tmp_path / "c.yaml").write_text(asked.dumps())
    mark = f"lost-{os.getpid()}-{time.monotonic_ns()}"
    child = subprocess.Popen(
        [sys.executable, "-c", COORDINATOR, str(tmp_path / "c.yaml"), str(output)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | {"VINDEBY_MARK": mark},
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not shards(output) and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(signal.SIGSTOP)
        said: list[str] = []
        with hold(RunDirectory(output), None, take_over=True, say=said.append):
            assert f"process {child.pid} on" in said[0]
            before = shards(output)
            gate.touch()  # its worker goes on, finishes its tasks and must not publish them
            time.sleep(1.0)
            child.send_signal(signal.SIGCONT)
            told, _ = child.communicate(timeout=60)
            assert told.startswith("BusyError")
            assert f"taken away by process {os.getpid()} on" in told
            assert shards(output) == before
            assert not output.exists()
    finally:
        child.kill()
        child.communicate()
    while marked_processes(f"VINDEBY_MARK={mark}") and time.monotonic() < deadline + 60:
        time.sleep(0.02)
    assert marked_processes(f"VINDEBY_MARK={mark}") == []
    assert run(asked, output).complete
    assert len(results(output)) == 4


def test_a_worker_renames_nothing_into_place_under_a_lock_that_is_anothers(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "out.h5").create()
    with directory.lock("run") as lock:
        writer = ShardWriter(directory, files=LeasedFiles(lock.path, lock.token))
        writer.publish(records(2))
        with directory.lock("run", take_over=True), pytest.raises(StorageError, match="has taken over"):
            writer.publish(records(2, start=10))
    assert len(directory.shard_paths()) == 1
    assert directory.temporary_paths() == []


def test_a_run_whose_lock_was_taken_over_during_its_merge_replaces_nothing(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "out.h5").create()
    publish(directory, records(3))
    with (
        directory.lock("run") as lock,
        directory.lock("run", take_over=True),
        pytest.raises(BusyError, match="taken away"),
    ):
        merge(directory.output, MergeOptions(confirm=lock.confirm))
    assert not directory.output.exists()
    assert len(directory.shard_paths()) == 1


def test_a_merge_that_lost_its_lock_after_confirming_it_finds_nothing_to_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The narrowest case: it is stopped between its last look at the lock and the rename."""
    directory = RunDirectory(tmp_path / "out.h5").create()
    publish(directory, records(3))
    confirm = _Merge._confirm

    def overtaken(slow: _Merge) -> None:
        confirm(slow)
        monkeypatch.undo()
        publish(directory, records(3, start=10))
        assert merge(directory.output, MergeOptions(take_over=True)).records == 6

    monkeypatch.setattr(_Merge, "_confirm", overtaken)
    with pytest.raises(BusyError, match="taken away"):
        merge(directory.output)
    assert len(results(directory.output)) == 6


def test_a_coordinator_that_is_stopped_in_its_merge_is_taken_over_with_all_its_locks(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    asked = one_cell(calling("good", 3))
    (tmp_path / "c.yaml").write_text(asked.dumps())
    child = subprocess.Popen(
        [sys.executable, "-c", STOPPED_IN_MERGE, str(tmp_path / "c.yaml"), str(output)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    try:
        wait_until_stopped(child.pid)
        said: list[str] = []
        assert run(asked, output, take_over=True, on_message=said.append).complete
        taken = [text for text in said if text.endswith("; it is taken over")]
        assert [f"process {child.pid} on" in text for text in taken] == [True, True]
        assert [Path(text.partition(":")[0]).name for text in taken] == ["run.lock", "merge.lock"]
        merged = output.read_bytes()
        child.send_signal(signal.SIGCONT)
        told, _ = child.communicate(timeout=60)
    finally:
        child.kill()
        child.communicate()
    assert told.startswith("BusyError")
    assert output.read_bytes() == merged
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.yaml", "out.h5", "out.h5.run"]


@pytest.mark.parametrize(
    ("held", "part"), [("run", None), ("run-1-of-2", "1/2"), ("run-1-of-2", None), ("run", "2/2")]
)
def test_a_run_on_a_machine_that_is_gone_is_taken_over_when_asked_to(
    tmp_path: Path, held: str, part: str | None
) -> None:
    directory = RunDirectory(tmp_path / "out.h5").create()
    held_by(directory.path / f"{held}.lock", host="node17", pid=42)
    said: list[str] = []
    asked = one_cell(calling("good", 2))
    assert run(asked, tmp_path / "out.h5", part=part, take_over=True, on_message=said.append).complete
    assert "process 42 on node17 holds it" in said[0]
    assert said[0].endswith("; it is taken over")


def test_a_killed_run_is_resumed_under_another_host_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container or a requeued job: nothing is known of the old owner but that its heartbeats stopped."""
    from vindeby.store.disk import lock
    from vindeby.store.disk.lock import Lease

    directory = RunDirectory(tmp_path / "out.h5").create()
    code = (
        "import os; from pathlib import Path; from vindeby.store.disk.run_directory import RunDirectory;"
        f"RunDirectory(Path({str(directory.output)!r})).lock('run').acquire(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    state = lock.read_state(directory.path / "run.lock")
    assert state is not None
    assert state.owner is not None
    elsewhere = lock.LockState.held(replace(state.owner, host="the_old_container"))
    assert lock.swap_state(directory.path / "run.lock", state, elsewhere)
    monkeypatch.setattr(lock, "LEASE", Lease(stale_s=0.5))
    said: list[str] = []
    assert run(one_cell(calling("good", 2)), directory.output, on_message=said.append).complete
    assert "on the_old_container holds it (run)" in said[0]
    assert "watching whether it still lives" in said[0]
