"""The plan and the processes together: one loop that never waits for a worker.

When this process dies, at any moment, nothing needs to be cleaned up: the nursery and the workers end with it, what was
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

from vindeby.runner import messages, moves
from vindeby.runner.crew import Crew, Member
from vindeby.runner.failures import Failure, Kind
from vindeby.runner.kernel import memory_of
from vindeby.runner.moves import Finish, Outcome
from vindeby.runner.plan import Plan
from vindeby.runner.progress import Progress, Rate, Watcher, WorkerView
from vindeby.runner.signals import StopSignals
from vindeby.runner.space import TaskSpace
from vindeby.store.events import SET_ASIDE, EventLog
from vindeby.store.lock import Lock

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
        crew: Crew,
        log: EventLog,
        watch: Watcher,
        before: int,
        lock: Lock,
        meanwhile: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._lock = lock
        self._plan, self._space, self._crew, self._log, self._watch = the_plan, space, crew, log, watch
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
            self._selector.register(self._crew.nurse, selectors.EVENT_READ, self._hear_nursery)
            self._selector.register(signals, selectors.EVENT_READ, lambda: self._stop(signals))
            try:
                self._obey(self._plan.begin())
                while self._finish is None:
                    self._turn()
                self._report()
            finally:
                self._crew.close()
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

    def _happened(self, event: moves.Event) -> None:
        if self._finish is None:
            self._obey(self._plan.handle(event, time.monotonic()))

    def _obey(self, instructions: Iterable[moves.Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case moves.StartWorker(seat, delay_s):
                    self._after(delay_s, functools.partial(self._start, seat))
                case moves.Send():
                    self._send(instruction)
                case moves.EndWorker(seat, now):
                    self._end(seat, now)
                case moves.KillWorker(seat, failure):
                    self._kill(seat, failure)
                case moves.TryAgain(task, failure, attempt):
                    self._note("failed", task, failure, attempt=attempt)
                case moves.SetAside(task, failure, attempts):
                    self._set_aside(task, failure, attempts)
                case Finish():
                    self._finish = instruction

    def _after(self, delay_s: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + delay_s, next(self._order), action))

    def _start(self, seat: int) -> None:
        if self._plan.is_ending:
            self._gone(seat)
            return
        member = self._crew.start(seat)
        self._selector.register(member.channel, selectors.EVENT_READ, lambda: self._hear(member))
        self._flush(member)

    def _gone(self, seat: int) -> None:
        """A worker that was never started, as the run ended first."""
        self._happened(moves.Died(seat, None, Failure(Kind.KILLED, "never started"), by_itself=True))

    def _send(self, send: moves.Send) -> None:
        limit = self._plan.policy.memory_limit_alone if send.alone else None
        tasks = tuple((number, self._space.task(number)) for number in send.tasks)
        self._post(send.worker, messages.Work(tasks, send.careful, send.alone, limit))

    def _post(self, seat: int, message: messages.Message) -> None:
        member = self._crew.members.get(seat)
        if member is not None:
            member.channel.post(message)
            if not member.channel.flush():
                self._after(_LOOK_S, lambda: self._flush(member))

    def _flush(self, member: Member) -> None:
        if member is self._crew.members.get(member.seat) and not member.channel.flush():
            self._after(_LOOK_S, lambda: self._flush(member))

    def _end(self, seat: int, now: bool) -> None:
        member = self._crew.members.get(seat)
        if member is not None:
            member.leaving = True
            self._post(seat, messages.End(now))

    def _kill(self, seat: int, failure: Failure | None) -> None:
        if failure is not None and failure.kind in {Kind.TIME, Kind.STUCK}:
            self._crew.nurse.dump(seat)
            member = self._crew.members.get(seat)
            self._after(_DUMP_S, lambda: self._kill_now(member))
        else:
            self._crew.nurse.kill(seat)

    def _kill_now(self, member: Member | None) -> None:
        if member is not None and self._crew.members.get(member.seat) is member:
            self._crew.nurse.kill(member.seat)

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

    def _hear(self, member: Member) -> None:
        if self._crew.members.get(member.seat) is not member:
            return  # it was buried in the same turn
        try:
            for message in member.channel.receive():
                self._told(member, message)
        except EOFError:
            self._selector.unregister(member.channel)
            if self._crew.members.get(member.seat) is member:
                self._after(_DUMP_S, lambda: self._kill_now(member))

    def _told(self, member: Member, message: object) -> None:
        seat = member.seat
        match message:
            case messages.Ready(writer):
                member.writer = writer
                self._log.write("worker started", worker=seat, pid=member.pid, log=member.log.name)
            case messages.Hungry(seconds):
                self._happened(moves.Hungry(seat, seconds))
            case messages.Durable(tasks, shard, seconds):
                member.shards.add(shard)
                self._log.write(
                    "published", worker=seat, tasks=len(tasks), shard=shard, seconds=round(seconds, 3)
                )
                self._happened(moves.Done(seat, tasks))
            case messages.TaskFailed(task, failure):
                logged = Failure(failure.kind, failure.reason, failure.traceback, member.log.name)
                self._happened(moves.Failed(seat, task, logged))
            case messages.Retiring(reason):
                member.leaving, member.retires_for = True, reason
                self._log.write("worker retires", worker=seat, pid=member.pid, reason=reason)
            case messages.DiskTrouble(reason):
                self._disk(reason)
            case messages.Unusable(reason):
                member.leaving = True
                self._happened(moves.MethodUnusable(reason))

    def _disk(self, reason: str) -> None:
        self._trouble = reason
        if reason:
            self._log.write("disk trouble", reason=reason)
            if not self._crew.waits_for_disk:
                self._happened(moves.StorageLost(reason))

    def _hear_nursery(self) -> None:
        try:
            events = self._crew.nurse.events()
        except EOFError:
            self._nursery_died()
            return
        for event in events:
            member = self._crew.members.get(event["seat"])
            if member is None:
                continue
            if event["event"] == "started":
                member.pid = event["pid"]
            else:
                failure = self._crew.failure_of(member, event["status"], event["oom"])
                self._bury(member, failure, by_itself=member.leaving and event["status"] in {0, 1})

    def _nursery_died(self) -> None:
        """Everything below it died with it; each task that was running may have done it."""
        self._log.write("nursery died")
        self._selector.unregister(self._crew.nurse)
        self._crew.nurse.restart()
        self._selector.register(self._crew.nurse, selectors.EVENT_READ, self._hear_nursery)
        for member in list(self._crew.members.values()):
            failure = Failure(Kind.KILLED, "the process that starts workers was killed")
            self._bury(member, failure, by_itself=False)

    def _bury(self, member: Member, failure: Failure, *, by_itself: bool) -> None:
        """Hear the last words of a dead worker, find what it published, and tell the plan."""
        if member.channel.fileno() in self._selector.get_map():
            self._hear(member)
            if member.channel.fileno() in self._selector.get_map():
                self._selector.unregister(member.channel)
        if not by_itself:
            self._log.write("worker died", worker=member.seat, pid=member.pid, reason=failure.reason)
        held = self._plan.held_by(member.seat)
        if held and (keys := set(self._crew.unreported(member))):
            self._happened(moves.Done(member.seat, [task for task in held if self._space.key(task) in keys]))
        suspect = self._crew.board.look(member.seat).task
        self._crew.drop(member)
        self._happened(moves.Died(member.seat, suspect, failure, by_itself))

    def _stop(self, signals: StopSignals) -> None:
        for name in signals.received():
            self._log.write("asked to stop", signal=name)
            self._happened(moves.StopAsked())

    def _look(self, now: float) -> None:
        views = []
        for member in list(self._crew.members.values()):
            if not member.pid:
                continue
            glance = self._crew.board.look(member.seat)
            seconds = now - glance.started_s if glance.task is not None and glance.started_s else 0.0
            silent_s, memory = now - glance.beat_s, memory_of(member.pid)
            self._happened(moves.Seen(member.seat, glance.task, seconds, silent_s, memory))
            key = self._space.key(glance.task) if glance.task is not None else None
            views.append(WorkerView(member.seat, member.pid, key, seconds, silent_s, memory))
        self._happened(moves.Tick())
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
