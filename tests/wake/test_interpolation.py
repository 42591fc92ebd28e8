"""What a site says between its sectors, for both ways to interpolate: what PyWake's ``XRSite`` says there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K, needs_pywake
from vindeby.errors import ArgumentError
from vindeby.wake import Site, TableSite, UniformSite, WeibullSite

pytestmark = pytest.mark.oracle

TURBULENCE = tuple(0.05 + 0.01 * sector for sector in range(12))
SPEEDS = (8.0, 9.0, 10.0)
SHARE = (0.2, 0.5, 0.3)
BOTH = pytest.mark.parametrize("interpolation", ["linear", "nearest"])


def ours(kind: str, interpolation: Any) -> Site:
    if kind == "weibull":
        return WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, TURBULENCE, interpolation)
    if kind == "table":
        return TableSite(np.outer(FREQUENCY, SHARE), SPEEDS, TURBULENCE, interpolation)
    return UniformSite(FREQUENCY, 9.0, TURBULENCE, interpolation)


def theirs(kind: str, interpolation: str) -> Any:
    import xarray as xr
    from py_wake.site import XRSite

    def around(values: Any) -> Any:
        return np.concatenate([values, values[:1]])

    data: dict[str, Any] = {"TI": ("wd", around(TURBULENCE))}
    coordinates: dict[str, Any] = {"wd": np.linspace(0, 360, 13)}
    if kind == "weibull":
        names = {"Sector_frequency": FREQUENCY, "Weibull_A": WEIBULL_A, "Weibull_k": WEIBULL_K}
        data |= {name: ("wd", around(values)) for name, values in names.items()}
    elif kind == "table":
        data["P"] = (("wd", "ws"), around(np.outer(FREQUENCY, SHARE)))
        coordinates["ws"] = list(SPEEDS)
    else:
        data["P"] = ("wd", around(FREQUENCY))
    return XRSite(xr.Dataset(data, coords=coordinates), interp_method=interpolation)


@needs_pywake
@BOTH
@pytest.mark.parametrize("kind", ["weibull", "table", "uniform"])
@pytest.mark.parametrize("step", [30.0, 15.0, 1.0, 0.5])
def test_turbulence_is_linear_between_sectors_as_pywakes_is(
    kind: str, interpolation: str, step: float
) -> None:
    directions = np.arange(0.0, 360.0, step)
    speeds = [9.0] if kind == "uniform" else list(SPEEDS)
    states = ours(kind, interpolation).states(directions, speeds)
    wind = theirs(kind, interpolation).local_wind(x=[0], y=[0], h=[100], wd=directions, ws=speeds)
    turbulence = np.broadcast_to(wind.TI_ilk[0], states.shape)
    np.testing.assert_allclose(states.turbulence.reshape(states.shape), turbulence, rtol=1e-13)
    probability = np.broadcast_to(wind.P_ilk[0], states.shape)
    np.testing.assert_allclose(states.probability.reshape(states.shape), probability, rtol=1e-11, atol=1e-17)


def test_turbulence_half_way_between_two_sectors_is_their_mean_whatever_the_interpolation() -> None:
    for interpolation in ("linear", "nearest"):
        states = ours("weibull", interpolation).states([15.0, 345.0], [9.0])
        assert states.turbulence.tolist() == pytest.approx([0.055, 0.105], rel=1e-14)


def test_the_border_of_two_sectors_belongs_to_the_next_one_clockwise() -> None:
    frequency = np.arange(1.0, 13.0) / 78.0
    states = UniformSite(frequency, 9.0, interpolation="nearest").states(np.arange(360.0))
    sector = np.rint(states.probability * 360.0 / 12.0 * 78.0).astype(int) - 1
    chosen = {d: sector[d] for d in (0, 14, 15, 44, 45, 314, 315, 344, 345, 359)}
    assert chosen == {0: 0, 14: 0, 15: 1, 44: 1, 45: 2, 314: 10, 315: 11, 344: 11, 345: 0, 359: 0}
    assert states.probability.sum() == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("kind", ["weibull", "table", "uniform"])
def test_an_interpolation_that_does_not_exist_is_refused(kind: str) -> None:
    with pytest.raises(ArgumentError, match="interpolation must be 'linear' or 'nearest', not 'cubic'"):
        ours(kind, "cubic").states()
