"""A turned wind in other hands: PyWake as an engine, PyWake objects, exported time series."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from py_wake.literature import Nygaard_2022

from tests.interop.engine_campaigns import X, Y, campaign, weibull
from vindeby import wake
from vindeby.assembly.wind import site_of, wind_farm
from vindeby.errors import ArgumentError
from vindeby.interop import to_pywake

pytestmark = pytest.mark.oracle

CONVERGENCE = 2.0
SERIES = {
    "time_series": {
        "wind_direction": [10.0, 100.0, 200.0, 270.0, 359.0],
        "wind_speed": [8.0, 9.0, 10.0, 11.0, 7.0],
        "turbulence_intensity": 0.07,
    }
}
METHOD = {"method": "random-start"}
PYWAKE = {"wake": {"pywake": "py_wake.literature:Nygaard_2022"}, **METHOD}


def seen_from_true_north() -> tuple[Any, Any]:
    """The layout with its directions from true north: the other way to take the convergence into account."""
    angle = np.deg2rad(CONVERGENCE)
    x, y = np.asarray(X), np.asarray(Y)
    return x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)


@pytest.mark.parametrize("site", [weibull(), SERIES], ids=["rose", "series"])
def test_an_engine_is_given_the_wind_from_grid_north(site: dict[str, Any]) -> None:
    turned = wind_farm(
        campaign(site={**site, "grid_convergence_deg": CONVERGENCE}, **PYWAKE), [0], searched=True
    )
    plain = wind_farm(campaign(site=site, **PYWAKE), [0], searched=True)
    energy = turned.aep(X, Y)
    assert energy == pytest.approx(plain.aep(*seen_from_true_north()), rel=1e-10)
    assert abs(energy / plain.aep(X, Y) - 1.0) > 1e-4


def test_a_turned_series_stays_a_series_and_can_be_given_to_pywake() -> None:
    turned = campaign("nygaard-2022", site={**SERIES, "grid_convergence_deg": CONVERGENCE}, **METHOD)
    site = site_of(turned)
    assert isinstance(site, wake.TimeSeriesSite)
    assert list(np.asarray(site.wind_direction, float)) == [8.0, 98.0, 198.0, 268.0, 357.0]
    given = to_pywake(turned)
    energy = Nygaard_2022(given.site, given.wind_turbines)(X, Y, **given.arguments).aep().sum()
    assert wind_farm(turned, [0]).aep(X, Y) == pytest.approx(float(energy), rel=1e-6)


def test_turned_sectors_are_no_pywake_site() -> None:
    with pytest.raises(ArgumentError, match=r"grid_convergence_deg is 2.*turn the layout"):
        to_pywake(campaign(site={**weibull(), "grid_convergence_deg": CONVERGENCE}, wake="nygaard-2022"))
