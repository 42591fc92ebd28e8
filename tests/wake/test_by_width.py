"""The loops that go by the width of wakes: beside the model itself, in all that they must serve."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ncx2

from vindeby.errors import ArgumentError
from vindeby.wake import Neighbours, TimeSeriesSite, Turbine, UniformSite, WindFarm, WindStates
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.loops.width_steps import LARGEST_T, means
from vindeby.wake.models.nygaard_2022 import SMALLEST_Y, growth, growth_with_slope

pytestmark = pytest.mark.slow

FloatArray = npt.NDArray[np.float64]
SPEEDS = np.array([4.0, 7.0, 8.5, 10.0, 12.0, 14.0, 18.0, 24.0])

mean_of = numba.vectorize(["f8(f8,f8)"])(lambda z, t: means(z, 2.0 * z, t)[0])
mirror_of = numba.vectorize(["f8(f8,f8)"])(lambda z, t: means(0.5 * z, z, t)[1])
growth_of = numba.vectorize(["f8(f8)"])(lambda y: growth(y))


@scalar
def slopes_of(z: float, t: float) -> tuple[float, float, float, float, float, float]:
    return means(z, z + 0.7, t)


@scalar
def growth_slope_of(y: float) -> float:
    return growth_with_slope(y)[1]


@dataclass(frozen=True)
class BySpeed:
    """A site whose turbulence intensity falls with the wind speed."""

    directions: tuple[float, ...] = (10.0, 100.0, 190.0, 277.0)

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """The wind states."""
        frequency = np.full(len(self.directions), 1.0 / len(self.directions))
        states = UniformSite(frequency, 9.0).states(self.directions, SPEEDS)
        weight = np.tile(np.linspace(0.2, 0.05, len(SPEEDS)), len(self.directions)) / len(self.directions)
        return replace(states, turbulence=0.05 + 0.4 / states.speed, probability=weight)


def turbines() -> list[Turbine]:
    """Five types: too many for tables of pairs."""
    sizes = ((10, 195, 121), (11, 205, 128), (12, 214, 133), (14, 231, 144), (15, 240, 150))
    return [Turbine.generic(f"{mw} MW", mw, d, h) for mw, d, h in sizes]


def constant_thrust(ct: float) -> Turbine:
    speed = np.array([0.0, 30.0])
    return Turbine.tabulated("constant", 200.0, 120.0, speed, speed * 1e5, np.full(2, ct))


def layout(count: int, seed: int = 3) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    columns = int(np.ceil(np.sqrt(count)))
    place = np.stack(np.divmod(np.arange(count), columns), 1) * 900.0 + rng.uniform(-200, 200, (count, 2))
    return 700_000.0 + place[:, 0], 6_200_000.0 + place[:, 1], rng.integers(0, 5, count)


def series(steps: int, seed: int = 5, low: float = 0.02, high: float = 0.3) -> TimeSeriesSite:
    rng = np.random.default_rng(seed)
    return TimeSeriesSite(
        rng.uniform(4, 22, steps), rng.uniform(0, 360, steps), rng.uniform(low, high, steps)
    )


def test_the_mean_over_a_rotor_is_the_noncentral_chi_square_distribution() -> None:
    z, t = np.meshgrid(np.linspace(0.0, 45.0, 91), np.geomspace(1e-3, LARGEST_T, 25))
    expected = ncx2.cdf(2.0 * t, 2, 2.0 * z) / t
    np.testing.assert_allclose(mean_of(z, t), expected, rtol=0, atol=3e-8)
    np.testing.assert_allclose(mirror_of(z, t), expected, rtol=0, atol=3e-8)


@pytest.mark.parametrize("z", [0.0, 0.3, 4.0, 17.0])
@pytest.mark.parametrize("t", [0.01, 0.5, 1.7])
def test_slopes_of_the_mean_are_those_of_what_is_computed(z: float, t: float) -> None:
    h = 1e-6
    found = slopes_of(z, t)
    z_up, z_down = (slopes_of(z + step, t) for step in (h, -h))
    wide, narrow = (slopes_of(z * np.exp(2 * s), t * np.exp(2 * s)) for s in (h, -h))
    assert found[2] == pytest.approx((z_up[0] - z_down[0]) / (2 * h), abs=1e-8)
    assert found[3] == pytest.approx((z_up[1] - z_down[1]) / (2 * h), abs=1e-8)
    assert found[4] == pytest.approx((wide[0] - narrow[0]) / (2 * h), abs=1e-8)


def test_the_growth_of_the_width_is_its_closed_form_from_the_least_turbulence_on() -> None:
    y = np.geomspace(SMALLEST_Y, 1e5, 2001)
    root = np.sqrt(1.0 + y * y)
    np.testing.assert_allclose(growth_of(y), root - np.log((1.0 + root) / y), rtol=1e-15, atol=6e-8)
    for value in (0.02, 0.3, 5.0, 4000.0):
        assert growth_slope_of(value) == pytest.approx(np.sqrt(1 + value**2) / value, rel=2e-5)


@settings(max_examples=60, deadline=None)
@given(
    ct=st.floats(0.01, 0.96),
    turbulence=st.floats(0.01, 0.6),
    far=st.one_of(st.floats(1.0, 900.0), st.floats(900.0, 2e4), st.floats(2e4, 2e5)),
    aside=st.floats(0.0, 6.0),
    targets=st.sampled_from([1, 9]),
)
def test_a_wake_is_that_of_the_model_at_any_distance_thrust_and_turbulence(
    ct: float, turbulence: float, far: float, aside: float, targets: int
) -> None:
    site = TimeSeriesSite([10.0], [270.0], [turbulence])
    # Beside the wind's axis by so many widths, roughly; more turbines at the same place must not change anything.
    x = np.concatenate([[0.0], np.full(targets, far)])
    y = np.concatenate([[0.0], np.full(targets, aside * (60.0 + 0.04 * turbulence * far))])
    y[2:] += 1e7
    fast, slow = (WindFarm(site, constant_thrust(ct), tabulate=on) for on in (True, False))
    assert fast.loops == "by width"
    np.testing.assert_allclose(fast.wind_speed(x, y), slow.wind_speed(x, y), rtol=0, atol=10.0 * 2e-7)


def test_a_time_series_with_many_types_has_the_powers_of_the_model_itself() -> None:
    x, y, types = layout(60)
    site = series(25)
    fast, slow = (WindFarm(site, turbines(), tabulate=on) for on in (True, False))
    assert fast.loops == "by width"
    assert slow.loops != "by width"
    np.testing.assert_allclose(fast.power(x, y, types), slow.power(x, y, types), rtol=0, atol=15e6 * 1e-7)
    np.testing.assert_allclose(fast.wind_speed(x, y, types), slow.wind_speed(x, y, types), rtol=0, atol=2e-6)
    np.testing.assert_allclose(fast.turbine_aep(x, y, types), slow.turbine_aep(x, y, types), rtol=1e-7)


def test_power_in_chunks_and_threads_is_the_same_to_the_bit() -> None:
    x, y, types = layout(30)
    site = series(40)
    farm = WindFarm(site, turbines())
    whole = farm.power(x, y, types)
    chunks = list(farm.power_steps(x, y, types, steps_per_chunk=7))
    assert [steps for steps, _ in chunks] == [slice(at, min(at + 7, 40)) for at in range(0, 40, 7)]
    np.testing.assert_array_equal(np.concatenate([power for _, power in chunks], axis=1), whole)
    shared = WindFarm(site, turbines(), threads=3)
    np.testing.assert_array_equal(shared.power(x, y, types), whole)
    assert shared.aep(x, y, types) == farm.aep(x, y, types)
    assert farm.aep(x, y, types) == pytest.approx(whole.mean(axis=1).sum() * 8760e-9, rel=1e-12)


def test_neighbours_change_what_the_farm_makes_and_are_not_counted() -> None:
    x, y, types = layout(40)
    site = series(20)
    whole = WindFarm(site, turbines()).power(x, y, types)
    farm = WindFarm(site, turbines(), neighbours=Neighbours(x[15:], y[15:], types[15:]))
    np.testing.assert_allclose(farm.power(x[:15], y[:15], types[:15]), whole[:15], rtol=1e-12)
    alone = WindFarm(site, turbines()).power(x[:15], y[:15], types[:15])
    assert np.abs(alone - whole[:15]).max() > 1e4


def test_steps_of_one_direction_are_computed_together_and_equal_those_computed_alone() -> None:
    x, y, types = layout(20)
    steps = 140  # more than fit into a row
    speed = np.linspace(4, 20, steps)
    turbulence = np.linspace(0.3, 0.03, steps)
    together = WindFarm(TimeSeriesSite(speed, np.full(steps, 33.0), turbulence), turbines())
    apart = WindFarm(TimeSeriesSite(speed, 33.0 + np.arange(steps) * 1e-12, turbulence), turbines())
    power = together.power(x, y, types)
    np.testing.assert_allclose(power, apart.power(x, y, types), rtol=0, atol=15e6 * 1e-7)
    np.testing.assert_allclose(together.turbine_aep(x, y, types), power.mean(1) * 8760e-9, rtol=1e-12)


def test_turbulence_by_wind_speed_gives_the_energy_of_the_model_itself() -> None:
    x, y, _ = layout(30)
    turbine = turbines()[4]
    fast, slow = (WindFarm(BySpeed(), turbine, tabulate=on) for on in (True, False))
    assert fast.loops == "by width"
    np.testing.assert_allclose(fast.turbine_aep(x, y), slow.turbine_aep(x, y), rtol=1e-8)
    np.testing.assert_allclose(fast.power(x, y), slow.power(x, y), rtol=0, atol=15e6 * 1e-7)


def test_the_gradient_is_that_of_the_energy_by_central_differences() -> None:
    x, y, types = layout(12)
    x[1], y[1] = x[0] + 5.0, y[0] + 260.0  # close behind each other in some directions
    farm = WindFarm(BySpeed(), turbines())
    aep, of_x, of_y = farm.aep_and_gradient(x, y, types)
    assert aep == pytest.approx(farm.aep(x, y, types), rel=1e-12)
    h = 1e-3  # curves have kinks
    for i in range(len(x)):
        step = np.where(np.arange(len(x)) == i, h, 0.0)
        with_x = (farm.aep(x + step, y, types) - farm.aep(x - step, y, types)) / (2 * h)
        with_y = (farm.aep(x, y + step, types) - farm.aep(x, y - step, types)) / (2 * h)
        largest = max(np.abs(of_x).max(), np.abs(of_y).max())
        assert of_x[i] == pytest.approx(with_x, abs=1e-6 * largest)
        assert of_y[i] == pytest.approx(with_y, abs=1e-6 * largest)


def test_where_tables_of_pairs_serve_they_are_still_used() -> None:
    assert WindFarm(UniformSite((1.0,), 9.0, 0.1), turbines()[0]).loops == "tabulated"
    assert WindFarm(UniformSite((1.0,), 9.0, 0.1), turbines()[0]).loops != "by width"
    too_calm = WindFarm(series(3, low=0.001, high=0.004), turbines())
    assert too_calm.loops != "by width"


def test_the_steps_of_the_first_turbines_are_those_of_the_whole_farm() -> None:
    farm, (x, y, types) = WindFarm(series(9), turbines()), layout(12)
    chunks = farm.power_steps(x, y, types, own=5, steps_per_chunk=4)
    np.testing.assert_allclose(
        np.concatenate([power for _, power in chunks], axis=1), farm.power(x, y, types)[:5], rtol=1e-12
    )
    for own in (0, 13):
        with pytest.raises(ArgumentError, match="own must be a number of turbines from 1 to 12"):
            next(farm.power_steps(x, y, types, own=own))


def test_power_steps_refuses_what_has_no_steps() -> None:
    with pytest.raises(ArgumentError, match="not a time series"):
        next(WindFarm(UniformSite(), turbines()[0]).power_steps([0.0], [0.0]))
    with pytest.raises(ArgumentError, match="steps_per_chunk must be a whole number >= 1, not 0"):
        next(WindFarm(series(3), turbines()).power_steps([0.0], [0.0], steps_per_chunk=0))
