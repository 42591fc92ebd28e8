"""``merge_every_s``: OUT.h5 grows while the campaign runs, and nobody waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.runner.campaigns import calling, one_cell, results
from tests.runner.misbehaving import campaign_of
from vindeby.campaign import Campaign
from vindeby.errors import BusyError, InputError
from vindeby.runner import Summary, run
from vindeby.runner import periodic_merge as merging
from vindeby.runner.processes import start_python
from vindeby.runner.supervisor import Progress
from vindeby.store.disk.events import EventLog, EventTail
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import Invalid, RunDirectory, Verdicts, write_verdicts
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import merge
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

SEEDS, FREE = 60, 20


def gated(folder: Path, **run_options: Any) -> Campaign:
    """Some tasks that are free to run, and others that wait for a gate."""
    parameters = {"gate": str(folder / "gate"), "free": FREE, "seconds": 0.05}
    return campaign_of("gated", SEEDS, parameters, flush_s=0.05, merge_every_s=0.1, **run_options)


def events(output: Path, name: str) -> list[dict[str, Any]]:
    found = EventTail(RunDirectory(output)).read_new(complete=True)
    return [entry for entry in found if entry["event"] == name]


def watched(folder: Path, watch: Callable[[Progress], bool], said: list[str], **more: Any) -> Summary:
    """Run until ``watch`` says that what it waits for has come, then open the gate and run to the end."""

    def look(progress: Progress) -> None:
        if watch(progress):
            (folder / "gate").touch()

    return run(gated(folder, **more), folder / "out.h5", on_progress=look, on_message=said.append)


SLOW = """
import sys, time
from pathlib import Path
import vindeby.store.merge.merge as merging
build = merging._Merge._build
def slow(self, *arguments):
    build(self, *arguments)
    if not Path({marker!r}).exists():
        Path({marker!r}).write_text(str(self.temporary))
        time.sleep(1000)
merging._Merge._build = slow
from vindeby.runner.periodic_merge import main
"""
"""A merge that stands still with its new database built and the lock in hand, the first time."""


def test_the_database_grows_while_the_campaign_runs_and_is_whole_each_time(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    seen: list[int] = []

    def merged(_: Progress) -> bool:
        if output.exists():
            assert validate(output).issues == []
            seen.append(len(results(output)))
        return bool(events(output, "merged")) and output.exists()

    said: list[str] = []
    summary = watched(tmp_path, merged, said)
    assert (summary.done, summary.complete) == (SEEDS, True)
    assert seen, "there was a database before the end"
    assert not any("not merged" in text for text in said)


def test_workers_publish_while_a_merge_stands_still_and_killing_it_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, marker = tmp_path / "out.h5", tmp_path / "marker"
    (tmp_path / "slow_merge.py").write_text(SLOW.format(marker=str(marker)))
    start = partial(start_python, "slow_merge", [str(tmp_path), *sys.path])
    monkeypatch.setattr(merging, "start_python", lambda module, path, *rest, **how: start(*rest, **how))
    done: dict[str, int] = {}

    def look(progress: Progress) -> bool:
        if marker.exists() and "still" not in done:
            done["still"] = progress.done
        elif "still" in done and "killed" not in done and progress.done >= done["still"] + 10:
            done["killed"] = progress.done
            (started,) = events(output, "merge started")
            assert Path(marker.read_text()).exists()
            os.kill(started["pid"], signal.SIGKILL)
        return "still" in done

    said: list[str] = []
    summary = watched(tmp_path, look, said)
    assert "killed" in done, "results were published while the merge stood still"
    assert (summary.done, summary.complete) == (SEEDS, True)
    assert len(results(output)) == SEEDS
    assert not list(tmp_path.glob(".out.h5.merge-*.tmp"))
    assert Lock(RunDirectory(output).path / "merge.lock", "merge").holder() is None


def test_a_merge_that_fails_in_between_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    run_directory = RunDirectory(output).create()
    lock = Lock(run_directory.path / "merge.lock", "merge").acquire()

    def look(_: Progress) -> bool:
        failed = bool(events(output, "merge failed"))
        if failed:
            lock.release()
        return failed

    said: list[str] = []
    summary = watched(tmp_path, look, said)
    assert (summary.done, summary.complete) == (SEEDS, True)
    assert any("the run goes on" in text and "merge.lock" in text for text in said)


def test_merging_in_between_is_off_unless_asked_for_and_never_enters_a_fingerprint(tmp_path: Path) -> None:
    plain = one_cell(calling("good", 3))
    often = Campaign.from_data({**plain.to_data(), "run": {**plain.to_data()["run"], "merge_every_s": 5}})
    assert [task.fingerprint for task in plain.tasks()] == [task.fingerprint for task in often.tasks()]
    assert run(plain, tmp_path / "out.h5").complete
    assert events(tmp_path / "out.h5", "merge started") == []
    with pytest.raises(InputError, match="merge_every_s"):
        run(plain, tmp_path / "out.h5", merge_every_s=0.0)


def replaced_while_running(folder: Path) -> tuple[Campaign, RunDirectory]:
    """An invalid result in the database, the one that replaces it in a shard, and the verdict of the run."""
    campaign, output = one_cell(calling("good", 1)), folder / "out.h5"
    (task,) = campaign.tasks()
    directory = RunDirectory(output).create()
    directory.freeze_campaign(campaign.dumps())
    layout = np.stack([np.arange(6) * 500.0 + 100.0, np.full(6, 100.0)])
    bad, good = (
        Record(task.key, task.fingerprint, {"layout": layout, "aep": np.array(aep)}) for aep in (1e6, 5.0)
    )
    ShardWriter(directory).publish([bad])
    merge(output)
    invalid = Invalid(task.key, checksum_of(bad), "aep is too large", task.fingerprint)
    write_verdicts(directory, campaign.dumps(), Verdicts.of([invalid], ""))
    ShardWriter(directory).publish([good])
    return campaign, directory


def test_a_merge_in_between_knows_units_and_what_is_invalid(tmp_path: Path) -> None:
    campaign, directory = replaced_while_running(tmp_path)
    with directory.lock("run") as lock:
        merging.merge_now(directory, lock.path, lock.token)
    (record,) = results(directory.output).values()
    assert float(record.aep) == 5.0
    assert directory.shard_names() == []
    with h5py.File(directory.output) as file:
        assert file[f"{record.key}/aep"].attrs["units"] == "GWh/year"
        assert file.attrs["total_configs"] == campaign.total_configs


def test_a_merge_in_between_changes_nothing_once_the_run_has_lost_its_lock(tmp_path: Path) -> None:
    _, directory = replaced_while_running(tmp_path)
    before = directory.output.read_bytes(), directory.shard_names()
    with directory.lock("run") as lock, pytest.raises(BusyError, match="another process has taken over"):
        merging.merge_now(directory, lock.path, "the token of a former owner")
    assert (directory.output.read_bytes(), directory.shard_names()) == before


def test_a_merge_that_writes_more_than_a_pipe_holds_ends_and_its_last_words_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wordy = "import sys; sys.stderr.write('x' * 200_000 + ' the end'); sys.exit(1)"
    monkeypatch.setattr(
        merging, "start_python", lambda *_, **how: subprocess.Popen([sys.executable, "-c", wordy], **how)
    )
    directory, said = RunDirectory(tmp_path / "out.h5").create(), list[str]()
    with directory.lock("run") as lock, closing(EventLog(directory)) as log:
        merger = merging.PeriodicMerger(directory, 0.0, log, said.append, lock)
        deadline = time.monotonic() + 30.0
        while not said and time.monotonic() < deadline:
            merger.look(1)
            time.sleep(0.05)
        merger.close()
    assert len(said) == 1
    assert said[0].endswith("x the end")
    assert len(said[0]) < 5_000
