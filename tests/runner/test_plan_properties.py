"""Whatever happens, in whatever order: every task is settled exactly once, and the run ends."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from vindeby.runner.plan import Plan, Policy
from vindeby.runner.protocol import (
    Assign,
    EndWorker,
    Failed,
    Failure,
    Finish,
    Instruction,
    KillWorker,
    Kind,
    Outcome,
    SetAside,
    StartWorker,
    StopAsked,
    TasksDurable,
    Tick,
    WantsWork,
    WorkerGone,
)

KINDS = [Kind.EXCEPTION, Kind.KILLED, Kind.MEMORY, Kind.TIME]


@dataclass
class World:
    """Workers that do what they are told, and to which anything may happen."""

    plan: Plan
    alive: dict[int, list[int]] = field(default_factory=dict)
    computed: dict[int, list[int]] = field(default_factory=dict)
    settled: dict[int, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    """Workers that have been given a task."""
    ended: set[int] = field(default_factory=set)
    finish: Finish | None = None
    now: float = 0.0

    def obey(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            assert self.finish is None, "nothing may follow the end"
            match instruction:
                case StartWorker(worker):
                    assert worker not in self.alive
                    self.alive[worker], self.computed[worker] = [], []
                    self.ended.discard(worker)
                    self.used.discard(worker)
                case Assign(worker, tasks, retry):
                    self.check_send(worker, tasks, retry=retry)
                    self.used.add(worker)
                    self.alive[worker] += tasks
                case SetAside(task):
                    assert task not in self.settled
                    self.settled[task] = "set aside"
                case EndWorker(worker) | KillWorker(worker):
                    self.ended.add(worker)
                case Finish():
                    assert not self.alive
                    self.finish = instruction

    def check_send(self, worker: int, tasks: tuple[int, ...], *, retry: bool) -> None:
        assert worker in self.alive
        assert worker not in self.ended
        assert tasks
        held = [task for hand in [*self.alive.values(), *self.computed.values()] for task in hand]
        assert not set(tasks) & set(held), "a task is in two hands"
        assert not set(tasks) & self.settled.keys(), "a settled task is dealt"
        if retry:
            assert len(tasks) == 1
            assert worker not in self.used, "the process is not fresh"

    def tell(self, event: object) -> None:
        self.now += 0.01
        self.obey(self.plan.handle(event, self.now))  # type: ignore[arg-type]

    def publish(self, worker: int) -> None:
        tasks, self.computed[worker] = self.computed[worker], []
        for task in tasks:
            assert task not in self.settled
            self.settled[task] = "done"
        self.tell(TasksDurable(worker, tasks))

    def die(self, worker: int, suspect: int | None, kind: Kind, *, by_itself: bool = False) -> None:
        del self.alive[worker], self.computed[worker]
        self.tell(WorkerGone(worker, suspect, Failure(kind, "x"), by_itself))

    def step(self, choice: random.Random, trouble: float) -> None:
        worker = choice.choice(sorted(self.alive))
        hand, mishap = self.alive[worker], choice.random() < trouble
        if worker in self.ended:
            self.publish(worker)
            self.die(worker, None, Kind.KILLED, by_itself=True)
        elif mishap and hand and choice.random() < 0.5:
            self.die(worker, hand[0], choice.choice([Kind.KILLED, Kind.MEMORY]))
        elif mishap and hand:
            task = hand.pop(0)
            self.tell(Failed(worker, task, Failure(choice.choice(KINDS), "x")))
        elif mishap and self.computed[worker]:
            self.die(worker, None, Kind.KILLED)
        elif hand and choice.random() < 0.7:
            self.computed[worker].append(hand.pop(0))
        elif self.computed[worker] and choice.random() < 0.5:
            self.publish(worker)
        elif choice.random() < 0.8:
            self.tell(WantsWork(worker, choice.choice([None, 0.001, 0.1, 10.0])))
        else:
            self.tell(choice.choice([Tick(), WantsWork(worker)]))


@settings(max_examples=300, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    workers=st.integers(1, 4),
    retries=st.integers(0, 3),
    trouble=st.floats(0.0, 0.4),
    seed=st.integers(0, 2**32),
    stop_after=st.none() | st.integers(0, 60),
)
def test_every_task_is_settled_once_and_the_run_ends(
    sizes: list[int], workers: int, retries: int, trouble: float, seed: int, stop_after: int | None
) -> None:
    groups, first = [], 0
    for size in sizes:
        groups.append(list(range(first, first + size)))
        first += size
    world = World(Plan(groups, Policy(workers, retries, grace_s=1e9)))
    world.obey(world.plan.begin())
    choice = random.Random(seed)
    for step in range(20_000):
        if world.finish is not None:
            break
        if step == stop_after:
            world.tell(StopAsked())
        elif world.alive:
            world.step(choice, trouble)
    assert world.finish is not None, "the run never ended"
    if world.finish.outcome is Outcome.COMPLETE:
        assert sorted(world.settled) == list(range(first))
    else:
        assert world.finish.outcome in {Outcome.STOPPED, Outcome.WORKERS}
    assert world.plan.done == sum(how == "done" for how in world.settled.values())
    assert world.plan.set_aside == sum(how == "set aside" for how in world.settled.values())
