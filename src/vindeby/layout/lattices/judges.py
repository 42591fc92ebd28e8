"""How lattices are compared: by the quick judge where it holds, otherwise by evaluations; and which points stay empty.

Where a lattice has more points than there are turbines, the turbines are removed whose removal costs least, as the
quick judge knows it; by evaluations, those that make least. With ``rows`` only turbines at the ends of rows are
removed, so that no row has a gap that the area does not have.
"""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.lattices.points import Points
from vindeby.layout.lattices.quick_judge import QuickJudge, can_judge_quickly
from vindeby.layout.problem import Layout, Problem


def on_points(problem: Problem, points: Points, origin: FloatArray) -> Layout:
    """Turbines on points, row by row, the types in their order."""
    return Layout(points.x + origin[0], points.y + origin[1], problem.types_in_order())


@final
class ExactJudge:
    """Evaluates lattices; positions relative to ``origin``."""

    shape_energies = None
    """What shapes of lattices are worth, wherever they are, is not known."""

    def __init__(self, problem: Problem, origin: FloatArray) -> None:
        self.problem, self.origin = problem, origin
        self.evaluations = 0.0
        """Of all wind states, so far."""

    def energy(self, points: Points) -> float:
        """The AEP (GWh)."""
        self.evaluations += 1
        return self.problem.aep(on_points(self.problem, points, self.origin))

    def losses(self, points: Points) -> FloatArray:
        """What each turbine makes itself (GWh), all of the type there is most of, and what stands of the farm."""
        self.evaluations += 1
        kind = int(np.bincount(self.problem.types_in_order()).argmax())
        whole = self.problem.whole(Layout.of(points.x + self.origin[0], points.y + self.origin[1], kind))
        return self.problem.farm.turbine_aep(whole.x, whole.y, whole.types)


Judge = QuickJudge | ExactJudge


def judge_for(problem: Problem, origin: FloatArray) -> Judge:
    """The quickest judge there is."""
    return QuickJudge(problem) if can_judge_quickly(problem) else ExactJudge(problem, origin)


@final
class Dropping:
    """Takes surplus turbines away until each zone has as many as it needs."""

    def __init__(self, judge: Judge, needed: IntArray, *, rows: bool) -> None:
        self.judge, self.needed, self.rows = judge, needed, rows

    def down_to_count(self, points: Points) -> Points:
        """As many points in each zone as turbines."""
        while True:
            surplus = np.bincount(points.zone, minlength=len(self.needed)) - self.needed
            if not surplus.any():
                return points
            points = points.at(np.flatnonzero(~self._chosen(points, surplus)))

    def _chosen(self, points: Points, surplus: IntArray) -> npt.NDArray[np.bool_]:
        """Points that go, no two of them next to each other."""
        open_to = surplus[points.zone] > 0
        if self.rows:
            open_to &= row_ends(points)
        candidates = np.flatnonzero(open_to)
        losses = self.judge.losses(points)
        candidates = candidates[np.argsort(losses[candidates], kind="stable")]
        goes = np.zeros(len(points.x), np.bool_)
        for c in candidates:
            near = (abs(points.row - points.row[c]) <= 1) & (abs(points.column - points.column[c]) <= 1)
            if surplus[points.zone[c]] > 0 and not (goes & near).any():
                goes[c] = True
                surplus[points.zone[c]] -= 1
        return goes


def row_ends(points: Points) -> npt.NDArray[np.bool_]:
    """Whether each point is the first or the last of its row in its zone."""
    ends = np.zeros(len(points.x), np.bool_)
    order = np.lexsort((points.column, points.row, points.zone))
    zone, row = points.zone[order], points.row[order]
    changes = (zone[1:] != zone[:-1]) | (row[1:] != row[:-1])
    ends[order] = np.append(True, changes) | np.append(changes, True)
    return ends
