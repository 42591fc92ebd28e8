"""The built-in search under the runner: the same layouts as without it, and words for what cannot be."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.campaign.examples import small
from tests.command import vindeby
from tests.runner.campaigns import equal, results
from vindeby.assembly.physics import physics_checks
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.assembly.wind import turbine_of
from vindeby.campaign import Campaign
from vindeby.cli.run_view import line_of
from vindeby.errors import InputError
from vindeby.layout import Layout, LayoutProblem, Result, Search, SmartStart
from vindeby.runner import run
from vindeby.runner.methods.method_protocol import checked_record
from vindeby.runner.methods.search import SearchMethod, result_of
from vindeby.runner.protocol import Kind
from vindeby.runner.supervisor import Progress
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database
from vindeby.wake import WeibullSite, WindFarm

pytestmark = pytest.mark.slow


def campaign(grid_size: int, seeds: int = 3, **run_options: object) -> Campaign:
    data = small()
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    data["method"] = {"smart-start": {"grid_size": grid_size, "random_pct": 30}}
    data["seeds"] = seeds
    data["run"] = {**run_options}
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


def test_a_long_task_says_what_it_is_at(tmp_path: Path) -> None:
    data = campaign(12, seeds=1).to_data()
    data["method"] = [*data["method"], {"gradient": {"max_iterations": 4_000}}]
    seen: list[Progress] = []

    def look(progress: Progress) -> None:
        known = {one.workers[0].doing for one in seen}
        if not progress.done and progress.workers and progress.workers[0].doing not in known:
            seen.append(progress)

    run(Campaign.from_data(data), tmp_path / "out.h5", workers=1, on_progress=look)
    doing = [progress.workers[0].doing for progress in seen]
    assert "set-up" in doing
    assert any(
        re.fullmatch(r"gradient \(step 2 of 2\) [\d,]+ of 4,000, [\d.]+ GWh so far", words) for words in doing
    )
    assert f"1 running ({seen[-1].workers[0].task} {seen[-1].workers[0].doing})" in line_of(seen[-1])


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
    result = result_of(search(task.seed), "mine", "vindeby", None)
    record = checked_record(asked, cell, task, result, 0.0)
    assert record.arrays["curve"].tolist() == [1.0, 2.5]
    assert float(record.aep) == 3.0
    assert record.attributes["repeatable"] is False
    assert (record.attributes["engine"], record.attributes["evaluations"]) == ("vindeby", 5)


def test_what_a_worker_compiles_with_is_brief(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = campaign(12)
    made: list[int] = []
    (cell,) = asked.cells()
    prepare = SmartStart.prepare

    def noted(self: SmartStart, problem: LayoutProblem) -> Search:
        made.append(self.grid_size)
        return prepare(self, problem)

    monkeypatch.setattr(SmartStart, "brief", lambda _: SmartStart(13))
    monkeypatch.setattr(SmartStart, "prepare", noted)
    SearchMethod(asked).prepare(cell)
    assert made == [12, 13]


def coarse(step: float, **changes: object) -> Campaign:
    data = small()
    data["farms"], data["turbines"], data["seeds"] = data["farms"][:1], data["turbines"][:1], 1
    data["method"][0]["smart-start"]["grid_size"] = 12
    data["site"]["weibull"]["direction_step"] = step
    return Campaign.from_data({**data, **changes})


def found_by(asked: Campaign) -> Record:
    (cell,) = asked.cells()
    task = next(iter(cell.tasks(asked.seeds)))
    return checked_record(asked, cell, task, SearchMethod(asked).prepare(cell)(task), 0.0)


def test_the_energy_of_a_result_is_that_of_the_fine_rose_however_coarse_the_search() -> None:
    asked = coarse(10.0)
    record = found_by(asked)
    sectors = small()["site"]["weibull"]["sectors"]
    frequency, a, k = ([sector[name] for sector in sectors] for name in ("frequency", "a", "k"))
    fine = WindFarm(WeibullSite(frequency, a, k, 0.1), turbine_of(asked.turbines[0]))
    assert len(fine.states.direction) == 360
    assert float(record.aep) == pytest.approx(fine.aep(*record.arrays["layout"]), rel=1e-9)
    searched = record.attributes["aep_searched"]
    assert isinstance(searched, float)
    assert searched > float(record.aep) * 1.002
    problem = problem_of(asked, asked.cells()[0])
    assert searched == pipeline_of(asked).run(problem, 0).aep_gwh


def test_a_search_in_fine_directions_has_no_other_energy_beside_the_stated_one() -> None:
    for step in (1.0, 0.5):
        assert "aep_searched" not in found_by(coarse(step, method="random-start")).attributes


def test_validate_compares_the_stated_energy_and_not_the_searched_one(tmp_path: Path) -> None:
    assert run(coarse(10.0), tmp_path / "o.h5", workers=1).complete
    done = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert done.returncode == 0, done.stdout
    with Database(tmp_path / "o.h5") as database:
        (record,) = [database[key] for key in database]
    searched = record.attributes["aep_searched"]
    with h5py.File(tmp_path / "o.h5") as file:
        assert file[record.key].attrs["aep_searched"] == searched > file[record.key]["aep"][()]
    wrong = Record(
        record.key, record.fingerprint, {**record.arrays, "aep": np.array(searched)}, record.attributes
    )
    complaints = [text for check in physics_checks(coarse(10.0), deep=True) for text in check(wrong)]
    assert complaints == [
        f"aep is {searched:.9g} GWh, but the layout gives {float(record.aep):.9g} GWh",
    ]
