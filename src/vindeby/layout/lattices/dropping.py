"""Which points of a lattice stay empty, where it has more of them than there are turbines.

One after the other, the turbine is taken away whose removal costs least: what it makes itself, less what the
others gain (``Judge.losses``). While a search compares lattices, all surplus goes at once; for the few that are
looked at closely, it goes in rounds, and the best of what are only guesses are tried.

With ``rows`` only turbines at the ends of rows are taken away, so that no row has a gap that the area does not have.
"""

from __future__ import annotations

from math import ceil
from typing import final

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import IntArray
from vindeby.layout.lattices.judges import Judge
from vindeby.layout.lattices.points import Points

ROUNDS, CLOSE_ROUNDS = 1, 12
"""In how many rounds the surplus goes while lattices are compared; and at most, where one is looked at closely."""
TRIED = 8
"""Of the cheapest to remove by a guess, so many are tried, where a lattice is looked at closely."""


@final
class Dropping:
    """Takes surplus turbines away until each zone has as many as it needs."""

    def __init__(self, judge: Judge, needed: IntArray, *, rows: bool) -> None:
        self.judge, self.needed, self.rows = judge, needed, rows

    def down_to_count(self, points: Points, *, closely: bool) -> Points:
        """As many points in each zone as turbines; ``closely``: in several rounds."""
        while True:
            surplus = np.bincount(points.zone, minlength=len(self.needed)) - self.needed
            if not surplus.any():
                return points
            at_once = ceil(surplus.sum() / (CLOSE_ROUNDS if closely else ROUNDS))
            points = points.at(np.flatnonzero(~self._chosen(points, surplus, at_once, closely=closely)))

    def _chosen(
        self, points: Points, surplus: IntArray, at_once: int, *, closely: bool
    ) -> npt.NDArray[np.bool_]:
        """Up to so many points that go, no two of them next to each other."""
        open_to = surplus[points.zone] > 0
        if self.rows:
            open_to &= row_ends(points)
        candidates = np.flatnonzero(open_to)
        losses = self.judge.losses(points)
        candidates = candidates[np.argsort(losses[candidates], kind="stable")]
        if closely and not self.judge.exact_losses:
            candidates = candidates[: TRIED + at_once]
            left = [self.judge.energy(points.without(int(c))) for c in candidates]
            candidates = candidates[np.argsort(left, kind="stable")[::-1]]
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


def row_ends(points: Points) -> npt.NDArray[np.bool_]:
    """Whether each point is the first or the last of its row in its zone."""
    ends = np.zeros(len(points.x), np.bool_)
    order = np.lexsort((points.column, points.row, points.zone))
    zone, row = points.zone[order], points.row[order]
    changes = (zone[1:] != zone[:-1]) | (row[1:] != row[:-1])
    ends[order] = np.append(True, changes) | np.append(changes, True)
    return ends
