"""The search of ``auto``: starts race, the best are refined, and turbines of the best are moved until all is spent.

1. The race: layouts of all starts in turn, each climbed from for a while (``race``).
2. The best few are climbed from for longer, with the true wakes.
3. From the best, single turbines are moved: by annealing where enough trials can be afforded, else by random search;
   each time a climb takes what is left.
4. When that no longer gains, or its share is spent, all again with what is left of the budget.

Every part asks the budget how much of its work fits, so that it is kept to within one part. The best layout of all is
returned; what a part finds counts only if it keeps to the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple, final

import numpy as np

from vindeby.layout.method import Method, Result
from vindeby.layout.methods.annealing import Annealing
from vindeby.layout.methods.random_search import RandomSearch
from vindeby.layout.portfolio.budget import Budget
from vindeby.layout.portfolio.candidates import Candidates, Tools
from vindeby.layout.portfolio.climbs import LAST, Climbs
from vindeby.layout.portfolio.race import Race
from vindeby.layout.portfolio.starts import Start
from vindeby.layout.portfolio.work import trial_work
from vindeby.layout.problem import Layout


class Shares(NamedTuple):
    """The shares of the budget after which the race, the refinement of its best, and the moves end."""

    race: float
    refined: float
    walked: float


MANY_MOVES, FEW_MOVES = Shares(0.30, 0.45, 0.90), Shares(0.70, 0.95, 0.97)
"""Where enough moves can be afforded, most of the budget goes to them; else to starts and climbs."""
SPENT = 0.98
"""When so much is spent nothing new is begun."""
LONG = 256
"""Iterations of a climb in the refinement."""
PROBE, PROBED = 64, 0.03
"""Trials of the first walk, which tells what a trial takes, and the share of the budget that it may take."""
ENOUGH = 300
"""Trials for each turbine from which on annealing does better than random search."""
GAINED = 1e-6
"""Annealing that gains less than this share of the energy is not repeated before other starts were tried."""
_STREAM = 0x6175746F
"""Tells the draws of this search from those of its parts with the same seed."""


@final
class Contest:
    """One run: what was spent, and the best layouts so far."""

    def __init__(self, tools: Tools, starts: Sequence[Start], budget: Budget, seed: int) -> None:
        self.problem, self.budget = tools.problem, budget
        self.found = Candidates(tools.problem, budget)
        self._rng = np.random.default_rng([_STREAM, seed])
        self._climbs = Climbs(tools, self.found)
        quick = Climbs(tools, self.found, quick=True)
        self._race = Race(tools, starts, self.found, quick, self._seed)
        self._trial = trial_work(self.problem)
        self._shares = MANY_MOVES

    def run(self, given: Layout | None) -> Result:
        """Search until the budget is spent; from a layout that is given, and from starts."""
        if given is not None:
            self._race.begin_with(self._mended(given), "given", self._shares.race)
        self._race.make_one()
        if self.found.best:
            self._share_out()
        self._pass_on()
        before = 0.0
        while self.budget.used < SPENT and before < self.budget.evaluations:  # until nothing fits
            before = self.budget.evaluations
            self._pass_on()
        first = self.found.best[0]
        self.found.note()
        spent = ceil(self.budget.evaluations)
        notes = {"best_start": first.start}
        return Result(first.layout, first.aep_gwh, "budget", spent, self.found.curve.arrays(), notes)

    def _pass_on(self) -> None:
        """Race, refine and move, within the shares of what is left."""
        begun, left = self.budget.used, 1.0 - self.budget.used
        race, refined, walked = (begun + share * left for share in self._shares)
        self._race.run(race)
        self._refine(refined)
        self._walk(walked)
        self._climbs.climb_on()

    def _mended(self, given: Layout) -> Layout:
        """A layout that breaks the rules is mended as the walk does."""
        return (
            given if self.problem.is_feasible(given) else RandomSearch(1).run(self.problem, 0, given).layout
        )

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

    def _refine(self, until: float) -> None:
        """Climb from the best few with the true wakes; each gets its share of what is left for it."""
        chosen = self.found.near_best()
        for place, candidate in enumerate(chosen):
            used = self.budget.used
            self._climbs.climb(candidate, LONG, 1.0, used + (until - used) / (len(chosen) - place))
        if self._shares is FEW_MOVES:
            self._climbs.climb_on(until)

    def _walk(self, until: float) -> None:
        """Move single turbines of the best layout, until a long annealing of it gains nothing."""
        part = 0
        while (trials := self.budget.pieces("trial", self._trial, until)) >= 1:
            method: Method
            if trials < ENOUGH * self.problem.n_turbines:
                method = RandomSearch(trials if trials <= PROBE else (trials + 1) // 2)
            else:  # the first is short, as a trial of annealing may take longer than the last one did
                part += 1
                method = Annealing(trials // 8 if part == 1 else trials // 2)
            before = self.found.best[0].aep_gwh
            if not self._moves(method):
                break
            if part > 1 and self.found.best[0].aep_gwh <= before * (1.0 + GAINED):
                break

    def _moves(self, method: Method) -> bool:
        """Move single turbines of the best layout, then climb a little; whether there was room for any trial."""
        first = self.found.best[0]
        self.budget.begin()
        found = method.prepare(self.problem)(self._seed(), first.layout)
        trials = found.evaluations - 2
        self.budget.end("trial", trials, self._trial * trials + 2.0)
        self.found.take(first._replace(aep_gwh=found.aep_gwh, layout=found.layout))
        if isinstance(method, Annealing):
            self._climbs.climb(self.found.best[0], LAST, 1.0, 1.0)
        return trials > 0

    def _seed(self) -> int:
        return int(self._rng.integers(2**31))
