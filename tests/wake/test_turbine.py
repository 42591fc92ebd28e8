"""Power and thrust curves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.physics.oracle import needs_pywake, pywake_generic
from vindeby.errors import ArgumentError
from vindeby.wake import Turbine, iea37_10mw, iea37_335mw
from vindeby.wake.turbines.curves import curves_at, curves_with_slopes, thrust_variable, turbine_arrays


@needs_pywake
@pytest.mark.parametrize(("rated", "diameter"), [(10, 195), (15, 240), (3.35, 130), (22, 284)])
def test_the_generic_turbine_is_pywakes(rated: float, diameter: float) -> None:
    turbine, theirs = Turbine.generic("generic", rated, diameter, 100), pywake_generic(rated, diameter, 100)
    speed = np.linspace(0, 40, 1234)
    np.testing.assert_allclose(turbine.power_at(speed), theirs.power(speed), rtol=1e-12, atol=1e-6)
    np.testing.assert_allclose(turbine.thrust_coefficient_at(speed), theirs.ct(speed), rtol=1e-12)


def test_a_table_is_interpolated_linearly_and_held_at_its_ends() -> None:
    rows = ([3.0, 5.0, 11.0, 25.0], [0.0, 1e6, 8e6, 8e6], [0.9, 0.8, 0.7, 0.1])
    turbine = Turbine.tabulated("table", 170, 100, *rows)
    speed = np.linspace(0, 35, 777)
    np.testing.assert_allclose(
        turbine.power_at(speed), np.interp(speed, rows[0], rows[1]), rtol=1e-13, atol=1e-8
    )
    np.testing.assert_allclose(
        turbine.thrust_coefficient_at(speed), np.interp(speed, rows[0], rows[2]), rtol=1e-13
    )
    assert turbine.thrust_range() == pytest.approx((0.1, 0.9), rel=1e-14)


@pytest.mark.parametrize(
    ("turbine", "rated", "rated_speed"), [(iea37_335mw(), 3.35e6, 9.8), (iea37_10mw(), 1e7, 11.0)]
)
def test_the_case_study_turbines(turbine: Turbine, rated: float, rated_speed: float) -> None:
    speed = np.array([0.0, 4.0, 7.0, rated_speed, 20.0, 25.0, 25.1])
    cube = rated * ((7.0 - 4.0) / (rated_speed - 4.0)) ** 3
    np.testing.assert_allclose(turbine.power_at(speed), [0, 0, cube, rated, rated, rated, 0], rtol=1e-14)
    assert turbine.thrust_range() == (8 / 9, 8 / 9)


@pytest.mark.parametrize(
    "turbine",
    [
        Turbine.generic("generic", 12, 214, 133),
        iea37_335mw(),
        Turbine.tabulated(
            "rough",
            90,
            80,
            [3, 3 + 1e-8, 9, 14, 25, 25 + 1e-8],
            [0, 1e5, 2e6, 3e6, 3e6, 0],
            [0, 0.85, 0.8, 0.5, 0.1, 0],
        ),
    ],
    ids=lambda t: t.name,
)
def test_the_compiled_curves_are_the_same(turbine: Turbine) -> None:
    machines = turbine_arrays([iea37_10mw(), turbine])
    knots = np.concatenate([turbine.start, turbine.start + 1e-9, [0.0, 99.0]])
    for speed in np.concatenate([np.random.default_rng(0).uniform(0, 32, 400), knots]):
        power, thrust = curves_at(machines, 1, float(speed))
        assert power == pytest.approx(float(turbine.power_at(speed)), rel=1e-9, abs=1e-3)
        assert thrust == pytest.approx(float(turbine.thrust_coefficient_at(speed)), rel=1e-9, abs=1e-12)
        same_power, same_thrust, slope, _ = curves_with_slopes(machines, 1, float(speed))
        assert (same_power, same_thrust) == (power, thrust)
        assert np.isfinite(slope)
    assert curves_at(machines, 1, -3.0) == curves_at(machines, 1, 0.0)


def test_pieces_hold_the_thrust_variable_to_1e_9() -> None:
    turbine = Turbine.generic("generic", 15, 240, 150)
    rows = turbine_arrays([turbine]).piece.reshape(-1, 12)
    for row in rows[:-1]:
        for part in (0.0, 0.25, 0.7):
            along = part * (row[11] - row[10])
            t = ((row[9] * along + row[8]) * along + row[7]) * along + row[6]
            thrust = float(turbine.thrust_coefficient_at(row[10] + along))
            assert t == pytest.approx(thrust_variable(thrust), abs=1e-9)


def test_the_thrust_variable_of_a_curve_that_begins_at_zero_thrust_stays_within_its_range() -> None:
    """Its slope is infinite there; outside the range, wakes would be read from elsewhere in memory."""
    rows = ([2.0, 3.0, 4.0, 12.0, 25.0, 26.0], [0.0, 0.0, 1e5, 3e6, 3e6, 0.0], [0.0, 0.0, 0.8, 0.8, 0.2, 0.0])
    turbine = Turbine.tabulated("stops", 120, 100, *rows)
    for row in turbine_arrays([turbine]).piece.reshape(-1, 12)[:-1]:
        along = np.linspace(0.0, row[11] - row[10], 101)
        t = ((row[9] * along + row[8]) * along + row[7]) * along + row[6]
        ends = [thrust_variable(float(turbine.thrust_coefficient_at(speed))) for speed in row[10:12]]
        assert t.min() >= min(ends) - 1e-9
        assert t.max() <= max(ends) + 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rotor_diameter_m": 0}, "rotor_diameter_m must be a positive"),
        ({"hub_height_m": np.nan}, "hub_height_m must be a positive"),
        ({"wind_speed": [3, 3, 5]}, "must increase"),
        ({"power_w": [0, 1]}, "one length"),
        ({"power_w": [0, np.nan, 1]}, "power_w must hold finite"),
        ({"thrust_coefficient": [0.5, -0.1, 0.2]}, "thrust_coefficient must hold finite"),
        ({"thrust_coefficient": [0.5, 2.0, 0.2]}, "not a thrust coefficient"),
    ],
)
def test_wrong_tables_are_refused(change: dict[str, object], message: str) -> None:
    right = {
        "name": "table",
        "rotor_diameter_m": 100,
        "hub_height_m": 90,
        "wind_speed": [3, 4, 5],
        "power_w": [0, 1, 2],
        "thrust_coefficient": [0.8, 0.8, 0.8],
    }
    with pytest.raises(ArgumentError, match=message):
        Turbine.tabulated(**{**right, **change})  # type: ignore[arg-type]


def test_power_that_no_rotor_of_the_size_can_have_is_refused_and_published_curves_are_not() -> None:
    speed, kw, ct = [4.0, 8.0, 12.0, 25.0], [66.6, 770.0, 2000.0, 2000.0], [0.8, 0.8, 0.4, 0.1]
    with pytest.raises(
        ArgumentError, match=r"the largest power is 2000 W, less than a hundredth.*give power_w in W"
    ):
        Turbine.tabulated("kW", 80, 70, speed, kw, ct)
    with pytest.raises(ArgumentError, match=r"above the Betz limit of 0.593; give power_w in W"):
        Turbine.tabulated("mW", 80, 70, speed, np.multiply(kw, 1e6), ct)
    assert Turbine.tabulated("W", 80, 70, speed, np.multiply(kw, 1e3), ct).power_at(30.0) == 2e6
    gusty = Turbine.tabulated("measured", 80, 70, [2.0, *speed], [25e3, *np.multiply(kw, 1e3)], [0.8, *ct])
    assert gusty.power_at(2.0) == 25e3  # 1.01 of the wind, where hardly any power is
    for wrong in (10_000, 1e-2):
        with pytest.raises(ArgumentError, match="give rated_power_mw in MW and rotor_diameter_m in metres"):
            Turbine.generic("kW", wrong, 178, 119)
    with pytest.raises(ArgumentError, match="Betz"):
        Turbine.cubic("kW", 3350, 130, 110, cut_in=4, rated_speed=9.8, cut_out=25, thrust_coefficient=0.8)


def test_a_curve_that_would_go_on_for_ever_is_refused() -> None:
    with pytest.raises(ArgumentError, match="must be constant"):
        Turbine("endless", 100, 90, np.array([0.0]), np.array([[0.0, 1.0, 0.0, 0.0]]), np.array([[0.8, 0.0]]))
    with pytest.raises(ArgumentError, match="positive"):
        Turbine.generic("none", 0, 100, 90)
