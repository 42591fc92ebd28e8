"""Which points of a lattice stay empty, where it has more of them than there are turbines.

One after the other, the turbine is taken away whose removal costs least: what it makes itself, less what the
others gain. What it makes in the wind and in the opposite wind together tells both (``judging.opposite``) of
all turbines from two evaluations. While a search compares lattices, several are taken away at a time; for the few
that are looked at closely, the best of these guesses are tried.

With ``rows`` only turbines at the ends of rows are taken away, so that no row has a gap that the area does not have.
"""

from __future__ import annotations

from math import ceil
from typing import final

import numpy as np
import numpy.typing as npt

from vindeby.layout.lattices.judging import opposite
from vindeby.layout.lattices.points import Points
from vindeby.layout.problem import FloatArray, IntArray, Layout, Problem

__all__ = ["Dropping", "row_ends"]

ROUNDS = 3
"""While lattices are compared, all surplus goes in so many rounds."""
TRIED = 8
"""Of the cheapest to remove by estimate, so many are tried, where a lattice is looked at closely."""


@final
class Dropping:
    """Takes surplus turbines away, judged by ``problem`` (with few wind states); positions relative to ``origin``."""

    def __init__(self, problem: Problem, needed: IntArray, origin: FloatArray, *, rows: bool) -> None:
        self.problem, self.needed, self.origin, self.rows = problem, needed, origin, rows
        self.opposite = opposite(problem)
        # Types are shared out when the points are chosen; until then all are of the one there is most of.
        self.kind = int(np.bincount(problem.types_in_order()).argmax())
        self.evaluations = 0

    def down_to_count(self, points: Points, *, closely: bool) -> Points:
        """As many points in each zone as turbines; ``closely``: one by one, with trials."""
        while True:
            surplus = np.bincount(points.zone, minlength=len(self.needed)) - self.needed
            if not surplus.any():
                return points
            at_once = 1 if closely else ceil(surplus.sum() / ROUNDS)
            points = points.at(np.flatnonzero(~self._chosen(points, surplus, at_once, closely=closely)))

    def _chosen(
        self, points: Points, surplus: IntArray, at_once: int, *, closely: bool
    ) -> npt.NDArray[np.bool_]:
        """Up to so many points that go, no two of them next to each other."""
        open_to = surplus[points.zone] > 0
        if self.rows:
            open_to &= row_ends(points)
        candidates = np.flatnonzero(open_to)
        worth = self._worth(points)
        candidates = candidates[np.argsort(worth[candidates], kind="stable")]
        if closely:
            candidates = candidates[:TRIED]
            left = [self._energy(np.delete(points.x, c), np.delete(points.y, c)).sum() for c in candidates]
            candidates = candidates[np.argmax(left)][None]
        goes = np.zeros(len(points.x), np.bool_)
        for c in candidates:
            near = (abs(points.row - points.row[c]) <= 1) & (abs(points.column - points.column[c]) <= 1)
            if surplus[points.zone[c]] > 0 and not (goes & near).any():
                goes[c] = True
                surplus[points.zone[c]] -= 1
                at_once -= 1
                if at_once == 0:
                    break
        return goes

    def _worth(self, points: Points) -> FloatArray:
        """What the farm would lose without each turbine (GWh), but for what all have in common."""
        own = self._energy(points.x, points.y)
        if self.opposite is None:
            return own
        return own + self._energy(points.x, points.y, self.opposite)

    def _energy(self, x: FloatArray, y: FloatArray, problem: Problem | None = None) -> FloatArray:
        """The energy of each turbine, and what of the farm stands already."""
        self.evaluations += 1
        problem = problem or self.problem
        whole = problem.whole(Layout.of(x + self.origin[0], y + self.origin[1], self.kind))
        return problem.farm.turbine_aep(whole.x, whole.y, whole.types)


def row_ends(points: Points) -> npt.NDArray[np.bool_]:
    """Whether each point is the first or the last of its row in its zone."""
    ends = np.zeros(len(points.x), np.bool_)
    order = np.lexsort((points.column, points.row, points.zone))
    zone, row = points.zone[order], points.row[order]
    changes = (zone[1:] != zone[:-1]) | (row[1:] != row[:-1])
    ends[order] = np.append(True, changes) | np.append(changes, True)
    return ends
