"""Searches where the wind differs from place to place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.physics.gridded_sites import GRID_X, GRID_Y, SOUTH, WEST, Local, positions
from tests.physics.oracle import needs_pywake, pywake_generic, pywake_model, simulate
from vindeby.errors import ArgumentError
from vindeby.layout import Boundary, Gradient, Layout, LayoutProblem, RandomSearch, SmartStart
from vindeby.layout.moves.walk import mover_of
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import GriddedSite, Turbine, UniformSite, WindFarm, WindGrid

pytestmark = pytest.mark.oracle

FloatArray = npt.NDArray[np.float64]

DIRECTIONS, SPEEDS = (10.0, 75.0, 160.0, 250.0, 305.0), (7.0, 11.0)
AREA = Boundary(
    [[(WEST + x, SOUTH + y) for x, y in zip((250, 2750, 2750, 250), (250, 250, 2750, 2750), strict=True)]]
)
MODEL = "bastankhah-2014"


def turbine() -> Turbine:
    return Turbine.generic("ten", 10.0, 178.0, 119.0)


def farm(local: Local) -> WindFarm:
    return WindFarm(local.site(), turbine(), MODEL, directions=DIRECTIONS, speeds=SPEEDS)


@pytest.mark.parametrize("local", [Local(), Local(turned=True)], ids=["local", "turned"])
def test_what_one_move_gains_is_what_whole_layouts_say(local: Local) -> None:
    of = farm(local)
    x, y = positions()
    origin = np.array([WEST + 1500.0, SOUTH + 1500.0])
    moves, (settle, gained, keep), _ = mover_of(of, x - origin[0], y - origin[1], np.zeros(7, np.int64), 7)
    wind = of.wind_near(origin)
    whole = mean_power_to_aep_gwh(settle(of.data, of.turbine_arrays, wind, moves))
    assert whole == pytest.approx(of.aep(x, y), rel=1e-12)
    rng = np.random.default_rng(3)
    for turn in range(12):
        i, (px, py) = int(rng.integers(7)), rng.uniform(-1400.0, 1400.0, 2)
        gain = mean_power_to_aep_gwh(gained(of.data, of.turbine_arrays, wind, moves, i, px, py, -np.inf))
        there_x, there_y = x.copy(), y.copy()
        there_x[i], there_y[i] = origin[0] + px, origin[1] + py
        after = of.aep(there_x, there_y)
        assert gain == pytest.approx(after - of.aep(x, y), abs=1e-9 * after)
        if turn % 3 == 0:
            keep(of.data, of.turbine_arrays, wind, moves, i, px, py)
            x, y = there_x, there_y


def pywake_smart_start(local: Local, count: int, size: int, spacing: float, random_pct: float) -> FloatArray:
    """TopFarm's rule on PyWake's maps of energy: the best points, one of them drawn, those too near removed."""
    from py_wake.flow_map import Points

    model: Any = pywake_model(MODEL, local.pywake(), pywake_generic(10.0, 178.0, 119.0))
    west, south, east, north = AREA.bounds
    px, py = (v.ravel() for v in np.meshgrid(np.linspace(west, east, size), np.linspace(south, north, size)))
    draw = np.random.RandomState(7)
    x: list[float] = []
    y: list[float] = []
    for _ in range(count):
        result = simulate(model, np.array(x), np.array(y), wd=DIRECTIONS, ws=SPEEDS)
        worth = result.aep_map(Points(px, py, np.full(px.shape, 119.0))).values.ravel()
        best = max(1, int(np.round(random_pct / 100 * len(px))))
        choices = np.flatnonzero(worth >= np.sort(worth)[-best])
        chosen = choices[draw.randint(0, len(choices))]
        x.append(px[chosen])
        y.append(py[chosen])
        clear = (px - px[chosen]) ** 2 + (py - py[chosen]) ** 2 >= spacing**2
        px, py = px[clear], py[clear]
    return np.array([x, y])


@needs_pywake
@pytest.mark.parametrize("local", [Local(), Local(turned=True)], ids=["local", "turned"])
def test_smart_start_places_turbines_as_topfarm_would(local: Local) -> None:
    method = SmartStart(7, 15.0, wind_speeds=SPEEDS, wind_directions=DIRECTIONS)
    found = method.run(LayoutProblem(farm(local), AREA, 8, 500.0), seed=7)
    expected = pywake_smart_start(local, 8, 7, 500.0, 15.0)
    np.testing.assert_allclose([found.x, found.y], expected, rtol=0, atol=1e-6)


def windy_corner() -> LayoutProblem:
    """Two turbines where the wind is strongest in the north-east; their wakes matter little."""
    rise = 0.8 + 0.2 * np.add.outer(np.linspace(0, 1, 5), np.linspace(0, 1, 5))
    site = GriddedSite(UniformSite(np.full(4, 0.25), 9.0), WindGrid(GRID_X, GRID_Y, speedup=rise))
    of = WindFarm(site, turbine(), MODEL)
    return LayoutProblem(of, AREA, 2, 500.0)


@pytest.mark.parametrize("method", [Gradient(60), RandomSearch(400)], ids=["gradient", "random-search"])
def test_searches_go_where_the_wind_is(method: Any) -> None:
    problem = windy_corner()
    start = Layout.of([WEST + 700.0, WEST + 1600.0], [SOUTH + 900.0, SOUTH + 700.0])
    found = method.run(problem, 1, start)
    assert found.aep_gwh > 1.2 * problem.aep(start)
    assert (found.x + found.y).min() > WEST + SOUTH + 3500.0 > (start.x + start.y).min() + 1500.0


def test_an_area_that_leaves_the_grid_is_refused() -> None:
    too_large = Boundary([[(WEST, SOUTH), (WEST + 3500.0, SOUTH), (WEST, SOUTH + 2000.0)]])
    with pytest.raises(
        ArgumentError, match=r"farm north: boundary corner \d at \(706500, 6224000\) is outside the grid"
    ):
        LayoutProblem(farm(Local()), too_large, 3, name="north")
    round_one = Boundary(circle=((WEST + 1500.0, SOUTH + 1500.0), 1600.0))
    with pytest.raises(ArgumentError, match=r"boundary end .* at \(702900, 6225500\) is outside the grid"):
        LayoutProblem(farm(Local()), round_one, 3)
