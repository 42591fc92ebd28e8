"""Lists of neighbours: found by cells, they are those of a loop over all pairs, in its order and to the bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layout.small_problems import mixed
from vindeby.layout import Boundary, Layout, Problem
from vindeby.layout.area.limits import Limits
from vindeby.layout.area.spacing import Near, near_pairs, worst_pair
from vindeby.wake import Neighbours, Turbine, UniformSite, WindFarm
from vindeby.wake.compiling.compiled import kernel

FloatArray = npt.NDArray[np.float64]
ALL_PAIRS, ALWAYS_CELLS = (10**9, 10**9), (0, 0)
TYPES = [Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 180.0, 120.0)]
BESIDE = Neighbours([-400.0, -400.0, 2e4], [500.0, 1500.0, 3e4], [0, 1, 0])
FARM = WindFarm(UniformSite((1.0,), 10.0), TYPES, "iea37", neighbours=BESIDE)
SQUARE = Boundary([((0.0, 0.0), (3000.0, 0.0), (3000.0, 2500.0), (0.0, 2500.0))])


@kernel("test_cells")
def lists(x: FloatArray, y: FloatArray, movable: int, reach: float, few: tuple[int, int]) -> Near:
    return near_pairs(x, y, movable, reach, few)


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
@given(places(), st.sampled_from([0.0, 1.0, 200.0, 390.0, 5000.0]), st.floats(0.0, 1.0))
def test_the_lists_hold_all_that_are_near_in_ascending_order(
    place: FloatArray, reach: float, share: float
) -> None:
    x, y = place
    movable = round(share * len(x))
    by_cells = lists(x, y, movable, reach, ALWAYS_CELLS)
    for i in range(movable):
        found = by_cells.other[by_cells.first[i] : by_cells.last[i]].tolist()
        distance = np.hypot(x - x[i], y - y[i])
        assert found == sorted(set(found))
        assert set(found) >= {j for j in range(i + 1, len(x)) if distance[j] < reach}
        assert all(j > i and distance[j] <= reach * (1 + 1e-6) for j in found)


@settings(deadline=None)
@given(
    places(),
    st.sampled_from([0.0, 1e-3, 50.0, 800.0]),
    st.sampled_from([0.0, 390.0, (378.0, 540.0), (0.0, 540.0)]),
    st.integers(0, 1),
)
def test_the_rows_of_limits_are_those_of_all_pairs_to_the_bit(
    place: FloatArray, within: float, spacing: float | tuple[float, float], odd: int
) -> None:
    n = place.shape[1]
    types = (np.arange(n) + odd) % 2
    limits = Limits(Problem(FARM, SQUARE, n, spacing, types=types.tolist()), types)
    found = []
    for few in (ALL_PAIRS, ALWAYS_CELLS):
        limits.few = few
        found.append(limits._rows(place, within))
    for all_pairs, by_cells in zip(*found, strict=True):
        assert all_pairs.tobytes() == by_cells.tobytes()


@settings(deadline=None)
@given(places(), st.sampled_from([0.0, 390.0, 5000.0]), st.floats(0.0, 1.0))
def test_the_worst_pair_is_that_of_all_pairs_to_the_bit(place: FloatArray, most: float, share: float) -> None:
    x, y = place
    need, movable = np.where(np.arange(len(x)) % 3, most, 0.5 * most), round(share * len(x))
    worst = worst_pair(x, y, need, movable, ALWAYS_CELLS)
    assert worst == worst_pair(x, y, need, movable, ALL_PAIRS)
    i, j = np.triu_indices(len(x), 1)
    short = 0.5 * (need[i] + need[j]) - np.hypot(x[i] - x[j], y[i] - y[j])
    expected = max(-1.0, short[i < movable].max(initial=-np.inf))
    assert worst == pytest.approx(expected, rel=1e-12, abs=1e-9 * np.abs(place).max())


def test_places_that_are_no_numbers_are_never_taken_for_well_spaced_or_written_out_of_bounds() -> None:
    x, y = np.arange(100.0) * 500.0, np.zeros(100)
    x[3], y[4], x[5] = np.nan, np.inf, -np.inf
    near = lists(x, y, 100, 390.0, ALWAYS_CELLS)
    assert (near.last >= near.first).all()


def test_a_large_farm_is_judged_as_its_parts_are() -> None:
    small = mixed()
    x, y = (v.ravel() for v in np.meshgrid(np.arange(20) * 600.0, np.arange(15) * 600.0))
    area = Boundary([((0.0, 0.0), (11400.0, 0.0), (11400.0, 8400.0), (0.0, 8400.0))])
    problem = Problem(WindFarm(small.farm.site, TYPES, "iea37"), area, 300, 600.0)
    assert problem.is_feasible(Layout.of(x, y))
    x[137] += 0.01
    assert problem.shortfalls(Layout.of(x, y))[1] == pytest.approx(0.01, rel=1e-9)
