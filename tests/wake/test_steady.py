"""Wakes that do not change with the wind: the loops made for them agree with those of the model itself."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vindeby.arrays import FloatArray
from vindeby.wake import Neighbours, TableSite, Turbine, UniformSite, WindFarm, iea37_10mw, iea37_335mw
from vindeby.wake.models.gaussian import LARGEST_Z, exp_of_minus

MODELS: dict[str, Any] = {
    "iea37": "iea37",
    "top hat, squares": {"jensen": {"k": 0.05, "induction": "momentum"}},
    "top hat, linear": {"top-hat": {"k": 0.05, "superposition": "linear"}},
    "gaussian, linear, over the rotor": {"gaussian": {"superposition": "linear", "rotor": "overlap"}},
}


def steps_and_ramps() -> Turbine:
    """Constant thrust beside a power curve with many pieces, one of which ends at a wind speed of the site."""
    speed = np.array([0.0, 3.0, 3.5, 7.0, 9.0, 11.0, 12.3, 24.9, 25.0])
    power = np.array([0.0, 0.0, 90.0, 900.0, 1700.0, 2950.0, 3000.0, 3000.0, 0.0])
    return Turbine.tabulated("ramps", 130.0, 110.0, speed, 1e3 * power, np.full(speed.shape, 0.8))


def sites() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    table = rng.random((10, 12))
    return {
        "one speed, no opposite directions": UniformSite((0.2, 0.5, 0.3), wind_speed=9.8),
        "twelve speeds, opposite directions": TableSite(table / table.sum(), 2.0 + 2.0 * np.arange(12)),
    }


def places(count: int = 20) -> FloatArray:
    return np.random.default_rng(3).uniform(0.0, 3000.0, (2, count))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("site", sites())
@pytest.mark.parametrize("types", [1, 3])
def test_energies_and_slopes_are_those_of_the_model_itself(model: str, site: str, types: int) -> None:
    turbines = [iea37_335mw(), iea37_10mw(), steps_and_ramps()][:types]
    fast = WindFarm(sites()[site], turbines, MODELS[model])
    slow = WindFarm(sites()[site], turbines, MODELS[model], tabulate=False)
    assert (fast.loops, slow.loops) == ("steady", "direct")
    (x, y), kinds = places(), np.arange(20) % types
    np.testing.assert_allclose(fast.turbine_aep(x, y, kinds), slow.turbine_aep(x, y, kinds), rtol=1e-12)
    ours, theirs = fast.aep_and_gradient(x, y, kinds), slow.aep_and_gradient(x, y, kinds)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-13)
    largest = max(np.abs(slopes).max() for slopes in theirs[1:])
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12 * largest)


def test_a_curve_with_many_pieces_is_added_up_exactly() -> None:
    site = sites()["twelve speeds, opposite directions"]
    farm = WindFarm(site, steps_and_ramps(), "iea37")
    assert farm.loops == "steady"
    alone = farm.turbine_aep([0.0], [0.0])[0]
    assert alone == pytest.approx(farm.wake_free_aep(1), rel=1e-14)


def test_neighbours_cast_wakes_and_are_not_counted() -> None:
    site, (x, y) = sites()["twelve speeds, opposite directions"], places()
    fast, slow = (
        WindFarm(site, iea37_335mw(), "iea37", neighbours=Neighbours(x[8:], y[8:]), tabulate=tabulate)
        for tabulate in (True, False)
    )
    whole = WindFarm(site, iea37_335mw(), "iea37").turbine_aep(x, y)
    np.testing.assert_allclose(fast.turbine_aep(x[:8], y[:8]), whole[:8], rtol=1e-13)
    ours, theirs = fast.aep_and_gradient(x[:8], y[:8])[1:], slow.aep_and_gradient(x[:8], y[:8])[1:]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("changed", [{"thrust": 0.75}, {"wake": "bastankhah-2014"}, {"wake": "nygaard-2022"}])
def test_wakes_that_change_with_the_wind_have_other_loops(changed: dict[str, Any]) -> None:
    thrust = np.full(3, 0.8)
    thrust[1] = changed.get("thrust", 0.8)
    turbine = Turbine.tabulated(
        "t", 130.0, 110.0, np.array([0.0, 5.0, 25.0]), np.array([0.0, 5e5, 2e6]), thrust
    )
    farm = WindFarm(UniformSite((1.0,), 9.0, 0.1), turbine, changed.get("wake", "iea37"))
    assert farm.loops != "steady"


@settings(deadline=None)
@given(st.floats(0.0, LARGEST_Z))
def test_the_exponential_is_right(z: float) -> None:
    assert exp_of_minus(z) == pytest.approx(exp(-z), rel=3e-14 if z <= 30.0 else 1e-9)
