"""Turbines on the border: strictly inside by a judge of its own, also in millimetres; moves along it; plateaus."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import shapely

from tests.layout import small_problems, zoned_problems
from vindeby.errors import TaskError
from vindeby.layout import (
    Annealing,
    Auto,
    Boundary,
    Layout,
    LayoutProblem,
    RandomStart,
)
from vindeby.layout.area.boundary import BORDER_M, areas_of, nearest_inside
from vindeby.layout.area.limits import Limits, strictly_kept
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.moves.place_costs import place_costs
from vindeby.layout.moves.walk_loop import Rules, can_move, place_inside
from vindeby.wake import TableSite, Turbine, UniformSite, WindFarm, iea37_335mw
from vindeby.wake.models import jensen
from vindeby.wake.sites.gridded_site import GriddedSite, WindGrid

pytestmark = pytest.mark.slow

Points = npt.NDArray[np.float64]
on_border: Callable[..., tuple[float, float]] = nearest_inside
EAST, NORTH = 512345.678, 6123456.789
"""Somewhere on a map."""
DART = [(0.0, 0.0), (3000.0, 1400.0), (0.0, 1500.0), (900.0, 1000.0)]
"""With acute corners, and one that points inwards."""
SQUARE = [(0.0, 0.0), (3000.0, 0.0), (3000.0, 3000.0), (0.0, 3000.0)]
GAP = [(1000.0, 1100.0), (1900.0, 1000.0), (1400.0, 1300.0)]
FAR_OFF = [(4000.0, 0.0), (5000.0, 300.0), (4200.0, 2000.0)]


def on_map(ring: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x + EAST, y + NORTH) for x, y in ring]


BOUNDARIES = {
    "square": Boundary([on_map(SQUARE)]),
    "dart": Boundary([on_map(DART)]),
    "two polygons and a hole": Boundary([on_map(SQUARE), on_map(FAR_OFF)], holes=[on_map(GAP)]),
    "round hole": Boundary([on_map(SQUARE)], round_holes=[((EAST + 2500.0, NORTH + 2000.0), 600.0)]),
    "circle with a hole": Boundary(circle=((EAST + 1500.0, NORTH + 1200.0), 1300.0), holes=[on_map(GAP)]),
}


def is_strictly_inside(boundary: Boundary, x: Points, y: Points) -> npt.NDArray[np.bool_]:
    """By shapely, and by plain distances for circles; no tolerance."""
    points = shapely.points(x - boundary.origin[0], y - boundary.origin[1])
    enclosed = np.asarray(shapely.covers(shapely.union_all(boundary.pieces), points))
    inside = ~enclosed if boundary.circle else enclosed
    if boundary.circle:
        (east, north), radius = boundary.circle
        inside &= np.hypot(x - east, y - north) <= radius
    for (east, north), radius in boundary.round_holes:
        inside &= np.hypot(x - east, y - north) >= radius
    return np.asarray(inside)


@pytest.mark.parametrize("name", BOUNDARIES)
def test_places_outside_come_to_the_border_and_stay_inside_in_millimetres(name: str) -> None:
    boundary = BOUNDARIES[name]
    border = boundary.inset(BORDER_M)
    rng = np.random.default_rng(3)
    drawn = rng.uniform(-1000.0, 6000.0, (2, 4000)) + np.array([[EAST], [NORTH]])
    outside = drawn[:, boundary.distances(*drawn) < 0.0]
    relative = (outside - boundary.origin[:, None]).T
    moved = [on_border(border.edges, border.discs, border.inverted, *place) for place in relative]
    x, y = np.array(moved).T + boundary.origin[:, None]
    there = is_strictly_inside(boundary, x, y)
    # Of an edge and a disc that cut each other, the nearest place of one may be outside the other.
    assert there.all() if name != "round hole" else there.mean() > 0.9
    assert is_strictly_inside(boundary, x[there].round(3), y[there].round(3)).all()
    assert boundary.distances(x, y)[there].max() < 1.01 * BORDER_M
    # By the nearest way; corners are cut off by a little more than the margin.
    extra = np.hypot(x - outside[0], y - outside[1]) + boundary.distances(*outside)
    assert extra.max() < 6.0 * BORDER_M if name != "round hole" else np.median(extra) < 2.0 * BORDER_M


@pytest.mark.core
def test_corners_are_taken() -> None:
    border = Boundary([SQUARE]).inset(BORDER_M)
    place = on_border(border.edges, border.discs, border.inverted, 9000.0, 8000.0)
    assert place == pytest.approx((1500.0 - BORDER_M, 1500.0 - BORDER_M), abs=1e-9)


def test_the_centre_of_a_round_hole_comes_to_its_edge() -> None:
    border = Boundary([SQUARE], round_holes=[((1500.0, 1500.0), 600.0)]).inset(BORDER_M)
    place = on_border(border.edges, border.discs, border.inverted, 0.0, 0.0)
    assert np.hypot(*place) == pytest.approx(600.0 + BORDER_M, abs=1e-9)


def test_an_area_narrower_than_the_margin_has_no_border() -> None:
    thin = Boundary([[(0.0, 0.0), (900.0, 0.0), (900.0, 0.001), (0.0, 0.001)]])
    assert thin.inset(BORDER_M).edges.shape == (0, 4)


def top_hat(boundary: Boundary, turbines: int = 16) -> LayoutProblem:
    """A dense farm of top-hat wakes, which change nothing across the wind but at their edges."""
    table = np.outer(np.r_[np.ones(9), 2.0 * np.ones(9)], [0.4, 0.6])
    farm = WindFarm(
        TableSite(table / table.sum(), [8.0, 11.0]),
        Turbine.generic("3 MW", 3.0, 100.0, 100.0),
        jensen(0.05, "momentum", "centre"),
    )
    return LayoutProblem(farm, boundary, turbines, 400.0, "top hat")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["square", "dart", "two polygons and a hole", "circle with a hole"])
def test_annealing_puts_turbines_on_the_border_and_none_outside(name: str) -> None:
    boundary = BOUNDARIES[name]
    problem = top_hat(boundary, 9 if name == "dart" else 16)
    start = RandomStart().run(problem, 1).layout
    found = Annealing(4000).run(problem, 1, start)
    assert np.count_nonzero(boundary.distances(found.x, found.y) < 2.0 * BORDER_M) >= 4
    assert is_strictly_inside(boundary, found.x, found.y).all()
    assert is_strictly_inside(boundary, found.x.round(3), found.y.round(3)).all()
    assert problem.shortfalls(found.layout)[1] == 0.0


SMALL: dict[str, Callable[[], LayoutProblem]] = {**small_problems.PROBLEMS, **zoned_problems.PROBLEMS}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_turbines_stay_inside_their_own_zones(name: str) -> None:
    problem = SMALL[name]()
    found = Annealing(400).run(problem, 2, RandomStart().run(problem, 2).layout)
    for z, zone in enumerate(problem.zones):
        mine = problem.zone_of == z
        assert is_strictly_inside(zone.boundary, found.x[mine], found.y[mine]).all()


may_move: Callable[..., bool] = can_move
placed: Callable[..., tuple[float, float]] = place_inside


def test_the_border_is_no_way_to_move_farther_than_allowed() -> None:
    west = [(0.0, 0.0), (1000.0, 0.0), (1000.0, 1000.0), (0.0, 1000.0)]
    boundary = Boundary([west, [(x + 1030.0, y) for x, y in west]])
    problem = top_hat(boundary, 1)
    limits = Limits(problem, np.zeros(1, np.int64))
    border = areas_of([boundary.inset(BORDER_M)], limits.origin)
    rules = Rules(
        limits.areas,
        border,
        limits.zone,
        limits.need,
        limits.zone,
        20.0,
        place_costs(None, 1, limits.origin, 1.0),
    )
    x, y = np.array([999.0 - limits.origin[0]]), np.zeros(1)
    # Into the gap, nearer to the other polygon.
    to = placed(rules, 0, x[0] + 19.0, y[0])
    assert to[0] - x[0] == pytest.approx(31.0 + BORDER_M)
    assert not may_move(rules, x, y, 0, *to)
    assert may_move(rules._replace(longest_m=40.0), x, y, 0, *to)


@pytest.mark.slow
def test_auto_ends_climbs_where_wakes_have_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    climbs = []
    prepare = Gradient.prepare

    def counted(method: Gradient, problem: LayoutProblem):  # type: ignore[no-untyped-def]
        climbs.append(method)
        return prepare(method, problem)

    monkeypatch.setattr(Gradient, "prepare", counted)
    problem = top_hat(BOUNDARIES["square"], 30)
    found = Auto(evaluations=6000).run(problem, 1)
    assert not climbs
    climbs.clear()
    Auto(evaluations=6000).run(small_problems.circle(), 1)
    assert len(climbs) >= 2  # from the start, and of the best
    assert problem.is_feasible(found.layout)


def is_kept_exactly(problem: LayoutProblem, found: Layout) -> bool:
    """No turbine outside and no pair too near, without any tolerance."""
    inside = [
        is_strictly_inside(zone.boundary, found.x[problem.zone_of == z], found.y[problem.zone_of == z]).all()
        for z, zone in enumerate(problem.zones)
    ]
    need = problem.spacing_by_type[found.types]
    apart = np.hypot(found.x - found.x[:, None], found.y - found.y[:, None]) + 1e9 * np.eye(len(found.x))
    return all(inside) and bool((apart >= 0.5 * (need + need[:, None])).all())


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_layouts_of_auto_keep_to_the_rules_without_any_tolerance(name: str) -> None:
    problem = SMALL[name]()
    assert is_kept_exactly(problem, Auto(evaluations=3000).run(problem, 1).layout)


def test_a_layout_on_the_edge_of_all_rules_is_moved_within_them() -> None:
    problem = top_hat(Boundary([SQUARE]), 3)
    edge = Layout.of([-3e-9, 400.0 - 5e-9, 3000.0], [-1e-9, 0.0, 3000.0 + 2e-9])
    strict = strictly_kept(problem, edge)
    assert problem.is_feasible(edge)
    assert not is_kept_exactly(problem, edge)
    assert is_kept_exactly(problem, strict)
    assert np.abs([strict.x - edge.x, strict.y - edge.y]).max() < 4e-6
    again = strictly_kept(problem, strict)
    assert (again.x == strict.x).all()
    assert (again.y == strict.y).all()


FIELD = Boundary([[(0.0, 0.0), (2000.0, 0.0), (2000.0, 2000.0), (0.0, 2000.0)]])


def test_auto_asks_for_no_wind_outside_the_area() -> None:
    places = np.linspace(0.0, 2000.0, 5)  # the local wind is known nowhere else
    wind = WindGrid(places, places, speedup=1.0 + np.add.outer(places, places) / 40_000.0)
    farm = WindFarm(GriddedSite(UniformSite(np.full(8, 0.125), 9.0), wind), iea37_335mw(), "iea37")
    problem = LayoutProblem(farm, FIELD, 9, 400.0)
    east, north = np.meshgrid([0.0, 1000.0, 2000.0], [0.0, 1000.0, 2000.0])
    start = Layout.of(east.ravel(), north.ravel())
    assert problem.is_feasible(Auto(evaluations=300).run(problem, 0, start).layout)


def test_auto_goes_on_without_climbs_where_a_gradient_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    farm = WindFarm(UniformSite(np.full(8, 0.125), 9.8), iea37_335mw(), "iea37")
    calls, gradient = [0], WindFarm.aep_and_gradient

    def failing(self: WindFarm, *given: npt.ArrayLike) -> object:
        calls[0] += 1
        if calls[0] > 5:
            raise TaskError("not finite")
        return gradient(self, *given)

    monkeypatch.setattr(WindFarm, "aep_and_gradient", failing)
    problem = LayoutProblem(farm, FIELD, 5, 400.0)
    assert problem.is_feasible(Auto(evaluations=300).run(problem, 1).layout)
    assert calls[0] == 6
