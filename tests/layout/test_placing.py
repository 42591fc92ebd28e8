"""The steps of a smart start beside the same sums written plainly."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.layout.cases import Case
from tests.layout.test_smart_start_golden import problem_of
from vindeby.layout import SmartStart
from vindeby.layout.placing.construction import GridEnergies, GridWind, best_worth
from vindeby.layout.placing.grid_wakes import COEFFICIENTS
from vindeby.layout.placing.steps import THRUST, State, next_waiting, wait
from vindeby.wake import WindFarm

FloatArray = npt.NDArray[np.float64]


def pick_sorted(worth: FloatArray, best: int) -> list[int]:
    """TopFarm's rule: sort all, take those not below the last of the best."""
    least = np.sort(worth)[-min(best, len(worth))]
    return np.flatnonzero(worth >= least).tolist()


@pytest.mark.parametrize("best", [1, 2, 5, 11, 12, 40])
def test_the_best_points_are_those_of_a_sorted_list_with_all_that_equal_the_last(best: int) -> None:
    rng = np.random.default_rng(best)
    for ties in (3, 1000):
        worth = rng.integers(0, ties, 12).astype(float)
        assert best_worth(worth, best).tolist() == pick_sorted(worth, best)


def constructed(turbines: tuple[str, ...], count: int, wake: Any = None) -> tuple[GridWind, State]:
    """A smart start on its way, with so many turbines standing."""
    problem = problem_of(Case("slanted", count + 1, 9, 30.0, 0, turbines=turbines))
    if wake is not None:
        problem = replace(problem, farm=WindFarm(problem.farm.site, problem.farm.turbines, wake))
    method = SmartStart(9, 30.0, (7.0, 11.0), (10.0, 100.0, 265.0))
    prepared = method.construction(problem)
    grid = GridWind(problem, method.judging_farm(problem), 9)
    energies = GridEnergies(grid, count + 1)
    prepared.begin = lambda _: energies
    prepared.construct(3)
    return grid, energies.state


def wake_of(prepared: GridWind, pair: int, thrust: float) -> float:
    """A tabulated wake, by Horner's rule."""
    wakes = prepared.wakes
    at = (thrust - wakes.lowest_thrust) * wakes.per_piece
    piece = min(max(int(at), 0), len(wakes.table) - 1)
    t = 2.0 * (at - piece) - 1.0
    return float(np.polynomial.polynomial.polyval(t, wakes.table[piece, pair]))


@pytest.mark.slow
@pytest.mark.parametrize("turbines", [("15MW",), ("10MW", "15MW")], ids=["one type", "two types"])
def test_what_is_passed_on_in_differences_is_the_sum_of_the_wakes_that_stand(
    turbines: tuple[str, ...],
) -> None:
    prepared, state = constructed(turbines, 8)
    wakes, speeds, types = prepared.wakes, state.change.shape[0], len(turbines)
    assert wakes.table.shape[2] == COEFFICIENTS
    standing = np.flatnonzero(state.cell >= 0)
    assert len(standing) == 8
    points = {int(cell): c for c, cell in enumerate(state.point_cell) if state.occupant[cell] == c + 1}
    turbine_at = {int(state.cell[a]): int(a) for a in standing}
    sums, first_turbine = np.zeros_like(state.sums), len(state.point_cell)
    for d in range(len(wakes.first) - 1):
        for a in standing:
            for e in range(wakes.first[d], wakes.first[d + 1]):
                there, source = int(state.cell[a] + wakes.step[e]), int(state.types[a])
                for k in range(speeds):
                    pair = (e * types + source) * (types + 1)
                    thrust = state.own[d, a, THRUST, k]
                    if there in points:
                        sums[d, points[there], k] += wake_of(prepared, pair, thrust)
                    elif there in turbine_at:
                        b = turbine_at[there]
                        wake = wake_of(prepared, pair + 1 + int(state.types[b]), thrust)
                        sums[d, first_turbine + b, k] += wake
    for targets in (sorted(points.values()), first_turbine + standing):
        assert sums[:, targets].max() > 1e-3
        np.testing.assert_allclose(state.sums[:, targets], sums[:, targets], rtol=0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("thrust_of", ["local", "free"])
def test_the_thrust_of_turbines_that_stand_follows_the_wind_that_the_model_names(thrust_of: str) -> None:
    prepared, state = constructed(("15MW",), 8, {"top-hat": {"k": 0.03, "thrust_of": thrust_of}})
    standing, wind = np.arange(8), prepared.farm.wind
    free = wind.speed.reshape(len(wind.cosine), 1, -1) + np.zeros((1, len(standing), 1))
    local = free * (1.0 - np.sqrt(state.sums[:, len(state.point_cell) + standing]))
    in_free, in_local = (
        prepared.farm.turbines[0].thrust_coefficient_at(felt.ravel()).reshape(felt.shape)
        for felt in (free, local)
    )
    assert np.abs(in_free - in_local).max() > 1e-3
    expected = {"free": in_free, "local": in_local}[thrust_of]
    np.testing.assert_allclose(state.own[:, standing, THRUST], expected, rtol=1e-9)


@pytest.mark.slow
def test_a_ready_energy_is_what_the_gathered_wakes_leave() -> None:
    prepared, state = constructed(("15MW",), 8)
    wind, kind = prepared.farm.wind, prepared.farm.turbines[0]
    free = [c for c, cell in enumerate(state.point_cell) if state.occupant[cell] == c + 1]
    for d in range(len(wind.cosine)):
        states = slice(wind.first[d], wind.first[d + 1])
        left = wind.speed[states] * (1.0 - np.sqrt(np.maximum(state.sums[d, free], 0.0)))
        energy = kind.power_at(left.ravel()).reshape(left.shape) @ wind.weight[states]
        np.testing.assert_allclose(state.energy[free, 0, d], energy, rtol=1e-12)


def test_offsets_are_those_between_points_inside_in_the_order_of_rows() -> None:
    prepared, state = constructed(("15MW",), 1)
    wakes = prepared.wakes
    between_points = set((state.point_cell[:, None] - state.point_cell).ravel().tolist())
    assert set(wakes.step.tolist()) < between_points
    # Columns are less than half a padded row apart.
    rows = np.rint(wakes.step / wakes.stride).astype(np.int64)
    for d, n in itertools.product(range(len(wakes.first) - 1), range(2 * wakes.size)):
        before = rows[wakes.first[d] : wakes.first[d + 1]] < n - wakes.size + 1
        assert wakes.first_in_row[d, n] == wakes.first[d] + before.sum()
        assert before[: before.sum()].all()


def test_turbines_wait_from_upwind_to_downwind_and_then_as_they_came() -> None:
    place = np.array([[3.0, 0.0], [1.0, 5.0], [2.0, 0.0], [1.0, 9.0], [1.0, 0.0]])
    state: Any = SimpleNamespace(place=place, waiting=np.zeros(6, np.int64))
    for a in (2, 4, 0, 1, 2, 3, 1):
        wait.py_func(-1.0, 0.0, state, a)  # type: ignore[attr-defined]  # wind from the west
    taken = [next_waiting.py_func(state) for _ in range(6)]  # type: ignore[attr-defined]
    assert taken == [1, 3, 4, 2, 0, -1]
