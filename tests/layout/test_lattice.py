"""Lattices: what is left out of them, and the layouts that the search makes of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.layout import small_problems, zoned_problems
from tests.layout.farms import round_farm
from tests.layout.lattice_cases import AREA, FARM, HOLE, lattices, problem_in
from tests.layout.zoned_problems import three_zones
from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import Boundary, InTurn, Lattice, Layout, LayoutProblem, RandomStart, SmartStart
from vindeby.layout.lattices.judges import (
    ExactJudge,
    Judge,
    QuickJudge,
    drop_surplus,
    parts_of,
    row_ends,
)
from vindeby.layout.lattices.points import Ground, LatticePoints, PlaneLattice, Vectors
from vindeby.wake import (
    Neighbours,
    TimeSeriesSite,
    UniformSite,
    WeibullSite,
    WindFarm,
    iea37_335mw,
)

pytestmark = pytest.mark.slow

ANY = lattices(250.0, 900.0)


def as_set(points: FloatArray) -> set[tuple[float, float]]:
    return {(round(float(x), 3) + 0.0, round(float(y), 3) + 0.0) for x, y in points}


ALL_PROBLEMS: dict[str, Callable[[], LayoutProblem]] = {**small_problems.PROBLEMS, **zoned_problems.PROBLEMS}


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("name", ALL_PROBLEMS)
def test_layouts_keep_to_holes_zones_mixes_and_neighbours(name: str, rows: bool) -> None:
    problem = ALL_PROBLEMS[name]()
    first, again = (Lattice(rows=rows, trials=15).run(problem, 3) for _ in range(2))
    assert problem.is_feasible(first.layout)  # the count, the zones and the mix too
    assert (first.x.tolist(), first.y.tolist()) == (again.x.tolist(), again.y.tolist())
    assert first.aep_gwh == problem.aep(first.layout)
    assert off_a_lattice_m(problem, first.layout) < 1e-5


def off_a_lattice_m(problem: LayoutProblem, layout: Layout) -> float:
    """How far (m) turbines are from one lattice, whose vectors are found from the differences of their places."""
    x, y = layout.x - layout.x[0], layout.y - layout.y[0]
    dx, dy = (np.subtract.outer(v, v).ravel() for v in (x, y))
    order = np.argsort(np.hypot(dx, dy), kind="stable")
    dx, dy = dx[order], dy[order]
    first = int(np.argmax(np.hypot(dx, dy) > 1.0))
    cross = np.abs(dx[first] * dy - dy[first] * dx)
    worst = np.inf
    if (
        cross.max() < 1e-3 * np.hypot(dx, dy).max()
    ):  # one row, with a gap where the shortest distance is not a pitch
        length = np.hypot(dx[first], dy[first])
        along = (dx[first] * x + dy[first] * y) / length
        pitches = length / np.array([1.0, 2.0, 3.0])
        return float(min(np.abs(along - p * np.rint(along / p)).max() for p in pitches))
    # The two shortest need not span the lattice where points are missing: try a few, and halves of none.
    for second in np.flatnonzero(cross > 1e-3 * cross.max())[:40]:
        basis = np.array([[dx[first], dx[second]], [dy[first], dy[second]]])
        whole = np.linalg.solve(basis, np.stack([x, y]))
        off = basis @ (whole - np.rint(whole))
        worst = min(worst, float(np.hypot(*off).max()))
    return worst


def test_off_a_lattice_notices_a_turbine_that_is_not_on_it() -> None:
    problem = round_farm()
    layout = Lattice(trials=10).run(problem, 0).layout
    x = layout.x.copy()
    x[4] += 1.0
    assert off_a_lattice_m(problem, layout) < 1e-5
    assert off_a_lattice_m(problem, Layout(x, layout.y, layout.types)) > 0.1


@pytest.mark.parametrize("seed", [0, 1])
def test_rows_have_no_gaps_that_the_area_does_not_have(seed: int) -> None:
    problem = small_problems.boomerang()
    found = Lattice(rows=True, trials=40).run(problem, seed)
    ground = Ground(problem)
    x, y = found.x, found.y
    # The row direction is that of the two nearest; between two turbines of a row no free point of it is left.
    gaps = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    np.fill_diagonal(gaps, np.inf)
    a, b = np.unravel_index(np.argmin(gaps), gaps.shape)
    ux, uy = x[b] - x[a], y[b] - y[a]
    along, across = (x * ux + y * uy) / hypot(ux, uy) ** 2, (x * uy - y * ux) / hypot(ux, uy)
    for row in {round(value, 3) for value in across}:
        mine = np.sort(along[np.abs(across - row) < 0.01])
        for low, high in pairwise(mine):
            for step in range(1, round(high - low)):
                k = int(np.argmin(np.abs(along - low) + 1e9 * (np.abs(across - row) >= 0.01)))
                px, py = x[k] + step * ux, y[k] + step * uy
                assert problem.boundary.inside([px], [py]).tolist() == [False]
    assert len(ground.needed) == 1


@settings(max_examples=15, deadline=None)
@given(
    lattice=ANY,
    spare=st.integers(0, 6),
    rows=st.booleans(),
    quick=st.booleans(),
)
@pytest.mark.core
def test_dropping_ends_at_the_count_with_points_of_the_lattice(
    lattice: PlaneLattice, spare: int, rows: bool, quick: bool
) -> None:
    ground = Ground(problem_in(AREA, HOLE))
    points = ground.points(lattice)
    count = len(points.x) - spare
    assume(1 <= count <= 40)
    problem = problem_in(AREA, HOLE, count)
    judge = QuickJudge(problem) if quick else ExactJudge(problem, ground.origin)
    left = drop_surplus(judge, np.array([count]), points, rows=rows)
    assert len(left.x) == count
    assert as_set(np.stack([left.x, left.y], axis=1)) <= as_set(np.stack([points.x, points.y], axis=1))
    for row in set(left.row.tolist()) if rows else ():
        kept, there = left.column[left.row == row], points.column[points.row == row]
        assert set(kept.tolist()) == {c for c in there.tolist() if kept.min() <= c <= kept.max()}


def test_the_one_dropped_is_the_one_whose_loss_costs_least() -> None:
    lattice = PlaneLattice(0.3, 1.1, 0.2, 800.0, 100.0, 50.0)
    ground = Ground(problem_in(AREA, HOLE))
    points = ground.points(lattice)
    many = len(points.x)
    problem = problem_in(AREA, HOLE, many - 1)
    place = np.stack([points.x, points.y]) + ground.origin[:, None]
    each = [problem.aep(Layout.of(*np.delete(place, i, axis=1))) for i in range(many)]
    judges: tuple[Judge, ...] = (QuickJudge(problem), ExactJudge(problem, ground.origin))
    for judge in judges:
        left = drop_surplus(judge, np.array([many - 1]), points, rows=False)
        found = problem.aep(Layout.of(left.x + ground.origin[0], left.y + ground.origin[1]))
        better = sum(one > found * (1 + 1e-12) for one in each)
        assert better <= (0 if isinstance(judge, QuickJudge) else 2)


def test_row_ends_are_the_first_and_last_of_each_row_in_each_zone() -> None:
    points = Ground(three_zones()).points(PlaneLattice(0.0, 1.0, 0.0, 500.0, 0.0, 0.0))
    ends = row_ends(points)
    for zone, row in {*zip(points.zone.tolist(), points.row.tolist(), strict=True)}:
        mine = (points.zone == zone) & (points.row == row)
        columns = points.column[mine]
        assert set(points.column[mine & ends].tolist()) == {columns.min(), columns.max()}


def test_a_full_area_takes_a_lattice_where_smart_start_has_no_room_and_says_so() -> None:
    spacing = 400.0
    width, height = 10 * spacing + 40.0, 10 * sqrt(0.75) * spacing + 40.0
    area = Boundary([((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))])
    problem = LayoutProblem(FARM, area, 114, spacing, "full")
    with pytest.raises(
        TaskError, match=r"only \d+ of 114 turbines fit a grid of 18 x 18.*lattice \(all turbines fit"
    ):
        SmartStart(18, 30.0, (9.8,), (0.0, 90.0)).run(problem, 0)
    for rows in (False, True):
        assert problem.is_feasible(Lattice(rows=rows, trials=2).run(problem, 0).layout)


def test_where_no_lattice_fits_one_that_is_too_narrow_is_pushed_apart() -> None:
    # A pentagon of side 1 fits a circle of radius 0.851; five points of a lattice need a radius of 1.
    problem = LayoutProblem(FARM, Boundary(circle=((0.0, 0.0), 930.0)), 5, 1000.0, "pentagon")
    with pytest.raises(TaskError, match=r"only [34] of 5 turbines fit"):
        Lattice(rows=True, trials=5).run(problem, 0)
    assert problem.is_feasible(Lattice(trials=5).run(problem, 0).layout)


@pytest.mark.parametrize(
    ("rows", "remedy"), [(False, "use fewer turbines"), (True, "use rows: false, fewer")]
)
def test_too_many_turbines_are_refused_with_how_many_fit(rows: bool, remedy: str) -> None:
    problem = round_farm(60, 900.0, 260.0)
    with pytest.raises(
        TaskError, match=rf"farm round: only (3|4)\d of 60 turbines fit .* 260 m apart; {remedy}"
    ):
        Lattice(rows=rows, trials=20).run(problem, 0)


def test_random_start_names_lattice_only_where_one_fits() -> None:
    with pytest.raises(TaskError, match="use smart-start with a fine grid"):
        RandomStart().run(round_farm(60, 900.0, 260.0), 0)


def test_turbines_that_stand_are_kept_clear_of_and_count() -> None:
    farm = WindFarm(
        FARM.site, iea37_335mw(), "iea37", neighbours=Neighbours([1500.0, 500.0], [600.0, 1800.0], [0, 0])
    )
    standing = Layout.of([2500.0, 1000.0], [500.0, 1500.0])
    problem = LayoutProblem(farm, Boundary([AREA]), 8, 500.0, standing=standing)
    found = Lattice(trials=20).run(problem, 1)
    for x, y in ((1500.0, 600.0), (500.0, 1800.0), (2500.0, 500.0), (1000.0, 1500.0)):
        assert np.hypot(found.x - x, found.y - y).min() >= 500.0 - 1e-6
    assert found.aep_gwh == problem.aep(found.layout)


def test_a_prepared_search_does_not_depend_on_the_seeds_before() -> None:
    site = WeibullSite((1 / 12,) * 12, (9.2,) * 12, (2.2,) * 12, 0.08)
    neighbours = Neighbours([-400.0], [500.0], [0])
    farm = WindFarm(site, iea37_335mw(), "iea37", directions=np.arange(0.0, 360.0),
                    speeds=[9.0], neighbours=neighbours)  # fmt: skip
    area = Boundary([((0.0, 0.0), (3000.0, 0.0), (3000.0, 2500.0), (0.0, 2500.0))])
    problem, method = LayoutProblem(farm, area, 20, 300.0), Lattice(trials=60)
    search = method.prepare(problem)
    after = [search(seed, None) for seed in range(8)]
    fresh = [method.prepare(problem)(seed, None) for seed in range(8)]
    assert [found.evaluations for found in after] == [found.evaluations for found in fresh]
    assert [found.x.tolist() for found in after] == [found.x.tolist() for found in fresh]


def test_in_turn_gives_each_zone_a_lattice_of_its_own() -> None:
    problem = three_zones()
    found = InTurn([Lattice(trials=15)], rounds=2).run(problem, 0)
    assert problem.is_feasible(found.layout)
    for zone in range(3):
        mine = problem.zone_of == zone
        part = Layout(found.x[mine], found.y[mine], found.types[mine])
        assert off_a_lattice_m(problem, part) < 1e-5


def test_more_trials_find_no_worse_layout_of_the_same_draws() -> None:
    problem = round_farm()
    energies = [Lattice(trials=trials).run(problem, 4).aep_gwh for trials in (5, 40, 160)]
    assert energies == sorted(energies)
    assert energies[0] < energies[-1]


def test_parts_of_a_rose_have_all_of_its_directions_and_each_its_whole_probability() -> None:
    site = WeibullSite([0.3, 0.2, 0.1, 0.4], [9.0, 10.0, 8.0, 11.0], [2.0, 2.1, 2.2, 1.9])
    problem = LayoutProblem(WindFarm(site, iea37_335mw(), "iea37"), Boundary([AREA]), 6, 400.0)
    whole, parts = problem.farm.states, [part.farm.states for part in parts_of(problem)]
    assert np.array_equal(np.sort(np.concatenate([part.direction for part in parts])), whole.direction)
    for part in parts:
        assert part.shape == (90, 23)
        assert part.probability.sum() == pytest.approx(whole.probability.sum(), rel=1e-12)
        assert np.ptp(np.diff(part.direction)) == 0.0
    assert parts_of(round_farm())[0].farm.states.shape == round_farm().farm.states.shape


@pytest.mark.parametrize(("directions", "parts"), [(120, 1), (180, 2), (270, 3), (720, 4)])
def test_parts_differ_and_a_look_counts_as_its_share_of_the_wind_states(directions: int, parts: int) -> None:
    farm = WindFarm(UniformSite(np.full(directions, 1 / directions), 9.8, 0.075), iea37_335mw(), "iea37")
    judge = ExactJudge(LayoutProblem(farm, Boundary([AREA]), 6, 400.0), np.zeros(2))
    assert len({part.farm.states.direction[0] for part in judge.parts}) == len(judge.parts) == parts
    none = np.zeros(1, np.int64)
    judge.losses(LatticePoints(np.zeros(1), np.zeros(1), none, none, none, Vectors(1.0, 0.0, 0.0, 1.0)))
    assert judge.evaluations == (1.0 if directions == 120 else 90 / directions)


@pytest.mark.parametrize("steps", [91, 500, 5000])
def test_parts_of_a_long_time_series_are_roses_and_a_short_one_stays(steps: int) -> None:
    rng = np.random.default_rng(0)
    series = TimeSeriesSite(rng.uniform(2.0, 26.0, steps), rng.uniform(0.0, 360.0, steps), 0.08)
    beside = Neighbours([5000.0], [5000.0])
    problem = LayoutProblem(
        WindFarm(series, iea37_335mw(), "iea37", neighbours=beside), Boundary([AREA]), 6, 400.0
    )
    parts = parts_of(problem)
    assert (parts == [problem]) is (steps < 1000)
    for part in parts:
        assert part.farm.states.probability.sum() == pytest.approx(1.0, rel=1e-9)
    assert problem.is_feasible(Lattice(trials=10).run(problem, 0).layout)


def test_a_lattice_of_a_fine_rose_is_chosen_by_all_of_its_directions() -> None:
    fine = WindFarm(UniformSite(np.full(360, 1 / 360), 9.8, 0.075), iea37_335mw(), "iea37")
    problem = LayoutProblem(fine, Boundary([AREA]), 9, 400.0)
    search = Lattice(rows=True, trials=60)
    found = search.run(problem, 0)
    # Of the same draws, no lattice that was evaluated is better: the first few among them.
    assert found.aep_gwh >= max(
        Lattice(rows=True, trials=trials).run(problem, 0).aep_gwh for trials in (1, 5, 20)
    )


@pytest.mark.parametrize("trials", [0, -3])
def test_trials_that_make_no_sense_are_refused(trials: int) -> None:
    with pytest.raises(ArgumentError, match=f"trials must be greater than or equal to 1, not {trials}"):
        Lattice(trials=trials)


def lanes_of(layout: Layout, bearing: float) -> FloatArray:
    """How far apart the rows are that are seen along a bearing (m)."""
    east, north = np.sin(np.radians(bearing)), np.cos(np.radians(bearing))
    off = np.unique(np.round(layout.x * north - layout.y * east, 3))
    return np.diff(off[np.append(True, np.diff(off) > 0.01)])


@pytest.mark.parametrize("count", [12, 30])
@pytest.mark.parametrize("bearings", [(20.0,), (20.0, 75.0), (110.0, 10.0)])
def test_straight_lanes_lead_through_the_farm(bearings: tuple[float, ...], count: int) -> None:
    problem, lane = problem_in(AREA, HOLE, count), None
    for _ in range(2):
        layout = Lattice(trials=40, bearings=bearings, lane_m=lane).run(problem, 1).layout
        assert problem.is_feasible(layout)
        gaps = [lanes_of(layout, bearing) for bearing in bearings]
        for each in gaps:
            assert len(each) < count - 3
            assert np.allclose(each / each.min(), np.round(each / each.min()), atol=1e-3)
            assert each.min() >= (lane or 0.0) - 2e-3
        lane = 1.1 * min(each.min() for each in gaps)


def test_lanes_cost_energy_and_some_directions_of_them_less() -> None:
    problem = problem_in(AREA, HOLE, 20)
    free = Lattice(trials=200).run(problem, 1).aep_gwh
    some = [Lattice(trials=200, bearings=(bearing,)).run(problem, 1).aep_gwh for bearing in (0.0, 30.0, 90.0)]
    assert min(some) < max(some) <= free * 1.002


def test_lanes_that_leave_no_room_are_named() -> None:
    with pytest.raises(TaskError, match=r"use other bearings, a smaller lane_m, fewer turbines"):
        Lattice(trials=10, bearings=(0.0, 90.0), lane_m=1500.0).run(problem_in(AREA, HOLE, 20), 0)
    for bearings in ((10.0, 15.0), (5.0, 182.0), (), (1.0, 2.0, 3.0), (400.0,)):
        with pytest.raises(ArgumentError, match="bearings"):
            Lattice(bearings=bearings)
