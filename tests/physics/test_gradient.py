"""The gradient is that of the energy: against differences, by Taylor's theorem, and between the two loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K, spread_out
from vindeby.wake import MODELS, Neighbours, TimeSeriesSite, Turbine, WeibullSite, WindFarm, iea37_10mw

pytestmark = pytest.mark.slow

SITE = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K)
DIRECTIONS = np.arange(0, 360, 30.0)
WITH_GRADIENT = sorted(set(MODELS) - {"cumulative-curl"})  # it refuses, which test_cumulative_curl.py checks


def smooth_turbine(diameter: float = 240.0, height: float = 150.0) -> Turbine:
    """Curves without kinks up to 40 m/s."""
    power = np.array([[0.0, 4e5, 6e4, -9e2], [0.0, 0.0, 0.0, 0.0]])
    thrust = np.array([[0.85, -0.02], [0.05, 0.0]])
    return Turbine("smooth", diameter, height, np.array([0.0, 40.0]), power, thrust)


def central_differences(
    farm: WindFarm, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], step: float
) -> npt.NDArray[np.float64]:
    both = np.concatenate([x, y])
    gradient = np.empty_like(both)
    for i in range(len(both)):
        ahead, back = both.copy(), both.copy()
        ahead[i] += step
        back[i] -= step
        # Fourth order: the two-point formula at two steps.
        far_ahead, far_back = both.copy(), both.copy()
        far_ahead[i] += 2 * step
        far_back[i] -= 2 * step
        near = farm.aep(*np.split(ahead, 2)) - farm.aep(*np.split(back, 2))
        far = farm.aep(*np.split(far_ahead, 2)) - farm.aep(*np.split(far_back, 2))
        gradient[i] = (8 * near - far) / (12 * step)
    return gradient


@pytest.mark.parametrize(
    ("model", "tabulate"), [("nygaard-2022", True), *((model, False) for model in WITH_GRADIENT)]
)
def test_gradient_equals_central_differences(model: str, tabulate: bool) -> None:
    farm = WindFarm(
        SITE, smooth_turbine(), model, directions=DIRECTIONS, speeds=np.arange(6.0, 15.0), tabulate=tabulate
    )
    x, y = spread_out(11, 10, 700, 4200)
    aep, along_x, along_y = farm.aep_and_gradient(x, y)
    assert aep == pytest.approx(farm.aep(x, y), rel=1e-13)
    # A top hat has kinks where its edge touches a rotor; the step must stay on one side of them.
    step = 0.01 if model == "turbopark-2020" else 0.05
    expected = central_differences(farm, x - x.mean(), y - y.mean(), step)
    gradient = np.concatenate([along_x, along_y])
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * np.abs(expected).max(), rtol=1e-6)


@pytest.mark.parametrize("model", ["nygaard-2022", "niayifar-2016", "bastankhah-2014"])
def test_what_is_left_of_a_taylor_series_shrinks_with_the_square(model: str) -> None:
    farm = WindFarm(SITE, smooth_turbine(), model, directions=DIRECTIONS)
    x, y = (v - v.mean() for v in spread_out(12, 15, 700, 6000))
    rng = np.random.default_rng(0)
    dx, dy = rng.normal(size=(2, 15))
    aep, along_x, along_y = farm.aep_and_gradient(x, y)
    slope = along_x @ dx + along_y @ dy
    steps = np.array([4.0, 2.0, 1.0, 0.5])
    left = np.array([abs(farm.aep(x + h * dx, y + h * dy) - aep - h * slope) for h in steps])
    orders = np.log2(left[:-1] / left[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


def test_tables_and_model_give_nearly_the_same_gradient() -> None:
    x, y = spread_out(13, 20, 800, 8000)
    turbine = Turbine.generic("generic", 15, 240, 150)
    tables = WindFarm(SITE, turbine, directions=DIRECTIONS)
    model = WindFarm(SITE, turbine, directions=DIRECTIONS, tabulate=False)
    assert tables.loops == "tabulated"
    assert model.loops != "tabulated"
    pairs: Any = zip(tables.aep_and_gradient(x, y), model.aep_and_gradient(x, y), strict=True)
    for ours, exact in pairs:
        np.testing.assert_allclose(ours, exact, rtol=1e-3, atol=1e-3 * np.abs(exact).max())


@pytest.mark.parametrize("model", ["nygaard-2022", "jensen"])
def test_gradient_with_types_neighbours_and_a_time_series(model: str) -> None:
    rng = np.random.default_rng(3)
    site = TimeSeriesSite(rng.uniform(6, 13, 40), rng.uniform(0, 360, 40), rng.uniform(0.06, 0.12, 40))
    x, y = (v - v.mean() for v in spread_out(14, 12, 700, 4000))
    kind = np.array([0, 1] * 4)
    pair = [smooth_turbine(), smooth_turbine(180.0, 110.0)]
    for where in (site, SITE):
        directions = DIRECTIONS if where is SITE else None
        farm = WindFarm(where, pair, model, directions=directions, neighbours=Neighbours(x[8:], y[8:], 1))
        _, along_x, along_y = farm.aep_and_gradient(x[:8], y[:8], kind)
        assert along_x.shape == along_y.shape == (8,)
        for i in (0, 3, 6):
            step = np.where(np.arange(8) == i, 0.02, 0.0)
            for got, sx, sy in ((along_x[i], step, 0 * step), (along_y[i], 0 * step, step)):
                ahead = farm.aep(x[:8] + sx, y[:8] + sy, kind)
                back = farm.aep(x[:8] - sx, y[:8] - sy, kind)
                assert got == pytest.approx((ahead - back) / 0.04, rel=2e-5, abs=2e-5 * np.abs(along_x).max())


def test_gradient_of_an_analytic_curve_below_rated() -> None:
    site = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K)
    farm = WindFarm(site, iea37_10mw(), "iea37", directions=DIRECTIONS, speeds=[7.0, 8.0, 9.0])
    x, y = (v - v.mean() for v in spread_out(15, 9, 500, 2500))
    _, along_x, along_y = farm.aep_and_gradient(x, y)
    expected = central_differences(farm, x, y, 0.2)
    np.testing.assert_allclose(
        np.concatenate([along_x, along_y]), expected, atol=1e-6 * np.abs(expected).max()
    )
