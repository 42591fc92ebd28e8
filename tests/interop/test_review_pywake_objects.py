"""PyWake objects that would give other numbers, or are of the wrong kind: refused."""

from __future__ import annotations

from typing import Any

import pytest
import xarray as xr
from py_wake.site import XRSite

from tests.interop.site_examples import dataset
from vindeby.errors import ArgumentError
from vindeby.interop import from_pywake

pytestmark = pytest.mark.oracle

PLACES = {"x": [0.0, 1000.0], "y": [0.0, 1000.0]}


@pytest.mark.parametrize(
    "changed",
    [{"Speedup": 1.2}, {"Speedup": ("wd", [1.0, 1.1, 1.0, 1.0])}, {"Turning": ("wd", [0.0, 5.0, 0.0, 0.0])}],
    ids=["all", "by direction", "turning"],
)
def test_a_change_of_the_wind_that_is_the_same_everywhere_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="is not over x and y; give it over x and y"):
        from_pywake(XRSite(dataset(**changed)))


def test_a_change_that_changes_nothing_is_left_out() -> None:
    assert from_pywake(XRSite(dataset(Speedup=1.0, Turning=0.0))) == from_pywake(XRSite(dataset()))


def test_a_turbulence_that_would_count_for_nothing_is_refused() -> None:
    local = xr.DataArray([[0.08, 0.09], [0.08, 0.09]], dims=("x", "y"), coords=PLACES)
    site = XRSite(dataset(TI=local, coords=PLACES))
    with pytest.raises(
        ArgumentError, match="it has TI over x and y, so that turbulence_intensity would count"
    ):
        from_pywake(site, turbulence_intensity=0.1)


@pytest.mark.parametrize("given", ["V80", [], XRSite])
def test_what_is_no_turbine_is_refused(given: Any) -> None:
    with pytest.raises(ArgumentError, match="is not a WindTurbine or WindTurbines of PyWake"):
        from_pywake(None, given)
