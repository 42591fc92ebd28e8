"""Moves where wakes do not change with the wind: the fast loops lead searches the same way as the plain ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layout.small_problems import BOOMERANG, HOLE, ROSE, circle
from vindeby.layout import Annealing, Boundary, LayoutProblem, RandomStart, Result
from vindeby.layout.area.limits import Limits
from vindeby.layout.moves import walk_loop
from vindeby.layout.moves.steady_moves import SteadyMoves
from vindeby.layout.moves.walk import mover_of
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import Neighbours, UniformSite, WindFarm, iea37_10mw, iea37_335mw

pytestmark = pytest.mark.slow

SQUARES = [[(x, y), (x + 900.0, y), (x + 900.0, y + 900.0), (x, y + 900.0)] for x, y in ((0, 0), (1500, 400))]
BESIDE = Neighbours([-400.0, -400.0], [500.0, 1500.0])


def two_squares(types: int = 1) -> LayoutProblem:
    """Two polygons beside a farm that stands already; one wind speed, so that no table is in the way."""
    farm = WindFarm(
        UniformSite(ROSE, wind_speed=9.8), [iea37_335mw(), iea37_10mw()][:types], "iea37", neighbours=BESIDE
    )
    return LayoutProblem(farm, Boundary(SQUARES), 7, 300.0, "two squares", mix=(7,) if types == 1 else (4, 3))


def annealed(problem: LayoutProblem, evaluations: int = 20_000) -> Result:
    return Annealing(evaluations, 0.03).run(problem, 5, RandomStart().run(problem, 0).layout)


@pytest.mark.parametrize("types", [1, 2])
def test_loops_for_steady_wakes_lead_the_same_way_as_those_for_all_wakes(
    types: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = two_squares(types)
    fast = annealed(problem)
    monkeypatch.setattr("vindeby.layout.moves.walk.has_steady_wakes", lambda farm: False)
    slow = annealed(problem)
    assert (fast.x == slow.x).all()
    assert (fast.y == slow.y).all()
    assert (fast.types == slow.types).all()


@cache
def steady_farm(types: int) -> WindFarm:
    return two_squares(types).farm


allowed: Callable[..., bool] = walk_loop.allowed
SPOT = st.tuples(st.integers(0, 12), st.integers(0, 9))
MOVE = st.tuples(st.integers(0, 5), SPOT, st.booleans())


@settings(max_examples=40, deadline=None)
@given(
    types=st.sampled_from([1, 2]),
    spots=st.lists(SPOT, min_size=6, max_size=6, unique=True),
    history=st.lists(MOVE, min_size=1, max_size=25),
)
def test_after_any_history_of_moves_the_energy_is_that_of_a_whole_evaluation(
    types: int, spots: list[tuple[int, int]], history: list[tuple[int, tuple[int, int], bool]]
) -> None:
    farm, taken = steady_farm(types), list(spots)
    kind = np.arange(6) % types
    # Not a multiple of anything: of two that stand abreast to the bit, rounding decides who is downwind.
    place = np.array([(313.7 * a + 41.3 * b, 331.1 * b - 37.9 * a) for a, b in spots]).T
    x, y = np.hstack([place, np.stack([BESIDE.x, BESIDE.y])])
    moves, kernels, _ = mover_of(farm, x, y, np.append(kind, [0, 0]), 6)
    assert isinstance(moves, SteadyMoves)
    energy = kernels.settle(farm.data, farm.turbine_arrays, farm.wind, moves)
    for turbine, (a, b), kept in history:
        if (a, b) in taken:
            continue
        move = (
            farm.data, farm.turbine_arrays, farm.wind, moves, turbine, 313.7 * a + 41.3 * b, 331.1 * b - 37.9 * a
        )  # fmt: skip
        gain = kernels.gained(*move, -np.inf)
        if kept:
            kernels.keep(*move)
            energy += gain
            taken[turbine] = (a, b)
    whole = farm.aep(moves.x[:6], moves.y[:6], kind)
    assert mean_power_to_aep_gwh(energy) == pytest.approx(whole, rel=1e-9)


def test_a_place_is_allowed_up_to_the_last_bit_of_the_spacing_and_of_the_boundary() -> None:
    problem = LayoutProblem(circle().farm, Boundary(circle=((0.0, 0.0), 1000.0)), 2, 260.0, "two")
    limits = Limits(problem, np.zeros(2, np.int64))
    here = (limits.areas, limits.zone, np.array([0.0, 500.0]), np.array([0.0, 0.0]), limits.need, 1)
    for apart, far in ((260.0, True), (np.nextafter(260.0, 0.0), False)):
        assert allowed(*here, apart, 0.0) == far
        assert allowed(*here, -0.6 * apart, 0.8 * apart) == (np.hypot(-0.6 * apart, 0.8 * apart) >= 260.0)
    assert allowed(*here, 1000.0, 0.0)
    assert not allowed(*here, np.nextafter(1000.0, 2000.0), 0.0)
    assert allowed(*here, 501.0, 0.0)  # its own old place does not hinder it


@pytest.mark.parametrize(
    "boundary",
    [
        Boundary(SQUARES),
        Boundary([BOOMERANG], holes=[HOLE], round_holes=[((1000.0, 4000.0), 500.0)]),
        Boundary(circle=((0.0, 0.0), 1300.0), holes=[HOLE]),
        Boundary(circle=((0.0, 0.0), 1300.0)),
    ],
    ids=["two squares", "boomerang", "round with hole", "circle"],
)
def test_places_outside_are_not_allowed(boundary: Boundary) -> None:
    problem = LayoutProblem(circle().farm, boundary, 1, 260.0, "one")
    limits = Limits(problem, np.zeros(1, np.int64))
    west, south, east, north = boundary.bounds
    rng = np.random.default_rng(0)
    x, y = rng.uniform(west - 200.0, east + 200.0, 2000), rng.uniform(south - 200.0, north + 200.0, 2000)
    nowhere = np.array([1e6])
    found = [
        allowed(limits.areas, limits.zone, nowhere, nowhere, limits.need, 0, px, py)
        for px, py in zip(x - limits.origin[0], y - limits.origin[1], strict=True)
    ]
    assert (np.array(found) == (boundary.distances(x, y) >= 0.0)).all()
    assert 0.1 < np.mean(found) < 0.9
