"""The plan by itself: events in, instructions out, no process anywhere."""

from __future__ import annotations

from typing import TypeVar

import pytest

from vindeby.runner.plan import FRUITLESS_DEATHS, Plan, Policy
from vindeby.runner.protocol import (
    Assign,
    CannotGoOn,
    EndWorker,
    Failed,
    Failure,
    Finish,
    Instruction,
    KillWorker,
    Kind,
    Outcome,
    SetAside,
    StartWorker,
    StopAsked,
    TasksDurable,
    Tick,
    TryAgain,
    WantsWork,
    WorkerGone,
)

T = TypeVar("T")
KILLED = Failure(Kind.KILLED, "killed by SIGSEGV")
MEMORY = Failure(Kind.MEMORY, "too much")
RAISED = Failure(Kind.EXCEPTION, "ValueError: no")


def plan(groups: list[list[int]], **policy: object) -> Plan:
    settings: dict[str, object] = {"workers": 2, "retries": 1, **policy}
    return Plan(groups, Policy(**settings))  # type: ignore[arg-type]


def of_kind(instructions: list[Instruction], kind: type[T]) -> list[T]:
    return [instruction for instruction in instructions if isinstance(instruction, kind)]


def sent(instructions: list[Instruction]) -> dict[int, tuple[int, ...]]:
    return {send.worker: send.tasks for send in of_kind(instructions, Assign)}


def test_a_run_without_tasks_is_finished_at_once() -> None:
    assert plan([[], []]).begin() == [Finish(Outcome.COMPLETE)]


def test_there_are_no_more_workers_than_tasks() -> None:
    assert plan([[7]], workers=8).begin() == [StartWorker(0)]


def test_the_first_batch_is_one_task_and_later_ones_fit_the_time_a_task_takes() -> None:
    it = plan([list(range(1000))], batch_s=0.5)
    it.begin()
    assert sent(it.handle(WantsWork(0), 0)) == {0: (0,)}
    assert sent(it.handle(WantsWork(0, 0.01), 1)) == {0: tuple(range(1, 51))}
    assert sent(it.handle(WantsWork(1, 10.0), 1)) == {1: (51,)}


def test_near_the_end_the_rest_is_shared_out() -> None:
    it = plan([list(range(8))])
    it.begin()
    assert sent(it.handle(WantsWork(0, 1e-6), 0)) == {0: (0, 1)}


def test_workers_stay_on_their_group_and_take_different_ones() -> None:
    it = plan([[0, 1, 2], [10, 11, 12], [20, 21, 22]])
    it.begin()
    assert sent(it.handle(WantsWork(0), 0)) == {0: (0,)}
    assert sent(it.handle(WantsWork(1), 0)) == {1: (10,)}
    assert sent(it.handle(WantsWork(0), 0)) == {0: (1,)}
    assert sent(it.handle(WantsWork(1), 0)) == {1: (11,)}
    it.handle(WantsWork(0), 0)
    assert sent(it.handle(WantsWork(0), 0)) == {0: (20,)}


def test_when_everything_is_done_workers_are_told_to_go_and_then_it_is_finished() -> None:
    it = plan([[0]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    assert it.handle(TasksDurable(0, [0]), 1) == [EndWorker(0)]
    assert it.handle(WorkerGone(0, None, KILLED, by_itself=True), 2) == [Finish(Outcome.COMPLETE)]
    assert (it.done, it.set_aside, it.open) == (1, 0, 0)


def test_when_a_worker_dies_only_the_task_it_was_on_is_suspected() -> None:
    it = plan([[0, 1, 2, 3, 4, 5, 6, 7]], workers=1)
    it.begin()
    assert sent(it.handle(WantsWork(0, 0.1), 0)) == {0: (0, 1, 2, 3)}
    it.handle(TasksDurable(0, [0]), 1)
    out = it.handle(WorkerGone(0, 1, KILLED), 2)
    assert of_kind(out, TryAgain) == [TryAgain(1, KILLED, 1)]
    assert of_kind(out, StartWorker) == [StartWorker(0)]
    assert sent(it.handle(WantsWork(0, 0.05), 3)) == {0: (2, 3, 4, 5)}


@pytest.mark.parametrize("failure", [KILLED, MEMORY, RAISED])
def test_a_task_that_failed_is_tried_once_more_in_a_fresh_process_after_everything_else(
    failure: Failure,
) -> None:
    it = plan([[0, 1]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    assert of_kind(it.handle(Failed(0, 0, failure), 0), TryAgain) == [TryAgain(0, failure, 1)]
    assert it.handle(WantsWork(0), 0) == [Assign(0, (1,))]
    it.handle(TasksDurable(0, [1]), 0)
    assert it.handle(WantsWork(0), 0) == [EndWorker(0)]
    assert it.handle(WorkerGone(0, None, KILLED, by_itself=True), 0) == [StartWorker(0)]
    assert it.handle(WantsWork(0), 0) == [Assign(0, (0,), retry=True)]
    it.handle(TasksDurable(0, [0]), 0)
    assert (it.done, it.set_aside) == (2, 0)


def test_a_task_that_fails_in_a_fresh_process_too_is_set_aside_with_both_reasons() -> None:
    it = plan([[0]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    assert TryAgain(0, MEMORY, 1) in it.handle(WorkerGone(0, 0, MEMORY), 0)
    it.handle(WantsWork(0), 0)
    both = Failure(Kind.KILLED, "killed by SIGSEGV; before that: out of memory: too much")
    out = it.handle(WorkerGone(0, 0, KILLED), 0)
    assert of_kind(out, SetAside) == [SetAside(0, both, 2)]
    assert of_kind(out, Finish) == [Finish(Outcome.COMPLETE)]


def test_a_task_has_as_many_retries_as_the_policy_allows() -> None:
    it = plan([[0]], workers=1, retries=3)
    it.begin()
    for attempt in range(1, 4):
        it.handle(WantsWork(0), 0)
        assert TryAgain(0, KILLED, attempt) in it.handle(WorkerGone(0, 0, KILLED), 0)
    it.handle(WantsWork(0), 0)
    assert of_kind(it.handle(WorkerGone(0, 0, KILLED), 0), SetAside) == [SetAside(0, KILLED, 4)]


def test_a_retry_that_its_worker_gives_back_stays_a_retry() -> None:
    it = plan([[0, 1]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    it.handle(WorkerGone(0, 0, KILLED), 0)
    it.handle(WantsWork(0), 0)
    it.handle(TasksDurable(0, [1]), 0)
    it.handle(WantsWork(0), 0)
    it.handle(WorkerGone(0, None, KILLED, by_itself=True), 0)
    assert it.handle(WantsWork(0), 0) == [Assign(0, (0,), retry=True)]
    it.handle(WorkerGone(0, None, KILLED, by_itself=True), 0)
    assert it.handle(WantsWork(0), 0) == [Assign(0, (0,), retry=True)]


def test_a_retry_waits_for_a_fresh_worker_that_starts_instead_of_ending_an_idle_one() -> None:
    it = plan([[0, 1, 2]], workers=3)
    it.begin()
    for worker in range(3):
        it.handle(WantsWork(worker), 0)
    it.handle(TasksDurable(0, [0]), 0)
    it.handle(WantsWork(0), 0)
    assert StartWorker(1) in it.handle(WorkerGone(1, 1, KILLED), 0)
    assert it.handle(TasksDurable(2, [2]), 0) == []
    assert it.handle(WantsWork(2), 0) == []
    assert it.handle(WantsWork(1), 0) == [Assign(1, (1,), retry=True)]


def test_a_failure_of_the_task_itself_is_not_tried_again() -> None:
    it = plan([[0, 1]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    assert of_kind(it.handle(Failed(0, 0, RAISED, final=True), 0), SetAside) == [SetAside(0, RAISED, 1)]


def test_too_many_failures_end_the_run() -> None:
    it = plan([[0, 1, 2, 3]], workers=1, most_failures=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    assert of_kind(it.handle(Failed(0, 0, RAISED, final=True), 0), EndWorker) == []
    it.handle(WantsWork(0), 0)
    assert of_kind(it.handle(Failed(0, 1, RAISED, final=True), 0), EndWorker) == [EndWorker(0)]
    (finish,) = of_kind(it.handle(WorkerGone(0, None, KILLED, by_itself=True), 0), Finish)
    assert finish.outcome is Outcome.TOO_MANY_FAILURES
    assert "at most 1 may" in finish.reason


def test_the_first_request_to_stop_waits_for_running_tasks_but_not_longer_than_the_grace() -> None:
    it = plan([[0, 1, 2]], workers=1, grace_s=10.0)
    it.begin()
    it.handle(WantsWork(0), 0)
    assert it.handle(StopAsked(), 1) == [EndWorker(0)]
    assert it.handle(WantsWork(0), 2) == []
    assert it.handle(Tick(), 10.9) == []
    assert it.handle(Tick(), 11.1) == [KillWorker(0)]
    assert it.handle(WorkerGone(0, 0, KILLED), 11.2) == [Finish(Outcome.STOPPED, "stopped by the user")]
    assert it.set_aside == 0  # it is nobody's fault


def test_the_second_request_to_stop_means_now() -> None:
    it = plan([[0, 1, 2]], workers=1, grace_s=1000.0)
    it.begin()
    it.handle(WantsWork(0), 0)
    it.handle(StopAsked(), 1)
    assert it.handle(StopAsked(), 2) == [EndWorker(0, now=True)]
    assert it.handle(Tick(), 5.1) == [KillWorker(0)]


def test_what_was_finished_in_the_grace_time_counts() -> None:
    it = plan([[0, 1, 2]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    it.handle(StopAsked(), 1)
    it.handle(TasksDurable(0, [0]), 2)
    assert it.done == 1
    assert of_kind(it.handle(WorkerGone(0, None, KILLED, by_itself=True), 3), Finish)


def test_lost_storage_and_an_unusable_method_end_the_run_with_their_reason() -> None:
    for outcome, reason in ((Outcome.STORAGE, "disk full"), (Outcome.UNUSABLE, "no such module")):
        it = plan([[0, 1]], workers=1)
        it.begin()
        assert of_kind(it.handle(CannotGoOn(outcome, reason), 0), EndWorker) == [EndWorker(0)]
        assert of_kind(it.handle(WorkerGone(0, None, KILLED), 0), Finish) == [Finish(outcome, reason)]


def test_workers_that_die_on_no_task_without_any_progress_end_the_run() -> None:
    it = plan([[0]], workers=1)
    it.begin()
    for _ in range(FRUITLESS_DEATHS):
        assert of_kind(it.handle(WorkerGone(0, None, KILLED), 0), StartWorker)
    (finish,) = of_kind(it.handle(WorkerGone(0, None, KILLED), 0), Finish)
    assert finish.outcome is Outcome.WORKERS
    assert it.set_aside == 0


def test_workers_that_keep_dying_are_started_after_a_pause() -> None:
    it = plan([[0]], workers=1)
    it.begin()
    pauses = [of_kind(it.handle(WorkerGone(0, None, KILLED), 0), StartWorker)[0].delay_s for _ in range(14)]
    assert pauses[:2] == [0.0, 0.0]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 1.0


def test_a_worker_that_retires_is_replaced_and_its_tasks_are_dealt_again() -> None:
    it = plan([[0, 1, 2, 3]], workers=1)
    it.begin()
    it.handle(WantsWork(0, 0.2), 0)
    assert it.handle(WorkerGone(0, None, KILLED, by_itself=True), 0) == [StartWorker(0)]
    assert sent(it.handle(WantsWork(0, 0.2), 0)) == {0: (0, 1)}


def test_what_a_dead_worker_says_later_is_ignored() -> None:
    it = plan([[0, 1]], workers=1)
    it.begin()
    it.handle(WantsWork(0), 0)
    it.handle(WorkerGone(0, 0, KILLED), 0)
    assert it.handle(Failed(0, 0, RAISED), 0) == []
    it.handle(TasksDurable(0, [0]), 0)
    assert (it.done, it.set_aside) == (0, 0)
