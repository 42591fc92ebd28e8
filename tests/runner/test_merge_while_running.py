"""``vindeby merge`` beside a run: OUT.h5 grows while the campaign runs, and nobody waits for it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.runner.campaigns import calling, one_cell, results
from tests.runner.misbehaving import campaign_of
from vindeby.campaign import Campaign
from vindeby.runner import Summary, run
from vindeby.runner.supervisor import Progress
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import Invalid, RunDirectory, Verdicts, write_verdicts
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import merge
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

SEEDS, FREE = 60, 20


def watched(folder: Path, watch: Callable[[Progress], bool]) -> Summary:
    """Run until ``watch`` says that what it waits for has come, then open the gate and run to the end."""
    parameters = {"gate": str(folder / "gate"), "free": FREE, "seconds": 0.05}

    def look(progress: Progress) -> None:
        if watch(progress):
            (folder / "gate").touch()

    campaign = campaign_of("gated", SEEDS, parameters, flush_s=0.05)
    return run(campaign, folder / "out.h5", on_progress=look)


def started(output: Path, *command: str) -> subprocess.Popen[str]:
    command = command or ("-m", "vindeby", "merge")
    return subprocess.Popen(
        [sys.executable, *command, str(output)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_merges_beside_a_run_make_the_database_grow_and_it_is_whole_each_time(tmp_path: Path) -> None:
    output, seen = tmp_path / "out.h5", list[int]()
    merges: list[subprocess.Popen[str]] = []

    def merged(_: Progress) -> bool:
        if merges and merges[-1].poll() is None:
            return False
        if merges:
            assert validate(output).issues == []
            seen.append(len(results(output)))
        if RunDirectory(output).shard_names():
            merges.append(started(output))
        return bool(seen)

    summary = watched(tmp_path, merged)
    for one in merges:
        words, _ = one.communicate(timeout=120)
        assert one.returncode == 0 or "run/merge.lock" in words, words  # the run's own merge may hold it
    assert (summary.done, summary.complete) == (SEEDS, True)
    assert seen[0] < SEEDS


SLOW = """
import sys, time
from pathlib import Path
import vindeby.store.merge.merge as merging
build = merging._Merge._build
def slow(self, *arguments):
    build(self, *arguments)
    Path({marker!r}).write_text(str(self.temporary))
    time.sleep(1000)
merging._Merge._build = slow
merging.merge(Path(sys.argv[1]))
"""
"""A merge that stands still with its new database built and the lock in hand."""


def test_workers_publish_while_a_merge_stands_still_and_killing_it_loses_nothing(tmp_path: Path) -> None:
    output, marker = tmp_path / "out.h5", tmp_path / "marker"
    merges: list[subprocess.Popen[str]] = []
    done: dict[str, int] = {}

    def look(progress: Progress) -> bool:
        if not merges and RunDirectory(output).shard_names():
            merges.append(started(output, "-c", SLOW.format(marker=str(marker))))
        elif marker.exists() and "still" not in done:
            done["still"] = progress.done
        elif "still" in done and "killed" not in done and progress.done >= done["still"] + 10:
            done["killed"] = progress.done
            assert Path(marker.read_text()).exists()
            merges[0].send_signal(signal.SIGKILL)
            merges[0].communicate(timeout=60)
        return "still" in done

    summary = watched(tmp_path, look)
    assert "killed" in done, "results were published while the merge stood still"
    assert (summary.done, summary.complete) == (SEEDS, True)
    assert len(results(output)) == SEEDS
    assert not list(tmp_path.glob(".out.h5.merge-*.tmp"))
    assert Lock(RunDirectory(output).path / "merge.lock", "merge").holder() is None


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


def test_a_merge_beside_a_run_knows_units_and_what_the_run_found_invalid(tmp_path: Path) -> None:
    campaign, directory = replaced_while_running(tmp_path)
    with directory.lock("run"):
        beside = started(directory.output)
        words, _ = beside.communicate(timeout=120)
    assert beside.returncode == 0, words
    (record,) = results(directory.output).values()
    assert float(record.aep) == 5.0
    assert directory.shard_names() == []
    with h5py.File(directory.output) as file:
        assert file[f"{record.key}/aep"].attrs["units"] == "GWh/year"
        assert file.attrs["total_configs"] == campaign.total_configs
