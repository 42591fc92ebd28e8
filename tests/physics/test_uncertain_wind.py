"""Scenarios and changed wind against other tools: PyWake's energies in each scenario, FLORIS' uncertain directions."""

from __future__ import annotations

import numpy as np
import pytest
from floris import UncertainFlorisModel

from tests.campaign.examples import small
from tests.interop.engine_campaigns import X, Y, campaign
from tests.interop.test_floris_engine import PROBABILITY, SITE, TABLE, engine, floris
from tests.physics.oracle import (
    FREQUENCY,
    WEIBULL_A,
    WEIBULL_K,
    pywake_generic,
    pywake_model,
    pywake_weibull_site,
    turbine_aep,
)
from vindeby.assembly.wind import wind_farm, wind_of
from vindeby.campaign import Campaign
from vindeby.campaign.sections.site import SiteSection
from vindeby.wake import ChangedSite, ScenarioFarm, TableSite, TimeSeriesSite, Turbine, WindFarm

pytestmark = pytest.mark.oracle


def test_the_energy_in_each_scenario_is_that_of_pywake() -> None:
    rows = zip(FREQUENCY, WEIBULL_A, WEIBULL_K, strict=True)
    sectors = [
        {"direction": 30.0 * number, "a": a, "k": k, "frequency": share}
        for number, (share, a, k) in enumerate(rows)
    ]
    weibull = {"turbulence_intensity": 0.1, "sectors": sectors, "normalise": True}
    beside_x, beside_y = (
        axis.ravel() for axis in np.meshgrid([5500.0, 6400.0, 7300.0], [0.0, 1200.0, 2400.0])
    )
    near = {"type": "five", "positions": np.stack([beside_x, beside_y], axis=1).tolist()}
    scenarios = {
        "alone": {},
        "nine neighbours": {"neighbours": near, "weight": 0.5},
        "other wakes": {"wake": "jensen"},
    }
    asked = Campaign.from_data(small() | {"site": {"weibull": weibull}, "scenarios": scenarios})
    farm = wind_farm(asked, 0, 0)
    assert isinstance(farm, ScenarioFarm)
    x, y = np.array([200.0, 1800.0, 3900.0, 900.0, 3000.0]), np.array([100.0, 700.0, 300.0, 2600.0, 2100.0])
    site, turbine = pywake_weibull_site(), pywake_generic(5.0, 126.0, 90.0)
    all_x, all_y = np.append(x, beside_x), np.append(y, beside_y)
    park = pywake_model("nygaard-2022", site, turbine)
    theirs = [
        turbine_aep(park, x, y).sum(),
        turbine_aep(park, all_x, all_y)[:5].sum(),
        turbine_aep(pywake_model("jensen", site, turbine), x, y).sum(),
    ]
    scale = 1.0 / sum(FREQUENCY)
    np.testing.assert_allclose(farm.scenario_aep(x, y), np.array(theirs) * scale, rtol=1e-5)
    assert farm.aep(x, y) == pytest.approx(float(np.dot(theirs, [1, 0.5, 1])) / 2.5 * scale, rel=1e-5)


@pytest.mark.parametrize("std_deg", [3.0, 2.0])
def test_uncertain_directions_are_those_of_floris(std_deg: float) -> None:
    given = campaign(engine(), site={"table": TABLE, "direction_std_deg": std_deg}, method=SITE["method"])
    uncertain = UncertainFlorisModel(floris([126.0]), wd_std=std_deg)
    uncertain.run()
    powers = np.asarray(uncertain.get_turbine_powers()).reshape(4, 3, 5)
    expected = float((powers * np.array(PROBABILITY)[:, 1:, None]).sum()) * 8760e-9
    assert wind_farm(given, 0).aep(X, Y) == pytest.approx(expected, rel=1e-9)
    assert abs(wind_farm(campaign(engine(), **SITE), 0).aep(X, Y) / expected - 1.0) > 1e-4


def _types() -> Turbine:
    return Turbine.generic("five", rated_power_mw=5.0, rotor_diameter_m=126.0, hub_height_m=90.0)


@pytest.mark.core
def test_uncertain_directions_are_the_mean_over_turned_roses_in_tables_and_series() -> None:
    table = TableSite(np.arange(1.0, 37.0).reshape(12, 3) / 666.0, [6.0, 9.0, 12.0])
    states = table.states()
    series = TimeSeriesSite(
        states.speed, np.repeat(states.direction, 3), states.turbulence, states.probability, relative=False
    )
    shares = np.exp(-0.5 * np.arange(-2.0, 3.0) ** 2)
    turned = [
        WindFarm(ChangedSite(table, turned_deg=2.5 * step), _types()).aep(X, Y) for step in range(-2, 3)
    ]
    expected = float(shares @ turned / shares.sum())
    for site in (table, series):
        spread = ChangedSite(site, direction_std_deg=2.5).changed()
        assert WindFarm(spread, _types()).aep(X, Y) == pytest.approx(expected, rel=1e-7)
    assert turned[0] != pytest.approx(expected, rel=1e-5)


@pytest.mark.core
def test_a_factor_changes_every_wind_speed() -> None:
    data = small()["site"]
    plain = wind_of(SiteSection.model_validate(data)).states()
    changed = wind_of(SiteSection.model_validate(data | {"wind_speed_factor": 1.1})).states()
    np.testing.assert_allclose(changed.speed, 1.1 * plain.speed)
    np.testing.assert_array_equal(changed.turbulence, plain.turbulence)
    np.testing.assert_array_equal(changed.probability, plain.probability)
