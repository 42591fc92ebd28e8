"""Moves carried on from one to the next: after any history the energy is that of a whole evaluation."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vindeby.layout.moves import carried_state
from vindeby.layout.moves.carried_moves import CLEAR, carried_kernels
from vindeby.layout.moves.carried_state import CarriedMoves, can_carry, new_carried_moves
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import Neighbours, TableSite, Turbine, WindFarm
from vindeby.wake.models import model_named

pytestmark = pytest.mark.slow

# Compiling the loops for a model takes long; these put wakes together in different ways: superposition, reference and
# thrust_of.
WAYS = [
    ("bastankhah-2014", "linear", "local", "local"),
    ("iea37", "squares", "free", "local"),
    ("jensen", "squares", "free", "free"),
    *(
        [
            ("bastankhah-2014", "squares", "local", "local"),
            ("bastankhah-2014", "linear", "local", "free"),
            ("bastankhah-2014", "linear", "free", "local"),
            ("jensen", "squares", "free", "local"),
            ("nygaard-2022", "squares", "free", "local"),
        ]
        if os.environ.get("VINDEBY_FULL")
        else []
    ),
]
TURBINES, COUNTED, MOVED = 9, 8, 7
"""The eighth is one of the same farm that stands already, the last one a neighbour."""
NEAREST_M = 460.0
"""Of two that stand nearer and abreast to the bit, rounding decides which is in the other's wake.

The engine turns places into the wind less the middle of the layout's bounding box (``WindFarm._middle``), moves turn
them as they are given. Of two turbines 300 m apart to the east, in wind from the north, one is 1.8e-14 m downwind of
the other, or 0 m, by how far they are from the origin, since cos(90 degrees) is 6e-17. With a third turbine far away,
which moves the middle, the engine itself gives the two another energy: by 7e-7 with ``iea37``, by 3e-11 with
``bastankhah-2014``, and by 0 from 458 m on, where the wake of ``iea37`` ends at the rotor (7.2 x 180 m / sqrt(8)). So a
layout with such a pair is compared with one that is settled anew in the same coordinates.
"""


@cache
def farm_of(model: str, superposition: str, reference: str, thrust_of: str, speeds: int = 3) -> WindFarm:
    """Two types whose thrust changes with the wind; one direction of 12 never blows."""
    types = [Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 180.0, 120.0)]
    chance = np.random.default_rng(5).random((12, speeds))
    chance[4] = 0.0
    site = TableSite(chance / chance.sum(), np.linspace(6.0, 12.0, speeds) if speeds > 1 else [9.0], 0.08)
    together: dict[str, Any] = {
        "superposition": superposition,
        "reference": reference,
        "thrust_of": thrust_of,
    }
    wake = replace(model_named(model), tabulate=False, **together)
    return WindFarm(site, types, wake, neighbours=Neighbours([-400.0], [500.0], [1]), tabulate=False)


def whole(farm: WindFarm, moves: CarriedMoves) -> float:
    return farm.aep(moves.x[:COUNTED], moves.y[:COUNTED], moves.types[:COUNTED])


def whole_or_settled(farm: WindFarm, moves: CarriedMoves) -> float:
    """The energy by the engine or, where that depends on where the middle of the layout is, settled anew."""
    apart = np.hypot(moves.x - moves.x[:, None], moves.y - moves.y[:, None])[np.triu_indices(TURBINES, 1)]
    if apart.min() >= NEAREST_M:
        return whole(farm, moves)
    anew = new_carried_moves(farm, moves.x, moves.y, moves.types, COUNTED)
    power = carried_kernels(farm.model).settle(farm.data, farm.turbine_arrays, farm.wind, anew)
    return float(mean_power_to_aep_gwh(power))


# Some on a grid, so that turbines stand abreast to the bit.
places = st.one_of(
    st.tuples(st.integers(0, 5), st.integers(0, 4)).map(lambda at: (700.0 * at[0], 700.0 * at[1])),
    st.tuples(st.integers(0, 17), st.integers(0, 15)).map(lambda at: (200.0 * at[0], 200.0 * at[1])),
    st.tuples(st.floats(0.0, 4000.0), st.floats(0.0, 3000.0)),
)
histories = st.lists(
    st.tuples(st.integers(0, MOVED - 1), places, st.sampled_from(["keep", "keep", "refuse", "swap"])),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(speeds=st.sampled_from([1, 3]), history=histories)
def test_after_any_history_the_energy_is_that_of_a_whole_evaluation(
    way: tuple[str, str, str, str], speeds: int, history: list[tuple[int, tuple[float, float], str]]
) -> None:
    farm = farm_of(*way, speeds)
    x = np.array([*(700.0 * (i % 4) for i in range(COUNTED)), -400.0])
    y = np.array([*(900.0 * (i // 4) + 13.0 * i for i in range(COUNTED)), 500.0])
    moves = new_carried_moves(farm, x, y, np.array([0, 1, 0, 1, 0, 0, 1, 1, 1]), COUNTED)
    settle, gained, keep = carried_kernels(farm.model)
    energy = settle(farm.data, farm.turbine_arrays, farm.wind, moves)
    assert mean_power_to_aep_gwh(energy) == pytest.approx(whole(farm, moves), rel=1e-10)
    for i, (px, py), what in history:
        if (
            np.hypot(np.delete(moves.x, i) - px, np.delete(moves.y, i) - py).min() < 130.0
        ):  # one rotor in another
            continue
        if what == "swap":  # as ``swapping`` does it
            j = (i + 1) % MOVED
            moves.types[[i, j]] = moves.types[[j, i]]
            energy = settle(farm.data, farm.turbine_arrays, farm.wind, moves)
        else:
            move = (farm.data, farm.turbine_arrays, farm.wind, moves, i, px, py)
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


def test_farms_with_too_many_pairs_are_evaluated_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    farm = farm_of(*WAYS[0])
    assert can_carry(farm, 2)
    monkeypatch.setattr(carried_state, "MOST_BYTES", 0)
    assert not can_carry(farm, 2)


def test_moves_that_a_rough_trial_refuses_would_hardly_be_kept() -> None:
    farm = farm_of(*WAYS[0])
    rng = np.random.default_rng(3)
    x, y = (np.append(rng.uniform(0.0, 4000.0, COUNTED), at) for at in (-400.0, 500.0))
    types = np.array([0, 1, 0, 1, 0, 0, 1, 1, 1])
    moves = new_carried_moves(farm, x, y, types, COUNTED)
    settle, gained, keep = carried_kernels(farm.model)
    energy = settle(farm.data, farm.turbine_arrays, farm.wind, moves)
    needed, kept, missed = -0.0005 * energy / COUNTED, 0, 0
    for _ in range(1500):
        i = int(rng.integers(MOVED))
        px, py = rng.uniform(0.0, 4000.0, 2)
        if rng.random() < 0.5:
            px, py = moves.x[i] + 100.0 * rng.normal(), moves.y[i] + 100.0 * rng.normal()
        if np.hypot(np.delete(moves.x, i) - px, np.delete(moves.y, i) - py).min() < NEAREST_M:
            continue
        move = (farm.data, farm.turbine_arrays, farm.wind, moves, i, px, py)
        full, told = gained(*move, -np.inf), gained(*move, needed)
        missed += full > needed > told
        if told > needed:
            assert told == full
            keep(*move)
            energy += told
            kept += 1
    assert mean_power_to_aep_gwh(energy) == pytest.approx(whole(farm, moves), rel=1e-9)
    assert kept > 50
    assert missed <= 0.02 * kept
