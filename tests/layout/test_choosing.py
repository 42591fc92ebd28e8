"""The compiled choices of a smart start beside NumPy's, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.layout.cases import Case
from tests.layout.test_smart_start_golden import problem_of
from vindeby.errors import TaskError
from vindeby.layout import SmartStart
from vindeby.layout.placing.choosing import (
    MOST_HALVINGS,
    Choosing,
    choose,
    clear_near,
    draw_below,
    pairwise_sum,
    partition,
)
from vindeby.layout.placing.construction import Construction, best_worth

pytestmark = pytest.mark.slow

METHOD = SmartStart(9, 30.0, (7.0, 11.0), (10.0, 100.0, 265.0))


def test_rows_are_added_up_as_numpy_does() -> None:
    rng = np.random.default_rng(1)
    waiting, sums = np.empty((MOST_HALVINGS, 2), np.int64), np.empty(MOST_HALVINGS)
    for count in [
        *range(1, 40),
        120,
        127,
        128,
        129,
        135,
        136,
        137,
        255,
        256,
        257,
        359,
        360,
        361,
        720,
        3600,
        100_003,
    ]:
        rows = rng.normal(size=(3, count)) * 10.0 ** rng.integers(-9, 9, (3, count))
        for row, expected in zip(rows, rows.sum(axis=1), strict=True):
            assert pairwise_sum(row, waiting, sums) == expected, count


def test_values_are_selected_by_their_place_in_sorted_order() -> None:
    rng = np.random.default_rng(2)
    for count in [1, 2, 3, 10, 101]:
        for ties in (1, 3, 1000):
            values = rng.integers(0, ties, count).astype(float)
            for place in range(count):
                assert partition(values.copy(), place) == np.sort(values)[place]


def test_draws_are_those_of_a_random_state() -> None:
    for seed in range(20):
        asked, words = (
            np.random.RandomState(seed),
            np.random.RandomState(seed).randint(0, 2**32, 900, np.uint32),
        )
        used = 0
        for count in np.random.default_rng(seed).integers(1, 300, 200):
            drawn, used = draw_below(words, used, count)
            assert drawn == asked.randint(0, count)


@pytest.mark.parametrize("ties", [2, 5, 1000])
def test_a_point_is_drawn_from_the_best_that_are_allowed(ties: int) -> None:
    rng = np.random.default_rng(ties)
    for count, share in [(1, 0.0), (3, 0.5), (12, 0.3), (60, 0.1), (60, 0.9)]:
        energy, allowed = rng.integers(0, ties, (count, 1, 1)).astype(float), rng.random(count) < 0.7
        allowed[0] = True
        words = rng.integers(0, 2**32, 64, np.uint32)
        choosing = Choosing(np.zeros(count), np.zeros(count), 1.0, allowed, share, words)
        points = np.flatnonzero(allowed)
        best = points[best_worth(energy[points, 0, 0], max(1, round(share * len(points))))]
        at, used = draw_below(words, 0, len(best))
        assert choose(energy, choosing, 0) == (best[at], used)
        allowed[:] = False
        assert choose(energy, choosing, 0) == (-1, 0)


def test_points_are_cleared_as_numpy_rounds_distances() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.uniform(6e5, 7e5, 200), rng.uniform(6.2e6, 6.3e6, 200)
    for point in range(1, 200):
        # The spacing is one of the distances, so that the last bit decides.
        least = float((x[0] - x[point]) ** 2 + (y[0] - y[point]) ** 2)
        choosing = Choosing(x, y, least, np.ones(200, np.bool_), 0.3, np.empty(0, np.uint32))
        clear_near(choosing, point)
        assert choosing.allowed[0]
        expected = (x - x[point]) ** 2 + (y - y[point]) ** 2 >= least
        assert choosing.allowed.tolist() == expected.tolist()


def one_type() -> Construction:
    return METHOD.construction(problem_of(Case("slanted", 9, 9, 30.0, 0, turbines=("15MW",))))


def test_the_compiled_choices_are_those_made_in_python() -> None:
    compiled, plain = one_type(), one_type()
    assert compiled.at_once
    plain.at_once = False
    for seed in range(5):
        one, other = compiled.construct(seed), plain.construct(seed)
        assert (one.x.tolist(), one.y.tolist()) == (other.x.tolist(), other.y.tolist())


def test_too_many_turbines_are_refused_with_how_many_fit() -> None:
    problem = problem_of(Case("slanted", 80, 9, 30.0, 0, turbines=("15MW",)))
    prepared, plain = METHOD.construction(problem), METHOD.construction(problem)
    plain.at_once = False
    messages = []
    for one in (prepared, plain):
        with pytest.raises(TaskError, match="of 80 turbines fit a grid of 9 x 9") as caught:
            one.construct(0)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
