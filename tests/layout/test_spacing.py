"""The pair of turbines that falls shortest of its spacing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layout.small_problems import mixed
from vindeby.layout import Boundary, Layout, LayoutProblem
from vindeby.layout.area.boundary import worst_pair
from vindeby.wake import Turbine, WindFarm

FloatArray = npt.NDArray[np.float64]
TYPES = [Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 180.0, 120.0)]


@st.composite
def places(draw: st.DrawFn) -> FloatArray:
    """Up to 90 turbines on some scale: anywhere, on a few lines, or some on one spot."""
    n = draw(st.integers(1, 90))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    place = rng.uniform(-0.2, 1.2, (2, n)) * draw(st.sampled_from([1.0, 500.0, 3000.0, 2e5]))
    shape = draw(st.sampled_from(["anywhere", "lines", "one line", "doubles", "one far away"]))
    if shape == "lines":
        place = np.round(place / 390.0) * 390.0
    elif shape == "one line":
        place[draw(st.integers(0, 1))] = 7.0
    elif shape == "doubles":
        place[:, n // 2 :] = place[:, : n - n // 2]
    elif shape == "one far away":
        place[:, 0] = 1e7, -3e6
    return place


@settings(deadline=None)
@given(places(), st.sampled_from([0.0, 390.0, 5000.0]), st.floats(0.0, 1.0))
def test_the_worst_pair_is_that_of_all_pairs(place: FloatArray, most: float, share: float) -> None:
    x, y = place
    need, movable = np.where(np.arange(len(x)) % 3, most, 0.5 * most), round(share * len(x))
    worst = worst_pair(x, y, need, movable)
    i, j = np.triu_indices(len(x), 1)
    short = 0.5 * (need[i] + need[j]) - np.hypot(x[i] - x[j], y[i] - y[j])
    expected = max(-1.0, short[i < movable].max(initial=-np.inf))
    assert worst == pytest.approx(expected, rel=1e-12, abs=1e-9 * np.abs(place).max())


def test_a_large_farm_is_judged_as_its_parts_are() -> None:
    small = mixed()
    x, y = (v.ravel() for v in np.meshgrid(np.arange(20) * 600.0, np.arange(15) * 600.0))
    area = Boundary([((0.0, 0.0), (11400.0, 0.0), (11400.0, 8400.0), (0.0, 8400.0))])
    problem = LayoutProblem(WindFarm(small.farm.site, TYPES, "iea37"), area, 300, 600.0)
    assert problem.is_feasible(Layout.of(x, y))
    x[137] += 0.01
    assert problem.shortfalls(Layout.of(x, y))[1] == pytest.approx(0.01, rel=1e-9)
