"""How lattices are compared: by the quick judge where it holds, otherwise by evaluations; and which points stay empty.

**Evaluations.** A lattice has long straight lines of turbines, and a search would soon find one whose lines lie
between the directions of any fixed choice. So the directions of a fine rose are divided into several parts,
neighbours into different ones, and each part stands for the whole rose. A lattice is first evaluated in one of them,
the parts taking turns; a poor one is rejected by that, and all others are evaluated in all directions.

**Surplus points.** Where a lattice has more points than there are turbines, the turbines are removed whose removal
costs least, as the quick judge knows it; by evaluations, those that make least. With ``rows`` only turbines at the ends
of rows are removed, so that no row has a gap that the area does not have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.climbing.simplified_farm import with_wind
from vindeby.layout.lattices.points import Points
from vindeby.layout.lattices.quick_judge import QuickJudge, can_judge_quickly
from vindeby.layout.placing.construction import JudgesPoints
from vindeby.layout.problem import Layout, Problem
from vindeby.wake import WindStates

MOST_DIRECTIONS = 90
"""As many are evaluated at once; more are divided into parts."""


def parts_of(problem: Problem) -> list[Problem]:
    """The problem with a part of the wind directions each; itself alone, where these are few or another tool's."""
    farm = problem.farm
    many = 1 if isinstance(farm, JudgesPoints) else -(-len(farm.states.direction) // MOST_DIRECTIONS)
    if many == 1:
        return [problem]
    parts = (part_of_directions(farm.states, many, part) for part in range(many))
    return [replace(problem, farm=with_wind(farm, states, farm.model)) for states in parts]


def part_of_directions(states: WindStates, parts: int, part: int) -> WindStates:
    """One direction of each group of ``parts`` next to each other, as probable as the whole group."""
    order = np.argsort(states.direction, kind="stable")
    total = np.add.reduceat(states.probability, states.first[:-1])[order]
    chosen = order[part::parts]
    groups = np.add.reduceat(total, np.arange(0, len(order), parts))
    lengths = np.diff(states.first)[chosen]
    if len(chosen) < len(groups):  # the last group is not whole: its probability goes to the one before
        groups[-2] += groups[-1]
        groups = groups[:-1]
    own = total[part::parts]
    factor = np.divide(groups, own, out=np.zeros_like(groups), where=own > 0.0)
    index = np.concatenate([np.arange(states.first[d], states.first[d + 1]) for d in chosen])
    series = states.step is not None
    return WindStates(
        states.direction[chosen],
        np.append(0, np.cumsum(lengths)),
        states.speed[index],
        states.probability[index] * np.repeat(factor, lengths),
        states.turbulence[index],
        (len(index),) if series else (len(chosen), len(index) // len(chosen)),
        np.arange(len(index)) if series else None,
    )


def on_points(problem: Problem, points: Points, origin: FloatArray) -> Layout:
    """Turbines on points, row by row, the types in their order."""
    return Layout(points.x + origin[0], points.y + origin[1], problem.types_in_order())


@final
class ExactJudge:
    """Evaluates lattices; positions relative to ``origin``."""

    shape_energies = None
    """What shapes of lattices are worth, wherever they are, is not known."""

    def __init__(self, problem: Problem, origin: FloatArray) -> None:
        self.problem, self.origin, self.parts = problem, origin, parts_of(problem)
        self.evaluations = 0.0
        """Of all wind states, so far."""
        self._looks = 0

    def energy(self, points: Points, least: float = 0.0) -> float:
        """The AEP (GWh); of a lattice that is below ``least`` in a part of the directions, a guess by that part."""
        layout = on_points(self.problem, points, self.origin)
        self._looks += 1
        if len(self.parts) > 1 and least > 0.0:
            self.evaluations += 1.0 / len(self.parts)
            guess = self.parts[self._looks % len(self.parts)].aep(layout)
            if guess < least:
                return guess
        self.evaluations += 1.0
        return self.problem.aep(layout)

    def losses(self, points: Points) -> FloatArray:
        """What each turbine makes itself (GWh), all of the type there is most of, and what stands of the farm."""
        self.evaluations += 1.0 / len(self.parts)
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


def row_ends(points: Points) -> npt.NDArray[np.bool_]:
    """Whether each point is the first or the last of its row in its zone."""
    ends = np.zeros(len(points.x), np.bool_)
    order = np.lexsort((points.column, points.row, points.zone))
    zone, row = points.zone[order], points.row[order]
    changes = (zone[1:] != zone[:-1]) | (row[1:] != row[:-1])
    ends[order] = np.append(True, changes) | np.append(changes, True)
    return ends
