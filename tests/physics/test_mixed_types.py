"""The energy of a farm that mixes turbine types, from a campaign file, is PyWake's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.physics.oracle import (
    FREQUENCY,
    WEIBULL_A,
    WEIBULL_K,
    needs_pywake,
    pywake_generic,
    pywake_model,
    pywake_weibull_site,
    spread_out,
    turbine_aep,
)
from vindeby.assembly.search import problem_of
from vindeby.campaign import Campaign
from vindeby.layout import Layout

pytestmark = pytest.mark.oracle

SECTORS = [
    {"direction": 30 * index, "a": a, "k": k, "frequency": frequency}
    for index, (a, k, frequency) in enumerate(zip(WEIBULL_A, WEIBULL_K, FREQUENCY, strict=True))
]
SIZES = {"five": (5.0, 126.0, 90.0), "unused": (8.0, 160.0, 110.0), "fifteen": (15.0, 240.0, 150.0)}


def _campaign(model: str) -> Campaign:
    sizes = ("rated_power_mw", "rotor_diameter_m", "hub_height_m")
    return Campaign.from_data(
        {
            "name": "mixed",
            "farms": [{"name": "one", "boundary": [[703000, 6224000], [711000, 6224000], [711000, 6232000]]}],
            "turbines": [
                {"name": name, "generic": dict(zip(sizes, size, strict=True))} for name, size in SIZES.items()
            ],
            "mix": {"fifteen": 5, "five": 7},
            "min_spacing": "2 D",
            "site": {
                "weibull": {"turbulence_intensity": 0.1, "sectors": SECTORS, "direction_step": 15},
            },
            "wake": model,
            "method": "random-start",
            "seeds": 1,
        }
    )


@needs_pywake
@pytest.mark.parametrize("model", ["nygaard-2022", "bastankhah-2014"])
def test_the_energy_of_a_mixed_farm_is_that_of_pywake(model: str) -> None:
    from py_wake.wind_turbines import WindTurbines

    campaign = _campaign(model)
    problem = problem_of(campaign, campaign.cells()[0])
    assert len(problem.farm.turbines) == 2, "a type that does not stand in the farm costs nothing"
    x, y = spread_out(5, 12, 480.0, 8000.0)
    types = np.array([0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    turbines = WindTurbines.from_WindTurbine_lst(
        [pywake_generic(*SIZES["five"]), pywake_generic(*SIZES["fifteen"])]
    )
    oracle = pywake_model(model, pywake_weibull_site(), turbines)
    expected = turbine_aep(oracle, x, y, type=types, wd=np.arange(0.0, 360.0, 15.0), ws=np.arange(3.0, 26.0))
    np.testing.assert_allclose(problem.farm.turbine_aep(x, y, types), expected, rtol=1e-6)
    assert problem.aep(Layout.of(x, y, types)) == pytest.approx(expected.sum(), rel=1e-6)
