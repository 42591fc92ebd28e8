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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vindeby.campaign import Task
from vindeby.runner.protocol import Failure, PoolEvent, Seen


@dataclass(frozen=True)
class Work:
    """Tasks for a worker, each with its number, in this order.

    ``careful``: run in a fresh process, and publish the result at once. ``alone``: no other task of the run runs
    meanwhile, and ``memory_limit`` (bytes; None for no limit) is that of the worker for these tasks.
    ``trusted``: an exception counts against its task also in a process that has run other tasks.
    """

    tasks: tuple[tuple[int, Task], ...]
    careful: bool = False
    alone: bool = False
    memory_limit: int | None = None
    trusted: bool = False


class WorkerPool(Protocol):
    """Workers in slots. All methods are called from one thread."""

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
