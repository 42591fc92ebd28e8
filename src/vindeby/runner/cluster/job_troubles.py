"""Why SLURM jobs bring no workers, in words for their user: how they ended, or what they wait for in vain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vindeby.errors import VindebyError
from vindeby.slurm_commands import InQueue, how_it_ended

JOB_NAME = "vindeby-worker"
_LONGEST_LOG = 2000
_LINES = 3
_IN_VAIN = frozenset(
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
        told = how_it_ended(job)
    except VindebyError:
        told = ""  # SLURM forgets jobs after some minutes
    lines = _last_lines(logs / f"{JOB_NAME}-{job}.err") or _last_lines(logs / f"{JOB_NAME}-{job}.out")
    said = f"job {job}" + (f": {told}" if told else " is gone")
    return said + (f"; the end of its log: {' | '.join(lines)}" if lines else "")


def in_vain(queue: Mapping[str, InQueue]) -> str:
    """Why none of these jobs will ever start, where that is so; empty when one runs or may."""
    stuck = [job for job in queue.values() if job.state == "PENDING" and job.reason in _IN_VAIN]
    if not stuck or len(stuck) < len(queue):
        return ""
    first = stuck[0]
    return f"SLURM will not start job {first.job} as it is ({first.reason})"


def waiting_for(queue: Mapping[str, InQueue]) -> str:
    """What the jobs wait for, in SLURM's words; empty when none waits."""
    reasons = sorted(
        {job.reason for job in queue.values() if job.state == "PENDING" and job.reason != "None"}
    )
    count = sum(job.state == "PENDING" for job in queue.values())
    return f"{count} SLURM jobs wait in the queue: {', '.join(reasons)}" if reasons else ""


def _last_lines(log: Path) -> list[str]:
    try:
        text = log.read_bytes()[-_LONGEST_LOG:].decode(errors="replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()][-_LINES:]
