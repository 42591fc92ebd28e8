"""Depth limits: nothing outside them is left of an area, and hardly anything inside them is lost."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from tests.layout.farms import round_farm
from vindeby.economy import DepthGrid
from vindeby.errors import ArgumentError
from vindeby.layout import (
    Annealing,
    Boundary,
    Gradient,
    Lattice,
    Layout,
    Method,
    Pipeline,
    RandomStart,
    SmartStart,
    within_depths,
)

RNG = np.random.default_rng(9)
X, Y = (
    np.linspace(-1200.0, 2200.0, 15),
    np.array([-2000.0, -1500.0, -900.0, -500.0, 0.0, 300.0, 900.0, 1500.0]),
)
GRID = DepthGrid(X, Y, RNG.uniform(5.0, 65.0, (15, 8)))
INDEPENDENT = RegularGridInterpolator((X, Y), GRID.depth)
AREAS = {
    "circle": Boundary(circle=((500.0, -300.0), 900.0), holes=[[(400, -400), (600, -400), (500, -200)]]),
    "polygons": Boundary(
        [[(-900, -900), (300, -1200), (700, 500), (-500, 800)], [(900, 0), (1800, 0), (1700, 900)]]
    ),
}


@pytest.mark.parametrize("limits", [(20.0, 45.0), (-inf, 40.0), (25.0, inf)])
@pytest.mark.parametrize("name", AREAS)
def test_what_is_left_is_within_the_limits_and_what_is_well_within_is_left(
    name: str, limits: tuple[float, float]
) -> None:
    area = AREAS[name]
    kept = within_depths(area, GRID, *limits)
    west, south, east, north = area.bounds
    x, y = np.random.default_rng(1).uniform((west, south), (east, north), (20_000, 2)).T
    depth, was = INDEPENDENT((x, y)), area.inside(x, y)
    now = kept.inside(x, y)
    assert not (now & ~was).any()
    assert depth[now].min() >= limits[0]
    assert depth[now].max() <= limits[1]
    allowed = was & (depth >= limits[0]) & (depth <= limits[1])
    lost = (allowed & ~now).sum() / allowed.sum()
    assert lost < 0.08, "the lines of equal depth are long here, and a strip beside them is lost"


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        RandomStart(),
        SmartStart(15, 5.0),
        Lattice(trials=20),
        Pipeline([RandomStart(), Gradient(12)]),
        Pipeline([RandomStart(), Annealing(300)]),
    ],
    ids=lambda method: (
        type(method).__name__ if not isinstance(method, Pipeline) else type(method.steps[1]).__name__
    ),
)
def test_every_method_keeps_depth_limits(method: Method) -> None:
    problem = round_farm(5, spacing=200.0)
    limited = replace(problem, boundary=within_depths(problem.boundary, GRID, 15.0, 50.0))  # type: ignore[arg-type]
    found: Layout = method.run(limited, 2).layout
    depth = INDEPENDENT((found.x, found.y))
    assert 15.0 - 1e-6 <= depth.min() <= depth.max() <= 50.0 + 1e-6


@pytest.mark.parametrize("name", AREAS)
def test_the_area_that_is_left_is_the_share_of_places_in_it(name: str) -> None:
    kept = within_depths(AREAS[name], GRID, 20.0, 45.0)
    west, south, east, north = AREAS[name].bounds
    x, y = np.random.default_rng(2).uniform((west, south), (east, north), (40_000, 2)).T
    share = float(kept.inside(x, y).mean())
    assert kept.area_m2 == pytest.approx(share * (east - west) * (north - south), rel=0.03)


def test_limits_that_leave_nothing_or_are_the_wrong_way_round_are_refused() -> None:
    for area in AREAS.values():
        with pytest.raises(
            ArgumentError, match="no part of the area is 70 to 90 m deep: depths in and around it go from"
        ):
            within_depths(area, GRID, 70.0, 90.0)
        with pytest.raises(ArgumentError, match="the least depth, 40 m, must be below the most, 20 m"):
            within_depths(area, GRID, 40.0, 20.0)


def test_a_grid_that_is_too_fine_is_refused_instead_of_taking_hours() -> None:
    fine = np.linspace(-1200.0, 2200.0, 202)
    checkered = np.array(30.0 + (np.arange(202)[:, None] + np.arange(202)) % 2, np.float64)
    area = Boundary([[(-1100, -1100), (2100, -1100), (2100, 2100), (-1100, 2100)]])
    with pytest.raises(ArgumentError, match=r"crosses 40,401 cells .* make the grid of depths coarser"):
        within_depths(area, DepthGrid(fine, fine, checkered), most=30.5)


def test_limits_that_all_depths_keep_change_nothing() -> None:
    area = AREAS["polygons"]
    assert within_depths(area, GRID, 1.0, 99.0) is area


@pytest.mark.parametrize(
    ("around", "inside", "most"),
    [(20.0, -9999.0, inf), (10.0, 9.0, inf), (10.0, 60.0, 40.0)],
    ids=["land", "the limit itself", "too deep beside the limit itself"],
)
def test_one_point_outside_the_limits_takes_no_more_than_the_cells_around_it(
    around: float, inside: float, most: float
) -> None:
    axis, depth = np.arange(0.0, 2100.0, 100.0), np.full((21, 21), around)
    depth[10, 10] = inside
    square = Boundary([[(0, 0), (2000, 0), (2000, 2000), (0, 2000)]])
    kept = within_depths(square, DepthGrid(axis, axis, depth), 10.0, most)
    assert square.area_m2 - kept.area_m2 < 1.05 * 200.0**2
    assert not kept.inside(np.array([1000.0]), np.array([1000.0])).any()


def test_the_water_along_a_coast_is_left() -> None:
    axis, depth = np.arange(0.0, 2100.0, 100.0), np.full((21, 21), 20.0)
    depth[:, 20] = -9999.0
    square = Boundary([[(0, 0), (2000, 0), (2000, 2000), (0, 2000)]])
    kept = within_depths(square, DepthGrid(axis, axis, depth), 10.0)
    assert square.area_m2 - kept.area_m2 == pytest.approx(2000.0 * 100.0, rel=0.02)
