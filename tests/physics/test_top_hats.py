"""The options of the top-hat models beside PyWake, and what a rotor's centre alone means for the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.physics.oracle import needs_pywake, pywake_weibull_site, spread_out, turbine_aep
from tests.physics.test_gradient import smooth_turbine
from tests.physics.test_pywake import pywake_turbines, site, turbines
from vindeby.errors import ArgumentError
from vindeby.wake import TimeSeriesSite, UniformSite, WindFarm
from vindeby.wake.models import jensen, turbopark_2020
from vindeby.wake.models.contract import Pair

pytestmark = pytest.mark.oracle


@needs_pywake
@pytest.mark.parametrize(
    ("model", "induction", "rotor"),
    [
        ("jensen", "momentum", "centre"),
        ("jensen", "momentum", "overlap"),
        ("turbopark-2020", "madsen", "centre"),
    ],
)
def test_options_of_top_hats_agree_with_pywake(model: str, induction: Any, rotor: Any) -> None:
    from py_wake.deficit_models.noj import NOJDeficit, TurboNOJDeficit
    from py_wake.deficit_models.utils import ct2a_madsen, ct2a_mom1d
    from py_wake.rotor_avg_models.area_overlap_model import AreaOverlapAvgModel
    from py_wake.superposition_models import SquaredSum
    from py_wake.wind_farm_models import PropagateDownwind

    options = {
        "ct2a": ct2a_mom1d if induction == "momentum" else ct2a_madsen,
        "rotorAvgModel": AreaOverlapAvgModel() if rotor == "overlap" else None,
    }
    theirs = NOJDeficit(k=0.05, **options) if model == "jensen" else TurboNOJDeficit(**options)
    ours = jensen(0.05, induction, rotor) if model == "jensen" else turbopark_2020(0.6, induction, rotor)
    directions = np.arange(0, 360, 30.0)
    farm = WindFarm(site(), turbines(), ours, directions=directions)
    oracle = PropagateDownwind(pywake_weibull_site(), pywake_turbines(), theirs, SquaredSum())
    x, y = spread_out(3, 16, 700, 5000)
    kind = np.arange(16) % 2
    expected = turbine_aep(oracle, x, y, type=kind, wd=directions)
    assert expected.sum() < 0.98 * farm.wake_free_aep(16, kind)
    np.testing.assert_allclose(farm.turbine_aep(x, y, kind), expected, rtol=1e-11)


def test_a_rotor_is_in_or_out_by_its_centre() -> None:
    turbine = smooth_turbine()
    farm = WindFarm(TimeSeriesSite([9.0], [270.0]), turbine, jensen(0.05, "momentum", "centre"))
    edge = 120.0 + 0.05 * 2000.0
    induction = 0.5 * (1.0 - np.sqrt(1.0 - turbine.thrust_coefficient_at(9.0)))
    inside = 9.0 * (1.0 - 2.0 * induction * (120.0 / edge) ** 2)
    for aside, expected in ((0.0, inside), (edge - 1e-6, inside), (edge + 1e-6, 9.0)):
        assert farm.wind_speed([0.0, 2000.0], [0.0, aside])[1, 0] == pytest.approx(expected, rel=1e-12)
        _, along_x, along_y = farm.aep_and_gradient([0.0, 2000.0], [0.0, aside])
        # Across the wind there is no slope on either side of the edge, but for the rounding of 270 degrees.
        assert np.abs(along_y).max() <= 1e-15 * np.abs(along_x).max()
        assert (along_x[1] > 0.0) == (aside < edge)


def test_a_thrust_above_1_counts_as_1_in_momentum_theory() -> None:
    model = jensen(0.05, "momentum", "centre")
    data = WindFarm(UniformSite((1.0,), 9.0), smooth_turbine(), model).data
    at = {
        thrust: model.deficit_with_slopes(data, Pair(500.0, 0.0, 0.0, 0.0, 100.0, 100.0, thrust, 0.0))
        for thrust in (0.999999, 1.0, 1.2)
    }
    assert at[1.2][0] == at[1.0][0] == pytest.approx((50.0 / 75.0) ** 2)
    assert at[1.2][3] == 0.0
    assert at[0.999999][3] > 100.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"induction": "mom1d"}, "induction must be 'madsen' or 'momentum', not 'mom1d'"),
        ({"rotor": "center"}, "rotor must be 'overlap' or 'centre', not 'center'"),
    ],
)
@pytest.mark.parametrize("model", [jensen, turbopark_2020])
def test_options_that_do_not_exist_are_refused(model: Any, options: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        model(**options)
