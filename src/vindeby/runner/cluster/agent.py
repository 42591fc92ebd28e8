"""On a Dask worker: one agent for each coordinator, with the processes that do its tasks.

The functions at the end are what Dask runs. ``attend`` is a Dask task, which lasts as long as what it ordered; the
others are called beside the tasks (``Client.run``) and return at once. Processes belong to a thread of the agent, not
of Dask: they end with the Dask worker, or when the coordinator was not heard of for ``silent_limit_s``.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vindeby.runner.cluster.orders import (
    Answer,
    EndLane,
    KillLane,
    LaneEvent,
    Look,
    Opened,
    Order,
    Session,
    Shard,
    StartLane,
)
from vindeby.runner.local.local_pool import LocalPool
from vindeby.runner.pool import DiskTrouble, PoolEvent, TasksDurable, Work, WorkerGone, WorkerRetiring
from vindeby.runner.processes import node_and_job, total_memory
from vindeby.runner.protocol import Failed, Failure, MethodUnusable, Seen, WantsWork
from vindeby.store.disk.run_directory import RunDirectory


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
    _answered: int = 0

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
        """Has it said something since the last answer, while no task attends to it?"""
        return self._count > self._answered and not self.attended

    def answer(self) -> Answer:
        """What the coordinator does not have yet."""
        self.urgent, self._answered = False, self._count
        return Answer(tuple(self._events), not self.waiting_for, self.seconds)


_LOOK_S = 0.5
_SHARE_OF_MEMORY = 0.85
_CLOSING_S = 20.0

_agents: dict[tuple[str, str], Agent] = {}
"""By the address of the Dask worker (one process may have several) and the token of the session."""
_changing = threading.Lock()


class Agent:
    """Processes of one session on one Dask worker, and the thread that they belong to."""

    def __init__(self, session: Session, name: str, lanes: int, limit: int | None, *, sees_run: bool) -> None:
        self.session = session
        self._name, self._limit = name, limit
        self._scratch: Path | None = None
        if not sees_run:
            self._scratch = Path(tempfile.mkdtemp(prefix="vindeby-"))
        self._lanes = {number: Lane(number) for number in range(lanes)}
        self._change = threading.Condition()
        self._calls: deque[Callable[[LocalPool], None]] = deque()
        self._pool: LocalPool | None = None
        self._heard = time.monotonic()
        self._seen: tuple[Seen, ...] = ()
        self._ending = False
        self.over = threading.Event()
        threading.Thread(target=self._run, name="vindeby-agent", daemon=True).start()

    def attend(self, number: int, lane_number: int, order: Order, seen: int) -> Answer:
        """Do what is ordered, and return when that is settled or something must be heard now."""
        lane = self._lanes[lane_number]
        with self._change:
            self._heard = time.monotonic()
            lane.forget(seen)
            if lane.take(number, order):
                self._call(lambda pool: _obey(pool, lane.number, order))
            lane.attended += 1
            try:
                while lane.waiting_for and not lane.urgent and not self.over.is_set():
                    self._change.wait(1.0)
            finally:
                lane.attended -= 1
            return Answer(agent_gone=True) if self.over.is_set() else lane.answer()

    def command(self, lane: int, do: Callable[[LocalPool, int], None]) -> None:
        """Something for a lane to which a task of Dask attends already."""
        with self._change:
            self._call(lambda pool: do(pool, lane))

    def look(self) -> Look:
        """What the processes are doing; the coordinator lives."""
        with self._change:
            self._heard = time.monotonic()
            fallen = tuple(lane.number for lane in self._lanes.values() if lane.unheard)
            return Look(self._seen, fallen, self.over.is_set())

    def end(self) -> None:
        """End everything at once."""
        with self._change:
            self._ending = True
            self._call(lambda _: None)

    def _call(self, call: Callable[[LocalPool], None]) -> None:
        self._calls.append(call)
        if self._pool is not None:
            self._pool.wake()

    def _run(self) -> None:
        """The agent's thread, to which the processes belong."""
        pool: LocalPool | None = None
        try:
            pool = self._make_pool()
            with self._change:
                self._pool = pool
            while not self._is_over():
                self._turn(pool)
        finally:
            if pool is not None:
                pool.close()
            if self._scratch is not None:
                shutil.rmtree(self._scratch, ignore_errors=True)
            with self._change:
                self._pool = None
                self.over.set()
                self._change.notify_all()

    def _make_pool(self) -> LocalPool:
        session = self.session
        setup = replace(session.setup, search_path=_merged_path(session), memory_limit=self._limit)
        if self._scratch is not None:
            options = replace(setup.options, lock="", token="")
            setup = replace(setup, output=str(self._scratch / "results.h5"), options=options)
        run = RunDirectory(Path(setup.output))
        if self._scratch is not None:
            run.create()
        return LocalPool(run, setup, len(self._lanes), session.start_method, f"{session.name}-{self._name}")

    def _is_over(self) -> bool:
        return self._ending or time.monotonic() - self._heard > self.session.silent_limit_s

    def _turn(self, pool: LocalPool) -> None:
        while self._calls:
            self._calls.popleft()(pool)
        events = pool.wait(_LOOK_S)
        received = [(event, self._with_shards(event)) for event in events]
        with self._change:
            for event, said in received:
                for number in self._who(event):
                    for one in said:
                        self._lanes[number].hear(one)
            self._seen = tuple(pool.observe())
            if events:
                self._change.notify_all()

    def _who(self, event: PoolEvent) -> tuple[int, ...]:
        """Whose event it is; what concerns no lane in particular is for all."""
        if isinstance(event, MethodUnusable):
            return tuple(self._lanes)
        worker = getattr(event, "worker", None)
        return () if worker is None else (worker,)

    def _with_shards(self, event: PoolEvent) -> list[LaneEvent]:
        """Where the run directory cannot be reached, what was published here goes to the coordinator."""
        if self._scratch is None or not isinstance(event, TasksDurable | WorkerGone):
            return [event]
        shards = self._scratch / "results.h5.run" / "shards"
        if isinstance(event, TasksDurable):
            path = shards / event.shard
            data = path.read_bytes()
            path.unlink()
            return [Shard(event.worker, event.tasks, data, event.seconds)]
        paths = sorted(shards.glob("*/*.h5")) if event.published else []
        left = [Shard(event.worker, (), path.read_bytes(), 0.0) for path in paths]
        if left:  # its tasks count when the last of the files is published
            left[-1] = replace(left[-1], tasks=event.published)
        return [*left, replace(event, published=())]


def _obey(pool: LocalPool, lane: int, order: Order) -> None:
    if isinstance(order, StartLane):
        pool.start(lane)
    elif isinstance(order, Work):
        pool.assign(lane, replace(order, publish_at_end=True))
    elif isinstance(order, EndLane):
        pool.end(lane)
    elif isinstance(order, KillLane):
        pool.kill(lane, order.failure)


def _merged_path(session: Session) -> tuple[str, ...]:
    """This machine's packages first; what the coordinator has besides, such as the folder of a user's module."""
    here = [entry for entry in sys.path if entry]
    return tuple(here + [entry for entry in session.setup.search_path if entry not in here])


def answer_probe(probe: str, text: str) -> str:
    """Read what the coordinator wrote, and write a file that it can read; its name, empty where that fails."""
    place = Path(probe)
    try:
        if place.read_text(encoding="utf-8") != text:
            return ""
        with tempfile.NamedTemporaryFile(
            "w", dir=place.parent, prefix=f"{place.name}-", delete=False
        ) as file:
            file.write(text)
    except OSError:
        return ""
    return Path(file.name).name


def open_session(session: Session, sees_run: bool, dask_worker: Any = None) -> Opened:
    """Begin on this Dask worker, and end what earlier coordinators of the same campaign left here."""
    address, lanes = dask_worker.address, max(1, dask_worker.state.nthreads)
    node, job = node_and_job()
    with _changing:
        for (where, token), agent in list(_agents.items()):
            if agent.over.is_set() or (
                where == address and agent.session.setup.output == session.setup.output
            ):
                agent.end()
                del _agents[where, token]
        name = f"{node}-{address.rpartition(':')[2]}"
        limit = session.setup.memory_limit or _fair_share(dask_worker, lanes)
        _agents[address, session.token] = Agent(session, name, lanes, limit, sees_run=sees_run)
    return Opened(lanes, node, job, str(dask_worker.nanny or dask_worker.name))


def _fair_share(dask_worker: Any, lanes: int) -> int | None:
    limit = getattr(getattr(dask_worker, "memory_manager", None), "memory_limit", None) or total_memory()
    return None if limit is None else int(_SHARE_OF_MEMORY * limit / lanes)


def attend(token: str, number: int, lane: int, order: Order, seen: int) -> Answer:
    """A task of Dask: one order to one process, and what came of it."""
    from distributed import get_worker

    agent = _agents.get((get_worker().address, token))
    return Answer(agent_gone=True) if agent is None else agent.attend(number, lane, order, seen)


def look(token: str, dask_worker: Any = None) -> Look:
    """How the processes are."""
    agent = _agents.get((dask_worker.address, token))
    return Look(agent_gone=True) if agent is None else agent.look()


def end_lane(token: str, lane: int, now: bool, dask_worker: Any = None) -> None:
    """Let a process finish, to which a task attends."""
    _command(dask_worker, token, lane, lambda pool, number: pool.end(number, now=now))


def kill_lane(token: str, lane: int, failure: Failure | None, dask_worker: Any = None) -> None:
    """Kill a process, to which a task attends."""
    _command(dask_worker, token, lane, lambda pool, number: pool.kill(number, failure))


def _command(dask_worker: Any, token: str, lane: int, do: Callable[[LocalPool, int], None]) -> None:
    agent = _agents.get((dask_worker.address, token))
    if agent is not None:
        agent.command(lane, do)


async def close_session(token: str, dask_worker: Any = None) -> None:
    """End everything of a session on this Dask worker; returns when it is gone."""
    import asyncio

    agent = _agents.pop((dask_worker.address, token), None)
    if agent is not None:
        agent.end()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(agent.over.wait, _CLOSING_S), _CLOSING_S)
