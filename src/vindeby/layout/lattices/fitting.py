"""Areas so full that the first question is whether a lattice fits at all, and what to do where none does.

Only points are counted here, and no energy is computed: hundreds of lattices take a few milliseconds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vindeby.layout.area.limits import Limits
from vindeby.layout.lattices.points import Ground, Points
from vindeby.layout.lattices.searching import Candidate, Search
from vindeby.layout.problem import Layout, Problem

DRAWS = 600
"""Lattices that are counted before none is said to fit."""
CLOSEST = 0.85
"""The least spacing that is pushed apart, as a share of the one that is wanted."""
ROUNDS = 300
"""How long turbines are pushed."""


def a_lattice_fits(problem: Problem) -> bool:
    """Whether a lattice is found on which all turbines have room; for messages that name a way out."""

    def only_counted(points: Points, least: float) -> tuple[Points, float]:  # noqa: ARG001
        return points, 1.0

    search = Search(Ground(problem), only_counted, np.random.default_rng(0), exact=True)
    return search.run(1, DRAWS)[0].points is not None


def pushed_apart(problem: Problem, ground: Ground, candidate: Candidate) -> Layout | None:
    """A layout near a lattice that has enough points only at too small a spacing; None where that fails."""
    given = candidate.lattice
    pitch = ground.widest_pitch(given, ground.needed, CLOSEST)
    if pitch == 0.0:
        return None
    points = ground.points(replace(given, pitch=pitch))
    # Surplus points: the first of each zone have to do.
    chosen = np.concatenate(
        [np.flatnonzero(points.zone == z)[:count] for z, count in enumerate(ground.needed)]
    )
    if len(chosen) < problem.n_turbines:
        return None
    types = problem.types_in_order()
    limits = Limits(problem, types)
    place, _ = limits.restore(np.stack([points.x[chosen], points.y[chosen]]), ROUNDS)
    x, y = place + limits.origin[:, None]
    layout = Layout(x, y, types)
    return layout if problem.is_feasible(layout) else None
