"""random-search, annealing, random-start: what one move changes, feasibility, chance from the seed alone."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from tests.layout.small_problems import PROBLEMS, circle, mixed
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import Annealing, Boundary, Layout, LayoutProblem, Method, RandomSearch, RandomStart
from vindeby.layout.area.limits import Limits
from vindeby.layout.moves.carried_moves import carried_kernels
from vindeby.layout.moves.carried_state import CarriedMoves, new_carried_moves
from vindeby.layout.moves.steady_moves import SteadyMoves
from vindeby.layout.moves.walk import Walk, mover_of, walk
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import Neighbours, TableSite, UniformSite, WindFarm, iea37_10mw, iea37_335mw

pytestmark = pytest.mark.slow

# Compiling the loops for a model takes long; these two put wakes together in different ways.
MODELS = ("iea37", "bastankhah-2014", *(("jensen", "nygaard-2022") if os.environ.get("VINDEBY_FULL") else ()))
SEARCHES: tuple[Method, ...] = (RandomSearch(150), Annealing(150))


def untabulated(problem: LayoutProblem) -> WindFarm:
    farm = problem.farm
    return WindFarm(
        farm.site, farm.turbines, farm.model, directions=np.arange(0.0, 360.0, 30.0), speeds=[6.0, 9.0, 12.0],
        neighbours=farm.neighbours, tabulate=False,
    )  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_one_move_is_worth_what_the_whole_layout_is(model: str) -> None:
    problem = mixed(model)
    farm, beside = untabulated(problem), problem.neighbours
    start = RandomStart().run(problem, 0)
    x, y = np.append(start.x, beside.x), np.append(start.y, beside.y)
    moves = new_carried_moves(farm, x, y, np.append(start.types, beside.types), 7)
    settle, gained, keep = carried_kernels(farm.model)
    rng = np.random.default_rng(1)
    assert isinstance(farm.neighbours, Neighbours)
    for _ in range(60):
        base = mean_power_to_aep_gwh(settle(farm.data, farm.turbine_arrays, farm.wind, moves))
        assert base == pytest.approx(farm.aep(moves.x[:7], moves.y[:7], start.types), rel=1e-12)
        i = int(rng.integers(7))
        px, py = rng.uniform(0, 3000), rng.uniform(0, 2500)
        move = (farm.data, farm.turbine_arrays, farm.wind, moves, i, px, py)
        moved = base + mean_power_to_aep_gwh(gained(*move, -np.inf))
        x, y = np.array(moves.x[:7]), np.array(moves.y[:7])
        x[i], y[i] = px, py
        assert moved == pytest.approx(farm.aep(x, y, start.types), rel=1e-10)
        keep(*move)


def farm_of_steady_wakes(speeds: int, types: int) -> WindFarm:
    """Constant thrust and a model whose wakes do not change with the wind; beside two turbines of another farm."""
    rng = np.random.default_rng(5)
    table = rng.random((12, speeds))
    table /= table.sum()
    site = (
        UniformSite(table[:, 0], wind_speed=9.8) if speeds == 1 else TableSite(table, 8.0 + np.arange(speeds))
    )
    turbines = [iea37_335mw(), iea37_10mw()][:types]
    return WindFarm(site, turbines, "iea37", neighbours=Neighbours([-400.0, -400.0], [500.0, 1500.0]))


@pytest.mark.parametrize(("speeds", "types"), [(1, 1), (1, 2), (4, 2)])
def test_steady_wakes_are_followed_from_move_to_move(speeds: int, types: int) -> None:
    farm = farm_of_steady_wakes(speeds, types)
    rng = np.random.default_rng(2)
    # On a grid, so that some stand abreast of each other, to the bit, in some directions.
    cells = rng.permutation([(700.0 * a, 700.0 * b) for a in range(6) for b in range(5)])
    kind = rng.integers(0, types, 9)
    x, y = np.vstack([cells[:9], [(-400.0, 500.0), (-400.0, 1500.0)]]).T
    moves, kernels, _ = mover_of(farm, x, y, np.append(kind, [0, 0]), 9)
    assert isinstance(moves, SteadyMoves)
    energy = kernels.settle(farm.data, farm.turbine_arrays, farm.wind, moves)
    assert mean_power_to_aep_gwh(energy) == pytest.approx(farm.aep(x[:9], y[:9], kind), rel=1e-9)
    for step in range(60):
        i, to = int(rng.integers(9)), int(rng.integers(9, 30))
        move = (farm.data, farm.turbine_arrays, farm.wind, moves, i, *cells[to].tolist())
        gain = kernels.gained(*move, -np.inf)
        if step % 3:
            kernels.keep(*move)
            energy += gain
            cells[[i, to]] = cells[[to, i]]
            whole = farm.aep(moves.x[:9], moves.y[:9], kind)
            assert mean_power_to_aep_gwh(energy) == pytest.approx(whole, rel=1e-9)


def test_of_two_abreast_one_is_downwind_before_and_after_a_move() -> None:
    farm = farm_of_steady_wakes(1, 1)
    rng = np.random.default_rng(3)
    x, y = np.array([(70.0 * a, 70.0 * b) for a in range(3) for b in range(3)]).T
    moves, kernels, _ = mover_of(farm, x, y, np.zeros(9, int), 9)
    energy = kernels.settle(farm.data, farm.turbine_arrays, farm.wind, moves)
    for _ in range(30):
        px, py = 70.0 * rng.integers(0, 8, 2)
        move = (farm.data, farm.turbine_arrays, farm.wind, moves, int(rng.integers(9)), px, py)
        energy += kernels.gained(*move, -np.inf)
        kernels.keep(*move)
    assert energy == pytest.approx(kernels.settle(farm.data, farm.turbine_arrays, farm.wind, moves), rel=1e-9)


def test_wakes_that_change_with_the_wind_are_not_taken_for_steady() -> None:
    for model in ("bastankhah-2014", "nygaard-2022"):
        farm = untabulated(mixed(model))
        assert isinstance(mover_of(farm, np.zeros(1), np.zeros(1), np.zeros(1, int), 1).moves, CarriedMoves)


def test_annealing_finds_what_climbing_does_not() -> None:
    problem = circle(turbines=12)
    climbed, annealed = [], []
    for seed in range(3):
        start = RandomStart().run(problem, seed).layout
        climbed.append(RandomSearch(20_000).run(problem, seed, start).aep_gwh)
        annealed.append(Annealing(20_000).run(problem, seed, start).aep_gwh)
    assert np.mean(annealed) > np.mean(climbed)
    assert max(annealed) > max(climbed)


def test_without_a_temperature_annealing_begins_at_a_tenth_of_the_wake_loss() -> None:
    problem = mixed()
    start = RandomStart().run(problem, 0).layout
    loss = problem.farm.wake_loss(start.x, start.y, start.types)
    how = Walk(200, 500.0, 0.1, 2.5, 0.1 * loss, 0.01 * loss)
    assert 0.01 < loss < 0.5
    west, south, east, north = problem.boundary.bounds
    how = replace(how, longest_m=float(np.hypot(east - west, north - south)))
    found = Annealing(200).run(problem, 3, start)
    assert (found.x == walk(problem, start, 3, how, "annealing").x).all()
    assert (found.x != Annealing(200, 0.03).run(problem, 3, start).x).any()


def test_a_farm_without_wakes_is_annealed_without_heat() -> None:
    alone = circle(turbines=1)
    start = RandomStart().run(alone, 0).layout
    assert Annealing(50).run(alone, 0, start).aep_gwh == pytest.approx(alone.farm.wake_free_aep(1))


def test_annealing_by_parts_and_with_whole_layouts_take_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = mixed()
    start = RandomStart().run(problem, 0).layout
    by_parts = Annealing(300).run(problem, 5, start)
    monkeypatch.setattr("vindeby.layout.moves.walk.can_carry", lambda farm, turbines: False)
    as_a_whole = Annealing(300).run(problem, 5, start)
    assert by_parts.aep_gwh == pytest.approx(as_a_whole.aep_gwh, rel=1e-12)
    np.testing.assert_allclose(by_parts.x, as_a_whole.x, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", SEARCHES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_found_keeps_to_the_rules_and_is_no_worse(name: str, method: Method) -> None:
    problem = PROBLEMS[name]()
    start = RandomStart().run(problem, 2)
    result = method.run(problem, 7, start.layout)
    assert max(problem.shortfalls(result.layout)) <= 1e-6
    assert result.aep_gwh >= start.aep_gwh
    assert result.aep_gwh == problem.aep(result.layout)


def test_it_climbs() -> None:
    problem = circle()
    start = RandomStart().run(problem, 2)
    few, many = (RandomSearch(budget).run(problem, 0, start.layout).aep_gwh for budget in (100, 4000))
    assert start.aep_gwh < few < many
    assert many > 1.02 * start.aep_gwh


def test_the_budget_is_kept() -> None:
    problem = circle()
    result = RandomSearch(321).run(problem, 0, RandomStart().run(problem, 0).layout)
    assert result.status == "budget"
    assert result.evaluations == 321 + 2


def test_evaluating_whole_layouts_takes_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = mixed()
    start = RandomStart().run(problem, 0).layout
    by_parts = RandomSearch(200).run(problem, 5, start)
    monkeypatch.setattr("vindeby.layout.moves.walk.can_carry", lambda farm, turbines: False)
    as_a_whole = RandomSearch(200).run(problem, 5, start)
    assert by_parts.aep_gwh == pytest.approx(as_a_whole.aep_gwh, rel=1e-12)
    np.testing.assert_allclose(by_parts.x, as_a_whole.x, rtol=0, atol=1e-9)


def test_a_model_that_adds_turbulence_is_searched_with_whole_layouts() -> None:
    problem = mixed("niayifar-2016")
    start = RandomStart().run(problem, 0)
    result = RandomSearch(60).run(problem, 1, start.layout)
    assert result.aep_gwh > start.aep_gwh
    assert problem.is_feasible(result.layout)


def test_no_move_is_longer_than_allowed() -> None:
    problem = circle()
    start = RandomStart().run(problem, 0).layout
    result = RandomSearch(1, max_step_m=5.0).run(problem, 3, start)
    assert np.hypot(result.x - start.x, result.y - start.y).max() <= 5.0


@pytest.mark.parametrize("method", SEARCHES, ids=lambda m: type(m).__name__)
def test_a_seed_gives_one_layout_to_the_bit_whatever_ran_before(method: Method) -> None:
    problem = mixed()
    start = RandomStart().run(problem, 1).layout
    search = method.prepare(problem)
    first = search(3, start)
    other = search(4, start)
    again = method.run(mixed(), 3, start)
    assert (first.x == again.x).all()
    assert (first.y == again.y).all()
    assert (first.x != other.x).any()


@pytest.mark.parametrize("method", SEARCHES, ids=lambda m: type(m).__name__)
def test_without_a_start_it_says_what_to_put_before_it(method: Method) -> None:
    with pytest.raises(TaskError, match="needs a start; put smart-start, lattice or random-start before it"):
        method.run(circle(), 0)


def test_a_start_that_breaks_the_rules_is_mended() -> None:
    problem = circle()
    start = RandomStart().run(problem, 0).layout
    start.x[:] += 400.0
    assert not problem.is_feasible(start)
    assert problem.is_feasible(RandomSearch(50).run(problem, 0, start).layout)


@pytest.mark.parametrize("name", PROBLEMS)
def test_random_starts_are_feasible_and_differ(name: str) -> None:
    problem = PROBLEMS[name]()
    found = [RandomStart().run(problem, seed) for seed in range(20)]
    assert all(problem.is_feasible(result.layout) for result in found)
    assert len({result.x[0] for result in found}) == 20


def test_a_full_area_is_filled_by_pushing() -> None:
    farm = circle().farm
    full = LayoutProblem(farm, Boundary(circle=((0.0, 0.0), 700.0)), 12, 330.0, "full")
    assert full.is_feasible(RandomStart().run(full, 0).layout)


def test_no_room_is_an_error_that_says_what_would_help() -> None:
    farm = circle().farm
    small = LayoutProblem(farm, Boundary(circle=((0.0, 0.0), 300.0)), 9, 330.0, "small")
    with pytest.raises(TaskError, match=r"farm small: random-start found no room for 9 turbines 330 m apart"):
        RandomStart().run(small, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RandomSearch(0), "max_evaluations"),
        (lambda: RandomSearch(5, -1.0), "max_step_m"),
        (lambda: Annealing(0), "max_evaluations"),
        (lambda: Annealing(5, 0.0), "temperature"),
        (lambda: Annealing(5, float("nan")), "temperature"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()  # type: ignore[operator]


def test_layouts_that_break_a_rule_are_seen_by_the_limits() -> None:
    problem = circle()
    layout = RandomStart().run(problem, 0).layout
    limits = Limits(problem, layout.types)
    place = np.stack([layout.x, layout.y]) - limits.origin[:, None]
    place[:, 0] = place[:, 1] + 1.0
    mended, kept = limits.restore(place)
    assert kept
    x, y = mended + limits.origin[:, None]
    assert problem.is_feasible(Layout(x, y, layout.types))
