"""The plan and the processes together: one loop that never waits for a worker.

When this process dies, at any moment, nothing needs to be cleaned up: the spawner and the workers end with it, what was
published stays, and the next run begins by looking at what is there.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import selectors
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from vindeby.runner import protocol as protocol
from vindeby.runner.failures import Failure, Kind
from vindeby.runner.linux import memory_of
from vindeby.runner.local import messages
from vindeby.runner.local.local_pool import LocalPool, WorkerHandle
from vindeby.runner.plan import Plan
from vindeby.runner.progress import Progress, Rate, Watcher, WorkerView
from vindeby.runner.protocol import Finish, Outcome
from vindeby.runner.signals import StopSignals
from vindeby.runner.task_space import TaskSpace
from vindeby.store.disk.events import SET_ASIDE, EventLog
from vindeby.store.disk.locks.lock import Lock

_LOOK_S = 0.1
_SHOW_S = 1.0
_DUMP_S = 0.3
"""How long a worker has to write down where it is before it is killed for taking too long."""


class Supervisor:
    """Runs a plan to its end."""

    def __init__(
        self,
        the_plan: Plan,
        space: TaskSpace,
        pool: LocalPool,
        log: EventLog,
        watch: Watcher,
        before: int,
        lock: Lock,
        meanwhile: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._lock = lock
        self._plan, self._space, self._pool, self._log, self._watch = the_plan, space, pool, log, watch
        self._before = before
        self._meanwhile = meanwhile
        self._total = the_plan.open
        self._selector = selectors.DefaultSelector()
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._began = time.monotonic()
        self._rate = Rate()
        self._trouble = ""
        self._finish: Finish | None = None
        self.failures: Counter[Kind] = Counter()
        self.last_failures: dict[str, Failure] = {}
        self._looked = self._shown = self._speed = 0.0

    def run(self) -> Finish:
        """Supervise until everything is settled, or the run is stopped."""
        with StopSignals() as signals, self._selector:
            self._selector.register(self._pool.spawner, selectors.EVENT_READ, self._hear_spawner)
            self._selector.register(signals, selectors.EVENT_READ, lambda: self._stop(signals))
            try:
                self._obey(self._plan.begin())
                while self._finish is None:
                    self._turn()
                self._report()
            finally:
                self._pool.close()
        return self._finish

    @property
    def done(self) -> int:
        """How many tasks were done."""
        return self._plan.done

    def _turn(self) -> None:
        now = time.monotonic()
        due = self._looked + _LOOK_S
        if self._later:
            due = min(due, self._later[0][0])
        for key, _ in self._selector.select(max(0.0, due - now)):
            key.data()
        now = time.monotonic()
        while self._later and self._later[0][0] <= now and self._finish is None:
            heapq.heappop(self._later)[2]()
        if now - self._looked >= _LOOK_S and self._finish is None:
            self._looked = now
            self._look(now)
            if self._lock.is_lost:  # whoever took it over runs the campaign now: end the workers at once
                self._finish = Finish(Outcome.LOCK_LOST, "another process took over the lock")

    def _happened(self, event: protocol.Event) -> None:
        if self._finish is None:
            self._obey(self._plan.handle(event, time.monotonic()))

    def _obey(self, instructions: Iterable[protocol.Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case protocol.StartWorker(slot, delay_s):
                    self._after(delay_s, functools.partial(self._start, slot))
                case protocol.Assign():
                    self._send(instruction)
                case protocol.EndWorker(slot, now):
                    self._end(slot, now)
                case protocol.KillWorker(slot, failure):
                    self._kill(slot, failure)
                case protocol.TryAgain(task, failure, attempt):
                    self._note("failed", task, failure, attempt=attempt)
                case protocol.SetAside(task, failure, attempts):
                    self._set_aside(task, failure, attempts)
                case Finish():
                    self._finish = instruction

    def _after(self, delay_s: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + delay_s, next(self._order), action))

    def _start(self, slot: int) -> None:
        if self._plan.is_ending:
            self._gone(slot)
            return
        worker = self._pool.start(slot)
        self._selector.register(worker.channel, selectors.EVENT_READ, lambda: self._hear(worker))
        self._flush(worker)

    def _gone(self, slot: int) -> None:
        """A worker that was never started, as the run ended first."""
        self._happened(protocol.Died(slot, None, Failure(Kind.KILLED, "never started"), by_itself=True))

    def _send(self, send: protocol.Assign) -> None:
        limit = self._plan.policy.memory_limit_alone if send.alone else None
        tasks = tuple((number, self._space.task(number)) for number in send.tasks)
        self._post(send.worker, messages.Work(tasks, send.careful, send.alone, limit))

    def _post(self, slot: int, message: messages.Message) -> None:
        worker = self._pool.workers.get(slot)
        if worker is not None:
            worker.channel.post(message)
            if not worker.channel.flush():
                self._after(_LOOK_S, lambda: self._flush(worker))

    def _flush(self, worker: WorkerHandle) -> None:
        if worker is self._pool.workers.get(worker.slot) and not worker.channel.flush():
            self._after(_LOOK_S, lambda: self._flush(worker))

    def _end(self, slot: int, now: bool) -> None:
        worker = self._pool.workers.get(slot)
        if worker is not None:
            worker.leaving = True
            self._post(slot, messages.End(now))

    def _kill(self, slot: int, failure: Failure | None) -> None:
        if failure is not None and failure.kind in {Kind.TIME, Kind.STUCK}:
            self._pool.spawner.dump(slot)
            worker = self._pool.workers.get(slot)
            self._after(_DUMP_S, lambda: self._kill_now(worker))
        else:
            self._pool.spawner.kill(slot)

    def _kill_now(self, worker: WorkerHandle | None) -> None:
        if worker is not None and self._pool.workers.get(worker.slot) is worker:
            self._pool.spawner.kill(worker.slot)

    def _note(self, event: str, task: int, failure: Failure, *, durable: bool = False, **more: Any) -> None:
        known = self._space.task(task)
        self._log.write(
            event, durable=durable, task=known.key, fingerprint=known.fingerprint, kind=failure.kind.value,
            reason=failure.reason, traceback=failure.traceback, log=failure.log, **more,
        )  # fmt: skip

    def _set_aside(self, task: int, failure: Failure, attempts: int) -> None:
        self.failures[failure.kind] += 1
        self.last_failures[self._space.key(task)] = Failure(failure.kind, failure.reason, "", failure.log)
        self._note(SET_ASIDE, task, failure, durable=True, attempts=attempts)

    def _hear(self, worker: WorkerHandle) -> None:
        if self._pool.workers.get(worker.slot) is not worker:
            return  # it was buried in the same turn
        try:
            for message in worker.channel.receive():
                self._told(worker, message)
        except EOFError:
            self._selector.unregister(worker.channel)
            if self._pool.workers.get(worker.slot) is worker:
                self._after(_DUMP_S, lambda: self._kill_now(worker))

    def _told(self, worker: WorkerHandle, message: object) -> None:
        slot = worker.slot
        match message:
            case messages.Ready(writer):
                worker.writer = writer
                self._log.write("worker started", worker=slot, pid=worker.pid, log=worker.log.name)
            case messages.WantsWork(seconds):
                self._happened(protocol.WantsWork(slot, seconds))
            case messages.Durable(tasks, shard, seconds):
                worker.shards.add(shard)
                self._log.write(
                    "published", worker=slot, tasks=len(tasks), shard=shard, seconds=round(seconds, 3)
                )
                self._happened(protocol.Done(slot, tasks))
            case messages.TaskFailed(task, failure):
                logged = Failure(failure.kind, failure.reason, failure.traceback, worker.log.name)
                self._happened(protocol.Failed(slot, task, logged))
            case messages.Retiring(reason):
                worker.leaving, worker.retires_for = True, reason
                self._log.write("worker retires", worker=slot, pid=worker.pid, reason=reason)
            case messages.DiskTrouble(reason):
                self._disk(reason)
            case messages.Unusable(reason):
                worker.leaving = True
                self._happened(protocol.MethodUnusable(reason))

    def _disk(self, reason: str) -> None:
        self._trouble = reason
        if reason:
            self._log.write("disk trouble", reason=reason)
            if not self._pool.waits_for_disk:
                self._happened(protocol.StorageLost(reason))

    def _hear_spawner(self) -> None:
        try:
            events = self._pool.spawner.events()
        except EOFError:
            self._spawner_died()
            return
        for event in events:
            worker = self._pool.workers.get(event["slot"])
            if worker is None:
                continue
            if event["event"] == "started":
                worker.pid = event["pid"]
            else:
                failure = self._pool.failure_of(worker, event["status"], event["oom"])
                self._bury(worker, failure, by_itself=worker.leaving and event["status"] in {0, 1})

    def _spawner_died(self) -> None:
        """Everything below it died with it; each task that was running may have done it."""
        self._log.write("spawner died")
        self._selector.unregister(self._pool.spawner)
        self._pool.spawner.restart()
        self._selector.register(self._pool.spawner, selectors.EVENT_READ, self._hear_spawner)
        for worker in list(self._pool.workers.values()):
            failure = Failure(Kind.KILLED, "the process that starts workers was killed")
            self._bury(worker, failure, by_itself=False)

    def _bury(self, worker: WorkerHandle, failure: Failure, *, by_itself: bool) -> None:
        """Hear the last words of a dead worker, find what it published, and tell the plan."""
        if worker.channel.fileno() in self._selector.get_map():
            self._hear(worker)
            if worker.channel.fileno() in self._selector.get_map():
                self._selector.unregister(worker.channel)
        if not by_itself:
            self._log.write("worker died", worker=worker.slot, pid=worker.pid, reason=failure.reason)
        held = self._plan.held_by(worker.slot)
        if held and (keys := set(self._pool.unreported(worker))):
            self._happened(
                protocol.Done(worker.slot, [task for task in held if self._space.key(task) in keys])
            )
        suspect = self._pool.heartbeats.look(worker.slot).task
        self._pool.drop(worker)
        self._happened(protocol.Died(worker.slot, suspect, failure, by_itself))

    def _stop(self, signals: StopSignals) -> None:
        for name in signals.received():
            self._log.write("asked to stop", signal=name)
            self._happened(protocol.StopAsked())

    def _look(self, now: float) -> None:
        views = []
        for worker in list(self._pool.workers.values()):
            if not worker.pid:
                continue
            worker_status = self._pool.heartbeats.look(worker.slot)
            seconds = (
                now - worker_status.started_s
                if worker_status.task is not None and worker_status.started_s
                else 0.0
            )
            silent_s, memory = now - worker_status.beat_s, memory_of(worker.pid)
            self._happened(protocol.Seen(worker.slot, worker_status.task, seconds, silent_s, memory))
            key = self._space.key(worker_status.task) if worker_status.task is not None else None
            views.append(WorkerView(worker.slot, worker.pid, key, seconds, silent_s, memory))
        self._happened(protocol.Tick())
        self._meanwhile(self._plan.done)
        self._report(tuple(views), now)

    def _report(self, views: tuple[WorkerView, ...] = (), now: float = float("inf")) -> None:
        if now - self._shown >= _SHOW_S:
            self._speed = self._rate.at(self._plan.done + self._plan.set_aside)
        progress = Progress(
            total=self._total,
            done=self._plan.done,
            failed=self._plan.set_aside,
            running=sum(view.task is not None for view in views),
            before=self._before,
            elapsed_s=time.monotonic() - self._began,
            rate=self._speed,
            workers=views,
            ending=self._plan.is_ending,
            trouble=self._trouble,
        )
        if now - self._shown >= _SHOW_S:
            self._shown = now
            self._log.show(asdict(progress))
        self._watch(progress)
