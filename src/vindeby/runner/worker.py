"""A worker: one process that does task after task and publishes what it finds.

Three threads: the main one computes; one publishes; one reads what the coordinator says and beats the heart. When the
coordinator is gone, the process ends itself and everything it started; should it hang in C just then, the kernel
does that (Linux), and the nursery in any case.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from pathlib import Path

from vindeby.assembly.physics import CampaignCheck
from vindeby.campaign import Task
from vindeby.campaign.tasks import Cell
from vindeby.errors import VindebyError
from vindeby.runner.board import Board, Seat
from vindeby.runner.failures import Failure, Kind
from vindeby.runner.kernel import adopt_orphans, die_with_parent, limit_data, memory_of
from vindeby.runner.messages import (
    Channel,
    End,
    Hungry,
    Ready,
    Retiring,
    Setup,
    TaskFailed,
    Unusable,
    Work,
)
from vindeby.runner.methods import method_for
from vindeby.runner.output import Output
from vindeby.runner.publisher import Publisher
from vindeby.runner.work import InvalidResultError, Method, Prepared, checked_record
from vindeby.store.process import Identity
from vindeby.store.publish import ShardWriter
from vindeby.store.record import Record
from vindeby.store.rundir import RunDirectory
from vindeby.store.validate import Check

_LONGEST_TRACEBACK = 16_000
_RETIRE_AT = 0.7
"""A worker that uses so much of its memory limit between two tasks makes room for a fresh one."""
_LOOK_AT_MEMORY_S = 0.2
_SHORT_S = 0.25
"""Tasks shorter than this are asked for before the last ones are finished; a long one might better go elsewhere."""


def work(channel: int, board: int, seat: int, seats: int, log: str) -> int:
    """Be a worker, given the descriptors of its channel and of the board; its exit status."""
    die_with_parent()
    adopt_orphans()
    _prefer_to_be_killed()
    for descriptor in (channel, board):
        os.set_inheritable(descriptor, False)
    output = Output(log)
    worker = Worker(Channel(socket.socket(fileno=channel)), Board(board, seats).seat(seat), output)
    try:
        return worker.run()
    except EOFError:
        return 0


def main() -> None:
    """The entry of a spawned worker; it leaves without waiting for threads that tasks left behind."""
    channel, board, seat, seats = map(int, sys.argv[2:6])
    os._exit(work(channel, board, seat, seats, sys.argv[6]))


def _prefer_to_be_killed() -> None:
    """When the machine runs out of memory, the kernel shall take a worker and not the coordinator."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - not a path of ours
        file.write("500")


class Worker:
    """The main thread's part, and what the threads share."""

    def __init__(self, channel: Channel, seat: Seat, output: Output) -> None:
        self.channel = channel
        self.seat = seat
        self.output = output
        self.queue: deque[tuple[int, Task, Work]] = deque()
        self.change = threading.Condition()
        self.ending = False
        self._low = 0
        self._asked = False
        self._seconds: float | None = None
        self._looked_at_memory = 0.0

    def run(self) -> int:
        """Set up, work until told to end, publish the rest."""
        first, *early = _first_messages(self.channel)
        assert isinstance(first, Setup)
        self.setup = setup = first
        sys.path[:] = setup.search_path
        try:
            self.method: Method = method_for(setup.campaign)
        except Exception as error:  # noqa: BLE001 - whatever importing a user's module raises
            known = isinstance(error, VindebyError)
            self.channel.send(Unusable(str(error) if known else _trace(error)))
            return 1
        self.check: Check = CampaignCheck(setup.campaign) if setup.check_physics else lambda _: ()
        self.cells = {(cell.farm_idx, cell.type_idx): cell for cell in setup.campaign.cells()}
        self._prepared: tuple[Cell | None, Prepared | BaseException | None] = (None, None)
        self.publisher = Publisher(
            ShardWriter(RunDirectory(Path(setup.output))),
            self.channel.send,
            flush_s=setup.flush_s,
            wait_for_disk=setup.wait_for_disk,
        )
        limit_data(setup.memory_limit)
        limit = setup.memory_limit
        grows = limit is not None and memory_of() < _RETIRE_AT / 2 * limit
        self._retire_at = _RETIRE_AT * limit if grows and limit is not None else float("inf")
        me = Identity.current()
        self.channel.send(Ready(f"{me.host}-{me.pid}-{me.token}-"))
        for message in early:
            self._told(message)
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        self._work()
        return 0 if self.publisher.close() else 1

    def _listen(self) -> None:
        """Another thread: the heart, and the ear."""
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        try:
            while True:
                if poll.poll(1000.0 * self.setup.heartbeat_s):
                    for message in self.channel.receive():
                        self._told(message)
                self.seat.beat()
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
            if message.careful:
                self.publisher.flush()
            if message.alone:
                limit_data(message.memory_limit)
            self._do(number, task)
            if message.careful:
                self.publisher.hurry()
            if message.alone:
                limit_data(self.setup.memory_limit)
            if self._too_large():
                self.channel.send(Retiring())
                return

    def _next(self) -> tuple[int, Task, Work] | None:
        """The next task; None when there will be none."""
        with self.change:
            idle = not self.queue and not self.ending
        if idle:
            self._ask()
        with self.change:
            self.change.wait_for(lambda: self.queue or self.ending)
            if self.ending:
                return None
            item = self.queue.popleft()
            ask = len(self.queue) <= self._low and self._seconds is not None and self._seconds < _SHORT_S
        if ask:
            self._ask()
        return item

    def _ask(self) -> None:
        """Want more tasks, once for each time that some came."""
        if not self._asked:
            self._asked = True
            self.channel.send(Hungry(self._seconds))

    def _do(self, number: int, task: Task) -> None:
        """One task, whatever comes of it."""
        size = self.output.begin(task.key)
        self.seat.begin(number, size)
        began = time.perf_counter()
        failure: Failure | None = None
        try:
            record, seconds = self._solve(task)
        except InvalidResultError as error:
            failure = Failure(Kind.INVALID, str(error))
        except MemoryError as error:
            failure = Failure(Kind.MEMORY, f"memory could not be had: {_words(error)}", _trace(error))
        except BaseException as error:  # noqa: BLE001 - a task may raise anything, SystemExit too
            failure = Failure(Kind.EXCEPTION, _words(error), _trace(error))
        spent = time.perf_counter() - began if failure is not None else seconds
        self._seconds = spent if self._seconds is None else 0.8 * self._seconds + 0.2 * spent
        self.output.end(size)
        if failure is None:
            self.seat.end()
            self.publisher.add(number, record, seconds)
        else:
            self.output.key = task.key
            self.output.line(f"failed: {failure}")
            self.output.key = "-"
            self.channel.send(TaskFailed(number, failure))
            self.seat.end()

    def _solve(self, task: Task) -> tuple[Record, float]:
        """The record and the seconds it took, without what its cell shares, which is set up first."""
        cell = self.cells[task.farm_idx, task.type_idx]
        if self._prepared[0] is not cell:
            self._prepared = (None, None)
            try:
                self._prepared = (cell, self.method.prepare(cell))
            except Exception as error:  # noqa: BLE001 - it is raised again for every task of the cell
                self._prepared = (cell, error)
        prepared = self._prepared[1]
        if isinstance(prepared, BaseException):
            raise prepared
        assert prepared is not None
        self.seat.start_clock()
        started = time.perf_counter()
        result = prepared.solve(task)
        seconds = time.perf_counter() - started
        return checked_record(self.setup.campaign, task, result, seconds, self.check), seconds

    def _too_large(self) -> bool:
        now = time.monotonic()
        if now - self._looked_at_memory < _LOOK_AT_MEMORY_S:
            return False
        self._looked_at_memory = now
        return memory_of() > self._retire_at


def _first_messages(channel: Channel) -> list[object]:
    """What came first; the coordinator may have said more than one thing by now."""
    while True:
        select.select([channel], [], [])
        if messages := channel.receive():
            return messages


def _words(error: BaseException) -> str:
    """An exception in one line; even its own text may fail."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a user's __str__
        text = "(its text cannot be made)"
    if isinstance(error, VindebyError):
        return text
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _trace(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - a user's __str__ or __repr__
        text = "".join(traceback.format_tb(error.__traceback__)) + _words(error)
    return text[-_LONGEST_TRACEBACK:]
