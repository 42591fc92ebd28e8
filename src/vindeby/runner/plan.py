"""The decisions of a run: events in, instructions out, no I/O and no clock of its own.

Tasks are numbers, in groups that share what is set up once; workers are numbers, each with the tasks that were
assigned to it and are not yet settled. A task is settled once: done, or set aside. The plan knows for each
moment who holds what, so when a worker dies, only the task it was on is suspected, and its other tasks are
assigned again. A suspect is then tried by itself in a fresh process, when everything else is assigned. One that ran out
of memory is tried while nothing else runs on its machine.

A task that raised in a process which had run others may have failed because of them: its worker retires, and the fresh
one tries the task first. When that has shown often enough that tasks fail by themselves, exceptions count at once.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vindeby.runner.protocol import (
    Assign,
    DiskTrouble,
    EndWorker,
    Event,
    Failed,
    Failure,
    Finish,
    Instruction,
    KillWorker,
    Kind,
    MethodUnusable,
    MoreSlots,
    Outcome,
    PoolLost,
    Seen,
    SetAside,
    StartWorker,
    StopAsked,
    TasksDurable,
    TryAgain,
    WantsWork,
    WorkerGone,
    WorkerReady,
)

FRUITLESS_DEATHS = 25
"""Workers that may die in a row, on no task and without any progress, before the run is given up.

Three for each slot where there are more slots than that: a node that is lost takes all its workers at once.
"""
UNFOUNDED_DOUBTS = 3
"""So many tasks must fail again in a fresh process, and none succeed there, before exceptions count at once."""
CROWD = 100
"""With more workers than this, each is given more at once, so that the coordinator hears no more often."""
_NOW_S = 3.0
_LEAVING_S = 10.0
"""How long workers without tasks have to leave."""


@dataclass(frozen=True)
class Policy:
    """What a run may cost."""

    workers: int
    retries: Mapping[Kind, int]
    most_failures: int | None = None
    time_limit_s: float | None = None
    silent_limit_s: float = 900.0
    memory_limit: int | None = None
    memory_limit_alone: int | None = None
    grace_s: float = 60.0
    batch_s: float = 0.5
    most_in_batch: int = 1000


@dataclass
class _WorkerState:
    """A worker as the plan sees it."""

    tasks: dict[int, int] = field(default_factory=dict)
    """The tasks it holds, each with its group."""
    group: int | None = None
    seconds_per_task: float | None = None
    delicate: bool = False
    """It holds a suspect, and gets nothing beside it."""
    alone: bool = False
    most_together: int = 1
    """How many tasks of a group it computes at the same time, at most."""
    together: int = 1
    node: str = ""
    """The machine that it runs on."""
    killed_for: Failure | None = None
    killed: bool = False
    fruitful: bool = False
    """A task of it was settled."""

    @property
    def is_fresh(self) -> bool:
        """Was it never given a task?"""
        return self.group is None and not self.tasks


class Plan:
    """The state of a run."""

    def __init__(self, groups: Sequence[Iterable[int]], policy: Policy) -> None:
        self.policy = policy
        self._pending = {number: waiting for number, tasks in enumerate(groups) if (waiting := deque(tasks))}
        self.open = sum(map(len, self._pending.values()))
        self._suspects: deque[tuple[int, int]] = deque()
        self._outsized: deque[tuple[int, int]] = deque()
        self._doubted: deque[tuple[int, int]] = deque()
        """Tasks that raised in a process which had run others."""
        self._tried_fresh: set[int] = set()
        """Those that a fresh process has been given."""
        self._unfounded_doubts = 0
        self._doubts_founded = False
        self._reserved: set[str] = set()
        """Machines on which a task runs alone."""
        self._hands: dict[int, _WorkerState] = {}
        self._asking: dict[int, None] = {}
        """Workers that want tasks, those who asked first in front: with a thousand workers, few of all."""
        self._attempts: dict[tuple[int, Kind], int] = {}
        self._fruitless = 0
        self._slots = 0
        self.done = 0
        self.set_aside = 0
        self._ending: Outcome | None = None
        self._reason = ""
        self._deadline = 0.0
        self._stops = 0
        self.finished = False
        self._now = 0.0
        self._out: list[Instruction] = []
        """What to do about the event that is handled."""

    def begin(self) -> list[Instruction]:
        """The first instructions."""
        return self.handle(MoreSlots(self.policy.workers), 0.0)

    def handle(self, event: Event, now: float) -> list[Instruction]:
        """What to do about an event; ``now`` is a time in seconds that only grows."""
        self._now, self._out = now, []
        match event:
            case WantsWork(worker, seconds, together):
                self._wants_work(worker, seconds, together)
            case TasksDurable(worker, tasks):
                self._done(worker, tasks)
            case Failed(worker, task, failure):
                self._failed(worker, task, failure)
            case WorkerGone(worker, published=published):
                self._done(worker, published)
                self._died(event)
            case Seen():
                self._seen(event)
            case StopAsked():
                self._stop()
            case DiskTrouble(_, reason, waits=False) if reason:
                self._end(Outcome.STORAGE, reason)
            case MethodUnusable(reason):
                self._end(Outcome.UNUSABLE, reason)
            case MoreSlots(slots):
                self._grow(slots)
            case PoolLost(reason):
                self._end(Outcome.POOL_LOST, reason)
            case WorkerReady(worker, node=node) if worker in self._hands:
                self._hands[worker].node = node
            case _:
                pass
        self._go_on()
        return self._out

    def _grow(self, slots: int) -> None:
        """Fill slots that were not there before, if there are tasks for them."""
        if self._ending is None:
            for slot in range(self._slots, min(slots, self._slots + self.open - len(self._hands))):
                self._hands[slot] = _WorkerState()
                self._slots = slot + 1
                self._out.append(StartWorker(slot))

    def _wants_work(self, worker: int, seconds: float | None, together: int) -> None:
        if hand := self._hands.get(worker):
            self._asking[worker], hand.most_together = None, together
            hand.seconds_per_task = seconds if seconds is not None else hand.seconds_per_task

    def _done(self, worker: int, tasks: Sequence[int]) -> None:
        hand = self._hands.get(worker)
        if hand is None:
            return
        settled = sum(hand.tasks.pop(task, None) is not None for task in tasks)
        self._doubts_founded |= not self._tried_fresh.isdisjoint(tasks)
        self.open -= settled
        self.done += settled
        if settled:
            self._fruitless, hand.fruitful = 0, True
        self._relax(hand)

    def _failed(self, worker: int, task: int, failure: Failure) -> None:
        hand = self._hands.get(worker)
        if hand is None or task not in hand.tasks:
            return
        group = hand.tasks.pop(task)
        self._fruitless, hand.fruitful = 0, True
        self._relax(hand)
        self._unfounded_doubts += task in self._tried_fresh
        self._tried_fresh.discard(task)
        self._blame(task, group, failure)

    def _died(self, event: WorkerGone) -> None:
        hand = self._hands.pop(event.worker, None)
        self._asking.pop(event.worker, None)
        if hand is None:
            return
        held = dict(hand.tasks)
        if hand.alone:
            self._reserved.discard(hand.node)
        if event.suspect is not None and event.suspect in held and self._ending is None:
            group = held.pop(event.suspect)
            self._fruitless = 0
            if event.by_itself:  # it failed in a process that had run others
                self._doubted.append((event.suspect, group))
            elif hand.together > 1:  # any of them may have done it, so each is tried by itself
                self._suspects.extend([(event.suspect, group), *held.items()])
                held = {}
            else:
                self._blame(event.suspect, group, _cause(hand, event))
        elif not event.by_itself or (held and not hand.fruitful):
            self._fruitless += 1  # also one that retired and gives back everything it was given
        if hand.delicate:  # a suspect that its worker left to a fresh process
            (self._outsized if hand.alone else self._suspects).extend(held.items())
        else:
            self._assign_again(held)
        if self._ending is None and self._fruitless > max(FRUITLESS_DEATHS, 3 * self._slots):
            reason = (
                f"{self._fruitless} workers died in a row without finishing a task; the last: {event.failure}"
            )
            self._end(Outcome.WORKERS, reason)
        if self._ending is None and self.open:
            self._hands[event.worker] = _WorkerState()
            self._out.append(StartWorker(event.worker, min(1.0, 0.1 * max(0, self._fruitless - 2))))

    def _assign_again(self, held: dict[int, int]) -> None:
        for task, group in reversed(held.items()):
            self._pending.setdefault(group, deque()).appendleft(task)

    def _blame(self, task: int, group: int, failure: Failure) -> None:
        """A task failed: try it again, or set it aside when its budget is used up."""
        attempt = self._attempts[task, failure.kind] = self._attempts.get((task, failure.kind), 0) + 1
        if attempt <= self.policy.retries.get(failure.kind, 0):
            self._out.append(TryAgain(task, failure, attempt))
            (self._outsized if failure.kind is Kind.MEMORY else self._suspects).append((task, group))
            return
        self.open -= 1
        self.set_aside += 1
        attempts = sum(self._attempts.pop((task, kind), 0) for kind in Kind)
        self._out.append(SetAside(task, failure, attempts))
        most = self.policy.most_failures
        if most is not None and self.set_aside > most:
            reason = (
                f"{self.set_aside} tasks failed, and at most {most} may (max_failures); the last: {failure}"
            )
            self._end(Outcome.TOO_MANY_FAILURES, reason)

    def _seen(self, event: Seen) -> None:
        hand = self._hands.get(event.worker)
        if hand is None or hand.killed:
            return
        failure = self._excess(event, hand)
        if failure is not None:
            hand.killed, hand.killed_for = True, failure
            self._out.append(KillWorker(event.worker, failure))

    def _excess(self, event: Seen, hand: _WorkerState) -> Failure | None:
        policy = self.policy
        limit = policy.memory_limit_alone if hand.alone else policy.memory_limit
        if limit is not None and event.memory > limit:
            return Failure(
                Kind.MEMORY,
                f"used {event.memory / 1e6:,.0f} MB, more than the limit of {limit / 1e6:,.0f} MB",
            )
        seconds = event.seconds / hand.together
        if event.task is not None and policy.time_limit_s is not None and seconds > policy.time_limit_s:
            return Failure(Kind.TIME, f"ran longer than the limit of {policy.time_limit_s:g} s")
        if event.silent_s > policy.silent_limit_s:
            return Failure(Kind.STUCK, f"the worker gave no sign of life for {event.silent_s:.0f} s")
        return None

    def _stop(self) -> None:
        self._stops += 1
        if self._stops == 1:
            if self._ending is None or self._ending is Outcome.COMPLETE:
                self._end(Outcome.STOPPED, "stopped by the user", again=True)
            return
        self._deadline = min(self._deadline, self._now + _NOW_S)
        self._out += [EndWorker(worker, now=True) for worker in self._hands]

    def _end(self, outcome: Outcome, reason: str, *, again: bool = False) -> None:
        """Assign no more tasks; let all workers publish and end."""
        if self._ending is not None and not again:
            return
        self._ending, self._reason = outcome, reason
        grace_s = self.policy.grace_s
        self._deadline = self._now + (min(grace_s, _LEAVING_S) if outcome is Outcome.COMPLETE else grace_s)
        self._out += [EndWorker(worker) for worker in self._hands]

    def _go_on(self) -> None:
        """After every event: assign, end or finish."""
        if self.finished:
            return
        if self._ending is None:
            if not self.open:
                self._end(Outcome.COMPLETE, "")
            else:
                self._assign()
        elif self._now > self._deadline:
            for worker, hand in self._hands.items():
                if not hand.killed:
                    hand.killed = True
                    self._out.append(KillWorker(worker))
        if self._ending is not None and not self._hands:
            self.finished = True
            self._out.append(Finish(self._ending, self._reason))

    def _assign(self) -> None:
        if not (self._pending or self._doubted or self._suspects or self._outsized):
            return
        fresh = {number for number, hand in self._hands.items() if hand.is_fresh}
        for worker in list(self._asking):
            hand = self._hands[worker]
            if hand.delicate or hand.killed or hand.node in self._reserved:
                continue
            if self._doubted and worker in fresh:
                self._tried_fresh.add(self._doubted[0][0])
                self._give(worker, hand, self._doubted.popleft(), alone=False)
            elif self._pending:
                tasks = self._take(worker, hand)
                self._out.append(Assign(worker, tasks, trusted=self._trusts_exceptions))
            elif hand.tasks:
                continue
            elif self._suspects and (worker in fresh or not fresh):  # one that is not fresh retires for it
                self._give(worker, hand, self._suspects.popleft(), alone=False)
            elif self._outsized and self._machine_is_free(worker):
                self._give(worker, hand, self._outsized.popleft(), alone=True)
            else:
                continue
            del self._asking[worker]

    @property
    def _trusts_exceptions(self) -> bool:
        return self._unfounded_doubts >= UNFOUNDED_DOUBTS and not self._doubts_founded

    def _give(self, worker: int, hand: _WorkerState, suspect: tuple[int, int], *, alone: bool) -> None:
        task, group = suspect
        hand.tasks[task], hand.delicate, hand.alone, hand.group = group, True, alone, group
        hand.together = 1
        if alone:
            self._reserved.add(hand.node)
        self._out.append(Assign(worker, (task,), careful=True, alone=alone))

    def _machine_is_free(self, worker: int) -> bool:
        """Is the machine of this worker free for a task that needs it for itself?"""
        node = self._hands[worker].node
        return not any(
            hand.tasks and hand.node == node for other, hand in self._hands.items() if other != worker
        )

    def _relax(self, hand: _WorkerState) -> None:
        if not hand.tasks:
            if hand.alone:
                self._reserved.discard(hand.node)
            hand.delicate = hand.alone = False

    def _take(self, worker: int, hand: _WorkerState) -> tuple[int, ...]:
        """Tasks for about ``batch_s``, from the group the worker is on while that lasts."""
        count = self._batch_size(hand)
        tasks: list[int] = []
        while len(tasks) < count and self._pending:
            group = self._next_group(worker, hand)
            waiting = self._pending[group]
            hand.group = group
            while waiting and len(tasks) < count:
                task = waiting.popleft()
                hand.tasks[task] = group
                tasks.append(task)
            if not waiting:
                del self._pending[group]
            if hand.most_together > 1:
                hand.together = len(tasks)
                break
        return tuple(tasks)

    def _batch_size(self, hand: _WorkerState) -> int:
        fair = -(-self.open // (2 * max(1, len(self._hands))))
        if hand.most_together > 1:
            return max(1, min(hand.most_together, fair))
        if hand.seconds_per_task is None:
            return 1
        crowd = max(1.0, len(self._hands) / CROWD)
        wanted = int(crowd * self.policy.batch_s / max(hand.seconds_per_task, 1e-9))
        return max(1, min(wanted, fair, int(crowd * self.policy.most_in_batch)))

    def _next_group(self, worker: int, hand: _WorkerState) -> int:
        """Its own group, else one that no worker is on, else the fullest of those that others are on."""
        if hand.group in self._pending:
            return hand.group
        taken = {other.group for number, other in self._hands.items() if number != worker}
        for group in self._pending:
            if group not in taken:
                return group
        return max(self._pending, key=lambda group: len(self._pending[group]))

    def together(self, worker: int) -> int:
        """How many tasks a worker computes at the same time now."""
        return self._hands[worker].together if worker in self._hands else 1

    @property
    def settled(self) -> int:
        """How many tasks were done or set aside."""
        return self.done + self.set_aside

    @property
    def is_ending(self) -> bool:
        """Are no tasks assigned any more?"""
        return self._ending is not None


def _cause(hand: _WorkerState, event: WorkerGone) -> Failure:
    """Why a worker died: for what we killed it, with what it left in its log; else as its death tells."""
    if hand.killed_for is None:
        return event.failure
    return replace(hand.killed_for, traceback=event.failure.traceback, log=event.failure.log)
