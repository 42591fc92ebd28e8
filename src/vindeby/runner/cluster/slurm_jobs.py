"""Dask workers as SLURM jobs: dask-jobqueue has the scheduler and writes the script; a keeper submits it.

A job that ends, because its time is up or its node failed, is replaced. The keeper asks SLURM which jobs there are and
submits others for those that are gone, until jobs keep ending before a worker came of them, or wait for what will never
be. Then it says why, and the run stops.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vindeby.campaign.sections.run_options import SlurmOptions
from vindeby.errors import ArgumentError, ShortfallError, VindebyError
from vindeby.runner.processes import end_of_log
from vindeby.slurm_commands import InQueue, cancel, how_it_ended, in_queue, submit

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
        self._never_starting = 0
        self._waiting_for = ""
        self._stuck = self._ended = self._refusal = ""
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

    def _submit(self) -> None:
        while len(self._jobs) < self._count:
            self._jobs.add(submit(self._script))

    def _cancel(self) -> None:
        with contextlib.suppress(VindebyError):
            cancel(self._jobs)

    def no_jobs_reason(self) -> str:
        """Why no worker will come, and what to do; empty as long as some may."""
        return self._ended or self._stuck

    def _keep(self) -> None:
        while not self._over.wait(_LOOK_S):
            with contextlib.suppress(VindebyError, OSError):  # SLURM may be restarted: ask again later
                self._look()

    def _look(self) -> None:
        """Find out which jobs are gone, and submit others instead; one is gone when it is missing in two listings."""
        queue = in_queue(self._jobs)
        gone = self._jobs - queue.keys()
        lost, self._suspects = gone & self._suspects, gone - self._suspects
        self._jobs -= lost
        if self.cluster.scheduler_info["workers"]:
            self._fruitless, self._stuck, self._ended = 0, "", ""
        else:
            self._check_waiting(queue)
        missing = self._count - len(self._jobs)
        if not missing:
            return
        self._fruitless += not queue
        if self._fruitless > _FRUITLESS:
            self._give_up(min(lost, default=""))
            return
        if lost:
            self._say(f"{_jobs_are(len(lost))} gone; as many are submitted again")
        self._submit_again()

    def _submit_again(self) -> None:
        refusal, self._refusal = self._refusal, ""
        try:
            self._submit()
        except VindebyError as error:
            self._refusal = str(error)
            if self._refusal != refusal:
                self._say(f"{self._refusal}; submission is tried again every {_LOOK_S:g} s")

    def _check_waiting(self, queue: Mapping[str, InQueue]) -> None:
        """Say what jobs wait for, once for each reason; stop when that will never come (seen in two listings)."""
        pending = {number: job.reason for number, job in queue.items() if job.state == "PENDING"}
        reasons = ", ".join(sorted({*pending.values()} - {"None"}))
        waiting = f"{len(pending)} SLURM jobs wait in the queue: {reasons}" if reasons else ""
        if waiting and waiting != self._waiting_for:
            self._say(waiting)
        self._waiting_for = waiting
        is_stuck = bool(queue) and pending.keys() == queue.keys() and {*pending.values()} <= _NEVER_STARTING
        self._never_starting = self._never_starting + 1 if is_stuck else 0
        if self._never_starting >= 2:
            number, reason = next(iter(pending.items()))
            self._stuck = (
                f"SLURM will not start job {number} as it is ({reason}); change what the jobs ask for: "
                "run.slurm of the campaign"
            )
        else:
            self._stuck = ""

    def _give_up(self, job: str) -> None:
        if self._ended:
            return
        ending = end_of(job, self._logs) if job else self._refusal or "sbatch does not take them"
        self._ended = (
            f"SLURM jobs end before a worker comes of them, {self._fruitless} times in a row; {ending}; their logs are "
            f"in {self._logs}; correct what they begin with (run.slurm.before, e.g. module load) or what they ask for"
        )
        self._say("SLURM jobs end before a worker comes of them; no more are submitted")


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
_NEVER_STARTING = frozenset(
    {
        "AccountNotAllowed", "AssocMaxWallDurationPerJobLimit", "BadConstraints", "DependencyNeverSatisfied",
        "InvalidAccount", "InvalidQOS", "JobHeldAdmin", "JobHeldUser", "JobLaunchFailure", "PartitionDown",
        "PartitionInactive", "PartitionNodeLimit", "PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit",
        "QOSNotAllowed", "launch failed requeued held",
    }
)  # fmt: skip
"""Reasons of SLURM for which a job waits until somebody changes it, not until something becomes free."""


def end_of(job: str, logs: Path) -> str:
    """How a job ended that brought no worker: SLURM's word for it, and the last lines of its log."""
    try:
        state = how_it_ended(job)
    except VindebyError:
        state = ""  # SLURM forgets jobs after some minutes
    lines = _last_lines(logs / f"{JOB_NAME}-{job}.err") or _last_lines(logs / f"{JOB_NAME}-{job}.out")
    ending = f"job {job}" + (f": {state}" if state else " is gone")
    return ending + (f"; the end of its log: {' | '.join(lines)}" if lines else "")


def _last_lines(log: Path) -> list[str]:
    text = end_of_log(log, _LONGEST_LOG)
    return [line.strip() for line in text.splitlines() if line.strip()][-_LINES:]
