"""How lattices are compared: by the quick judge where it holds, otherwise by evaluations; and which points stay empty.

**Evaluations.** A lattice has long straight lines of turbines, and a search would soon find one whose lines lie
between the directions of any fixed choice. So some of the directions of a fine rose stand for all, in several parts
that have no direction in common. A lattice is first evaluated in one of them, the parts taking turns; a poor one is
rejected by that, and all others are evaluated in all directions.

**Surplus points.** Where a lattice has more points than there are turbines, the turbines are removed whose removal
costs least, as the quick judge knows it; by evaluations, those that make least. With ``rows`` only turbines at the ends
of rows are removed, so that no row has a gap that the area does not have.
"""

from __future__ import annotations

import numpy as np

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.layout.climbing.simplified_farm import thinned
from vindeby.layout.lattices.points import Points
from vindeby.layout.lattices.quick_judge import QuickJudge, can_judge_quickly
from vindeby.layout.problem import Layout, Problem

PARTS, PART_DIRECTIONS = 4, 90
"""At most so many parts are made, of at least so many directions each."""


def parts_of(problem: Problem) -> list[Problem]:
    """The problem in other wind directions each time; itself alone, where these are few or another tool's."""
    speeds = len(problem.farm.states.speed)
    parts = (thinned(problem, PART_DIRECTIONS, speeds, offset) for offset in range(PARTS))
    different = {part.farm.states.direction[0]: part for part in parts if part is not None}
    return [*different.values()] or [problem]


def look_work(parts: list[Problem], problem: Problem) -> float:
    """What it takes to evaluate a lattice in one part, in evaluations: all parts have equally many wind states."""
    return len(parts[0].farm.states.speed) / len(problem.farm.states.speed)


def on_points(problem: Problem, points: Points, origin: FloatArray) -> Layout:
    """Turbines on points, row by row, the types in their order."""
    return Layout(points.x + origin[0], points.y + origin[1], problem.types_in_order())


class ExactJudge:
    """Evaluates lattices; positions relative to ``origin``."""

    shape_energies = None
    """What shapes of lattices are worth, wherever they are, is not known."""

    def __init__(self, problem: Problem, origin: FloatArray) -> None:
        self.problem, self.origin, self.parts = problem, origin, parts_of(problem)
        self.evaluations = 0.0
        """Of all wind states, so far."""
        self._looks, self._look = 0, look_work(self.parts, problem)

    def energy(self, points: Points, least: float = 0.0) -> float:
        """The AEP (GWh); of a lattice that is below ``least`` in a part of the directions, a guess by that part."""
        layout = on_points(self.problem, points, self.origin)
        self._looks += 1
        if len(self.parts) > 1 and least > 0.0:
            self.evaluations += self._look
            guess = self.parts[self._looks % len(self.parts)].aep(layout)
            if guess < least:
                return guess
        self.evaluations += 1.0
        return self.problem.aep(layout)

    def losses(self, points: Points) -> FloatArray:
        """What each turbine makes itself (GWh), all of the type there is most of, and what stands of the farm."""
        self.evaluations += self._look
        kind = int(np.bincount(self.problem.types_in_order()).argmax())
        whole = self.problem.whole(Layout.of(points.x + self.origin[0], points.y + self.origin[1], kind))
        return self.parts[0].farm.turbine_aep(whole.x, whole.y, whole.types)


Judge = QuickJudge | ExactJudge


def judge_for(problem: Problem, origin: FloatArray) -> Judge:
    """The quickest judge there is."""
    return QuickJudge(problem) if can_judge_quickly(problem) else ExactJudge(problem, origin)


def drop_surplus(judge: Judge, needed: IntArray, points: Points, *, rows: bool) -> Points:
    """Points without surplus turbines: each zone has as many as it needs."""
    while True:
        surplus = np.bincount(points.zone, minlength=len(needed)) - needed
        if not surplus.any():
            return points
        open_to = surplus[points.zone] > 0
        if rows:
            open_to &= row_ends(points)
        candidates, losses = np.flatnonzero(open_to), judge.losses(points)
        goes = np.zeros(len(points.x), np.bool_)
        for c in candidates[np.argsort(losses[candidates], kind="stable")]:
            # No two of them are next to each other.
            near = (abs(points.row - points.row[c]) <= 1) & (abs(points.column - points.column[c]) <= 1)
            if surplus[points.zone[c]] > 0 and not (goes & near).any():
                goes[c] = True
                surplus[points.zone[c]] -= 1
        points = points.at(np.flatnonzero(~goes))


def row_ends(points: Points) -> BoolArray:
    """Whether each point is the first or the last of its row in its zone."""
    ends = np.zeros(len(points.x), np.bool_)
    order = np.lexsort((points.column, points.row, points.zone))
    zone, row = points.zone[order], points.row[order]
    changes = (zone[1:] != zone[:-1]) | (row[1:] != row[:-1])
    ends[order] = np.append(True, changes) | np.append(changes, True)
    return ends
