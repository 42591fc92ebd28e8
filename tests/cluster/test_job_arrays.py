"""Campaigns as arrays of jobs, through a real SLURM: complete, cancelled, out of time."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cluster.slurm import Slurm
from tests.cluster.undisturbed import undisturbed
from tests.contracts.test_pools import steered
from tests.runner.campaigns import ROOT, equal, results
from vindeby.batch import submitted_jobs
from vindeby.campaign import Campaign
from vindeby.store.disk.events import EventTail
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database


class Jobs:
    """A campaign that is submitted from the command line."""

    def __init__(self, slurm: Slurm, folder: Path, campaign: Campaign) -> None:
        self.slurm, self.folder, self.campaign = slurm, folder, campaign
        self.output = folder / "out.h5"
        self.directory = RunDirectory(self.output)
        (folder / "campaign.yaml").write_text(campaign.dumps())

    def vindeby(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "vindeby", *words],
            env=self.slurm.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def submit(self, *words: str, parts: int = 2) -> subprocess.CompletedProcess[str]:
        return self.vindeby(
            "slurm", str(self.folder / "campaign.yaml"), "-o", str(self.output), "--set",
            f"run.slurm={{nodes: {parts}, time: '01:00:00', cores: 1}}", "--submit", *words,
        )  # fmt: skip

    def numbers(self) -> tuple[str, str]:
        array, merge = submitted_jobs(self.directory)
        return array, merge

    def state(self, job: str) -> str:
        found = re.search(r"JobState=(\w+)", self.slurm.command("scontrol", "show", "job", job))
        return found[1] if found else ""

    def until_merged(self) -> None:
        self.slurm.until(lambda: self.state(self.numbers()[1]) in {"COMPLETED", "FAILED", "CANCELLED"}, 200.0)

    def logs(self) -> str:
        paths = sorted(self.directory.logs.glob("slurm-*.log"))
        return "".join(f"== {path.name}\n{path.read_text()}" for path in paths)

    def open_gate(self) -> None:
        (self.folder / "gate").touch()

    def began(self) -> set[str]:
        return {path.name for path in self.folder.glob("began-*")}

    def executed(self) -> int:
        """How many results were published in all, by whatever element, if no shard was merged twice."""
        events = EventTail(self.directory).read_new(complete=True)
        return sum(event["tasks"] for event in events if event["event"] == "published")


def jobs_of(slurm: Slurm, folder: Path, seeds: int = 6, **parameters: Any) -> Jobs:
    campaign = steered(folder, seeds, **parameters)
    data = campaign.to_data()
    data["run"] = {"flush_s": 0.1}
    return Jobs(slurm, folder, Campaign.from_data(data))


def test_an_array_runs_all_parts_and_the_merge_reports_nothing_missing(slurm: Slurm, tmp_path: Path) -> None:
    jobs = jobs_of(slurm, tmp_path, waits=[2])
    said = jobs.submit(parts=3)
    assert said.returncode == 0, said.stderr
    array, merge = jobs.numbers()
    assert f"job array {array}, and {merge}" in said.stdout
    again = jobs.submit(parts=3)
    assert again.returncode == 1
    assert f"scancel {array} {merge}" in again.stderr
    jobs.open_gate()
    jobs.until_merged()
    assert jobs.state(merge) == "COMPLETED", jobs.logs()
    assert "all 6 results are there" in jobs.logs()
    assert equal(results(jobs.output), undisturbed(tmp_path, jobs.campaign))
    events = EventTail(jobs.directory).read_new(complete=True)
    started = [event for event in events if event["event"] == "worker started"]
    assert {event["job"] for event in started} == {f"{array}_1", f"{array}_2", f"{array}_3"}
    assert "nothing is left to run" in jobs.submit(parts=3).stdout


def test_what_was_cancelled_keeps_what_it_published_and_only_parts_that_miss_something_are_submitted_again(
    slurm: Slurm, tmp_path: Path
) -> None:
    jobs = jobs_of(slurm, tmp_path, waits=[2])
    waiting = jobs.campaign.seeds.index(2)
    assert jobs.submit(parts=2).returncode == 0
    array, merge = jobs.numbers()
    stuck, free = waiting % 2 + 1, (waiting + 1) % 2 + 1
    slurm.until(lambda: jobs.began() and f"{array}_{free}" not in slurm.queue())
    slurm.command("scancel", array, merge)
    slurm.until(lambda: not slurm.queue())
    with Database(jobs.output) as database:
        kept = set(database)
    assert len(kept) >= 3
    executed = jobs.executed()
    jobs.open_gate()
    said = jobs.submit(parts=2)
    assert f"in parts {stuck} of 2" in said.stdout
    jobs.until_merged()
    assert "all 6 results are there" in jobs.logs()
    assert jobs.executed() - executed == 6 - len(kept)
    assert equal(results(jobs.output), undisturbed(tmp_path, jobs.campaign))


def test_elements_that_run_out_of_time_publish_and_the_same_command_computes_the_rest(
    slurm: Slurm, tmp_path: Path
) -> None:
    jobs = jobs_of(slurm, tmp_path, 8, waits=[3, 4])
    data = jobs.campaign.to_data()
    data["run"]["grace_s"] = 1.0
    jobs = Jobs(slurm, tmp_path, Campaign.from_data(data))
    assert {jobs.campaign.seeds.index(seed) % 2 for seed in (3, 4)} == {0, 1}
    assert jobs.submit(parts=2).returncode == 0
    array, _ = jobs.numbers()
    slurm.until(lambda: len(jobs.began()) == 2)
    slurm.command("scancel", "--batch", "--signal=USR1", array)  # as SLURM does some time before the end
    jobs.until_merged()
    before = jobs.executed()
    assert 0 < before < 8
    jobs.open_gate()
    assert jobs.submit(parts=2).returncode == 0
    jobs.until_merged()
    assert "all 8 results are there" in jobs.logs()
    assert jobs.executed() == 8
    assert equal(results(jobs.output), undisturbed(tmp_path, jobs.campaign))
