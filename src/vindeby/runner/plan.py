"""The decisions of a run: events in, instructions out, no I/O and no clock of its own.

Tasks are numbers, in groups that share what is set up once; workers are numbers, each with the tasks that were
assigned to it and are not yet settled. A task is settled once: done, or set aside. The plan knows for each
moment who holds what, so when a worker dies, only the task it was on has failed, and its other tasks are
assigned again.

There is one rule for a task that failed, whatever happened to it: when everything else is assigned, it is tried again
as the first task of a fresh process, while nothing else of the run is computed on its machine. What fails there too is
set aside with the reasons of all attempts.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from vindeby.runner.protocol import (
    Assign,
    CannotGoOn,
    EndWorker,
    Event,
    Failed,
    Failure,
    Finish,
    Instruction,
    KillWorker,
    MoreSlots,
    Outcome,
    SetAside,
    StartWorker,
    StopAsked,
    TasksDurable,
    TryAgain,
    WantsWork,
    WorkerGone,
)
from vindeby.text import plural

FRUITLESS_DEATHS = 25
"""Workers that may die in a row, on no task and without any progress, before the run is given up.

Three for each slot where there are more slots than that: a node that is lost takes all its workers at once.
"""
_NOW_S = 3.0
_LEAVING_S = 10.0
"""The time that workers without tasks have to exit."""


@dataclass(frozen=True)
class Policy:
    """The limits of a run: workers, retries, failures and times."""

    workers: int
    retries: int
    """The number of retries of a failed task."""
    most_failures: int | None = None
    grace_s: float = 60.0
    batch_s: float = 0.5
    most_in_batch: int = 1000


@dataclass
class _WorkerState:
    tasks: dict[int, int] = field(default_factory=dict)
    """The tasks it holds, each with its group."""
    group: int | None = None
    seconds_per_task: float | None = None
    retries: bool = False
    """Whether the worker holds a task that failed before, which must be its only one."""
    most_together: int = 1
    """The most tasks of a group that the worker computes at the same time."""
    together: int = 1
    killed: bool = False
    leaving: bool = False
    """Whether the worker is about to be replaced by a fresh process."""
    fruitful: bool = False
    """A task of it was settled."""

    @property
    def is_fresh(self) -> bool:
        return self.group is None and not self.tasks


class Plan:
    """The state of a run."""

    def __init__(self, groups: Sequence[Iterable[int]], policy: Policy) -> None:
        self.policy = policy
        self._pending = {number: waiting for number, tasks in enumerate(groups) if (waiting := deque(tasks))}
        self.open = sum(map(len, self._pending.values()))
        self._failed_once: deque[tuple[int, int]] = deque()
        """Tasks to try again, each with its group."""
        self._failures: dict[int, list[Failure]] = {}
        """The failures of each open task so far."""
        self._hands: dict[int, _WorkerState] = {}
        self._asking: dict[int, None] = {}
        """Workers that want tasks, those who asked first in front: with a thousand workers, few of all."""
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
        """The instructions for the current event."""

    def begin(self) -> list[Instruction]:
        """Return the first instructions."""
        return self.handle(MoreSlots(self.policy.workers), 0.0)

    def handle(self, event: Event, now: float) -> list[Instruction]:
        """Return the instructions for an event; ``now`` is a time in seconds that only grows."""
        self._now, self._out = now, []
        match event:
            case WantsWork(worker, seconds, together):
                self._wants_work(worker, seconds, together)
            case TasksDurable(worker, tasks):
                self._done(worker, tasks)
            case Failed(worker, task, failure, final):
                self._failed(worker, task, failure, final=final)
            case WorkerGone():
                self._died(event)
            case StopAsked():
                self._stop()
            case MoreSlots(slots):
                self._grow(slots)
            case CannotGoOn(outcome, reason):
                self._end(outcome, reason)
            case _:
                pass
        self._go_on()
        return self._out

    def _grow(self, slots: int) -> None:
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
        settled = [task for task in tasks if hand.tasks.pop(task, None) is not None]
        for task in settled:
            self._failures.pop(task, None)
        self.open -= len(settled)
        self.done += len(settled)
        if settled:
            self._fruitless, hand.fruitful = 0, True

    def _failed(self, worker: int, task: int, failure: Failure, *, final: bool) -> None:
        hand = self._hands.get(worker)
        if hand is None or task not in hand.tasks:
            return
        self._fruitless, hand.fruitful = 0, True
        self._blame(task, hand.tasks.pop(task), failure, final=final)

    def _died(self, event: WorkerGone) -> None:
        hand = self._hands.pop(event.worker, None)
        self._asking.pop(event.worker, None)
        if hand is None:
            return
        held = dict(hand.tasks)
        if event.suspect in held and not event.by_itself and self._ending is None:
            self._fruitless = 0
            if hand.together > 1:  # any of them may have done it, so each is tried by itself
                self._failed_once.extend(held.items())
                held = {}
            else:
                self._blame(event.suspect, held.pop(event.suspect), event.failure)
        elif not event.by_itself or (held and not hand.fruitful):
            self._fruitless += 1  # also one that retired and gives back everything it was given
        if hand.retries:
            self._failed_once.extend(held.items())
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

    def _blame(self, task: int, group: int, failure: Failure, *, final: bool = False) -> None:
        failures = [*self._failures.pop(task, ()), failure]
        if not final and len(failures) <= self.policy.retries:
            self._failures[task] = failures
            self._out.append(TryAgain(task, failure, len(failures)))
            self._failed_once.append((task, group))
            return
        self.open -= 1
        self.set_aside += 1
        self._out.append(SetAside(task, _with_earlier_reasons(failures), len(failures)))
        most = self.policy.most_failures
        if most is not None and self.set_aside > most:
            count = plural(self.set_aside, "task")
            reason = f"{count} failed, and at most {most} may (max_failures); the last: {failure}"
            self._end(Outcome.TOO_MANY_FAILURES, reason)

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
        if not (self._pending or self._failed_once):
            return
        fresh = sum(hand.is_fresh or hand.leaving for hand in self._hands.values())
        for worker in list(self._asking):
            hand = self._hands[worker]
            if hand.killed or (hand.retries and hand.tasks):
                continue
            hand.retries = False
            if self._pending:
                self._out.append(Assign(worker, self._take(worker, hand)))
            elif hand.tasks or not self._failed_once:
                continue
            elif hand.is_fresh:
                task, hand.group = self._failed_once.popleft()
                hand.tasks[task], hand.retries, hand.together = hand.group, True, 1
                self._out.append(Assign(worker, (task,), retry=True))
                fresh -= 1
            elif fresh < len(self._failed_once):
                hand.leaving = True
                self._out.append(EndWorker(worker))
                fresh += 1
            else:
                continue
            del self._asking[worker]

    def _take(self, worker: int, hand: _WorkerState) -> tuple[int, ...]:
        """Return tasks for about ``batch_s``, from the worker's current group while that lasts."""
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
        wanted = int(self.policy.batch_s / max(hand.seconds_per_task, 1e-9))
        return max(1, min(wanted, fair, self.policy.most_in_batch))

    def _next_group(self, worker: int, hand: _WorkerState) -> int:
        """Return the worker's group, else one without a worker, else the fullest other group."""
        if hand.group in self._pending:
            return hand.group
        taken = {other.group for number, other in self._hands.items() if number != worker}
        for group in self._pending:
            if group not in taken:
                return group
        return max(self._pending, key=lambda group: len(self._pending[group]))

    @property
    def settled(self) -> int:
        """The number of tasks that are done or set aside."""
        return self.done + self.set_aside

    @property
    def is_ending(self) -> bool:
        """Return whether no more tasks are assigned."""
        return self._ending is not None


def _with_earlier_reasons(failures: Sequence[Failure]) -> Failure:
    """Return the last failure of a task, with the different reasons of earlier failures."""
    last = failures[-1]
    earlier = [text for text in dict.fromkeys(map(str, failures[:-1])) if text != str(last)]
    return replace(last, reason=f"{last.reason}; before that: {'; '.join(earlier)}") if earlier else last
