"""Dask workers as jobs of a real SLURM: the contract of pools, and jobs that end in mid-campaign."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.dask_machines import wait_until
from tests.cluster.slurm import Slurm
from tests.cluster.test_dask_losses import InBackground, campaign_of, events, published
from tests.cluster.undisturbed import undisturbed
from tests.contracts.test_dask_pool import DaskContract
from tests.runner.campaigns import ROOT, equal, marked_processes, results
from vindeby.campaign.sections.run_options import SlurmOptions
from vindeby.errors import ArgumentError, TaskError
from vindeby.runner import run
from vindeby.runner.cluster import dask_pool, slurm_jobs

distributed = pytest.importorskip("distributed")
pytest.importorskip("dask_jobqueue")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of connections that died
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

JOBS = SlurmOptions(nodes=2, cores=1, memory="500MB", time="00:30:00")
ONE_JOB = SlurmOptions(nodes=1, cores=2, memory="1GB", time="00:30:00")


@pytest.fixture(scope="module")
def _slurm_in_environment(slurm: Slurm) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("VINDEBY_MARK", f"jobs-{os.getpid()}")
        yield


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_jobs, "_LOOK_S", 0.5)
    monkeypatch.setattr(dask_pool, "_WATCH_S", 0.2)


@pytest.fixture(scope="module")
def client(_slurm_in_environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    logs = tmp_path_factory.mktemp("logs")
    with (
        slurm_jobs.running(ONE_JOB, logs, lambda _: None) as keeper,
        distributed.Client(keeper.cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(1, timeout=120)
        yield client


class TestDaskOnSlurm(DaskContract):
    @pytest.fixture(autouse=True)
    def _client(self, client: Any) -> None:
        self.client = client

    def left_over(self) -> list[Any]:
        found = marked_processes(f"jobs-{os.getpid()}")
        return [pid for pid in found if b"vindeby.runner.local" in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.usefixtures("_slurm_in_environment")
def test_a_job_that_ends_is_submitted_again_and_the_campaign_completes(slurm: Slurm, tmp_path: Path) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    before = set(slurm.queue())
    going = InBackground(campaign, output, JOBS)
    wait_until(lambda: (tmp_path / "began-5").exists() and published(output) >= 5)
    slurm.command("scancel", events(output, "worker started")[0]["job"])
    wait_until(lambda: len(events(output, "node joined")) == 3)
    (tmp_path / "gate").touch()
    going.wait()
    assert going.error is None
    assert going.summary is not None
    assert going.summary.complete
    assert any("submitted again" in message for message in going.messages)
    slurm.until(lambda: set(slurm.queue()) <= before)
    assert equal(results(output), undisturbed(tmp_path, campaign))


@pytest.mark.usefixtures("_slurm_in_environment")
def test_jobs_that_bring_no_worker_end_the_run_with_their_reason(slurm: Slurm, tmp_path: Path) -> None:
    before = set(slurm.queue())
    asked = {"before": ["echo no such module >&2", "exit 3"]}
    jobs = SlurmOptions.model_validate({"cores": 1, "memory": "500MB", "time": "00:30:00", **asked})
    told = r"\d times in a row; job \d+: FAILED, NonZeroExitCode, exit status 3; the end of its log: no such module;"
    with pytest.raises(TaskError, match=told) as stopped:
        run(campaign_of(tmp_path), tmp_path / "out.h5", pool=jobs)
    assert "0 of 12 results are safe" in str(stopped.value)
    slurm.until(lambda: set(slurm.queue()) <= before)


@pytest.mark.usefixtures("_slurm_in_environment")
def test_jobs_that_slurm_refuses_are_an_error_with_its_words(tmp_path: Path) -> None:
    jobs = SlurmOptions(partition="nosuch")
    with pytest.raises(ArgumentError, match=r"sbatch refused: .*[Ii]nvalid partition"):
        run(campaign_of(tmp_path), tmp_path / "out.h5", pool=jobs)
