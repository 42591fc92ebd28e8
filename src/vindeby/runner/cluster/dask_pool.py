"""Dask workers behind the ``WorkerPool`` protocol: each assignment is one future, a batch for ``batch.run_batch``.

A slot is a batch in flight, and there are as many as the Dask workers have threads. Dask places the batches, runs one
again whose Dask worker is lost, and gives it up as ``KilledWorker`` after ``allowed-failures``; then each of its tasks
has failed once. What Dask says arrives in the event loop of its client and is handed to the thread of the pool.
"""

import asyncio
import contextlib
import pickle
import time
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vindeby.runner.cluster.batch import end_batches, run_batch, versions
from vindeby.runner.protocol import (
    CannotGoOn,
    Failed,
    Failure,
    Inbox,
    Kind,
    MoreSlots,
    Outcome,
    PoolEvent,
    PoolNote,
    Seen,
    TasksDurable,
    WantsWork,
    Work,
    WorkerGone,
)
from vindeby.runner.task_executor import Setup, one_line
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.text import plural

_WATCH_S = 1.0
_ANSWER_S = 20.0


@dataclass
class _Batch:
    """The tasks of a slot, and their state."""

    slot: int
    work: Work
    future: Any = None
    has_begun: bool = False
    seen: Seen | None = None
    seen_at: float = 0.0


class DaskPool:
    """Batches on Dask workers, through a ``distributed.Client``."""

    def __init__(
        self,
        setup: Setup,
        client: Any,
        *,
        most: int | None = None,
        patience_s: float = 300.0,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._client, self._most, self._say = client, most, say
        self._patience_s = patience_s
        self._inbox = Inbox()
        self._slots: dict[int, _Batch | None] = {}
        self._seconds: float | None = None
        """The recent time per task."""
        self._present: set[str] = set()
        """The addresses of the Dask workers."""
        self._alone_since, self._trouble = time.monotonic(), ""
        self._is_lost = self._is_ending = False
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._running: set[Future[Any]] = set()
        """The futures that run in the event loop."""
        self._place = RunDirectory(Path(setup.output)).path / f".dask-{uuid.uuid4().hex}"
        self._place.write_bytes(pickle.dumps(setup))
        self._soon(self._watch())

    def start(self, slot: int) -> None:
        """Let a slot ask for the tasks of a batch."""
        self._slots[slot] = None
        self._inbox.events.append(WantsWork(slot, self._seconds))

    def assign(self, slot: int, work: Work) -> None:
        """Submit a batch; it waits in Dask until a worker is available."""
        if slot not in self._slots:
            return
        batch = self._slots[slot] = _Batch(slot, work)
        cell = work.tasks[0][1].key.partition("_s")[0]  # what Dask's dashboard groups by
        key = f"{cell}-{uuid.uuid4().hex}"
        try:
            batch.future = self._client.submit(
                run_batch, str(self._place), versions(), work, key=key, pure=False
            )
        except Exception as error:  # noqa: BLE001 - whatever Dask raises, the client cannot be used now
            self._gone(slot, f"Dask does not take a batch: {one_line(error)}")
        else:
            self._soon(self._follow(batch))

    def end(self, slot: int, *, now: bool = False) -> None:
        """Let all batches finish their tasks and publish, as a run ends them all; drop one that has not begun."""
        if slot not in self._slots:
            return
        batch = self._slots[slot]
        if now or batch is None or not batch.has_begun:
            self._gone(slot, "asked to end", by_itself=True)
        elif not self._is_ending:
            self._is_ending = True
            self._soon(self._tell_workers(now=False))

    def kill(self, slot: int) -> None:
        """Cancel a batch, which ends its process."""
        if slot in self._slots:
            self._gone(slot, "killed")

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        """Return the events that Dask has reported."""
        return self._inbox.wait(timeout_s)

    def observe(self) -> list[Seen]:
        """Return the last reported state of each batch, with the time since then."""
        seen, now = [], time.monotonic()
        for batch in self._slots.values():
            if batch is not None and (last := batch.seen) is not None:
                age = now - batch.seen_at
                seconds = last.seconds + age if last.task is not None else 0.0
                seen.append(replace(last, seconds=seconds, silent_s=last.silent_s + age))
        return seen

    def close(self) -> None:
        """End all batches; the owner of the cluster decides whether the cluster ends too."""
        for task in list(self._running):
            task.cancel()
        done = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        with contextlib.suppress(Exception):
            done.result(_ANSWER_S)
        self._place.unlink(missing_ok=True)

    def _gone(self, slot: int, reason: str, *, by_itself: bool = False) -> None:
        """Empty a slot, in any state."""
        batch = self._slots.pop(slot)
        if batch is not None and batch.future is not None:
            self._soon(self._client.cancel([batch.future], asynchronous=True))
        self._inbox.events.append(WorkerGone(slot, None, Failure(Kind.KILLED, reason), by_itself))

    def _came(self, batch: _Batch, events: list[PoolEvent]) -> None:
        """Pass on the result of a batch."""
        if self._slots.get(batch.slot) is not batch:
            return  # it was given up
        *events, gone = events
        left = len(batch.work.tasks)
        for event in events:
            self._pass_on(batch, event)
            left -= isinstance(event, Failed)
            if isinstance(event, TasksDurable) and event.tasks:
                left -= len(event.tasks)
                self._seconds = event.seconds / len(event.tasks)
        if left or self._is_ending:
            del self._slots[batch.slot]
            self._pass_on(batch, gone)
        else:
            self.start(batch.slot)

    def _pass_on(self, batch: _Batch, event: PoolEvent) -> None:
        if not isinstance(event, CannotGoOn | MoreSlots | PoolNote):
            event = replace(event, worker=batch.slot)
        self._inbox.events.append(event)

    def _failed(self, batch: _Batch, error: BaseException) -> None:
        """Handle a batch that Dask could not run; if its workers were lost repeatedly, its tasks have failed."""
        from distributed import KilledWorker

        if self._slots.get(batch.slot) is not batch:
            return
        if not isinstance(error, KilledWorker):
            self._gone(batch.slot, f"Dask could not run the batch: {one_line(error)}")
            return
        lost, last = plural(error.allowed_failures + 1, "Dask worker"), error.last_worker.address
        failure = Failure(Kind.KILLED, f"{lost} in a row were lost with its batch, the last {last}")
        for number, _ in batch.work.tasks:
            self._inbox.events.append(Failed(batch.slot, number, failure))
        self._gone(batch.slot, str(failure), by_itself=True)

    def _shown(self, key: str, event: PoolEvent | Seen) -> None:
        """Store the state that a running batch reports."""
        for batch in self._slots.values():
            if batch is not None and batch.future is not None and batch.future.key == key:
                batch.has_begun = True
                if isinstance(event, Seen):
                    batch.seen, batch.seen_at = replace(event, worker=batch.slot), time.monotonic()
                else:
                    self._pass_on(batch, event)

    def _looked(self, threads: dict[str, int], trouble: str = "") -> None:
        """Store the Dask workers that exist; none if the scheduler does not answer."""
        if trouble and not self._trouble:
            self._say(f"{trouble}; it is waited for, for up to {self._patience_s:.0f} s")
        elif self._trouble and not trouble:
            self._say("the Dask scheduler answers again")
        self._trouble = trouble
        if not trouble and threads.keys() != self._present:
            for address in sorted(threads.keys() ^ self._present):
                event = "node joined" if address in threads else "node lost"
                self._inbox.events.append(PoolNote(event, {"address": address}))
            room = sum(threads.values())
            self._inbox.events.append(MoreSlots(room if self._most is None else min(room, self._most)))
            self._present = {*threads}
        alone_s = time.monotonic() - self._alone_since
        if threads:
            self._alone_since = time.monotonic()
        elif alone_s > self._patience_s:
            why = f"{trouble or 'there are no Dask workers'}, for {self._patience_s:.0f} s"
            self._give_up(f"{why}; see to it that the Dask cluster runs")

    def _give_up(self, reason: str) -> None:
        if not self._is_lost:
            self._is_lost = True
            for slot in list(self._slots):
                self._gone(slot, reason)
            self._inbox.events.append(CannotGoOn(Outcome.POOL_LOST, reason))

    # In the event loop of the client: what comes of it is a call of one of the methods above.

    def _tell(self, method: Callable[..., None], *arguments: Any, **more: Any) -> None:
        self._inbox.post(partial(method, *arguments, **more))

    def _soon(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _follow(self, batch: _Batch) -> None:
        try:
            events = await batch.future
        except BaseException as error:  # noqa: BLE001 - cancelled, too: by Dask, when the scheduler was lost
            self._tell(self._failed, batch, error)
        else:
            self._tell(self._came, batch, events)

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
                self._tell(self._looked, {}, f"the Dask scheduler does not answer ({reason})")
            else:
                if not answers:
                    self._client.subscribe_topic(self._place.name, show)
                answers = True
                self._tell(self._looked, dict(threads))
            await asyncio.sleep(_WATCH_S)
        reason = "the connection to the Dask scheduler is closed; see to it that the Dask cluster runs"
        self._tell(self._give_up, reason)

    async def _tell_workers(self, *, now: bool) -> None:
        with contextlib.suppress(Exception):  # a batch that does not hear it is cancelled in the end
            answers = self._client.run(end_batches, str(self._place), now=now, on_error="ignore")
            await asyncio.wait_for(answers, _ANSWER_S)

    async def _end(self) -> None:
        if self._client.status == "running":  # else the batches end when Dask does not want them any more
            self._client.unsubscribe_topic(self._place.name)
            futures = [batch.future for batch in self._slots.values() if batch is not None]
            await self._client.cancel(futures, asynchronous=True)
            await self._tell_workers(now=True)
