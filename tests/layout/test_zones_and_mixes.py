"""Farms of several zones and of several types: what every method keeps to there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely

from tests.layout.zoned_problems import (
    CIRCLE,
    EAST,
    PROBLEMS,
    WEST,
    mix_by_zone,
    mix_of_two,
    mix_over_zones,
    three_zones,
)
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import (
    Annealing,
    Boundary,
    Gradient,
    InTurn,
    Layout,
    LayoutProblem,
    Method,
    Pipeline,
    RandomSearch,
    RandomStart,
    SmartStart,
    Zone,
    Zones,
)
from vindeby.layout.method import Result
from vindeby.layout.moves import walk_loop

pytestmark = pytest.mark.slow

SPEEDS = {"three zones": (9.0, 9.8)}


def _start(name: str) -> SmartStart:
    return SmartStart(21, 20.0, SPEEDS.get(name), np.arange(0.0, 360.0, 45.0).tolist())


def _methods(name: str) -> dict[str, Method]:
    smart = _start(name)
    methods: dict[str, Method] = {
        "smart-start": smart,
        "random-start": RandomStart(),
        "gradient": Pipeline([RandomStart(), Gradient(25)]),
        "random-search": Pipeline([RandomStart(), RandomSearch(400)]),
        "annealing": Pipeline([smart, Annealing(400)]),
    }
    if name != "mix over zones":
        methods["in turn"] = InTurn([smart, Gradient(10), RandomSearch(100)], rounds=2)
    return methods


def _outside_m(problem: LayoutProblem, result: Result) -> float:
    """How far the worst turbine is outside its zone, by shapely and not by the searches' own distances."""
    worst, first = 0.0, 0
    for zone in problem.zones:
        for x, y in zip(*(v[first : first + zone.n_turbines] for v in (result.x, result.y)), strict=True):
            if zone.boundary.circle is not None:
                (cx, cy), radius = CIRCLE
                worst = max(worst, math.hypot(x - cx, y - cy) - radius)
                continue
            ring = WEST if zone.name in ("west", "") else EAST
            worst = max(worst, shapely.Polygon(ring).distance(shapely.Point(x, y)))
            for (hx, hy), radius in zone.boundary.round_holes:
                worst = max(worst, radius - math.hypot(x - hx, y - hy))
        first += zone.n_turbines
    return worst


def _too_near_m(problem: LayoutProblem, result: Result) -> float:
    need = problem.spacing_by_type[result.types]
    return max(
        0.5 * float(need[i] + need[j]) - math.hypot(result.x[i] - result.x[j], result.y[i] - result.y[j])
        for i in range(len(need))
        for j in range(i)
    )


def _counts(problem: LayoutProblem, result: Result) -> list[list[int]]:
    parts = np.split(result.types, np.cumsum([zone.n_turbines for zone in problem.zones])[:-1])
    kinds = len(problem.farm.turbines)
    rows = np.array([np.bincount(part, minlength=kinds) for part in parts])
    summed = rows.sum(axis=0, keepdims=True) if np.ndim(problem.mix or 0) == 1 else rows
    return [[int(count) for count in row] for row in summed]


CASES = [(problem, method) for problem in PROBLEMS for method in _methods(problem)]


@pytest.mark.parametrize(("name", "method"), CASES)
def test_turbines_stay_in_their_zones_and_apart_and_types_keep_their_counts(name: str, method: str) -> None:
    problem = PROBLEMS[name]()
    search = _methods(name)[method].prepare(problem)
    first, again, other = search(1, None), search(1, None), search(2, None)
    for result in (first, other):
        assert len(result.x) == problem.n_turbines
        assert _outside_m(problem, result) <= 1e-6
        assert _too_near_m(problem, result) <= 1e-6
        assert problem.is_feasible(result.layout)
        assert result.aep_gwh == pytest.approx(problem.aep(result.layout), rel=1e-12)
        if problem.mix is not None:
            assert _counts(problem, result) == np.atleast_2d(problem.mix).tolist()
    for one, same in ((first.x, again.x), (first.y, again.y), (first.types, again.types)):
        assert one.tobytes() == same.tobytes()
    assert other.x.tobytes() != first.x.tobytes()


def test_zones_that_share_an_edge_keep_the_spacing_across_it() -> None:
    problem = three_zones(spacing_m=700.0)
    result = Pipeline([RandomStart(), RandomSearch(300)]).run(problem, 0)
    moved = Layout(result.x.copy(), result.y.copy(), result.types)
    moved.x[0], moved.y[0] = 1990.0, 700.0
    moved.x[5], moved.y[5] = 2010.0, 700.0
    assert problem.is_feasible(result.layout)
    assert not problem.is_feasible(moved)


def test_a_turbine_in_another_zone_is_refused() -> None:
    problem = three_zones()
    result = RandomStart().run(problem, 0)
    order = np.r_[5, 1:5, 0, 6:12]
    swapped = Layout(result.x[order], result.y[order], result.types)
    assert not problem.is_feasible(swapped)
    with pytest.raises(TaskError, match="outside"):
        problem.refuse_infeasible(swapped, "test")


def test_one_zone_is_the_same_as_its_boundary_to_the_bit() -> None:
    plain = replace(three_zones(), boundary=Boundary([WEST]), n_turbines=5)
    zoned = replace(plain, boundary=Zones([Zone(Boundary([WEST]), 5)]))
    method = Pipeline([_start("three zones"), Gradient(10), RandomSearch(100), Annealing(100)])
    one, other = method.run(plain, 4), method.run(zoned, 4)
    assert one.x.tobytes() == other.x.tobytes()
    assert one.y.tobytes() == other.y.tobytes()


@pytest.mark.parametrize("search", ["together", "in turn"])
def test_a_search_of_zones_never_makes_its_start_worse(search: str) -> None:
    problem = three_zones()
    start = RandomStart().run(problem, 5)
    steps = [Gradient(8), RandomSearch(60)]
    method = Pipeline(steps) if search == "together" else InTurn(steps, rounds=3)
    found = method.run(problem, 5, start.layout)
    assert found.aep_gwh > start.aep_gwh
    rounds = [InTurn(steps, rounds=n).run(problem, 5, start.layout).aep_gwh for n in (1, 2, 3)]
    assert rounds == sorted(rounds)


def test_in_turn_counts_the_energy_of_all_zones() -> None:
    """A zone upwind that only looked at itself would not move out of the way of the one downwind."""
    zones = Zones([Zone(Boundary([WEST]), 1, "upwind"), Zone(Boundary([EAST]), 1, "downwind")])
    farm = three_zones().farm
    problem = LayoutProblem(farm, zones, 2, 260.0)
    start = Layout.of([1900.0, 2400.0], [1500.0, 1500.0])
    alone = LayoutProblem(farm, Boundary([WEST]), 1, 260.0)
    assert Gradient(20).run(alone, 0, Layout.of([1900.0], [1500.0])).x[0] == 1900.0
    found = InTurn([Gradient(20)]).run(problem, 0, start)
    assert abs(found.y[0] - start.y[0]) > 1.0
    assert found.aep_gwh > problem.aep(start)


def test_smart_start_uses_a_type_no_more_often_than_the_mix_says() -> None:
    problem = mix_of_two()
    free = replace(problem, mix=None)
    best = SmartStart(21, 0.0).run(free, 0)
    assert set(best.types.tolist()) == {1}, "left free, all turbines would be large"
    assert np.bincount(SmartStart(21, 0.0).run(problem, 0).types).tolist() == [5, 3]
    assert SmartStart(21, 0.0).run(problem, 0).types[:3].tolist() == [1, 1, 1], "the larger gives more"


@pytest.mark.parametrize("model", ["bastankhah-2014", "niayifar-2016"])
def test_swapping_types_is_a_move_in_a_mix_and_only_there(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = mix_of_two(model)
    start = RandomStart().run(problem, 3)
    found = RandomSearch(300).run(problem, 3, start.layout)
    assert found.types.tolist() != start.types.tolist()
    assert found.aep_gwh > start.aep_gwh
    given = replace(problem, mix=None, types=start.types.tolist())
    kept = RandomSearch(300).run(given, 3, start.layout)
    assert kept.types.tolist() == start.types.tolist()
    monkeypatch.setattr(walk_loop, "SWAP_SHARE", 0.0)
    never = RandomSearch(300).run(problem, 3, start.layout)
    assert never.x.tobytes() == kept.x.tobytes(), "the draws of moves are the same with a mix and without"


def test_a_mix_by_zone_swaps_only_inside_a_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_loop, "SWAP_SHARE", 0.7)
    problem = mix_by_zone()
    for seed in range(8):
        start = RandomStart().run(problem, seed)
        found = Annealing(300).run(problem, seed, start.layout)
        assert np.bincount(found.types[:4], minlength=2).tolist() == [3, 1]
        assert np.bincount(found.types[4:], minlength=2).tolist() == [1, 2]


def test_a_farm_mix_gives_every_zone_its_share_at_random_start() -> None:
    found = RandomStart().run(mix_over_zones(), 0)
    assert set(found.types[:4].tolist()) == {0, 1}
    assert set(found.types[4:].tolist()) == {0, 1}


@pytest.mark.parametrize("mix", [[5, 4], [8], [5, 3, 0], [[5, 3], [0, 0]], [9, -1], [5.0, 3.0]])
def test_a_mix_of_other_counts_than_the_farm_is_refused(mix: list[int]) -> None:
    with pytest.raises(ArgumentError, match="mix must hold"):
        replace(mix_of_two(), mix=mix)


def test_zones_of_another_count_than_the_farm_are_refused() -> None:
    with pytest.raises(ArgumentError, match="but the zones have 12"):
        replace(three_zones(), n_turbines=13)


def test_in_turn_needs_a_mix_for_each_zone() -> None:
    with pytest.raises(ArgumentError, match="a mix for each zone"):
        InTurn([RandomStart()]).run(mix_over_zones(), 0)
