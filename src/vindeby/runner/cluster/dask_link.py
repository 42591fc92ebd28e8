"""Everything that speaks to Dask, in the event loop of its client; what comes of it goes to an inbox.

Nothing here decides anything. Each call returns at once; the pool's thread reads the inbox. There is one future for
each process that was given something to do, never one for each task of the campaign, and what a future returns is an
acknowledgement.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import queue
import time
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from vindeby.runner.cluster import agent
from vindeby.runner.cluster.orders import Answer, Look, Opened, Order, Session
from vindeby.store.disk.run_directory import RunDirectory

PACKAGES = ("numpy", "numba", "vindeby")
_NAMES = {"python": "Python", "numpy": "NumPy", "numba": "Numba", "vindeby": "vindeby"}


def here() -> dict[str, Any]:
    """What is installed here, in the form that Dask has for it."""
    from distributed.versions import get_versions

    versions: dict[str, Any] = get_versions(packages=list(PACKAGES))
    return versions


def mismatch(address: str, there: dict[str, Any], ours: dict[str, Any]) -> str:
    """What differs between a worker and here, both named; empty when nothing does."""
    found = []
    for package, name in _NAMES.items():
        theirs, mine = _version(there, package), _version(ours, package)
        if theirs != mine:
            found.append(f"{name} is {theirs or 'not installed'} there and {mine or 'not installed'} here")
    if not found:
        return ""
    return (
        f"the Dask worker {address} has other versions: {'; '.join(found)}; install the same versions on both, "
        "then rerun the same command"
    )


def _version(versions: dict[str, Any], package: str) -> str:
    text = (versions.get("packages") or {}).get(package) or ""
    return ".".join(text.split(".")[:3]) if package == "python" else text


_WATCH_S = 1.0
_LOOK_S = 2.0
_ANSWER_S = 30.0
_OPENING_S = 60.0
_OPEN_AT_ONCE = 16
_PROBE_TRIES = 20
_PROBE_PAUSE_S = 0.25
"""A network file system may show a new file only after its cache of the directory is renewed."""


@dataclass(frozen=True)
class Nodes:
    """The Dask workers that the scheduler knows, each with its threads."""

    threads: dict[str, int]


@dataclass(frozen=True)
class Silence:
    """The scheduler gave no answer; ``final`` when the client has given up."""

    reason: str
    final: bool = False


@dataclass(frozen=True)
class NodeOpened:
    """An agent is there; ``sees_run``: it can read and write in the run directory."""

    address: str
    opened: Opened
    sees_run: bool


@dataclass(frozen=True)
class NodeRefused:
    """A Dask worker cannot be used; ``mismatch``: because other versions are installed there."""

    address: str
    reason: str
    mismatch: bool = False


@dataclass(frozen=True)
class Answered:
    """An order was answered; None when Dask lost the answer, and why."""

    ticket: int
    answer: Answer | None
    reason: str = ""


@dataclass(frozen=True)
class Looked:
    """What an agent says of its processes."""

    address: str
    look: Look


Post: TypeAlias = Nodes | Silence | NodeOpened | NodeRefused | Answered | Looked


class DaskLink:
    """A client of Dask in the hands of one run."""

    def __init__(self, client: Any, session: Session, run: RunDirectory) -> None:
        self._client, self._session, self._run = client, session, run
        self.inbox: queue.SimpleQueue[Post] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._tickets = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._attending: dict[int, tuple[str, asyncio.Task[None]]] = {}
        self._looking: set[str] = set()
        self._opened: set[str] = set()
        self._opening = asyncio.Semaphore(_OPEN_AT_ONCE)
        self._probe = run.path / f".probe-{uuid.uuid4().hex}"
        self._probe_text = uuid.uuid4().hex
        self._probe.write_text(self._probe_text, encoding="utf-8")
        self._closed = False
        self._soon(self._watch())

    def open(self, address: str) -> None:
        """Begin on a Dask worker: NodeOpened or NodeRefused follows."""
        self._soon(self._open(address))

    def attend(self, address: str, number: int, lane: int, order: Order, seen: int) -> int:
        """Give an order to a process; Answered follows with the ticket that this returns."""
        ticket = next(self._tickets)
        self._soon(self._attend(ticket, address, number, lane, order, seen))
        return ticket

    def tell(self, address: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function of the agent beside what it attends to."""
        self._soon(self._run_there(address, function, *arguments))

    def forget(self, address: str) -> None:
        """A Dask worker is gone: expect no more answers from it."""
        self._loop.call_soon_threadsafe(self._drop, address)

    def close(self) -> None:
        """End all agents, and wait until they have; nothing is heard any more."""
        self._closed = True
        done = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        with contextlib.suppress(Exception):
            done.result(_ANSWER_S)
        for path in self._probe.parent.glob(f"{self._probe.name}*"):
            path.unlink(missing_ok=True)

    def _soon(self, coroutine: Coroutine[Any, Any, None]) -> None:
        def begin() -> None:
            task = self._loop.create_task(coroutine)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._loop.call_soon_threadsafe(begin)

    async def _watch(self) -> None:
        """Ask the scheduler who there is, and each agent how it is."""
        looked = self._loop.time()
        while not self._closed:
            await self._ask_who()
            if self._loop.time() - looked >= _LOOK_S:
                looked = self._loop.time()
                for address in self._opened - self._looking:
                    self._soon(self._look(address))
            await asyncio.sleep(_WATCH_S)

    async def _ask_who(self) -> None:
        if self._client.status in {"closed", "closing"}:
            self.inbox.put(Silence("the connection to the Dask scheduler is closed", final=True))
            return
        try:
            threads = await asyncio.wait_for(self._client.nthreads(), _ANSWER_S)
        except Exception as error:  # noqa: BLE001 - whatever Dask raises, it means no answer
            self.inbox.put(Silence(f"the Dask scheduler does not answer ({_words(error)})"))
        else:
            self.inbox.put(Nodes(dict(threads)))

    async def _open(self, address: str) -> None:
        async with self._opening:
            try:
                await asyncio.wait_for(self._open_now(address), _OPENING_S)
            except Exception as error:  # noqa: BLE001 - a worker may go at any moment
                self.inbox.put(NodeRefused(address, _words(error)))

    async def _open_now(self, address: str) -> None:
        from distributed.versions import get_versions

        versions = await self._run_there(address, get_versions, packages=list(PACKAGES))
        if reason := mismatch(address, versions, here()):
            self.inbox.put(NodeRefused(address, reason, mismatch=True))
            return
        name = await self._run_there(address, agent.answer_probe, str(self._probe), self._probe_text)
        sees_run = bool(name) and await asyncio.to_thread(self._sees, name)
        opened = await self._run_there(address, agent.open_session, self._session, sees_run)
        self._opened.add(address)
        self.inbox.put(NodeOpened(address, opened, sees_run))

    def _sees(self, name: str) -> bool:
        """Is the file that a worker wrote beside the probe the same here?"""
        answer = self._probe.with_name(name)
        for _ in range(_PROBE_TRIES):
            with contextlib.suppress(OSError):
                if answer.read_text(encoding="utf-8") == self._probe_text:
                    answer.unlink(missing_ok=True)
                    return True
            time.sleep(_PROBE_PAUSE_S)
        return False

    async def _run_there(
        self, address: str, function: Callable[..., Any], *arguments: Any, **more: Any
    ) -> Any:
        answers = await self._client.run(function, *arguments, **more, workers=[address], on_error="return")
        if address not in answers:
            raise ConnectionError(f"{address} gave no answer")
        if isinstance(answers[address], BaseException):
            raise answers[address]
        return answers[address]

    async def _attend(
        self, ticket: int, address: str, number: int, lane: int, order: Order, seen: int
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._attending[ticket] = address, task
        try:
            future = self._client.submit(
                agent.attend, self._session.token, number, lane, order, seen,
                workers=[address], pure=False, retries=0, key=f"vindeby-{uuid.uuid4().hex}",
            )  # fmt: skip
            answer = await future
        except BaseException as error:  # noqa: BLE001 - Dask cancels what it lost, in more than one way
            self.inbox.put(Answered(ticket, None, _words(error)))
        else:
            self.inbox.put(Answered(ticket, answer))
        finally:
            del self._attending[ticket]

    async def _look(self, address: str) -> None:
        self._looking.add(address)
        try:
            seen = await asyncio.wait_for(
                self._run_there(address, agent.look, self._session.token), _ANSWER_S
            )
            self.inbox.put(Looked(address, seen))
        except Exception:  # noqa: BLE001, S110 - whether it is gone, the scheduler knows
            pass
        finally:
            self._looking.discard(address)

    def _drop(self, address: str) -> None:
        self._opened.discard(address)
        for where, task in list(self._attending.values()):
            if where == address:
                task.cancel()

    async def _end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._client.status != "running":  # it cannot be reached; the agents end when they hear nothing
            return
        closing = [
            asyncio.wait_for(self._run_there(address, agent.close_session, self._session.token), _ANSWER_S)
            for address in self._opened
        ]
        await asyncio.gather(*closing, return_exceptions=True)


def _words(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
