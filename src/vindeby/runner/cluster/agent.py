"""On a Dask worker: one agent for each coordinator, with a pool of processes that do its tasks.

A coordinator sends orders for that pool and receives its events. Both are numbered, and each side keeps what it said
until the other has it, so that whatever Dask loses on the way is said again. They meet in ``exchange``, which the
coordinator calls beside Dask's own tasks (``Client.run``), again and again; it returns when there are events. Processes
belong to a thread of the agent, not of Dask: they end with the Dask worker, or when the coordinator was not heard of
for ``Setup.coordinator_limit_s``.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from vindeby.runner.local.local_pool import LocalPool
from vindeby.runner.processes import SHARE_OF_MEMORY, node_and_job, total_memory
from vindeby.runner.protocol import Inbox, PoolEvent, Seen, TasksDurable, WorkerGone
from vindeby.runner.task_executor import Setup
from vindeby.store.disk.run_directory import SHARD_SUFFIX, RunDirectory

_LOOK_S = 0.5
_NEWS_S = 0.02
_CLOSING_S = 20.0

Order: TypeAlias = Callable[[LocalPool], None]
"""A call of a method of the agent's pool (``operator.methodcaller``); its slots are the lanes of the Dask worker."""


@dataclass(frozen=True)
class Opened:
    """An agent is there, under this key: how many processes it has room for, and where it runs."""

    key: str
    lanes: int
    node: str
    job: str
    identity: str = ""
    """What stays the same when it is restarted: the address of its nanny, or its name."""


@dataclass(frozen=True)
class Shard:
    """A file of results from an agent that does not see the run directory, for the coordinator to publish."""

    worker: int
    tasks: Sequence[int]
    data: bytes
    seconds: float


LaneEvent: TypeAlias = PoolEvent | Shard
"""As a pool reports it, with the number of a lane for that of a slot."""


@dataclass(frozen=True)
class AgentReport:
    """An agent at this moment: the last order that it has, the events that the coordinator does not have, its lanes."""

    last_order: int = 0
    events: tuple[tuple[int, LaneEvent], ...] = ()
    seen: tuple[Seen, ...] = ()
    agent_gone: bool = False


_agents: dict[str, Agent] = {}
"""Those of this process, which may have several Dask workers, by the key under which each was opened."""
_changing = threading.Lock()


class Agent:
    """Processes of one run on one Dask worker, and the thread that they belong to."""

    def __init__(self, setup: Setup, address: str, lanes: int, *, sees_run: bool) -> None:
        self.setup, self.address, self._lanes = setup, address, lanes
        self._scratch = None if sees_run else Path(tempfile.mkdtemp(prefix="vindeby-"))
        self._lock = threading.Lock()
        self._inbox = Inbox()
        self._last_order = self._last_event = 0
        self._events: list[tuple[int, LaneEvent]] = []
        self._heard = time.monotonic()
        self._seen: tuple[Seen, ...] = ()
        self._ending = False
        self.calls = 0
        """How often it was called: of several calls that wait, the last one is answered."""
        self.has_news = False
        self.over = threading.Event()
        threading.Thread(target=self._run, name="vindeby-agent", daemon=True).start()

    def exchange(self, orders: Sequence[tuple[int, Order]], heard: int) -> AgentReport:
        """Take orders that are new, forget the events that the coordinator has heard, and return the others."""
        with self._lock:
            self._heard = time.monotonic()
            self._events = [(number, event) for number, event in self._events if number > heard]
            for number, order in orders:
                if number > self._last_order:
                    self._last_order = number
                    self._inbox.post(partial(self._obey, order))
            return AgentReport(self._last_order, tuple(self._events), self._seen, self.over.is_set())

    def end(self) -> None:
        """End everything at once."""
        self._inbox.post(self._end)

    def _end(self) -> None:
        self._ending = True

    def _obey(self, order: Order) -> None:
        order(self._pool)

    def _run(self) -> None:
        """The agent's thread, to which the processes belong."""
        try:
            self._pool = self._make_pool()
            try:
                while not (self._ending or time.monotonic() - self._heard > self.setup.coordinator_limit_s):
                    self._turn()
            finally:
                self._pool.close()
        finally:
            if self._scratch is not None:
                shutil.rmtree(self._scratch, ignore_errors=True)
            self.over.set()

    def _make_pool(self) -> LocalPool:
        name = f"{self.setup.name}-{node_and_job()[0]}-{self.address.rpartition(':')[2]}"
        setup = replace(self.setup, search_path=_merged_path(self.setup), name=name)
        if self._scratch is not None:
            setup = replace(setup, output=str(self._scratch / "results.h5"), lock="", token="")
        run = RunDirectory(Path(setup.output))
        if self._scratch is not None:
            run.create()
        return LocalPool(run, setup, self._lanes, self._inbox)

    def _turn(self) -> None:
        events = [one for event in self._pool.wait(_LOOK_S) for one in self._with_shards(event)]
        with self._lock:
            self._seen = tuple(self._pool.observe())
            self._events += enumerate(events, self._last_event + 1)
            self._last_event += len(events)
            at_work = any(seen.task is not None for seen in self._seen)
            urgent = [event for event in events if not (at_work and isinstance(event, TasksDurable | Shard))]
            self.has_news |= bool(urgent)  # results alone can wait for the next exchange

    def _with_shards(self, event: PoolEvent) -> list[LaneEvent]:
        """Return the event, with the shards published here if the coordinator's run directory is out of reach."""
        if self._scratch is None or not isinstance(event, TasksDurable | WorkerGone):
            return [event]
        shards = self._scratch / "results.h5.run" / "shards"
        if isinstance(event, TasksDurable):
            path = shards / event.shard
            data = path.read_bytes()
            path.unlink()
            return [Shard(event.worker, event.tasks, data, event.seconds)]
        paths = sorted(shards.glob(f"*/*{SHARD_SUFFIX}")) if event.published else []
        left = [Shard(event.worker, (), path.read_bytes(), 0.0) for path in paths]
        if left:  # its tasks count when the last of the files is published
            left[-1] = replace(left[-1], tasks=event.published)
        return [*left, replace(event, published=())]


def _merged_path(setup: Setup) -> tuple[str, ...]:
    """Return this machine's packages, then those only the coordinator has, such as the folder of a user's module."""
    here = [entry for entry in sys.path if entry]
    return tuple(here + [entry for entry in setup.search_path if entry not in here])


def answer_probe(probe: str, text: str) -> str:
    """Read what the coordinator wrote, and write a file that it can read; its name, empty where that fails."""
    answer = f"{Path(probe).name}-{uuid.uuid4().hex}"
    try:
        if Path(probe).read_text(encoding="utf-8") != text:
            return ""
        Path(probe).with_name(answer).write_text(text, encoding="utf-8")
    except OSError:
        return ""
    return answer


def open_session(setup: Setup, sees_run: bool, dask_worker: Any = None) -> Opened:
    """Begin on this Dask worker, and end what earlier coordinators of the same campaign left here."""
    address, lanes, new = dask_worker.address, max(1, dask_worker.state.nthreads), uuid.uuid4().hex
    node, job = node_and_job()
    with _changing:
        for key, agent in list(_agents.items()):
            earlier = agent.address == address and agent.setup.output == setup.output
            if earlier or agent.over.is_set():
                agent.end()
                del _agents[key]
        limit = setup.memory_limit or _fair_share(dask_worker, lanes)
        _agents[new] = Agent(_limited(setup, limit, lanes), address, lanes, sees_run=sees_run)
    return Opened(new, lanes, node, job, str(dask_worker.nanny or dask_worker.name))


def _limited(setup: Setup, limit: int | None, lanes: int) -> Setup:
    return replace(setup, memory_limit=limit, memory_limit_alone=None if limit is None else limit * lanes)


def _fair_share(dask_worker: Any, lanes: int) -> int | None:
    limit = getattr(getattr(dask_worker, "memory_manager", None), "memory_limit", None) or total_memory()
    return None if limit is None else int(SHARE_OF_MEMORY * limit) // lanes


async def exchange(
    key: str, orders: Sequence[tuple[int, Order]], heard: int, patience_s: float
) -> AgentReport:
    """Orders to an agent, and its report: as soon as it has news, after so many seconds, or when called again."""
    agent = _agents.get(key)
    if agent is None:
        return AgentReport(agent_gone=True)
    agent.exchange(orders, heard)
    agent.calls += 1
    this, deadline = agent.calls, time.monotonic() + patience_s
    while not agent.has_news and this == agent.calls and time.monotonic() < deadline:
        await asyncio.sleep(_NEWS_S)
    agent.has_news = False
    return agent.exchange((), heard)


def stay(key: str) -> None:
    """A task of Dask that lasts as long as the agent and leaves its thread to others: this worker is not idle."""
    from distributed import secede

    secede()
    if (agent := _agents.get(key)) is not None:
        agent.over.wait()


async def close_session(key: str) -> None:
    """End an agent and everything of it; returns when it is gone."""
    agent = _agents.pop(key, None)
    if agent is not None:
        agent.end()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(agent.over.wait, _CLOSING_S), _CLOSING_S)
