"""What results of a campaign with costs say about them: against formulas that share no code with ``economy``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from tests.campaign.costed import COSTED
from tests.campaign.examples import SMALL
from vindeby.assembly.physics import CampaignCheck
from vindeby.assembly.value import AREA, VALUES, values_of
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.store.format.record import Record

X, Y = np.array([500.0, 2000.0, 3500.0, 500.0, 2000.0, 3500.0]), np.repeat([400.0, 2500.0], 3)
PRICED = COSTED.replace("objective: lcoe", "objective: {of: npv, price: 80}")


def _cell(campaign: Campaign) -> Cell:
    return campaign.cells()[0]


def _record(campaign: Campaign, aep_gwh: float = 100.0, **changed: float) -> Record:
    cell = _cell(campaign)
    arrays = {"layout": np.stack([X, Y]), "aep": np.array(aep_gwh)}
    attributes = {"diameter": 126.0, "n_turbines": 6, **values_of(campaign, cell, arrays), **changed}
    return Record("farm0_t0_s0", cell.fingerprint(0), arrays, attributes)


def _by_hand(aep_gwh: float) -> dict[str, float]:
    """Cash flows, year by year, and SciPy's interpolation: no annuity factor and no grid of ours."""
    depth = RegularGridInterpolator(([-500.0, 10000.0], [-9500.0, 9000.0]), [[20.0, 25.0], [30.0, 40.0]])
    mass = np.interp(depth(np.stack([X, Y], axis=1)), [10.0, 60.0], [5e5, 2e6])
    foundations = float((mass * 3.36 + 1e6).sum())
    capex, opex = 6 * 8.9e7 + foundations + 1.2e9, 6 * 2e6
    worth_now = [(1.0 + 0.0661) ** -year for year in range(1, 26)]
    cost = capex + sum(opex * factor for factor in worth_now)
    energy_mwh = sum(1000.0 * aep_gwh * factor for factor in worth_now)
    return {
        "turbines_eur": 6 * 8.9e7,
        "foundations_eur": foundations,
        "cables_eur": 0.0,
        "fixed_eur": 1.2e9,
        "capex_eur": capex,
        "opex_eur_per_year": opex,
        "lcoe_eur_per_mwh": cost / energy_mwh,
        "npv_eur": 80.0 * energy_mwh - cost,
    }


def test_cost_lcoe_and_npv_are_those_of_cash_flows_year_by_year() -> None:
    said = _record(Campaign.loads(PRICED)).attributes
    for name, value in _by_hand(100.0).items():
        assert said[name] == pytest.approx(value, rel=1e-12, abs=1e-3 * (value == 0.0)), name
    assert said["objective"] == said["npv_eur"]
    by_lcoe = _record(Campaign.loads(COSTED)).attributes
    assert by_lcoe["objective"] == said["lcoe_eur_per_mwh"]
    assert "npv_eur" not in by_lcoe


def test_a_campaign_with_costs_and_without_an_objective_says_its_costs_only() -> None:
    said = _record(Campaign.loads(COSTED.replace("objective: lcoe\n", ""))).attributes
    assert said["lcoe_eur_per_mwh"] == pytest.approx(_by_hand(100.0)["lcoe_eur_per_mwh"], rel=1e-12)
    assert "objective" not in said


@pytest.mark.parametrize("name", [name for name in VALUES if name != "cables_eur"])
def test_a_changed_figure_is_found_and_a_lost_one_too(name: str) -> None:
    by_area = COSTED.replace("objective: lcoe\n", "objective: [aep, area]\n")
    campaign = Campaign.loads(by_area if name == AREA else PRICED)
    record, check = _record(campaign), CampaignCheck(campaign)
    assert [what for what in check(record) if name in what] == []
    value = record.attributes[name]
    assert isinstance(value, float)
    wrong = replace(record, attributes={**record.attributes, name: value * (1.0 + 1e-6)})
    assert [what for what in check(wrong) if f"{name} is" in what]
    lost = {key: one for key, one in record.attributes.items() if key != name}
    assert f"does not say {name}" in list(check(replace(record, attributes=lost)))


def test_a_lost_area_is_found_without_costs_and_that_of_a_row_may_be_rounded() -> None:
    campaign = Campaign.loads(SMALL + "objective: [aep, area]\n")
    record, check = _record(campaign), CampaignCheck(campaign)
    lost = {key: one for key, one in record.attributes.items() if key != AREA}
    assert f"does not say {AREA}" in list(check(replace(record, attributes=lost)))
    row = np.stack([X[0] + 600.0 * np.arange(len(X)), np.full(len(X), Y[0])])
    for area, wrong in ((1e-16, False), (1e-9, True)):
        other = replace(
            record, arrays={**record.arrays, "layout": row}, attributes={**record.attributes, AREA: area}
        )
        assert any(f"{AREA} is" in what for what in check(other)) == wrong


def test_a_turbine_in_water_that_is_too_deep_is_found() -> None:
    campaign = Campaign.loads(COSTED.replace("least: 10, most: 60", "least: 10, most: 28"))
    depth = RegularGridInterpolator(([-500.0, 10000.0], [-9500.0, 9000.0]), [[20.0, 25.0], [30.0, 40.0]])
    depths = depth(np.stack([X, Y], axis=1))
    assert depths.max() > 28.0 > depths.min()
    worst = int(np.argmax(depths))
    found = [what for what in CampaignCheck(campaign)(_record(campaign)) if "water" in what]
    assert found == [f"turbine {worst} stands in water of {depths[worst]:.6g} m, but 10 to 28 m are allowed"]


def test_masses_and_costs_by_table_polynomial_and_constant_agree_where_they_are_the_same() -> None:
    curve = "    mass: [[10, 5.0e+5], [60, 2.0e+6]]\n    price_per_kg: 3.36\n"
    slope, constant = 3.36 * 1.5e6 / 50.0, 3.36 * (5e5 - 10.0 * 1.5e6 / 50.0)
    for other in (
        f"    cost: [[10, {3.36 * 5e5!r}], [60, {3.36 * 2e6!r}]]\n",
        f"    cost: {{polynomial: [{constant!r}, {slope!r}]}}\n",
    ):
        same = _record(Campaign.loads(COSTED.replace(curve, other))).attributes
        expected = _by_hand(100.0)["foundations_eur"]
        assert same["foundations_eur"] == pytest.approx(expected, rel=1e-12), other
    flat = _record(Campaign.loads(COSTED.replace(curve, "    cost: {polynomial: [2.5e+6]}\n"))).attributes
    assert flat["foundations_eur"] == 6 * 3.5e6
