"""Squares of deficits in functions that loops can vectorise: the same numbers as the model's deficit."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vindeby.wake.models import iea37
from vindeby.wake.models.contract import Pair
from vindeby.wake.models.gaussian import LARGEST_Z, exp_of_minus


@settings(deadline=None)
@given(st.floats(0.0, LARGEST_Z))
def test_the_exponential_is_right(z: float) -> None:
    assert exp_of_minus(z) == pytest.approx(exp(-z), rel=3e-14 if z <= 30.0 else 1e-9)


@settings(deadline=None)
@given(
    downwind=st.floats(0.0, 30_000.0),
    crosswind=st.floats(-1.0, 1.0),
    diameter=st.floats(50.0, 300.0),
    thrust=st.floats(0.01, 1.2),
)
def test_the_square_is_that_of_the_deficit(
    downwind: float, crosswind: float, diameter: float, thrust: float
) -> None:
    model = iea37()
    assert model.pair_squares is not None
    data = model.data
    aside = 0.999 * crosswind * model.reach(data, downwind, diameter, diameter, thrust, 0.0)
    deficit = model.deficit(data, Pair(downwind, aside, 0.0, 200.0, diameter, diameter, thrust, 0.0))
    numbers = model.pair_squares.numbers(data, diameter, thrust)
    square = model.pair_squares.square(*numbers, downwind, aside)
    # What is lost where deficits are small is lost in both: 1 less a root that is almost 1.
    assert square == pytest.approx(deficit * deficit, rel=1e-8, abs=1e-18)
    assert model.pair_squares.square(*numbers, downwind, 1e6) < 1e-25
