"""Fronts: dominated points and the hypervolume, as pymoo has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vindeby.campaign.sections.costs import AGAINST
from vindeby.results.fronts import ParetoFront, Point

NUMBER = st.one_of(st.integers(0, 6).map(float), st.floats(-50.0, 50.0, allow_subnormal=False))
# A machine that does much else may make points slowly.
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
POINTS = st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=40).map(
    lambda rows: np.array(rows, np.float64)
)


def front_of(points: np.ndarray) -> ParetoFront:
    """Of points of which both coordinates are to be small; their keys are their numbers."""
    rows = enumerate(points.tolist())
    return ParetoFront.of(
        "a", "b", AGAINST["cable_length"], [Point(f"{n}", None, -y, x) for n, (x, y) in rows]
    )


def dominated(points: np.ndarray) -> list[bool]:
    return [one.is_dominated for one in sorted(front_of(points).points, key=lambda one: int(one.key))]


@pytest.mark.oracle
@relaxed
@given(points=POINTS)
def test_pymoo_finds_the_same_points_dominated(points: np.ndarray) -> None:
    sorting = pytest.importorskip("pymoo.util.nds.non_dominated_sorting").NonDominatedSorting()
    best = sorting.do(points, only_non_dominated_front=True)
    expected = np.ones(len(points), bool)
    expected[best] = False
    assert dominated(points) == expected.tolist()


@pytest.mark.oracle
@relaxed
@given(points=POINTS)
def test_pymoo_finds_the_same_hypervolume(points: np.ndarray) -> None:
    indicator = pytest.importorskip("pymoo.indicators.hv").HV(ref_point=points.max(axis=0))
    expected = float(indicator(points))
    assert front_of(points).hypervolume == pytest.approx(expected, rel=1e-9, abs=1e-9)


@relaxed
@given(points=POINTS)
def test_a_point_is_dominated_if_another_is_nowhere_worse_and_somewhere_better(points: np.ndarray) -> None:
    expected = [any((other <= one).all() and (other < one).any() for other in points) for one in points]
    assert dominated(points) == expected


def test_a_front_says_what_each_result_loses_to_another_and_its_hypervolume() -> None:
    front = front_of(np.array([[10.0, -90.0], [11.0, -96.0], [12.0, -95.0], [20.0, -100.0]]))
    assert [one.is_dominated for one in front.points] == [False, False, True, False]
    assert [one.lost_gwh for one in front.points] == [0.0, 0.0, 1.0, 0.0]
    assert front.reference == (90.0, 20.0)
    assert front.hypervolume == (96.0 - 90.0) * (20.0 - 11.0)
