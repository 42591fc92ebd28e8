"""Dask workers behind the ``WorkerPool`` protocol: each assignment is one future, a batch for ``batch.run_batch``.

A slot is a batch in flight, and there are as many as the Dask workers have threads. Dask places the batches, runs one
again whose Dask worker is lost, and gives it up as ``KilledWorker`` after ``allowed-failures``; then each of its tasks
has failed once. Batches run only on Dask workers that have joined: they have the versions of this process and were not
lost again and again. What Dask says arrives in the event loop of its client and is handed to the thread of the pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import time
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vindeby.errors import DataError, StorageError
from vindeby.runner.cluster.batch import BatchReport, Joined, Order, join, leave, obey, run_batch
from vindeby.runner.cluster.connect import NoJobsReason
from vindeby.runner.protocol import (
    DiskTrouble,
    Failed,
    Failure,
    Inbox,
    Kind,
    MethodUnusable,
    MoreSlots,
    PoolEvent,
    PoolLost,
    PoolNote,
    Seen,
    TasksDurable,
    WantsWork,
    Work,
    WorkerGone,
    WorkerReady,
)
from vindeby.runner.publisher import shard_name
from vindeby.runner.task_executor import Setup, one_line, shard_writer
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardFile
from vindeby.text import plural

PACKAGES = {"python": "Python", "numpy": "NumPy", "numba": "Numba", "vindeby": "vindeby"}
LOSSES = 3
LOSSES_ALONE = 10
"""How often a Dask worker may be lost in a row without a result before it is not used any more.

Not more often than Dask's ``allowed-failures``, so that no batch is given up because of it. Where it is the only one,
it has more tries: the cause may be a task, which the plan sets aside.
"""
_WATCH_S = 1.0
_ANSWER_S = 20.0
_JOINING_S = 60.0
_GATHER_S = 0.05
"""How long an order waits for others, to be sent with them."""
_KILL_S = 5.0
"""How long a batch that is to be killed may take to report before it is given up."""


def here() -> dict[str, Any]:
    """What is installed here, in the form that Dask has for it."""
    from distributed.versions import get_versions

    versions: dict[str, Any] = get_versions(packages=[*PACKAGES])
    return versions


def mismatch(address: str, there: dict[str, Any], ours: dict[str, Any]) -> str:
    """Name what differs between a Dask worker and here, with both versions; empty when nothing does."""
    found = []
    for package, name in PACKAGES.items():
        theirs, mine = (_release((known.get("packages") or {}).get(package)) for known in (there, ours))
        if theirs != mine:
            found.append(f"{name} is {theirs} there and {mine} here")
    reason = f"the Dask worker {address} has other versions: {'; '.join(found)}; install the same versions on both, "
    return f"{reason}then rerun the same command" if found else ""


def _release(version: str | None) -> str:
    return (version or "not installed").removesuffix(".final.0")


@dataclass
class _Node:
    """A Dask worker that has joined."""

    address: str
    joined: Joined
    fruitful: bool = False
    """A batch was run on it."""

    def __str__(self) -> str:
        job = f", job {self.joined.job}" if self.joined.job else ""
        return f"{self.address} on {self.joined.node}{job}"


@dataclass
class _Batch:
    """Tasks of a slot."""

    slot: int
    work: Work
    future: Any = None
    """None as long as no Dask worker can have it."""
    only_on: frozenset[str] = frozenset()
    """The Dask workers that may run it, where not all may."""
    seen: Seen | None = None
    seen_at: float = 0.0
    job: str = ""
    is_ending: bool = False
    over_at: float = float("inf")
    """When it is given up, since it was to be killed."""

    def ran(self) -> str:
        """Return how long its task had run when its Dask worker vanished, as the job may be too short for it."""
        if self.seen is None or self.seen.task is None:
            return ""
        hint = "; if that is about the time of the job, raise run.slurm.time" if self.job else ""
        return (
            f", {self.seen.seconds + time.monotonic() - self.seen_at:,.0f} s after it began this task{hint}"
        )


class DaskPool:
    """Batches on Dask workers, through a ``distributed.Client``."""

    def __init__(
        self,
        setup: Setup,
        client: Any,
        *,
        most: int | None = None,
        patience_s: float = 300.0,
        no_jobs_reason: NoJobsReason | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._setup, self._client, self._most, self._say = setup, client, most, say
        self._patience_s, self._no_jobs_reason = patience_s, no_jobs_reason
        self._inbox, self._token = Inbox(), uuid.uuid4().hex
        self._slots: dict[int, _Batch | None] = {}
        self._orders: dict[str, Order] = {}
        """By key of a batch, about to be sent; only the event loop touches them."""
        self._seconds: float | None = None
        """How long a task took lately, with its share of what a batch needs besides."""
        self._nodes: dict[str, _Node] = {}
        self._known: set[str] = set()
        """Addresses of Dask workers that are joining, have joined, or are refused."""
        self._refused: dict[str, str] = {}
        """Of these, the ones that are not used, with what differs on those with other versions."""
        self._losses: Counter[str] = Counter()
        """How often each Dask worker, by what stays the same when it is restarted, was lost without a result."""
        self._alone_since, self._silence, self._lost = time.monotonic(), "", False
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._coroutines: set[asyncio.Task[None]] = set()
        self._probe = RunDirectory(Path(setup.output)).path / f".probe-{self._token}"
        self._probe.write_text(self._token, encoding="utf-8")
        self._soon(self._watch())

    def start(self, slot: int) -> None:
        """Let a slot ask for the tasks of a batch."""
        self._slots[slot] = None
        self._inbox.events.append(WantsWork(slot, self._seconds))

    def assign(self, slot: int, work: Work) -> None:
        """Submit a batch as soon as there is a Dask worker for it."""
        if slot in self._slots:
            batch = self._slots[slot] = _Batch(slot, work)
            self._submit(batch)

    def end(self, slot: int, *, now: bool = False) -> None:
        """Let a batch finish its task and publish."""
        self._order(slot, Order.END_NOW if now else Order.END)

    def kill(self, slot: int) -> None:
        """Kill the process of a batch; one that does not answer is given up."""
        self._order(slot, Order.KILL)
        if batch := self._slots.get(slot):
            batch.over_at = time.monotonic() + _KILL_S

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        """Hear what Dask said."""
        for batch in self._batches():
            if time.monotonic() > batch.over_at:
                self._gone(batch.slot, "its Dask worker does not answer")
        return self._inbox.wait(timeout_s)

    def observe(self) -> list[Seen]:
        """What the batches last said, with the time since then."""
        seen = []
        for batch in self._batches():
            if (last := batch.seen) is not None:
                age = time.monotonic() - batch.seen_at
                seconds = last.seconds + age if last.task is not None else 0.0
                seen.append(replace(last, worker=batch.slot, seconds=seconds, silent_s=last.silent_s + age))
        return seen

    def close(self) -> None:
        """End all batches; whose cluster it is decides whether that ends too."""
        done = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        with contextlib.suppress(Exception):
            done.result(_ANSWER_S)
        self._probe.unlink(missing_ok=True)

    def _batches(self) -> list[_Batch]:
        return [batch for batch in self._slots.values() if batch is not None]

    def _order(self, slot: int, order: Order) -> None:
        if (batch := self._slots.get(slot)) is not None and batch.future is not None:
            batch.is_ending = True
            self._soon(self._send(batch.future.key, order))
        elif slot in self._slots:
            self._gone(slot, "never started", by_itself=True)

    def _submit(self, batch: _Batch) -> None:
        batch.future = None
        if not self._nodes or self._silence:
            return
        batch.only_on = frozenset() if self._known == self._nodes.keys() else frozenset(self._nodes)
        cell = batch.work.tasks[0][1].key.partition("_s")[0]  # what Dask's dashboard groups by
        arguments = self._setup.output, self._token, batch.work
        key, where = f"{cell}-{uuid.uuid4().hex}", list(batch.only_on) or None
        try:
            batch.future = self._client.submit(run_batch, *arguments, key=key, pure=False, workers=where)
        except Exception as error:  # noqa: BLE001 - whatever Dask raises, the client cannot be used now
            self._gone(batch.slot, f"Dask does not take a batch: {one_line(error)}")
        else:
            self._soon(self._follow(batch, batch.future))

    def _gone(self, slot: int, reason: str, *, by_itself: bool = False) -> None:
        """Empty a slot, whatever it is at."""
        batch = self._slots.pop(slot)
        if batch is not None and batch.future is not None:
            self._soon(self._client.cancel([batch.future], asynchronous=True))
        self._inbox.events.append(WorkerGone(slot, None, Failure(Kind.KILLED, reason), by_itself))

    def _came(self, batch: _Batch, report: BatchReport) -> None:
        """Pass on what came of a batch."""
        if self._slots.get(batch.slot) is not batch:
            return  # it was given up
        if not report.events:  # it joins, or joins again after it had no batch for a while
            self._nodes.pop(report.address, None)
            self._known.discard(report.address)
            self._gone(
                batch.slot, f"the Dask worker {report.address} takes no part in the run", by_itself=True
            )
            return
        if (node := self._nodes.get(report.address)) is not None:
            node.fruitful = True
        left = {number for number, _ in batch.work.tasks}
        *events, gone = report.events
        for event in [*events, *(self._publish(batch, shard) for shard in report.shards)]:
            self._pass_on(batch, event)
            settled = event.tasks if isinstance(event, TasksDurable) else ()
            left -= {event.task} if isinstance(event, Failed) else {*settled}
        self._seconds = report.seconds / max(1, len(batch.work.tasks) - len(left))
        if left or batch.is_ending:
            del self._slots[batch.slot]
            self._pass_on(batch, gone)
        else:
            self.start(batch.slot)

    def _pass_on(self, batch: _Batch, event: PoolEvent) -> None:
        if not isinstance(event, MethodUnusable | MoreSlots | PoolLost | PoolNote):
            event = replace(event, worker=batch.slot)
        self._inbox.events.append(event)

    def _publish(self, batch: _Batch, shard: bytes) -> PoolEvent:
        """Publish results that a worker could not publish, unless they were damaged on the way."""
        try:
            segments = ShardFile(Path("a returned shard"), shard).segments()
            records = [record for segment in segments for record in segment.records()]
            name = shard_name(shard_writer(self._setup).publish(records).path)
        except DataError as error:
            return PoolNote("returned results are damaged", {"reason": str(error)})
        except StorageError as error:
            return DiskTrouble(batch.slot, str(error))
        keys = {record.key for record in records}
        tasks = tuple(number for number, task in batch.work.tasks if task.key in keys)
        return TasksDurable(batch.slot, tasks, name)

    def _failed(self, batch: _Batch, error: Any) -> None:
        """Dask could not run a batch; where its Dask workers were lost again and again, each of its tasks failed."""
        from distributed import KilledWorker

        if self._slots.get(batch.slot) is not batch:
            return
        if not isinstance(error, KilledWorker):
            self._gone(batch.slot, f"Dask could not run the batch: {one_line(error)}")
            return
        lost, last = plural(error.allowed_failures + 1, "Dask worker"), error.last_worker.address
        failure = Failure(
            Kind.KILLED, f"{lost} in a row were lost with its batch, the last {last}{batch.ran()}"
        )
        for number, _ in batch.work.tasks:
            self._inbox.events.append(Failed(batch.slot, number, failure))
        self.start(batch.slot)
        if batch.is_ending:
            self._gone(batch.slot, "asked to end", by_itself=True)

    def _shown(self, key: str, event: PoolEvent | Seen) -> None:
        """Take what a batch shows while it runs."""
        for batch in self._batches():
            if batch.future is not None and batch.future.key == key:
                if isinstance(event, Seen):
                    batch.seen, batch.seen_at = event, time.monotonic()
                else:
                    batch.job = event.job if isinstance(event, WorkerReady) else batch.job
                    self._pass_on(batch, event)

    def _present(self, addresses: set[str]) -> None:
        """Let Dask workers join that came, and do without those that went."""
        if self._silence:
            self._silence = ""
            self._say("the Dask scheduler answers again")
        self._refused = {address: why for address, why in self._refused.items() if address in addresses}
        for node in [node for node in self._nodes.values() if node.address not in addresses]:
            self._node_lost(node)
        for address in addresses - self._known:
            self._soon(self._join(address))
        self._known = addresses
        for batch in self._batches():
            if batch.only_on and not batch.only_on & addresses:  # Dask would wait for them
                self._gone(batch.slot, f"the Dask workers that could run it are gone{batch.ran()}")
            elif batch.future is None:
                self._submit(batch)
        differences = [why for why in self._refused.values() if why]
        if differences and self._known == self._refused.keys():
            self._inbox.events.append(MethodUnusable("\n".join(differences)))
        self._check_patience("there are no Dask workers that can be used", present=bool(self._nodes))

    def _silent(self, reason: str, *, final: bool = False) -> None:
        """Note that the scheduler gave no answer."""
        if not self._silence and not final:
            self._say(f"{reason}; it is waited for, for up to {self._patience_s:.0f} s")
        self._silence = reason
        if final:
            self._give_up(f"{reason}; see to it that the Dask cluster runs")
        else:
            self._check_patience(reason, present=False)

    def _check_patience(self, reason: str, *, present: bool) -> None:
        alone_s = time.monotonic() - self._alone_since
        if present:
            self._alone_since = time.monotonic()
        elif self._no_jobs_reason is not None:  # as long as jobs are in the queue, workers may come
            if why := self._no_jobs_reason():
                self._give_up(why)
        elif alone_s > self._patience_s:
            self._give_up(f"{reason}, for {self._patience_s:.0f} s; see to it that the Dask cluster runs")

    def _give_up(self, reason: str) -> None:
        if not self._lost:
            self._lost = True
            for slot in list(self._slots):
                self._gone(slot, reason)
            self._inbox.events.append(PoolLost(reason))

    def _joined(self, address: str, joined: Joined) -> None:
        """Use a Dask worker that has joined."""
        if address not in self._known:
            return  # it went meanwhile
        if self._nodes and self._losses[joined.identity] >= LOSSES:
            self._refused[address] = ""
            return
        node = self._nodes[address] = _Node(address, joined)
        self._note("node joined", node, publishes=joined.sees_run)
        if not joined.sees_run:
            where = self._probe.parent
            self._say(
                f"the Dask worker {node} cannot reach {where}; its results come back and are published here"
            )
        room = sum(one.joined.threads for one in self._nodes.values())
        self._inbox.events.append(MoreSlots(room if self._most is None else min(room, self._most)))

    def _not_joined(self, address: str, reason: str, *, mismatch: bool) -> None:
        """Do without a Dask worker that has other versions; let any other try again."""
        self._inbox.events.append(PoolNote("node refused", {"address": address, "reason": reason}))
        if mismatch:
            self._refused[address] = reason
            self._say(f"{reason}; it is not used")
        else:
            self._known.discard(address)

    def _note(self, event: str, node: _Node, **more: Any) -> None:
        joined = node.joined
        where = {"node": joined.node, "job": joined.job, "workers": joined.threads}
        self._inbox.events.append(PoolNote(event, {"address": node.address, **where, **more}))

    def _node_lost(self, node: _Node) -> None:
        """The scheduler knows a Dask worker no more; its nanny may bring it back, but not for ever.

        A nanny restarts a Dask worker whatever it dies of, each time under another address; only the address of its
        nanny, or its name, tells that it is the same.
        """
        del self._nodes[node.address]
        self._note("node lost", node)
        identity = node.joined.identity
        count = self._losses[identity] = 0 if node.fruitful else self._losses[identity] + 1
        if count >= (LOSSES if self._nodes else LOSSES_ALONE):
            why = (
                f"the Dask worker {node} was lost and came back {count} times in a row without finishing a task "
                f"({identity}); it is not used any more, see its own log for what ends it, such as its memory limit"
            )
            self._note("node given up", node, reason=why)
            self._say(why)
            if not self._nodes:
                self._give_up(why)

    # In the event loop of the client: what comes of it is a call of one of the methods above.

    def _tell(self, method: Callable[..., None], *arguments: Any, **more: Any) -> None:
        self._inbox.post(partial(method, *arguments, **more))

    def _soon(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        def begin() -> None:
            task = self._loop.create_task(coroutine)
            self._coroutines.add(task)
            task.add_done_callback(self._coroutines.discard)

        self._loop.call_soon_threadsafe(begin)

    async def _follow(self, batch: _Batch, future: Any) -> None:
        try:
            report = await future
        except BaseException as error:  # noqa: BLE001 - cancelled, too: by Dask, when the scheduler was lost
            self._tell(self._failed, batch, error)
        else:
            self._tell(self._came, batch, report)

    async def _watch(self) -> None:
        def show(event: tuple[float, tuple[str, bytes]]) -> None:
            key, shown = event[1]
            self._tell(self._shown, key, pickle.loads(shown))  # noqa: S301 - of our own function on a Dask worker

        answers = False
        while self._client.status not in {"closed", "closing"}:
            try:
                threads = await asyncio.wait_for(self._client.nthreads(), _ANSWER_S)
            except Exception as error:  # noqa: BLE001 - whatever Dask raises, it means no answer
                answers, reason = False, one_line(error).partition("\n")[0]
                self._tell(self._silent, f"the Dask scheduler does not answer ({reason})")
            else:
                if not answers:
                    self._client.subscribe_topic(f"vindeby-{self._token}", show)
                answers = True
                self._tell(self._present, set(threads))
            await asyncio.sleep(_WATCH_S)
        self._tell(self._silent, "the connection to the Dask scheduler is closed", final=True)

    async def _join(self, address: str) -> None:
        from distributed.versions import get_versions

        try:
            there = await self._run_on(address, get_versions, packages=[*PACKAGES])
            reason = mismatch(address, there, here())
            joined = (
                None
                if reason
                else await self._run_on(address, join, self._token, self._setup, str(self._probe))
            )
        except Exception as error:  # noqa: BLE001 - a worker may go at any moment
            self._tell(self._not_joined, address, one_line(error).partition("\n")[0], mismatch=False)
        else:
            if joined is None:
                self._tell(self._not_joined, address, reason, mismatch=True)
            else:
                self._tell(self._joined, address, joined)

    async def _run_on(self, address: str, function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        answer = self._client.run(function, *arguments, **more, workers=[address])
        return (await asyncio.wait_for(answer, _JOINING_S))[address]

    async def _send(self, key: str, order: Order) -> None:
        self._orders[key] = order
        await asyncio.sleep(_GATHER_S)
        if self._orders:
            orders, self._orders = self._orders, {}
            await self._run_everywhere(obey, orders)

    async def _run_everywhere(self, function: Callable[..., Any], *arguments: Mapping[str, Order]) -> None:
        with contextlib.suppress(Exception):  # what does not hear it ends with its batch
            answers = self._client.run(
                function, self._setup.output, self._token, *arguments, on_error="ignore"
            )
            await asyncio.wait_for(answers, _ANSWER_S)

    async def _end(self) -> None:
        for task in self._coroutines - {asyncio.current_task()}:
            task.cancel()
        if self._client.status == "running":  # else the batches end when Dask does not want them any more
            self._client.unsubscribe_topic(f"vindeby-{self._token}")
            futures = [batch.future for batch in self._batches() if batch.future is not None]
            await self._client.cancel(futures, asynchronous=True)
            await self._run_everywhere(leave)
