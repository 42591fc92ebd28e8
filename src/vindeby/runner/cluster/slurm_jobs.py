"""Dask workers as SLURM jobs: dask-jobqueue has the scheduler and writes the script; a keeper submits it.

A job that ends, because its time is up or its node failed, is replaced. The keeper asks SLURM which jobs there are and
submits others for those that are gone. It says what jobs in the queue wait for; when jobs keep ending before a worker
came of them, it says why, and the run stops.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vindeby.campaign.sections.run_options import SlurmOptions
from vindeby.errors import ArgumentError, ShortfallError, VindebyError
from vindeby.runner.processes import end_of_log
from vindeby.slurm_commands import cancel, how_it_ended, in_queue, submit

_LOOK_S = 5.0
_FRUITLESS = 3
"""Rounds in which all jobs ended without any worker before no more are submitted."""
_MEMORY_PER_CORE_GB = 2


@contextmanager
def running(options: SlurmOptions, logs: Path, say: Callable[[str], None]) -> Iterator[JobKeeper]:
    """Submit jobs, keep as many as were asked for, and cancel them at the end."""
    count = options.nodes or 1
    with _cluster(options, logs) as cluster:
        keeper = JobKeeper(cluster, count, say, logs)
        try:
            say(f"{_jobs_are(count)} submitted, each for a Dask worker with {options.cores or 1} processes")
            yield keeper
        finally:
            keeper.end()


class JobKeeper:
    """A thread that compares the jobs that there should be with those that SLURM has."""

    def __init__(self, cluster: Any, count: int, say: Callable[[str], None], logs: Path) -> None:
        self.cluster, self._count, self._say, self._logs = cluster, count, say, logs
        self._script = logs / f"{JOB_NAME}.sh"
        self._script.write_text(re.sub(r"--name \S+", "--name $SLURM_JOB_ID", cluster.job_script()))
        self._jobs: set[str] = set()
        self._suspects: set[str] = set()
        self._fruitless = 0
        self._said = self._ended = ""
        try:
            self._submit()
        except BaseException as error:  # an interrupt, too, must not leave jobs in the queue
            self._cancel()
            if isinstance(error, ShortfallError):
                raise ArgumentError(f"--slurm: {error}") from None
            raise
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="slurm-jobs", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Submit nothing any more, and cancel what is there."""
        self._over.set()
        self._thread.join()
        self._cancel()

    def no_jobs_reason(self) -> str:
        """Why no worker will come, and what to do; empty as long as some may."""
        return self._ended

    def _submit(self) -> None:
        while len(self._jobs) < self._count:
            self._jobs.add(submit(self._script))

    def _cancel(self) -> None:
        with contextlib.suppress(VindebyError):
            cancel(self._jobs)

    def _keep(self) -> None:
        while not self._over.wait(_LOOK_S):
            self._look_or_say()

    def _look_or_say(self) -> None:
        try:
            self._look()
        except (VindebyError, OSError) as error:  # SLURM may be restarted
            self._say_once(f"{error}; SLURM is asked again every {_LOOK_S:g} s")

    def _look(self) -> None:
        """Find out which jobs are gone, and submit others instead; one is gone when it is missing in two listings."""
        queue = in_queue(self._jobs)
        gone = self._jobs - queue.keys()
        lost, self._suspects = gone & self._suspects, gone - self._suspects
        self._jobs -= lost
        waits_for = {job.reason for job in queue.values() if job.state == "PENDING"} - {"None"}
        if self.cluster.scheduler_info["workers"]:
            self._fruitless = 0
        elif waits_for:
            self._say_once(f"SLURM jobs wait in the queue: {', '.join(sorted(waits_for))}")
        if len(self._jobs) == self._count or self._ended:
            return
        self._fruitless += not queue
        if self._fruitless > _FRUITLESS:
            self._ended = (
                f"SLURM jobs end before a worker comes of them, {self._fruitless} times in a row; "
                f"{_how_it_ended(min(lost), self._logs) if lost else self._said}; their logs are in {self._logs}; "
                "correct what they begin with (run.slurm.before, e.g. module load) or what they ask for"
            )
            return
        if lost:
            self._say(f"{_jobs_are(len(lost))} gone; as many are submitted again")
        self._submit()

    def _say_once(self, message: str) -> None:
        if message != self._said:
            self._said = message
            self._say(message)


def _jobs_are(count: int) -> str:
    return "1 SLURM job is" if count == 1 else f"{count} SLURM jobs are"


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
        job_name=JOB_NAME,
        nanny=False,
        scheduler_options={"dashboard_address": ":0"},
    )


JOB_NAME = "vindeby-worker"
_LONGEST_LOG = 2000
_LINES = 3


def _how_it_ended(job: str, logs: Path) -> str:
    """Return SLURM's word for the end of a job, and the last lines of its log."""
    state = "is gone"
    with contextlib.suppress(VindebyError):  # SLURM forgets jobs after some minutes
        state = how_it_ended(job)
    text = "".join(end_of_log(logs / f"{JOB_NAME}-{job}.{stream}", _LONGEST_LOG) for stream in ("out", "err"))
    lines = [line.strip() for line in text.splitlines() if line.strip()][-_LINES:]
    return f"job {job}: {state}" + (f"; the end of its log: {' | '.join(lines)}" if lines else "")
