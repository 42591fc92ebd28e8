"""How many turbines: a search over a range of counts, by small steps from layouts that are good already.

All steps of a pipeline are made for the count in the middle; in a wide range also for its ends, and then between the
best count and its neighbours until they are close. From the best count it goes on in both directions: one turbine less
or one more, refined by the steps after the first, until several counts in a row were no better than the best. It goes
back from there where another count is best now, so that this one was not only refined more often than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.counting.one_more_or_less import with_one_more, without_the_least
from vindeby.layout.counting.tries import Counts, Prepared, Tries
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.problem import Layout, Problem

CLOSE = 4
"""Counts that differ by no more are reached by small steps; ranges up to twice that are searched from their middle."""
PATIENCE = (3, 1, 1)
"""How many counts in a row may be no better, when it goes on from the best for the first, second, third time."""
_STREAM = 0x636F756E
"""Tells its draws from those of steps with the same seed."""


@final
@dataclass(frozen=True)
class CountSearch(Method):
    """Choose the number of turbines that is best by the objective of the problem's ``choice``.

    ``steps`` are those of a pipeline, of which the first needs no start. Counts for which they find no layout
    are passed over. Of the result, ``tried`` has every count that was tried.
    """

    steps: Sequence[Method]

    def __post_init__(self) -> None:
        if not self.steps:
            raise ArgumentError("count-search needs at least one method")

    def prepare(self, problem: Problem) -> Search:
        """What the seeds share is prepared for each count when it is first needed."""
        prepared = Prepared(problem, tuple(self.steps))
        if problem.choice is None or problem.choice.mix is not None:
            raise ArgumentError(f"farm {problem.name}: count-search chooses numbers of turbines, not a mix")

        def run(seed: int, start: Layout | None = None) -> Result:
            return _Walk(problem, prepared, seed).run(start)

        return run


class _Walk:
    """One search: counts of turbines are those of the one type that is to be placed."""

    def __init__(self, problem: Problem, prepared: Prepared, seed: int) -> None:
        assert problem.choice is not None
        self._prepared, self._seed = prepared, seed
        self._low, self._high = problem.choice.turbines
        self._types = len(problem.farm.turbines)
        self._kind = int(problem.types_in_order()[0])
        self._tries = Tries(problem, problem.choice)
        self._failed: dict[int, TaskError] = {}

    def run(self, start: Layout | None) -> Result:
        if start is None:
            self._construct_some()
        else:
            problem = self._prepared.problem(self._tries.counts(start.types))
            self._refined(start, problem.aep(start), 1)
        for patience in PATIENCE:
            best = self._tries.best()
            before = self._tries.found[best]
            for step in (-1, 1):
                self._go_on(sum(best), step, patience)
            if self._tries.found[self._tries.best()] is before:
                break
        return self._tries.result()

    def _construct_some(self) -> None:
        """Make layouts from nothing until the best count is close to others that were tried."""
        low, high = self._low, self._high
        middle = (low + high) // 2
        for many in [middle] if high - low <= 2 * CLOSE else [low, middle, high]:
            self._construct(many)
        if not self._tries.found:
            self._construct(low)
        if not self._tries.found:
            raise self._failed[low]
        if high - low <= 2 * CLOSE:
            return
        while True:
            best = sum(self._tries.best())
            known = sorted({*map(sum, self._tries.found), *self._failed})
            gaps = [(a, b) for a, b in pairwise(known) if best in (a, b) and b - a > CLOSE]
            if not gaps:
                return
            for a, b in gaps:
                self._construct((a + b) // 2)

    def _construct(self, many: int) -> None:
        if many not in self._failed:
            try:
                self._tries.note(self._prepared.construct(self._counts(many), self._seed))
            except TaskError as error:  # so many find no room
                self._failed[many] = error

    def _go_on(self, many: int, step: int, patience: int) -> None:
        """From a count to the next, and the next, until they are no better for some time."""
        poor = 0
        while self._low <= many + step <= self._high and poor < patience:
            most = self._tries.worth(self._tries.best())
            here = self._tries.found[self._counts(many)].layout
            many += step
            problem = self._prepared.problem(self._counts(many))
            if step < 0:
                found, computed = without_the_least(problem, here)
            else:
                rng = np.random.default_rng([_STREAM, self._seed, many])
                more, computed = with_one_more(problem, here, self._kind, rng)
                if more is None:
                    return
                found = more
            self._refined(found, problem.aep(found), computed + 1)
            poor = 0 if self._tries.worth(self._tries.best()) > most else poor + 1

    def _refined(self, layout: Layout, aep_gwh: float, computed: int) -> None:
        counts = self._tries.counts(layout.types)
        self._tries.note(
            self._prepared.refine(counts, self._seed, Result(layout, aep_gwh, "complete", computed))
        )

    def _counts(self, many: int) -> Counts:
        return tuple(many if kind == self._kind else 0 for kind in range(self._types))
