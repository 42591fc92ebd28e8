"""What must hold for any farm, and what happens at the edges and with wrong input."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K, spread_out
from vindeby.errors import ArgumentError
from vindeby.wake import (
    MODELS,
    Neighbours,
    TableSite,
    TimeSeriesSite,
    Turbine,
    UniformSite,
    WeibullSite,
    WindFarm,
    iea37_335mw,
    model_named,
)
from vindeby.wake.compiling.compiled import scalar

pytestmark = pytest.mark.slow

SITE = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K)
TURBINE = Turbine.generic("generic", 15, 240, 150)
DIRECTIONS = np.arange(0, 360, 10.0)
SPEEDS = np.array([5.0, 8.0, 10.0, 12.0, 18.0])


def farm(model: str = "nygaard-2022", **options: Any) -> WindFarm:
    return WindFarm(SITE, TURBINE, model, directions=DIRECTIONS, speeds=SPEEDS, **options)


@pytest.fixture(params=sorted(MODELS))
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=sorted(set(MODELS) - {"cumulative-curl"}))
def sloped_model(request: pytest.FixtureRequest) -> str:
    """A model that has a gradient."""
    return str(request.param)


def test_moving_the_whole_farm_changes_nothing(model: str) -> None:
    x, y = (v - v.min() for v in spread_out(1, 20, 700, 6000))
    here = farm(model)
    assert here.aep(x + 4096.0, y - 2048.0) == pytest.approx(here.aep(x, y), rel=1e-12)


def test_renumbering_turbines_changes_nothing(model: str) -> None:
    x, y = spread_out(2, 20, 700, 6000)
    shuffled = np.random.default_rng(0).permutation(20)
    here = farm(model)
    assert here.aep(x[shuffled], y[shuffled]) == pytest.approx(here.aep(x, y), rel=1e-12)
    np.testing.assert_allclose(
        here.turbine_aep(x[shuffled], y[shuffled]), here.turbine_aep(x, y)[shuffled], rtol=1e-12
    )


def test_turning_farm_and_wind_together_changes_nothing(model: str) -> None:
    x, y = (v - v.mean() for v in spread_out(3, 20, 700, 6000))
    probability = np.random.default_rng(1).dirichlet(np.ones(36 * 3)).reshape(36, 3)
    turned_by = np.deg2rad(50.0)  # five sectors, clockwise
    turned_x = x * np.cos(turned_by) + y * np.sin(turned_by)
    turned_y = y * np.cos(turned_by) - x * np.sin(turned_by)
    before = WindFarm(TableSite(probability, [6.0, 9.0, 12.0]), TURBINE, model)
    after = WindFarm(TableSite(np.roll(probability, 5, axis=0), [6.0, 9.0, 12.0]), TURBINE, model)
    assert after.aep(turned_x, turned_y) == pytest.approx(before.aep(x, y), rel=1e-12)


def test_wakes_only_take(model: str) -> None:
    x, y = spread_out(4, 20, 500, 4000)
    here = farm(model)
    free = here.wake_free_aep(20)
    assert 0.5 * free < here.aep(x, y) < free
    assert here.wake_loss(x, y) == pytest.approx(1 - here.aep(x, y) / free)
    alone = here.turbine_aep([0.0], [0.0])
    assert np.all(here.turbine_aep(x, y) <= alone * (1 + 1e-12))
    assert here.wake_free_aep(1) == pytest.approx(alone[0], rel=1e-12)


def test_a_far_neighbour_changes_nothing_and_a_near_one_does(model: str) -> None:
    x, y = (v - v.mean() for v in spread_out(5, 10, 700, 4000))
    winds: dict[str, Any] = {"directions": [0.0, 90.0, 180.0, 270.0], "speeds": SPEEDS}
    alone = WindFarm(SITE, TURBINE, model, **winds).aep(x, y)
    for place, changes in ((Neighbours([2e5], [2e5]), False), (Neighbours([x[0]], [y.min() - 1000]), True)):
        with_it = WindFarm(SITE, TURBINE, model, neighbours=place, **winds).aep(x, y)
        assert (abs(with_it / alone - 1) > 1e-10) == changes


@pytest.mark.parametrize("model", ["nygaard-2022", "iea37"])
def test_leaving_out_what_is_out_of_reach_is_exact_to_1e_10(model: str) -> None:
    named = model_named(model)

    @scalar
    def everywhere(data, downwind, diameter, rotor, thrust, turbulence):  # type: ignore[no-untyped-def]
        return 1e9

    x, y = spread_out(6, 30, 700, 12000)
    everything = dataclasses.replace(named, name=f"{model} without limits", reach=everywhere)
    limited = WindFarm(SITE, TURBINE, named, directions=DIRECTIONS, tabulate=False).aep(x, y)
    full = WindFarm(SITE, TURBINE, everything, directions=DIRECTIONS, tabulate=False).aep(x, y)
    assert limited == pytest.approx(full, rel=1e-10)


def test_tables_agree_with_the_model_they_stand_for() -> None:
    for seed in range(6):
        x, y = spread_out(seed, 40, 720, 15000)
        tables, direct = farm().turbine_aep(x, y), farm(tabulate=False).turbine_aep(x, y)
        assert tables.sum() == pytest.approx(direct.sum(), rel=1e-7)
        np.testing.assert_allclose(tables, direct, rtol=1e-6)


def test_opposite_directions_share_their_work_exactly() -> None:
    x, y = spread_out(7, 25, 600, 7000)
    directions = [20.0, 90.0, 200.0, 270.0]
    together = WindFarm(SITE, TURBINE, directions=directions, speeds=SPEEDS)
    singly = [WindFarm(SITE, TURBINE, directions=[d], speeds=SPEEDS) for d in directions]
    # One direction alone stands for the whole circle, one of four for a quarter.
    expected: list[Any] = [
        sum(parts) / 4 for parts in zip(*(one.aep_and_gradient(x, y) for one in singly), strict=True)
    ]
    assert together.aep(x, y) == pytest.approx(expected[0], rel=1e-12)
    got: Any
    for got, wanted in zip(together.aep_and_gradient(x, y), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("tabulate", [True, False])
def test_the_number_of_threads_changes_no_bit(tabulate: bool) -> None:
    x, y = spread_out(8, 25, 600, 7000)
    one, four = (WindFarm(SITE, TURBINE, threads=n, tabulate=tabulate, speeds=SPEEDS) for n in (1, 4))
    assert one.aep(x, y) == four.aep(x, y) == one.aep(x, y)
    for a, b in zip(one.aep_and_gradient(x, y), four.aep_and_gradient(x, y), strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_turbine_and_none(sloped_model: str) -> None:
    here = farm(sloped_model)
    assert here.aep([], []) == 0.0
    assert here.wake_loss([], []) == 0.0
    assert here.power([], []).shape == (0, 36, 5)
    aep, along_x, along_y = here.aep_and_gradient([], [])
    assert (aep, len(along_x), len(along_y)) == (0.0, 0, 0)
    aep, along_x, along_y = here.aep_and_gradient([12.0], [7.0])
    assert aep == pytest.approx(here.wake_free_aep(1), rel=1e-12)
    assert along_x[0] == along_y[0] == 0.0


def test_coincident_and_aligned_turbines_are_finite(sloped_model: str) -> None:
    here = farm(sloped_model)
    for x, y in (
        ([0, 0, 0], [0, 0, 0]),
        ([0, 0, 0], [0, 700, 1400]),
        ([0, 700, 1400], [0, 0, 0]),
        ([0, 1e-9], [0, 0]),
    ):
        aep, along_x, along_y = here.aep_and_gradient(x, y)
        assert np.isfinite(aep)
        assert 0 <= aep < here.wake_free_aep(len(x))
        assert np.isfinite(along_x).all()
        assert np.isfinite(along_y).all()


def test_wind_outside_the_curve_is_defined() -> None:
    turbine = Turbine.tabulated("table", 100, 90, [4, 12, 25], [0, 2e6, 2e6], [0.8, 0.7, 0.1])
    here = WindFarm(SITE, turbine, speeds=[0.0, 1.0, 30.0, 60.0], directions=[0.0, 180.0])
    power = here.power([0, 0], [0, 500])
    assert np.all(power[:, :, :2] == 0.0)
    assert np.all(power[:, :, 2:] == 2e6)
    assert np.isfinite(here.aep_and_gradient([0, 0], [0, 500])[0])


def test_a_constant_thrust_above_the_limit_is_not_tabulated() -> None:
    turbine = Turbine.tabulated("table", 100, 90, [4, 12, 25], [0, 2e6, 2e6], [0.99, 0.7, 0.1])
    here = WindFarm(SITE, turbine, directions=DIRECTIONS)
    assert here.loops != "tabulated"
    assert here.aep([0, 0], [0, 500]) < here.wake_free_aep(2)


def test_flow_map_of_an_empty_farm_is_the_free_wind() -> None:
    flow = farm().flow_map([], [], direction=270, speed=8, grid_x=[0, 1], grid_y=[0, 1, 2])
    np.testing.assert_array_equal(flow.wind_speed, np.full((3, 2), 8.0))
    assert flow.height_m == 150.0


@pytest.mark.parametrize(
    ("x", "y", "types", "message"),
    [
        ([0, np.nan], [0, 1], 0, r"x\[1\] is nan"),
        ([0, 1], [0, np.inf], 0, r"y\[1\] is inf"),
        ([0, 1], [0], 0, "same length"),
        ([[0, 1]], [[0, 1]], 0, "same length"),
        (["a"], [0], 0, "must be numbers"),
        ([0, 1000], [0, 1], [0, 1], "from 0 to 0"),
        ([0, 1000], [0, 1], [0], "one index or 2"),
        ([0, 1000], [0, 1], 0.5, "whole numbers"),
        ([0, 900, 0, 50], [5, 0, 5, 0], 0, r"turbines 0 and 2 both stand at \(0, 5\); give each a place"),
        ([7, 7, 7], [55, 55, 55], 0, "turbines 0 and 1 both stand at"),
        (
            [7.01, 7.2, 7.4],
            [55.1, 55.2, 55.3],
            0,
            r"within 0.39 m, less than the radius of a rotor, 120 m; .*degrees",
        ),
    ],
)
def test_wrong_layouts_are_refused_with_the_reason(x: Any, y: Any, types: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        farm().aep(x, y, types)


def test_wrong_farms_are_refused_with_the_reason() -> None:
    with pytest.raises(ArgumentError, match="did you mean 'nygaard-2022'"):
        WindFarm(SITE, TURBINE, "nygard-2022")
    with pytest.raises(ArgumentError, match="non-empty list"):
        WindFarm(SITE, [])
    with pytest.raises(ArgumentError, match="threads"):
        WindFarm(SITE, TURBINE, threads=0)
    with pytest.raises(ArgumentError, match="turbulence intensity above 0"):
        WindFarm(WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, 0.0), TURBINE)
    with pytest.raises(ArgumentError, match="finite"):
        farm().flow_map([0], [0], direction=0, speed=8, grid_x=[np.nan], grid_y=[0])


def test_a_time_series_hands_out_results_in_its_own_order() -> None:
    direction, speed = np.array([270.0, 0.0, 270.0, 90.0]), np.array([8.0, 9.0, 10.0, 11.0])
    series = WindFarm(TimeSeriesSite(speed, direction), TURBINE, "iea37")
    power = series.power([0, 900], [0, 0])
    for step in range(4):
        one = WindFarm(UniformSite((1.0,), speed[step]), TURBINE, "iea37", directions=[direction[step]])
        np.testing.assert_allclose(power[:, step], one.power([0, 900], [0, 0])[:, 0, 0], rtol=1e-13)


def test_states_that_share_their_thrust_share_their_wakes() -> None:
    here = WindFarm(SITE, iea37_335mw(), "iea37", directions=[270.0], speeds=[7.0, 9.0])
    speed = here.wind_speed([0, 800], [0, 0])
    assert speed[1, 0, 0] / 7.0 == pytest.approx(speed[1, 0, 1] / 9.0, rel=1e-14)
