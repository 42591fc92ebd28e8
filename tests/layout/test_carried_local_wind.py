"""Moves carried on from one to the next where every place has its own free wind."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.physics.gridded_sites import GRID_X, GRID_Y, HEIGHT, SECTORS, SOUTH, WEST, Local
from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K
from vindeby.layout import Annealing, Boundary, Layout, LayoutProblem, RandomSearch
from vindeby.layout.moves.carried_moves import CLEAR, carried_kernels
from vindeby.layout.moves.carried_state import CarriedMoves, new_carried_moves
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import (
    GriddedSite,
    Neighbours,
    Site,
    TimeSeriesSite,
    Turbine,
    WeibullSite,
    WindFarm,
    WindGrid,
)
from vindeby.wake.models import model_named

pytestmark = pytest.mark.slow

# Compiling the loops for a model takes long; these two put wakes together in different ways, and of the second, whose
# wakes grow with turbulence, deficits are fractions of the free wind of the turbine that is in the wake.
WAYS = [
    ("bastankhah-2014", "linear", "local"),
    ("nygaard-2022", "squares", "free"),
    *(
        [
            ("bastankhah-2014", "squares", "local"),
            ("bastankhah-2014", "linear", "free"),
            ("iea37", "squares", "free"),
        ]
        if os.environ.get("VINDEBY_FULL")
        else []
    ),
]
SITES = ["weibull", "speedup", "nearest", "time series", "turned"]
TURBINES, COUNTED, MOVED = 9, 8, 7
"""The eighth is one of the same farm that stands already, the last one a neighbour."""
NEAREST_M = 460.0
"""Of two that stand nearer and abreast to the bit, rounding decides which is in the other's wake: see
``test_carried_moves``."""
TYPES = np.array([0, 1, 0, 1, 0, 0, 1, 1, 1])


def site_of(kind: str) -> Site:
    """Speedups by direction, probabilities and turbulence by place or not; one sector of ``nearest`` never blows.

    In ``turned``, wakes follow the wind, which is turned by up to 8 degrees.
    """
    turned = kind == "turned"
    local = Local(weibull=kind in ("weibull", "nearest"), turbulence=kind != "speedup", turned=turned)
    arrays = local.arrays()
    interpolation: Any = "nearest" if kind == "nearest" else "linear"
    if kind == "nearest":
        arrays["sector_frequency"][..., 2] = 0.0
    rose: Site = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, 0.1)
    if kind == "time series":
        rng = np.random.default_rng(8)
        rose = TimeSeriesSite(rng.uniform(4.0, 14.0, 30), np.repeat(np.arange(10) * 36.0, 3), 0.08)
    grid = WindGrid(GRID_X - WEST, GRID_Y - SOUTH, height=HEIGHT, direction=SECTORS, **arrays)
    return GriddedSite(rose, grid, interpolation, interpolation, turned_wakes=turned)


@cache
def farm_of(way: tuple[str, str, str], kind: str) -> WindFarm:
    """Two types of different heights, whose thrust changes with the wind."""
    types = [Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 180.0, 120.0)]
    together: dict[str, Any] = {"superposition": way[1], "reference": way[2]}
    states: dict[str, Any] = {"directions": np.arange(12) * 30.0, "speeds": (6.0, 9.0, 12.0)}
    return WindFarm(
        site_of(kind),
        types,
        replace(model_named(way[0]), tabulate=False, **together),
        neighbours=Neighbours([150.0], [2900.0], [1]),
        **({} if kind == "time series" else states),
    )


def common(farm: WindFarm) -> tuple[Any, ...]:
    """What the loops are given first."""
    return farm.data, farm.turbine_arrays, farm.wind_near((0.0, 0.0))


def whole_or_settled(farm: WindFarm, moves: CarriedMoves) -> float:
    """The energy by the engine or, where that depends on where the middle of the layout is, settled anew."""
    apart = np.hypot(moves.x - moves.x[:, None], moves.y - moves.y[:, None])[np.triu_indices(TURBINES, 1)]
    if apart.min() >= NEAREST_M:
        return farm.aep(moves.x[:COUNTED], moves.y[:COUNTED], moves.types[:COUNTED])
    anew = new_carried_moves(farm, moves.x, moves.y, moves.types, COUNTED)
    return float(
        mean_power_to_aep_gwh(carried_kernels(farm.model, farm.locality).settle(*common(farm), anew))
    )


# Some on a grid, so that turbines stand abreast to the bit, and on the edges of the wind's grid.
places = st.one_of(
    st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda at: (750.0 * at[0], 750.0 * at[1])),
    st.tuples(st.floats(0.0, 3000.0), st.floats(0.0, 3000.0)),
)
histories = st.lists(
    st.tuples(st.integers(0, MOVED - 1), places, st.sampled_from(["keep", "keep", "refuse", "swap"])),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(kind=st.sampled_from(SITES), history=histories)
def test_after_any_history_the_energy_is_that_of_a_whole_evaluation(
    way: tuple[str, str, str], kind: str, history: list[tuple[int, tuple[float, float], str]]
) -> None:
    farm = farm_of(way, kind)
    x = np.array([*(700.0 * (i % 4) for i in range(COUNTED)), 150.0])
    y = np.array([*(900.0 * (i // 4) + 13.0 * i for i in range(COUNTED)), 2900.0])
    moves = new_carried_moves(farm, x, y, TYPES, COUNTED)
    settle, gained, keep = carried_kernels(farm.model, farm.locality)
    energy = settle(*common(farm), moves)
    assert mean_power_to_aep_gwh(energy) == pytest.approx(whole_or_settled(farm, moves), rel=1e-10)
    for i, (px, py), what in history:
        if np.hypot(np.delete(moves.x, i) - px, np.delete(moves.y, i) - py).min() < 130.0:
            continue  # one rotor in another
        if what == "swap":  # as ``swapping`` does it
            j = (i + 1) % MOVED
            moves.types[[i, j]] = moves.types[[j, i]]
            energy = settle(*common(farm), moves)
        else:
            move = (*common(farm), moves, i, px, py)
            clear = CLEAR * energy / COUNTED
            gain, before = gained(*move, -np.inf), (moves.x[i], moves.y[i])
            # Refused are moves that gain too little, by a rough trial only if it cannot be wrong, with room to spare.
            assert gained(*move, gain + 3.0 * clear) < gain + 3.0 * clear
            assert gained(*move, gain + 0.8 * clear) == gain
            if what == "keep":
                keep(*move)
                energy += gain
            else:
                moves.x[i], moves.y[i] = px, py
                there = whole_or_settled(farm, moves)
                moves.x[i], moves.y[i] = before
                assert mean_power_to_aep_gwh(energy + gain) == pytest.approx(there, rel=1e-9)
        assert mean_power_to_aep_gwh(energy) == pytest.approx(whole_or_settled(farm, moves), rel=1e-9)


def test_moves_that_a_rough_trial_refuses_would_hardly_be_kept() -> None:
    farm = farm_of(WAYS[0], "speedup")
    rng = np.random.default_rng(3)
    x, y = (np.append(rng.uniform(0.0, 3000.0, COUNTED), at) for at in (150.0, 2900.0))
    moves = new_carried_moves(farm, x, y, TYPES, COUNTED)
    settle, gained, keep = carried_kernels(farm.model, farm.locality)
    energy = settle(*common(farm), moves)
    needed, kept, missed = -0.0005 * energy / COUNTED, 0, 0
    for _ in range(1500):
        i = int(rng.integers(MOVED))
        px, py = rng.uniform(0.0, 3000.0, 2)
        if rng.random() < 0.5:
            px, py = np.clip([moves.x[i], moves.y[i]] + 100.0 * rng.normal(size=2), 0.0, 3000.0)
        if np.hypot(np.delete(moves.x, i) - px, np.delete(moves.y, i) - py).min() < NEAREST_M:
            continue
        move = (*common(farm), moves, i, px, py)
        full, told = gained(*move, -np.inf), gained(*move, needed)
        missed += full > needed > told
        if told > needed:
            assert told == full
            keep(*move)
            energy += told
            kept += 1
    there = farm.aep(moves.x[:COUNTED], moves.y[:COUNTED], moves.types[:COUNTED])
    assert mean_power_to_aep_gwh(energy) == pytest.approx(there, rel=1e-9)
    assert kept > 50
    assert missed <= 0.02 * kept


AREA = Boundary([[(0.0, 0.0), (3000.0, 0.0), (3000.0, 3000.0), (0.0, 3000.0)]])


@pytest.mark.parametrize("method", [Annealing(1500), RandomSearch(1500)], ids=["annealing", "random-search"])
def test_a_walk_in_local_wind_never_ends_below_its_start_nor_differs_from_itself(method: Any) -> None:
    farm = farm_of(WAYS[0], "weibull")
    problem = LayoutProblem(farm, AREA, 7, 500.0, types=TYPES[:7].tolist())
    start = Layout(
        np.array([300.0, 1100.0, 1900.0, 2700.0, 300.0, 1100.0, 1900.0]),
        np.array([400.0] * 4 + [1300.0] * 3),
        TYPES[:7],
    )
    found = method.run(problem, 4, start)
    assert problem.is_feasible(found.layout)
    assert found.aep_gwh > problem.aep(start)
    assert found.aep_gwh == problem.aep(found.layout)
    again = method.run(problem, 4, start)
    assert (again.x.tobytes(), again.y.tobytes()) == (found.x.tobytes(), found.y.tobytes())
