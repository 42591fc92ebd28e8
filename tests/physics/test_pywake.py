"""vindeby's numbers are PyWake's: the same farm, wind and wake model, turbine by turbine."""

from __future__ import annotations

import os
from typing import Any

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
    simulate,
    spread_out,
    turbine_aep,
)
from vindeby.wake import MODELS, Neighbours, TimeSeriesSite, Turbine, UniformSite, WeibullSite, WindFarm
from vindeby.wake.models import jensen

pytestmark = [pytest.mark.oracle, needs_pywake]

FILE_FORMATS = 60 if os.environ.get("VINDEBY_FULL") == "1" else 10
SMALL, LARGE = (10, 195, 121), (15, 240, 150)

# AEP of the farm, and of each turbine. PyWake reads the Gaussian overlap from a table by linear interpolation.
TABLE = {"nygaard-2022": (1e-6, 1e-5), "niayifar-2016": (1e-6, 1e-5)}
EXACT = (1e-10, 1e-10)
OF_FLORIS = {"bastankhah-2016", "cumulative-curl"}  # PyWake has no such models: test_floris.py


def site(turbulence: float = 0.1, interpolation: Any = "linear") -> WeibullSite:
    return WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, turbulence, interpolation)


def turbines() -> list[Turbine]:
    return [Turbine.generic("small", *SMALL), Turbine.generic("large", *LARGE)]


def pywake_turbines() -> Any:
    from py_wake.wind_turbines import WindTurbines

    return WindTurbines.from_WindTurbine_lst([pywake_generic(*SMALL), pywake_generic(*LARGE)])


@pytest.mark.parametrize("tabulate", [True, False], ids=["tabulated", "direct"])
@pytest.mark.parametrize(
    ("count", "spacing", "side", "turbulence", "interpolation", "kinds"),
    [
        (9, 480, 2500, 0.10, "linear", "large"),
        (25, 960, 12000, 0.06, "linear", "large"),
        (16, 600, 9000, 0.12, "nearest", "small"),
        (16, 500, 5000, 0.10, "linear", "both"),
        (30, 1200, 40000, 0.08, "nearest", "both"),
    ],
)
def test_nygaard_2022_agrees_with_pywake(
    count: int, spacing: float, side: float, turbulence: float, interpolation: str, kinds: str, tabulate: bool
) -> None:
    directions = np.arange(0, 360, 15.0)
    kind: Any = {"small": 0, "large": 1, "both": np.arange(count) % 2}[kinds]
    farm = WindFarm(site(turbulence, interpolation), turbines(), directions=directions, tabulate=tabulate)
    assert (farm.loops == "tabulated") == tabulate
    oracle = pywake_model("nygaard-2022", pywake_weibull_site(turbulence, interpolation), pywake_turbines())
    for seed in range(FILE_FORMATS if tabulate else 2):
        x, y = spread_out(seed, count, spacing, side)
        ours, theirs = farm.turbine_aep(x, y, kind), turbine_aep(oracle, x, y, type=kind, wd=directions)
        assert ours.sum() == pytest.approx(theirs.sum(), rel=TABLE["nygaard-2022"][0])
        np.testing.assert_allclose(ours, theirs, rtol=TABLE["nygaard-2022"][1])


@pytest.mark.parametrize("model", sorted(set(MODELS) - {"nygaard-2022"} - OF_FLORIS))
def test_the_other_models_agree_with_pywake(model: str) -> None:
    directions = np.arange(0, 360, 20.0)
    farm = WindFarm(site(), turbines(), model, directions=directions)
    oracle = pywake_model(model, pywake_weibull_site(), pywake_turbines())
    of_farm, of_turbine = TABLE.get(model, EXACT)
    for seed in range(4):
        x, y = spread_out(seed, 20, 800, 7000)
        kind = np.arange(20) % 2 if seed else 1
        ours, theirs = farm.turbine_aep(x, y, kind), turbine_aep(oracle, x, y, type=kind, wd=directions)
        assert theirs.sum() < 0.98 * farm.wake_free_aep(20, kind)  # there are wakes to compare
        assert ours.sum() == pytest.approx(theirs.sum(), rel=of_farm)
        np.testing.assert_allclose(ours, theirs, rtol=of_turbine)


def test_power_and_wind_speed_of_every_state_agree_with_pywake() -> None:
    directions, speeds = np.arange(0, 360, 30.0), np.array([4.0, 8.0, 11.0, 16.0])
    farm = WindFarm(site(), turbines()[1], "iea37", directions=directions, speeds=speeds)
    oracle = pywake_model("iea37", pywake_weibull_site(), pywake_generic(*LARGE))
    x, y = spread_out(5, 12, 700, 4000)
    theirs = simulate(oracle, x, y, wd=directions, ws=speeds)
    np.testing.assert_allclose(farm.power(x, y), theirs.Power.values, rtol=1e-10)
    np.testing.assert_allclose(farm.wind_speed(x, y), theirs.WS_eff.values, rtol=1e-11)


@pytest.mark.parametrize("model", ["nygaard-2022", "niayifar-2016", "jensen"])
@pytest.mark.core
def test_a_time_series_with_its_own_turbulence_agrees_with_pywake(model: str) -> None:
    rng = np.random.default_rng(4)
    speed, direction = rng.uniform(4, 16, 50), rng.choice(np.arange(0, 360, 9.0), 50)
    turbulence = rng.uniform(0.05, 0.15, 50)
    x, y = spread_out(8, 10, 700, 3500)
    farm = WindFarm(TimeSeriesSite(speed, direction, turbulence), turbines()[1], model)
    oracle = pywake_model(model, pywake_weibull_site(), pywake_generic(*LARGE))
    theirs = simulate(oracle, x, y, wd=direction, ws=speed, TI=turbulence, time=True)
    assert farm.power(x, y).shape == (10, 50)
    np.testing.assert_allclose(farm.power(x, y), theirs.Power.values, rtol=3e-5 if model in TABLE else 1e-10)
    assert farm.aep(x, y) == pytest.approx(float(theirs.aep().sum()), rel=1e-6)


@pytest.mark.parametrize("model", ["nygaard-2022", "bastankhah-2014"])
@pytest.mark.core
def test_neighbours_cast_wakes_and_are_not_counted(model: str) -> None:
    directions = np.arange(0, 360, 20.0)
    x, y = spread_out(6, 14, 700, 5000)
    neighbours = Neighbours(x[9:], y[9:], 1)
    farm = WindFarm(site(), turbines(), model, directions=directions, neighbours=neighbours)
    oracle = pywake_model(model, pywake_weibull_site(), pywake_turbines())
    kind = np.where(np.arange(14) < 9, 0, 1)
    theirs = turbine_aep(oracle, x, y, type=kind, wd=directions)[:9]
    np.testing.assert_allclose(farm.turbine_aep(x[:9], y[:9], 0), theirs, rtol=1e-5)


@pytest.mark.parametrize("model", sorted(set(MODELS) - OF_FLORIS))
def test_the_flow_map_agrees_with_pywake(model: str) -> None:
    from py_wake import HorizontalGrid

    x, y = spread_out(2, 6, 700, 3000)
    grid_x = np.linspace(x.min() - 500, x.max() + 2500, 41)
    grid_y = np.linspace(y.min() - 700, y.max() + 700, 23)
    farm = WindFarm(UniformSite(turbulence_intensity=0.1), turbines()[1], model)
    ours = farm.flow_map(x, y, direction=262.0, speed=9.0, grid_x=grid_x, grid_y=grid_y, height_m=130.0)
    oracle = pywake_model(model, pywake_weibull_site(), pywake_generic(*LARGE))
    theirs = simulate(oracle, x, y, wd=262.0, ws=9.0).flow_map(HorizontalGrid(x=grid_x, y=grid_y, h=130.0))
    assert ours.wind_speed.shape == (23, 41)
    assert ours.wind_speed.min() < 7.5
    np.testing.assert_allclose(
        ours.wind_speed, theirs.WS_eff.values.reshape(23, 41), rtol=1e-4 if model in TABLE else 1e-10
    )


@pytest.mark.parametrize("diameter", [245.0, 250.0, 280.0])
def test_jensen_differs_from_pywake_only_where_a_rotor_is_wider_than_the_wake(diameter: float) -> None:
    from py_wake.literature.noj import Jensen_1983
    from py_wake.wind_turbines import WindTurbines

    given = (10, 200.0, 150.0), (10, diameter, 150.0)
    theirs = WindTurbines.from_WindTurbine_lst([pywake_generic(*one) for one in given])
    model = Jensen_1983(pywake_weibull_site(), theirs, k=0.04)
    ours = [Turbine.generic(f"{one[1]}", *one) for one in given]
    farm = WindFarm(site(), ours, jensen(0.04), directions=[270.0])
    x, y, kinds = np.array([0.0, 600.0]), np.zeros(2), np.array([0, 1])
    ratio = farm.turbine_aep(x, y, kinds) / turbine_aep(model, x, y, type=kinds, wd=[270])
    wake_diameter = 200.0 + 2.0 * 0.04 * 600.0
    if diameter <= wake_diameter:
        np.testing.assert_allclose(ratio, 1.0, rtol=1e-10)
    else:  # PyWake takes the whole rotor as covered
        assert ratio[1] > 1.0 + 0.1 * (1.0 - (wake_diameter / diameter) ** 2)
