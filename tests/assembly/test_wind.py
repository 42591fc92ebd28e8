from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import changed, small
from vindeby import wake
from vindeby.assembly.wind import site_of, turbine_of, wake_model_of, wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.sections.wake_model import WakeSection

EXAMPLE_16 = np.array(
    [
        [0, 650, 200.861, -525.861, -525.861, 200.861, 1300, 1051.7221, 401.7221, -401.7221, -1051.7221, -1300,
         -1051.7221, -401.7221, 401.7221, 1051.7221],
        [0, 0, 618.1867, 382.0604, -382.0604, -618.1867, 0, 764.1208, 1236.3735, 1236.3735, 764.1208, 0,
         -764.1208, -1236.3735, -1236.3735, -764.1208],
    ]
)  # fmt: skip
"""The example layout of IEA Task 37 case study 1 with 16 turbines; its published AEP is 366941.57116 MWh."""


def test_a_preset_gives_the_published_energy_of_the_case_study() -> None:
    farm = wind_farm(Campaign.load("iea37-cs1-16"), 0)
    assert 1e3 * farm.aep(*EXAMPLE_16) == pytest.approx(366941.57116, abs=5e-5)


def test_the_campaign_knows_the_wake_models_there_are() -> None:
    names = {
        info.alias or name
        for name, info in WakeSection.model_fields.items()
        if name not in {"blockage", "pywake", "floris", "python"}
    }
    assert names == set(wake.MODELS)


@pytest.mark.parametrize("name", sorted(wake.MODELS))
def test_a_wake_model_by_its_bare_name_has_the_constants_of_the_engine(name: str) -> None:
    built = wake_model_of(WakeSection.model_validate(name))
    assert (built.name, built.constants) == (name, wake.model_named(name).constants)


@pytest.mark.parametrize(
    "given",
    [
        {"nygaard-2022": {"a": 0.06}},
        {"bastankhah-2014": {"k": 0.05}},
        {"niayifar-2016": {"a0": 0.5}},
        {"niayifar-2016": {"a1": 0.01}},
        {"iea37": {"k": 0.05}},
        {"jensen": {"k": 0.05}},
    ],
)
@pytest.mark.slow
def test_every_parameter_of_a_wake_model_reaches_the_engine(given: dict[str, Any]) -> None:
    plain = Campaign.from_data(changed("wake", next(iter(given))))
    other = Campaign.from_data(changed("wake", given))
    x, y = np.array([0.0, 700.0, 1400.0]), np.array([0.0, 30.0, 0.0])
    assert wind_farm(plain, 0).aep(x, y) != pytest.approx(wind_farm(other, 0).aep(x, y), rel=1e-6)


def test_the_wind_of_a_campaign_has_its_bins_and_frequencies() -> None:
    data = changed("site.weibull.direction_step", 5)
    data["site"]["weibull"]["wind_speeds"] = [4, 8, 12]
    assert site_of(Campaign.from_data(data)).states().shape == (360, 23)
    states = site_of(Campaign.from_data(data), searched=True).states()
    assert states.shape == (72, 3)
    assert states.direction.tolist() == [5.0 * index for index in range(72)]
    from_west = states.probability.reshape(72, 3)[54].sum()
    assert from_west == pytest.approx(
        0.3 * 4 / 360 * 5 * (_weibull_cdf(14, 11, 2.3) - _weibull_cdf(2, 11, 2.3))
    )


def _weibull_cdf(speed: float, a: float, k: float) -> float:
    return float(1 - np.exp(-((speed / a) ** k)))


def test_a_table_of_probabilities_is_taken_as_it_is() -> None:
    table = {"turbulence_intensity": 0.05, "wind_directions": [0, 180], "wind_speeds": [8, 9]}
    campaign = Campaign.from_data(
        changed("site", {"table": {**table, "probability": [[0.1, 0.2], [0.3, 0.4]]}})
    )
    states = site_of(campaign).states()
    assert states.probability.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert set(states.turbulence.tolist()) == {0.05}


def test_turbines_have_the_curves_that_were_described() -> None:
    cubic = {"rated_power_mw": 3.35, "rotor_diameter_m": 130, "hub_height_m": 110, "rated_speed": 9.8}
    data = small()
    data["turbines"].append({"name": "case-study", "cubic": cubic})
    generic, table, case_study = (turbine_of(turbine) for turbine in Campaign.from_data(data).turbines)
    assert (generic.rotor_diameter_m, generic.hub_height_m) == (126, 90)
    assert generic.power_at(20.0) == pytest.approx(5e6, rel=1e-3)
    assert table.power_at([3.5, 8.0, 30.0]).tolist() == pytest.approx([35e3, 700e3, 2000e3])
    assert table.thrust_coefficient_at(10.0) == pytest.approx(0.6)
    reference = wake.iea37_335mw()
    speeds = np.linspace(0, 30, 301)
    assert np.array_equal(case_study.power_at(speeds), reference.power_at(speeds))
    assert np.array_equal(case_study.thrust_coefficient_at(speeds), reference.thrust_coefficient_at(speeds))
