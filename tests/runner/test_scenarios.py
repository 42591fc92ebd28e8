"""Searches over scenarios: what a result carries, that it can be computed again, and that it is the best known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import small
from tests.runner.campaigns import results
from vindeby.assembly.physics import CampaignCheck
from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.runner import run
from vindeby.store.format.record import Record

pytestmark = pytest.mark.slow

NEAR = {"type": "five", "positions": [[5200.0, 400.0 * row] for row in range(9)]}
SCENARIOS = {"alone": {}, "near": {"neighbours": NEAR, "weight": 0.5}}
STEPS = [{"smart-start": {"grid_size": 8}}, {"random-search": {"max_evaluations": 60}}]


def campaign(over: str, method: Any = None, **more: Any) -> Campaign:
    data = small() | {"scenarios": SCENARIOS, "seeds": 2, "wake": "jensen", "method": method or STEPS}
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    data["site"]["weibull"] |= {"direction_step": 30.0, "wind_speeds": [6.0, 9.0, 12.0]}
    return Campaign.from_data(data | {"objective": {"of": "aep", "over": over}} | more)


def test_a_result_has_its_value_in_each_scenario_and_validate_computes_it_again(tmp_path: Path) -> None:
    asked = campaign("worst")
    assert run(asked, tmp_path / "out.h5", workers=1).complete
    deep = CampaignCheck(asked, deep=True)
    for record in results(tmp_path / "out.h5").values():
        gwh = record.arrays["scenario_aep_gwh"]
        assert float(record.arrays["aep"]) == pytest.approx((gwh[0] + 0.5 * gwh[1]) / 1.5, rel=1e-12)
        assert record.attributes["objective"] == gwh.min()
        layout = record.arrays["layout"]
        for number, world in enumerate(asked.worlds):
            assert world.campaign.wind_farm().aep(*layout) == pytest.approx(gwh[number], rel=1e-12)
        assert list(deep(record)) == []
        wrong = " ".join(deep(_with(record, "scenario_aep_gwh", gwh * [1.0, 1.001])))
        assert "scenario_aep_gwh in 'near': aep is" in wrong
        assert "GWh, but the layout gives" in wrong
        assert "scenario_aep_gwh in 'alone'" not in wrong
        assert "does not hold an energy for each of 2" in " ".join(
            deep(_with(record, "scenario_aep_gwh", gwh[:1]))
        )
        silent = {name: value for name, value in record.attributes.items() if name != "objective"}
        assert list(deep(replace(record, attributes=silent))) == ["does not say objective"]


def _with(record: Record, name: str, array: np.ndarray) -> Record:
    return replace(record, arrays={**record.arrays, name: array})


@pytest.mark.parametrize("over", ["mean", "worst"])
@pytest.mark.parametrize(
    "last", [{"gradient": {"max_iterations": 40}}, {"annealing": {"max_evaluations": 300}}]
)
def test_a_search_by_a_value_over_scenarios_is_not_beaten_by_its_own_start(over: str, last: Any) -> None:
    asked = campaign(over, [STEPS[0], last])
    (cell,) = asked.cells()
    problem = problem_of(asked, cell)
    found = method_of(asked, cell, pipeline_of(asked)).run(problem, 1)
    again = method_of(asked, cell, pipeline_of(asked)).run(problem_of(asked, cell), 1)
    np.testing.assert_array_equal(found.x, again.x)
    start = pipeline_of(campaign(over, STEPS[:1])).run(problem, 1)
    assert problem.aep(start.layout) < problem.aep(found.layout) == pytest.approx(found.aep_gwh, rel=1e-12)


def test_a_smart_start_in_equal_scenarios_is_that_of_one() -> None:
    alike = {"a": {"neighbours": NEAR}, "b": {"neighbours": NEAR}}
    two, one = (
        campaign("worst", STEPS[:1], scenarios=alike),
        campaign("worst", STEPS[:1], scenarios={"a": alike["a"]}),
    )
    plain = Campaign.from_data({**one.to_data(), "scenarios": None, "objective": None, "neighbours": NEAR})
    layouts = [pipeline_of(each).run(problem_of(each, each.cells()[0]), 3) for each in (two, one, plain)]
    for found in layouts[:2]:
        np.testing.assert_array_equal([found.x, found.y], [layouts[2].x, layouts[2].y])
