"""The search of ``auto``: starts race, the best are refined, and turbines of the best are moved until all is spent.

1. The race: layouts of all starts in turn, each climbed from for a while with wide wakes.
2. The best few are climbed from for longer, with the true wakes.
3. From the best, single turbines are moved: by annealing where enough trials can be afforded, else by random search;
   each time a climb takes what is left.

Every part asks the budget how much of its work fits, so that it is kept to within one part. The best layout of all is
returned; what a part finds counts only if it keeps to the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple, final

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.method import Method, Result
from vindeby.layout.methods.annealing import Annealing
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.methods.random_search import RandomSearch
from vindeby.layout.portfolio.budget import Budget
from vindeby.layout.portfolio.candidates import Candidate, Candidates, Tools
from vindeby.layout.portfolio.starts import Start
from vindeby.layout.portfolio.work import GRADIENT, trial_work
from vindeby.layout.problem import Layout

__all__ = ["Contest"]


class Shares(NamedTuple):
    """The shares of the budget after which the race, the refinement of its best, and the moves end."""

    race: float
    refined: float
    walked: float


MANY_MOVES, FEW_MOVES = Shares(0.30, 0.45, 0.90), Shares(0.70, 0.95, 0.97)
"""Where enough moves can be afforded, most of the budget goes to them; else to starts and climbs."""
SPENT = 0.98
"""When so much is spent nothing new is begun."""
SHORT, LONG, LAST = 64, 256, 32
"""Iterations of a climb in the race, of one in the refinement, and of one after moves."""
WIDENING, REGULAR = 16.0, "lattice"
"""How wide wakes are at first in the race; but for this start, which was chosen by its true wakes."""
EACH = 24
"""The race ends after so many rounds."""
PER_ITERATION = 1.4
"""Gradients for each iteration of a climb, about: line searches, and the climb from the start itself."""
PROBE, PROBED = 64, 0.03
"""Trials of the first walk, which tells what a trial takes, and the share of the budget that it may take."""
ENOUGH = 300
"""Trials for each turbine from which on annealing does better than random search."""
GAIN = 1e-7
"""Climbing ends when a part of it gains less than this share of the energy."""
FAILS = (ArgumentError, TaskError)
_STREAM = 0x6175746F
"""Tells the draws of this search from those of its parts with the same seed."""


@final
class Contest:
    """One run: what was spent, and the best layouts so far."""

    def __init__(self, tools: Tools, starts: Sequence[Start], budget: Budget, seed: int) -> None:
        self.tools, self.problem, self.budget = tools, tools.problem, budget
        self.found = Candidates(tools.problem, budget)
        self._starts = list(starts)
        self._made = 0
        self._again: Candidate | None = None
        self._wide_pays = True
        self._reached: dict[str, float] = {}
        self._failures: list[str] = []
        self._rng = np.random.default_rng([_STREAM, seed])
        self._has_gradient = True
        self._trial = trial_work(self.problem)
        self._shares = MANY_MOVES

    def run(self, given: Layout | None) -> Result:
        """Search until the budget is spent; from a layout that is given, and from starts."""
        if given is not None:
            self._race_from(self._enter(self._mended(given), "given"))
        self._race()
        self._refine()
        self._walk(self._shares.walked)
        self._climb_on()
        while self.budget.used < SPENT and self._walk(self.budget.used + 0.8 * (1.0 - self.budget.used)):
            self._climb_on()
        first = self.found.best[0]
        self.found.note()
        spent = ceil(self.budget.evaluations)
        notes = {"best_start": first.start}
        return Result(first.layout, first.aep_gwh, "budget", spent, self.found.curve.arrays(), notes)

    def _mended(self, given: Layout) -> Layout:
        """A layout that breaks the rules is mended as the walk does."""
        return (
            given if self.problem.is_feasible(given) else RandomSearch(1).run(self.problem, 0, given).layout
        )

    def _race(self) -> None:
        """Layouts of all starts in turn, each climbed from with wide wakes."""
        self._first_layout()
        for _ in range(EACH):
            for start in _turns(self._starts):
                if start in self._starts and (not self.found.best or self._pays(start)):
                    self._turn_of(start)
        if not self.found.best:
            raise TaskError(f"farm {self.problem.name}: auto found no start; {'; '.join(self._failures)}")

    def _first_layout(self) -> None:
        """One layout at the least cost, if none is given; and what the parts of the search cost, told from it."""
        for start in sorted(self._starts, key=lambda one: one.work):
            if not self.found.best and (layout := self._made_by(start)) is not None:
                self._enter(layout, start.name)
        if self.found.best:
            self._share_out()

    def _made_by(self, start: Start) -> Layout | None:
        """A layout of a start; None, and no further turn for it, if it finds none."""
        self.budget.begin()
        try:
            found = self.tools.search(start.method)(self._seed(), None)
        except FAILS as error:
            self._starts.remove(start)
            self.budget.end(start.name, 1, start.work - 1.0)
            self._failures.append(f"{start.name}: {error}")
            return None
        self.budget.end(start.name, 1, max(0.0, start.spent(found) - 1.0))
        return found.layout

    def _pays(self, start: Start) -> bool:
        """Whether another layout of a start fits, and those before were not far below the best of all."""
        has_one = start.name == REGULAR and self._again is not None
        work = ("evaluation", 1.0) if has_one else (start.name, start.work)
        fits = self.budget.pieces(*work, self._shares.race) > 0
        return fits and not self.found.is_far(self._reached.get(start.name, np.inf))

    def _enter(self, layout: Layout, start: str) -> Candidate:
        """A new layout: evaluate it."""
        self.budget.begin()
        candidate = Candidate(self.problem.aep(layout), layout, start, self._made)
        self.budget.end("evaluation", 1, 1.0)
        self._made += 1
        self.found.take(candidate)
        return candidate

    def _turn_of(self, start: Start) -> None:
        """A new layout of a start, climbed from; or the last lattice once more, with wide wakes.

        These lead far away from a lattice: to a better layout where wakes are narrow, to a poorer one where they are
        wide. If to a poorer one, it is not tried again.
        """
        if start.name == REGULAR and self._again is not None:
            before, self._again = self._again, None
            stayed = next((one.aep_gwh for one in self.found.best if one.number == before.number), np.inf)
            self._wide_pays = self._race_from(before, WIDENING) > stayed
        elif (layout := self._made_by(start)) is not None:
            candidate = self._enter(layout, start.name)
            self._race_from(candidate, 1.0 if start.name == REGULAR else WIDENING)
            if start.name == REGULAR and self._wide_pays:
                self._again = candidate

    def _race_from(self, candidate: Candidate, widening: float = WIDENING) -> float:
        """Climb a little from a new layout; returns what it came to."""
        reached = self._climb(candidate, SHORT, widening, self._shares.race).aep_gwh
        self._reached[candidate.start] = max(reached, self._reached.get(candidate.start, 0.0))
        return reached

    def _share_out(self) -> None:
        """Tell how many moves can be afforded, and share out the budget accordingly."""
        self._shares = FEW_MOVES
        if self._affords(ENOUGH // 2):  # by the rules of work; try a few, to know what they take here
            until = self.budget.used + PROBED
            self._moves(RandomSearch(max(1, min(PROBE, self.budget.pieces("trial", self._trial, until)))))
            if self._affords(ENOUGH):
                self._shares = MANY_MOVES

    def _affords(self, trials: int) -> bool:
        """Whether there is budget for so many trials for each turbine, if most of it went to them."""
        first, last = (
            self.budget.pieces("trial", self._trial, until)
            for until in (MANY_MOVES.refined, MANY_MOVES.walked)
        )
        return last - first >= trials * self.problem.n_turbines

    def _refine(self) -> None:
        """Climb from the best few with the true wakes; each gets its share of what is left for it."""
        chosen = self.found.near_best()
        for place, candidate in enumerate(chosen):
            used = self.budget.used
            self._climb(candidate, LONG, 1.0, used + (self._shares.refined - used) / (len(chosen) - place))

    def _climb_on(self) -> None:
        """Climb from the best as long as it pays."""
        while self.budget.used < 1.0:
            before = self.found.best[0].aep_gwh
            self._climb(self.found.best[0], LAST, 1.0, 1.0)
            if self.found.best[0].aep_gwh <= before * (1.0 + GAIN):
                break

    def _climb(self, candidate: Candidate, iterations: int, widening: float, until: float) -> Candidate:
        """Move all turbines along the gradient, so often as fits the budget, in powers of two; what it came to."""
        fitting = min(iterations, self.budget.pieces("iteration", PER_ITERATION * GRADIENT, until))
        if fitting < 1 or not self._has_gradient:
            return candidate
        count = 1 << (fitting.bit_length() - 1)
        method = Gradient(count, widening if count >= 16 else 1.0)
        self.budget.begin()
        try:
            found = self.tools.search(method)(0, candidate.layout)
        except FAILS:  # a model or an engine that has no gradient
            self._has_gradient = False
            return candidate
        self.budget.end("iteration", min(count, found.evaluations), GRADIENT * found.evaluations)
        climbed = candidate._replace(aep_gwh=found.aep_gwh, layout=found.layout)
        self.found.take(climbed)
        return climbed

    def _walk(self, until: float) -> bool:
        """Move single turbines of the best layout; whether there was room and budget for any trial."""
        tried, part = False, 0
        while (trials := self.budget.pieces("trial", self._trial, until)) >= 1:
            method: Method
            if trials < ENOUGH * self.problem.n_turbines:
                method = RandomSearch(trials if trials <= PROBE else (trials + 1) // 2)
            else:  # the first is short, as a trial of annealing may take longer than the last one did
                part += 1
                method = Annealing(trials // 8 if part == 1 else 2 * trials // 3)
            if not self._moves(method):
                break
            tried = True
        return tried

    def _moves(self, method: Method) -> bool:
        """Move single turbines of the best layout, then climb a little; whether there was room for any trial."""
        first = self.found.best[0]
        self.budget.begin()
        found = method.prepare(self.problem)(self._seed(), first.layout)
        trials = found.evaluations - 2
        self.budget.end("trial", trials, self._trial * trials + 2.0)
        self.found.take(first._replace(aep_gwh=found.aep_gwh, layout=found.layout))
        if isinstance(method, Annealing):
            self._climb(self.found.best[0], LAST, 1.0, 1.0)
        return trials > 0

    def _seed(self) -> int:
        return int(self._rng.integers(2**31))


def _turns(starts: Sequence[Start]) -> list[Start]:
    """A round of the race: lattices, best on most farms, before each of the others."""
    regular = [start for start in starts if start.name == REGULAR]
    others = [start for start in starts if start.name != REGULAR]
    return [turn for start in others for turn in (*regular, start)] or regular
