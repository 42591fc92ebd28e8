"""A job whose time is up goes back into the queue, but not for ever: what never fits into its time is given up."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.contracts.test_pools import steered
from vindeby.campaign import Campaign
from vindeby.errors import StoppedError, TaskError, VindebyError
from vindeby.runner import run
from vindeby.runner.out_of_time import record_time_up
from vindeby.runner.protocol import Failure, Kind
from vindeby.runner.resume import TaskSpace
from vindeby.store.disk.events import EventLog, read_failures
from vindeby.store.disk.run_directory import RunDirectory


class Ends:
    """A campaign whose job runs out of time again and again."""

    def __init__(self, folder: Path) -> None:
        self.run = RunDirectory(folder / "out.h5").create()
        self.space = TaskSpace(steered(folder))

    def end(
        self, cut: Mapping[int, float], settled: int = 1, job: str = "7_1"
    ) -> tuple[dict[int, Failure], str]:
        log = EventLog(self.run)
        try:
            return record_time_up(self.run, log, self.space, job, 100.0, settled, cut)
        finally:
            log.close()


def test_a_task_that_had_most_of_the_time_in_three_starts_is_given_up(tmp_path: Path) -> None:
    ends = Ends(tmp_path)
    assert ends.end({2: 10.0})[0] == {}  # it began late
    assert ends.end({2: 99.0})[0] == {}
    assert ends.end({2: 99.0, 3: 99.0})[0] == {}
    given_up = ends.end({2: 99.0, 3: 99.0})
    assert list(given_up[0]) == [2]
    assert given_up[0][2].kind is Kind.JOB_TIME
    assert "cut short in 3 starts of job 7_1" in given_up[0][2].reason
    assert given_up[1] == ""


def test_starts_of_other_jobs_do_not_count(tmp_path: Path) -> None:
    ends = Ends(tmp_path)
    for job in ("7_1", "7_1", "8_1", "7_2", "8_1"):
        assert ends.end({2: 99.0}, job=job)[0] == {}
    assert list(ends.end({2: 99.0}, job="7_1")[0]) == [2]


def test_a_job_that_settles_nothing_in_three_starts_is_not_queued_again(tmp_path: Path) -> None:
    ends = Ends(tmp_path)
    assert [ends.end({}, settled)[1] for settled in (0, 0, 1, 0, 0)] == [""] * 5
    reason = ends.end({}, 0)[1]
    assert "ran out of time in 3 starts in a row" in reason
    assert "s; give jobs more time" in reason
    assert "longer run.slurm.time" in reason


def test_a_task_that_is_given_up_is_progress(tmp_path: Path) -> None:
    ends = Ends(tmp_path)
    for _ in range(2):
        assert ends.end({2: 99.0}, 0) == ({}, "")
    assert list(ends.end({2: 99.0}, 0)[0]) == [2]
    for _ in range(2):
        assert ends.end({3: 99.0}, 0) == ({}, "")
    assert list(ends.end({3: 99.0}, 0)[0]) == [3]


def test_where_there_is_no_job_nothing_is_given_up(tmp_path: Path) -> None:
    ends = Ends(tmp_path)
    assert [ends.end({2: 99.0}, 0, job="") for _ in range(4)] == [({}, "")] * 4


def stopped(
    campaign: Campaign, output: Path, began: Path, kind: type[VindebyError] = StoppedError
) -> VindebyError:
    """Run it until a task has begun; then its time is up."""

    def time_is_up() -> None:
        deadline = time.monotonic() + 100.0
        while not began.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)  # the task is seen at work
        os.kill(os.getpid(), signal.SIGUSR1)

    signals = threading.Thread(target=time_is_up)
    signals.start()
    try:
        with pytest.raises(kind) as told:
            run(campaign, output, workers=1, retry_failed=True)
    finally:
        signals.join()
    return told.value


def test_the_third_cut_sets_the_task_aside_and_the_same_job_does_not_try_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "SLURM_JOB_ID": "9", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(
        "vindeby.runner.out_of_time._MOST_OF_THE_TIME", 0.0
    )  # most of it is for starting here
    data = steered(tmp_path, 3, waits=[2]).to_data()
    data["run"] = {"flush_s": 0.05, "grace_s": 0.0}
    campaign, output = Campaign.from_data(data), tmp_path / "out.h5"
    ends = Ends(tmp_path)
    key, number = "farm0_t0_s2", campaign.seeds.index(2)
    for _ in range(2):
        ends.end({number: 100.0})
    assert "2 of 3 results are safe" in str(stopped(campaign, output, tmp_path / "began-2"))
    failed = read_failures(ends.run)
    assert failed[key].kind == "time of the job"
    assert failed[key].reason.startswith("cut short in 3 starts of job 7_1 because the job's time was up")
    again = run(campaign, output, workers=1, retry_failed=True)
    assert (again.done, again.complete, list(again.all_failed)) == (0, False, [key])
    assert "longer run.slurm.time" in again.remedies["time of the job"]
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "8")
    (tmp_path / "gate").touch()
    assert run(campaign, output, workers=1, retry_failed=True).complete


def test_a_job_that_settles_nothing_fails_instead_of_being_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr("vindeby.runner.out_of_time._MOST_OF_THE_TIME", 1e9)  # no task is to blame
    data = steered(tmp_path, [2], waits=[2]).to_data()
    data["run"] = {"grace_s": 0.0}
    ends = Ends(tmp_path)
    for _ in range(2):
        ends.end({}, 0, job="7")
    told = stopped(Campaign.from_data(data), tmp_path / "out.h5", tmp_path / "began-2", TaskError)
    assert "in 3 starts in a row without finishing a task" in str(told)
    assert "0 of 1 result is safe" in str(told)
