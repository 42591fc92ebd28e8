"""One process of an agent as its coordinator knows it: what was ordered of it and what it said since."""

from __future__ import annotations

from dataclasses import dataclass, field

from vindeby.runner.cluster.orders import Answer, EndLane, KillLane, LaneEvent, Order, Shard, StartLane
from vindeby.runner.pool import DiskTrouble, TasksDurable, Work, WorkerGone, WorkerRetiring
from vindeby.runner.protocol import Failed, MethodUnusable, WantsWork


@dataclass
class Lane:
    """Events are kept until the coordinator says that it has them: an answer that Dask loses is given again."""

    number: int
    last_order: int = 0
    waiting_for: str = ""
    """What the last order needs to be settled: ``ready``, ``tasks`` or ``gone``; empty when it is."""
    open_tasks: set[int] = field(default_factory=set)
    present: bool = False
    seconds: float | None = None
    urgent: bool = False
    """Something was said that the coordinator should hear before the order is settled."""
    attended: int = 0
    _events: list[tuple[int, LaneEvent]] = field(default_factory=list)
    _count: int = 0
    _told: int = 0

    def take(self, number: int, order: Order) -> bool:
        """Note an order; whether it is new, as Dask may run a function twice."""
        if number <= self.last_order:
            return False
        self.last_order = number
        if isinstance(order, StartLane):
            self.present, self.waiting_for = True, "ready"
            self.open_tasks.clear()
        elif isinstance(order, Work):
            self.open_tasks = {task for task, _ in order.tasks}
            self.waiting_for = "tasks" if self.present else ""
        elif isinstance(order, EndLane | KillLane):
            self.waiting_for = "gone" if self.present else ""
        return True

    def hear(self, event: LaneEvent) -> None:
        """Keep what the process said, and note what it settles."""
        if isinstance(event, WantsWork):
            self.seconds = event.seconds_per_task
            self._settle("ready")
            return  # the coordinator knows when the lane is idle
        match event:
            case TasksDurable(_, tasks) | Shard(_, tasks):
                self.open_tasks -= set(tasks)
            case Failed(_, task):
                self.open_tasks.discard(task)
            case WorkerGone():
                self.present, self.waiting_for = False, ""
            case DiskTrouble() | WorkerRetiring() | MethodUnusable():
                self.urgent = True
        if not self.open_tasks:
            self._settle("tasks")
        self._count += 1
        self._events.append((self._count, event))

    def _settle(self, what: str) -> None:
        if self.waiting_for == what:
            self.waiting_for = ""

    def forget(self, seen: int) -> None:
        """The coordinator has the events up to this one."""
        self._events = [(number, event) for number, event in self._events if number > seen]

    @property
    def unheard(self) -> bool:
        """Has it said something since the last answer, while nobody attends to it?"""
        return self._count > self._told and not self.attended

    def answer(self) -> Answer:
        """What the coordinator does not have yet."""
        self.urgent, self._told = False, self._count
        return Answer(tuple(self._events), not self.waiting_for, self.seconds)
