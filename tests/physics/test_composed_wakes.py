"""Wakes put together from their parts, beside PyWake with the same parts."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.physics.gridded_sites import DIRECTIONS, SPEEDS, Local, positions
from tests.physics.oracle import needs_pywake, pywake_composed, pywake_weibull_site, spread_out, turbine_aep
from tests.physics.test_gradient import central_differences, smooth_turbine
from tests.physics.test_local_wind import TABLE as CURVES
from tests.physics.test_pywake import EXACT, TABLE, pywake_turbines, site, turbines
from vindeby.errors import ArgumentError
from vindeby.wake import Turbine, WindFarm, model_named
from vindeby.wake.models.contract import Pair, find_mistake

FULL = os.environ.get("VINDEBY_FULL") == "1"
WORDS = {
    "induction": ["madsen", "momentum"],
    "rotor": ["overlap", "centre"],
    "superposition": ["squares", "linear"],
    "reference": ["free", "local"],
    "thrust_of": ["local", "free"],
}
# With a smaller k a large rotor encloses the whole top hat of a small one, which PyWake takes as full overlap.
COMMON: dict[str, st.SearchStrategy[Any]] = {"k": st.floats(0.03, 0.12)} | {
    key: st.sampled_from(words) for key, words in WORDS.items()
}
OF_GAUSSIAN: dict[str, st.SearchStrategy[Any]] = {
    "initial_width": st.sampled_from(["beta", "constant"]),
    "ceps": st.floats(0.15, 0.4),
    "cut_sigmas": st.none() | st.floats(1.0, 4.0),
}
composed = st.one_of(
    st.tuples(st.just("top-hat"), st.fixed_dictionaries(COMMON)),
    st.tuples(st.just("gaussian"), st.fixed_dictionaries(COMMON | OF_GAUSSIAN)),
)


@pytest.mark.oracle
@needs_pywake
@settings(
    max_examples=150 if FULL else 12,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # each smaller example would be compiled for seconds
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(composed, st.integers(0, 1000))
def test_any_composition_agrees_with_pywake(wake: tuple[str, dict[str, Any]], seed: int) -> None:
    name, parts = wake
    directions = np.arange(0, 360, 20.0)
    farm = WindFarm(site(), turbines(), {name: parts}, directions=directions)
    oracle = pywake_composed(name, parts, pywake_weibull_site(), pywake_turbines())
    x, y = spread_out(seed, 16, 800, 6500)
    kind = np.arange(16) % 2
    ours, theirs = farm.turbine_aep(x, y, kind), turbine_aep(oracle, x, y, type=kind, wd=directions)
    reads_table = name == "gaussian" and parts["rotor"] == "overlap"  # PyWake does
    of_farm, of_turbine = TABLE["nygaard-2022"] if reads_table else EXACT
    assert theirs.sum() < 0.999 * farm.wake_free_aep(16, kind)
    assert ours.sum() == pytest.approx(theirs.sum(), rel=of_farm)
    np.testing.assert_allclose(ours, theirs, rtol=of_turbine)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wake",
    [
        {"top-hat": {"k": 0.05, "superposition": "linear", "reference": "local", "thrust_of": "free"}},
        {"gaussian": {"induction": "madsen", "reference": "local", "initial_width": "constant", "ceps": 0.3}},
        {"gaussian": {"rotor": "overlap", "superposition": "linear", "thrust_of": "free", "cut_sigmas": 2.0}},
    ],
)
def test_the_gradient_of_a_composition_equals_central_differences(wake: Any) -> None:
    farm = WindFarm(
        site(), smooth_turbine(), wake, directions=np.arange(0, 360, 30.0), speeds=np.arange(6.0, 15.0)
    )
    x, y = spread_out(12, 10, 700, 4200)
    aep, along_x, along_y = farm.aep_and_gradient(x, y)
    assert aep == pytest.approx(farm.aep(x, y), rel=1e-13)
    expected = central_differences(farm, x - x.mean(), y - y.mean(), 0.01)
    assert np.abs(expected).max() > 1e-4
    gradient = np.concatenate([along_x, along_y])
    np.testing.assert_allclose(gradient, expected, atol=2e-6 * np.abs(expected).max(), rtol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["free", "local"])
def test_the_thrust_of_the_free_wind_has_a_slope_where_that_wind_is_local(reference: str) -> None:
    turbine = Turbine.tabulated("linear", 178.0, 119.0, *CURVES)
    wake = {"gaussian": {"reference": reference, "thrust_of": "free"}}
    farm = WindFarm(Local().site(), turbine, wake, directions=DIRECTIONS, speeds=SPEEDS)
    x, y = positions()
    _, of_x, of_y = farm.aep_and_gradient(x, y)
    expected = central_differences(farm, x, y, 0.05)
    found = np.concatenate([of_x, of_y])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        {"induction": "madsen"},
        {"induction": "madsen", "initial_width": "constant", "rotor": "overlap"},
        {"cut_sigmas": 1.5},
        {"cut_sigmas": 1.5, "rotor": "overlap"},
    ],
)
def test_the_slopes_of_a_composition_are_those_of_its_values(parts: Any) -> None:
    assert find_mistake(model_named({"gaussian": parts})) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wake", "tolerance"),
    [
        ("jensen", {"top-hat": {}}, 0.0),
        ("bastankhah-2014", {"gaussian": {"superposition": "linear", "reference": "local"}}, 0.0),
        ("iea37", {"gaussian": {"initial_width": "constant", "ceps": 8**-0.5}}, 1e-15),
    ],
)
def test_a_named_model_is_a_composition(name: str, wake: Any, tolerance: float) -> None:
    x, y = spread_out(4, 12, 700, 4500)
    farms = [WindFarm(site(), turbines(), one, directions=np.arange(0, 360, 30.0)) for one in (name, wake)]
    named, composed = (farm.turbine_aep(x, y, 1) for farm in farms)
    np.testing.assert_allclose(composed, named, rtol=tolerance)


def test_a_wake_ends_for_rotors_whose_centre_is_beyond_its_sigmas() -> None:
    model = model_named(
        {"gaussian": {"k": 0.04, "initial_width": "constant", "ceps": 0.25, "cut_sigmas": 2.0}}
    )
    whole = model_named({"gaussian": {"k": 0.04, "initial_width": "constant", "ceps": 0.25}})
    edge = 2.0 * (0.04 * 1000.0 + 0.25 * 100.0)
    for aside in (0.0, 0.5 * edge, edge - 1e-6, edge, edge + 1e-6, 3.0 * edge):
        pair = Pair(1000.0, aside, 0.0, 200.0, 100.0, 100.0, 0.8, 0.1)
        expected = whole.deficit(whole.data, pair) if aside < edge else 0.0
        assert model.deficit(model.data, pair) == expected
    assert model.reach(model.data, 1000.0, 100.0, 100.0, 0.8, 0.1) == pytest.approx(edge, rel=1e-15)


@pytest.mark.parametrize(
    ("wake", "words"),
    [
        ({"gaussian": {"superposition": "max"}}, "superposition must be 'linear' or 'squares', not 'max'"),
        ({"top-hat": {"thrust_of": "source"}}, "thrust_of must be 'free' or 'local', not 'source'"),
        ({"top-hat": {"ceps": 0.2}}, "wake model 'top-hat' does not take {'ceps': 0.2}"),
        ({"gaussian": None}, "wake model 'gaussian' does not take None"),
        ({"gaussian": {}, "top-hat": {}}, "wake must be one model, as {name: parameters}"),
        ({"tophat": {}}, "there is no wake model 'tophat'; did you mean 'top-hat'?"),
    ],
)
def test_what_cannot_be_composed_is_refused(wake: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(words)):
        model_named(wake)
