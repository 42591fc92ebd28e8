"""A smart start on a grid: which points are still open, which of them is chosen, and what stands then.

``grid_wakes`` and ``step`` make it fast; here is only the choosing, which ``choosing`` has compiled for one turbine
type in one area.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vindeby.errors import TaskError
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.lattices.searching import a_lattice_fits
from vindeby.layout.placing.choosing import NO_ROOM, OUT_OF_WORDS, new_choosing, no_choosing
from vindeby.layout.placing.grid_wakes import GridWakes, can_be_tabulated, grid_wakes
from vindeby.layout.placing.state import State, new_state, stand_in
from vindeby.layout.placing.step import placing_kernel
from vindeby.layout.placing.unwaked_sources import fill_unwaked_sources
from vindeby.layout.problem import Layout, Problem, Remaining
from vindeby.wake import WindFarm


def grid_inside(problem: Problem, size: int) -> tuple[FloatArray, FloatArray]:
    """The points of a grid over the bounding box that are inside."""
    west, south, east, north = problem.boundary.bounds
    x, y = (v.ravel() for v in np.meshgrid(np.linspace(west, east, size), np.linspace(south, north, size)))
    inside = problem.boundary.inside(x, y)
    return x[inside], y[inside]


def no_room_on_grid(problem: Problem, size: int, fitted: int) -> str:
    """That only so many turbines fit a grid of this size, and what would help."""
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


def _fit(problem: Problem, size: int) -> bool:
    """Whether all turbines fit a grid of this size in each of a few random orders of its points."""
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


WORDS = 4
"""Random words drawn at a time, per turbine; a choice needs less than two in the mean."""


class Construction:
    """What all seeds of a problem share; never changed by a run. ``farm`` has the wind in which points are judged."""

    def __init__(self, problem: Problem, farm: WindFarm, size: int, random_pct: float) -> None:
        self.problem, self.farm, self.size, self.random_pct = problem, farm, size, random_pct
        west, south, east, north = problem.boundary.bounds
        self.x, self.y = grid_inside(problem, size)
        tabulated = can_be_tabulated(self.farm)
        pitch_x, pitch_y = (east - west) / (size - 1), (north - south) / (size - 1)
        column = np.rint((self.x - west) / pitch_x).astype(np.int64)
        row = np.rint((self.y - south) / pitch_y).astype(np.int64)
        self.wakes: GridWakes = grid_wakes(
            self.farm, size, (pitch_x, pitch_y), row, column, tabulated=tabulated
        )
        if tabulated and self.farm.locality == "uniform":
            fill_unwaked_sources(self.farm, self.wakes)
        self.cell: IntArray = (row + size - 1) * self.wakes.stride + column + size - 1
        self.place = placing_kernel(self.farm.model, tabulated, self.farm.locality)
        self.member = np.stack([zone.boundary.inside(self.x, self.y) for zone in problem.zones], axis=1)
        # Wakes that follow the turned wind have no offsets of the grid in common: all pairs are computed.
        self.on_grid = self.farm.locality != "turned"
        # Near zero, as the wakes need them; which points are too near is decided on the map's own numbers.
        self.middle = np.array([0.5 * (west + east), 0.5 * (south + north)])
        self.known_place = no_choosing()
        one_kind = len(problem.spacing_by_type) == len(problem.zones) == 1 and problem.mix is None
        self.compiled_choices = one_kind and self.farm.locality == "uniform" and 0.0 <= random_pct < 100.0

    def construct(self, seed: int) -> Layout:
        """Place all turbines."""
        problem, spacing = self.problem, self.problem.spacing_by_type
        beside = problem.neighbours
        many = len(beside.x)
        state = self._new_state(many + problem.n_turbines)
        allowed = np.ones((len(self.x), len(spacing)), np.bool_)
        for a in range(many):
            self._clear(allowed, beside.x[a], beside.y[a], 0.5 * (spacing + spacing[beside.types[a]]), state)
            self._stand(state, a, beside.x[a], beside.y[a], int(beside.types[a]))
        draw = np.random.RandomState(seed % 2**32)
        if self.compiled_choices:
            return self._chosen_at_once(draw, state, allowed[:, 0].copy(), many)
        chosen = np.empty(problem.n_turbines, np.int64)
        types = problem.types_in_order()
        choose_type = problem.types is None and len(spacing) > 1
        left, zone_of = problem.remaining(), np.zeros(problem.n_turbines, np.int64)
        for i in range(problem.n_turbines):
            candidates = left.kinds() if choose_type else types[i : i + 1]
            open_here = self._open(left, allowed)
            point, types[i] = self._choose(draw, state, open_here[:, candidates], candidates, i)
            chosen[i], zone_of[i] = point, self._zone(left, point, types[i])
            left.take(zone_of[i], types[i])
            x0, y0 = self.x[point], self.y[point]
            self._clear(allowed, x0, y0, 0.5 * (spacing + spacing[types[i]]), state)
            allowed[point] = False
            if i + 1 < problem.n_turbines and self.random_pct < 100.0:
                state.occupant[self.cell[point]] = -(many + i + 1) if self.on_grid else 0
                if self.on_grid:
                    state.cell[many + i] = self.cell[point]
                self._stand(state, many + i, x0, y0, int(types[i]))
        # Zone by zone, in each as they were placed.
        order = np.argsort(zone_of, kind="stable")
        return Layout(self.x[chosen[order]], self.y[chosen[order]], types[order])

    def _chosen_at_once(
        self, draw: np.random.RandomState, state: State, allowed: npt.NDArray[np.bool_], many: int
    ) -> Layout:
        """Place all turbines where they are of one type in one area: the same choices, in one compiled loop."""
        problem, farm = self.problem, self.farm
        least = 0.5 * (problem.spacing_by_type + problem.spacing_by_type[0])
        choosing = new_choosing(
            self.x, self.y, float(least[0] ** 2), allowed, self.random_pct, len(farm.wind.cosine),
            problem.n_turbines,
        )  # fmt: skip
        ended = OUT_OF_WORDS
        while ended == OUT_OF_WORDS:
            words = draw.randint(0, 2**32, WORDS * problem.n_turbines, np.uint32)
            choosing.progress[1] = 0
            ended = self.place(
                farm.data, farm.machines, farm.wind, self.wakes, state, many + int(choosing.progress[0]), many,
                choosing._replace(words=words),
            )  # fmt: skip
        if ended == NO_ROOM:
            raise TaskError(no_room_on_grid(problem, self.size, int(choosing.progress[0])))
        chosen = choosing.chosen
        return Layout(self.x[chosen], self.y[chosen], problem.types_in_order())

    def _new_state(self, most: int) -> State:
        """The wind before anything stands, with room for so many turbines."""
        points = np.column_stack([self.x, self.y]) - self.middle
        return new_state(self.farm, self.wakes, points, self.cell, most, self.middle)

    def _open(self, left: Remaining, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which types may still come to each point: those that its zone and the mix have room for."""
        if len(self.problem.zones) == 1 and self.problem.mix is None:
            return allowed
        return np.asarray(allowed & (self.member @ left.open()))

    def _zone(self, left: Remaining, point: int, kind: int) -> int:
        """The zone that a point is used for: the first that has room, where zones share an edge or overlap."""
        return int(np.argmax(self.member[point] & left.open()[:, kind]))

    def _choose(
        self,
        draw: np.random.RandomState,
        state: State,
        allowed: npt.NDArray[np.bool_],
        types: IntArray,
        i: int,
    ) -> tuple[int, int]:
        """One of the best points, and the type to stand there."""
        points, kinds = np.nonzero(allowed)
        if not len(points):
            raise TaskError(no_room_on_grid(self.problem, self.size, i))
        drawn_from_all = self.random_pct >= 100.0
        worth = np.zeros(len(points)) if drawn_from_all else state.energy[points, types[kinds]].sum(axis=1)
        # The percentage is of all types at every point where one of them may stand.
        considered = len(types) * (len(points) if len(types) == 1 else len(np.unique(points)))
        choices = best_worth(worth, max(1, int(np.round(self.random_pct / 100 * considered))))
        # What ``draw.choice`` of a list draws, without making the list.
        chosen = choices[draw.randint(0, len(choices))]
        return int(points[chosen]), int(types[kinds[chosen]])

    def _clear(
        self, allowed: npt.NDArray[np.bool_], x0: float, y0: float, spacing: FloatArray, state: State
    ) -> None:
        """Take away the points that are too near to a turbine, for each type."""
        square = (self.x - x0) ** 2 + (self.y - y0) ** 2
        allowed &= square[:, None] >= spacing**2
        state.occupant[self.cell[~allowed.any(axis=1) & (state.occupant[self.cell] > 0)]] = 0

    def _stand(self, state: State, a: int, x0: float, y0: float, type_index: int) -> None:
        """Put turbine ``a`` into the wind."""
        state.place[a] = x0 - self.middle[0], y0 - self.middle[1]
        state.type_index[a] = type_index
        farm = self.farm
        stand_in(farm, state.free, a, x0, y0, type_index)
        off_grid = len(self.problem.neighbours.x) if self.on_grid else len(state.cell)
        self.place(farm.data, farm.machines, farm.wind, self.wakes, state, a, off_grid, self.known_place)


def best_worth(worth: FloatArray, best: int) -> IntArray:
    """Where the best so many are, and all that equal the last of them; everything if there are no more."""
    count = len(worth)
    if best >= count:
        return np.arange(count)
    return np.flatnonzero(worth >= np.partition(worth, count - best)[count - best])
