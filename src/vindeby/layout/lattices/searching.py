"""The search over the six numbers of a lattice: some drawn anywhere, the others near the best so far.

The pitch is not drawn: of a lattice's shape and a point of it, the widest pitch is taken at which enough points are
inside. What is drawn instead is how many that should be (``density``, points per turbine). A lattice with too few
points at the spacing is ranked by how much narrower it would have to be, so that in a full area the search first
finds one that fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, pi
from typing import final

import numpy as np

from vindeby.layout.lattices.plane_lattice import TRIANGULAR_ASPECT, PlaneLattice
from vindeby.layout.lattices.points import Ground, Points
from vindeby.layout.problem import FloatArray

__all__ = ["Candidate", "Search"]

DRAWS_PER_TRIAL, LEAST_DRAWS = 20, 2000
"""So many lattices are counted for each that may be evaluated; in a full area few have enough points."""
FULL_AFTER, LONGEST_EDGES = 200, 20
"""An area is full if so many lattices had no room; then the densest lattices along its longest edges are looked at."""
CLOSEST = 0.5
"""Lattices that would have to be narrower than this share of the spacing are all alike."""
ANYWHERE = 0.25
"""The share of lattices that are drawn anywhere; the others near one of the best."""
KEPT, NEAR = 8, 4
"""How many of the best are kept, and how many of these are drawn near to."""
SPREAD = np.array([0.5, 0.7, 0.5, 0.0, 1.0, 1.0])
"""How far apart lattices are, in each number: angle, log of aspect, skew, density (drawn anew), and place in sides of
``Ground``."""
DECADES = 2.0
"""Lattices near a good one are up to so many powers of ten nearer than that, each scale alike."""
WITH_SURPLUS, DENSEST = 0.15, 0.12
"""The share of lattices with more points than turbines, which cost three evaluations, and how many more at most."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A lattice, the points of it that turbines stand on, and its energy (GWh).

    Where too few points fit, ``points`` is None and ``score`` from -1 to 0: the share of the spacing that is missing.
    """

    numbers: FloatArray
    lattice: PlaneLattice
    score: float
    points: Points | None


@final
class Search:
    """Draws lattices over a ground.

    ``judge`` says what points and energy a lattice with enough points comes to; a second number tells it the energy
    below which a lattice is not kept, so that it need not know that of a poorer one exactly.
    """

    def __init__(
        self,
        ground: Ground,
        judge: Callable[[Points, float], tuple[Points, float]],
        rng: np.random.Generator,
        *,
        exact: bool,
    ) -> None:
        self.ground, self.judge, self.rng, self.exact = ground, judge, rng, exact
        self.best: list[Candidate] = []
        self.most_placed = 0
        """How many turbines any lattice had room for."""
        edges = ground.room.areas.edges
        length = np.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1])
        self.edge_share = np.cumsum(length) / max(float(length.sum()), 1e-300)

    def run(self, trials: int, draws: int | None = None) -> list[Candidate]:
        """The best lattices, the best first, after so many evaluations, or so many lattices in all."""
        judged = 0
        for draw in range(draws or max(DRAWS_PER_TRIAL * trials, LEAST_DRAWS)):
            if draw == FULL_AFTER and self.best[0].points is None:
                self._densest_along_edges()
            anywhere = not self.best or self.rng.random() < ANYWHERE
            found = self.look_at(self._drawn() if anywhere else self._near())
            self._keep(found)
            judged += found.points is not None
            if judged >= trials:
                break
        return self.best

    def look_at(self, numbers: FloatArray) -> Candidate:
        """The lattice of these numbers at its widest pitch, and what it is worth."""
        angle, log_aspect, skew, density, east, north = numbers
        ground, side = self.ground, self.ground.side
        shape = PlaneLattice(angle, float(np.exp(log_aspect)), skew, side, east * side, north * side)
        wanted = np.ceil(ground.needed * density - 1e-9).astype(np.int64)
        lattice = replace(shape, pitch=ground.widest_pitch(shape, wanted) or ground.narrowest(shape))
        counts = ground.counts(lattice)
        self.most_placed = max(self.most_placed, int(np.minimum(counts, ground.needed).sum()))
        if (counts < ground.needed).any():
            enough = ground.widest_pitch(shape, ground.needed, CLOSEST)
            return Candidate(numbers, lattice, min(enough / lattice.pitch, 1.0) - 1.0, None)
        least = self.best[-1].score if len(self.best) == KEPT else -inf
        points, score = self.judge(ground.points(lattice), least)
        return Candidate(numbers, lattice, score, points)

    def _keep(self, found: Candidate) -> None:
        if all(abs(found.score - other.score) > 1e-9 * abs(found.score) for other in self.best):
            self.best = sorted([*self.best, found], key=lambda one: -one.score)[:KEPT]

    def _densest_along_edges(self) -> None:
        """Look at equilateral triangles with a row on an edge, beginning at one of its ends."""
        edges, side = self.ground.room.areas.edges, self.ground.side
        length = np.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1])
        for ax, ay, bx, by in edges[np.argsort(-length, kind="stable")[:LONGEST_EDGES]]:
            angle = np.arctan2(by - ay, bx - ax)
            for x, y in ((ax, ay), (bx, by)):
                numbers = [angle, np.log(TRIANGULAR_ASPECT), 0.5, 1.0, x / side, y / side]
                self._keep(self.look_at(np.array(numbers)))

    def _drawn(self) -> FloatArray:
        """Anywhere: any angle or that of an edge, with a row on it; any shape, more often near triangles."""
        u = self.rng.random(8)
        west, south, east, north = self.ground.room.box / self.ground.side
        angle, x, y = pi * u[0], west + u[1] * (east - west), south + u[2] * (north - south)
        edges = self.ground.room.areas.edges
        if len(edges) and u[3] < 0.3:
            ax, ay, bx, by = edges[min(int(np.searchsorted(self.edge_share, u[0])), len(edges) - 1)]
            angle, x, y = np.arctan2(by - ay, bx - ax), ax / self.ground.side, ay / self.ground.side
        log_aspect = np.log(TRIANGULAR_ASPECT) + u[4] * (3.0 * u[5] - 1.2)
        skew = 0.5 + u[4] * (u[6] - 0.5)
        return np.array([angle, log_aspect, skew, self._density(u[7]), x, y])

    def _near(self) -> FloatArray:
        """Near one of the best, in some of its numbers."""
        u = self.rng.random(9)
        good = self.best[int(min(len(self.best), NEAR) * u[0] ** 2)].numbers
        step = 10.0 ** (-DECADES * u[1]) * SPREAD * self.rng.standard_normal(6)
        numbers = np.where(u[2:8] < 0.5, good + step, good)
        numbers[1] = np.clip(numbers[1], -1.5, 2.0)
        if u[8] < 0.5:
            numbers[3] = self._density(self.rng.random())
        return np.asarray(numbers)

    def _density(self, u: float) -> float:
        """Most lattices have no surplus if they can."""
        if self.exact or u >= WITH_SURPLUS:
            return 1.0
        return 1.0 + DENSEST * u / WITH_SURPLUS
