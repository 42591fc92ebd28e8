"""A pool of threads: the smallest that keeps the contract, for tests and as an example for other backends.

A thread cannot be killed: one that should be is forgotten instead, and whatever it still says goes unheard.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.campaign import Task
from vindeby.runner.protocol import (
    CannotGoOn,
    Failure,
    Kind,
    Outcome,
    PoolEvent,
    Seen,
    WantsWork,
    Work,
    WorkerGone,
    WorkerReady,
)
from vindeby.runner.task_executor import MethodUnusableError, Setup, TaskExecutor
from vindeby.store.disk.run_directory import RunDirectory

NAME = "in-process-worker-"


@dataclass
class _Worker:
    slot: int
    change: threading.Condition
    queue: deque[tuple[int, Task]] = field(default_factory=deque)
    task: int | None = None
    began: float = 0.0
    ending: bool = False
    executor: TaskExecutor | None = None


class InProcessPool:
    """Each worker is a thread with a TaskExecutor."""

    def __init__(self, setup: Setup) -> None:
        self._setup, self._run = setup, RunDirectory(Path(setup.output))
        self._workers: dict[int, _Worker] = {}
        self._threads: list[threading.Thread] = []
        self._events: queue.SimpleQueue[PoolEvent] = queue.SimpleQueue()
        self._lock = threading.RLock()

    def start(self, slot: int) -> None:
        worker = self._workers[slot] = _Worker(slot, threading.Condition(self._lock))
        thread = threading.Thread(target=self._work, args=(worker,), name=f"{NAME}{slot}")
        self._threads.append(thread)
        thread.start()

    def assign(self, slot: int, work: Work) -> None:
        with self._lock:
            if (worker := self._workers.get(slot)) is not None:
                worker.queue.extend(work.tasks)
                worker.change.notify_all()

    def end(self, slot: int, *, now: bool = False) -> None:
        with self._lock:
            if (worker := self._workers.get(slot)) is not None:
                worker.ending = True
                worker.queue.clear()
                worker.change.notify_all()
                if now:
                    self._gone(worker, "told to end at once", by_itself=True)

    def kill(self, slot: int) -> None:
        with self._lock:
            if (worker := self._workers.get(slot)) is not None:
                self._gone(worker, "killed", by_itself=False)

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        events: list[PoolEvent] = []
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=max(timeout_s, 0.001)))
            while True:
                events.append(self._events.get_nowait())
        return events

    def observe(self) -> list[Seen]:
        now = time.monotonic()
        with self._lock:
            return [
                Seen(slot, worker.task, now - worker.began if worker.task is not None else 0.0, 0.0, 0)
                for slot, worker in self._workers.items()
            ]

    def close(self) -> None:
        with self._lock:
            for worker in list(self._workers.values()):
                self._gone(worker, "closed", by_itself=True)
        for thread in self._threads:
            thread.join()

    def _tell(self, worker: _Worker, event: PoolEvent) -> None:
        """Say something on behalf of a worker, unless it is gone."""
        with self._lock:
            if self._workers.get(worker.slot) is worker:
                self._events.put(event)

    def _gone(self, worker: _Worker, why: str, *, by_itself: bool) -> None:
        with self._lock:
            if self._workers.get(worker.slot) is not worker:
                return
            failure = Failure(Kind.KILLED, why)
            self._tell(worker, WorkerGone(worker.slot, worker.task, failure, by_itself))
            del self._workers[worker.slot]
            worker.ending = True
            worker.queue.clear()
            worker.change.notify_all()

    def _work(self, worker: _Worker) -> None:
        slot = worker.slot
        try:
            worker.executor = executor = TaskExecutor(
                self._setup,
                lambda event: self._tell(worker, event),
                slot,
            )
        except MethodUnusableError as error:
            self._tell(worker, CannotGoOn(Outcome.UNUSABLE, str(error)))
            self._gone(worker, "the method is unusable", by_itself=True)
            return
        self._tell(worker, WorkerReady(slot))
        while (item := self._next(worker)) is not None:
            executor.execute(*item)
            with self._lock:
                worker.task = None
        executor.close()
        self._gone(worker, "told to end", by_itself=True)

    def _next(self, worker: _Worker) -> tuple[int, Task] | None:
        with self._lock:
            if not worker.queue and not worker.ending:
                self._tell(worker, WantsWork(worker.slot))
            worker.change.wait_for(lambda: worker.queue or worker.ending)
            if worker.ending:
                return None
            number, task = worker.queue.popleft()
            worker.task, worker.began = number, time.monotonic()
            return number, task
