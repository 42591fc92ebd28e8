"""What a walk tries: how many moves, how long they are, how hot it is; and the moves themselves, drawn by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from vindeby.layout.arrays import FloatArray
from vindeby.layout.problem import Layout, Problem

BATCH = 4096
"""Draws made at a time; between two batches, sums that are carried on from move to move may be made anew."""


@dataclass(frozen=True)
class Walk:
    """How to walk: ``budget`` evaluations, moves of up to ``longest_m``.

    The lengths of a share ``even`` of the moves are drawn evenly; the others go down to ``decades`` powers of
    ten below the longest, each scale alike. Temperatures, ``hot`` at first and ``cold`` at the end, are fractions of
    the mean energy of a turbine of the start; with ``of_losses``, of what wakes take from that.
    """

    budget: int
    longest_m: float
    even: float
    decades: float
    hot: float = 0.0
    cold: float = 0.0
    of_losses: bool = False

    def at(self, problem: Problem, start: Layout) -> Walk:
        """The same walk from a start, its temperatures as fractions of the mean energy of a turbine."""
        if not self.of_losses:
            return self
        whole = problem.whole(start)
        free = problem.farm.free_aep_at(whole.x, whole.y, whole.types)
        loss = max(0.0, 1.0 - problem.aep(start) / free) if free > 0.0 else 0.0
        return replace(self, hot=loss * self.hot, cold=loss * self.cold, of_losses=False)

    def part(self, begin: float, end: float) -> Walk:
        """The part of a walk from one share of its trials to another: its trials, at their temperatures."""
        if (begin, end) == (0.0, 1.0):
            return self
        ratio = self.cold / self.hot if self.hot > 0.0 else 1.0
        budget = round(self.budget * end) - round(self.budget * begin)
        return replace(self, budget=budget, hot=self.hot * ratio**begin, cold=self.hot * ratio**end)


def draws(many: int, seed: int, how: Walk) -> Callable[[], FloatArray]:
    """Batches of moves: turbine, how far to the east and to the north, and what chance allows.

    A batch is overwritten by the next one.
    """
    rng = np.random.default_rng(seed)
    u, moves = np.empty((5, BATCH)), np.empty((BATCH, 4))

    def draw() -> FloatArray:
        rng.random(out=u)
        length = np.where(u[3] < how.even, u[2], 10.0 ** (-how.decades * u[2]))
        length *= how.longest_m
        angle = 2.0 * pi * u[1]
        np.floor(u[0] * many, out=moves[:, 0])
        np.multiply(length, np.cos(angle), out=moves[:, 1])
        np.multiply(length, np.sin(angle), out=moves[:, 2])
        np.log(1.0 - u[4], out=moves[:, 3])
        return moves

    return draw
