"""Searches that choose how many turbines there are, or of which types, against all that they could have chosen."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.layout.farms import round_farm
from tests.layout.zoned_problems import mix_of_two, three_zones, two_types
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import (
    Boundary,
    Choice,
    CountSearch,
    Gradient,
    Layout,
    LayoutProblem,
    Method,
    MixSearch,
    Pipeline,
    RandomSearch,
    RandomStart,
    Result,
    SmartStart,
    Valuation,
)
from vindeby.layout.counting import changes, searches
from vindeby.layout.counting.changes import TypeChanges
from vindeby.wake import Neighbours, WindFarm

pytestmark = pytest.mark.slow

STEPS = [RandomStart(), Gradient(60)]
LOW, HIGH = 2, 9


def _crowded(valuation: Valuation, low: int = LOW, high: int = HIGH) -> LayoutProblem:
    """A circle so small that every further turbine adds less."""
    return replace(round_farm(high, 500.0), choice=Choice((low, high)), valuation=valuation)


@pytest.fixture(scope="module")
def most_gwh() -> dict[int, float]:
    """For each count the most energy of many searches that do not choose."""
    found = {}
    for many in range(LOW, HIGH + 1):
        search = Pipeline(STEPS).prepare(
            replace(round_farm(), boundary=_crowded(Valuation.turbine_cost(1.0)).boundary, n_turbines=many)
        )
        found[many] = max(search(seed, None).aep_gwh for seed in range(8))
    return found


@pytest.mark.parametrize(("cost_gwh", "expected"), [(0.5, 9), (21.0, 6), (25.5, 4), (40.0, 2)])
def test_the_count_is_the_best_of_all_counts(
    most_gwh: dict[int, float], cost_gwh: float, expected: int
) -> None:
    by_hand = {count: aep - cost_gwh * count for count, aep in most_gwh.items()}
    assert max(by_hand, key=by_hand.__getitem__) == expected
    problem = _crowded(Valuation.turbine_cost(cost_gwh))
    for seed in range(3):
        found = CountSearch(STEPS).run(problem, seed)
        assert len(found.x) == expected
        assert problem.is_feasible(found.layout)
        assert found.aep_gwh == pytest.approx(problem.aep(found.layout), rel=1e-12)


def test_the_energy_of_each_turbine_is_largest_where_there_are_fewest() -> None:
    found = CountSearch(STEPS).run(_crowded(Valuation("aep-per-turbine")), 3)
    assert len(found.x) == LOW
    each = found.arrays["tried_aep_gwh"] / found.arrays["tried_turbines"]
    assert found.arrays["tried_objective"].tolist() == pytest.approx(each.tolist(), rel=1e-15)
    assert found.arrays["tried_objective"].max() == found.aep_gwh / LOW


def test_a_turbine_alone_may_be_the_best_farm() -> None:
    found = CountSearch([RandomStart()]).run(_crowded(Valuation.turbine_cost(1000.0), 1, 4), 0)
    assert len(found.x) == 1


def test_what_was_tried_is_told_in_order_and_the_best_is_the_result() -> None:
    found = CountSearch(STEPS).run(_crowded(Valuation.turbine_cost(20.0)), 1)
    turbines, aep, objective = (
        found.arrays[f"tried_{name}"] for name in ("turbines", "aep_gwh", "objective")
    )
    assert turbines.tolist() == sorted(set(turbines.tolist()))
    assert set(turbines.tolist()) <= set(range(LOW, HIGH + 1))
    assert objective.tolist() == pytest.approx((aep - 20.0 * turbines).tolist(), rel=1e-12)
    best = int(np.argmax(objective))
    assert (turbines[best], aep[best]) == (len(found.x), found.aep_gwh)


@pytest.mark.parametrize("cost_gwh", [5.0, 28.6])
def test_a_wide_range_is_not_tried_count_by_count(cost_gwh: float) -> None:
    """Ninety counts, of which the best is found by halving; far from it most are left out."""
    problem = replace(_crowded(Valuation.turbine_cost(cost_gwh), 1, 90), spacing_m=100.0)
    found = CountSearch([RandomStart(), Gradient(20)]).run(problem, 0)
    assert len(found.arrays["tried_turbines"]) < 40
    best = len(found.x)
    beside = {best - 1, best + 1} & set(range(1, 91))
    assert beside <= set(found.arrays["tried_turbines"].tolist()), "its neighbours were tried"


def test_counts_that_find_no_room_are_passed_over() -> None:
    problem = replace(_crowded(Valuation.turbine_cost(0.1), 2, 12), spacing_m=450.0)
    found = CountSearch(STEPS).run(problem, 0)
    assert 2 < len(found.x) < 10
    assert problem.is_feasible(found.layout)


def test_a_range_without_any_room_fails_with_the_reason_of_its_fewest() -> None:
    problem = replace(_crowded(Valuation.turbine_cost(0.1), 10, 11), spacing_m=450.0)
    with pytest.raises(TaskError, match="no room for 10 turbines"):
        CountSearch([RandomStart()]).run(problem, 0)


def test_a_search_begins_with_the_layout_that_it_is_given() -> None:
    problem = _crowded(Valuation.turbine_cost(17.0))
    start = RandomStart().run(replace(problem, n_turbines=4, choice=None), 5)
    found = CountSearch(STEPS).run(problem, 5, start.layout)
    assert found.aep_gwh - 17.0 * len(found.x) > start.aep_gwh - 17.0 * 4
    with pytest.raises(TaskError, match="not allowed"):
        CountSearch(STEPS).run(
            replace(problem, choice=Choice((5, 9)), valuation=Valuation.turbine_cost(1.0)), 0, start.layout
        )


METHODS: dict[str, tuple[Method, LayoutProblem]] = {
    "count": (
        CountSearch([RandomStart(), Gradient(10), RandomSearch(50)]),
        _crowded(Valuation.turbine_cost(17.0)),
    ),
    "count on a grid": (CountSearch([SmartStart(9, 20.0)]), _crowded(Valuation.turbine_cost(17.0))),
    "mix": (
        MixSearch([RandomStart(), RandomSearch(100)]),
        replace(
            mix_of_two(),
            choice=Choice((8, 8), ((2, 7), (1, 6))),
            valuation=Valuation.turbine_cost((9.0, 20.0)),
        ),
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_search_that_chooses_is_pure_and_feasible(name: str) -> None:
    method, problem = METHODS[name]
    search = method.prepare(problem)
    first, other, again = search(1, None), search(2, None), search(1, None)
    for result in (first, other):
        assert problem.is_feasible(result.layout)
        assert result.aep_gwh == pytest.approx(problem.aep(result.layout), rel=1e-12)
    for one, same in ((first.x, again.x), (first.y, again.y), (first.types, again.types)):
        assert one.tobytes() == same.tobytes()
    assert first.evaluations == again.evaluations
    assert other.x.tobytes() != first.x.tobytes()


def test_the_turbine_that_is_missed_least_is_left_out() -> None:
    problem = round_farm(7)
    layout = RandomStart().run(problem, 2).layout
    left, computed = changes.remove_least_valuable(problem, layout)
    every = [problem.farm.aep(np.delete(layout.x, i), np.delete(layout.y, i)) for i in range(len(layout.x))]
    assert problem.aep(left) == pytest.approx(max(every), rel=1e-12)
    assert computed == len(layout.x) == len(left.x) + 1


def test_a_turbine_is_added_at_the_best_of_the_free_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "PLACES", 40)
    smaller, larger = round_farm(6), round_farm(7)
    layout = RandomStart().run(smaller, 2).layout
    more, _ = changes.with_one_more(larger, layout, 0, np.random.default_rng(4))
    assert more is not None
    assert larger.is_feasible(more)
    east, north = larger.zones[0].boundary.sample(np.random.default_rng(4), 40)
    places = [Layout.of([*layout.x, px], [*layout.y, py]) for px, py in zip(east, north, strict=True)]
    best = max(larger.aep(one) for one in places if larger.is_feasible(one))
    assert larger.aep(more) == pytest.approx(best, rel=1e-6)
    assert more.x[:6].tobytes() == layout.x.tobytes(), "the others stay"


def test_turbines_make_room_for_one_more_where_no_place_is_free() -> None:
    square = Boundary([[(0, 0), (1000, 0), (1000, 1000), (0, 1000)]])
    larger = replace(round_farm(5), boundary=square, spacing_m=500.0)
    layout = Layout.of([250.0, 750.0, 250.0, 750.0], [250.0, 250.0, 750.0, 750.0])
    more, _ = changes.with_one_more(larger, layout, 0, np.random.default_rng(0))
    assert more is not None
    assert larger.is_feasible(more)
    none, _ = changes.with_one_more(replace(larger, spacing_m=900.0), layout, 0, np.random.default_rng(0))
    assert none is None


def _tiny(spacing: tuple[float, float]) -> tuple[LayoutProblem, Layout]:
    boundary = Boundary([[(0, 0), (3000, 0), (3000, 2000), (0, 2000)]])
    layout = Layout.of([0, 700, 1400, 2100, 350, 1800], [0, 300, 0, 400, 1000, 1200])
    return LayoutProblem(two_types(), boundary, 6, spacing, mix=[3, 3]), layout


@pytest.mark.parametrize("spacing", [(300.0, 300.0), (600.0, 900.0)])
@pytest.mark.parametrize("large_cost_gwh", [0.0, 14.6, 15.2, 30.0])
@pytest.mark.parametrize("ranges", [((0, 6), (0, 6)), ((2, 5), (1, 4))])
def test_types_are_the_best_of_all_ways_to_give_them(
    spacing: tuple[float, float], large_cost_gwh: float, ranges: tuple[tuple[int, int], ...]
) -> None:
    problem, layout = _tiny(spacing)
    choice = Choice((6, 6), ranges)
    problem = replace(problem, valuation=Valuation.turbine_cost((0.0, large_cost_gwh)))
    free = replace(problem, choice=choice)
    every = []
    for types in itertools.product((0, 1), repeat=6):
        one = Layout(layout.x, layout.y, np.array(types))
        if free.is_feasible(one):
            every.append(problem.aep(one) - large_cost_gwh * sum(types))
    start = Layout(layout.x, layout.y, np.array([0, 0, 0, 0, 0, 1]))
    assert free.is_feasible(start)
    changes = TypeChanges(problem, choice, start, np.random.default_rng(0))
    changes.make()
    found = Layout(layout.x, layout.y, changes.types)
    assert free.is_feasible(found)
    worth = problem.aep(found) - large_cost_gwh * changes.types.sum()
    assert worth == pytest.approx(max(every), rel=1e-9)


def test_turbines_exchange_their_types_where_none_may_change_alone() -> None:
    problem, layout = _tiny((300.0, 300.0))
    choice = Choice((6, 6), ((3, 3), (3, 3)))
    ways = [np.isin(np.arange(6), large).astype(np.int64) for large in itertools.combinations(range(6), 3)]
    energies = [problem.aep(Layout(layout.x, layout.y, types)) for types in ways]
    worst = Layout(layout.x, layout.y, ways[int(np.argmin(energies))])
    changes = TypeChanges(problem, choice, worst, np.random.default_rng(0))
    assert changes.make()
    assert problem.aep(Layout(layout.x, layout.y, changes.types)) == pytest.approx(max(energies), rel=1e-9)


@pytest.mark.parametrize(("large_cost_gwh", "expected"), [(0.0, [2, 6]), (100.0, [7, 1])])
def test_a_mix_goes_to_the_end_that_the_costs_favour(large_cost_gwh: float, expected: list[int]) -> None:
    valuation = Valuation.turbine_cost((0.0, large_cost_gwh))
    problem = replace(mix_of_two(), choice=Choice((8, 8), ((2, 7), (1, 6))), valuation=valuation)
    found = MixSearch([RandomStart()]).run(problem, 0)
    assert np.bincount(found.types).tolist() == expected
    assert [2, 6] in found.arrays["tried_mix"].tolist()
    assert [7, 1] in found.arrays["tried_mix"].tolist()
    assert set(found.arrays["tried_turbines"].tolist()) == {8}


def test_types_that_only_neighbours_have_are_never_placed() -> None:
    farm = two_types()
    beside = WindFarm(
        farm.site, farm.turbines, "bastankhah-2014", directions=np.arange(0.0, 360.0, 30.0),
        speeds=[6.0, 9.0, 12.0], neighbours=Neighbours([-600.0], [500.0], [1]),
    )  # fmt: skip
    boundary = Boundary([[(0, 0), (1500, 0), (1500, 1500), (0, 1500)]])
    problem = LayoutProblem(
        beside, boundary, 5, [378.0, 540.0], mix=[5, 0],
        choice=Choice((2, 5)), valuation=Valuation.turbine_cost(1.0),
    )  # fmt: skip
    found = CountSearch([RandomStart(), RandomSearch(50)]).run(problem, 0)
    assert len(found.x) == 5
    assert problem.is_feasible(found.layout)
    assert not problem.is_feasible(Layout(found.x, found.y, np.ones(5, np.int64)))


def test_a_layout_of_another_count_is_refused() -> None:
    problem = _crowded(Valuation.turbine_cost(1.0), 3, 5)
    layout = RandomStart().run(replace(problem, n_turbines=6, choice=None), 0).layout
    assert not problem.is_feasible(layout)

    class Wrong(Method):
        def prepare(self, problem: LayoutProblem) -> object:  # type: ignore[override]
            return lambda seed, start: Result(layout, 1.0, "complete", 1)

    with pytest.raises(TaskError, match=r"\[6\] turbines by type are not allowed"):
        Wrong().run(problem, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: replace(round_farm(5), choice=Choice((3, 5))), "more always give more"),
        (lambda: Choice((5, 3)), "begin with the smaller"),
        (lambda: Choice((0, 3)), "at least one turbine"),
        (lambda: Choice((3, 5), ((0, 5), (0, 5))), "one number"),
        (lambda: Choice((9, 9), ((0, 4), (0, 4))), "no mix of 9 turbines"),
        (lambda: Valuation.turbine_cost(float("nan")), "finite"),
        (
            lambda: replace(round_farm(9), choice=Choice((3, 5)), valuation=Valuation.turbine_cost(1.0)),
            "must be one of those",
        ),
        (
            lambda: replace(three_zones(), choice=Choice((9, 12)), valuation=Valuation.turbine_cost(1.0)),
            "one boundary",
        ),
        (lambda: CountSearch([]), "at least one method"),
        (lambda: MixSearch([]), "at least one method"),
        (lambda: CountSearch(STEPS).prepare(round_farm()), "needs a problem with a choice"),
        (lambda: MixSearch(STEPS).prepare(_crowded(Valuation.turbine_cost(1.0))), "choice of a mix"),
        (lambda: CountSearch(STEPS).prepare(METHODS["mix"][1]), "not a mix"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(ArgumentError, match=words):
        make()


def test_small_ranges_are_tried_whole() -> None:
    """The patience reaches the ends of a range of seven from its middle, whatever the objective."""
    assert searches.PATIENCE[0] >= 3
    found = CountSearch([RandomStart()]).run(_crowded(Valuation.turbine_cost(17.0), 2, 8), 0)
    assert found.arrays["tried_turbines"].tolist() == list(range(2, 9))
