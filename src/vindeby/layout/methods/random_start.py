"""random-start: turbines anywhere in the area, only so far apart as they must be.

The simplest start for ``gradient`` and ``random-search``, and by its spread a good one for many seeds. Points
are drawn evenly from the area and kept if there is room for them. Where an area is too full for that, all are
drawn at once and pushed apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vindeby.arrays import IntArray
from vindeby.errors import TaskError
from vindeby.layout.area.limits import Limits
from vindeby.layout.lattices.searching import a_lattice_fits
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.problem import Layout, Problem

DRAWS, ATTEMPTS, ROUNDS = 50, 20, 300
"""Points drawn a turbine; then, how often all are drawn anew, and how long they are pushed each time."""


@dataclass(frozen=True)
class RandomStart(Method):
    """Points drawn evenly from the area. It has no parameters."""

    def prepare(self, problem: Problem) -> Search:
        """There is nothing that seeds share."""
        types = problem.types_in_order()

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  it is a start itself
            rng = np.random.default_rng(seed)
            layout = _thrown(problem, types, rng) or _pushed(problem, types, rng)
            return Result(layout, problem.aep(layout), "complete", 1)

        return run


def _thrown(problem: Problem, types: IntArray, rng: np.random.Generator) -> Layout | None:
    """One point after the other, each kept if it is far enough from those before."""
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


def _pushed(problem: Problem, types: IntArray, rng: np.random.Generator) -> Layout:
    """All points at once, pushed apart."""
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
