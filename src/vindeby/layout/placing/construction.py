"""A smart start on a grid: its open points, the choice among them, and the turbines placed.

``grid_wakes`` and ``steps``, or another tool, compute what the points are worth. The choice between them is made here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.errors import TaskError
from vindeby.layout.lattices.searching import a_lattice_fits
from vindeby.layout.placing.grid_wakes import can_be_tabulated, grid_wakes
from vindeby.layout.placing.steps import new_free, new_state, placing_kernel, set_free_wind
from vindeby.layout.problem import Layout, LayoutProblem, Remaining
from vindeby.wake import WindFarm
from vindeby.wake.layout_checks import Places


def grid_inside(problem: LayoutProblem, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the points of a grid over the bounding box that are inside."""
    west, south, east, north = problem.boundary.bounds
    x, y = (v.ravel() for v in np.meshgrid(np.linspace(west, east, size), np.linspace(south, north, size)))
    inside = problem.boundary.inside(x, y)
    return x[inside], y[inside]


def no_room_on_grid(problem: LayoutProblem, size: int, fitted: int) -> str:
    """Return the message that only so many turbines fit a grid of this size, with a remedy."""
    spacing = problem.spacing_by_type.max()
    diameters = spacing / problem.farm.turbines[0].rotor_diameter_m
    finer = next((more for more in range(size + 1, 4 * size + 20) if _fit(problem, more)), None)
    remedy = "use" if finer is None else f"use grid_size >= {finer},"
    if a_lattice_fits(problem):
        remedy += " lattice (all turbines fit one),"
    return (
        f"farm {problem.name}: only {fitted} of {problem.n_turbines} turbines fit a grid of {size} x {size} "
        f"at {diameters:.3g} D ({spacing:.6g} m); {remedy} fewer turbines or a smaller spacing"
    )


def _fit(problem: LayoutProblem, size: int) -> bool:
    """Return whether all turbines fit a grid of this size in each of a few random orders of its points."""
    least, beside = problem.spacing_by_type.max() ** 2, problem.neighbours
    x, y = grid_inside(problem, size)
    zone = np.argmax([one.boundary.inside(x, y) for one in problem.zones], axis=0)
    for px, py in zip(beside.x, beside.y, strict=True):
        clear = (x - px) ** 2 + (y - py) ** 2 >= least
        x, y, zone = x[clear], y[clear], zone[clear]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(x))
        free_x, free_y, free_zone = x[order], y[order], zone[order]
        left = np.array([one.n_turbines for one in problem.zones])
        while len(free_x) and left.any():
            left[free_zone[0]] -= 1
            clear = (free_x - free_x[0]) ** 2 + (free_y - free_y[0]) ** 2 >= max(least, 1e-300)
            clear &= left[free_zone] > 0
            free_x, free_y, free_zone = free_x[clear], free_y[clear], free_zone[clear]
        if left.any():
            return False
    return True


@runtime_checkable
class JudgesPoints(Protocol):
    """The interface of a farm that can evaluate one more turbine at candidate points by itself."""

    def point_energies(
        self,
        x: FloatArray,
        y: FloatArray,
        standing: Places,
        directions: npt.ArrayLike | None,
        speeds: npt.ArrayLike | None,
    ) -> FloatArray:
        """Return the mean power (W) of one more turbine at each point, by type, beside ``standing`` ones."""


class Construction:
    """The part of a smart start that all seeds of a problem share; runs never change it.

    ``begin`` has the energies of the points (at ``x``, ``y``), before so many turbines come.
    """

    def __init__(
        self,
        problem: LayoutProblem,
        size: int,
        random_pct: float,
        begin: Callable[[int], GridEnergies | ForeignEnergies],
    ) -> None:
        self.problem, self.size, self.random_pct = problem, size, random_pct
        self.begin = begin
        self.x, self.y = grid_inside(problem, size)
        self.member = np.stack([zone.boundary.inside(self.x, self.y) for zone in problem.zones], axis=1)

    def construct(self, seed: int) -> Layout:
        problem, spacing = self.problem, self.problem.spacing_by_type
        beside = problem.neighbours
        many = len(beside.x)
        energies = self.begin(many + problem.n_turbines)
        allowed = np.ones((len(self.x), len(spacing)), np.bool_)
        for a in range(many):
            self._clear(allowed, beside.x[a], beside.y[a], 0.5 * (spacing + spacing[beside.types[a]]))
            energies.close(np.flatnonzero(~allowed.any(axis=1)))
            energies.stand(a, beside.x[a], beside.y[a], int(beside.types[a]), None)
        draw = np.random.RandomState(seed % 2**32)
        chosen = np.empty(problem.n_turbines, np.int64)
        types = problem.types_in_order()
        choose_type = problem.types is None and len(spacing) > 1
        left, zone_of = problem.remaining(), np.zeros(problem.n_turbines, np.int64)
        for i in range(problem.n_turbines):
            candidates = left.types() if choose_type else types[i : i + 1]
            open_here = self._open(left, allowed)
            point, types[i] = self._choose(draw, energies, open_here[:, candidates], candidates, i)
            chosen[i], zone_of[i] = point, self._zone(left, point, types[i])
            left.take(zone_of[i], types[i])
            x0, y0 = self.x[point], self.y[point]
            self._clear(allowed, x0, y0, 0.5 * (spacing + spacing[types[i]]))
            allowed[point] = False
            if i + 1 < problem.n_turbines and self.random_pct < 100.0:
                energies.close(np.flatnonzero(~allowed.any(axis=1)))
                energies.stand(many + i, x0, y0, int(types[i]), point)
        # Zone by zone, in each as they were placed.
        order = np.argsort(zone_of, kind="stable")
        return Layout(self.x[chosen[order]], self.y[chosen[order]], types[order])

    def _open(self, left: Remaining, allowed: BoolArray) -> BoolArray:
        if len(self.problem.zones) == 1 and self.problem.mix is None:
            return allowed
        return np.asarray(allowed & (self.member @ left.open()))

    def _zone(self, left: Remaining, point: int, type_index: int) -> int:
        """Return the zone for a turbine at a point: the first with turbines left, if several contain it."""
        return int(np.argmax(self.member[point] & left.open()[:, type_index]))

    def _choose(
        self,
        draw: np.random.RandomState,
        energies: GridEnergies | ForeignEnergies,
        allowed: BoolArray,
        types: IntArray,
        i: int,
    ) -> tuple[int, int]:
        points, columns = np.nonzero(allowed)
        if not len(points):
            raise TaskError(no_room_on_grid(self.problem, self.size, i))
        drawn_from_all = self.random_pct >= 100.0
        worth = (
            np.zeros(len(points)) if drawn_from_all else energies.energy[points, types[columns]].sum(axis=1)
        )
        # The percentage is of all types at every point where one of them may stand.
        considered = len(types) * (len(points) if len(types) == 1 else len(np.unique(points)))
        choices = best_worth(worth, max(1, int(np.round(self.random_pct / 100 * considered))))
        # This draws the same as ``draw.choice`` of a list, without making the list.
        chosen = choices[draw.randint(0, len(choices))]
        return int(points[chosen]), int(types[columns[chosen]])

    def _clear(self, allowed: BoolArray, x0: float, y0: float, spacing: FloatArray) -> None:
        square = (self.x - x0) ** 2 + (self.y - y0) ** 2
        allowed &= square[:, None] >= spacing**2


def best_worth(worth: FloatArray, best: int) -> IntArray:
    """Return the indices of the best values, with all ties of the last; all indices if there are no more."""
    count = len(worth)
    if best >= count:
        return np.arange(count)
    return np.flatnonzero(worth >= np.partition(worth, count - best)[count - best])


class GridWind:
    """The wind on a grid of ``size`` x ``size`` with vindeby's wakes, which all seeds share."""

    def __init__(self, problem: LayoutProblem, farm: WindFarm, size: int) -> None:
        self.farm, self.neighbours = farm, len(problem.neighbours.x)
        self.x, self.y = grid_inside(problem, size)
        west, south, east, north = problem.boundary.bounds
        pitch_x, pitch_y = (east - west) / (size - 1), (north - south) / (size - 1)
        column = np.rint((self.x - west) / pitch_x).astype(np.int64)
        row = np.rint((self.y - south) / pitch_y).astype(np.int64)
        self.on_grid = can_be_tabulated(farm)
        self.wakes = grid_wakes(farm, size, (pitch_x, pitch_y), row, column)
        self.cell: IntArray = (row + size - 1) * self.wakes.stride + column + size - 1
        self.place = placing_kernel(farm.model, self.on_grid, farm.locality)
        # Near zero, as the wakes need them; which points are too near is decided on the map's own numbers.
        self.middle = np.array([0.5 * (west + east), 0.5 * (south + north)])


class GridEnergies:
    """The wind on a grid while turbines are placed."""

    def __init__(self, grid: GridWind, most: int) -> None:
        self.grid = grid
        points = np.column_stack([grid.x, grid.y]) - grid.middle
        free = new_free(grid.farm, grid.x, grid.y, most)
        self.state = new_state(grid.farm, grid.wakes, points, grid.cell, most, free)
        self.energy = self.state.energy

    def close(self, closed: IntArray) -> None:
        """Stop gathering wakes at these points."""
        cells = self.grid.cell[closed]
        self.state.occupant[cells] = np.minimum(self.state.occupant[cells], 0)

    def stand(self, a: int, x: float, y: float, type_index: int, point: int | None) -> None:
        """Place turbine ``a`` in the wind."""
        grid, state, farm = self.grid, self.state, self.grid.farm
        if point is not None and grid.on_grid:
            state.cell[a] = grid.cell[point]
            state.occupant[grid.cell[point]] = -(a + 1)
        state.place[a], state.types[a] = (x - grid.middle[0], y - grid.middle[1]), type_index
        set_free_wind(farm, state.free, a, x, y, type_index)
        off_grid = grid.neighbours if grid.on_grid else len(state.cell)
        grid.place(farm.data, farm.turbine_arrays, farm.wind, grid.wakes, state, a, off_grid)


class ForeignEnergies:
    """Candidate points that another tool evaluates, in these wind directions (degrees) and speeds (m/s)."""

    def __init__(
        self, farm: JudgesPoints, points: tuple[FloatArray, FloatArray], wind: tuple[FloatArray, FloatArray]
    ):
        self.farm, self.points, self.wind = farm, points, wind
        self.standing: list[tuple[float, float, int]] = []

    @property
    def energy(self) -> FloatArray:
        """The energy by point, type and direction, of which there is one."""
        x, y, types = np.array(self.standing).reshape(-1, 3).T
        standing = x.copy(), y.copy(), types.astype(np.int64)
        return self.farm.point_energies(*self.points, standing, *self.wind)[:, :, None]

    def close(self, closed: IntArray) -> None:
        """Do nothing: the other tool evaluates all points at once."""

    def stand(self, a: int, x: float, y: float, type_index: int, point: int | None) -> None:  # noqa: ARG002
        """Add a turbine to those already placed."""
        self.standing.append((x, y, type_index))


def own_construction(problem: LayoutProblem, farm: WindFarm, size: int, random_pct: float) -> Construction:
    """Return the construction with vindeby's wakes; ``farm`` has the wind in which points are judged."""
    grid = GridWind(problem, farm, size)
    return Construction(problem, size, random_pct, partial(GridEnergies, grid))


def foreign_construction(
    problem: LayoutProblem, size: int, random_pct: float, directions: FloatArray, speeds: FloatArray
) -> Construction:
    """Return the construction with another tool's wakes, in these directions (degrees) and speeds (m/s)."""
    farm, points = problem.farm, grid_inside(problem, size)
    assert isinstance(farm, JudgesPoints), "others have wakes of their own"
    return Construction(
        problem, size, random_pct, lambda _: ForeignEnergies(farm, points, (directions, speeds))
    )
