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
            # Each search counts its own looks.
            return _best_of(problem, ground, copy(judge), self, np.random.default_rng(seed))

        return run


def _best_of(
    problem: Problem, ground: Ground, judge: Judge, method: Lattice, rng: np.random.Generator
) -> Result:
    """The best layout found."""

    def judged(points: Points, least: float) -> tuple[Points, float]:
        """The points that turbines stand on, and their energy (GWh); a guess, if that is below ``least``."""
        points = drop_surplus(judge, ground.needed, points, rows=method.rows)
        return points, judge.energy(points, least)

    search = LatticeSearch(ground, judged, rng, exact=method.rows, shape_energies=judge.shape_energies)
    found = search.run(method.trials)
    layouts = [
        on_points(problem, one.points, ground.origin) for one in found[:LOOKED_AT] if one.points is not None
    ]
    if not layouts and not method.rows:
        near = (pushed_apart(problem, ground, one) for one in found)
        layouts = [layout for layout in near if layout is not None]
    if not layouts:
        remedy = "use rows: false, " if method.rows else "use "
        raise TaskError(
            f"farm {problem.name}: only {search.most_placed} of {problem.n_turbines} turbines fit the best lattice "
            f"found, {ground.spacing:.6g} m apart; {remedy}fewer turbines or a smaller spacing"
        )
    worth = [problem.aep(layout) for layout in layouts]
    best = int(np.argmax(worth))
    return Result(layouts[best], worth[best], "budget", len(layouts) + ceil(judge.evaluations))
