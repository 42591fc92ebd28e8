"""What every pool of workers must do, each held to the same; a new pool is one more subclass of ``PoolContract``."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.contracts import pool_functions
from tests.contracts.in_process_pool import NAME, InProcessPool
from tests.runner.campaigns import calling, marked_processes, one_cell, results
from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import search_path
from vindeby.runner import protocol
from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.local.local_pool import LocalPool
from vindeby.runner.plan import Plan, Policy
from vindeby.runner.protocol import (
    CannotGoOn,
    Failed,
    Kind,
    MoreSlots,
    PoolEvent,
    PoolNote,
    TasksDurable,
    WantsWork,
    Work,
    WorkerGone,
    WorkerPool,
    WorkerReady,
)
from vindeby.runner.resume import ResumeState, TaskSpace, hold
from vindeby.runner.supervisor import Supervisor
from vindeby.runner.task_executor import Setup, TaskExecutor
from vindeby.store.disk.events import EventLog
from vindeby.store.disk.run_directory import RunDirectory

pytestmark = pytest.mark.slow

LONGEST_S = 120.0
OPTIONS = {"flush_s": 0.05}
Kindred = TypeVar("Kindred")


def steered(folder: Path, seeds: int | list[int] = 6, **parameters: Any) -> Campaign:
    """One cell whose tasks, numbered like their seeds but from 0, do what the parameters say."""
    data = one_cell(calling("good", seeds)).to_data()
    call = {
        "function": "tests.contracts.pool_functions:steered",
        "parameters": {"folder": str(folder), **parameters},
        "energy": "own",
    }
    return Campaign.from_data({**data, "method": {"call": call}, "run": {**data["run"], **OPTIONS}})


def setup_for(campaign: Campaign, directory: RunDirectory, name: str) -> Setup:
    return Setup(campaign, str(directory.output), tuple(search_path()), name)


class Driver:
    """A pool in the hands of a test, with everything it said."""

    def __init__(self, pool: WorkerPool, campaign: Campaign, directory: RunDirectory) -> None:
        self.pool, self.space, self.directory = pool, TaskSpace(campaign), directory
        self.events: list[PoolEvent] = []

    def number(self, seed: int) -> int:
        return self.space.seeds.index(seed)

    def assign(self, slot: int, *numbers: int) -> None:
        self.pool.assign(slot, Work(tuple((number, self.space.task(number)) for number in numbers)))

    def until(self, true: Callable[[], object]) -> None:
        deadline = time.monotonic() + LONGEST_S
        while not true():
            assert time.monotonic() < deadline, self.events
            self.events += self.pool.wait(0.1)

    def event(self, kind: type[Kindred]) -> Kindred:
        """The first event of this kind, which is taken out."""
        self.until(lambda: self.has(kind))
        found = next(event for event in self.events if isinstance(event, kind))
        self.events = [event for event in self.events if event is not found]
        return found

    def has(self, kind: type[Any]) -> bool:
        return any(isinstance(event, kind) for event in self.events)

    def durable(self) -> list[int]:
        return sorted(
            task for event in self.events if isinstance(event, TasksDurable) for task in event.tasks
        )


class PoolContract:
    """The tests; a subclass makes the pool."""

    looks_inside = True
    """Whether ``observe`` knows a worker's memory and its last sign of life."""
    kill_names_task = True
    """Whether a worker that ``kill`` ended is gone with the task that it was on."""

    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = tmp_path, monkeypatch
        monkeypatch.setenv("VINDEBY_MARK", f"pools-{tmp_path}")

    def make(self, campaign: Campaign, directory: RunDirectory, slots: int) -> WorkerPool:
        raise NotImplementedError

    def left_over(self) -> list[Any]:
        """Processes or threads of the pool that are still there."""
        raise NotImplementedError

    @contextmanager
    def driven(self, campaign: Campaign, slots: int = 1) -> Iterator[Driver]:
        directory = RunDirectory(self.folder / "out.h5").create()
        pool = self.make(campaign, directory, slots)
        try:
            for slot in range(slots):
                pool.start(slot)
            yield Driver(pool, campaign, directory)
        finally:
            (self.folder / "gate").touch()
            pool.close()

    def test_every_task_is_reported_once_and_is_on_disk_by_then(self) -> None:
        campaign = steered(self.folder)
        with self.driven(campaign, 2) as driver:
            for _ in range(2):
                driver.assign(driver.event(WantsWork).worker, *range(6)[_ * 3 : _ * 3 + 3])
            for _ in range(2):
                driver.event(WorkerReady)
            driver.until(lambda: len(driver.durable()) >= 6)
            assert driver.durable() == list(range(6))
            shards = [event.shard for event in driver.events if isinstance(event, TasksDurable)]
            assert all((driver.directory.shards / shard).is_file() for shard in shards)
            assert len(results(driver.directory.output)) == 6

    def test_a_worker_asks_again_for_each_time_that_it_was_given_tasks(self) -> None:
        with self.driven(steered(self.folder)) as driver:
            for number in range(4):
                assert driver.event(WantsWork).worker == 0
                driver.assign(0, number)
            driver.event(WantsWork)
            driver.until(lambda: driver.durable() == [0, 1, 2, 3])

    def test_a_task_that_fails_is_reported_with_its_failure_and_the_others_are_done(self) -> None:
        campaign = steered(self.folder, fails=[2])
        with self.driven(campaign) as driver:
            bad = driver.number(2)
            others = [number for number in range(6) if number != bad]
            driver.assign(driver.event(WantsWork).worker, bad, *others)
            failed = driver.event(Failed)
            assert (failed.worker, failed.task, failed.failure.kind) == (0, bad, Kind.EXCEPTION)
            assert failed.failure.reason == "ValueError: no layout for seed 2"
            assert "Traceback" in failed.failure.traceback
            driver.until(lambda: driver.durable() == others or driver.has(WorkerGone))
            if driver.durable() != others:  # it made room for a fresh one
                assert driver.event(WorkerGone).by_itself
                driver.pool.start(0)
                driver.assign(0, *sorted({*others} - {*driver.durable()}))
            driver.until(lambda: driver.durable() == others)

    def test_a_killed_worker_is_gone_with_the_task_it_was_on_and_its_slot_can_be_filled_again(self) -> None:
        campaign = steered(self.folder, waits=[3])
        with self.driven(campaign) as driver:
            stuck = driver.number(3)
            driver.assign(driver.event(WantsWork).worker, *range(6))
            driver.until((self.folder / "began-3").exists)
            driver.pool.kill(0)
            gone = driver.event(WorkerGone)
            assert (gone.worker, gone.by_itself) == (0, False)
            assert gone.suspect == (stuck if self.kill_names_task else None)
            finished = {*driver.durable()}
            assert finished <= set(range(stuck))
            driver.events.clear()
            (self.folder / "gate").touch()
            driver.pool.start(0)
            rest = sorted(set(range(6)) - finished)
            driver.assign(driver.event(WantsWork).worker, *rest)
            driver.until(lambda: driver.durable() == rest)

    def test_a_worker_that_is_told_to_end_finishes_the_task_it_is_on_and_drops_the_others(self) -> None:
        campaign = steered(self.folder, waits=[1])
        with self.driven(campaign) as driver:
            first = driver.number(1)
            driver.assign(driver.event(WantsWork).worker, first, first + 1, first + 2)
            driver.until((self.folder / "began-1").exists)
            driver.pool.end(0)
            self.let_orders_arrive()
            (self.folder / "gate").touch()
            gone = driver.event(WorkerGone)
            assert (gone.by_itself, gone.suspect) == (True, None)
            assert driver.durable() == [first]

    def test_a_worker_that_is_told_to_end_now_does_not_finish_its_task(self) -> None:
        with self.driven(steered(self.folder, waits=[1])) as driver:
            driver.assign(driver.event(WantsWork).worker, driver.number(1))
            driver.until((self.folder / "began-1").exists)
            driver.pool.end(0, now=True)
            assert driver.event(WorkerGone).by_itself
            assert driver.durable() == []

    def test_a_method_that_cannot_be_used_is_reported(self) -> None:
        data = steered(self.folder).to_data()
        data["method"] = {"call": {"function": "tests.contracts.pool_functions:missing"}}
        with self.driven(Campaign.from_data(data)) as driver:
            driver.until(lambda: driver.has(CannotGoOn) or driver.has(WantsWork))
            driver.assign(0, 0)  # a pool may start a process only for a task
            assert "missing" in driver.event(CannotGoOn).reason
            assert driver.event(WorkerGone).by_itself

    def test_orders_for_a_slot_without_a_worker_do_nothing(self) -> None:
        with self.driven(steered(self.folder)) as driver:
            driver.event(WantsWork)
            driver.pool.kill(0)
            driver.event(WorkerGone)
            driver.assign(0, 1)
            driver.pool.end(0)
            driver.pool.end(0, now=True)
            driver.pool.kill(0)
            about_pool = PoolNote | MoreSlots
            assert [event for event in driver.pool.wait(0.3) if not isinstance(event, about_pool)] == []
            assert driver.pool.observe() == []

    def test_observing_shows_what_the_pool_can_tell(self) -> None:
        with self.driven(steered(self.folder, waits=[1])) as driver:
            number = driver.number(1)
            driver.assign(driver.event(WantsWork).worker, number)
            driver.until((self.folder / "began-1").exists)
            driver.until(  # a pool may know of a worker only what it was last told
                lambda: any(seen.task == number for seen in driver.pool.observe())
            )
            (seen,) = driver.pool.observe()
            assert seen.worker == 0
            assert seen.seconds > 0.0
            assert (seen.memory > 0, seen.silent_s > 0.0) == (self.looks_inside, self.looks_inside)

    def test_nothing_is_left_after_close(self) -> None:
        with self.driven(steered(self.folder), 2) as driver:
            driver.assign(driver.event(WantsWork).worker, 0, 1, 2)
            driver.until(self.left_over)
        assert self.left_over() == []

    def test_a_supervisor_runs_a_campaign_to_its_end_whatever_its_workers_do(self) -> None:
        campaign = steered(self.folder, 12, fails=[3], dies_once=[5])
        directory = RunDirectory(self.folder / "out.h5").create()
        pool = self.make(campaign, directory, 2)
        self.can_die(pool)
        space, log = TaskSpace(campaign), EventLog(directory)
        policy = Policy(workers=2, retries=1, batch_s=0.1)
        with hold(directory, None) as lock:
            plan = Plan(space.groups(iter(range(len(space)))), policy)
            supervisor = Supervisor(plan, space, pool, log, lambda _: None, ResumeState(), lock)
            finish = supervisor.run()
        log.close()
        assert finish == protocol.Finish(protocol.Outcome.COMPLETE)
        assert plan.done == 11
        assert {key: failure.kind for key, failure in supervisor.failed.items()} == {
            "farm0_t0_s3": Kind.EXCEPTION
        }
        assert len(results(directory.output)) == 11
        assert self.left_over() == []

    def can_die(self, pool: WorkerPool) -> None:
        """Make ``pool_functions.die`` work where a worker is no process of its own."""

    def let_orders_arrive(self) -> None:
        """Wait where an order takes longer to a worker than a task takes to end."""


class TestLocalPool(PoolContract):
    def make(self, campaign: Campaign, directory: RunDirectory, slots: int) -> WorkerPool:
        return LocalPool(
            directory, setup_for(campaign, directory, "contract"), Heartbeats.create(max(slots, 3))
        )

    def left_over(self) -> list[Any]:
        return marked_processes(f"pools-{self.folder}")

    def test_a_worker_needs_one_descriptor_here_and_the_want_of_one_is_an_error_at_once(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with self.driven(steered(self.folder), 1) as driver:
            driver.event(WorkerReady)
            taken = [os.dup(0) for _ in range(64)]
            resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1] + 1, hard))
            os.close(taken.pop())
            os.close(taken.pop())
            try:
                driver.pool.start(1)
                with pytest.raises(OSError, match="Too many open files"):
                    driver.pool.start(2)
                assert driver.event(WorkerReady).worker == 1
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                for descriptor in taken:
                    os.close(descriptor)

    @pytest.mark.parametrize("threads", [0, 1])
    def test_the_want_of_a_thread_is_an_error_and_the_pool_can_be_closed(self, threads: int) -> None:
        start, started = threading.Thread.start, iter(range(threads))

        def scarce(thread: threading.Thread) -> None:
            if next(started, None) is None:
                raise RuntimeError("can't start new thread")
            start(thread)

        with self.driven(steered(self.folder), 1) as driver:
            driver.event(WorkerReady)
            self.monkeypatch.setattr(threading.Thread, "start", scarce)
            with pytest.raises(OSError, match="can't start new thread"):
                driver.pool.start(1)
            self.monkeypatch.undo()
        assert self.left_over() == []


class TestInProcessPool(PoolContract):
    looks_inside = False

    def make(self, campaign: Campaign, directory: RunDirectory, slots: int) -> WorkerPool:
        return InProcessPool(setup_for(campaign, directory, "contract"))

    def left_over(self) -> list[Any]:
        return [thread for thread in threading.enumerate() if thread.name.startswith(NAME)]

    def can_die(self, pool: WorkerPool) -> None:
        assert isinstance(pool, InProcessPool)

        def die() -> None:
            pool.kill(int(threading.current_thread().name.removeprefix(NAME)))

        self.monkeypatch.setattr(pool_functions, "die", die)


def test_an_executor_needs_no_pool(tmp_path: Path) -> None:
    campaign = steered(tmp_path, fails=[4])
    directory = RunDirectory(tmp_path / "out.h5").create()
    events: list[PoolEvent] = []
    executor = TaskExecutor(Setup(campaign, str(directory.output)), events.append)
    for number, task in enumerate(campaign.tasks()):
        failure = executor.execute(number, task)
        assert (failure is not None) == (task.seed == 4)
    assert executor.close()
    durable = [task for event in events if isinstance(event, TasksDurable) for task in event.tasks]
    failed = [event.task for event in events if isinstance(event, Failed)]
    assert sorted(durable + failed) == list(range(6))
    assert len(failed) == 1
    assert len(results(directory.output)) == 5
