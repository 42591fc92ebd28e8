"""The built-in search under the runner: the same layouts as without it, and words for what cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.campaign.examples import small
from tests.runner.campaigns import equal, results
from vindeby.assembly import pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.errors import InputError
from vindeby.layout import Layout, Problem, Result, Search, SmartStart
from vindeby.runner import run
from vindeby.runner.failures import Kind
from vindeby.runner.methods.method_protocol import checked_record
from vindeby.runner.methods.search import SearchMethod, _Prepared


def campaign(grid_size: int, seeds: int = 3, **run_options: object) -> Campaign:
    data = small()
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    data["method"] = {"smart-start": {"grid_size": grid_size, "random_pct": 30}}
    data["seeds"] = seeds
    data["run"] = {"start_method": "forkserver", **run_options}
    return Campaign.from_data(data)


def test_the_layouts_are_those_of_the_search_itself_whatever_the_workers(tmp_path: Path) -> None:
    asked = campaign(12)
    for workers in (1, 2):
        summary = run(asked, tmp_path / f"{workers}.h5", workers=workers)
        assert summary.complete, summary.failed
    found = results(tmp_path / "1.h5")
    assert equal(found, results(tmp_path / "2.h5"))
    (cell,) = asked.cells()
    search = pipeline_of(asked).prepare(problem_of(asked, cell))
    for task in cell.tasks(asked.seeds):
        record, direct = found[task.key], search(task.seed, None)
        assert np.array_equal(record.arrays["layout"], np.stack([direct.x, direct.y]))
        assert float(record.aep) == direct.aep_gwh
        assert record.attributes["engine"] == "vindeby nygaard-2022"
        assert record.attributes["search"] == "smart-start"
        assert record.attributes["search_status"] == direct.status


def test_a_layout_that_does_not_fit_fails_with_the_reason_for_every_seed(tmp_path: Path) -> None:
    summary = run(campaign(2), tmp_path / "out.h5", workers=1)
    assert summary.failures == {Kind.EXCEPTION: 3}
    assert all("grid" in failure.reason for failure in summary.failed.values()), summary.failed


def test_a_call_among_other_steps_is_refused(tmp_path: Path) -> None:
    data = campaign(12).to_data()
    data["method"] = [{"smart-start": {}}, {"call": "mine:search"}]
    with pytest.raises(InputError, match="a call cannot be one of several steps"):
        run(Campaign.from_data(data), tmp_path / "out.h5")


def test_what_a_search_says_beside_the_layout_is_in_the_record() -> None:
    asked = campaign(12)
    (cell,) = asked.cells()
    x = np.arange(cell.n_turbines, dtype=np.float64)

    def search(seed: int, start: Layout | None = None) -> Result:
        arrays = {"curve": np.array([1.0, 2.5]), "aep": np.array([7.0])}
        return Result(Layout.of(x, x), 3.0, "budget", 5, arrays, {"repeatable": False, "engine": "none"})

    task = next(iter(cell.tasks(asked.seeds)))
    record = checked_record(asked, cell, task, _Prepared(search, "mine", "vindeby", None).solve(task), 0.0)
    assert record.arrays["curve"].tolist() == [1.0, 2.5]
    assert float(record.aep) == 3.0
    assert record.attributes["repeatable"] is False
    assert (record.attributes["engine"], record.attributes["evaluations"]) == ("vindeby", 5)


def test_what_a_worker_compiles_with_is_brief(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = campaign(12)
    made: list[int] = []
    (cell,) = asked.cells()
    prepare = SmartStart.prepare

    def noted(self: SmartStart, problem: Problem) -> Search:
        made.append(self.grid_size)
        return prepare(self, problem)

    monkeypatch.setattr(SmartStart, "brief", lambda _: SmartStart(13))
    monkeypatch.setattr(SmartStart, "prepare", noted)
    SearchMethod(asked).prepare(cell)
    assert made == [12, 13]
