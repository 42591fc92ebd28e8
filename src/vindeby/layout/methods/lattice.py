"""lattice: turbines on the points of a regular lattice, the best of many.

Six numbers make a lattice: angle, aspect, skew, density, and a point of it. They are searched at random, later
ones near the best so far; where a lattice has more points in the area than there are turbines, those whose loss
costs least stay empty. They are compared by a judge that knows nearly what they are worth (``lattices.quick_judge``),
and the best few are evaluated; where it does not hold, all are (``lattices.judges``).

One lattice goes over all zones, so that the spacing holds across them; in-turn gives each zone its own. In an area so
full that no lattice has enough points, one with too small a spacing is pushed apart, unless ``rows`` is wanted.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import ceil
from typing import final

import numpy as np

from vindeby import parameters
from vindeby.errors import TaskError
from vindeby.layout.lattices.judges import Judge, drop_surplus, judge_for, on_points
from vindeby.layout.lattices.points import Ground, Points
from vindeby.layout.lattices.searching import Search as LatticeSearch
from vindeby.layout.lattices.searching import pushed_apart
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.problem import Layout, Problem

LOOKED_AT = 8
"""So many of the best lattices are evaluated."""


@final
@dataclass(frozen=True)
class Lattice(parameters.Lattice, Method):
    """The best regular layout of many.

    ``trials`` lattices are compared. With ``rows`` the layout stays regular: turbines are left out only at the ends
    of rows. Without it any may be left out, and a layout that is only nearly regular is found where none other fits.
    """

    def prepare(self, problem: Problem) -> Search:
        """Work out where points may be, and choose who compares lattices."""
        ground = Ground(problem)
        judge = judge_for(problem, ground.origin)

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  it is a start itself
            return _Run(self, problem, ground, copy(judge)).result(seed)  # each counts its own looks

        return run


class _Run:
    """One search, with what it counts."""

    def __init__(self, method: Lattice, problem: Problem, ground: Ground, judge: Judge) -> None:
        self.method, self.problem, self.ground, self.judge = method, problem, ground, judge

    def result(self, seed: int) -> Result:
        """The best layout found."""
        rng = np.random.default_rng(seed)
        shape_energies = self.judge.shape_energies
        search = LatticeSearch(
            self.ground, self._judged, rng, exact=self.method.rows, shape_energies=shape_energies
        )
        found = search.run(self.method.trials)
        layouts = [
            on_points(self.problem, one.points, self.ground.origin)
            for one in found[:LOOKED_AT]
            if one.points is not None
        ]
        if not layouts and not self.method.rows:
            near = (pushed_apart(self.problem, self.ground, one) for one in found)
            layouts = [layout for layout in near if layout is not None]
        if not layouts:
            raise TaskError(self._no_room(search.most_placed))
        worth = [self.problem.aep(layout) for layout in layouts]
        best = int(np.argmax(worth))
        spent = len(layouts) + ceil(self.judge.evaluations)
        return Result(layouts[best], worth[best], "budget", spent)

    def _judged(self, points: Points, least: float) -> tuple[Points, float]:
        """The points that turbines stand on, and their energy (GWh); a guess, if that is below ``least``."""
        points = drop_surplus(self.judge, self.ground.needed, points, rows=self.method.rows)
        return points, self.judge.energy(points, least)

    def _no_room(self, placed: int) -> str:
        many = self.problem.n_turbines
        remedy = "use rows: false, " if self.method.rows else "use "
        return (
            f"farm {self.problem.name}: only {placed} of {many} turbines fit the best lattice found, "
            f"{self.ground.spacing:.6g} m apart; {remedy}fewer turbines or a smaller spacing"
        )
