"""Who says what a lattice is worth while many are compared: a quick judge where it can, else evaluations.

By evaluations, poor lattices are told by a part of the wind directions; the others are evaluated with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import ceil
from typing import Protocol, final

import numpy as np

from vindeby.layout.arrays import FloatArray
from vindeby.layout.lattices.judging import opposite, parts_of
from vindeby.layout.lattices.points import Points
from vindeby.layout.lattices.quick_judge import QuickJudge, can_judge_quickly
from vindeby.layout.problem import Layout, Problem


class Judge(Protocol):
    """Compares lattices."""

    def anew(self) -> Judge:
        """The same judge, before its first look."""

    @property
    def exact_losses(self) -> bool:
        """Whether ``losses`` are what ``energy`` would say; else they are guesses, and the least should be tried."""

    @property
    def evaluations(self) -> float:
        """The work so far, in evaluations of all wind states."""

    def energy(self, points: Points, least: float = 0.0) -> float:
        """What turbines on all points are worth (GWh); it need not be exact if it is below ``least``."""

    def losses(self, points: Points) -> FloatArray:
        """What all would lose without each turbine (GWh), but for what they have in common."""

    @property
    def shape_energies(self) -> Callable[[FloatArray, float], FloatArray] | None:
        """What shapes of lattices are worth wherever they are, by the side of a cell; None if it cannot tell."""


def judge_for(problem: Problem, origin: FloatArray) -> Judge:
    """The quickest judge there is."""
    return QuickJudge(problem) if can_judge_quickly(problem) else ExactJudge(problem, origin)


def on_points(problem: Problem, points: Points, origin: FloatArray) -> Layout:
    """Turbines on points, row by row, the types in their order."""
    return Layout(points.x + origin[0], points.y + origin[1], problem.types_in_order())


@final
class ExactJudge:
    """Evaluates lattices; positions relative to ``origin``."""

    exact_losses = False
    shape_energies = None

    def __init__(self, problem: Problem, origin: FloatArray) -> None:
        self.problem, self.origin, self.parts = problem, origin, parts_of(problem)
        self.opposite = opposite(self.parts[0])
        # Types are shared out when the points are chosen; until then all are of the one there is most of.
        self.kind = int(np.bincount(problem.types_in_order()).argmax())
        self._wholly = self._in_part = self._looks = 0

    def anew(self) -> ExactJudge:
        """The same judge, before its first look."""
        judge = copy(self)
        judge._wholly = judge._in_part = judge._looks = 0  # noqa: SLF001  it is of this class
        return judge

    @property
    def evaluations(self) -> float:
        """Of all wind states."""
        return self._wholly + ceil(self._in_part / len(self.parts))

    def energy(self, points: Points, least: float = 0.0) -> float:
        """The AEP; of a lattice that is poor in a part of the directions, a guess by that part."""
        if len(points.x) != self.problem.n_turbines:
            return float(self._of_kind(points, self.parts[0]).sum())
        layout = on_points(self.problem, points, self.origin)
        self._looks += 1
        if len(self.parts) > 1 and least > 0.0:
            self._in_part += 1
            guess = self.parts[self._looks % len(self.parts)].aep(layout)
            if guess < least:
                return guess
        self._wholly += 1
        return self.problem.aep(layout)

    def losses(self, points: Points) -> FloatArray:
        """What each turbine makes itself, in the wind and in the opposite wind: what it takes from others there."""
        own = self._of_kind(points, self.parts[0])
        return own if self.opposite is None else own + self._of_kind(points, self.opposite)

    def _of_kind(self, points: Points, problem: Problem) -> FloatArray:
        """The energy of each turbine, all of one kind, and what of the farm stands already."""
        self._in_part += 1
        whole = problem.whole(Layout.of(points.x + self.origin[0], points.y + self.origin[1], self.kind))
        return problem.farm.turbine_aep(whole.x, whole.y, whole.types)
