"""On a Dask worker: the function that runs one batch of tasks there, in a process of its own as on one machine.

``run_batch`` is what Dask places, runs and retries. The process for its tasks is a fresh one, of a pool that the Dask
worker has from when it joins a run. The process is killed when Dask does not want the batch any more; the pool ends
with the Dask worker, with the run, when another coordinator comes, or when it had no batch for a while. So nothing is
left of a coordinator that dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from vindeby.runner.local.local_pool import LocalPool
from vindeby.runner.processes import SHARE_OF_MEMORY, node_and_job, total_memory
from vindeby.runner.protocol import (
    DiskTrouble,
    Failure,
    Inbox,
    Kind,
    MethodUnusable,
    PoolEvent,
    PoolNote,
    Seen,
    TasksDurable,
    WantsWork,
    Work,
    WorkerGone,
    WorkerReady,
)
from vindeby.runner.task_executor import Setup
from vindeby.store.disk.run_directory import SHARD_SUFFIX, RunDirectory

_LOOK_S = 0.1
_SHOW_S = 2.0
_IDLE_S = 45.0
_ENDING_S = 20.0
_PROBE_TRIES = 20
_PROBE_PAUSE_S = 0.25
"""A network file system may show a new file only after its cache of the directory is renewed."""


class Order(Enum):
    """What becomes of a batch before it is done."""

    END = "finish the task that is running"
    END_NOW = "publish what is finished"
    KILL = "end at once"


@dataclass(frozen=True)
class Joined:
    """A Dask worker that takes part: how many batches it may run at a time, and where it is."""

    threads: int
    node: str
    job: str
    identity: str = ""
    """What stays the same when it is restarted: the address of its nanny, or its name."""
    sees_run: bool = True


@dataclass
class BatchReport:
    """What came of a batch: the events of its process, of which ``WorkerGone`` is the last; none if it never began."""

    address: str
    events: list[PoolEvent] = field(default_factory=list)
    shards: list[bytes] = field(default_factory=list)
    """The files with its results, from a machine that does not see the run directory."""
    seconds: float = 0.0


@dataclass
class _RunningBatch:
    key: str
    work: Work
    report: BatchReport
    writer: str = ""
    over: threading.Event = field(default_factory=threading.Event)


_hosts: dict[tuple[str, str], _Host] = {}
"""By run and Dask worker, of which this process may have several."""


class _Host:
    """A pool of processes of one run on one Dask worker, and the thread that it belongs to."""

    def __init__(self, token: str, setup: Setup, dask_worker: Any, *, sees_run: bool) -> None:
        self.token, self.sees_run = token, sees_run
        self.threads = max(1, dask_worker.state.nthreads)
        self.inbox, self.over, self.ending = Inbox(), threading.Event(), False
        self._dask_worker, self._setup = dask_worker, setup
        self._batches: dict[int, _RunningBatch] = {}
        self._orders: dict[str, Order] = {}
        self._shown = self._busy = time.monotonic()
        threading.Thread(target=self._run, name="vindeby-host", daemon=True).start()

    async def end(self) -> None:
        """End everything; returns when nothing is left."""
        self.ending = True
        await asyncio.to_thread(self.over.wait, _ENDING_S)

    def begin(self, batch: _RunningBatch) -> None:
        """Start a process and assign it the tasks; ``over`` is set at the end."""
        if batch.key in self._orders:
            failure = Failure(Kind.KILLED, "never started")
            batch.report.events.append(WorkerGone(0, None, failure, by_itself=True))
            batch.over.set()
            return
        slot = min({*range(self.threads)} - self._batches.keys())
        self._batches[slot] = batch
        self._pool.start(slot)
        self._pool.assign(slot, replace(batch.work, last=True))

    def obey(self, orders: Mapping[str, Order]) -> None:
        """End batches, or do not begin them."""
        self._orders.update(orders)
        for slot, batch in self._batches.items():
            match orders.get(batch.key):
                case None:
                    pass
                case Order.KILL:
                    self._pool.kill(slot)
                case how:
                    self._pool.end(slot, now=how is Order.END_NOW)

    def _run(self) -> None:
        scratch = None if self.sees_run else Path(tempfile.mkdtemp(prefix="vindeby-"))
        try:
            setup = self._setup_here(scratch)
            self._directory = RunDirectory(Path(setup.output))
            self._pool = LocalPool(self._directory.create(), setup, self.threads, self.inbox)
            try:
                while not self._is_over():
                    self._turn()
            finally:
                self._pool.close()
        finally:
            for slot in list(self._batches):
                failure = Failure(Kind.KILLED, "its Dask worker takes no part in the run any more")
                self._hear(WorkerGone(slot, None, failure, by_itself=True))
            if scratch is not None:
                shutil.rmtree(scratch, ignore_errors=True)
            self.over.set()

    def _setup_here(self, scratch: Path | None) -> Setup:
        node, port = node_and_job()[0], self._dask_worker.address.rpartition(":")[2]
        here = [entry for entry in sys.path if entry]  # first this machine's packages
        path = (*here, *(entry for entry in self._setup.search_path if entry not in here))
        memory = getattr(getattr(self._dask_worker, "memory_manager", None), "memory_limit", None)
        whole = memory or total_memory()
        limit = self._setup.memory_limit or (whole and int(SHARE_OF_MEMORY * whole) // self.threads)
        setup = replace(
            self._setup, search_path=path, name=f"{self._setup.name}-{node}-{port}",
            memory_limit=limit, memory_limit_alone=limit and limit * self.threads,
        )  # fmt: skip
        if scratch is None:
            return setup
        return replace(setup, output=str(scratch / "results.h5"), lock="", token="")

    def _is_over(self) -> bool:
        is_idle = not self._batches and time.monotonic() - self._busy > _IDLE_S
        return self.ending or is_idle or self._dask_worker.status.name in {"closing", "closed", "failed"}

    def _turn(self) -> None:
        for event in self._pool.wait(_LOOK_S):
            self._hear(event)
        look, now = self._pool.observe(), time.monotonic()  # who is over a limit is killed
        for slot, batch in self._batches.items():
            state = self._dask_worker.state.tasks.get(batch.key)
            if state is None or state.state not in {
                "executing",
                "long-running",
            }:  # Dask does not want it any more
                self._pool.kill(slot)
            self._busy = now
        if now - self._shown > _SHOW_S:
            self._shown = now
            for seen in look:
                self._show(seen.worker, seen)

    def _hear(self, event: PoolEvent) -> None:
        if isinstance(event, MethodUnusable | PoolNote):  # of any of them
            for batch in self._batches.values():
                batch.report.events.append(event)
            return
        slot: int = event.worker  # type: ignore[union-attr]
        batch = self._batches[slot]
        match event:
            case WorkerReady(writer=writer):
                batch.writer = writer
                self._show(slot, event)
            case DiskTrouble(waits=True):
                self._show(slot, event)
            case TasksDurable() if not self.sees_run:
                self._take_shards(batch)
            case WantsWork():
                pass
            case WorkerGone():
                if not self.sees_run:
                    self._take_shards(batch)
                    event = replace(event, published=())
                batch.report.events.append(event)
                del self._batches[slot]
                batch.over.set()
            case _:
                batch.report.events.append(event)

    def _take_shards(self, batch: _RunningBatch) -> None:
        """Take out results that the coordinator publishes; it sees from them which tasks are done."""
        for path in sorted(self._directory.shards.glob(f"{batch.writer}-*/*{SHARD_SUFFIX}")):
            batch.report.shards.append(path.read_bytes())
            path.unlink()

    def _show(self, slot: int, event: PoolEvent | Seen) -> None:
        """Let the coordinator see what a batch is at."""
        if (batch := self._batches.get(slot)) is not None:
            self._dask_worker.log_event(f"vindeby-{self.token}", (batch.key, pickle.dumps(event)))


async def join(token: str, setup: Setup, probe: str, dask_worker: Any = None) -> Joined:
    """Take part in a run, and end what earlier coordinators of the same campaign left on this Dask worker."""
    sees_run = await asyncio.to_thread(_reads, Path(probe), token)
    place = setup.output, dask_worker.address
    host = _hosts.get(place)
    if host is None or host.token != token or host.over.is_set():
        if host is not None:
            await host.end()
        host = _hosts[place] = _Host(token, setup, dask_worker, sees_run=sees_run)
    return Joined(host.threads, *node_and_job(), str(dask_worker.nanny or dask_worker.name), host.sees_run)


def _reads(probe: Path, token: str) -> bool:
    """Is the run directory of the coordinator within reach, and can it be written to?"""
    for _ in range(_PROBE_TRIES):
        with contextlib.suppress(OSError):
            return probe.read_text(encoding="utf-8") == token and os.access(probe.parent, os.W_OK)
        time.sleep(_PROBE_PAUSE_S)
    return False


def obey(output: str, token: str, orders: Mapping[str, Order], dask_worker: Any = None) -> None:
    """Hear what becomes of batches, wherever they run."""
    if (host := _hosts.get((output, dask_worker.address))) is not None and host.token == token:
        host.inbox.post(partial(host.obey, orders))


async def leave(output: str, token: str, dask_worker: Any = None) -> None:
    """Take no part any more; returns when the processes of the run are gone."""
    host = _hosts.get((output, dask_worker.address))
    if host is not None and host.token == token:
        del _hosts[output, dask_worker.address]
        await host.end()


def run_batch(output: str, token: str, work: Work) -> BatchReport:
    """Run tasks in a fresh process, and return what came of them."""
    from distributed import get_worker

    dask_worker = get_worker()
    batch = _RunningBatch(dask_worker.get_current_task(), work, BatchReport(dask_worker.address))
    host = _hosts.get((output, dask_worker.address))
    began = time.monotonic()
    if host is not None and host.token == token:
        host.inbox.post(partial(host.begin, batch))
        while not (batch.over.wait(1.0) or host.over.is_set()):
            pass
    batch.report.seconds = time.monotonic() - began
    return batch.report
