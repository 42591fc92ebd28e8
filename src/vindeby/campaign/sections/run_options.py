"""The options of running a campaign, also on SLURM: they change no fingerprint; only the device changes results."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict

from vindeby.campaign.sections.values import Count, Line, NotNegative, Positive, Section, matching

_TIME = 'write hours, minutes and seconds in quotes, "12:00:00", or "2-00:00:00"'
Time = Annotated[Line, matching(r"(\d+-)?\d{1,3}(:\d{2}){0,2}", "is not a time", _TIME)]
_MEMORY = "write a whole number and a unit of K, M, G or T, such as 16G"
Memory = Annotated[Line, matching(r"[1-9]\d*[KMGT]", "is not an amount of memory", _MEMORY)]
Directive = Annotated[
    Line, matching("-.*", "is not an option of sbatch", "begin with a hyphen, such as --qos=normal")
]


class SlurmOptions(Section):
    """The options of the jobs of ``vindeby slurm``; docs/cluster.md describes each field."""

    nodes: Count | None = None
    """The number of jobs, each on one node."""
    time: Time | None = None
    """The time limit of a job, such as "12:00:00"."""
    cores: Count | None = None
    """The cores of a job, which are also its number of workers."""
    memory: Memory | None = None
    """The memory of a job."""
    partition: Line | None = None
    """The partition."""
    account: Line | None = None
    """The account."""
    directives: tuple[Directive, ...] = ()
    """Further options of sbatch."""
    before: tuple[Line, ...] = ()
    """Shell commands that a job begins with, such as ``module load python``."""


class RunOptions(Section):
    """Workers, limits and retries; docs/running.md says what each is for."""

    workers: Literal["auto"] | Count = "auto"
    """Worker processes; auto is one for each core."""
    device: Literal["cpu", "auto", "cuda"] = "cpu"
    """The device for the energies of searches: cpu, a CUDA card (cuda), or a card where it is of use (auto)."""
    time_limit_s: Positive | None = None
    """A task that takes longer is stopped, in seconds."""
    memory_limit_mb: Positive | None = None
    """The memory limit of a worker; by default, a fair share of the machine's memory."""
    retries: Annotated[int, Strict(), Field(ge=0, le=100)] = 1
    """The number of retries of a failed task, each in a fresh process and alone on its machine."""
    max_failures: Annotated[int, Strict(), Field(ge=0)] | None = None
    """Stop when more tasks than this have failed."""
    flush_s: NotNegative = 1.0
    """The longest time that finished results wait for others to share a file with."""
    grace_s: NotNegative = 60.0
    """The time that running tasks may go on after the first request to stop."""
    silent_limit_s: Positive = 900.0
    """A worker on a task that has not stirred for so long is taken for stuck."""
    wait_for_workers_s: Positive = 300.0
    """The time that a run on a cluster goes on without any worker, or without its scheduler, before it stops."""
    slurm: SlurmOptions = SlurmOptions()
    """The options of jobs of a SLURM cluster."""
