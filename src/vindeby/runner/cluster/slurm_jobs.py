"""Dask workers as SLURM jobs, through dask-jobqueue, which submits them; a keeper sees to it that they stay.

dask-jobqueue submits a job once: one that ends, because its time is up or its node failed, is not replaced. The keeper
asks SLURM which jobs there are and submits again what is gone, until jobs keep ending before a worker came of them.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vindeby.campaign.sections.slurm_options import SlurmOptions
from vindeby.errors import ArgumentError, ShortfallError, VindebyError
from vindeby.slurm_commands import check_script, still_there

_LOOK_S = 5.0
_FRUITLESS = 5
"""Rounds in which all jobs ended without any worker before no more are submitted."""
_MEMORY_PER_CORE_GB = 2


@dataclass(frozen=True)
class SlurmJobs:
    """What jobs to ask SLURM for; as ``pool`` of a run it means workers on such jobs."""

    options: SlurmOptions

    @contextmanager
    def running(self, logs: Path, say: Callable[[str], None]) -> Iterator[JobKeeper]:
        """Submit the jobs, keep as many as were asked for, and cancel them at the end."""
        count = self.options.nodes or 1
        with _cluster(self.options, logs) as cluster:
            _check(cluster.job_script())
            keeper = JobKeeper(cluster, count, say)
            say(
                f"{count} SLURM jobs are submitted, each for a Dask worker with {self.options.cores or 1} processes"
            )
            keeper.begin()
            try:
                yield keeper
            finally:
                keeper.end()


class JobKeeper:
    """A thread that compares the jobs that there should be with those that SLURM has."""

    def __init__(self, cluster: Any, count: int, say: Callable[[str], None]) -> None:
        self.cluster, self._count, self._say = cluster, count, say
        self._suspects: set[str] = set()
        self._fruitless = 0
        self._expecting = True
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="slurm-jobs", daemon=True)

    def begin(self) -> None:
        """Submit, and watch from now on."""
        self.cluster.scale(jobs=self._count)
        self._thread.start()

    def end(self) -> None:
        """Submit nothing any more."""
        self._over.set()
        self._thread.join()

    def help_comes(self) -> bool:
        """Are jobs in the queue, so that waiting for workers makes sense?"""
        return self._expecting

    def _keep(self) -> None:
        while not self._over.wait(_LOOK_S):
            with contextlib.suppress(VindebyError, OSError):  # SLURM may be restarted: ask again later
                self._look()

    def _look(self) -> None:
        """Find out which jobs are gone, and submit others instead.

        A job is gone when it is missing in two listings, as one may lag behind; dask-jobqueue itself forgets a job some
        time after its worker left, and then has fewer than were asked for.
        """
        jobs = {name: str(job.job_id) for name, job in list(self.cluster.workers.items()) if job.job_id}
        there = set(still_there(jobs.values()))
        gone = {name for name, job in jobs.items() if job not in there}
        lost, self._suspects = gone & self._suspects, gone - self._suspects
        forgotten = self._count - len(self.cluster.workers)
        if self.cluster.scheduler_info["workers"]:
            self._fruitless = 0
        if not lost and forgotten <= 0:
            self._expecting = bool(there) or self._fruitless <= _FRUITLESS
            return
        self._fruitless += not there
        if self._fruitless > _FRUITLESS:
            if self._expecting:
                self._say(
                    "SLURM jobs end before a worker comes of them; no more are submitted, see their logs"
                )
            self._expecting = False
            return
        self._say(f"{len(lost) + forgotten} SLURM jobs are gone; as many are submitted again")
        self.cluster.sync(self.cluster.scale_down, lost)
        self.cluster.scale(jobs=self._count)


def _cluster(options: SlurmOptions, logs: Path) -> Any:
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise ArgumentError(
            "dask-jobqueue is not installed; install it with: pip install 'vindeby[dask]'"
        ) from None
    cores = options.cores or 1
    return SLURMCluster(
        queue=options.partition,
        account=options.account,
        walltime=options.time,
        cores=cores,
        processes=1,
        memory=options.memory or f"{_MEMORY_PER_CORE_GB * cores}GB",
        job_extra_directives=list(options.directives),
        job_script_prologue=list(options.before),
        interface=options.interface,
        log_directory=str(logs),
        job_name="vindeby-worker",
        nanny=False,
        scheduler_options={"dashboard_address": ":0"},
    )


def _check(script: str) -> None:
    """Ask SLURM whether it would take the script: dask-jobqueue keeps such errors to itself."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(script)
        file.flush()
        try:
            check_script(Path(file.name))
        except ShortfallError as error:
            raise ArgumentError(f"--slurm: {error}") from None
