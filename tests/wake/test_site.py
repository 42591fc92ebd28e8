"""Wind states and their probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K, needs_pywake, pywake_weibull_site
from vindeby.errors import ArgumentError
from vindeby.wake import TableSite, TimeSeriesSite, UniformSite, WeibullSite

pytestmark = pytest.mark.oracle


@needs_pywake
@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
@pytest.mark.parametrize(
    ("directions", "speeds"),
    [
        (None, None),
        (np.arange(0, 360, 7.5), np.arange(4.0, 20.0, 0.5)),
        ([10.0, 200.0, 355.0], [9.0]),
        ([270.0], [6.0, 8.0, 12.0]),
    ],
)
def test_weibull_probabilities_are_pywakes(interpolation: Any, directions: Any, speeds: Any) -> None:
    states = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, 0.08, interpolation).states(directions, speeds)
    theirs = pywake_weibull_site(0.08, interpolation).local_wind(
        x=[0], y=[0], h=[100], wd=directions, ws=speeds
    )
    np.testing.assert_allclose(
        states.probability.reshape(states.shape), theirs.P_ilk[0], rtol=1e-12, atol=1e-17
    )
    np.testing.assert_array_equal(states.turbulence, 0.08)


@needs_pywake
def test_table_probabilities_are_pywakes() -> None:
    import xarray as xr
    from py_wake.site import XRSite

    table = np.random.default_rng(0).dirichlet(np.ones(36)).reshape(12, 3)
    around = np.concatenate([table, table[:1]])
    dataset = xr.Dataset(
        {"P": (("wd", "ws"), around), "TI": 0.1},
        coords={"wd": np.linspace(0, 360, 13), "ws": [6.0, 9.0, 12.0]},
    )
    theirs = XRSite(dataset, interp_method="linear").local_wind(
        x=[0], y=[0], h=[100], wd=np.arange(0, 360, 5.0)
    )
    states = TableSite(table, [6.0, 9.0, 12.0], interpolation="linear").states(np.arange(0, 360, 5.0))
    np.testing.assert_allclose(states.probability.reshape(states.shape), theirs.P_ilk[0], rtol=1e-12)


def test_a_table_without_bins_is_taken_as_it_is() -> None:
    table = np.random.default_rng(0).dirichlet(np.ones(16)).reshape(8, 2)
    states = TableSite(table, [7.0, 10.0]).states()
    np.testing.assert_allclose(states.probability, table.ravel(), rtol=1e-14)
    np.testing.assert_array_equal(states.direction, np.arange(8) * 45.0)
    assert states.shape == (8, 2)


def test_weibull_defaults_cover_the_rose_in_degrees() -> None:
    states = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K).states()
    assert states.shape == (360, 23)
    assert 0.9 < states.probability.sum() < 1.0


def test_a_time_series_is_grouped_by_direction() -> None:
    states = TimeSeriesSite([5.0, 6.0, 7.0, 8.0], [90.0, 0.0, 90.0, 45.0], [0.1, 0.2, 0.3, 0.4]).states()
    np.testing.assert_array_equal(states.direction, [0.0, 45.0, 90.0])
    np.testing.assert_array_equal(states.first, [0, 1, 2, 4])
    np.testing.assert_array_equal(states.speed, [6.0, 8.0, 5.0, 7.0])
    np.testing.assert_array_equal(states.turbulence, [0.2, 0.4, 0.1, 0.3])
    assert states.probability.sum() == pytest.approx(1.0)


def test_turbulence_may_differ_between_sectors() -> None:
    states = UniformSite((0.5, 0.5), 10.0, turbulence_intensity=(0.1, 0.2)).states()
    np.testing.assert_array_equal(states.turbulence, [0.1, 0.2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeibullSite(FREQUENCY[:5], WEIBULL_A, WEIBULL_K).states(), "one value per sector"),
        (lambda: WeibullSite((1.5,), (9.0,), (2.0,)).states(), r"frequency\[0\] is 1.5"),
        (lambda: WeibullSite((1.0,), (-9.0,), (2.0,)).states(), r"weibull_a\[0\]"),
        (lambda: WeibullSite((1.0,), (9.0,), (2.0,)).states([0.0], [9.0, 8.0]), "must increase"),
        (lambda: WeibullSite((1.0,), (9.0,), (2.0,)).states([], [9.0]), "non-empty"),
        (lambda: WeibullSite((1.0,), (9.0,), (2.0,)).states(["north"]), "must be numbers"),
        (lambda: TableSite([[0.5, 0.5]], [8.0]).states(), "one column per speed"),
        (lambda: TableSite([[1.0]], [8.0]).states(None, [9.0]), "among the table's own"),
        (lambda: TimeSeriesSite([8.0], [0.0, 1.0]).states(), "one value a step"),
        (lambda: TimeSeriesSite([8.0], [0.0]).states([0.0]), "its own directions"),
        (lambda: TimeSeriesSite([np.nan], [0.0]).states(), r"wind_speed\[0\] is nan"),
        (lambda: UniformSite((1.0,), 8.0, [[0.1]]).states(), "turbulence_intensity must be"),
    ],
)
def test_wrong_sites_are_refused_with_the_reason(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()
