"""What a search that chooses counts has tried: for each count, or mix, the best result."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from vindeby.errors import ArgumentError
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.counting.choice import Choice
from vindeby.layout.method import Method, Pipeline, Result, Search, checked
from vindeby.layout.problem import Problem

Counts = tuple[int, ...]
"""How many turbines of each type."""


@final
class Tries:
    """The best result of each count so far, and which count is best."""

    def __init__(self, problem: Problem, choice: Choice) -> None:
        self.found: dict[Counts, Result] = {}
        self.evaluations = 0
        self._problem, self._choice, self._types = problem, choice, len(problem.farm.turbines)

    def counts(self, types: IntArray) -> Counts:
        """How many turbines there are of each type."""
        return tuple(np.bincount(types, minlength=self._types).tolist())

    def worth(self, counts: Counts) -> float:
        """The objective of the best layout of a count."""
        return self._choice.objective.worth(self.found[counts].aep_gwh, np.array(counts))

    def note(self, result: Result) -> Counts:
        """Take up a result, if it is the best of its count; returns that count."""
        counts = self.counts(result.types)
        self.evaluations += result.evaluations
        if counts not in self.found or result.aep_gwh > self.found[counts].aep_gwh:
            self.found[counts] = result
        return counts

    def best(self) -> Counts:
        """The count with the largest objective; of two alike, that of fewer turbines."""
        return max(self.found, key=lambda counts: (self.worth(counts), -sum(counts), counts))

    def result(self) -> Result:
        """The best of all, by stated energies. Its arrays tell what was tried, in the order of counts.

        ``tried_turbines``, ``tried_aep_gwh``, ``tried_objective``: for each count, of its best layout.
        ``tried_mix``, where a mix is chosen: how many of each type of the farm, (tries, types).
        """
        searched = self.found
        if self._problem.stated is not None:
            self.found = {
                counts: replace(one, aep_gwh=self._problem.stated_aep(one.layout))
                for counts, one in searched.items()
            }
        tried = sorted(self.found, key=lambda counts: (sum(counts), counts))
        best, by_type = searched[self.best()], np.array(tried, np.int64)
        arrays: dict[str, FloatArray | IntArray] = {
            **best.arrays,
            "tried_turbines": by_type.sum(axis=1),
            "tried_aep_gwh": np.array([self.found[counts].aep_gwh for counts in tried]),
            "tried_objective": np.array([self.worth(counts) for counts in tried]),
        }
        if self._choice.mix is not None:
            arrays["tried_mix"] = by_type
        return replace(best, evaluations=self.evaluations, arrays=arrays)


@final
class Prepared:
    """Searches for the problems of single counts, each prepared when it is first asked for."""

    def __init__(self, problem: Problem, steps: tuple[Method, ...]) -> None:
        if problem.choice is None:
            raise ArgumentError(
                f"farm {problem.name}: a search that chooses counts needs a problem with a choice"
            )
        self._problem, self._steps = problem, steps
        self._problems: dict[Counts, Problem] = {}
        self._whole: dict[Counts, Search] = {}
        self._refining: dict[Counts, Search] = {}

    def problem(self, counts: Counts) -> Problem:
        """The problem of so many turbines of each type."""
        if counts not in self._problems:
            self._problems[counts] = self._problem.decided(np.repeat(np.arange(len(counts)), counts))
        return self._problems[counts]

    def construct(self, counts: Counts, seed: int) -> Result:
        """All steps from nothing; TaskError where they find no layout."""
        if counts not in self._whole:
            self._whole[counts] = Pipeline(self._steps).prepare(self.problem(counts))
        return self._whole[counts](seed, None)

    def refine(self, counts: Counts, seed: int, start: Result) -> Result:
        """The steps after the first, from a layout; never worse than that, if it keeps to the rules."""
        if len(self._steps) == 1:
            return start
        if counts not in self._refining:
            self._refining[counts] = checked(self.problem(counts), Pipeline(self._steps[1:]))
        found = self._refining[counts](seed, start.layout)
        keeps = start.aep_gwh >= found.aep_gwh and self.problem(counts).is_feasible(start.layout)
        better = start if keeps else found
        return replace(better, evaluations=found.evaluations + start.evaluations)
