"""The seam between a run and whatever does its work: processes of this machine, a cluster, threads of a test.

A pool has slots, numbered from 0, each with at most one worker. The supervisor says which slots to fill and which tasks
each worker gets, and receives events. Results never come back through a pool: a worker publishes them itself
(``task_executor.TaskExecutor``), and the pool reports which tasks are durable. A new backend is one class of this form;
``tests/contracts/test_pools.py`` holds it to everything that is written here.

Rules for all pools:

- No method waits for a worker; only ``wait`` waits, and no longer than its timeout.
- ``assign``, ``end`` and ``kill`` for a slot without a worker do nothing: its ``WorkerGone`` is on its way.
- Every ``start`` is followed by exactly one ``WorkerGone``, whatever happens, unless the pool is closed first.
- ``WorkerGone`` is the last event of a worker: what it reported before it went comes first.
- A task counts as done when ``TasksDurable`` or ``WorkerGone.published`` names it, never before it is on disk.
- Only OSError may leave a method, when the machine refuses something that the pool itself needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from vindeby.campaign import Task
from vindeby.runner.protocol import Failed, Failure, MethodUnusable, MoreSlots, PoolLost, Seen, WantsWork


@dataclass(frozen=True)
class PoolAbilities:
    """What a pool can tell and do; where it cannot, the limit that depends on it is not enforced."""

    memory: bool = False
    """``observe`` knows how much memory a worker uses: ``run.memory_limit_mb`` holds."""
    heartbeat: bool = False
    """``observe`` knows when a worker last gave a sign of life: ``run.silent_limit_s`` holds."""
    task_clock: bool = False
    """``observe`` knows which task a worker is on and for how long: ``run.time_limit_s`` holds."""
    exit_status: bool = False
    """``WorkerGone`` knows how a worker ended, such as by which signal."""
    suspect: bool = False
    """``WorkerGone`` knows which task a worker was on; else all its tasks are assigned again, without blame."""
    starts_workers: bool = True
    """``start`` brings a new worker by itself; else a slot stays empty until one comes from elsewhere."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of what it cannot, for the log."""
        return tuple(name for name, able in vars(self).items() if not able)


@dataclass(frozen=True)
class Work:
    """Tasks for a worker, each with its number, in this order.

    ``careful``: run in a fresh process, and publish the result at once. ``alone``: no other task of the run runs
    meanwhile, and ``memory_limit`` (bytes; None for no limit) is that of the worker for these tasks.
    ``publish_at_end``: publish when the last of them is finished, without waiting for more results. ``trusted``: an
    exception counts against its task also in a process that has run other tasks.
    """

    tasks: tuple[tuple[int, Task], ...]
    careful: bool = False
    alone: bool = False
    memory_limit: int | None = None
    publish_at_end: bool = False
    trusted: bool = False


@dataclass(frozen=True)
class WorkerReady:
    """A worker is set up and about to ask for tasks; ``pid`` is 0 where that says nothing, ``log`` may be empty."""

    worker: int
    pid: int = 0
    log: str = ""
    node: str = ""
    """The machine that it runs on."""
    job: str = ""
    """The batch job that it belongs to, as SLURM numbers it; empty where there is none."""
    writer: str = ""
    """What the names of its directories of shards begin with."""


@dataclass(frozen=True)
class TasksDurable:
    """These tasks are on disk, in this shard, and took so many seconds together."""

    worker: int
    tasks: tuple[int, ...]
    shard: str
    seconds: float


@dataclass(frozen=True)
class WorkerRetiring:
    """A worker takes no more tasks and makes room for a fresh one; why. Its ``WorkerGone`` follows."""

    worker: int
    reason: str
    pid: int = 0


@dataclass(frozen=True)
class WorkerGone:
    """A worker is gone, and its slot is empty."""

    worker: int
    suspect: int | None
    """The task it was on, if any; None too where the pool cannot tell."""
    failure: Failure
    """Why it went, and the end of its log; how much of that a pool knows, its abilities say."""
    by_itself: bool = False
    """It was asked to end, or retired: nobody is to blame, and a ``suspect`` is tried in a fresh process."""
    published: tuple[int, ...] = ()
    """Tasks assigned to it that are durable although it never reported them (``unreported.unreported_keys``)."""
    pid: int = 0


@dataclass(frozen=True)
class DiskTrouble:
    """A worker cannot publish; an empty reason when that is over. ``waits``: it keeps trying until asked to end."""

    worker: int
    reason: str
    waits: bool = False


@dataclass(frozen=True)
class PoolNote:
    """Something for the log of events that asks for no decision."""

    event: str
    details: Mapping[str, Any] = field(default_factory=dict)


PoolEvent: TypeAlias = (
    WorkerReady | WantsWork | TasksDurable | Failed | WorkerRetiring | WorkerGone | DiskTrouble | MethodUnusable
    | MoreSlots | PoolLost | PoolNote
)  # fmt: skip
"""What ``wait`` gives; WantsWork, Failed, MethodUnusable, MoreSlots and PoolLost are the plan's own events."""


class WorkerPool(Protocol):
    """Workers in slots. All methods are called from one thread."""

    @property
    def abilities(self) -> PoolAbilities:
        """What this pool can tell and do; the same for its whole life."""

    def start(self, slot: int) -> None:
        """Begin to fill an empty slot; ``WorkerReady`` and ``WantsWork`` follow, or ``WorkerGone`` when it fails."""

    def assign(self, slot: int, work: Work) -> None:
        """Give a worker tasks, after those it has; it answers ``WantsWork`` once for each time, before it runs dry."""

    def end(self, slot: int, *, now: bool = False) -> None:
        """Let a worker finish the task it is on, drop the others, publish and go; ``now``: drop that task too."""

    def kill(self, slot: int, failure: Failure | None = None) -> None:
        """End a worker and everything it started, whatever it is doing; ``failure`` is why, if a task is to blame.

        A pool may take a moment to note where a hanging task is, for the traceback in ``WorkerGone``.
        """

    def wait(self, timeout_s: float) -> Sequence[PoolEvent]:
        """What has happened, in order for each worker; at the latest after so many seconds, then maybe nothing."""

    def observe(self) -> Sequence[Seen]:
        """The workers at this moment; 0 for what the pool cannot tell. Slots that are still starting are left out."""

    def close(self) -> None:
        """End everything at once, and return when nothing of the pool is left; nothing is published any more."""
