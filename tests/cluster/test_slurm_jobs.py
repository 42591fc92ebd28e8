"""The keeper of SLURM jobs, with commands of SLURM that a test answers: no SLURM, no Dask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vindeby.errors import ArgumentError, ShortfallError
from vindeby.runner.cluster import slurm_jobs
from vindeby.runner.cluster.slurm_jobs import JobKeeper
from vindeby.slurm_commands import InQueue


class Cluster:
    """What the keeper asks dask-jobqueue for."""

    def __init__(self) -> None:
        self.scheduler_info: dict[str, Any] = {"workers": {"tcp://a": {}}}

    def job_script(self) -> str:
        return "#!/bin/sh\ndask worker --name dummy\n"


class Slurm:
    """Takes so many jobs, then does what the test says; remembers what was cancelled."""

    def __init__(self, patch: pytest.MonkeyPatch, takes: int, then: BaseException) -> None:
        self.submitted, self.cancelled = 0, set[str]()
        self.takes, self.then = takes, then
        patch.setattr(slurm_jobs, "submit", self.submit)
        patch.setattr(slurm_jobs, "cancel", self.cancelled.update)

    def submit(self, script: Path) -> str:
        if self.submitted == self.takes:
            raise self.then
        self.submitted += 1
        return str(self.submitted)


@pytest.mark.parametrize(
    ("trouble", "raised"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (ShortfallError("sbatch refused: no"), ArgumentError),
        (OSError("no more processes"), OSError),
    ],
    ids=["interrupted", "refused", "no process"],
)
def test_jobs_are_cancelled_when_not_all_could_be_submitted(
    trouble: BaseException, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slurm = Slurm(monkeypatch, 2, trouble)
    with pytest.raises(raised):
        JobKeeper(Cluster(), 5, lambda _: None, tmp_path)
    assert slurm.cancelled == {"1", "2"}


def test_a_job_that_is_gone_and_a_refusal_to_take_another_are_each_said_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slurm = Slurm(monkeypatch, 2, ShortfallError("sbatch refused: QOSMaxSubmitJobPerUserLimit"))
    monkeypatch.setattr(slurm_jobs, "_LOOK_S", 3600.0)  # the test looks
    monkeypatch.setattr(slurm_jobs, "in_queue", lambda _: {"1": InQueue("RUNNING", "None")})
    said: list[str] = []
    keeper = JobKeeper(Cluster(), 2, said.append, tmp_path)
    for _ in range(6):
        keeper._look_or_say()
    assert said == [
        "1 SLURM job is gone; as many are submitted again",
        "sbatch refused: QOSMaxSubmitJobPerUserLimit; SLURM is asked again every 3600 s",
    ]
    slurm.takes = 3
    keeper._look()
    keeper.end()
    assert slurm.cancelled == {"1", "3"}
    assert len(said) == 2
