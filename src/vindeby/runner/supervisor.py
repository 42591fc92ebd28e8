"""The loop that connects the plan with the workers and never waits for a single worker.

Workers are whatever a ``WorkerPool`` has; nothing here knows what a worker is made of. When this process dies, at any
moment, nothing needs to be cleaned up: the workers end with it, what was published stays, and the next run begins by
looking at what is there.
"""

import sched
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from vindeby.runner import protocol
from vindeby.runner.plan import Plan
from vindeby.runner.processes import stop_signals
from vindeby.runner.protocol import Failure, Finish, Kind, Outcome, Work, WorkerPool
from vindeby.runner.resume import ResumeState, TaskSpace
from vindeby.store.disk.events import CUT_SHORT, SET_ASIDE, EventLog, WorkerState
from vindeby.store.disk.lock import Lock

_WINDOW_S = 60.0


@dataclass(frozen=True)
class Progress:
    """The state of a run; counts are of the campaign's tasks, or of this part's, as in ``monitor``."""

    total: int
    done: int
    failed: int
    running: int
    left: int
    """Tasks that this run still has to settle; not those that are left as they are."""
    rate: float
    """Tasks per second, lately."""
    workers: tuple[WorkerState, ...]
    ending: bool = False
    eta_s: float | None = None


Watcher: TypeAlias = Callable[[Progress], None]


_LOOK_S = 0.1
_SHOW_S = 1.0


class Supervisor:
    """The loop that runs a plan to its end."""

    def __init__(
        self,
        the_plan: Plan,
        space: TaskSpace,
        pool: WorkerPool,
        log: EventLog,
        watch: Watcher,
        standing: ResumeState,
        lock: Lock,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._lock = lock
        self._plan, self._space, self._pool, self._log, self._watch = the_plan, space, pool, log, watch
        self._standing = standing
        self._say = say
        self._timers = sched.scheduler(time.monotonic)
        self._points = deque([(time.monotonic(), 0)])
        """When how many tasks were settled, lately."""
        self._finish: Finish | None = None
        self.failed: dict[str, Failure] = {}
        """Tasks that failed for good, with the reason of each."""
        self._places: dict[int, tuple[str, str]] = {}
        self._card_lost = False
        self._looked = self._shown = self._speed = 0.0

    def run(self) -> Finish:
        """Supervise until every task is done or set aside, or the run is stopped."""
        with stop_signals() as signals:
            try:
                self._obey(self._plan.begin())
                while self._finish is None:
                    self._turn(signals)
                self._report()
            finally:
                self._pool.close()
        return self._finish

    def _turn(self, signals: list[str]) -> None:
        start_s = self._timers.run(blocking=False)
        look_s = max(0.0, self._looked + _LOOK_S - time.monotonic())
        for event in self._pool.wait(look_s if start_s is None else min(look_s, start_s)):
            self._received(event)
        self._stop(signals)
        now = time.monotonic()
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
                    self._timers.enter(delay_s, 0, self._start, (slot,))
                case protocol.Assign():
                    self._send(instruction)
                case protocol.EndWorker(slot, now):
                    self._pool.end(slot, now=now)
                case protocol.KillWorker(slot):
                    self._pool.kill(slot)
                case protocol.TryAgain(task, failure, attempt):
                    self._note("failed", task, failure, attempt=attempt)
                case protocol.SetAside(task, failure, attempts):
                    self.failed[self._space.key(task)] = replace(failure, traceback="")
                    self._note(SET_ASIDE, task, failure, durable=True, attempts=attempts)
                case Finish():
                    self._finish = instruction

    def _start(self, slot: int) -> None:
        if self._plan.is_ending:
            never_started = Failure(Kind.KILLED, "never started")
            self._happened(protocol.WorkerGone(slot, None, never_started, by_itself=True))
        else:
            self._pool.start(slot)

    def _send(self, send: protocol.Assign) -> None:
        tasks = tuple((number, self._space.task(number)) for number in send.tasks)
        self._pool.assign(send.worker, Work(tasks, send.retry))

    def _note(self, event: str, task: int, failure: Failure, *, durable: bool = False, **more: Any) -> None:
        known = self._space.task(task)
        self._log.write(
            event, durable=durable, task=known.key, fingerprint=known.fingerprint, kind=failure.kind.value,
            reason=failure.reason, traceback=failure.traceback, log=failure.log, **more,
        )  # fmt: skip

    def _received(self, event: protocol.PoolEvent) -> None:
        match event:
            case protocol.WorkerReady(slot, pid, log, node, job):
                self._places[slot] = node, job
                self._log.write("worker started", worker=slot, pid=pid, log=log, node=node, job=job)
            case protocol.TasksDurable(slot, tasks, shard, seconds):
                self._log.write(
                    "published", worker=slot, tasks=len(tasks), shard=shard, seconds=round(seconds, 3)
                )
            case protocol.WorkerRetiring(slot, reason, pid):
                self._log.write("worker retires", worker=slot, pid=pid, reason=reason)
            case protocol.WorkerGone():
                self._worker_gone(event)
            case protocol.PoolNote(name, details):
                self._log.write(name, **details)
                if name == "card lost" and not self._card_lost:
                    self._card_lost = True
                    self._say(f"warning: worker {details['worker']}: {details['reason']}")
            case _:
                pass
        self._happened(event)

    def _worker_gone(self, event: protocol.WorkerGone) -> None:
        slot, failure = event.worker, event.failure
        if not event.by_itself:
            self._log.write("worker died", worker=slot, pid=event.pid, reason=failure.reason)
        if event.suspect is not None:  # it is tried again
            self._log.write(CUT_SHORT, task=self._space.key(event.suspect), reason=failure.reason)

    def _stop(self, signals: list[str]) -> None:
        while signals:
            name = signals.pop(0)
            self._log.write("asked to stop", signal=name)
            self._happened(protocol.StopAsked())

    def _look(self, now: float) -> None:
        views = []
        for seen in self._pool.observe():
            key = self._space.key(seen.task) if seen.task is not None else None
            place = self._places.get(seen.worker, ("", ""))
            about = (seen.pid, key, seen.seconds, seen.silent_s, seen.memory)
            progress = asdict(seen.progress) if seen.progress else {}
            doing = str(seen.progress or "")
            views.append(WorkerState(self._log.name, seen.worker, *about, *place, progress, doing))
        self._happened(protocol.Tick())
        self._report(tuple(views), now)

    def _rate(self) -> float:
        """Return the tasks per second over the last minute, or over the time that each worker needs per task."""
        now, settled = time.monotonic(), self._plan.settled
        self._points.append((now, settled))
        while len(self._points) > 2 and now - self._points[0][0] > _WINDOW_S:
            if settled - self._points[1][1] < self._plan.policy.workers:
                break
            self._points.popleft()
        then, before = self._points[0]
        return (settled - before) / (now - then) if now > then else 0.0

    def _report(self, views: tuple[WorkerState, ...] = (), now: float = float("inf")) -> None:
        if now - self._shown >= _SHOW_S:
            self._speed = self._rate()
        progress = Progress(
            total=self._standing.asked,
            done=self._standing.done + self._plan.done,
            failed=len(self._standing.failed) + self._plan.set_aside,
            running=sum(view.task is not None for view in views),
            left=self._plan.open,
            rate=self._speed,
            workers=views,
            ending=self._plan.is_ending,
            eta_s=self._plan.open / self._speed if self._speed else None,
        )
        if now - self._shown >= _SHOW_S:
            self._shown = now
            self._log.show(asdict(progress))
        self._watch(progress)
