"""Tasks that are computed at the same time, and which device their gradients are computed on."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections import deque
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import small
from tests.command import vindeby
from tests.runner.campaigns import calling, content, one_cell, results
from tests.runner.test_plan import KILLED, of_kind, plan, sent
from vindeby.assembly.device import _reason_against, chosen_device
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.runner import run, running
from vindeby.runner.local.worker import Worker
from vindeby.runner.protocol import (
    Assign,
    Kind,
    PoolNote,
    TasksDurable,
    WantsWork,
    Work,
    WorkerGone,
)
from vindeby.runner.supervisor import Supervisor
from vindeby.runner.task_executor import Setup, TaskExecutor
from vindeby.store.disk.events import EventTail
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record


def searched(**changes: Any) -> Campaign:
    data = {**small(), **changes}
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    return Campaign.from_data(data)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"method": "smart-start"}, "not smart-start"),
        ({"method": ["smart-start", "random-search"]}, "not smart-start -> random-search"),
        ({"method": {"call": {"function": "mine:rows", "energy": "own"}}}, "not call"),
        (
            {"method": [{"python": {"model": "mine:Mine"}}, "gradient"]},
            r"code of your own (python mine:Mine) is computed on processors",
        ),
        ({"wake": {"jensen": {}, "blockage": "self-similar-2020"}}, "blockage"),
        ({"wake": {"pywake": "py_wake.literature:Nygaard_2022"}}, "wakes are computed by pywake"),
    ],
)
def test_what_does_not_gain_from_a_card_is_computed_on_processors(changes: dict[str, Any], why: str) -> None:
    for asked in ("auto", "cuda"):
        device, found = chosen_device(searched(**changes), asked)
        assert device == "cpu"
        assert why in found


@pytest.mark.parametrize("method", ["auto", ["smart-start", "gradient"]])
def test_searches_with_gradients_gain_from_a_card(method: Any) -> None:
    assert _reason_against(searched(method=method)) == ""


def test_a_card_is_used_only_where_it_is_asked_for() -> None:
    assert chosen_device(searched(), "cpu")[0] == "cpu"
    assert searched().run.device == "cpu"
    with pytest.raises(ArgumentError, match=r"device='gpu'.*cpu, auto or cuda"):
        run(searched(), "never.h5", device="gpu")


def test_on_a_cluster_a_card_that_was_asked_for_is_refused_in_words() -> None:
    said: list[str] = []
    options = searched().run.model_copy(update={"device": "cuda"})
    work: Any = SimpleNamespace(options=options, space=SimpleNamespace(campaign=searched()), say=said.append)
    assert running._Work._device(work, is_here=False) == "cpu"
    (message,) = said
    assert message.endswith("everything is computed on processors: workers of a Dask cluster use no cards")


@pytest.fixture
def no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "numba_cuda" else find(name, *more)
    )


@pytest.mark.usefixtures("no_cuda")
def test_without_numba_cuda_the_reason_is_named() -> None:
    for asked in ("auto", "cuda"):
        assert chosen_device(searched(), asked) == (
            "cpu",
            "numba-cuda is not installed: pip install 'vindeby[gpu]'",
        )


def at_the_same_time(monkeypatch: pytest.MonkeyPatch, device: str = "cpu") -> None:
    """Let runs compute tasks at the same time as with a card, which workers find or do not find."""
    monkeypatch.setattr(running._Work, "_device", lambda *_, **__: "cuda")
    monkeypatch.setattr(running, "Setup", lambda *given, **more: Setup(*given, **{**more, "device": device}))


def without_device(record: Record) -> dict[str, Any]:
    kept = {name: value for name, value in record.attributes.items() if name != "device"}
    return content(replace(record, attributes=kept))


@pytest.mark.slow
def test_tasks_at_the_same_time_give_what_they_give_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = calling("good", seeds=9)
    assert run(asked, tmp_path / "alone.h5").complete
    at_the_same_time(monkeypatch)
    assert run(asked, tmp_path / "together.h5").complete
    alone, together = results(tmp_path / "alone.h5"), results(tmp_path / "together.h5")
    assert {key: content(one) for key, one in alone.items()} == {
        key: without_device(one) for key, one in together.items()
    }
    assert all(one.attributes["device"] == "cpu" for one in together.values())
    assert not any("device" in one.attributes for one in alone.values())
    tail = EventTail(RunDirectory(tmp_path / "together.h5")).read_new("published", complete=True)
    assert max(entry["tasks"] for entry in tail) > 1


@pytest.mark.slow
def test_workers_that_find_no_card_compute_task_after_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = one_cell(calling("good", seeds=5))
    at_the_same_time(monkeypatch, "cuda")
    assert run(asked, tmp_path / "out.h5").complete
    assert not any("device" in one.attributes for one in results(tmp_path / "out.h5").values())


@pytest.mark.slow
@pytest.mark.parametrize("poison", ["exit", "unprintable", "hang"])
def test_a_task_that_fails_takes_none_of_its_batch_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, poison: str
) -> None:
    limits = {"retries": 0, "time_limit_s": 0.3} if poison == "hang" else {"retries": 0}
    asked = one_cell(calling("poisonous", seeds=8, parameters={"poisons": {"3": poison}}, **limits))
    at_the_same_time(monkeypatch)
    summary = run(asked, tmp_path / "out.h5")
    kinds = {"exit": Kind.KILLED, "unprintable": Kind.EXCEPTION, "hang": Kind.TIME}
    assert {key: failure.kind for key, failure in summary.failed.items()} == {"farm0_t0_s3": kinds[poison]}
    assert len(results(tmp_path / "out.h5")) == 7


def test_a_worker_is_given_a_batch_of_one_group() -> None:
    it = plan([[*range(10)], [*range(10, 15)]], workers=2)
    it.begin()
    assert sent(it.handle(WantsWork(0, together=6), 1.0)) == {0: (0, 1, 2, 3)}  # no more than a fair share
    assert sent(it.handle(WantsWork(1, together=6), 1.0)) == {1: (10, 11, 12, 13)}


def test_of_tasks_at_the_same_time_none_is_blamed_for_the_death_of_their_worker() -> None:
    it = plan([[*range(4)]], workers=1, retries=0)
    it.begin()
    assert sent(it.handle(WantsWork(0, together=4), 1.0)) == {0: (0, 1)}
    it.handle(WorkerGone(0, 1, KILLED), 2.0)
    assert (it.open, it.set_aside) == (4, 0)
    assert sent(it.handle(WantsWork(0, together=4), 3.0)) == {0: (2, 3)}
    it.handle(TasksDurable(0, (2, 3)), 4.0)
    it.handle(WantsWork(0, together=4), 5.0)
    it.handle(WorkerGone(0, None, KILLED, by_itself=True), 6.0)
    (retry,) = of_kind(it.handle(WantsWork(0, together=4), 7.0), Assign)
    assert (retry.tasks, retry.retry) == ((0,), True)
    it.handle(WorkerGone(0, 0, KILLED), 8.0)
    assert (it.open, it.set_aside) == (1, 1)  # it was by itself


@pytest.mark.parametrize(("together", "batch", "asks"), [(1, 1, True), (4, 4, False)])
def test_a_worker_asks_for_a_batch_when_the_last_is_over(together: int, batch: int, asks: bool) -> None:
    worker, work = Worker.__new__(Worker), Work(())
    asked: list[object] = []
    worker.queue = deque((number, None, work) for number in range(4))  # type: ignore[misc]
    worker.change, worker.ending, worker.number = threading.Condition(), False, 0
    worker._low, worker._asked, worker._seconds = 4, False, 0.01
    worker._report = asked.append  # type: ignore[assignment,method-assign]
    worker.executor = SimpleNamespace(together=together)  # type: ignore[assignment]
    assert len(worker._next()) == batch
    assert asked == ([WantsWork(0, 0.01, together)] if asks else [])


def test_a_card_that_is_lost_is_reported_at_once_and_once() -> None:
    it: Any = SimpleNamespace(handle=lambda *_: [])
    said: list[str] = []
    log = SimpleNamespace(write=lambda *_, **__: None)
    supervisor = Supervisor(it, None, None, log, print, None, None, say=said.append)  # type: ignore[arg-type]
    for worker in (3, 4):
        supervisor._received(PoolNote("card lost", {"worker": worker, "reason": "the card failed"}))
    assert said == ["warning: worker 3: the card failed"]


@pytest.mark.slow
def test_every_exception_of_a_batch_is_in_the_log_with_its_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisons = {"2": "unprintable", "3": "unprintable"}
    asked = one_cell(calling("poisonous", seeds=10, parameters={"poisons": poisons}))
    at_the_same_time(monkeypatch)
    assert len(run(asked, tmp_path / "out.h5", workers=1).failed) == 2
    log = "".join(path.read_text() for path in RunDirectory(tmp_path / "out.h5").logs.iterdir())
    for seed in poisons:
        assert log.count(f" farm0_t0_s{seed} failed: exception") == 2


def test_the_executor_says_why_its_card_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = one_cell(calling("good", seeds=3))
    directory = RunDirectory(tmp_path / "out.h5").create()
    monkeypatch.setattr("vindeby.wake.gathering.Gathering", _Lost)
    executor = TaskExecutor(Setup(asked, str(directory.output), together=4), lambda _: None)
    attempts = dict(executor.attempts(list(asked.tasks())))
    assert executor.lost == "RuntimeError: the driver was reset"
    assert [attempts[place].outcome.attributes["device"] for place in range(3)] == ["cpu+cuda"] * 3  # type: ignore[union-attr]
    assert executor.close()


class _Lost:
    """A gathering whose card fails at once."""

    def __init__(self, _device: str) -> None:
        self.used, self.lost = {"cuda"}, ""

    def run(self, searches: Any) -> Any:
        self.used, self.lost = {"cuda", "cpu"}, "RuntimeError: the driver was reset"
        return ((number, search()) for number, search in enumerate(searches))


TWO_STATES = {"wind_speed": [9, 10], "wind_direction": [0, 45], "probability": [0.5, 0.5]}


@pytest.mark.slow
def test_a_campaign_runs_on_a_simulated_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = searched(
        capacity_mw=15,
        site={"states": {**TWO_STATES, "turbulence_intensity": 0.1}},
        wake="jensen",
        seeds=2,
        method=["random-start", {"gradient": {"max_iterations": 1, "widening": 1, "wind": "all"}}],
    ).to_data()
    (tmp_path / "tiny.yaml").write_text(json.dumps(data))
    assert not vindeby(tmp_path, "run", "tiny.yaml", "-o", "cpu.h5", "-j", "1").returncode
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    shown = vindeby(tmp_path, "check", "tiny.yaml", "--set", "run.device=cuda")
    assert "device cuda: Numba's CUDA simulator" in shown.stdout
    done = vindeby(tmp_path, "run", "tiny.yaml", "-o", "card.h5", "-j", "1", "--device", "cuda")
    assert not done.returncode, done.stderr
    assert "energies and gradients are computed on Numba's CUDA simulator" in done.stdout + done.stderr
    again = vindeby(tmp_path, "run", "tiny.yaml", "-o", "card.h5", "--device", "cpu")
    assert "computed 0 in" in again.stdout + again.stderr
    card, cpu = results(tmp_path / "card.h5"), results(tmp_path / "cpu.h5")
    assert len(card) == len(cpu) == 2
    for key, record in card.items():
        assert record.attributes["device"] == "cuda"
        np.testing.assert_allclose(record.arrays["layout"], cpu[key].arrays["layout"], rtol=0, atol=1e-6)
