"""The workers of a run as processes: started through the spawner, spoken to by channel, and what the dead leave."""

from __future__ import annotations

import contextlib
import json
import sched
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.runner.local.messages import Channel, End, Heartbeats, Message, Setup
from vindeby.runner.local.spawner import Spawner
from vindeby.runner.processes import memory_of, oom_kills
from vindeby.runner.protocol import (
    Failure,
    Kind,
    MethodUnusable,
    PoolEvent,
    PoolNote,
    Seen,
    TaskProgress,
    Work,
    WorkerGone,
    WorkerRetiring,
    how_it_ended,
)
from vindeby.runner.publisher import Unreported
from vindeby.store.disk.run_directory import RunDirectory

_TAIL = 8_000
_SIGKILL = 9
_RESEND_S = 0.1
"""When a worker that does not read is sent the rest of a message."""
_DUMP_S = 0.3
"""How long a worker has to write down where it is before it is killed for taking too long."""


@dataclass
class WorkerHandle:
    """One worker process."""

    slot: int
    channel: Channel
    log: Path
    pid: int = 0
    leaving: bool = False
    """It was asked to end, or reported that it retires."""
    retires_for: str = ""
    unreported: Unreported = field(default_factory=Unreported)


class LocalPool:
    """Processes of this machine behind the ``WorkerPool`` protocol."""

    def __init__(self, run: RunDirectory, setup: Setup, slots: int, method: str, name: str) -> None:
        self._run = run
        self._setup = setup
        self._name = name
        self._workers: dict[int, WorkerHandle] = {}
        self._events: list[PoolEvent] = []
        self._timers = sched.scheduler(time.monotonic)
        self._oom_kills = oom_kills()
        self._heartbeats = Heartbeats.create(slots)
        log = run.logs / f"{name}-spawner.log"
        self._spawner = Spawner(self._heartbeats.descriptor, slots, method, setup.search_path, log)
        self._selector = selectors.DefaultSelector()
        self._listen(self._spawner, self._hear_spawner)
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        self._listen(self._woken, self._hear_waker)

    def start(self, slot: int) -> None:
        """Ask the spawner for a worker, and send it what it needs to know first."""
        ours, theirs = socket.socketpair()
        worker = WorkerHandle(slot, Channel(ours), self._run.logs / f"{self._name}-worker{slot}.log")
        self._heartbeats.slot(slot).clear()
        self._spawner.start(slot, theirs, worker.log)
        self._workers[slot] = worker
        self._listen(worker.channel, lambda: self._hear(worker))
        self._post(worker, self._setup)

    def assign(self, slot: int, work: Work) -> None:
        """Send tasks to a worker."""
        if (worker := self._workers.get(slot)) is not None:
            worker.unreported.assign(work)
            self._post(worker, work)

    def end(self, slot: int, *, now: bool = False) -> None:
        """Tell a worker to publish and exit."""
        if (worker := self._workers.get(slot)) is not None:
            worker.leaving = True
            self._post(worker, End(now))

    def kill(self, slot: int, failure: Failure | None = None) -> None:
        """Kill a worker and its process group; one that takes too long first writes down where it is."""
        worker = self._workers.get(slot)
        if worker is not None and failure is not None and failure.kind in {Kind.TIME, Kind.STUCK}:
            self._spawner.dump(slot)
            self._timers.enter(_DUMP_S, 0, self._kill_now, (worker,))
        elif worker is not None:
            self._spawner.kill(slot)

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        """Hear workers and spawner, and do what is due."""
        due_s = self._timers.run(blocking=False)
        timeout_s = timeout_s if due_s is None else min(timeout_s, due_s)
        for key, _ in self._selector.select(timeout_s if not self._events else 0.0):
            key.data()
        events, self._events = self._events, []
        return events

    def wake(self) -> None:
        """Let ``wait`` return now; the one method that another thread may call."""
        with contextlib.suppress(OSError):  # full: then it wakes anyway
            self._waker.send(b"!")

    def observe(self) -> list[Seen]:
        """What heartbeats and the kernel say."""
        now = time.monotonic()
        return [self._seen(worker, now) for worker in self._workers.values() if worker.pid]

    def close(self) -> None:
        """End everything that is left."""
        self._spawner.close()
        self._selector.close()
        self._woken.close()
        self._waker.close()
        for worker in self._workers.values():
            worker.channel.close()
        self._workers.clear()
        self._heartbeats.close()

    def _hear_waker(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._woken.recv(4096)

    def _listen(self, channel: Channel | Spawner | socket.socket, hear: Callable[[], None]) -> None:
        self._selector.register(channel, selectors.EVENT_READ, hear)

    def _is_current(self, worker: WorkerHandle) -> bool:
        return self._workers.get(worker.slot) is worker

    def _post(self, worker: WorkerHandle, message: Message) -> None:
        worker.channel.post(message)
        self._flush(worker)

    def _flush(self, worker: WorkerHandle) -> None:
        if self._is_current(worker) and not worker.channel.flush():
            self._timers.enter(_RESEND_S, 0, self._flush, (worker,))

    def _kill_now(self, worker: WorkerHandle) -> None:
        if self._is_current(worker):
            self._spawner.kill(worker.slot)

    def _seen(self, worker: WorkerHandle, now: float) -> Seen:
        status = self._heartbeats.look(worker.slot)
        at_work = status.task is not None and status.started_s
        seconds = now - status.started_s if at_work else 0.0
        memory, progress = memory_of(worker.pid), None
        with contextlib.suppress(ValueError, TypeError):  # it may be written just now
            progress = TaskProgress(*json.loads(status.note)) if status.task is not None else None
        return Seen(worker.slot, status.task, seconds, now - status.beat_s, memory, worker.pid, progress)

    def _hear(self, worker: WorkerHandle) -> None:
        if not self._is_current(worker):
            return  # it was removed in the same turn
        try:
            for message in worker.channel.receive():
                worker.unreported.hear(message)
                if isinstance(message, WorkerRetiring):
                    worker.retires_for = message.reason
                worker.leaving |= isinstance(message, WorkerRetiring | MethodUnusable)
                self._events.append(message)
        except EOFError:
            self._selector.unregister(worker.channel)
            self._timers.enter(_DUMP_S, 0, self._kill_now, (worker,))

    def _hear_spawner(self) -> None:
        try:
            events = self._spawner.events()
        except EOFError:
            self._spawner_died()
            return
        for event in events:
            worker = self._workers.get(event["slot"])
            if worker is None:
                continue
            if event["event"] == "started":
                worker.pid = event["pid"]
            else:
                self._hear_last(worker)  # first, as it may have said that it retires
                failure = self._failure_of(worker, event["status"], event["oom"])
                self._remove(worker, failure, by_itself=worker.leaving and event["status"] in {0, 1})

    def _spawner_died(self) -> None:
        """Everything below it died with it; each task that was running may have done it."""
        self._events.append(PoolNote("spawner died"))
        self._selector.unregister(self._spawner)
        self._spawner.restart()
        self._listen(self._spawner, self._hear_spawner)
        for worker in list(self._workers.values()):
            failure = Failure(Kind.KILLED, "the process that starts workers was killed")
            self._remove(worker, failure, by_itself=False)

    def _remove(self, worker: WorkerHandle, failure: Failure, *, by_itself: bool) -> None:
        """Hear what a dead worker still said, and find what it was on and what it published."""
        self._hear_last(worker)
        published = worker.unreported.published(self._run)
        suspect = self._heartbeats.look(worker.slot).task
        worker.channel.close()
        del self._workers[worker.slot]
        self._events.append(WorkerGone(worker.slot, suspect, failure, by_itself, published, worker.pid))

    def _hear_last(self, worker: WorkerHandle) -> None:
        """What a dead worker still said; nothing comes after that."""
        if worker.channel.fileno() in self._selector.get_map():
            self._hear(worker)
        if worker.channel.fileno() in self._selector.get_map():
            self._selector.unregister(worker.channel)

    def _failure_of(self, worker: WorkerHandle, status: int, kills: int) -> Failure:
        """Why a process ended that was not asked to."""
        shown = self._heartbeats.look(worker.slot)
        tail = _tail(worker.log, shown.log_offset) if shown.task is not None else ""
        starved, self._oom_kills = kills > self._oom_kills, kills
        reason, kind = worker.retires_for or how_it_ended(status), Kind.KILLED
        if status == -_SIGKILL and starved:
            reason, kind = "the kernel killed the process because the machine ran out of memory", Kind.MEMORY
        return Failure(kind, reason, tail, worker.log.name)


def _tail(log: Path, offset: int) -> str:
    """The end of what a log says since a task began."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(offset, size - _TAIL))
            return file.read(_TAIL).decode(errors="replace")
    except OSError:
        return ""
