"""The layouts that a portfolio goes on with: the best few, and the curve of the best."""

from __future__ import annotations

from typing import NamedTuple, final

from vindeby.layout.method import Method, Search
from vindeby.layout.portfolio.budget import Budget
from vindeby.layout.portfolio.curve import Curve
from vindeby.layout.problem import Layout, Problem

__all__ = ["Candidate", "Candidates", "Tools"]

BEST = 3
"""So many are kept."""
FAR = 0.004
"""A start whose layouts are all this far below the best has no further turn."""
NEAR = 0.001
"""Layouts no further below the best than this are climbed from again."""


class Candidate(NamedTuple):
    """A feasible layout, what it is worth, from which start it came, and which of all starts that was."""

    aep_gwh: float
    layout: Layout
    start: str
    number: int


@final
class Candidates:
    """The best layouts so far, one of each start that was made."""

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.best: list[Candidate] = []
        self.curve = Curve()

    def take(self, candidate: Candidate) -> None:
        """Keep a layout if it keeps to the rules and is better than what came from the same start."""
        former = next((one for one in self.best if one.number == candidate.number), None)
        if former is None or candidate.aep_gwh > former.aep_gwh:
            if not self.problem.is_feasible(candidate.layout):
                return
            others = [one for one in self.best if one is not former]
            self.best = sorted([*others, candidate], key=lambda one: -one.aep_gwh)[:BEST]
        self.note()

    def note(self) -> None:
        """Add what is known now to the curve."""
        self.curve.add(self.budget.seconds, self.budget.evaluations, self.best[0].aep_gwh)

    def is_far(self, aep_gwh: float) -> bool:
        """Whether a layout is far below the best."""
        return aep_gwh < self.best[0].aep_gwh * (1.0 - FAR)

    def near_best(self) -> list[Candidate]:
        """The best few, but for those that are not near the best of all."""
        return [one for one in self.best if one.aep_gwh >= self.best[0].aep_gwh * (1.0 - NEAR)]


@final
class Tools:
    """Searches that are prepared when they are first wanted, and then for all seeds of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._prepared: dict[Method, Search] = {}

    def search(self, method: Method) -> Search:
        """The search of a method."""
        if method not in self._prepared:
            self._prepared[method] = method.prepare(self.problem)
        return self._prepared[method]
