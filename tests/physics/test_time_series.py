"""Time series beside PyWake: the power of every turbine at every step, six types, turbulence by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ncx2

from tests.physics.oracle import needs_pywake, pywake_generic, pywake_model, simulate, spread_out
from vindeby.wake import TimeSeriesSite, Turbine, WindFarm

pytestmark = pytest.mark.oracle

SIZES = ((10, 195, 121), (11, 205, 128), (12, 214, 133), (13, 223, 139), (14, 231, 144), (15, 240, 150))
RATED = np.array([mw * 1e6 for mw, _, _ in SIZES])


def exact_overlap(points: Any) -> Any:
    """The mean of a Gaussian over a rotor, at pairs of (R/sigma, d/sigma): what PyWake interpolates in a table."""
    rho, kappa = np.maximum(points[:, 0], 1e-6), points[:, 1]
    near = kappa < 12.0
    found = np.zeros(len(points))
    found[near] = 2.0 / rho[near] ** 2 * ncx2.cdf(rho[near] ** 2, 2, kappa[near] ** 2)
    return found


@needs_pywake
@pytest.mark.parametrize("by_step", [False, True], ids=["one turbulence", "turbulence by step"])
def test_powers_of_six_types_are_those_of_pywake(by_step: bool) -> None:
    from py_wake.site import UniformSite
    from py_wake.wind_turbines import WindTurbines

    rng = np.random.default_rng(11)
    x, y = spread_out(7, 40, 720.0, 9_000.0)
    types = rng.integers(0, 6, len(x))
    speed, direction = rng.uniform(4.0, 20.0, 30), rng.uniform(0.0, 360.0, 30)
    turbulence = rng.uniform(0.03, 0.25, 30) if by_step else np.full(30, 0.08)
    ours = WindFarm(TimeSeriesSite(speed, direction, turbulence), [Turbine.generic("", *s) for s in SIZES])
    assert ours.loops == "by width"
    power = ours.power(x, y, types)

    machines = WindTurbines.from_WindTurbine_lst([pywake_generic(mw, d, h) for mw, d, h in SIZES])
    model = pywake_model("nygaard-2022", UniformSite([1.0], 0.1), machines)
    options = {"type": types, "wd": direction, "ws": speed, "TI": turbulence, "time": True}
    theirs = simulate(model, x, y, **options).Power.values
    # PyWake's table of the mean over a rotor, linear between its points, is right to about 1e-5.
    assert np.abs((power - theirs) / RATED[types][:, None]).max() < 2e-5
    model.wake_deficitModel.rotorAvgModel._overlap_interpolator = exact_overlap
    exact = simulate(model, x, y, **options).Power.values
    assert not np.array_equal(exact, theirs)
    assert np.abs((power - exact) / RATED[types][:, None]).max() < 1e-7
