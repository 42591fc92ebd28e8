"""A worker: one process that runs task after task and publishes the results.

Three threads: the main one computes; one publishes; one receives messages and writes heartbeats. When the
coordinator is gone, the process ends itself and everything it started; should it hang in C just then, the kernel
does that (Linux), and the spawner in any case.

A worker makes room for a fresh one when a task of it raised, when much of its memory is in use, or when it cannot
publish; what it has finished is published first. So what a task does to its process costs another task at most one
attempt.
"""

import contextlib
import faulthandler
import io
import json
import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

from vindeby.campaign import Task
from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.processes import (
    adopt_orphans,
    die_with_parent,
    limit_data,
    memory_of,
    node_and_job,
    open_log,
)
from vindeby.runner.protocol import (
    CannotGoOn,
    EndWorker,
    Failed,
    Outcome,
    PoolEvent,
    PoolNote,
    WantsWork,
    Work,
    WorkerReady,
    WorkerRetiring,
)
from vindeby.runner.task_executor import (
    COMPUTING,
    Attempt,
    MethodUnusableError,
    Setup,
    TaskExecutor,
)
from vindeby.store.format.record import Record

KEPT_OF_A_TASK = 1 << 20
"""Bytes of output that are kept of one task."""


class Output:
    """The log of this process; from now on standard output and error go there.

    The file stands in for standard output and error themselves, so nothing that a task or a library prints, from Python
    or from C, is lost when the process dies. A task that prints without end is cut to its first part when it ends.
    """

    def __init__(self, path: str) -> None:
        self.name = Path(path).name
        self._descriptor = open_log(path)
        self._stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
        self._restore_streams()
        faulthandler.enable(file=2)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, file=2)
        logging.basicConfig(
            stream=_text_to_log(), level=logging.INFO, format="%(levelname)s %(name)s: %(message)s"
        )

    def size(self) -> int:
        """Return the size of the log."""
        return os.fstat(self._descriptor).st_size

    def end(self, key: str, size: int) -> None:
        """Take the log back from a task that began when the log had this size."""
        for name in ("stdout", "stderr"):
            with contextlib.suppress(Exception):  # it may be any object, put there by a task
                getattr(sys, name).flush()
        self._restore_streams()
        if written := self.size() - size:
            kept = f"; the first {KEPT_OF_A_TASK} are kept" if written > KEPT_OF_A_TASK else ""
            if kept:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, size + KEPT_OF_A_TASK)
            self.line(key, f"printed {written} bytes{kept}")

    def _restore_streams(self) -> None:
        for number in (1, 2):
            os.dup2(self._descriptor, number)
        sys.stdin, sys.stdout = self._stdin, _text_to_log()
        sys.stderr = sys.stdout

    def line(self, key: str, text: str) -> None:
        """Write a line about a task; a full disk does not fail it."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with contextlib.suppress(OSError):
            os.write(self._descriptor, f"{stamp} {key} {text}\n".encode(errors="replace"))


class _Log(io.RawIOBase):
    """A standard error stream on which a full disk does not fail the task that prints."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def write(self, data: Any) -> int:
        with contextlib.suppress(OSError):
            os.write(2, data)
        return len(data)


def _text_to_log() -> TextIO:
    return io.TextIOWrapper(_Log(), "utf-8", "replace", line_buffering=True)  # type: ignore[type-var]


_RETIRE_AT = 0.7
"""A worker that uses so much of its memory between two tasks makes room for a fresh one."""
_SPARE_DESCRIPTORS = 8
"""Kept back, to publish with what a worker has finished whose tasks have taken all others."""
_BEAT_S = 1.0
_LOOK_S = 0.2
_STARVED_S = 1.0
"""The time that results wait for a descriptor between two tasks before the worker retires."""
_LOCK_S = 0.02
_SHORT_S = 0.25
"""Tasks shorter than this are asked for before the last ones are finished; a long one might better go elsewhere."""


def work(channel: int, heartbeats: int, slot: int, log: str) -> int:
    """Run a worker, given the descriptors of its channel and of the heartbeats; return its exit status."""
    die_with_parent()
    adopt_orphans()
    _prefer_to_be_killed()
    for descriptor in (channel, heartbeats):
        os.set_inheritable(descriptor, False)
    output = Output(log)
    worker = Worker(slot, Connection(channel), Heartbeats(heartbeats), output)
    try:
        return worker.run()
    except EOFError:
        return 0


def _prefer_to_be_killed() -> None:
    """Make the kernel kill a worker rather than the coordinator when memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - not a path of ours
        file.write("500")


class Worker:
    """The main thread of a worker and the state its threads share; it protects the process from its tasks."""

    def __init__(self, number: int, channel: Connection, heartbeats: Heartbeats, output: Output) -> None:
        self.number = number
        """The number of its slot, by which the coordinator knows it."""
        self.channel = channel
        self._sending = threading.Lock()
        self.heartbeats, self.slot = heartbeats, heartbeats.slot(number)
        self.output = output
        self.queue: deque[tuple[int, Task, Work]] = deque()
        self.change = threading.Condition()
        self.ending = False
        self._low = 0
        self._asked = self._has_last = False
        self._seconds: float | None = None
        self._looked = 0.0
        self._pid = os.getpid()
        self._retire_at = float("inf")
        """Bytes of memory in use at which it retires."""
        self._worn = ""
        """Why this process should not take another task."""
        self._left: set[int] = set()
        """Tasks that were begun at the same time and are not over."""
        self._log_size = 0
        self._stage, self._noted = "", 0.0
        self._spare = [os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) for _ in range(_SPARE_DESCRIPTORS)]
        os.register_at_fork(after_in_child=channel.close)

    def run(self) -> int:
        """Set up, work until asked to end or worn out, then publish the remaining results."""
        if not self._set_up():
            return 1
        while not self._worn and (batch := self._next()) and self._begin(batch):
            for place, attempt in self.executor.attempts([task for _, task, _ in batch]):
                self._settle(*batch[place][:2], attempt)
            self._end()
        if self._worn:
            self._report(WorkerRetiring(self.number, self._worn, self._pid))
        for descriptor in self._spare:
            with contextlib.suppress(OSError):  # a task may have closed it
                os.close(descriptor)
        return 0 if self.executor.close() else 1

    def _set_up(self) -> bool:
        """Prepare for tasks; return False if the method cannot be used."""
        self.setup: Setup = self.channel.recv()
        sys.path[:] = self.setup.search_path
        try:
            self.executor = TaskExecutor(self.setup, self._report, self.number, self.progress)
        except MethodUnusableError as error:
            self._report(CannotGoOn(Outcome.UNUSABLE, str(error)))
            return False
        self.publisher = self.executor.publisher
        lock = self.publisher.publishing
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
        limit = self.setup.memory_limit
        limit_data(limit)
        if limit is not None:
            fresh = memory_of()
            self._retire_at = _RETIRE_AT * limit if fresh < _RETIRE_AT / 2 * limit else float("inf")
        node, job = node_and_job()
        self._report(WorkerReady(self.number, self._pid, self.output.name, node, job))
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        return True

    def _report(self, event: PoolEvent) -> None:
        """Send an event, waiting as long as it takes; any thread may call this."""
        if isinstance(event, Failed):
            event = replace(event, failure=replace(event.failure, log=self.output.name))
        with self._sending, contextlib.suppress(OSError):
            self.channel.send(event)  # it fails when the coordinator is gone, which the listener notices

    def _listen(self) -> None:
        """Send heartbeats and receive messages; runs in a second thread."""
        try:
            while True:
                if self.channel.poll(_BEAT_S):
                    self._received(self.channel.recv())
                self.slot.beat()
        except BaseException:  # noqa: BLE001 - the coordinator is gone, or cannot be heard
            os.killpg(0, signal.SIGKILL)

    def _received(self, message: object) -> None:
        with self.change:
            if isinstance(message, Work):
                self.queue.extend((number, task, message) for number, task in message.tasks)
                self._low, self._asked = len(message.tasks) // 2, False
                self._has_last |= message.last
            elif isinstance(message, EndWorker):
                self.ending = True
                self.queue.clear()
            self.change.notify_all()
        if isinstance(message, EndWorker) and message.now:
            self.publisher.flush(timeout_s=2.0)
            os._exit(0)

    def _next(self) -> list[tuple[int, Task, Work]]:
        """Return the next task, or tasks of one farm and type to compute together; empty if there will be none."""
        with self.change:
            idle = not self.queue and not self.ending
            if idle and self._has_last:
                self._worn = "its batch is done"
                return []
        if idle:
            self._ask()
        with self.change:
            while not self.change.wait_for(lambda: self.queue or self.ending, _STARVED_S):
                if self.publisher.blocked:
                    self._worn = self.publisher.blocked
                    return []
            if self.ending:
                return []
            batch = [self.queue.popleft()]
            while len(batch) < self.executor.together and self.queue and self.queue[0][2] is batch[0][2]:
                batch.append(self.queue.popleft())
            is_short = self._seconds is not None and self._seconds < _SHORT_S
            ask = len(self.queue) <= self._low and is_short and self.executor.together == 1
        if ask:
            self._ask()
        return batch

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            self._report(WantsWork(self.number, self._seconds, self.executor.together))

    def _begin(self, batch: Sequence[tuple[int, Task, Work]]) -> bool:
        """Wait until other workers of the machine let this one compute; return False if it is asked to end."""
        number, _, work = batch[0]
        while not self.heartbeats.lock(alone=work.retry):
            with self.change:
                if self.change.wait_for(lambda: self.ending, _LOCK_S):
                    return False
        if work.retry:
            limit_data(self.setup.memory_limit_alone)
        self._left = {each for each, _, _ in batch}
        self._stage, self._log_size = "", self.output.size()
        self.slot.begin(number, self._log_size)
        self.progress("set-up")
        return True

    def _settle(self, number: int, task: Task, attempt: Attempt) -> None:
        """Publish or report a task; the slot always names a task that is still running."""
        outcome, spent = attempt.outcome, attempt.seconds
        self._seconds = spent if self._seconds is None else 0.8 * self._seconds + 0.2 * spent
        self._left.discard(number)
        if self._left:
            self.slot.turn_to(min(self._left))
            self.progress(f"tasks at the same time, {len(self._left)} left")
        else:
            self.output.end(task.key, self._log_size)
        if isinstance(outcome, Record):
            if not self._left:
                self.slot.end()
            self.publisher.add(number, outcome, spent)
        else:
            self.output.line(task.key, f"failed: {outcome}")
            self._report(Failed(self.number, number, outcome, attempt.final))
            if not attempt.final:
                self._worn = f"{task.key} failed in this process: {outcome}"

    def _end(self) -> None:
        self.slot.end()
        limit_data(self.setup.memory_limit)
        self.heartbeats.unlock()
        self._worn = self._worn or self._wear()

    def progress(self, stage: str, *how_far: float | None) -> None:
        """Store the stage and progress of the task, not more often than anybody reads them."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage = stage
            if stage == COMPUTING:
                self.slot.start_clock()
        elif now - self._noted < _LOOK_S:
            return
        self._noted = now
        self.slot.note(json.dumps([stage, *how_far]).encode())

    def _wear(self) -> str:
        """Return why a fresh process should take over; empty if there is no reason."""
        if self.executor.lost:
            reason = f"the card failed, its tasks were finished on the processor: {self.executor.lost}"
            self._report(PoolNote("card lost", {"worker": self.number, "reason": reason}))
            return reason
        if self.publisher.blocked:
            self.publisher.flush(_STARVED_S)
            return self.publisher.blocked
        now = time.monotonic()
        if now - self._looked < _LOOK_S:  # reading the memory in use takes its time
            return ""
        self._looked = now
        memory = memory_of()
        return f"{memory / 1e6:,.0f} MB are in use" if memory > self._retire_at else ""
