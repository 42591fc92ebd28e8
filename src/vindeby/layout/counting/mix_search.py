"""Which types: a search over how many turbines of each type stand in a farm of a given number.

All steps of a pipeline are made for a few mixes: the problem's own, and for each type the mix with as many of it as are
allowed. In the best of these layouts turbines change their types where the objective gains (``type_changes``); then the
steps after the first refine it, and so on until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.counting.choice import Choice
from vindeby.layout.counting.tries import Counts, Prepared, Tries
from vindeby.layout.counting.type_changes import TypeChanges
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.problem import Layout, Problem

ROUNDS = 10
"""How often types are changed and all is refined, at most."""
_STREAM = 0x6D697873
"""Tells its draws from those of steps with the same seed."""


@final
@dataclass(frozen=True)
class MixSearch(Method):
    """Choose how many turbines of each type are best by the objective of the problem's ``choice``.

    ``steps`` are those of a pipeline, of which the first needs no start. Of the result, ``tried`` has every mix
    that was tried.
    """

    steps: Sequence[Method]

    def __post_init__(self) -> None:
        if not self.steps:
            raise ArgumentError("mix-search needs at least one method")

    def prepare(self, problem: Problem) -> Search:
        """What the seeds share is prepared for each mix when it is first needed."""
        prepared = Prepared(problem, tuple(self.steps))
        choice = problem.choice
        if choice is None or choice.mix is None:
            raise ArgumentError(f"farm {problem.name}: mix-search needs a choice of a mix")
        own = tuple(np.bincount(problem.types_in_order(), minlength=len(choice.mix)).tolist())

        def run(seed: int, start: Layout | None = None) -> Result:
            tries = Tries(problem, choice)
            if start is None:
                _construct(prepared, tries, _first_mixes(choice, own), seed)
            else:
                counts = tries.counts(start.types)
                begin = Result(start, prepared.problem(counts).aep(start), "complete", 1)
                tries.note(prepared.refine(counts, seed, begin))
            for number in range(ROUNDS):
                if not _improved(problem, choice, prepared, tries, seed, number):
                    break
            return tries.result()

        return run


def _construct(prepared: Prepared, tries: Tries, mixes: Sequence[Counts], seed: int) -> None:
    errors = []
    for mix in mixes:
        try:
            tries.note(prepared.construct(mix, seed))
        except TaskError as error:  # this mix finds no room
            errors.append(error)
    if not tries.found:
        raise errors[0]


def _improved(
    problem: Problem, choice: Choice, prepared: Prepared, tries: Tries, seed: int, number: int
) -> bool:
    """Change types in the best layout and refine it; whether that is better."""
    best = tries.best()
    before = tries.worth(best)
    layout = tries.found[best].layout
    changes = TypeChanges(problem, choice, layout, np.random.default_rng([_STREAM, seed, number]))
    changed = changes.make()
    tries.evaluations += changes.evaluations
    if not changed:
        return False
    found = Layout(layout.x, layout.y, changes.types)
    counts = tries.counts(found.types)
    tries.note(
        prepared.refine(counts, seed, Result(found, prepared.problem(counts).aep(found), "complete", 1))
    )
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
