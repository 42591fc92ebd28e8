"""The climbs of a portfolio: turbines of a candidate along the gradient, for as many iterations as fit the budget.

On a fine rose, which of two layouts is the better one is nearly told by climbs in few wind states, at a third of the
cost or less. So the race climbs in these; what counts is what a layout is worth in all of them.
"""

from __future__ import annotations

from typing import final

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.method import Result
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.portfolio.candidates import Candidate, Candidates, Tools
from vindeby.layout.portfolio.work import GRADIENT

PER_ITERATION = 1.4
"""Gradients for each iteration of a climb, about: line searches, and the climb from the start itself."""
LEAST_WIDE = 16
"""Climbs of fewer iterations have no stages with wide wakes."""
LEAST_TOLD = 16
"""Climbs of fewer iterations do not tell which of two starts is the better one."""
LAST = 32
"""Iterations of a climb after moves."""
GAIN = 1e-7
"""Climbing ends when a part of it gains less than this share of the energy."""


@final
class Climbs:
    """What they reach is taken among the candidates; if they are ``quick`` they are made in few wind states."""

    def __init__(self, tools: Tools, found: Candidates, *, quick: bool = False) -> None:
        self.tools, self.found, self.budget = tools, found, found.budget
        self._quick = quick and tools.quick is not tools.problem
        self._kind = "quick iteration" if self._quick else "iteration"
        self._work = GRADIENT * (tools.share if self._quick else 1.0)
        self._has_gradient = True

    def climb(self, candidate: Candidate, iterations: int, widening: float, until: float) -> Candidate:
        """Climb as often as fits until a share of the budget is spent, in powers of two; what it came to."""
        fitting = min(iterations, self.budget.pieces(self._kind, PER_ITERATION * self._work, until))
        if fitting < 1 or not self._has_gradient:
            return candidate
        count = 1 << (fitting.bit_length() - 1)
        method = Gradient(count, widening if count >= LEAST_WIDE else 1.0)
        self.budget.begin()
        try:
            found = self.tools.search(method, quick=self._quick)(0, candidate.layout)
        except (ArgumentError, TaskError):  # a model or an engine that has no gradient
            self._has_gradient = False
            return candidate
        self.budget.end(self._kind, min(count, found.evaluations), self._work * found.evaluations)
        climbed = candidate._replace(aep_gwh=self._worth(found), layout=found.layout)
        self.found.take(climbed)
        return climbed

    def _worth(self, found: Result) -> float:
        """The energy in all wind states (GWh)."""
        if not self._quick:
            return found.aep_gwh
        self.budget.begin()
        worth = self.tools.problem.aep(found.layout)
        self.budget.end("evaluation", 1, 1.0)
        return worth

    def is_room(self, until: float) -> bool:
        """Whether there is room until a share of the budget is spent for a climb that tells something."""
        fitting = self.budget.pieces(self._kind, PER_ITERATION * self._work, until)
        return fitting >= LEAST_TOLD or not self._has_gradient

    def climb_on(self, until: float = 1.0) -> None:
        """Climb from the best with the true wakes, as long as it pays and a share of the budget is not spent."""
        while self.budget.used < until:
            before = self.found.best[0].aep_gwh
            self.climb(self.found.best[0], LAST, 1.0, until)
            if self.found.best[0].aep_gwh <= before * (1.0 + GAIN):
                break
