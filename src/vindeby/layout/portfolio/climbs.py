"""The climbs of a portfolio: turbines of a candidate along the gradient, for as many iterations as fit the budget."""

from __future__ import annotations

from typing import final

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.portfolio.candidates import Candidate, Candidates, Tools
from vindeby.layout.portfolio.work import GRADIENT

__all__ = ["LAST", "Climbs"]

PER_ITERATION = 1.4
"""Gradients for each iteration of a climb, about: line searches, and the climb from the start itself."""
LEAST_WIDE = 16
"""Climbs of fewer iterations have no stages with wide wakes."""
LAST = 32
"""Iterations of a climb after moves."""
GAIN = 1e-7
"""Climbing ends when a part of it gains less than this share of the energy."""


@final
class Climbs:
    """What they reach is taken among the candidates."""

    def __init__(self, tools: Tools, found: Candidates) -> None:
        self.tools, self.found, self.budget = tools, found, found.budget
        self._has_gradient = True

    def climb(self, candidate: Candidate, iterations: int, widening: float, until: float) -> Candidate:
        """Climb as often as fits until a share of the budget is spent, in powers of two; what it came to."""
        fitting = min(iterations, self.budget.pieces("iteration", PER_ITERATION * GRADIENT, until))
        if fitting < 1 or not self._has_gradient:
            return candidate
        count = 1 << (fitting.bit_length() - 1)
        method = Gradient(count, widening if count >= LEAST_WIDE else 1.0)
        self.budget.begin()
        try:
            found = self.tools.search(method)(0, candidate.layout)
        except (ArgumentError, TaskError):  # a model or an engine that has no gradient
            self._has_gradient = False
            return candidate
        self.budget.end("iteration", min(count, found.evaluations), GRADIENT * found.evaluations)
        climbed = candidate._replace(aep_gwh=found.aep_gwh, layout=found.layout)
        self.found.take(climbed)
        return climbed

    def climb_on(self) -> None:
        """Climb from the best with the true wakes, as long as it pays."""
        while self.budget.used < 1.0:
            before = self.found.best[0].aep_gwh
            self.climb(self.found.best[0], LAST, 1.0, 1.0)
            if self.found.best[0].aep_gwh <= before * (1.0 + GAIN):
                break
