"""Measure the plan of a run with 1,000 workers and a million tasks: its time per event and memory (docs/cluster.md).

The plan does no I/O and has no clock, so a day of a large cluster is a loop here: every worker is given tasks, finishes
them, sometimes dies (some while they are on a task, some because a node of 40 workers is lost), and asks again. The run
must end with every task settled exactly once.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import resource
import time
import tracemalloc
from collections import Counter

from vindeby.runner.plan import Plan, Policy
from vindeby.runner.protocol import (
    Assign,
    EndWorker,
    Failure,
    Finish,
    Instruction,
    KillWorker,
    Kind,
    Outcome,
    SetAside,
    StartWorker,
    TasksDurable,
    WantsWork,
    WorkerGone,
)

WORKERS_PER_NODE = 40


class Cluster:
    """Simulated workers; an event is a moment, a kind and a worker, in a queue by time."""

    def __init__(self, tasks: int, workers: int, groups: int, seconds_per_task: float, deaths: float) -> None:
        self.random = random.Random(7)
        size = -(-tasks // groups)
        numbers = iter(range(tasks))
        parts = [list(itertools.islice(numbers, size)) for _ in range(groups)]
        policy = Policy(workers=workers, retries=3, batch_s=2.0)
        self.plan = Plan(parts, policy)
        self.tasks, self.seconds, self.deaths = tasks, seconds_per_task, deaths
        self.queue: list[tuple[float, int, str, int]] = []
        self.order = itertools.count()
        self.hands: dict[int, list[int]] = {}
        self.settled: Counter[int] = Counter()
        self.events: Counter[str] = Counter()
        self.slowest = self.spent = 0.0
        self.finish: Finish | None = None

    def run(self) -> None:
        self.obey(self.plan.begin(), 0.0)
        while self.finish is None:
            now, _, kind, worker = heapq.heappop(self.queue)
            getattr(self, kind)(worker, now)

    def at(self, when: float, kind: str, worker: int) -> None:
        heapq.heappush(self.queue, (when, next(self.order), kind, worker))

    def tell(self, event: object, now: float) -> None:
        self.events[type(event).__name__] += 1
        began = time.perf_counter()
        instructions = self.plan.handle(event, now)  # type: ignore[arg-type]
        took = time.perf_counter() - began
        self.spent += took
        self.slowest = max(self.slowest, took)
        self.obey(instructions, now)

    def obey(self, instructions: list[Instruction], now: float) -> None:
        for one in instructions:
            if isinstance(one, StartWorker):
                self.at(now + one.delay_s + self.random.uniform(1.0, 5.0), "ready", one.worker)
            elif isinstance(one, Assign):
                self.hands[one.worker] = list(one.tasks)
                took = self.seconds * len(one.tasks) * self.random.uniform(0.7, 1.3)
                fate = "die" if self.random.random() < self.deaths else "done"
                self.at(now + took, fate, one.worker)
            elif isinstance(one, EndWorker | KillWorker):
                self.at(now + 0.01, "leave", one.worker)
            elif isinstance(one, SetAside):
                self.settled[one.task] += 1
            elif isinstance(one, Finish):
                self.finish = one

    def ready(self, worker: int, now: float) -> None:
        self.hands[worker] = []
        self.tell(WantsWork(worker), now)

    def done(self, worker: int, now: float) -> None:
        if worker not in self.hands:
            return
        tasks, self.hands[worker] = self.hands[worker], []
        self.settled.update(tasks)
        self.tell(TasksDurable(worker, tasks), now)
        if self.finish is None:
            self.tell(WantsWork(worker, self.seconds), now)

    def die(self, worker: int, now: float) -> None:
        """One worker, or one time in twenty all workers of its node."""
        node = range(
            worker // WORKERS_PER_NODE * WORKERS_PER_NODE, (worker // WORKERS_PER_NODE + 1) * WORKERS_PER_NODE
        )
        lost = node if self.random.random() < 0.05 else [worker]
        for one in lost:
            if (held := self.hands.pop(one, None)) is not None:
                suspect = held[0] if held and len(lost) == 1 else None
                self.tell(WorkerGone(one, suspect, Failure(Kind.KILLED, "lost")), now)

    def leave(self, worker: int, now: float) -> None:
        self.hands.pop(worker, None)
        self.tell(WorkerGone(worker, None, Failure(Kind.KILLED, "told to"), by_itself=True), now)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("--tasks", type=int, default=1_000_000)
    given.add_argument("--workers", type=int, default=1_000)
    given.add_argument("--groups", type=int, default=100)
    given.add_argument("--seconds", type=float, default=0.2, help="per task")
    given.add_argument("--deaths", type=float, default=0.002, help="of each assignment")
    given.add_argument("--memory", action="store_true", help="trace memory, which makes it slow")
    asked = given.parse_args()
    if asked.memory:
        tracemalloc.start()
    began = time.perf_counter()
    cluster = Cluster(asked.tasks, asked.workers, asked.groups, asked.seconds, asked.deaths)
    cluster.run()
    events = sum(cluster.events.values())
    assert cluster.finish is not None
    assert cluster.finish.outcome is Outcome.COMPLETE, cluster.finish
    assert set(cluster.settled.values()) == {1}
    assert len(cluster.settled) == asked.tasks
    print(f"{asked.tasks:,} tasks, {asked.workers:,} workers, {asked.groups:,} cells: {events:,} events")
    print(f"  {dict(cluster.events)}")
    print(f"  {1e6 * cluster.spent / events:,.1f} µs per event, the slowest {1e3 * cluster.slowest:,.1f} ms")
    print(f"  {cluster.spent:,.1f} s in the plan of {time.perf_counter() - began:,.1f} s in all")
    print(
        f"  peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"
    )
    if asked.memory:
        print(f"  peak memory of Python objects: {tracemalloc.get_traced_memory()[1] / 2**20:,.0f} MiB")


if __name__ == "__main__":
    main()
