"""What the pool makes of what Dask says, with a link that a test speaks through: no Dask, no process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cluster.dask_machines import wait_until
from tests.contracts.test_pools import setup_for, steered
from tests.runner.campaigns import marked_processes
from vindeby.runner.cluster import dask_pool
from vindeby.runner.cluster.agent import Agent, AgentReport, Opened, Order
from vindeby.runner.cluster.dask_link import DaskLink, _Conversation, mismatch
from vindeby.runner.cluster.dask_pool import DaskPool
from vindeby.runner.protocol import (
    Inbox,
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
from vindeby.runner.resume import TaskSpace
from vindeby.runner.task_executor import Setup
from vindeby.store.disk.run_directory import RunDirectory


class Link:
    """Keeps what is asked of Dask, and hands in what a test says it answered."""

    def __init__(self, client: Any, setup: Setup, pool: DaskPool, inbox: Inbox) -> None:
        self.inbox = inbox
        self.opened: list[str] = []
        self.orders: list[tuple[str, str]] = []
        self.forgotten: list[str] = []
        self.refused: list[str] = []

    def open(self, address: str) -> None:
        self.opened.append(address)

    def order(self, address: str, order: Order) -> None:
        self.orders.append((address, repr(order)))

    def refuse(self, address: str) -> None:
        self.refused.append(address)

    def forget(self, address: str) -> None:
        self.forgotten.append(address)

    def close(self) -> None:
        pass


def present(threads: dict[str, int]) -> methodcaller:
    return methodcaller("present", threads)


def silent(reason: str, *, final: bool = False) -> methodcaller:
    return methodcaller("silent", reason, final=final)


def reported(address: str, events: Sequence[PoolEvent] = (), **report: Any) -> methodcaller:
    return methodcaller("reported", address, events, AgentReport(**report))


class Bench:
    """A pool on such a link."""

    def __init__(self, folder: Path, **options: Any) -> None:
        campaign = steered(folder)
        directory = RunDirectory(folder / "out.h5").create()
        self.said: list[str] = []
        setup = setup_for(campaign, directory, "bench")
        self.pool = DaskPool(setup, None, say=self.said.append, **options)
        self.link: Any = self.pool._link
        self.space = TaskSpace(campaign)

    def hear(self, *posts: Any) -> list[PoolEvent]:
        for post in posts:
            self.link.inbox.post(partial(post, self.pool))
        return self.pool.wait(0.01)

    def join(self, address: str, lanes: int = 1, identity: str = "", *, beside: str = "") -> list[PoolEvent]:
        self.hear(present({address: lanes} | ({beside: 1} if beside else {})))
        return self.hear(
            methodcaller("opened", address, Opened("key", lanes, "node", "7", identity), sees_run=True)
        )

    def work(self, slot: int, number: int) -> None:
        self.pool.assign(slot, Work(((number, self.space.task(number)),)))


@pytest.fixture(autouse=True)
def _no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "DaskLink", Link)


def ready(bench: Bench, address: str = "tcp://a") -> list[PoolEvent]:
    """The process of the first lane is there."""
    return bench.hear(reported(address, (WorkerReady(0), WantsWork(0))))


def test_a_slot_waits_for_a_worker_and_room_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pool.start(0)
    assert bench.link.orders == []
    events = bench.join("tcp://a", 4)
    assert MoreSlots(4) in events
    assert bench.link.orders == [("tcp://a", "operator.methodcaller('start', 0)")]
    assert WantsWork(0, None) in ready(bench)


def test_no_more_room_is_told_than_was_allowed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, most=3)
    assert MoreSlots(3) in bench.join("tcp://a", 40)


def test_a_task_is_blamed_when_the_third_worker_vanished_under_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    blamed = []
    for name in "abc":
        bench.pool.start(0)
        bench.join(f"tcp://{name}")
        ready(bench, f"tcp://{name}")
        bench.pool.assign(0, Work(tuple((number, bench.space.task(number)) for number in (2, 3, 4))))
        bench.hear(reported(f"tcp://{name}", seen=(Seen(0, 3, 1.0, 0.1, 1),)))
        events = bench.hear(present({}))
        (gone,) = [event for event in events if isinstance(event, WorkerGone)]
        assert f"tcp://{name} on node, job 7" in gone.failure.reason
        blamed.append(gone.suspect)
    assert blamed == [None, None, 3]
    assert bench.link.forgotten == ["tcp://a", "tcp://b", "tcp://c"]


def test_a_worker_that_its_nanny_restarts_again_and_again_is_given_up_for_others(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.join("tcp://good", identity="tcp://other-nanny")
    for number in range(3):
        assert bench.said == []
        bench.join(f"tcp://{number}", identity="tcp://nanny", beside="tcp://good")
        events = bench.hear(present({"tcp://good": 1}))
    assert "node given up" in [event.event for event in events if isinstance(event, PoolNote)]
    assert "3 times in a row without finishing a task (tcp://nanny)" in bench.said[0]
    bench.join("tcp://3", identity="tcp://nanny", beside="tcp://good")
    assert bench.link.refused == ["tcp://3"]
    assert list(bench.pool._nodes) == ["tcp://good"]
    assert bench.hear(present({"tcp://good": 1, "tcp://3": 1})) == []


def test_the_only_worker_has_more_tries_and_then_the_run_stops(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for number in range(10):
        bench.join(f"tcp://{number}", identity="tcp://nanny")
        lost = [event for event in bench.hear(present({})) if isinstance(event, PoolLost)]
        assert bool(lost) == (number == 9)
    assert "see its own log" in lost[0].reason


def test_a_worker_that_finishes_tasks_may_be_restarted_as_often_as_it_likes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for number in range(12):
        bench.pool.start(0)
        bench.join(f"tcp://{number}", identity="tcp://nanny")
        ready(bench, f"tcp://{number}")
        bench.work(0, 3)
        bench.hear(reported(f"tcp://{number}", (TasksDurable(0, (3,), "shard", 0.1),)))
        assert not any(isinstance(event, PoolLost) for event in bench.hear(present({})))
    assert bench.said == []


def test_the_time_that_a_task_had_is_told_when_its_worker_vanishes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pool.start(0)
    bench.join("tcp://a")
    ready(bench)
    bench.work(0, 3)
    bench.hear(reported("tcp://a", seen=(Seen(0, 3, 3600.0, 0.1, 1),)))
    (gone,) = [event for event in bench.hear(present({})) if isinstance(event, WorkerGone)]
    assert "3,600 s after it began this task; if that is about the time of the job, raise --time" in str(
        gone.failure
    )


def test_a_settled_task_is_seen_at_work_no_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pool.start(0)
    bench.join("tcp://a")
    ready(bench)
    bench.work(0, 3)
    bench.hear(reported("tcp://a", seen=(Seen(0, 3, 7.0, 0.1, 1),)))
    (seen,) = bench.pool.observe()
    assert (seen.task, seen.seconds >= 7.0) == (3, True)
    events = TasksDurable(0, (3,), "shard", 0.1), WantsWork(0)
    bench.hear(reported("tcp://a", events, seen=(Seen(0, 3, 9.0, 0.1, 1),)))
    (seen,) = bench.pool.observe()
    assert (seen.task, seen.seconds) == (None, 0.0)


def test_jobs_from_which_nothing_will_come_are_not_waited_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path, no_jobs_reason=lambda: "SLURM will not start job 7")
    assert bench.hear(present({})) == [PoolLost("SLURM will not start job 7")]


def test_an_agent_that_ended_is_opened_anew(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pool.start(0)
    bench.join("tcp://a")
    events = bench.hear(reported("tcp://a", agent_gone=True), present({"tcp://a": 1}))
    assert any(isinstance(event, WorkerGone) for event in events)
    assert bench.link.opened == ["tcp://a", "tcp://a"]


@pytest.mark.parametrize("post", [present({}), silent("the scheduler does not answer")], ids=str)
def test_patience_ends_when_nobody_is_there(post: Any, tmp_path: Path) -> None:
    bench = Bench(tmp_path, patience_s=0.0)
    time.sleep(0.01)
    (lost,) = bench.hear(post)
    assert isinstance(lost, PoolLost)
    assert "see to it that the Dask cluster runs" in lost.reason


def test_jobs_in_the_queue_are_waited_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path, patience_s=0.0, no_jobs_reason=lambda: "")
    time.sleep(0.01)
    assert bench.hear(present({})) == []


def test_a_closed_client_ends_the_run_and_gives_back_what_it_held(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.pool.start(0)
    bench.join("tcp://a")
    events = bench.hear(silent("the connection is closed", final=True))
    assert [type(event) for event in events] == [PoolNote, WorkerGone, PoolLost]


def test_other_versions_end_the_run_unless_others_have_the_right_ones(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    alone = Bench(tmp_path / "alone")
    alone.hear(present({"tcp://b": 1}))
    reason = "NumPy is 1 there and 2 here"
    refused = methodcaller("refused", "tcp://b", reason, mismatch=True)
    assert MethodUnusable(reason) in alone.hear(refused)
    bench = Bench(tmp_path)
    bench.join("tcp://a")
    bench.hear(present({"tcp://a": 1, "tcp://b": 1}))
    assert [type(event) for event in bench.hear(refused)] == [PoolNote]
    assert bench.said == ["NumPy is 1 there and 2 here; it is not used"]
    bench.hear(present({"tcp://a": 1, "tcp://b": 1}))
    assert bench.link.opened == ["tcp://a", "tcp://b"]


@pytest.mark.parametrize("first", ["good", "bad"])
def test_what_other_versions_mean_does_not_depend_on_who_answers_first(first: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.hear(present({"tcp://a": 1, "tcp://b": 1}))
    answers = [
        methodcaller("opened", "tcp://a", Opened("key", 1, "node", "7"), sees_run=True),
        methodcaller("refused", "tcp://b", "NumPy is 1 there and 2 here", mismatch=True),
    ]
    events = [event for post in answers[:: 1 if first == "good" else -1] for event in bench.hear(post)]
    assert not any(isinstance(event, MethodUnusable) for event in events)
    assert MoreSlots(1) in events
    assert bench.said == ["NumPy is 1 there and 2 here; it is not used"]


@pytest.mark.parametrize(
    "last",
    [
        methodcaller("refused", "tcp://a", "Numba is 1 there and 2 here", mismatch=True),
        methodcaller("refused", "tcp://a", "it does not answer"),
        present({"tcp://b": 1}),
    ],
    ids=["other versions", "no answer", "gone"],
)
def test_other_versions_end_the_run_when_no_other_worker_may_still_answer(last: Any, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.hear(present({"tcp://a": 1, "tcp://b": 1}))
    refused = methodcaller("refused", "tcp://b", "NumPy is 1 there and 2 here", mismatch=True)
    assert [type(event) for event in bench.hear(refused)] == [PoolNote]
    (unusable,) = [event for event in bench.hear(last) if isinstance(event, MethodUnusable)]
    assert "NumPy is 1 there and 2 here" in unusable.reason


def test_workers_that_were_refused_before_are_not_waited_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.join("tcp://good", identity="tcp://other-nanny")
    for number in range(3):
        bench.join(f"tcp://{number}", identity="tcp://nanny", beside="tcp://good")
        bench.hear(present({"tcp://good": 1}))
    bench.join("tcp://given-up", identity="tcp://nanny", beside="tcp://good")
    assert bench.link.refused == ["tcp://given-up"]
    reason = "NumPy is 1 there and 2 here"
    bench.hear(present({"tcp://good": 1, "tcp://given-up": 1, "tcp://a": 1}))
    bench.hear(methodcaller("refused", "tcp://a", reason, mismatch=True))
    assert bench.said[-1] == f"{reason}; it is not used"
    bench.hear(present({"tcp://given-up": 1, "tcp://a": 1, "tcp://b": 1}))
    assert MethodUnusable(reason) in bench.hear(methodcaller("refused", "tcp://b", reason, mismatch=True))


def test_versions_are_compared_by_name() -> None:
    ours = {"packages": {"python": "3.11.7.final.0", "numpy": "2.1.0", "numba": "0.60.0", "vindeby": "0.1.0"}}
    theirs = {"packages": {**ours["packages"], "numpy": "1.26.4", "numba": None}}
    assert mismatch("tcp://a", ours, ours) == ""
    told = mismatch("tcp://a", theirs, ours)
    assert "NumPy is 1.26.4 there and 2.1.0 here; Numba is not installed there and 0.60.0 here" in told


@pytest.mark.parametrize("forgotten", [True, False])
def test_a_late_report_of_a_forgotten_agent_is_not_taken_for_its_successors(forgotten: bool) -> None:
    class Late(DaskLink):
        def __init__(self) -> None:
            self._inbox = Inbox()
            self.old, self.new = _Conversation("old"), _Conversation("new")
            self._conversations = {"tcp://a": self.old}
            self._pool: Any = SimpleNamespace(reported=print)

        async def _run_there(self, address: str, *_: Any, **more: Any) -> AgentReport:
            if forgotten:
                self._conversations[address] = self.new
            return AgentReport(agent_gone=True)

    async def exchange() -> Late:
        link = Late()
        await link._exchange("tcp://a", link.old)
        return link

    assert asyncio.run(exchange())._inbox._calls.empty() == forgotten


def test_an_agent_without_news_ends_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VINDEBY_MARK", f"agent-{tmp_path}")
    campaign = steered(tmp_path, waits=[1])
    directory = RunDirectory(tmp_path / "out.h5").create()
    setup = replace(setup_for(campaign, directory, "agent"), coordinator_limit_s=1e9)
    agent = Agent(setup, "agent", 1, sees_run=True)
    start = [(1, methodcaller("start", 0))]
    wait_until(lambda: len(agent.exchange(start, 0).events) == 2)  # it is there, and asks for tasks
    assert marked_processes(f"agent-{tmp_path}")
    object.__setattr__(setup, "coordinator_limit_s", 0.5)
    assert agent.over.wait(60.0)
    assert marked_processes(f"agent-{tmp_path}") == []
    assert agent.exchange([], 2).agent_gone


def test_an_order_is_obeyed_once_and_an_event_is_repeated_until_it_is_heard(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "out.h5").create()
    agent = Agent(setup_for(steered(tmp_path), directory, "agent"), "agent", 1, sees_run=True)
    orders = [(1, methodcaller("start", 0)), (2, methodcaller("kill", 0))]
    wait_until(lambda: any(isinstance(event, WorkerGone) for _, event in agent.exchange(orders, 0).events))
    again = agent.exchange(orders, 0)
    assert again.last_order == 2
    assert [number for number, _ in again.events] == list(range(1, len(again.events) + 1))
    time.sleep(1.0)
    assert agent.exchange(orders, len(again.events)).events == ()
    agent.end()
    assert agent.over.wait(60.0)
