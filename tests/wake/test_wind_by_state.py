"""Turbulence tables, weighted time series, and turbine tables that end: what they say, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K
from vindeby.errors import ArgumentError
from vindeby.wake import (
    TableSite,
    TimeSeriesSite,
    Turbine,
    TurbulenceTable,
    UniformSite,
    WeibullSite,
    WindFarm,
)

X, Y = np.array([0.0, 700.0, 1500.0, 300.0]), np.array([0.0, 100.0, -200.0, 900.0])
BOTH_ENDS: tuple[Any, Any] = ("hold", "zero")
NO_END: Any = "clip"
TURBINE = Turbine.generic("five", 5, 126, 90)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_time_series_of_the_roses_states_equals_the_rose(seed: int, by_both: bool) -> None:
    rng = np.random.default_rng(seed)
    turbulence = (
        TurbulenceTable(rng.uniform(0.05, 0.2, (4, 2)), [0, 90, 200, 300], [3, 25]) if by_both else 0.08
    )
    rose = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, turbulence).states(
        np.arange(0, 360, 30.0), [5.0, 9, 13]
    )
    direction = np.repeat(rose.direction, np.diff(rose.first))
    order = rng.permutation(len(direction))
    weight = rose.probability[order] * rng.uniform(0.1, 100)  # weights are relative
    series = TimeSeriesSite(rose.speed[order], direction[order], rose.turbulence[order], weight)
    farm = WindFarm(
        WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, turbulence),
        TURBINE,
        "bastankhah-2014",
        directions=np.arange(0, 360, 30.0),
        speeds=[5.0, 9, 13],
    )
    expected = farm.turbine_aep(X, Y) / rose.probability.sum()
    got = WindFarm(series, TURBINE, "bastankhah-2014").turbine_aep(X, Y)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    absolute = TimeSeriesSite(rose.speed, direction, rose.turbulence, rose.probability, relative=False)
    np.testing.assert_allclose(
        WindFarm(absolute, TURBINE, "bastankhah-2014").turbine_aep(X, Y), farm.turbine_aep(X, Y), rtol=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(
    # Whole thousandths of a degree: points nearer to each other than rounding would be one a turn further on.
    st.lists(st.integers(0, 359_900).map(lambda n: n / 1000), min_size=1, max_size=6, unique=True).map(
        sorted
    ),
    st.floats(-360, 719),
)
def test_turbulence_goes_round_and_stays_between_its_points(points: list[float], direction: float) -> None:
    values = np.linspace(0.05, 0.2, len(points))
    table = TurbulenceTable(values, points)
    at = table.at(np.array([direction, direction + 360.0]), np.array([9.0]))
    assert values.min() - 1e-12 <= at[0, 0] <= values.max() + 1e-12
    assert at[1, 0] == pytest.approx(at[0, 0], rel=1e-6)
    np.testing.assert_allclose(table.at(np.array(points), np.array([9.0]))[:, 0], values, rtol=1e-12)
    around = np.interp(direction, points, values, period=360.0)
    assert at[0, 0] == pytest.approx(around, rel=1e-9)


def test_every_site_takes_a_turbulence_table_and_shows_its_range() -> None:
    table = TurbulenceTable([0.1, 0.2], None, [4, 12])
    for site in (
        WeibullSite((1.0,), (9.0,), (2.0,), table, default_speeds=[8.0]),
        TableSite([[1.0]], [8.0], table),
        UniformSite((1.0,), 8.0, table),
    ):
        np.testing.assert_allclose(site.states().turbulence, 0.15, rtol=1e-14)
        assert repr(site).endswith("turbulence intensity 0.1 to 0.2>")
    assert repr(table) == "<TurbulenceTable: by wind speed>"
    assert repr(TurbulenceTable([[0.1]], [0], [4])) == "<TurbulenceTable: by direction and wind speed>"


@pytest.mark.parametrize("outside", ["hold", "zero"])
@pytest.mark.parametrize("own", [True, False], ids=["own thrust speeds", "shared speeds"])
def test_a_table_holds_its_ends_or_is_zero_outside(outside: Any, own: bool) -> None:
    speed, power, thrust = [4.0, 8.0, 12.0, 25.0], [4e5, 3e6, 1e7, 1e7], [0.9, 0.8, 0.4, 0.1]
    thrust_speed = [3.0, 7.0, 12.5, 26.0] if own else speed
    turbine = Turbine.tabulated(
        "t", 198, 119, speed, power, thrust, thrust_wind_speed=thrust_speed if own else None, outside=outside
    )
    u = np.concatenate(
        [np.linspace(0, 30, 301), speed, np.nextafter(speed, 99), np.nextafter(thrust_speed, 0)]
    )
    ends = {} if outside == "hold" else {"left": 0.0, "right": 0.0}
    np.testing.assert_allclose(turbine.power_at(u), np.interp(u, speed, power, **ends), rtol=1e-13)
    np.testing.assert_allclose(
        turbine.thrust_coefficient_at(u), np.interp(u, thrust_speed, thrust, **ends), rtol=1e-13, atol=1e-15
    )


def test_energies_of_a_table_that_is_zero_outside_lack_what_the_held_ends_add() -> None:
    table = ([4.0, 8.0, 12.0], [4e5, 3e6, 5e6], [0.8, 0.8, 0.4])
    site = UniformSite((0.25,) * 4, 3.5)
    hold, zero = (Turbine.tabulated("t", 150, 90, *table, outside=outside) for outside in BOTH_ENDS)
    assert WindFarm(site, hold, "bastankhah-2014").aep(X, Y) > 10.0
    assert WindFarm(site, zero, "bastankhah-2014").aep(X, Y) == 0.0
    windy = WindFarm(site, zero, "bastankhah-2014", speeds=[13.0])
    assert windy.aep(X, Y) == 0.0


def test_cubic_power_keeps_its_form_with_a_thrust_table() -> None:
    thrust_speed, thrust = [3.0, 7.3, 12.5], [0.9, 0.8, 0.3]
    about: dict[str, Any] = {"cut_in": 4.0, "rated_speed": 11.0, "cut_out": 25.0}
    plain = Turbine.cubic("c", 10, 198, 119, **about, thrust_coefficient=0.8)
    tabulated = Turbine.cubic(
        "c", 10, 198, 119, **about, thrust_coefficient=thrust, thrust_wind_speed=thrust_speed
    )
    u = np.linspace(0, 30, 601)
    np.testing.assert_allclose(tabulated.power_at(u), plain.power_at(u), rtol=1e-12, atol=1e-6)
    np.testing.assert_allclose(
        tabulated.thrust_coefficient_at(u), np.interp(u, thrust_speed, thrust), rtol=1e-13
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: TimeSeriesSite([8.0], [0.0], 0.1, [1.0, 2.0]).states(),
            "weight must have one value per step, 1",
        ),
        (lambda: TimeSeriesSite([8.0], [0.0], 0.1, [0.0]).states(), "finite sum above 0, not 0"),
        (lambda: TimeSeriesSite([8.0], [0.0], 0.1, [-1.0]).states(), r"weight\[0\] is -1"),
        (lambda: UniformSite(turbulence_intensity=TurbulenceTable([0.1])).states(), "needs wind_directions"),
        (
            lambda: UniformSite(turbulence_intensity=TurbulenceTable([0.1], [0, 1])).states(),
            r"the shape \(2,\)",
        ),
        (
            lambda: UniformSite(turbulence_intensity=TurbulenceTable([0.1, 7], [0, 1])).states(),
            r"in \[0, 5\]",
        ),
        (
            lambda: UniformSite(turbulence_intensity=TurbulenceTable([0.1, 0.1], [1, 0])).states(),
            "must increase",
        ),
        (lambda: UniformSite(turbulence_intensity=TurbulenceTable(["x"], [0])).states(), "must be numbers"),
        (
            lambda: Turbine.tabulated("t", 9, 9, [1, 2], [1, 2], [1, 1], outside=NO_END),
            "'hold' or 'zero', not 'clip'",
        ),
        (lambda: Turbine.tabulated("t", 9, 9, [1], [1], [1], outside="zero"), "two wind speeds or more"),
        (
            lambda: Turbine.tabulated("t", 9, 9, [1, 2], [1, 2], [1, 1], thrust_wind_speed=[2, 1]),
            "wind speeds of thrust must increase",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()
