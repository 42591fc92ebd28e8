"""What a portfolio may spend, in CPU seconds or in evaluations, and what each kind of work has cost so far.

One *evaluation* is the energy of one whole layout in all wind states of the problem. Other work is counted in the
same unit, by rules that do not depend on the machine (``work``), so that a budget in evaluations makes the same
decisions everywhere. A budget in seconds is the CPU time of the process; how much of a kind of work fits is told from
what it took before, or, the first time, from how long one evaluation took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final


@final
class Budget:
    """``seconds`` or ``evaluations``, one of them; counted from when it is made."""

    def __init__(
        self,
        seconds: float | None = None,
        evaluations: float | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._seconds, self._evaluations = seconds, evaluations
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
    def used(self) -> float:
        """The share that is spent, 0 to 1 or a little more."""
        if self._seconds is not None:
            return self.seconds / self._seconds
        assert self._evaluations is not None
        return self.evaluations / self._evaluations

    def pieces(self, kind: str, evaluations: float, until: float) -> int:
        """How many pieces of a kind of work fit until a share is spent.

        ``evaluations`` is what a piece costs by the rules; only a budget in seconds asks what it did cost.
        """
        if self._seconds is None:
            assert self._evaluations is not None
            return max(0, int((until * self._evaluations - self.evaluations) / evaluations))
        each = self._seconds_of(kind, evaluations)
        left = until * self._seconds - self.seconds
        return max(0, int(left / each)) if each > 0.0 else int(left > 0.0)

    def share(self, kind: str, evaluations: float) -> float:
        """The share of the budget that a piece of a kind of work takes."""
        if self._seconds is None:
            assert self._evaluations is not None
            return evaluations / self._evaluations
        return self._seconds_of(kind, evaluations) / self._seconds

    def _seconds_of(self, kind: str, evaluations: float) -> float:
        return self._cost.get(kind, evaluations * self._cost.get("evaluation", 0.0))

    def begin(self) -> None:
        """Work of some kind begins."""
        self._kind_began = self._clock()

    def end(self, kind: str, pieces: float, evaluations: float) -> None:
        """It has ended: so many pieces, which are so many evaluations together."""
        self.evaluations += evaluations
        if pieces > 0:
            self._cost[kind] = (self._clock() - self._kind_began) / pieces
