"""A farm in several scenarios: its energy is made of theirs, its gradient is the slope of what it says."""

from __future__ import annotations

from functools import cache
from math import inf, log
from typing import Any

import numpy as np
import pytest

from vindeby.errors import ArgumentError
from vindeby.layout.moves.walk import mover_of
from vindeby.wake import Neighbours, ScenarioFarm, TableSite, Turbine, WindFarm
from vindeby.wake.scenarios import SMOOTHNESS

THRUST: dict[str, Any] = {
    "cut_in": 3.0,
    "rated_speed": 11.0,
    "cut_out": 25.0,
    "thrust_coefficient": [0.8, 0.8, 0.4],
}
TURBINE = Turbine.cubic("t", 4.0, 120.0, 90.0, thrust_wind_speed=[3.0, 9.0, 25.0], **THRUST)
OTHER = Turbine.cubic("u", 2.0, 80.0, 70.0, thrust_wind_speed=[3.0, 8.0, 25.0], **THRUST)
TABLE = np.arange(1.0, 37.0).reshape(12, 3) / 666.0
X, Y = np.array([0.0, 700.0, 1500.0, 300.0, 2100.0]), np.array([0.0, 150.0, 80.0, 900.0, 1100.0])
NEAR = Neighbours([-900.0, 3000.0], [100.0, 600.0], 1)


@cache
def parts() -> tuple[WindFarm, ...]:
    site, windy = TableSite(TABLE, [6.0, 9.0, 12.0]), TableSite(TABLE[::-1], [6.0, 9.0, 12.0])
    types = [TURBINE, OTHER]
    return (
        WindFarm(site, types, "bastankhah-2014"),
        WindFarm(site, types, "bastankhah-2014", neighbours=NEAR),
        WindFarm(windy, types, {"bastankhah-2014": {"k": 0.06}}),
    )


def gwh() -> np.ndarray:
    return np.array([part.aep(X, Y) for part in parts()])


def valued(over: str) -> ScenarioFarm:
    return ScenarioFarm(parts(), [1, 2, 5], over)  # type: ignore[arg-type]


def test_the_energy_is_the_mean_or_the_least() -> None:
    mean, worst = ScenarioFarm(parts(), [1, 2, 5]), ScenarioFarm(parts(), over="worst")
    assert mean.aep(X, Y) == pytest.approx(float(gwh() @ [1, 2, 5]) / 8, rel=1e-14)
    assert worst.aep(X, Y) == pytest.approx(gwh().min(), rel=1e-14)
    np.testing.assert_array_equal(worst.scenario_aep(X, Y), gwh())


def test_layouts_keep_clear_of_the_neighbours_of_every_scenario() -> None:
    beside = ScenarioFarm(parts()).neighbours
    assert beside is not None
    places = np.stack([np.asarray(beside.x), np.asarray(beside.y), np.asarray(beside.types)], axis=1)
    assert sorted(places.tolist()) == [[-900.0, 100.0, 1.0], [3000.0, 600.0, 1.0]]


@pytest.mark.parametrize("over", ["mean", "worst"])
def test_the_gradient_is_the_slope_of_the_energy_that_comes_with_it(over: str) -> None:
    farm = valued(over)
    energy, east, north = farm.aep_and_gradient(X, Y)
    exact = farm.aep(X, Y)
    if over == "mean":
        assert energy == pytest.approx(exact, rel=1e-12)
    width = SMOOTHNESS * float(farm.weights @ gwh())
    assert exact - width * log(3) - 1e-9 <= energy <= exact + 1e-9
    for i in range(len(X)):
        for slope, move in ((east, np.array([1.0, 0.0])), (north, np.array([0.0, 1.0]))):
            step = 0.01 * np.outer(move, np.arange(len(X)) == i)
            up, down = (farm.aep_and_gradient(X + sign * step[0], Y + sign * step[1])[0] for sign in (1, -1))
            assert slope[i] == pytest.approx((up - down) / 0.02, rel=1e-4, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("over", ["mean", "worst"])
def test_moves_that_are_followed_in_each_scenario_give_the_energy_of_the_whole_layout(over: str) -> None:
    farm = valued(over)
    origin = np.array([100.0, 200.0])
    beside = farm.neighbours
    assert beside is not None
    x, y = np.append(X, beside.x) - origin[0], np.append(Y, beside.y) - origin[1]
    types = np.append(np.zeros(len(X), np.int64), beside.types)
    mover = mover_of(farm, x, y, types, len(X), origin=origin)
    common = farm.data, farm.turbine_arrays, farm.wind_near(origin), mover.moves
    energy = mover.kernels.settle(*common)
    assert energy == pytest.approx(farm.aep(X, Y), rel=1e-10)
    rng, now = np.random.default_rng(0), np.stack([X, Y])
    for number in range(12):
        which, place = int(rng.integers(len(X))), rng.uniform(-300, 2400, 2)
        gain = mover.kernels.gained(*common, which, *(place - origin), -inf)
        after = now.copy()
        after[:, which] = place
        assert energy + gain == pytest.approx(farm.aep(*after), rel=1e-10)
        if number % 2:
            mover.kernels.keep(*common, which, *(place - origin))
            energy, now = energy + gain, after
    assert mover.kernels.settle(*common) == pytest.approx(farm.aep(*now), rel=1e-10)


def test_farms_of_other_types_and_weights_of_another_number_are_refused() -> None:
    other = WindFarm(TableSite(TABLE, [6.0, 9.0, 12.0]), OTHER)
    with pytest.raises(ArgumentError, match="same turbine types"):
        ScenarioFarm([parts()[0], other])
    with pytest.raises(ArgumentError, match="a number above 0 for each scenario"):
        ScenarioFarm(parts(), [1, 2])
