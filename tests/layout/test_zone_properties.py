"""Zones cut at random out of a rectangle: what holds for all of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layout.zoned_problems import three_zones
from vindeby.layout import (
    Boundary,
    Gradient,
    InTurn,
    LayoutProblem,
    Pipeline,
    RandomSearch,
    RandomStart,
    Zone,
    Zones,
)

WIDTH, HEIGHT, SPACING = 6000.0, 3000.0, 300.0
FARM = three_zones().farm


def _rectangle(west: float, east: float) -> Boundary:
    return Boundary([((west, 0.0), (east, 0.0), (east, HEIGHT), (west, HEIGHT))])


@settings(max_examples=12, deadline=None)
@given(
    cuts=st.lists(st.integers(1, 11), min_size=1, max_size=3, unique=True),
    counts=st.lists(st.integers(1, 3), min_size=4, max_size=4),
    seed=st.integers(0, 2**32 - 1),
    in_turn=st.booleans(),
)
def test_counts_and_zones_are_kept_and_the_whole_is_a_layout_of_the_rectangle(
    cuts: list[int], counts: list[int], seed: int, in_turn: bool
) -> None:
    edges = [0.0, *sorted(500.0 * cut for cut in cuts), WIDTH]
    zones = [
        Zone(_rectangle(west, east), count)
        for west, east, count in zip(edges, edges[1:], counts, strict=False)
    ]
    problem = LayoutProblem(FARM, Zones(zones), sum(zone.n_turbines for zone in zones), SPACING)
    steps = [RandomStart(), Gradient(3, 1.0), RandomSearch(20)]
    found = (InTurn(steps, 2) if in_turn else Pipeline(steps)).run(problem, seed)

    first = 0
    for zone, (west, east) in zip(zones, pairwise(edges), strict=True):
        x = found.x[first : first + zone.n_turbines]
        assert x.min() >= west - 1e-6
        assert x.max() <= east + 1e-6
        first += zone.n_turbines
    whole = LayoutProblem(FARM, _rectangle(0.0, WIDTH), problem.n_turbines, SPACING)
    assert whole.is_feasible(found.layout)
    assert np.isclose(whole.aep(found.layout), found.aep_gwh, rtol=1e-12, atol=0.0)
