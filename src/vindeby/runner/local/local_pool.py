"""The workers of a run as processes: started through the spawner, reached by pipes, cleaned up after death.

Two threads per worker read and write its pipe, so that one that hangs, or a half-written message of one that died,
holds up nobody. Everything else happens in the thread that the pool belongs to. Results never travel here: a worker
publishes them itself and reports which tasks are durable.
"""

import contextlib
import errno
import json
import math
import pickle
import queue
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.local.spawner import Spawner, hang_up
from vindeby.runner.processes import end_of_log, memory_of
from vindeby.runner.protocol import (
    CannotGoOn,
    EndWorker,
    Failure,
    Inbox,
    Kind,
    PoolEvent,
    PoolNote,
    Seen,
    TaskProgress,
    WantsWork,
    Work,
    WorkerGone,
    WorkerRetiring,
    how_it_ended,
)
from vindeby.runner.task_executor import Setup
from vindeby.store.disk.run_directory import RunDirectory

_TAIL = 8_000
_DUMP_S = 0.3
"""The time that a worker has to write a traceback before it is killed for exceeding a limit."""


@dataclass
class WorkerHandle:
    """A worker process, and the coordinator's end of the pipe to it."""

    slot: int
    pipe: Connection
    log: Path
    outbox: queue.SimpleQueue[bytes | None] = field(default_factory=queue.SimpleQueue)
    threads: list[threading.Thread] = field(default_factory=list)
    pid: int = 0
    leaving: bool = False
    """Whether the worker was asked to end, or reported that it retires."""
    retires_for: str = ""
    killed_for: Failure | None = None
    """Over which limit it was."""
    kill_at: float = math.inf
    """When it is killed, after it had time to write down where it is, or to be reported as ended."""
    most_together: int = 1
    together: int = 1
    """The number of tasks that the worker computes at the same time."""
    retries: bool = False
    """Whether the worker has a task that may use ``Setup.memory_limit_alone``."""

    def send(self, message: Setup | Work | EndWorker) -> None:
        """Queue a message for the writing thread."""
        self.outbox.put(pickle.dumps(message))

    def kill_soon(self) -> None:
        """Schedule the worker to be killed after a moment."""
        self.kill_at = min(self.kill_at, time.monotonic() + _DUMP_S)

    def hang_up(self) -> None:
        """Close both directions once the process is gone; return when all its messages were passed on."""
        reader, writer = self.threads
        reader.join(_DUMP_S)  # it ends by itself, unless something that a task left behind holds the pipe
        hang_up(self.pipe)
        reader.join()
        self.outbox.put(None)
        writer.join()
        self.pipe.close()


class LocalPool:
    """Processes of this machine behind the ``WorkerPool`` protocol."""

    def __init__(self, run: RunDirectory, setup: Setup, heartbeats: Heartbeats) -> None:
        self._run, self._setup, self._heartbeats = run, setup, heartbeats
        self._inbox = Inbox()
        self._workers: dict[int, WorkerHandle] = {}
        self._spawner = self._start_spawner()

    def _start_spawner(self) -> Spawner:
        log = self._run.logs / f"{self._setup.name}-spawner.log"
        listen = partial(_thread, self._read, self._hear_spawner, self._spawner_died)
        return Spawner(self._heartbeats.descriptor, self._setup.search_path, log, listen)

    def start(self, slot: int) -> None:
        """Ask the spawner for a worker, and send it what it needs to know first."""
        ours, theirs = Pipe()
        with theirs:
            log = self._run.logs / f"{self._setup.name}-worker{slot}.log"
            worker = WorkerHandle(slot, ours, log)
            self._heartbeats.slot(slot).clear()
            hear, over = partial(self._hear, worker), worker.kill_soon
            worker.threads = [_thread(self._read, hear, over, worker.pipe), _thread(_write, worker)]
            worker.send(self._setup)
            self._spawner.start(slot, theirs, log)
        self._workers[slot] = worker

    def assign(self, slot: int, work: Work) -> None:
        """Send tasks to a worker."""
        if (worker := self._workers.get(slot)) is not None:
            worker.together = min(worker.most_together, len(work.tasks))
            worker.retries = work.retry
            worker.send(work)

    def end(self, slot: int, *, now: bool = False) -> None:
        """Ask a worker to publish and exit."""
        if (worker := self._workers.get(slot)) is not None:
            worker.leaving = True
            worker.send(EndWorker(slot, now))

    def kill(self, slot: int) -> None:
        """Kill a worker and its process group."""
        if slot in self._workers:
            self._spawner.signal(slot, signal.SIGKILL)

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        """Return the events of workers and the spawner, after handling what is due."""
        return self._inbox.wait(timeout_s)

    def observe(self) -> list[Seen]:
        """Return the state of all workers; a worker over a limit writes a traceback and is then killed."""
        now, seen = time.monotonic(), []
        for worker in self._workers.values():
            if worker.pid:
                seen.append(self._seen(worker, now))
                if worker.killed_for is None:
                    self._limit(worker, excess(seen[-1], self._setup, worker.together, alone=worker.retries))
            if worker.kill_at <= time.monotonic():
                self.kill(worker.slot)
        return seen

    def close(self) -> None:
        """End all remaining processes."""
        self._spawner.close()
        for worker in self._workers.values():
            worker.hang_up()
        self._workers.clear()

    def _read(self, hear: Callable[[Any], None], over: Callable[[], None], pipe: Connection) -> None:
        """Post each message until the other side is gone or sends something unreadable; runs in a thread."""
        with contextlib.suppress(Exception):
            while True:
                self._inbox.post(partial(hear, pipe.recv()))
        self._inbox.post(over)

    def _limit(self, worker: WorkerHandle, found: Failure | None) -> None:
        worker.killed_for = found
        if found is not None and found.kind is Kind.MEMORY:
            self.kill(worker.slot)
        elif found is not None:
            self._spawner.signal(worker.slot, signal.SIGUSR1)  # it writes down where it is
            worker.kill_soon()

    def _seen(self, worker: WorkerHandle, now: float) -> Seen:
        status = self._heartbeats.look(worker.slot)
        at_work = status.task is not None and status.started_s
        seconds = now - status.started_s if at_work else 0.0
        memory, progress = memory_of(worker.pid), None
        with contextlib.suppress(ValueError, TypeError):  # it may be written just now
            progress = TaskProgress(*json.loads(status.note)) if status.task is not None else None
        return Seen(worker.slot, status.task, seconds, now - status.beat_s, memory, worker.pid, progress)

    def _hear(self, worker: WorkerHandle, message: PoolEvent) -> None:
        if isinstance(message, WorkerRetiring):
            worker.retires_for = message.reason
        elif isinstance(message, WantsWork):
            worker.most_together = message.together
        worker.leaving |= isinstance(message, WorkerRetiring | CannotGoOn)
        self._inbox.events.append(message)

    def _hear_spawner(self, event: tuple[str, int, int]) -> None:
        what, slot, number = event
        worker = self._workers.get(slot)
        if worker is None:
            return
        if what == "started":
            worker.pid = number
        else:
            worker.hang_up()
            self._inbox.post(partial(self._ended, worker, number))

    def _ended(self, worker: WorkerHandle, status: int) -> None:
        """Remove a process that has ended; its last messages have already been read."""
        failure = self._failure_of(worker, status)
        self._remove(worker, failure, by_itself=worker.leaving and status in {0, 1})

    def _spawner_died(self) -> None:
        """Restart the spawner, whose workers died with it; each running task may be the cause."""
        self._inbox.events.append(PoolNote("spawner died"))
        self._spawner.close()
        self._spawner = self._start_spawner()
        failure = Failure(Kind.KILLED, "the process that starts workers was killed")
        for worker in self._workers.values():
            worker.hang_up()
            self._inbox.post(partial(self._remove, worker, failure, by_itself=False))

    def _remove(self, worker: WorkerHandle, failure: Failure, *, by_itself: bool) -> None:
        if self._workers.get(worker.slot) is not worker:
            return  # it ended, and then the spawner died
        suspect = self._heartbeats.look(worker.slot).task
        del self._workers[worker.slot]
        self._inbox.events.append(WorkerGone(worker.slot, suspect, failure, by_itself, worker.pid))

    def _failure_of(self, worker: WorkerHandle, status: int) -> Failure:
        shown = self._heartbeats.look(worker.slot)
        tail = end_of_log(worker.log, _TAIL, shown.log_offset) if shown.task is not None else ""
        if worker.killed_for is not None:
            return replace(worker.killed_for, traceback=tail, log=worker.log.name)
        return Failure(Kind.KILLED, worker.retires_for or how_it_ended(status), tail, worker.log.name)


def excess(seen: Seen, setup: Setup, together: int = 1, *, alone: bool = False) -> Failure | None:
    """Return the limit that a worker exceeds: memory, time per task, or silence; None if it exceeds none."""
    options, limit = setup.campaign.run, setup.memory_limit_alone if alone else setup.memory_limit
    if limit is not None and seen.memory > limit:
        used, most = seen.memory / 1e6, limit / 1e6
        return Failure(Kind.MEMORY, f"used {used:,.0f} MB, more than the limit of {most:,.0f} MB")
    most_s = options.time_limit_s
    if seen.task is not None and most_s is not None and seen.seconds / together > most_s:
        return Failure(Kind.TIME, f"ran longer than the limit of {most_s:g} s")
    if seen.silent_s > options.silent_limit_s:
        return Failure(Kind.STUCK, f"the worker gave no sign of life for {seen.silent_s:.0f} s")
    return None


def _thread(target: Callable[..., None], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, f"{error}, see ulimit -u") from error
    return thread


def _write(worker: WorkerHandle) -> None:
    """Send the messages of the outbox until None comes or the other side is gone; runs in a thread."""
    with contextlib.suppress(OSError):
        while (message := worker.outbox.get()) is not None:
            worker.pipe.send_bytes(message)
