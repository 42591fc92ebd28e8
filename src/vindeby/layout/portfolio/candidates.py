"""The layouts that a portfolio goes on with, its budget, and the curve of the best layout over the budget.

One *evaluation* is the energy of one whole layout in all wind states of the problem. Other work is counted in the
same unit, by rules that do not depend on the machine (``starts``), so that a budget in evaluations makes the same
decisions everywhere. A budget in seconds is the CPU time of the process, or, of searches that run together, that of the
search and its share of the batches; how much of a kind of work fits follows from what it took before, or, the first
time, from how long one evaluation took.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.layout.climbing.simplified_farm import thinned
from vindeby.layout.method import Method, Search
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.wake.gathering import gathering_of_thread, search_seconds

KEPT, BEST = 12, 3
"""So many are kept, and so many of them refined."""
SAME = 2e-6
"""Layouts that are worth as much, but for this share, are taken to be the same."""
NEAR = 0.001
"""Layouts no further below the best than this are climbed from again."""
DIRECTIONS, SPEEDS = 60, 5
"""Of the few wind states."""
POINTS = 64
"""Points of a curve in a result, of whatever length the search was: records of one shape share a table."""


class Candidate(NamedTuple):
    """A feasible layout, what it is worth, its energy, from which start it came, and which of all starts that was."""

    worth: float
    aep_gwh: float
    layout: Layout
    start: str
    number: int


class Candidates:
    """The best layouts of a round, one of each start that was made; the best of all rounds, and its curve."""

    def __init__(self, problem: LayoutProblem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.best: list[Candidate] = []
        self.first: Candidate | None = None
        """The best of all rounds."""
        self.climbs_lead_up: bool | None = None
        """Whether there is a gradient, and the energy rises along it; None before the first climb."""
        self._curve: list[tuple[float, float, float]] = []

    def judged(self, layout: Layout) -> tuple[float, float]:
        """What a layout is worth, and its energy in all wind states (GWh), at the cost of one evaluation."""
        self.budget.begin()
        aep_gwh = self.problem.aep(layout)
        worth = self.problem.worth(layout, aep_gwh)
        self.budget.end("evaluation", 1, 1.0)
        return worth, aep_gwh

    def take(self, candidate: Candidate) -> None:
        """Keep a layout if it keeps to the rules and is better than what came from the same start."""
        former = next((one for one in self.best if one.number == candidate.number), None)
        if former is None or candidate.worth > former.worth:
            if not self.problem.is_feasible(candidate.layout):
                return
            others = [one for one in self.best if one is not former]
            self.best = sorted([*others, candidate], key=lambda one: -one.worth)[:KEPT]
        if self.first is None or self.best[0].worth > self.first.worth:
            self.first = self.best[0]
        self.note()

    def leave_out(self, moved: Sequence[float]) -> None:
        """Go on without what is worth as much as one of these, and therefore the same layout."""
        self.best = [
            one for one in self.best if all(abs(one.worth - worth) > SAME * abs(worth) for worth in moved)
        ]

    def go_on_with_first(self) -> Candidate:
        """Go on with the best of all rounds."""
        assert self.first is not None
        self.best = [self.first]
        return self.first

    def note(self) -> None:
        """Add what is known now to the curve; while nothing better is found, its last point moves on."""
        assert self.first is not None
        if [aep for _, _, aep in self._curve[-2:]] == [self.first.aep_gwh] * 2:
            self._curve.pop()
        self._curve.append((self.budget.seconds, self.budget.evaluations, self.first.aep_gwh))

    def curve(self) -> Mapping[str, FloatArray]:
        """``curve_seconds``, ``curve_evaluations`` and ``curve_aep_gwh``, ``POINTS`` each.

        Of more points some are left out, never the first and the last; with fewer the last is repeated.
        """
        count = len(self._curve)
        chosen = np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.int64)
        chosen[-2:] = chosen[-2:].clip(min=count - 2)  # where the best was found, and the end
        chosen = np.append(chosen, np.full(POINTS - len(chosen), count - 1))
        seconds, evaluations, aep = np.array(self._curve)[chosen].T.copy()
        return {"curve_seconds": seconds, "curve_evaluations": evaluations, "curve_aep_gwh": aep}

    def near_best(self) -> list[Candidate]:
        """The best few, but for those that are not near the best of all."""
        most = self.best[0].worth  # which may be negative
        return [one for one in self.best[:BEST] if one.worth >= most - NEAR * abs(most)]


class Tools:
    """Searches that are prepared when they are first wanted, and then for all seeds of a problem."""

    def __init__(self, problem: LayoutProblem) -> None:
        self.problem = problem
        self.quick = thinned(problem, DIRECTIONS, SPEEDS) or problem
        """The problem in few wind states; itself, where it has no more or none can be left out."""
        self.share = len(self.quick.farm.states.speed) / len(problem.farm.states.speed)
        """So many of its wind states these are."""
        self._prepared = cache(lambda method, problem: method.prepare(problem))
        self._one_prepares = threading.Lock()

    def search(self, method: Method, *, quick: bool = False) -> Search:
        """The search of a method, in few wind states if it is to be quick."""
        with self._one_prepares:  # searches that run together have the same farms
            search: Search = self._prepared(method, self.quick if quick else self.problem)
        return search


class Budget:
    """``seconds`` or ``evaluations``, one of them; counted from when it is made."""

    def __init__(
        self,
        seconds: float | None = None,
        evaluations: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._is_timed, self._whole = seconds is not None, float(seconds or evaluations or 0.0)
        if clock is None:
            clock = time.process_time if gathering_of_thread() is None else search_seconds
        self._clock = clock
        self._began = clock()
        self.evaluations = 0.0
        """Spent so far."""
        self._cost: dict[str, float] = {}
        self._kind_began = self._began

    @property
    def seconds(self) -> float:
        """CPU seconds spent so far."""
        return self._clock() - self._began

    @property
    def _spent(self) -> float:
        return self.seconds if self._is_timed else self.evaluations

    @property
    def used(self) -> float:
        """The share that is spent, 0 to 1 or a little more."""
        return self._spent / self._whole

    def pieces(self, kind: str, evaluations: float, until: float) -> int:
        """How many pieces of a kind of work fit until a share is spent.

        ``evaluations`` is what a piece costs by the rules; only a budget in seconds asks what it did cost.
        """
        each, left = self._cost_of(kind, evaluations), until * self._whole - self._spent
        return max(0, int(left / each)) if each > 0.0 else int(left > 0.0)

    def share(self, kind: str, evaluations: float) -> float:
        """The share of the budget that a piece of a kind of work takes."""
        return self._cost_of(kind, evaluations) / self._whole

    def _cost_of(self, kind: str, evaluations: float) -> float:
        if not self._is_timed:
            return evaluations
        return self._cost.get(kind, evaluations * self._cost.get("evaluation", 0.0))

    def begin(self) -> None:
        """Work of some kind begins."""
        self._kind_began = self._clock()

    def end(self, kind: str, pieces: float, evaluations: float) -> None:
        """It has ended: so many pieces, which are so many evaluations together."""
        self.evaluations += evaluations
        if pieces > 0:
            self._cost[kind] = (self._clock() - self._kind_began) / pieces
