"""The layouts that a portfolio goes on with: the best few, and the curve of the best."""

from __future__ import annotations

from typing import NamedTuple, final

from vindeby.layout.climbing.thinning import thinned
from vindeby.layout.method import Method, Search
from vindeby.layout.portfolio.budget import Budget
from vindeby.layout.portfolio.curve import Curve
from vindeby.layout.problem import Layout, Problem

BEST = 3
"""So many are kept."""
FAR = 0.004
"""A layout is far below the best if it is this share below."""
NEAR = 0.001
"""Layouts no further below the best than this are climbed from again."""
DIRECTIONS, SPEEDS = 60, 5
"""Of the few wind states."""


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

    def is_far(self, aep_gwh: float, tries: int = 1) -> bool:
        """Whether the best of so many tries is far below the best of all: the more tries, the less it takes."""
        return aep_gwh < self.best[0].aep_gwh * (1.0 - FAR / tries)

    def near_best(self) -> list[Candidate]:
        """The best few, but for those that are not near the best of all."""
        return [one for one in self.best if one.aep_gwh >= self.best[0].aep_gwh * (1.0 - NEAR)]


@final
class Tools:
    """Searches that are prepared when they are first wanted, and then for all seeds of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.quick = thinned(problem, DIRECTIONS, SPEEDS) or problem
        """The problem in few wind states; itself, where it has no more or none can be left out."""
        self.share = len(self.quick.farm.states.speed) / len(problem.farm.states.speed)
        """So many of its wind states these are."""
        self._prepared: dict[tuple[Method, bool], Search] = {}

    def search(self, method: Method, *, quick: bool = False) -> Search:
        """The search of a method, in few wind states if it is to be quick."""
        key = method, quick and self.quick is not self.problem
        if key not in self._prepared:
            self._prepared[key] = method.prepare(self.quick if quick else self.problem)
        return self._prepared[key]
