"""The methods that need no start layout.

smart-start: one turbine after the other, each where it would give most.

The greedy construction that TopFarm made popular (``topfarm.utils.smart_start`` with
``get_aep4smart_start``), with the same points, values and random draws, so that a seed gives the layout it
gives there. Points of a grid over the boundary's bounding box are kept if they are inside. At each step the
energy that one more turbine would make at every free point is computed in the wakes of those placed so far:
at a point at hub height, without its wake on the others. Among the best ``random_pct`` percent of the points
(at least one, and all that equal the last of them) one is drawn, and the points nearer than the spacing are
removed.

``placing`` does the work. What differs from TopFarm, on purpose:
points too near to a neighbour are never used; a point is used once even if the spacing is 0; and with several
types, a type that is too large for a point is never drawn.

random-start: turbines anywhere in the area, only so far apart as they must be. The simplest start for ``gradient`` and
``random-search``, and by its spread a good one for many seeds. Points are drawn evenly from the area and kept if there
is room for them. Where an area is too full for that, all are drawn at once and pushed apart.

lattice: turbines on the points of a regular lattice, the best of many. Six numbers make a lattice: angle, aspect, skew,
density, and a point of it. They are searched at random, later ones near the best so far; where a lattice has more
points in the area than there are turbines, those whose loss costs least stay empty (``lattices.judges``). One lattice
goes over all zones, so that the spacing holds across them; in-turn gives each zone its own. In an area so full that no
lattice has enough points, one with too small a spacing is pushed apart, unless ``rows`` is wanted.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from vindeby import parameters
from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import TaskError
from vindeby.layout.area.limits import Limits
from vindeby.layout.lattices.judges import Judge, drop_surplus, judge_for, on_points
from vindeby.layout.lattices.points import Ground, LatticePoints
from vindeby.layout.lattices.searching import Search as LatticeSearch
from vindeby.layout.lattices.searching import a_lattice_fits, pushed_apart
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.placing.construction import (
    Construction,
    JudgesPoints,
    foreign_construction,
    own_construction,
)
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.wake import Neighbours, ScenarioFarm, WindFarm

DRAWS, ATTEMPTS, ROUNDS = 50, 20, 300
"""Points drawn for each turbine; then, how often all are drawn anew, and how long they are pushed each time."""


@dataclass(frozen=True)
class RandomStart(Method):
    """A start of points drawn uniformly from the area; it has no parameters."""

    def prepare(self, problem: LayoutProblem) -> Search:
        types = problem.types_in_order()

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  it is a start itself
            rng = np.random.default_rng(seed)
            layout = _thrown(problem, types, rng) or _pushed(problem, types, rng)
            return Result(layout, problem.aep(layout), "complete", 1)

        return run


def _thrown(problem: LayoutProblem, types: IntArray, rng: np.random.Generator) -> Layout | None:
    many, beside = problem.n_turbines, problem.neighbours
    x, y = np.append(np.zeros(many), beside.x), np.append(np.zeros(many), beside.y)
    need = problem.spacing_by_type[np.append(types, beside.types)]
    # Neighbours stand from the start; the others count once they have a place.
    stands = np.append(np.zeros(many, np.bool_), np.ones(len(beside.x), np.bool_))
    first = 0
    for zone in problem.zones:
        east, north = zone.boundary.sample(rng, DRAWS * zone.n_turbines)
        placed, last = first, first + zone.n_turbines
        for px, py in zip(east, north, strict=True):
            least = 0.5 * (need[stands] + need[placed])
            if np.all((x[stands] - px) ** 2 + (y[stands] - py) ** 2 >= least**2):
                x[placed], y[placed], stands[placed] = px, py, True
                placed += 1
                if placed == last:
                    break
        if placed < last:
            return None
        first = last
    return Layout(x[:many], y[:many], types)


def _pushed(problem: LayoutProblem, types: IntArray, rng: np.random.Generator) -> Layout:
    limits = Limits(problem, types)
    for _ in range(ATTEMPTS):
        drawn = [zone.boundary.sample(rng, zone.n_turbines) for zone in problem.zones]
        x, y = np.hstack([np.stack(points) for points in drawn])
        layout, _ = limits.mended(Layout(x, y, types), ROUNDS)
        if problem.is_feasible(layout):
            return layout
    remedy = "lattice" if a_lattice_fits(problem) else "smart-start with a fine grid"
    raise TaskError(
        f"farm {problem.name}: random-start found no room for {problem.n_turbines} turbines "
        f"{problem.spacing_by_type.max():.6g} m apart in {ATTEMPTS} attempts; "
        f"use {remedy}, fewer turbines or a smaller spacing"
    )


LOOKED_AT = 8
"""So many of the best lattices are evaluated."""


@dataclass(frozen=True)
class Lattice(parameters.LatticeParameters, Method):
    """The best regular layout of many.

    ``trials`` lattices are compared. With ``rows`` the layout stays regular: turbines are left out only at the ends
    of rows. Without it any may be left out, and a layout that is only nearly regular is found where none other fits.
    With ``bearings`` all turbines stand in rows along one or two directions (degrees clockwise from north), and with
    ``lane_m`` the rows are at least that far apart, so that straight lanes lead through the farm.
    """

    @property
    def has_lanes(self) -> bool:
        """Return whether rows are bound to a direction or a distance."""
        return self.bearings is not None or self.lane_m is not None

    def prepare(self, problem: LayoutProblem) -> Search:
        """Return the search, with the ground and the judge that its seeds share."""
        ground = Ground(problem, self.bearings or (), self.lane_m or 0.0)
        judge = judge_for(problem, ground.origin)

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  it is a start itself
            # Each search counts its own looks.
            return _best_of(problem, ground, copy(judge), self, np.random.default_rng(seed))

        return run


def _best_of(
    problem: LayoutProblem, ground: Ground, judge: Judge, method: Lattice, rng: np.random.Generator
) -> Result:
    def judged(points: LatticePoints, least: float) -> tuple[LatticePoints, float]:
        """Return the points with turbines and their energy (GWh), an estimate if that is below ``least``."""
        points = drop_surplus(judge, ground.needed, points, rows=method.rows)
        return points, judge.energy(points, least)

    search = LatticeSearch(ground, judged, rng, exact=method.rows, shape_energies=judge.shape_energies)
    found = search.run(method.trials)
    layouts = [
        on_points(problem, one.points, ground.origin) for one in found[:LOOKED_AT] if one.points is not None
    ]
    if not layouts and not method.rows and not method.has_lanes:
        near = (pushed_apart(problem, ground, one) for one in found)
        layouts = [layout for layout in near if layout is not None]
    if not layouts:
        remedy = "use rows: false, " if method.rows else "use "
        remedy += "other bearings, a smaller lane_m, " if method.has_lanes else ""
        raise TaskError(
            f"farm {problem.name}: only {search.most_placed} of {problem.n_turbines} turbines fit the best lattice "
            f"found, {ground.spacing:.6g} m apart; {remedy}fewer turbines or a smaller spacing"
        )
    energies = [problem.aep(layout) for layout in layouts]
    best = int(np.argmax([problem.worth(*one) for one in zip(layouts, energies, strict=True)]))
    return Result(layouts[best], energies[best], "budget", len(layouts) + ceil(judge.evaluations))


DEFAULT_SPEEDS = (6.0, 8.0, 10.0, 12.0, 14.0)


@dataclass(frozen=True)
class SmartStart(parameters.SmartStartParameters, Method):
    """A greedy construction on a grid.

    ``wind_speeds`` (m/s) and ``wind_directions`` (degrees) are those in which points are judged; by default 6,
    8, 10, 12, 14 m/s and every whole degree. A site that is a time series is taken as it is. Of several
    scenarios, points are judged in the wind and the wakes of the first, among the neighbours of all.
    """

    wind_speeds: Sequence[float] | None = None
    wind_directions: Sequence[float] | None = None

    def __repr__(self) -> str:
        chosen = "".join(
            f", {name}=<{len(values)} values>"
            for name in ("wind_speeds", "wind_directions")
            if (values := getattr(self, name)) is not None
        )
        return f"SmartStart(grid_size={self.grid_size}, random_pct={self.random_pct:g}{chosen})"

    def prepare(self, problem: LayoutProblem) -> Search:
        construct = self.construction(problem).construct

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  a construction needs no start
            layout = construct(seed)
            return Result(layout, problem.aep(layout), "complete", 1)

        return run

    def construction(self, problem: LayoutProblem) -> Construction:
        """Return the construction that all seeds share, with vindeby's wakes or those of another tool."""
        if isinstance(problem.farm, ScenarioFarm):
            beside = problem.farm.neighbours or Neighbours((), ())
            problem = replace(problem, farm=problem.farm.parts[0].beside(beside))
        if isinstance(problem.farm, JudgesPoints):
            return foreign_construction(
                problem, self.grid_size, self.random_pct, self._directions, self._speeds
            )
        return own_construction(problem, self.judging_farm(problem), self.grid_size, self.random_pct)

    def judging_farm(self, problem: LayoutProblem) -> WindFarm:
        """Return the problem's farm in the wind states in which points are judged."""
        farm = problem.farm
        if farm.states.step is not None:
            return farm
        return WindFarm(
            farm.site,
            farm.turbines,
            farm.model,
            directions=self._directions,
            speeds=self._speeds,
            neighbours=farm.neighbours,
        )

    @property
    def _directions(self) -> FloatArray:
        return np.arange(360.0) if self.wind_directions is None else np.array(self.wind_directions)

    @property
    def _speeds(self) -> FloatArray:
        return np.array(self.wind_speeds or DEFAULT_SPEEDS)
