"""The plan with workers that come and go by the dozen: growing room, lost nodes, a lost cluster, a thousand workers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.runner.campaigns import ROOT
from tests.runner.test_plan import KILLED, of_kind, plan
from vindeby.runner.plan import FRUITLESS_DEATHS
from vindeby.runner.protocol import (
    Assign,
    CannotGoOn,
    EndWorker,
    Finish,
    MoreSlots,
    Outcome,
    StartWorker,
    TasksDurable,
    WantsWork,
    WorkerGone,
)


def test_new_room_is_filled_while_there_are_tasks_for_it() -> None:
    it = plan([list(range(5))], workers=1)
    assert it.begin() == [StartWorker(0)]
    assert it.handle(MoreSlots(3), 0.0) == [StartWorker(1), StartWorker(2)]
    assert it.handle(MoreSlots(3), 0.0) == []
    assert it.handle(MoreSlots(50), 0.0) == [StartWorker(3), StartWorker(4)]
    assert it.handle(MoreSlots(60), 0.0) == []


def test_room_that_comes_when_the_run_ends_is_left_empty() -> None:
    it = plan([[1, 2]], workers=1)
    it.begin()
    it.handle(CannotGoOn(Outcome.POOL_LOST, "the scheduler is gone"), 0.0)
    assert it.handle(MoreSlots(2), 0.0) == []


def test_a_lost_cluster_ends_the_run_with_its_reason() -> None:
    it = plan([[1, 2]])
    it.begin()
    assert it.handle(CannotGoOn(Outcome.POOL_LOST, "the scheduler is gone"), 0.0) == [
        EndWorker(0),
        EndWorker(1),
    ]
    it.handle(WorkerGone(0, None, KILLED, by_itself=True), 0.0)
    assert it.handle(WorkerGone(1, None, KILLED, by_itself=True), 0.0) == [
        Finish(Outcome.POOL_LOST, "the scheduler is gone")
    ]


def test_a_node_of_many_workers_that_is_lost_does_not_end_the_run_but_one_that_dies_again_and_again_does() -> (
    None
):
    slots = 2 * FRUITLESS_DEATHS
    it = plan([list(range(1000))], workers=slots)
    it.begin()
    for times in range(4):
        for slot in range(slots):
            it.handle(WantsWork(slot), 0.0)
            it.handle(WorkerGone(slot, None, KILLED), 0.0)
        assert it.is_ending == (times == 3)


def test_who_asked_first_is_served_first() -> None:
    it = plan([[1, 2, 3]], workers=3)
    it.begin()
    for slot in (2, 0, 1):
        (given,) = of_kind(it.handle(WantsWork(slot), 0.0), Assign)
        assert given.worker == slot
        it.handle(TasksDurable(slot, given.tasks), 0.0)


def _benchmark() -> ModuleType:
    path = Path(ROOT) / "benchmarks" / "plan_at_scale.py"
    spec = importlib.util.spec_from_file_location("plan_at_scale", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["plan_at_scale"] = module
    spec.loader.exec_module(module)
    return module


def test_a_thousand_workers_that_die_at_random_settle_every_task_once() -> None:
    cluster = _benchmark().Cluster(30_000, 1000, groups=10, seconds_per_task=0.2, deaths=0.02)
    cluster.run()
    assert cluster.finish == Finish(Outcome.COMPLETE)
    assert cluster.events["WorkerGone"] > 1000
    assert set(cluster.settled.values()) == {1}
    assert len(cluster.settled) == 30_000
