"""Searches that start from a layout that is given: what they begin with, what they keep, and what results say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.test_starts import GIVEN, X, Y, starting
from tests.command import vindeby
from tests.evaluation.stored import campaign, compute, farms, results
from vindeby.assembly.search import problem_of
from vindeby.assembly.starts import Starts
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError
from vindeby.layout import Layout, Result
from vindeby.plots.layout import Drawn, layout
from vindeby.report.page import best_table
from vindeby.results.result_set import ResultSet
from vindeby.runner import CallTask
from vindeby.runner.methods.search import _not_worse
from vindeby.runner.running import run


def stay(task: CallTask) -> dict[str, Any]:
    """Return the start as it is."""
    assert task.start is not None
    return {
        "layout": np.stack([task.start.x, task.start.y]),
        "aep": task.wind_farm.aep(task.start.x, task.start.y),
    }


def only(asked: Campaign, folder: Path) -> Any:
    (record,) = results(compute(asked, folder / "out.h5")).values()
    return record


METHODS: list[Any] = [
    {"gradient": {"max_iterations": 20}},
    {"random-search": {"max_evaluations": 200}},
    {"annealing": {"max_evaluations": 200}},
    [{"random-search": {"max_evaluations": 50}}, {"gradient": {"max_iterations": 10}}],
    {"auto": {"evaluations": 400}},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "+".join(str(one) for one in method)[:30])
def test_a_result_is_never_worse_than_its_start_and_says_by_how_much_it_is_better(
    method: Any, tmp_path: Path
) -> None:
    asked = starting(GIVEN, seeds=1, method=method)
    record = only(asked, tmp_path)
    before = wind_farm(asked, (0,)).aep(np.array(X), np.array(Y))
    after, said = float(record.arrays["aep"]), record.attributes
    assert said["aep_start"] == before
    assert after >= before
    assert said["gain_percent"] == pytest.approx(100.0 * (after / before - 1.0), abs=1e-9)
    assert "start_moved_m" not in said
    assert list(Starts(asked).check(record)) == []


def test_a_search_that_leads_below_its_start_returns_the_start() -> None:
    asked = starting(GIVEN, seeds=1)
    problem = problem_of(asked, asked.cells()[0])
    good, poor = (
        Layout.of(X, Y),
        Layout.of([100.0, 400.0, 700.0, 1000.0, 1300.0], [700.0] * 5),
    )  # all in one wake
    assert problem.aep(poor) < problem.aep(good)
    for start, found in ((good, poor), (poor, good)):
        result = Result(found, problem.aep(found), "budget", 1)
        kept = _not_worse(problem, result, start, by_price=False)
        assert (kept.layout, kept.aep_gwh) == (good, problem.aep(good))


def test_turbines_that_stand_where_they_may_not_are_moved_to_the_nearest_places(tmp_path: Path) -> None:
    outside = {"x": [*X[:4], 1600.0], "y": Y, "repair": True}
    call = {"call": {"function": "tests.runner.test_starts:stay"}}
    record = only(starting(outside, seeds=1, method=call), tmp_path)
    assert record.attributes["start_moved_m"] == pytest.approx(100.0, abs=1e-3)
    assert record.arrays["layout"][0] == pytest.approx([*X[:4], 1500.0], abs=1e-3)
    assert record.attributes["gain_percent"] == pytest.approx(0.0, abs=1e-9)


def test_a_turbine_in_the_centre_of_a_round_exclusion_is_moved_to_its_edge() -> None:
    (farm,) = farms(1)
    hole = {"circle": {"center": [X[1], Y[1]], "radius_m": 50}}
    farm["boundary"] = {"polygon": farm["boundary"], "exclusions": [hole]}
    asked = starting(GIVEN | {"repair": True}, farms=[farm])
    start = Starts(asked).of(asked.cells()[0], 0)
    assert start is not None
    assert start.moved_m == pytest.approx(50.0, abs=1e-3)


def test_what_cannot_be_repaired_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(
        CampaignError,
        match=r"start: farm 'farm a' .* has 4 turbines, but the campaign asks for 5; correct the layout$",
    ):
        run(starting({"x": X[:4], "y": Y[:4], "repair": True}), tmp_path / "out.h5")
    crowded = starting(GIVEN | {"repair": True}, min_spacing="3000 m")
    with pytest.raises(CampaignError, match="cannot be repaired"):
        run(crowded, tmp_path / "out.h5")
    assert list(tmp_path.iterdir()) == []


def test_a_layout_of_several_types_keeps_the_type_of_each_turbine(tmp_path: Path) -> None:
    mix = {"mix": {"small": 2, "table": 3}, "n_turbines": None}
    data = campaign(1, seeds=1).to_data() | mix | {"method": {"gradient": {"max_iterations": 5}}, "run": {}}
    data["start"] = GIVEN | {"type": ["table", "small", "table", "small", "table"]}
    record = only(
        Campaign.from_data({key: value for key, value in data.items() if value is not None}), tmp_path
    )
    assert record.arrays["types"].tolist() == [1, 0, 1, 0, 1]
    assert record.attributes["gain_percent"] >= 0.0


def test_zones_in_turn_and_chosen_numbers_start_from_the_layout(tmp_path: Path) -> None:
    first, second = (farm["boundary"] for farm in farms(2))
    zones = [
        {"name": "a", "boundary": first, "n_turbines": 3},
        {"name": "b", "boundary": second, "n_turbines": 2},
    ]
    place = {"x": [*X[:3], 2200.0, 3300.0], "y": Y}
    farm = {"name": "both", "zones": zones, "search": "in-turn", "rounds": 2}
    asked = starting(place, seeds=1, farms=[farm], method={"gradient": {"max_iterations": 5}})
    data = {key: value for key, value in asked.to_data().items() if key != "n_turbines"}
    record = only(Campaign.from_data(data), tmp_path)
    assert record.attributes["gain_percent"] >= 0.0


@pytest.mark.parametrize(
    ("objective", "name", "of"),
    [
        ("lcoe", "lcoe_start", "lcoe_eur_per_mwh"),
        ({"of": "npv", "price": 60.0}, "npv_start", "npv_eur"),
    ],
)
def test_the_cost_of_the_start_stands_beside_that_of_the_result(
    objective: Any, name: str, of: str, tmp_path: Path
) -> None:
    costs = {"discount": 0.06, "years": 25, "turbine": {"capex": 2.0e6, "opex": 5.0e4}, "fixed": 1.0e6}
    asked = starting(
        GIVEN, seeds=1, costs=costs, objective=objective, method={"gradient": {"max_iterations": 20}}
    )
    said = only(asked, tmp_path).attributes
    sign = -1.0 if name == "lcoe_start" else 1.0
    gain = 100.0 * sign * (said[of] - said[name]) / abs(said[name])
    assert said["gain_percent"] == pytest.approx(gain, rel=1e-9)
    assert gain > 0.0


def test_validate_computes_the_energy_of_the_start_again(tmp_path: Path) -> None:
    asked = starting(GIVEN, seeds=1, method={"gradient": {"max_iterations": 3}})
    record = only(asked, tmp_path)
    wrong = record.attributes | {"aep_start": record.attributes["aep_start"] * 1.01}
    (said,) = Starts(asked).check(replace(record, attributes=wrong))
    assert said.startswith("aep_start is ")


def test_query_report_and_picture_say_the_gain(tmp_path: Path) -> None:
    asked = starting(GIVEN, seeds=2, method={"gradient": {"max_iterations": 20}})
    database = compute(asked, tmp_path / "out.h5")
    queried = vindeby(tmp_path, "query", "out.h5", "aep > 0")
    assert queried.stdout.splitlines()[0].split()[-1] == "gain_percent"
    result_set = ResultSet(database)
    drawn = Drawn(result_set, "farm0_t0_s0")
    assert drawn.start is not None
    assert drawn.start.tolist() == [X, Y]
    assert "gain over start" in dict(drawn.facts)
    axes = layout(result_set, "farm0_t0_s0")
    arrows = [one for one in axes.texts if getattr(one, "arrow_patch", None) is not None]
    assert len(arrows) == len(X)
    text, gain = best_table(result_set), result_set.record(result_set.best_key()).attributes["gain_percent"]
    assert "gain of best over its start, %" in text
    assert f"{gain:,.6g}" in text
