"""Turbulence that depends on the wind, time series and turbine tables: energies and powers are PyWake's."""

from __future__ import annotations

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
    simulate,
    spread_out,
    turbine_aep,
)
from vindeby.errors import ArgumentError
from vindeby.wake import TimeSeriesSite, Turbine, TurbulenceTable, WeibullSite, WindFarm

pytestmark = [pytest.mark.oracle, needs_pywake]

SIZE = (10, 195, 121)
SECTORS = np.arange(12) * 30.0
POINTS = np.array([3.0, 5.0, 9.0, 14.0, 25.0])
BY_SPEED = np.array([0.2, 0.13, 0.09, 0.07, 0.06])
BY_DIRECTION = 0.06 + 0.01 * np.abs(np.arange(12) - 4)
BOTH = BY_DIRECTION[:, None] * BY_SPEED / 0.09
TABLES = {
    "wind speed": TurbulenceTable(BY_SPEED, None, POINTS),
    "wind direction": TurbulenceTable(BY_DIRECTION, SECTORS),
    "both": TurbulenceTable(BOTH, SECTORS, POINTS),
}
DIRECTIONS, SPEEDS = np.arange(0.0, 360.0, 10.0), np.arange(4.0, 25.0, 3.5)
X, Y = spread_out(4, 7, 500, 2500)


def pywake_site(by: str, interpolation: str) -> Any:
    import xarray as xr
    from py_wake.site import XRSite

    turbulence = {
        "wind speed": ("ws", BY_SPEED),
        "wind direction": ("wd", BY_DIRECTION),
        "both": (("wd", "ws"), BOTH),
    }
    data = {"Sector_frequency": FREQUENCY, "Weibull_A": WEIBULL_A, "Weibull_k": WEIBULL_K}
    sectors: dict[str, Any] = {name: ("wd", list(values)) for name, values in data.items()}
    coordinates = {"wd": SECTORS} | ({} if by == "wind direction" else {"ws": POINTS})
    return XRSite(
        xr.Dataset({**sectors, "TI": turbulence[by]}, coords=coordinates), interp_method=interpolation
    )


@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
@pytest.mark.parametrize("by", TABLES)
def test_turbulence_and_energy_are_pywakes(by: str, interpolation: Any) -> None:
    site = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, TABLES[by], interpolation)
    theirs = pywake_site(by, interpolation)
    states = site.states(np.arange(0.0, 360.0, 0.5), SPEEDS)
    wind = theirs.local_wind(x=[0], y=[0], h=[100], wd=np.arange(0.0, 360.0, 0.5), ws=SPEEDS)
    np.testing.assert_allclose(
        states.turbulence.reshape(states.shape), np.broadcast_to(wind.TI_ilk[0], states.shape), rtol=1e-13
    )
    farm = WindFarm(site, Turbine.generic("ten", *SIZE), "nygaard-2022", directions=DIRECTIONS, speeds=SPEEDS)
    oracle = pywake_model("nygaard-2022", theirs, pywake_generic(*SIZE))
    expected = turbine_aep(oracle, X, Y, wd=DIRECTIONS, ws=SPEEDS).sum()
    assert farm.aep(X, Y) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("by", ["wind speed", "both"])
@pytest.mark.parametrize("speeds", [[2.9, 4.0], [10.0, 25.1]])
def test_where_pywake_has_no_turbulence_vindeby_has_none_either(by: str, speeds: list[float]) -> None:
    with pytest.raises(ValueError, match="outside range"):
        pywake_site(by, "linear").local_wind(x=[0], y=[0], h=[100], wd=[0], ws=speeds)
    site = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, TABLES[by])
    with pytest.raises(ArgumentError, match=r"known from 3 to 25 m/s, not at (2.9|25.1) m/s"):
        site.states([0.0], speeds)


def test_a_time_series_has_pywakes_powers_and_their_weighted_mean() -> None:
    rng = np.random.default_rng(8)
    direction, speed = rng.uniform(0, 360, 40).round(1), rng.uniform(3, 20, 40)
    turbulence, weight = rng.uniform(0.05, 0.15, 40), rng.integers(0, 9, 40)
    farm = WindFarm(
        TimeSeriesSite(speed, direction, turbulence, weight), Turbine.generic("ten", *SIZE), "bastankhah-2014"
    )
    oracle = pywake_model("bastankhah-2014", pywake_site("both", "linear"), pywake_generic(*SIZE))
    result = simulate(oracle, X, Y, wd=direction, ws=speed, TI=turbulence, time=True)
    power = np.asarray(result.Power, np.float64)
    np.testing.assert_allclose(farm.power(X, Y), power, rtol=1e-10)
    mean = (power.sum(axis=0) * weight).sum() / weight.sum()
    assert farm.aep(X, Y) == pytest.approx(mean * 8760e-9, rel=1e-10)


def test_power_and_thrust_on_wind_speeds_of_their_own_are_pywakes() -> None:
    from py_wake.wind_turbines import WindTurbine
    from py_wake.wind_turbines.power_ct_functions import PowerCtTabular

    speed, power = [4.0, 8.0, 12.0, 25.0], [4e5, 3e6, 1e7, 1e7]
    thrust_speed, thrust = [3.0, 7.0, 11.5, 26.0], [0.85, 0.8, 0.5, 0.1]
    all_speeds = np.union1d(speed, thrust_speed)
    curve = PowerCtTabular(
        all_speeds, np.interp(all_speeds, speed, power), "W", np.interp(all_speeds, thrust_speed, thrust)
    )
    theirs = pywake_model(
        "bastankhah-2014", pywake_site("wind speed", "linear"), WindTurbine("t", 195, 121, curve)
    )
    turbine = Turbine.tabulated("t", 195, 121, speed, power, thrust, thrust_wind_speed=thrust_speed)
    site = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, TABLES["wind speed"])
    farm = WindFarm(site, turbine, "bastankhah-2014", directions=DIRECTIONS, speeds=SPEEDS)
    np.testing.assert_allclose(
        farm.turbine_aep(X, Y), turbine_aep(theirs, X, Y, wd=DIRECTIONS, ws=SPEEDS), rtol=1e-10
    )
