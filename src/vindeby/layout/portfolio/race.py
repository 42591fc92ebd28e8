"""The race of a portfolio: layouts of all starts in turn, each climbed from for a while.

Lattices, best on most farms, have every second turn. They were chosen by their true wakes, and are climbed from with
these; other layouts with wide wakes first. Wide wakes lead far away from a lattice, to layouts as other starts give: to
a better one where wakes are narrow, to a poorer one where they are wide. So it is tried, where others come near
lattices, and tried again if it led to a better one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.portfolio.candidates import Candidate, Candidates, Tools
from vindeby.layout.portfolio.climbs import Climbs
from vindeby.layout.portfolio.starts import Start
from vindeby.layout.problem import Layout

SHORT = 64
"""Iterations of a climb."""
WIDENING, REGULAR = 16.0, "lattice"
"""How wide wakes are at first; but for this start."""


@final
class Race:
    """What starts have come to so far; ``seed`` draws the seeds of their layouts."""

    def __init__(
        self,
        tools: Tools,
        starts: Sequence[Start],
        found: Candidates,
        climbs: Climbs,
        seed: Callable[[], int],
    ) -> None:
        self.tools, self.found, self.budget = tools, found, found.budget
        self._starts, self._climbs, self._seed = list(starts), climbs, seed
        self._made = 0
        self._reached: dict[str, float] = {}
        self._tries: Counter[str] = Counter()
        self._failures: list[str] = []
        self._again: Candidate | None = None
        self._wide_pays = True

    def begin_with(self, layout: Layout, start: str, until: float) -> None:
        """A layout that is there already takes part."""
        self._climb_from(self._enter(layout, start), WIDENING, until)

    def make_one(self) -> None:
        """One layout at the least cost, if there is none."""
        for start in sorted(self._starts, key=lambda one: one.work):
            if not self.found.best and (layout := self._made_by(start)) is not None:
                self._enter(layout, start.name)

    def run(self, until: float) -> None:
        """Until a share of the budget is spent."""
        before = -1.0
        while self._starts and before < self.budget.evaluations:  # until no turn fits or pays
            before = self.budget.evaluations
            for start in _turns(self._starts):
                if start in self._starts and (not self.found.best or self._pays(start, until)):
                    self._turn_of(start, until)
        if not self.found.best:
            name = self.tools.problem.name
            raise TaskError(f"farm {name}: auto found no start; {'; '.join(self._failures)}")

    def _pays(self, start: Start, until: float) -> bool:
        """Whether another turn of a start fits, and its layouts before were not far below the best of all.

        The first that is climbed from need not be climbed for long; others are left out if they could not be.
        """
        work = ("evaluation", 1.0) if self._once_more(start) else (start.name, start.work)
        if self.budget.pieces(*work, until) < 1:
            return False
        if self._reached and not self._climbs.is_room(until - self.budget.share(*work)):
            return False
        tries = max(1, self._tries[start.name])
        return not self.found.is_far(self._reached.get(start.name, np.inf), tries)

    def _turn_of(self, start: Start, until: float) -> None:
        """A new layout of a start, climbed from; or the last lattice once more, with wide wakes."""
        if (before := self._once_more(start)) is not None:
            self._again = None
            stayed = next((one.aep_gwh for one in self.found.best if one.number == before.number), np.inf)
            self._wide_pays = self._climb_from(before, WIDENING, until) > stayed
        elif (layout := self._made_by(start)) is not None:
            candidate, is_regular = self._enter(layout, start.name), start.name == REGULAR
            self._climb_from(candidate, 1.0 if is_regular else WIDENING, until)
            if is_regular and self._wide_pays:
                self._again = candidate

    def _once_more(self, start: Start) -> Candidate | None:
        """The lattice that is to be climbed from with wide wakes, if it is the turn of lattices and there is one."""
        others = [aep for name, aep in self._reached.items() if name != REGULAR]
        others_are_near = not others or not self.found.is_far(max(others))
        return self._again if start.name == REGULAR and others_are_near else None

    def _made_by(self, start: Start) -> Layout | None:
        """A layout of a start; None, and no further turn for it, if it finds none."""
        self.budget.begin()
        try:
            found = self.tools.search(start.method)(self._seed(), None)
        except (ArgumentError, TaskError) as error:
            self._starts.remove(start)
            self.budget.end(start.name, 1, start.work - 1.0)
            self._failures.append(f"{start.name}: {error}")
            return None
        self.budget.end(start.name, 1, max(0.0, start.spent(found) - 1.0))
        return found.layout

    def _enter(self, layout: Layout, start: str) -> Candidate:
        """A new layout: evaluate it."""
        self.budget.begin()
        candidate = Candidate(self.tools.problem.aep(layout), layout, start, self._made)
        self.budget.end("evaluation", 1, 1.0)
        self._made += 1
        self.found.take(candidate)
        return candidate

    def _climb_from(self, candidate: Candidate, widening: float, until: float) -> float:
        """Climb a little from a layout; returns what it came to."""
        reached = self._climbs.climb(candidate, SHORT, widening, until).aep_gwh
        self._tries[candidate.start] += 1
        self._reached[candidate.start] = max(reached, self._reached.get(candidate.start, 0.0))
        return reached


def _turns(starts: Sequence[Start]) -> list[Start]:
    """A round: lattices before each of the others."""
    regular = [start for start in starts if start.name == REGULAR]
    others = [start for start in starts if start.name != REGULAR]
    return [turn for start in others for turn in (*regular, start)] or regular
