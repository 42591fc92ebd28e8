"""Local wind beside PyWake: energies, what blows at each turbine, flow maps; and gradients by differences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.physics.gridded_sites import (
    DIRECTIONS,
    GRID_X,
    GRID_Y,
    SPEEDS,
    Local,
    positions,
)
from tests.physics.oracle import (
    FREQUENCY,
    WEIBULL_A,
    WEIBULL_K,
    needs_pywake,
    pywake_generic,
    pywake_model,
    simulate,
)
from vindeby.errors import ArgumentError
from vindeby.wake import (
    GriddedSite,
    TimeSeriesSite,
    Turbine,
    UniformSite,
    WeibullSite,
    WindFarm,
    WindGrid,
)

pytestmark = pytest.mark.oracle

MODELS = ("bastankhah-2014", "niayifar-2016", "nygaard-2022", "jensen", "iea37")
STATES = {"wd": DIRECTIONS, "ws": SPEEDS}


TABLE = [0.0, 50.0], [0.0, 5e7], [0.8, 0.3]
"""Power and thrust that are linear in the wind speed: without kinks, differences tell slopes to many digits."""


def turbine() -> Turbine:
    return Turbine.generic("ten", 10.0, 178.0, 119.0)


@cache
def farm(model: str, local: Local, smooth: bool = False) -> WindFarm:
    of = Turbine.tabulated("linear", 178.0, 119.0, *TABLE) if smooth else turbine()
    return WindFarm(local.site(), of, model, directions=DIRECTIONS, speeds=SPEEDS)


def pywake(model: str, local: Local) -> Any:
    return pywake_model(model, local.pywake(), pywake_generic(10.0, 178.0, 119.0))


@needs_pywake
@pytest.mark.parametrize("model", MODELS)
def test_energy_is_that_of_pywake(model: str) -> None:
    x, y = positions()
    expected = simulate(pywake(model, Local()), x, y, **STATES).aep().values.sum()
    # Two of the models average a Gaussian over the rotor, which PyWake reads from a coarser table.
    tolerance = 1e-6 if model in ("nygaard-2022", "niayifar-2016") else 1e-9
    assert farm(model, Local()).aep_and_gradient(x, y)[0] == pytest.approx(expected, rel=tolerance)


@needs_pywake
@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
def test_free_wind_is_that_of_pywake(interpolation: str) -> None:
    local = Local(turned=True, interpolation=interpolation)
    x, y = positions()
    wind = local.pywake().local_wind(x=x, y=y, h=np.full(len(x), 119.0), **STATES)
    free = farm("bastankhah-2014", local).free_wind(x, y)
    shape = free.speed.shape
    np.testing.assert_allclose(free.speed, np.broadcast_to(wind.WS_ilk, shape), rtol=1e-12)
    np.testing.assert_allclose(free.probability, np.broadcast_to(wind.P_ilk, shape), rtol=1e-11)
    np.testing.assert_allclose(free.turbulence, np.broadcast_to(wind.TI_ilk, shape), rtol=1e-12)
    np.testing.assert_allclose(free.direction, np.broadcast_to(wind.WD_ilk, shape), rtol=1e-12, atol=1e-9)


@needs_pywake
def test_wakes_follow_the_turned_wind_as_in_pywake() -> None:
    x, y = positions()
    local = Local(turned=True)
    expected = simulate(pywake("bastankhah-2014", local), x, y, **STATES).aep().values.sum()
    assert farm("bastankhah-2014", local).aep_and_gradient(x, y)[0] == pytest.approx(expected, rel=1e-9)
    straight = farm("bastankhah-2014", Local()).aep_and_gradient(x, y)[0]
    assert abs(straight / expected - 1) > 1e-4


def differences(of: WindFarm, i: int, step: float = 0.02) -> tuple[float, float]:
    """Slopes with x and y of one turbine, of fourth order."""
    x, y = positions()
    slopes = []
    for axis in range(2):
        values = {}
        for times in (-2, -1, 1, 2):
            place = np.stack([x, y])
            place[axis, i] += times * step
            values[times] = of.aep_and_gradient(*place)[0]
        slopes.append((8 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12 * step))
    return slopes[0], slopes[1]


@pytest.mark.parametrize(
    ("model", "local"), [*((name, Local()) for name in MODELS), ("bastankhah-2014", Local(turned=True))]
)
def test_gradient_is_that_of_the_energy(model: str, local: Local) -> None:
    of = farm(model, local, smooth=True)
    _, east, north = of.aep_and_gradient(*positions())
    for i in (1, 3, 5):
        by_x, by_y = differences(of, i)
        scale = max(abs(east).max(), abs(north).max())
        assert east[i] == pytest.approx(by_x, abs=1e-7 * scale)
        assert north[i] == pytest.approx(by_y, abs=1e-7 * scale)


@needs_pywake
def test_gradient_is_that_of_pywake_by_autograd() -> None:
    """With a turbine whose slopes PyWake knows everywhere: it extends those of a table beyond its ends."""
    from py_wake.utils.gradients import autograd
    from py_wake.wind_turbines import WindTurbine
    from py_wake.wind_turbines.power_ct_functions import PowerCtTabular

    x, y = positions()
    theirs = pywake_model(
        "bastankhah-2014",
        Local().pywake(),
        WindTurbine("linear", 178.0, 119.0, PowerCtTabular(TABLE[0], TABLE[1], "W", TABLE[2])),
    )
    expected = theirs.aep_gradients(autograd, wrt_arg=["x", "y"], x=x, y=y, **STATES)
    _, east, north = farm("bastankhah-2014", Local(), smooth=True).aep_and_gradient(x, y)
    scale = np.abs(expected).max()
    np.testing.assert_allclose([east, north], expected, atol=1e-8 * scale)


@needs_pywake
def test_flow_map_is_that_of_pywake() -> None:
    from py_wake.flow_map import Points

    x, y = positions()
    grid_x, grid_y = np.array([x[0] + 400.0, x[2] + 500.0]), np.array([y[3] + 7.0, y[1] + 3.0])
    theirs = simulate(pywake("bastankhah-2014", Local()), x, y, wd=[250.0], ws=[9.0])
    px, py = (v.ravel() for v in np.meshgrid(grid_x, grid_y))
    expected = theirs.flow_map(Points(px, py, np.full(4, 119.0))).WS_eff.values.ravel()
    ours = farm("bastankhah-2014", Local()).flow_map(
        x, y, direction=250.0, speed=9.0, grid_x=grid_x, grid_y=grid_y
    )
    np.testing.assert_allclose(ours.wind_speed.ravel(), expected, rtol=1e-9)


def test_what_a_farm_loses_by_wakes_is_of_its_own_free_wind() -> None:
    x, y = positions()
    of = farm("bastankhah-2014", Local())
    alone = sum(of.aep([px], [py]) for px, py in zip(x, y, strict=True))
    assert of.free_aep_at(x, y) == pytest.approx(alone, rel=1e-12)
    assert of.wake_loss(x, y) == pytest.approx(1 - of.aep(x, y) / alone, rel=1e-12)
    with pytest.raises(ArgumentError, match=r"free_aep_at\(x, y, types\)"):
        of.wake_free_aep(7)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_speedup_of_one_everywhere_is_the_uniform_site(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(GRID_X[0], GRID_X[-1], 5)
    y = rng.uniform(GRID_Y[0], GRID_Y[-1], 5)
    rose = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K)
    site = GriddedSite(rose, WindGrid(GRID_X, GRID_Y, speedup=1.0, turbulence_intensity=0.1))
    ours, plain = (
        WindFarm(s, turbine(), "bastankhah-2014", directions=DIRECTIONS, speeds=SPEEDS).aep_and_gradient(x, y)
        for s in (site, rose)
    )
    assert ours[0] == pytest.approx(plain[0], rel=1e-13)
    np.testing.assert_allclose(ours[1:], plain[1:], rtol=1e-8, atol=1e-14)


def test_a_time_series_of_the_states_has_the_energy_of_the_rose() -> None:
    x, y = positions()
    grid = WindGrid(GRID_X, GRID_Y, speedup=np.linspace(0.8, 1.2, 25).reshape(5, 5))
    rose = GriddedSite(UniformSite(np.full(6, 1 / 6), 9.0), grid)
    series = GriddedSite(TimeSeriesSite(np.full(6, 9.0), [180.0, 0.0, 60.0, 300.0, 120.0, 240.0]), grid)
    of_rose, of_series = (WindFarm(site, turbine(), "bastankhah-2014") for site in (rose, series))
    assert of_series.aep(x, y) == pytest.approx(of_rose.aep(x, y), rel=1e-12)
    np.testing.assert_allclose(of_series.power(x, y)[:, 2], of_rose.power(x, y)[:, 1, 0], rtol=1e-12)


def test_a_turbine_outside_the_grid_is_named() -> None:
    x, y = positions()
    x[4] = GRID_X[-1] + 5.0
    with pytest.raises(
        ArgumentError, match=r"turbine 4 at \(706005, 6225613\) is outside .* x 703000 to 706000"
    ):
        farm("bastankhah-2014", Local()).aep(x, y)
