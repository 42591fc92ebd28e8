"""Searches that also choose how many turbines there are (count-search), or how many of each type (mix-search).

**Counts.** All steps of a pipeline are run for the count in the middle; in a wide range also for its ends, and then
between the best count and its neighbours until they are close. From the best count the search goes on in both
directions: one turbine less or one more, refined by the steps after the first, until several counts in a row were no
better than the best. Where another count is the best then, it starts again from there, so that no count wins only
because it was refined more often.

**Mixes.** All steps are run for a few mixes: the problem's own, and for each type the mix with as many of it as are
allowed. In the best of these layouts turbines change their types where the objective gains (``changes``); then the
steps after the first refine it, and so on until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.counting.changes import TypeChanges, remove_least_valuable, with_one_more
from vindeby.layout.counting.choice import Choice
from vindeby.layout.method import Method, Pipeline, Result, Search, checked
from vindeby.layout.problem import Layout, LayoutProblem

Counts = tuple[int, ...]
"""How many turbines of each type."""


Searches = dict[tuple[Counts, int], Search]
"""By counts and the number of steps; each prepared when it is first asked for, and then for all seeds."""


class Tries:
    """The best result of each count so far, and which count is best; ArgumentError for a problem without a choice."""

    def __init__(
        self, problem: LayoutProblem, search: CountSearch | MixSearch, searches: Searches, seed: int
    ) -> None:
        if problem.choice is None:
            raise ArgumentError(
                f"farm {problem.name}: a search that chooses counts needs a problem with a choice"
            )
        self.found: dict[Counts, Result] = {}
        self.objectives: dict[Counts, float] = {}
        self.failed: dict[Counts, TaskError] = {}
        self.evaluations = 0
        self.problem, self.choice, self.seed = problem, problem.choice, seed
        self._steps, self._searches, self._refining = tuple(search.steps), searches, search.refining

    def problem_of(self, counts: Counts) -> LayoutProblem:
        """The problem of so many turbines of each type."""
        return self.problem.decided(np.repeat(np.arange(len(counts)), counts))

    def _search(self, counts: Counts, steps: tuple[Method, ...]) -> Search:
        if (counts, len(steps)) not in self._searches:
            self._searches[counts, len(steps)] = checked(self.problem_of(counts), Pipeline(steps))
        return self._searches[counts, len(steps)]

    def construct(self, counts: Counts) -> None:
        """Try all steps from nothing; what finds no room is noted among the failures and not tried again."""
        if counts not in self.failed:
            try:
                self._note(self._search(counts, self._steps)(self.seed, None))
            except TaskError as error:
                self.failed[counts] = error

    def refine(self, layout: Layout, computed: int = 1, *, first: int | None = None) -> None:
        """Try the steps that refine, or those from ``first`` on; so many energies of the layout were computed before.

        What is taken up is never worse than the layout, if that keeps to the rules.
        """
        counts = self.counts(layout.types)
        problem, steps = self.problem_of(counts), self._steps[self._refining if first is None else first :]
        start = Result(layout, problem.aep(layout), "complete", computed)
        found = self._search(counts, steps)(self.seed, layout) if steps else start
        keeps = _worth(problem, start) >= _worth(problem, found) and problem.is_feasible(layout)
        spent = computed + found.evaluations if steps else computed
        self._note(replace(start if keeps else found, evaluations=spent))

    def counts(self, types: IntArray) -> Counts:
        return tuple(np.bincount(types, minlength=len(self.problem.farm.turbines)).tolist())

    def worth(self, counts: Counts) -> float:
        """The objective of the best layout of a count, the larger the better."""
        sign = 1.0 if self.problem.valuation is None else self.problem.valuation.sign
        return sign * self.objectives[counts]

    def _note(self, result: Result) -> None:
        counts = self.counts(result.types)
        self.evaluations += result.evaluations
        known = self.found.get(counts)
        if known is None or _worth(self.problem, result) > _worth(self.problem, known):
            self.found[counts] = result
            self.objectives[counts] = self.problem.objective(result.layout, result.aep_gwh)

    def best(self) -> Counts:
        """The count with the largest objective; of two alike, that of fewer turbines."""
        return max(self.found, key=lambda counts: (self.worth(counts), -sum(counts), counts))

    def result(self) -> Result:
        """The best of all, by stated energies. Its arrays list what was tried, in the order of counts.

        ``tried_turbines``, ``tried_aep_gwh``, ``tried_objective``: for each count, of its best layout.
        ``tried_mix``, where a mix is chosen: how many of each type of the farm, (tries, types).
        """
        searched = self.found
        if self.problem.stated is not None:
            self.found = {
                counts: replace(one, aep_gwh=self.problem.stated_aep(one.layout))
                for counts, one in searched.items()
            }
            self.objectives = {
                counts: self.problem.objective(one.layout, one.aep_gwh) for counts, one in self.found.items()
            }
        tried = sorted(self.found, key=lambda counts: (sum(counts), counts))
        best, by_type = searched[self.best()], np.array(tried, np.int64)
        arrays: dict[str, FloatArray | IntArray] = {
            **best.arrays,
            "tried_turbines": by_type.sum(axis=1),
            "tried_aep_gwh": np.array([self.found[counts].aep_gwh for counts in tried]),
            "tried_objective": np.array([self.objectives[counts] for counts in tried]),
        }
        if self.choice.mix is not None:
            arrays["tried_mix"] = by_type
        return replace(best, evaluations=self.evaluations, arrays=arrays)


def _worth(problem: LayoutProblem, result: Result) -> float:
    return problem.worth(result.layout, result.aep_gwh)


CLOSE = 4
"""Counts that differ by no more are reached by small steps; ranges up to twice that are searched from their middle."""
PATIENCE = (3, 1, 1)
"""How many counts in a row may be no better, when it goes on from the best for the first, second, third time."""
_COUNT_STREAM = 0x636F756E
"""Tells its draws from those of steps with the same seed."""


@dataclass(frozen=True)
class CountSearch(Method):
    """Choose the number of turbines, of those in the problem's ``choice``, that is best by its ``valuation``.

    ``steps`` are those of a pipeline, of which the first needs no start. Counts for which they find no layout
    are passed over. A layout is refined by the steps from number ``refining`` on, one that is given by all of them. Of
    the result, ``tried`` has every count that was tried.
    """

    steps: Sequence[Method]
    refining: int = 1

    def __post_init__(self) -> None:
        if not self.steps:
            raise ArgumentError("count-search needs at least one method")

    def prepare(self, problem: LayoutProblem) -> Search:
        """Prepare what the seeds share for each count when it is first needed."""
        searches: Searches = {}
        if Tries(problem, self, searches, 0).choice.mix is not None:
            raise ArgumentError(f"farm {problem.name}: count-search chooses numbers of turbines, not a mix")

        def run(seed: int, start: Layout | None = None) -> Result:
            return _CountRun(Tries(problem, self, searches, seed)).run(start)

        return run


class _CountRun:
    """One search: counts of turbines are those of the one type that is to be placed."""

    def __init__(self, tries: Tries) -> None:
        self._tries = tries
        self._low, self._high = tries.choice.turbines
        self._types = len(tries.problem.farm.turbines)
        self._kind = int(tries.problem.types_in_order()[0])

    def run(self, start: Layout | None) -> Result:
        if start is None:
            self._construct_some()
        else:
            self._tries.refine(start, first=0)
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
            self._tries.construct(self._counts(many))
        if not self._tries.found:
            self._tries.construct(self._counts(low))
        if not self._tries.found:
            raise self._tries.failed[self._counts(low)]
        if high - low <= 2 * CLOSE:
            return
        while True:
            best = sum(self._tries.best())
            known = sorted(map(sum, {*self._tries.found, *self._tries.failed}))
            gaps = [(a, b) for a, b in pairwise(known) if best in (a, b) and b - a > CLOSE]
            if not gaps:
                return
            for a, b in gaps:
                self._tries.construct(self._counts((a + b) // 2))

    def _go_on(self, many: int, step: int, patience: int) -> None:
        """Go from one count to the next until several in a row are not better."""
        poor = 0
        while self._low <= many + step <= self._high and poor < patience:
            most = self._tries.worth(self._tries.best())
            here = self._tries.found[self._counts(many)].layout
            many += step
            problem = self._tries.problem_of(self._counts(many))
            if step < 0:
                found, computed = remove_least_valuable(problem, here)
            else:
                rng = np.random.default_rng([_COUNT_STREAM, self._tries.seed, many])
                more, computed = with_one_more(problem, here, self._kind, rng)
                if more is None:
                    return
                found = more
            self._tries.refine(found, computed + 1)
            poor = 0 if self._tries.worth(self._tries.best()) > most else poor + 1

    def _counts(self, many: int) -> Counts:
        return tuple(many if kind == self._kind else 0 for kind in range(self._types))


ROUNDS = 10
"""How often types are changed and all is refined, at most."""
_MIX_STREAM = 0x6D697873
"""Tells its draws from those of steps with the same seed."""


@dataclass(frozen=True)
class MixSearch(Method):
    """Choose how many turbines of each type, within the problem's ``choice``, are best by its ``valuation``.

    ``steps`` are those of a pipeline, of which the first needs no start. A layout is refined by the steps from number
    ``refining`` on, one that is given by all of them. Of the result, ``tried`` has every mix that was tried.
    """

    steps: Sequence[Method]
    refining: int = 1

    def __post_init__(self) -> None:
        if not self.steps:
            raise ArgumentError("mix-search needs at least one method")

    def prepare(self, problem: LayoutProblem) -> Search:
        """Prepare what the seeds share for each mix when it is first needed."""
        searches: Searches = {}
        if Tries(problem, self, searches, 0).choice.mix is None:
            raise ArgumentError(f"farm {problem.name}: mix-search needs a choice of a mix")

        def run(seed: int, start: Layout | None = None) -> Result:
            tries = Tries(problem, self, searches, seed)
            if start is not None:
                tries.refine(start, first=0)
            else:
                mixes = _first_mixes(tries.choice, tries.counts(problem.types_in_order()))
                for mix in mixes:
                    tries.construct(mix)
                if not tries.found:
                    raise tries.failed[mixes[0]]
            for number in range(ROUNDS):
                if not _improved(tries, np.random.default_rng([_MIX_STREAM, seed, number])):
                    break
            return tries.result()

        return run


def _improved(tries: Tries, rng: np.random.Generator) -> bool:
    best = tries.best()
    before, layout = tries.worth(best), tries.found[best].layout
    changes = TypeChanges(tries.problem, tries.choice, layout, rng)
    changed = changes.make()
    tries.evaluations += changes.evaluations
    if not changed:
        return False
    tries.refine(Layout(layout.x, layout.y, changes.types))
    return tries.worth(tries.best()) > before


def _first_mixes(choice: Choice, own: Counts) -> list[Counts]:
    """The problem's mix, and for each type that with the most of it."""
    assert choice.mix is not None
    mixes = [own]
    for kind, (_, high) in enumerate(choice.mix):
        mix = [low for low, _ in choice.mix]
        for other in [kind, *(k for k in range(len(mix)) if k != kind)]:
            most = high if other == kind else choice.mix[other][1]
            mix[other] += min(most - mix[other], choice.turbines[1] - sum(mix))
        mixes.append(tuple(mix))
    return list(dict.fromkeys(mixes))
