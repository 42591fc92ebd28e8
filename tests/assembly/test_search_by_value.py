"""Searches of a campaign by LCOE and net present value, within depth limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from vindeby.assembly.physics import CampaignCheck
from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.assembly.value import values_of
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError, TaskError
from vindeby.store.format.record import Record

STEEP = """\
name: steep
farms:
  - name: bank
    zones:
      - {name: west, boundary: [[0, 0], [3000, 0], [3000, 5000], [0, 5000]], n_turbines: 3}
      - {name: east, boundary: [[3000, 0], [6000, 0], [6000, 5000], [3000, 5000]], n_turbines: 3}
turbines:
  - name: five
    generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}
min_spacing: 3 D
costs:
  discount: 0.05
  years: 25
  turbine: {capex: 5.0e+6, opex: 2.0e+5}
  foundation:
    depth: {x: [0, 3000, 6000], y: [0, 5000], values: [[10, 40], [15, 60], [20, 80]], least: 12, most: 70}
    cost: {polynomial: [1.0e+6, 1.0e+5, 2.0e+3]}
objective: lcoe
site:
  weibull:
    turbulence_intensity: 0.06
    sectors:
      - {direction: 0, a: 9, k: 2, frequency: 0.2}
      - {direction: 90, a: 9.5, k: 2.1, frequency: 0.2}
      - {direction: 180, a: 10, k: 2.2, frequency: 0.3}
      - {direction: 270, a: 11, k: 2.3, frequency: 0.3}
wake: jensen
method: METHOD
seeds: 8
"""
DEPTH = RegularGridInterpolator(
    ([0.0, 3000.0, 6000.0], [0.0, 5000.0]),
    [[10.0, 40.0], [15.0, 60.0], [20.0, 80.0]],
    bounds_error=False,
    fill_value=None,  # the farm ends with the grid, and a turbine on its edge may be outside by rounding
)
METHODS = {
    "gradient": "[random-start, {gradient: {max_iterations: 60}}]",
    "annealing": "[smart-start, {annealing: {max_evaluations: 1500}}]",
}


def found(text: str, seed: int = 0) -> tuple[Campaign, Record]:
    """The record of one task."""
    campaign = Campaign.loads(text)
    cell = campaign.cells()[0]
    search = method_of(campaign, cell, pipeline_of(campaign)).prepare(problem_of(campaign, cell))
    result = search(seed, None)
    arrays = {"layout": np.stack([result.x, result.y]), "aep": np.array(result.aep_gwh)}
    attributes = {"n_turbines": 6, "diameter": 126.0, **values_of(campaign, cell, arrays)}
    return campaign, Record(f"farm0_t0_s{seed}", cell.fingerprint(seed), arrays, attributes)


@pytest.mark.slow
def test_a_search_without_room_and_a_zone_without_any_mention_the_depth_limits() -> None:
    crowded = STEEP.replace("METHOD", "random-start").replace("3 D", "40 D")
    with pytest.raises(TaskError, match=r"farm bank \(within its depth limits\): random-start found no room"):
        found(crowded)
    with pytest.raises(
        CampaignError, match=r"zone 'east' is 15 m deep at .* and 80 m elsewhere, outside the limits"
    ):
        Campaign.loads(crowded.replace("least: 12, most: 70", "least: 5, most: 14.5"))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_each_objective_is_best_by_itself_and_all_keep_the_depth_limits(method: str) -> None:
    text = STEEP.replace("METHOD", METHODS[method])
    values = {}
    for objective in ("lcoe", "{of: npv, price: 60}", "aep"):
        campaign, record = found(text.replace("objective: lcoe", f"objective: {objective}"))
        assert list(CampaignCheck(campaign, deep=True)(record)) == []
        depths = DEPTH(record.arrays["layout"].T)
        assert depths.min() >= 12.0
        assert depths.max() <= 70.0
        cost = 6 * 5e6 + float((1e6 + 1e5 * depths + 2e3 * depths**2).sum())
        now = sum(1.05**-year for year in range(1, 26))
        mwh = 1000.0 * float(record.arrays["aep"])
        lcoe, npv = (cost / now + 1.2e6) / mwh, (60.0 * mwh - 1.2e6) * now - cost
        assert record.attributes["lcoe_eur_per_mwh"] == pytest.approx(lcoe, rel=1e-12)
        values[objective] = {"lcoe": lcoe, "npv": npv, "aep": mwh}
    assert values["lcoe"]["lcoe"] == min(one["lcoe"] for one in values.values())
    assert values["{of: npv, price: 60}"]["npv"] == max(one["npv"] for one in values.values())
    assert values["aep"]["aep"] == max(one["aep"] for one in values.values())
    assert values["lcoe"]["lcoe"] < 0.97 * values["aep"]["lcoe"]


@pytest.mark.slow
def test_a_result_in_water_that_is_too_deep_is_not_one() -> None:
    campaign, record = found(STEEP.replace("METHOD", "random-start"))
    assert list(CampaignCheck(campaign)(record)) == []
    layout = record.arrays["layout"].copy()
    layout[:, -1] = (5900.0, 4900.0)
    moved = replace(record, arrays={**record.arrays, "layout": layout})
    assert [what for what in CampaignCheck(campaign)(moved) if "12 to 70 m are allowed" in what]
