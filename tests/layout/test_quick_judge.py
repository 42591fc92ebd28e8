"""The quick judge of lattices: near what the engine says, and exact about what it leaves out itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from math import pi

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.layout import small_problems, zoned_problems
from tests.layout.lattice_cases import AREA, FARM, HOLE, lattices
from vindeby.arrays import FloatArray
from vindeby.layout import Boundary, Lattice, Layout, LayoutProblem
from vindeby.layout.lattices.judges import (
    CELLS,
    NOTICED,
    POINTS,
    ExactJudge,
    QuickJudge,
    can_judge_quickly,
    drop_surplus,
    judge_for,
    quick_wind,
)
from vindeby.layout.lattices.points import Ground, LatticePoints, PlaneLattice
from vindeby.layout.lattices.searching import best_shapes, draw_shapes, keeps_spacing, widest_aspect
from vindeby.wake import (
    Neighbours,
    TimeSeriesSite,
    Turbine,
    UniformSite,
    WeibullSite,
    WindFarm,
    iea37_335mw,
)

pytestmark = pytest.mark.slow

CHANGING = WindFarm(
    WeibullSite([0.1, 0.3, 0.4, 0.2], [9.0, 10.0, 9.5, 8.0], [2.0, 2.2, 2.1, 1.9], 0.07),
    Turbine.generic("5 MW", 5.0, 130.0, 90.0),
    "bastankhah-2014",
    directions=np.arange(0.0, 360.0, 10.0),
    speeds=np.arange(4.0, 26.0, 2.0),
)

ANY = lattices(500.0, 1200.0)
ENGINE = WindFarm(FARM.site, FARM.turbines, FARM.model, tabulate=False)


def points_of(lattice: PlaneLattice, farm: WindFarm = FARM) -> tuple[LayoutProblem, LatticePoints]:
    area = Boundary([AREA], holes=[HOLE])
    points = Ground(LayoutProblem(farm, area, 1)).points(lattice)
    assume(len(points.x) > 1)
    return LayoutProblem(farm, area, len(points.x)), points


def energy_of_noticed_wakes(points: LatticePoints) -> float:
    """What is left (GWh) where wakes of a thousandth of the wind or more count, each as the engine computes it."""
    free, squares = 9.8, np.zeros((len(points.x), len(ENGINE.states.direction)))
    wakes: dict[tuple[int, int], FloatArray] = {}
    for i, j in itertools.permutations(range(len(points.x)), 2):
        offset = int(points.row[i] - points.row[j]), int(points.column[i] - points.column[j])
        if offset not in wakes:
            speed = ENGINE.wind_speed(points.x[[i, j]], points.y[[i, j]])[0, :, 0]
            wakes[offset] = np.where(speed <= (1.0 - NOTICED) * free, 1.0 - speed / free, 0.0) ** 2
        squares[i] += wakes[offset]
    shares = np.linspace(0.0, 1.0, POINTS)
    power = np.interp(np.sqrt(squares), shares, ENGINE.turbines[0].power_at(free * (1.0 - shares)))
    return float((power @ ENGINE.states.probability).sum()) * 8760.0 / 1e9


@settings(max_examples=40, deadline=None)
@given(lattice=ANY, missing=st.integers(0, 5))
@example(PlaneLattice(0.333984375, 0.890625, 0.9921875, 731.0, 0.0, 0.0), 2)  # 0.1 % is left out here
def test_where_thrust_does_not_change_it_says_what_the_engine_says_of_wakes_that_are_noticed(
    lattice: PlaneLattice, missing: int
) -> None:
    problem, points = points_of(lattice)
    points = points.at(np.arange(missing, len(points.x)) if missing < len(points.x) - 1 else np.arange(2))
    quick = QuickJudge(problem).energy(points)
    assert quick == pytest.approx(energy_of_noticed_wakes(points), rel=1e-9)
    # Other wakes would only take more.
    assert quick >= problem.farm.turbine_aep(points.x, points.y).sum() * (1 - 1e-5)


@settings(max_examples=25, deadline=None)
@given(lattice=ANY)
def test_losses_are_what_is_missing_without_each_turbine(lattice: PlaneLattice) -> None:
    problem, points = points_of(lattice)
    judge = QuickJudge(problem)
    whole = judge.energy(points)
    without = [judge.energy(points.at(np.delete(np.arange(len(points.x)), i))) for i in range(len(points.x))]
    assert judge.losses(points) == pytest.approx(whole - np.array(without), rel=1e-9, abs=1e-9 * whole)


@pytest.mark.parametrize("model", ["bastankhah-2014", "nygaard-2022"])
def test_where_thrust_changes_with_the_wind_good_lattices_are_told_from_poor_ones(model: str) -> None:
    farm = WindFarm(
        CHANGING.site, CHANGING.turbines, model, directions=CHANGING.states.direction, speeds=[6.0, 9.0, 12.0]
    )
    problem = LayoutProblem(farm, Boundary([AREA]), 14, 300.0)
    ground, rng, judge = Ground(problem), np.random.default_rng(0), QuickJudge(problem)
    quick: list[float] = []
    exact: list[float] = []
    while len(exact) < 30:
        angle, aspect, skew, east, north = rng.random(5) * (pi, 2.0, 0.5, 300.0, 300.0) + (0, 0.7, 0, 0, 0)
        shape = PlaneLattice(angle, aspect, skew, 1.0, east, north)
        pitch = ground.widest_pitch(shape, ground.needed)
        if pitch > 0.0:
            points = ground.points(replace(shape, pitch=pitch)).at(np.arange(14))
            quick.append(judge.energy(points))
            exact.append(problem.aep(Layout.of(points.x + ground.origin[0], points.y + ground.origin[1])))
    quick_rank, exact_rank = np.argsort(np.argsort([quick, exact])).astype(np.float64)
    # Spearman's correlation of the two orders.
    assert 1.0 - 6.0 * ((quick_rank - exact_rank) ** 2).sum() / (30**3 - 30) > 0.97
    assert np.array(quick) == pytest.approx(np.array(exact), rel=0.02)


def test_directions_of_a_time_series_are_rounded_with_nothing_lost() -> None:
    rng = np.random.default_rng(0)
    site = TimeSeriesSite(rng.uniform(5.0, 15.0, 900), rng.uniform(0.0, 360.0, 900), 0.07)
    farm = WindFarm(site, iea37_335mw(), "iea37")
    wind = quick_wind(farm, farm.turbines[0])
    assert len(wind.cosine) <= 360
    alone = farm.aep([0.0], [0.0])
    assert wind.power[:, 0].sum() * 8760.0 / 1e9 == pytest.approx(alone, rel=1e-9)
    x, y = np.meshgrid(np.arange(3) * 500.0, np.arange(3) * 500.0)
    problem = LayoutProblem(farm, Boundary([((-1, -1), (1001, -1), (1001, 1001), (-1, 1001))]), 9)
    points = Ground(problem).points(PlaneLattice(0.0, 1.0, 0.0, 500.0, -500.0, -500.0))
    assert len(points.x) == 9
    assert QuickJudge(problem).energy(points) == pytest.approx(farm.aep(x.ravel(), y.ravel()), rel=1e-3)


def test_calm_directions_do_not_hide_the_wakes_of_those_beside_them() -> None:
    """The directions in which a wake is felt are looked for from the one straight behind it outwards."""
    direction = np.array([0.0, 88.0, 90.0, 92.0, 180.0, 268.0, 270.0, 272.0, 359.0])
    calm = np.isin(direction, [90.0, 270.0, 359.0])
    area = Boundary([((-1, -1), (2001, -1), (2001, 2001), (-1, 2001))])
    lattice = PlaneLattice(0.0, 1.0, 0.0, 500.0, 0.0, 0.0)
    turbine = Turbine.tabulated("calm", 130.0, 90.0, [1.0, 3.0, 12.0], [0.0, 0.0, 5e6], [0.0, 0.8, 0.8])
    assert turbine.thrust_coefficient_at(0.5) == 0.0

    def energies(chosen: npt.NDArray[np.bool_]) -> tuple[float, float]:
        site = TimeSeriesSite(np.where(calm, 0.5, 9.0)[chosen], direction[chosen], 0.07)
        problem = LayoutProblem(WindFarm(site, turbine, "bastankhah-2014"), area, 25)
        judge, points = QuickJudge(problem), Ground(problem).points(lattice)
        shape = judge.shape_energies(np.zeros((3, 1)), 500.0)
        return judge.energy(points) * chosen.sum(), float(shape[0]) * chosen.sum()

    assert energies(np.full(9, True)) == pytest.approx(energies(~calm), rel=1e-12)


def test_a_direction_that_never_blows_is_left_out() -> None:
    farm = WindFarm(UniformSite((0.5, 0.0, 0.5, 0.0), 9.8), iea37_335mw(), "iea37")
    assert len(quick_wind(farm, farm.turbines[0]).cosine) == 2


QUICK: dict[str, Callable[[], LayoutProblem]] = {
    "neighbours": lambda: LayoutProblem(
        WindFarm(FARM.site, iea37_335mw(), "iea37", neighbours=Neighbours([9e3], [0.0])),
        Boundary([AREA]),
        5,
    ),
    "standing": lambda: LayoutProblem(FARM, Boundary([AREA]), 5, standing=Layout.of([9e3], [0.0])),
    "cumulative": lambda: LayoutProblem(
        WindFarm(FARM.site, iea37_335mw(), "cumulative-curl"), Boundary([AREA]), 5
    ),
}


@pytest.mark.parametrize("name", QUICK)
def test_where_it_does_not_hold_lattices_are_evaluated(name: str) -> None:
    problem = QUICK[name]()
    assert not can_judge_quickly(problem)
    assert isinstance(judge_for(problem, problem.boundary.origin), ExactJudge)


def test_of_several_types_that_of_the_problem_counts() -> None:
    farm = WindFarm(FARM.site, [iea37_335mw(), Turbine.generic("5 MW", 5.0, 130.0, 90.0)], "iea37")
    problem = LayoutProblem(farm, Boundary([AREA]), 5, types=(1,) * 5)
    assert QuickJudge(problem).turbine is farm.turbines[1]


def test_the_layout_is_the_best_of_those_that_were_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = LayoutProblem(CHANGING, Boundary([AREA]), 10, 300.0)
    exact, seen = LayoutProblem.aep, []

    def aep(self: LayoutProblem, layout: Layout) -> float:
        seen.append(exact(self, layout))
        return seen[-1]

    monkeypatch.setattr(LayoutProblem, "aep", aep)
    found = Lattice(trials=40).run(problem, 0)
    assert 2 <= len(seen) <= 8
    assert found.aep_gwh == max(seen)
    assert found.aep_gwh == exact(problem, found.layout)


def test_every_small_problem_has_a_judge() -> None:
    shape = PlaneLattice(0.3, 1.0, 0.2, 400.0, 0.0, 0.0)
    for make in (*small_problems.PROBLEMS.values(), *zoned_problems.PROBLEMS.values()):
        problem = make()
        ground = Ground(problem)
        judge = judge_for(problem, ground.origin)
        points = ground.points(replace(shape, pitch=ground.widest_pitch(shape, ground.needed)))
        assert judge.energy(drop_surplus(judge, ground.needed, points, rows=False)) > 0.0


@settings(max_examples=25, deadline=None)
@given(
    angle=st.floats(0.0, pi),
    log_aspect=st.floats(-0.5, 1.0),
    skew=st.floats(-0.5, 0.5),
    rows=st.integers(-2, 2),
)
def test_a_shape_is_worth_the_same_by_whichever_numbers(
    angle: float, log_aspect: float, skew: float, rows: int
) -> None:
    judge = QuickJudge(LayoutProblem(FARM, Boundary([AREA]), 40))
    shapes = np.array([[angle, log_aspect, skew], [angle + pi, log_aspect, skew + rows]]).T
    # The same lattice again, its rows along what led from row to row.
    ux, uy, vx, vy = PlaneLattice(angle, np.exp(log_aspect), skew, 1.0, 0.0, 0.0).vectors
    square = vx * vx + vy * vy
    i, j = np.meshgrid(np.arange(-40, 41), np.arange(-40, 41))
    distance = np.hypot(i * ux + j * vx, i * uy + j * vy) / np.exp(0.5 * log_aspect)
    assume(
        np.abs(distance - CELLS).min() > 1e-9
    )  # which neighbours are just within reach is a matter of rounding
    other = [np.arctan2(vy, vx), log_aspect - np.log(square), -(ux * vx + uy * vy) / square]
    first, *same = judge.shape_energies(np.concatenate([shapes, np.array([other]).T], axis=1), 600.0)
    assert same == pytest.approx([first] * 2, rel=1e-9)


def test_the_best_shapes_keep_the_spacing_differ_and_are_good_in_a_real_area() -> None:
    problem = LayoutProblem(FARM, Boundary(circle=((0.0, 0.0), 3000.0)), 60, 390.0)
    ground, judge = Ground(problem), QuickJudge(problem)

    def energies(shapes: FloatArray) -> FloatArray:
        return judge.shape_energies(shapes, ground.side)

    first, again = (best_shapes(energies, ground, np.random.default_rng(3), 400, 5) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first.shape[1] == 5
    assert keeps_spacing(first, ground).all()
    worth = energies(first)
    assert (np.diff(worth) < 0.0).all()
    drawn = draw_shapes(np.random.default_rng(4), 60, widest_aspect(ground))
    assert worth[-1] > energies(drawn).max()

    def in_the_area(shape: FloatArray) -> float:
        """Of each turbine, at four places of the lattice on average."""
        pitch = ground.side / np.exp(0.5 * shape[1])
        found = []
        for east, north in ((0.0, 0.0), (150.0, 50.0), (70.0, 210.0), (-100.0, 130.0)):
            points = ground.points(PlaneLattice(shape[0], np.exp(shape[1]), shape[2], pitch, east, north))
            found.append(judge.energy(points) / len(points.x))
        return float(np.mean(found))

    others = [in_the_area(shape) for shape in drawn.T]
    assert min(in_the_area(shape) for shape in first.T) > np.quantile(others, 0.9)


def test_shapes_drawn_are_reduced_and_none_is_denser_in_its_rows_than_the_spacing() -> None:
    problem = LayoutProblem(FARM, Boundary([AREA]), 20, 390.0)
    ground = Ground(problem)
    shapes = draw_shapes(np.random.default_rng(0), 2000, widest_aspect(ground))
    aspect, skew = np.exp(shapes[1]), shapes[2]
    assert (np.abs(skew) <= 0.5).all()
    assert (skew**2 + aspect**2 >= 1.0 - 1e-12).all()
    assert keeps_spacing(shapes, ground).all()
    assert aspect.max() == pytest.approx((ground.side / 390.0) ** 2, rel=0.01)
    shapes[1] = widest_aspect(ground) + 0.01
    assert not keeps_spacing(shapes, ground).any()


def test_lattices_of_different_seeds_are_about_equally_good() -> None:
    problem = LayoutProblem(CHANGING, Boundary([AREA]), 20, 350.0)
    search = Lattice(trials=150).prepare(problem)
    found = [search(seed, None).aep_gwh for seed in range(4)]
    assert max(found) / min(found) < 1.002
