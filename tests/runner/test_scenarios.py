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
from vindeby.assembly.stored_layouts import keys_by_worth
from vindeby.assembly.stored_turbines import worth_of
from vindeby.campaign import Campaign
from vindeby.campaign.worlds import worlds
from vindeby.results.result_set import ResultSet
from vindeby.runner import run
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database
from vindeby.wake import ScenarioFarm

pytestmark = pytest.mark.slow

NEAR = {"type": "five", "positions": [[5200.0, 400.0 * row] for row in range(9)]}
SCENARIOS = [{"name": "alone"}, {"name": "near", "neighbours": NEAR, "weight": 0.5}]
STEPS = [{"smart-start": {"grid_size": 8}}, {"random-search": {"max_evaluations": 60}}]


def campaign(over: str, method: Any = None, **more: Any) -> Campaign:
    data = small() | {"scenarios": SCENARIOS, "seeds": 2, "wake": "jensen", "method": method or STEPS}
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    data["site"]["weibull"] |= {"direction_step": 30.0, "wind_speeds": [6.0, 9.0, 12.0]}
    return Campaign.from_data(data | {"objective": {"of": "aep", "over": over}} | more)


def test_a_result_has_its_value_in_each_scenario_and_validate_computes_it_again(tmp_path: Path) -> None:
    asked = campaign("regret")
    assert run(asked, tmp_path / "out.h5", workers=1).complete
    deep = CampaignCheck(asked, deep=True)
    for record in results(tmp_path / "out.h5").values():
        gwh, best = record.arrays["scenario_aep_gwh"], record.arrays["scenario_best_gwh"]
        assert float(record.arrays["aep"]) == pytest.approx((gwh[0] + 0.5 * gwh[1]) / 1.5, rel=1e-12)
        assert record.attributes["objective"] == pytest.approx(-float((best - gwh).max()), rel=1e-12)
        layout = record.arrays["layout"]
        for number, world in enumerate(worlds(asked)):
            farm = world.campaign.wind_farm()
            assert farm.aep(*layout) == pytest.approx(gwh[number], rel=1e-12)
            assert farm.aep(*record.arrays["scenario_best_layout"][number]) == pytest.approx(best[number])
        assert list(deep(record)) == []
        for name in ("scenario_aep_gwh", "scenario_best_gwh"):
            wrong = " ".join(deep(_with(record, name, record.arrays[name] * [1.0, 1.001])))
            assert f"{name} in 'near': aep is" in wrong
            assert "GWh, but the layout gives" in wrong
            assert f"{name} in 'alone'" not in wrong
        assert "does not hold an energy, with its layout, for each of 2" in " ".join(
            deep(_with(record, "scenario_aep_gwh", gwh[:1]))
        )
        silent = {name: value for name, value in record.attributes.items() if name != "objective"}
        assert list(deep(replace(record, attributes=silent))) == ["does not say objective"]


def test_layouts_that_a_regret_is_measured_by_must_be_possible(tmp_path: Path) -> None:
    asked = campaign("regret", STEPS[:1], seeds=1)
    assert run(asked, tmp_path / "out.h5", workers=1).complete
    (record,) = results(tmp_path / "out.h5").values()
    check, best = CampaignCheck(asked), record.arrays["scenario_best_layout"]
    assert list(check(record)) == []
    for array in (best[:1], best[:, :, 1:], best[0]):
        wrong = " ".join(check(_with(record, "scenario_best_layout", array)))
        assert "scenario_best_gwh does not hold an energy, with its layout, for each" in wrong
    without = {name: array for name, array in record.arrays.items() if name != "scenario_best_layout"}
    assert "scenario_best_gwh does" in " ".join(check(replace(record, arrays=without)))
    wrong = " ".join(check(_with(record, "scenario_best_layout", best * [[[np.nan]], [[1.0]]])))
    assert "scenario_best_gwh in 'alone': layout holds" in wrong
    for shift, words in ([[0.0], [1e6]], "outside the boundary"), ([[1e6], [0.0]], "outside the boundary"):
        far = np.array([best[0], best[1] + shift])
        wrong = " ".join(check(_with(record, "scenario_best_layout", far)))
        assert f"scenario_best_gwh in 'near': {len(best[0, 0])} turbines stand {words}" in wrong
        assert "'alone'" not in wrong
    silent = {name: value for name, value in record.attributes.items() if name != "objective"}
    assert "does not say objective" in list(check(replace(record, attributes=silent)))


def test_a_layout_for_a_scenario_need_not_keep_clear_of_the_neighbours_of_another(tmp_path: Path) -> None:
    asked = campaign("regret", STEPS[:1], seeds=1)
    assert run(asked, tmp_path / "out.h5", workers=1).complete
    (record,) = results(tmp_path / "out.h5").values()
    at = record.arrays["scenario_best_layout"][0, :, 0]
    near = {"type": "five", "positions": [(at + 100.0).tolist()]}
    said = []
    for scenarios in ([{"name": "alone"}, {"neighbours": near}], [{"neighbours": near}, {"name": "alone"}]):
        check = CampaignCheck(campaign("regret", STEPS[:1], seeds=1, scenarios=scenarios))
        both = np.stack([record.arrays["scenario_best_layout"][0]] * 2)
        wrong = check(_with(record, "scenario_best_layout", both))
        said.append([one for one in wrong if one.startswith("scenario_best_gwh")])
    assert [len(one) for one in said] == [1, 1]
    assert "in 'scenario 2': turbine" in said[0][0]
    assert "in 'scenario 1': turbine" in said[1][0]


def test_regrets_of_all_seeds_are_against_the_same_layouts_and_compared_by_them(tmp_path: Path) -> None:
    asked, path = campaign("regret"), tmp_path / "out.h5"
    assert run(asked, path, workers=1).complete
    one, other = results(path).values()
    np.testing.assert_array_equal(one.arrays["scenario_best_layout"], other.arrays["scenario_best_layout"])
    found = ResultSet(path)
    assert sorted(found.worths()) == sorted([one.attributes["objective"], other.attributes["objective"]])
    with Database(path) as database:
        (keys,) = keys_by_worth(database, asked).values()
    best = max((one, other), key=lambda record: record.attributes["objective"])
    for key in (keys[0], found.key_of(found.best()[0, 0, 0])):
        assert results(path)[key].attributes["objective"] == best.attributes["objective"]
    silent = {name: value for name, value in best.attributes.items() if name != "objective"}
    assert worth_of(replace(best, attributes=silent), asked.objective) is None, "an energy is not a regret"


def _with(record: Record, name: str, array: np.ndarray) -> Record:
    return replace(record, arrays={**record.arrays, name: array})


@pytest.mark.parametrize("over", ["mean", "worst", "regret"])
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
    farm = problem.farm
    if over == "regret":
        assert isinstance(farm, ScenarioFarm)
        best = zip(farm.parts, found.arrays["scenario_best_layout"], strict=True)
        problem = replace(problem, farm=farm.with_best([part.aep(*layout) for part, layout in best]))
        for layout in found.arrays["scenario_best_layout"]:
            assert problem.farm.aep(*layout) <= found.aep_gwh + 1e-9
    assert problem.aep(start.layout) < problem.aep(found.layout) == pytest.approx(found.aep_gwh, rel=1e-12)


def test_a_smart_start_in_equal_scenarios_is_that_of_one() -> None:
    alike = [{"name": "a", "neighbours": NEAR}, {"name": "b", "neighbours": NEAR}]
    two, one = (
        campaign("worst", STEPS[:1], scenarios=alike),
        campaign("worst", STEPS[:1], scenarios=alike[:1]),
    )
    plain = Campaign.from_data({**one.to_data(), "scenarios": None, "objective": None, "neighbours": NEAR})
    layouts = [pipeline_of(each).run(problem_of(each, each.cells()[0]), 3) for each in (two, one, plain)]
    for found in layouts[:2]:
        np.testing.assert_array_equal([found.x, found.y], [layouts[2].x, layouts[2].y])


DEPTH = {
    "x": [-1e5, 0.0, 2000.0, 1e5],
    "y": [-1e5, 1e5],
    "values": [[20.0, 20.0], [20.0, 20.0], [50.0, 50.0], [50.0, 50.0]],
}
COSTS = {
    "discount": 0.07,
    "years": 25,
    "turbine": {"capex": 9e6, "opex": 2e5},
    "foundation": {"depth": DEPTH, "cost": {"polynomial": [1e6, 4e4]}},
    "fixed": 2e7,
}


def yearly_eur(layout: np.ndarray) -> float:
    """What ``COSTS`` make of a layout, by a formula of its own: every depth is that of a ramp of 2 km."""
    depth = 20.0 + 30.0 * np.clip(layout[0] / 2000.0, 0.0, 1.0)
    capex = 2e7 + float((9e6 + 1e6 + 4e4 * depth).sum())
    return capex * 0.07 / (1.0 - 1.07**-25) + 2e5 * len(layout[0])


@pytest.mark.parametrize("of", ["lcoe", "npv"])
def test_the_regret_of_costs_is_against_the_best_of_each_scenario_alone(of: str, tmp_path: Path) -> None:
    objective = {"of": of, "over": "regret"} | ({"price": 60.0} if of == "npv" else {})
    method = [STEPS[0], {"annealing": {"max_evaluations": 2000}}, {"gradient": {"max_iterations": 40}}]
    west = {"type": "five", "positions": [[-1200.0, 400.0 * row] for row in range(9)]}
    beside = [{"name": "west", "neighbours": west}, {"name": "near", "neighbours": NEAR}]
    site = small()["site"]
    site["weibull"] |= {  # searched in the wind that is stated
        "direction_step": 1.0,
        "wind_speeds": [float(speed) for speed in range(7, 14)],
        "turbulence_intensity": {"wind_speeds": [7, 13], "values": [0.1, 0.1]},
    }
    asked = campaign("regret", method, costs=COSTS, objective=objective, scenarios=beside, site=site)
    assert run(asked, tmp_path / "out.h5", workers=1).complete
    farms = [world.campaign.wind_farm() for world in worlds(asked)]

    def regret(layout: np.ndarray, best: np.ndarray) -> float:
        gwh, cost = np.array([farm.aep(*layout) for farm in farms]), yearly_eur(layout)
        if of == "lcoe":
            return float((cost / (1000.0 * gwh) - best).max())
        return float((best - (60.0 * 1000.0 * gwh - cost) * (1.0 - 1.07**-25) / 0.07).max())

    for record in results(tmp_path / "out.h5").values():
        best, layouts = (record.arrays[f"scenario_best_{name}"] for name in ("objective", "layout"))
        alone = [regret(layout, best) for layout in layouts]
        found = regret(record.arrays["layout"], best)
        sign = 1.0 if of == "lcoe" else -1.0
        assert record.attributes["objective"] == pytest.approx(
            sign * found, rel=1e-6, abs=1e-12 * abs(best).max()
        )
        assert 0.0 < found < min(alone)
        check = CampaignCheck(asked, deep=True)
        assert list(check(record)) == []
        wrong = " ".join(check(_with(record, "scenario_best_objective", best * [1.0, 1.001])))
        assert "scenario_best_gwh in 'near': objective is" in wrong
        assert "but its energy and turbines make" in wrong
        bare = {name: array for name, array in record.arrays.items() if name != "scenario_best_objective"}
        assert "objective is" in " ".join(check(replace(record, arrays=bare)))
