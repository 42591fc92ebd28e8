"""Everything that speaks to Dask, in the event loop of its client; what comes of it goes to the pool's inbox.

Nothing here decides anything. Each call returns at once; what comes of it is a call of one of the pool's methods, which
the pool makes in its own thread. There is one future for each Dask worker, never one for each task of the campaign, and
no result travels in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vindeby.runner.cluster import agent
from vindeby.runner.cluster.agent import Order
from vindeby.runner.protocol import Inbox
from vindeby.runner.task_executor import Setup, one_line
from vindeby.store.disk.run_directory import RunDirectory

if TYPE_CHECKING:
    from vindeby.runner.cluster.dask_pool import DaskPool

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
_ORDERS_S = 0.05
_ANSWER_S = 30.0
_OPENING_S = 60.0
_OPEN_AT_ONCE = 16
_PROBE_TRIES = 20
_PROBE_PAUSE_S = 0.25
"""A network file system may show a new file only after its cache of the directory is renewed."""


@dataclass
class _Conversation:
    """The orders that one agent does not have yet, and the last event that it reported."""

    key: str
    orders: list[tuple[int, Order]] = field(default_factory=list)
    ordered: int = 0
    heard: int = 0
    new: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there are new orders."""
    stay: Any = None
    """The future by which Dask knows that its worker is in use."""


class DaskLink:
    """A client of Dask in the hands of one run."""

    def __init__(self, client: Any, setup: Setup, pool: DaskPool, inbox: Inbox) -> None:
        self._client, self._setup, self._pool, self._inbox = client, setup, pool, inbox
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._tasks: set[asyncio.Task[None]] = set()
        self._conversations: dict[str, _Conversation] = {}
        """By address; only the event loop touches them."""
        self._opening = asyncio.Semaphore(_OPEN_AT_ONCE)
        self._probe = RunDirectory(Path(setup.output)).path / f".probe-{uuid.uuid4().hex}"
        self._probe_text = uuid.uuid4().hex
        self._probe.write_text(self._probe_text, encoding="utf-8")
        self._closed = False
        self._soon(self._watch())

    def open(self, address: str) -> None:
        """Begin on a Dask worker; the pool's ``opened`` or ``refused`` follows."""
        self._soon(self._open(address))

    def order(self, address: str, order: Order) -> None:
        """Send an order to an agent; said again until it has it."""
        self._soon(self._order(address, order))

    def forget(self, address: str) -> None:
        """A Dask worker is gone: expect no more of it."""
        self._loop.call_soon_threadsafe(self._conversations.pop, address, None)

    def refuse(self, address: str) -> None:
        """End the agent on a Dask worker that is not to be used."""
        self._soon(self._end_agent(address))

    def close(self) -> None:
        """End all agents, and wait until they have; nothing is heard any more."""
        self._closed = True
        done = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        with contextlib.suppress(Exception):
            done.result(_ANSWER_S)
        for path in self._probe.parent.glob(f"{self._probe.name}*"):
            path.unlink(missing_ok=True)

    def _tell(self, method: Callable[..., None], *arguments: Any, **more: Any) -> None:
        self._inbox.post(functools.partial(method, *arguments, **more))

    def _soon(self, coroutine: Coroutine[Any, Any, None]) -> None:
        def begin() -> None:
            task = self._loop.create_task(coroutine)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._loop.call_soon_threadsafe(begin)

    async def _watch(self) -> None:
        while not self._closed:
            await self._ask_who()
            await asyncio.sleep(_WATCH_S)

    async def _ask_who(self) -> None:
        if self._client.status in {"closed", "closing"}:
            self._tell(self._pool.silent, "the connection to the Dask scheduler is closed", final=True)
            return
        try:
            threads = await asyncio.wait_for(self._client.nthreads(), _ANSWER_S)
        except Exception as error:  # noqa: BLE001 - whatever Dask raises, it means no answer
            reason = one_line(error).partition("\n")[0]
            self._tell(self._pool.silent, f"the Dask scheduler does not answer ({reason})")
        else:
            self._tell(self._pool.present, dict(threads))

    async def _open(self, address: str) -> None:
        async with self._opening:
            try:
                await asyncio.wait_for(self._open_now(address), _OPENING_S)
            except Exception as error:  # noqa: BLE001 - a worker may go at any moment
                self._tell(self._pool.refused, address, one_line(error).partition("\n")[0])

    async def _open_now(self, address: str) -> None:
        from distributed.versions import get_versions

        versions = await self._run_there(address, get_versions, packages=list(PACKAGES))
        if reason := mismatch(address, versions, here()):
            self._tell(self._pool.refused, address, reason, mismatch=True)
            return
        name = await self._run_there(address, agent.answer_probe, str(self._probe), self._probe_text)
        sees_run = bool(name) and await asyncio.to_thread(self._sees, name)
        opened = await self._run_there(address, agent.open_session, self._setup, sees_run)
        stay = self._client.submit(
            agent.stay, opened.key, workers=[address], pure=False, retries=0, key=f"vindeby-{opened.key}"
        )
        with_agent = self._conversations[address] = _Conversation(opened.key, stay=stay)
        self._soon(self._converse(address, with_agent))
        self._tell(self._pool.opened, address, opened, sees_run=sees_run)

    def _sees(self, name: str) -> bool:
        """Does the file that a worker wrote beside the probe read the same here?"""
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

    async def _order(self, address: str, order: Order) -> None:
        if (with_agent := self._conversations.get(address)) is not None:
            with_agent.ordered += 1
            with_agent.orders.append((with_agent.ordered, order))
            with_agent.new.set()

    async def _converse(self, address: str, with_agent: _Conversation) -> None:
        """Call an agent again and again, and at once when there are orders for it."""
        while self._conversations.get(address) is with_agent:
            with_agent.new.clear()
            call = asyncio.ensure_future(self._exchange(address, with_agent))
            self._tasks.add(call)
            call.add_done_callback(self._tasks.discard)
            orders = asyncio.ensure_future(with_agent.new.wait())
            try:
                await asyncio.wait({call, orders}, return_when=asyncio.FIRST_COMPLETED)
                if call.done():  # a moment for the orders that come of its report
                    await asyncio.wait({orders}, timeout=_ORDERS_S)
            finally:
                orders.cancel()

    async def _exchange(self, address: str, with_agent: _Conversation) -> None:
        arguments = with_agent.key, list(with_agent.orders), with_agent.heard, _LOOK_S
        try:
            report = await asyncio.wait_for(self._run_there(address, agent.exchange, *arguments), _ANSWER_S)
        except Exception:  # noqa: BLE001 - whether it is gone, the scheduler knows; else it is said again
            await asyncio.sleep(_WATCH_S)
            return
        if self._conversations.get(address) is not with_agent:
            return  # it was forgotten meanwhile; another agent may be at its address
        events = [event for number, event in report.events if number > with_agent.heard]
        with_agent.heard = max([with_agent.heard, *(number for number, _ in report.events)])
        with_agent.orders = [one for one in with_agent.orders if one[0] > report.last_order]
        self._tell(self._pool.reported, address, events, report)

    async def _end_agent(self, address: str) -> None:
        if (with_agent := self._conversations.pop(address, None)) is not None:
            with contextlib.suppress(Exception):
                ending = self._run_there(address, agent.close_session, with_agent.key)
                await asyncio.wait_for(ending, _ANSWER_S)

    async def _end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._client.status != "running":  # it cannot be reached; the agents end when they hear nothing
            return
        await asyncio.gather(*map(self._end_agent, list(self._conversations)))
