"""A worker: one process that does task after task and publishes what it finds.

Three threads: the main one computes; one publishes; one reads what the coordinator says and beats the heart. When the
coordinator is gone, the process ends itself and everything it started; should it hang in C just then, the kernel
does that (Linux), and the spawner in any case.

A process that a task has used up or changed (memory, file descriptors, child processes, functions of NumPy that were
replaced) makes room for a fresh one. What it had finished is published first; a task that failed there for want of
something is not blamed but given back, unless it was the first of its process, which had everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from collections import deque

from vindeby.campaign import Task
from vindeby.runner.local.descriptors import Descriptors
from vindeby.runner.local.messages import Channel, End, Heartbeats, Ready, Setup, Slot
from vindeby.runner.local.surroundings import Surroundings
from vindeby.runner.local.task_output import Output
from vindeby.runner.pool import DiskTrouble, TasksDurable, Work, WorkerRetiring
from vindeby.runner.processes import adopt_orphans, child_count, die_with_parent, limit_data, memory_of
from vindeby.runner.protocol import Failed, Failure, Kind, MethodUnusable, WantsWork
from vindeby.runner.task_executor import (
    ExecutorHooks,
    MethodUnusableError,
    TaskExecutor,
    one_line,
    trace,
)

_getpid, _exit = os.getpid, os._exit  # a task may replace them
_RETIRE_AT = 0.7
"""A worker that uses so much of its memory limit between two tasks makes room for a fresh one."""
_MUCH = 0.1
"""A worker that has grown by so much of its memory limit has kept what tasks left behind."""
_MOST_CHILDREN = 64
"""Processes that tasks may leave behind before the worker makes room for a fresh one."""
_LOOK_S = 0.2
_STARVED_S = 1.0
"""How long results wait for a descriptor between two tasks before the worker retires."""
_SHORT_S = 0.25
"""Tasks shorter than this are asked for before the last ones are finished; a long one might better go elsewhere."""


def work(channel: int, heartbeats: int, slot: int, slots: int, log: str) -> int:
    """Be a worker, given the descriptors of its channel and of the heartbeats; its exit status."""
    die_with_parent()
    adopt_orphans()
    _prefer_to_be_killed()
    for descriptor in (channel, heartbeats):
        os.set_inheritable(descriptor, False)
    output = Output(log)
    row = Heartbeats(heartbeats, slots).slot(slot)
    worker = Worker(slot, Channel(socket.socket(fileno=channel)), row, output)
    try:
        return worker.run()
    except EOFError:
        return 0


def main() -> None:
    """The entry of a spawned worker; it leaves without waiting for threads that tasks left behind."""
    channel, heartbeats, slot, slots = map(int, sys.argv[2:6])
    os._exit(work(channel, heartbeats, slot, slots, sys.argv[6]))


def _prefer_to_be_killed() -> None:
    """When the machine runs out of memory, the kernel shall take a worker and not the coordinator."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - not a path of ours
        file.write("500")


class Worker(ExecutorHooks):
    """The main thread's part, and what the threads share; it guards its process against what tasks do to it."""

    def __init__(self, number: int, channel: Channel, slot: Slot, output: Output) -> None:
        self.number = number
        """Of its slot, by which the coordinator knows it."""
        self.channel = channel
        self.slot = slot
        self.output = output
        self.queue: deque[tuple[int, Task, Work]] = deque()
        self.change = threading.Condition()
        self.ending = False
        self._low = 0
        self._asked = False
        self._seconds: float | None = None
        self._looked = 0.0
        self._pid = os.getpid()
        self._begun = 0
        self._retire_at = self._much = float("inf")
        """Bytes of memory in use: at which it retires, and which it has only if tasks left something behind."""
        self._worn = ""
        """Why this process should not take another task."""
        self._stage, self._stage_began, self._noted = "", 0.0, 0.0
        self._descriptors = Descriptors()
        os.register_at_fork(after_in_child=channel.close)

    def run(self) -> int:
        """Set up, work until told to end, publish the rest."""
        first, *early = _first_messages(self.channel)
        assert isinstance(first, Setup)
        self.setup = setup = first
        sys.path[:] = setup.search_path
        try:
            self.executor = self._make_executor(setup)
        except MethodUnusableError as error:
            self.channel.send(MethodUnusable(str(error)))
            return 1
        self.publisher = self.executor.publisher
        lock = self.publisher.publishing
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
        limit_data(setup.memory_limit)
        limit = setup.memory_limit
        if limit is not None:
            fresh = memory_of()
            self._retire_at = _RETIRE_AT * limit if fresh < _RETIRE_AT / 2 * limit else float("inf")
            self._much = fresh + _MUCH * limit
        self.channel.send(Ready(self.executor.writer))
        for message in early:
            self._told(message)
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        self._work()
        self._descriptors.release()
        return 0 if self.executor.close() else 1

    def _make_executor(self, setup: Setup) -> TaskExecutor:
        """Its reports go through the channel, from whichever thread they come."""
        number, send, waits = self.number, self.channel.send, setup.options.wait_for_disk
        return TaskExecutor(
            setup.campaign,
            setup.output,
            on_durable=lambda tasks, shard, seconds: send(TasksDurable(number, tasks, shard, seconds)),
            on_failed=self._report_failure,
            on_disk_trouble=lambda reason: send(DiskTrouble(number, reason, waits)),
            options=setup.options,
            hooks=self,
        )

    def _report_failure(self, task: int, failure: Failure) -> None:
        self.channel.send(Failed(self.number, task, failure))

    def _listen(self) -> None:
        """Another thread: the heart, and the ear."""
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        try:
            while True:
                if poll.poll(1000.0 * self.setup.heartbeat_s):
                    for message in self.channel.receive():
                        self._told(message)
                self.slot.beat()
        except BaseException:  # noqa: BLE001 - the coordinator is gone, or this worker is deaf: no use either way
            os.killpg(0, signal.SIGKILL)

    def _told(self, message: object) -> None:
        with self.change:
            if isinstance(message, Work):
                self.queue.extend((number, task, message) for number, task in message.tasks)
                self._low, self._asked = len(message.tasks) // 2, False
            elif isinstance(message, End):
                self.ending = True
                self.queue.clear()
            self.change.notify_all()
        if isinstance(message, End):
            self.publisher.stop_waiting()
            if message.now:
                self.publisher.flush(timeout_s=2.0)
                os._exit(0)

    def _work(self) -> None:
        while (item := self._next()) is not None:
            number, task, message = item
            if message.careful and not self._published():
                break
            if message.alone:
                limit_data(message.memory_limit)
            self._do(number, task)
            if message.careful or (message.publish_at_end and not self.queue):
                self.publisher.hurry()
            if message.alone:
                limit_data(self.setup.memory_limit)
            if self._is_worn():
                break
        if self._worn:
            self.channel.send(WorkerRetiring(self.number, self._worn, self._pid))

    def _next(self) -> tuple[int, Task, Work] | None:
        """The next task; None when there will be none."""
        with self.change:
            idle = not self.queue and not self.ending
        if idle:
            self._ask()
        with self.change:
            while not self.change.wait_for(lambda: self.queue or self.ending, _STARVED_S):
                if self.publisher.starved:
                    self._worn = self.publisher.starved
                    return None
            if self.ending:
                return None
            item = self.queue.popleft()
            ask = len(self.queue) <= self._low and self._seconds is not None and self._seconds < _SHORT_S
        if ask:
            self._ask()
        return item

    def _published(self) -> bool:
        """Publish everything; False when that needs a fresh process."""
        while not self.publisher.flush(_STARVED_S):
            if self.publisher.starved:
                self._worn = self.publisher.starved
                return False
            if self.publisher.closed:
                break
        return True

    def _ask(self) -> None:
        """Want more tasks, once for each time that some came."""
        if not self._asked:
            self._asked = True
            self.channel.send(WantsWork(self.number, self._seconds))

    def _do(self, number: int, task: Task) -> None:
        """One task, whatever comes of it."""
        size = self.output.begin(task.key)
        self.slot.begin(number, size)
        self._stage = ""
        self.progress("set-up")
        attempt = self.executor.attempt(task)
        spent = attempt.seconds
        self._seconds = spent if self._seconds is None else 0.8 * self._seconds + 0.2 * spent
        self.output.end(size)
        self._begun += 1
        if attempt.failure is None:
            self.slot.end()
            self.executor.publish(number, attempt)
            return
        lacking = self._descriptors.scarce() or (attempt.failure.reason if attempt.shortage else "")
        lacking = lacking or self._outgrown(attempt.failure)
        self.output.key = task.key
        if lacking and self._begun > 1:
            self._worn = lacking
            self.output.line(f"given back, to be tried in a fresh process: {attempt.failure}")
        else:
            self.output.line(f"failed: {attempt.failure}")
            self._report_failure(number, attempt.failure)
        self.output.key = "-"
        self.slot.end()

    def method_loaded(self) -> None:
        """Remember the surroundings as they are for every task."""
        self.surroundings = Surroundings()
        self.output.settle()

    def solving(self) -> None:
        """Start the task's clock."""
        self.slot.start_clock()
        self.progress("computing")

    def progress(self, stage: str, *how_far: float | None) -> None:
        """Note it, not more often than anybody looks; the rest takes as long for its share as what is over."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._stage_began = stage, now
        elif now - self._noted < _LOOK_S:
            return
        *counts, share = how_far or (None,)
        self._noted, left_s = now, (now - self._stage_began) * (1.0 - share) / share if share else None
        self.slot.note(json.dumps([stage, *counts, left_s] if counts else [stage]).encode())

    def solved(self, task: Task, error: BaseException | None) -> None:
        """Only this process goes on, with its surroundings as they were."""
        self._end_if_forked(error)
        self._put_back(task)

    def spoiled(self) -> list[str]:
        """What the running task has replaced."""
        return self.surroundings.changed()

    def _end_if_forked(self, error: BaseException | None) -> None:
        """End a child that the function forked and that came back out of it: only one process is the worker."""
        if _getpid() == self._pid:
            return
        status = 1
        try:
            if isinstance(error, SystemExit):
                status = error.code if isinstance(error.code, int) else int(error.code is not None)
            told = f"raised {one_line(error)}" if error is not None else "returned from the function"
            self.output.line(f"a forked child of this task {told}; it is ended here")
            if error is not None and not isinstance(error, SystemExit):
                self.output.line(trace(error))
        finally:
            _exit(status & 0xFF)

    def _put_back(self, task: Task) -> None:
        """Undo what a task replaced, before its result is looked at, and let no other task run here."""
        if replaced := self.surroundings.put_back():
            more = f" and {len(replaced) - 3} more" if len(replaced) > 3 else ""
            self._worn = f"{task.key} replaced {', '.join(replaced[:3])}{more}"
            self.output.line(f"{self._worn}; put back, and the worker makes room for a fresh one")

    def _is_worn(self) -> bool:
        """Should a fresh process go on? ``_worn`` says why."""
        if not self._worn:
            self._worn = self._descriptors.scarce() or self._looked_at()
        if not self._worn and self.publisher.starved:
            self.publisher.flush(_STARVED_S)
            self._worn = self.publisher.starved
        return bool(self._worn)

    def _outgrown(self, failure: Failure) -> str:
        """Why memory ran out, if it was for what tasks before left behind: the next worker has more of it."""
        memory = memory_of() if failure.kind is Kind.MEMORY else 0
        return f"{memory / 1e6:,.0f} MB are in use after a task" if memory > self._much else ""

    def _looked_at(self) -> str:
        """What is looked at now and then, because it takes its time."""
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return ""
        self._looked = now
        memory = memory_of()
        if memory > self._retire_at:
            return f"{memory / 1e6:,.0f} MB are in use"
        children = child_count()
        return f"tasks left {children} processes behind" if children > _MOST_CHILDREN else ""


def _first_messages(channel: Channel) -> list[object]:
    """What came first; the coordinator may have said more than one thing by now."""
    while True:
        select.select([channel], [], [])
        if messages := channel.receive():
            return messages
