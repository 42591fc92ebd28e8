"""Searches whose layouts are evaluated together find what they find alone, also when a card fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from vindeby.errors import ArgumentError
from vindeby.layout import (
    Auto,
    Boundary,
    Gradient,
    LayoutProblem,
    Method,
    Pipeline,
    RandomStart,
    Result,
    Search,
)
from vindeby.layout.methods.auto import Budget
from vindeby.wake import Neighbours, ScenarioFarm, Turbine, UniformSite, WindFarm
from vindeby.wake.gathering import AtOnce, Evaluator, Gathering

SEEDS = 50
FARM = WindFarm(
    UniformSite((0.3, 0.2, 0.4, 0.1), 9.5, 0.07),
    Turbine.generic("10 MW", 10, 198, 119),
    "jensen",
    directions=np.arange(0.0, 360.0, 45.0),
    speeds=[8.0, 10.0],
)


AREA = Boundary([[(0.0, 0.0), (3000.0, 0.0), (3000.0, 3000.0), (0.0, 3000.0)]])
PROBLEM = LayoutProblem(FARM, AREA, 5, 400.0)
CLIMB: Method = Pipeline([RandomStart(), Gradient(max_iterations=12)])


def search_by(evaluate: Evaluator, method: Method = CLIMB) -> Search:
    return method.prepare(replace(PROBLEM, evaluate=evaluate))


@pytest.fixture(scope="module")
def alone() -> list[Result]:
    search = search_by(AtOnce())
    return [search(seed, None) for seed in range(SEEDS)]


def gathered(gathering: Gathering, seeds: range, method: Method = CLIMB) -> dict[int, Any]:
    search = search_by(gathering, method)
    calls = [partial(search, seed, None) for seed in seeds]
    return {seeds[number]: found for number, found in gathering.run(calls)}


def assert_same(found: dict[int, Any], alone: list[Result]) -> None:
    for seed, result in found.items():
        assert isinstance(result, Result), result
        assert np.array_equal(result.x, alone[seed].x)
        assert np.array_equal(result.y, alone[seed].y)
        assert (result.aep_gwh, result.evaluations) == (alone[seed].aep_gwh, alone[seed].evaluations)


@pytest.mark.parametrize("together", [1, 7, 50])
def test_searches_find_the_same_alone_and_in_batches_of_any_size(alone: list[Result], together: int) -> None:
    found: dict[int, Any] = {}
    for first in range(0, SEEDS, together):
        gathering = Gathering("cpu")
        found |= gathered(gathering, range(first, min(first + together, SEEDS)))
        assert gathering.used == {"cpu"}
        assert not gathering.lost
    assert len(found) == SEEDS
    assert_same(found, alone)


def test_layouts_of_many_searches_are_evaluated_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    batch = WindFarm.aep_and_gradient_batch

    def counted(farm: WindFarm, x: Any, y: Any, types: Any) -> Any:
        sizes.append(len(x))
        return batch(farm, x, y, types)

    monkeypatch.setattr(WindFarm, "aep_and_gradient_batch", counted)
    gathered(Gathering("cpu"), range(40))
    assert max(sizes) >= 20
    assert sum(sizes) > 4 * len(sizes)


def test_a_layout_that_is_refused_fails_its_own_search_only(alone: list[Result]) -> None:
    gathering = Gathering("cpu")
    search = search_by(gathering)

    def bad() -> Any:
        return gathering.aep_and_gradient(FARM, np.array([0.0, np.nan]), np.array([0.0, 500.0]), 0)

    calls: list[Callable[[], Any]] = [bad, *(partial(search, seed, None) for seed in range(3))]
    found = dict(gathering.run(calls))
    assert isinstance(found[0], ArgumentError)
    assert "x[1] is nan" in str(found[0])
    assert_same({number - 1: found[number] for number in (1, 2, 3)}, alone)


@pytest.mark.slow
def test_auto_finds_the_same_alone_and_among_others_and_its_energies_are_evaluated_in_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = [Auto(evaluations=150).prepare(PROBLEM)(seed, None) for seed in range(6)]
    card = Card(monkeypatch)
    found = gathered(Gathering("cuda"), range(6), Auto(evaluations=150))
    assert_same(found, alone)
    assert max(card.sizes_of["aep_batch"]) > 3
    assert max(card.sizes_of["aep_and_gradient_batch"]) > 3


def test_a_search_spends_its_own_cpu_time_and_its_share_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch for the first time takes 30 seconds, which is for compiling, and then 4; nobody pays for waiting."""
    now, spent = [0.0], threading.local()
    monkeypatch.setattr("vindeby.wake.gathering.time.perf_counter", lambda: now[0])
    monkeypatch.setattr("vindeby.wake.gathering.time.thread_time", lambda: getattr(spent, "s", 0.0))

    def batch(_farm: WindFarm, layouts: Any) -> list[int]:
        now[0] += 30.0 if now[0] == 0.0 else 4.0
        return [0] * len(layouts)

    gathering = Gathering("cpu", due=1.0)

    def search(cpu_s: float) -> float:
        budget, nothing = Budget(seconds=10.0, clock=gathering.seconds), np.zeros(1)
        for _ in range(3):
            gathering.evaluated(FARM, (nothing, nothing, nothing), batch)
            spent.s = getattr(spent, "s", 0.0) + cpu_s
        return budget.seconds

    found = dict(gathering.run([partial(search, 1.0), partial(search, 0.5)]))
    assert found == {0: 3.0 + 2 * 2.0, 1: 1.5 + 2 * 2.0}


def test_no_request_is_passed_over_for_ever() -> None:
    """Seven searches always ask for the same, one for something else: it has its turns."""
    order: list[int] = []

    def batch(_farm: WindFarm, layouts: Any) -> list[int]:
        order.append(len(layouts))
        return [0] * len(layouts)

    gathering, nothing = Gathering("cpu"), np.zeros(1)

    def search(size: int) -> None:
        for _ in range(30):
            gathering.evaluated(FARM, (np.zeros(size), nothing, nothing), batch)

    list(gathering.run([partial(search, int(number == 0)) for number in range(8)]))
    assert order[: len(order) // 2].count(1) >= 2


def test_a_layout_that_is_refused_leaves_the_others_on_the_card(
    alone: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    Card(monkeypatch)
    gathering = Gathering("cuda")
    search = search_by(gathering)

    def bad() -> Any:
        return gathering.aep_and_gradient(FARM, np.array([0.0, np.nan, 1.0, 2.0, 3.0]), np.zeros(5), 0)

    calls: list[Callable[[], Any]] = [bad, *(partial(search, seed, None) for seed in range(3))]
    found = dict(gathering.run(calls))
    assert isinstance(found[0], ArgumentError)
    assert_same({number - 1: found[number] for number in (1, 2, 3)}, alone)
    assert (gathering.used, gathering.lost) == ({"cuda"}, "")


def test_a_layout_that_is_not_one_leaves_the_card_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.array([0.0, 500.0, 1000.0]), np.array([0.0, 0.0, 500.0])
    Card(monkeypatch)
    gathering = Gathering("cuda", due=1.0)
    calls = [partial(gathering.aep_and_gradient, FARM, x, y[:count], np.zeros(3, int)) for count in (3, 2, 3)]
    found = dict(gathering.run(calls))
    assert isinstance(found[1], ArgumentError)
    assert found[0][0] == found[2][0] == FARM.aep_and_gradient(x, y)[0]
    assert (gathering.used, gathering.lost) == ({"cuda"}, "")


def test_without_enough_threads_searches_run_one_by_one(
    alone: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start
    begun: list[threading.Thread] = []

    def limited(thread: threading.Thread) -> None:
        if len(begun) == 3:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    gathering = Gathering("cpu")
    found = gathered(gathering, range(6))
    assert len(found) == 6
    assert_same(found, alone)
    assert gathering.used == {"cpu"}


def test_searches_end_when_nobody_waits_for_them_any_longer() -> None:
    gathering = Gathering("cpu")
    search = search_by(gathering)
    running = gathering.run([lambda: "over", *(partial(search, seed, None) for seed in range(3))])
    assert next(running) == (0, "over")
    assert [thread for thread in threading.enumerate() if thread.name.startswith("search_")]
    running.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("search_")]


def test_scenarios_are_evaluated_in_batches_and_outside_of_searches_at_once() -> None:
    farm = ScenarioFarm([FARM, FARM.beside(Neighbours([1500.0], [4000.0]))], over="worst")
    x, y = np.array([0.0, 700.0, 1500.0]), np.array([0.0, 600.0, 2500.0])
    gathering = Gathering("cpu")
    calls = [partial(gathering.aep_and_gradient, farm, x, y, 0)]
    for energy, *slopes in (dict(gathering.run(calls))[0], calls[0]()):
        alone, *slopes_alone = farm.aep_and_gradient(x, y)
        assert energy == alone
        np.testing.assert_array_equal(slopes, slopes_alone)
    assert gathering.aep(farm, x, y, 0) == AtOnce().aep(farm, x, y, 0)


class Card:
    """Stands in for a CUDA card: evaluates batches on the processor, until it fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int = 1000, calls: int = 1000) -> None:
        self.calls, self._most, self._calls = 0, most, calls
        self.sizes: list[int] = []
        self.sizes_of: dict[str, list[int]] = {}
        for name in ("aep_batch", "aep_and_gradient_batch"):
            monkeypatch.setattr(WindFarm, name, self._standing_in_for(getattr(WindFarm, name)))
        monkeypatch.setattr("vindeby.wake.farm.chosen_device", lambda device: device)

    def _standing_in_for(self, batch: Callable[..., Any]) -> Callable[..., Any]:
        def evaluate(farm: WindFarm, *given: Any, **more: Any) -> Any:
            if farm.device != "cuda":
                return batch(farm, *given, **more)
            self.calls += 1
            if len(given[0]) > self._most:
                raise RuntimeError("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY")
            if self.calls > self._calls:
                raise RuntimeError("[700] CUDA_ERROR_ILLEGAL_ADDRESS\nthe driver was reset")
            self.sizes.append(len(given[0]))
            self.sizes_of.setdefault(batch.__name__, []).append(len(given[0]))
            return batch(farm.on("cpu"), *given, **more)

        return evaluate


def test_a_batch_that_does_not_fit_the_memory_of_the_card_is_evaluated_in_parts(
    alone: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    card, gathering = Card(monkeypatch, most=3), Gathering("cuda")
    assert_same(gathered(gathering, range(12)), alone)
    assert (gathering.used, gathering.lost) == ({"cuda"}, "")
    assert max(card.sizes) <= 3 < card.calls


@pytest.mark.parametrize("failing", [{"calls": 5}, {"most": 0}])
def test_searches_go_on_where_they_are_when_the_card_fails(
    alone: list[Result], monkeypatch: pytest.MonkeyPatch, failing: dict[str, int]
) -> None:
    card, gathering = Card(monkeypatch, **failing), Gathering("cuda")
    assert_same(gathered(gathering, range(12)), alone)
    assert "CUDA_ERROR" in gathering.lost
    assert gathering.used == ({"cpu", "cuda"} if card.sizes else {"cpu"})
    before = card.calls
    assert_same(gathered(gathering, range(12, 15)), alone)
    assert card.calls == before
