"""The search of ``auto``: starts race, the best are refined, and turbines of the best are moved until all is spent.

1. The race: layouts of all starts in turn, each climbed from for a while (``Race``).
2. The best few are climbed from for longer, with the true wakes.
3. From the best, single turbines are moved: by annealing where enough trials can be afforded, else by random search;
   each time a climb takes what is left.
4. A long budget is spent in rounds of all this, each with starts of its own. What a layout gains by moves varies more
   than what it is worth before them, so that a round moves the best layout of all rounds that was not moved yet.
   What is left for no round goes to the best of all.

Every part asks the budget how much of its work fits, so that it is kept to within one part. The best layout of all is
returned; what a part finds counts only if it keeps to the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.area.limits import strictly_kept
from vindeby.layout.method import Method, Result
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.methods.walks import Annealing, RandomSearch
from vindeby.layout.portfolio.candidates import Budget, Candidate, Candidates, Tools
from vindeby.layout.portfolio.starts import GRADIENT, Start, trial_work
from vindeby.layout.problem import Layout, LayoutProblem


class BudgetShares(NamedTuple):
    """The shares of the budget after which the race, the refinement of its best, and the moves end."""

    race: float
    refined: float
    walked: float


MANY_MOVES, FEW_MOVES = BudgetShares(0.30, 0.45, 0.90), BudgetShares(0.70, 0.95, 0.97)
"""Where enough moves can be afforded, most of the budget goes to them; else to starts and climbs."""
ONLY_MOVES = BudgetShares(0.10, 0.10, 0.95)
"""Where climbs lead nowhere, nearly all of it goes to moves."""
SPENT = 0.98
"""When so much is spent nothing new is begun."""
LONG = 256
"""Iterations of a climb in the refinement."""
MANY_TRIALS = 900
"""Trials for each turbine, by the rules of work, from which on most of the budget goes to moves."""
FEW_TRIALS = 64
"""A random search of so few trials is made at once, not in parts."""
ENOUGH = 300
"""Trials for each turbine from which on annealing does better than random search."""
GAINED = 1e-6
"""Annealing that gains less than this share of the energy is not repeated before other starts were tried."""
ROUND = 5_000
"""Trials for each turbine that a round would be enough for, if it were spent on moves alone."""
_STREAM = 0x6175746F
"""Tells the draws of this search from those of its parts with the same seed."""


class Contest:
    """One run: what was spent, and the best layouts so far."""

    def __init__(self, tools: Tools, starts: Sequence[Start], budget: Budget, seed: int) -> None:
        self.problem, self.budget = tools.problem, budget
        self.found = Candidates(tools.problem, budget)
        self._rng = np.random.default_rng([_STREAM, seed])
        self._climbs = Climbs(tools, self.found)
        self._race = Race(starts, Climbs(tools, self.found, quick=True), self._seed)
        self._trial = trial_work(self.problem)
        self._shares = MANY_MOVES
        self._moved: list[float] = []
        """What the layouts were worth whose turbines were moved in earlier rounds."""

    def run(self, given: Layout | None) -> Result:
        """Search until the budget is spent; from a layout that is given, and from starts."""
        if given is not None:
            if not self.problem.is_feasible(given):  # it is mended as the walk does
                given = RandomSearch(1).run(self.problem, 0, given).layout
            self._race.climb_from(given, "given", self._shares.race)
        self._race.make_one()
        if self.found.best:
            self._share_out()
        self._rounds()
        before = 0.0
        while self.budget.used < SPENT and before < self.budget.evaluations:  # until nothing fits
            before = self.budget.evaluations
            self._moved.clear()
            self.found.go_on_with_first()
            self._pass_on(1.0)
        first = self.found.go_on_with_first()
        layout = strictly_kept(self.problem, first.layout)
        worth, aep_gwh = self.found.judged(layout)
        first = first._replace(layout=layout, worth=worth, aep_gwh=aep_gwh)
        self.found.first = first
        self.found.note()
        spent = ceil(self.budget.evaluations)
        notes = {"best_start": first.start}
        return Result(first.layout, first.aep_gwh, "budget", spent, self.found.curve(), notes)

    def _rounds(self) -> None:
        """Rounds with starts of their own, as many as fit; what was moved before is not moved again."""
        self._pass_on(self._until_round())
        while self._race.goes_on() and self.budget.used + self._round_share() <= 1.0:
            self.found.leave_out(self._moved)
            self._pass_on(self._until_round())

    def _until_round(self) -> float:
        """The share of the budget that is spent after a round; all of it, if less than another would be left."""
        used, length = self.budget.used, self._round_share()
        return used + length if used + 2.0 * length <= 1.0 else 1.0

    def _pass_on(self, until: float) -> None:
        """Race, refine and move, each up to its share of what is spent until then."""
        begun = self.budget.used
        race, refined, walked = (begun + share * (until - begun) for share in self._shares)
        self._race.run(race)
        if self.found.best:
            self._refine(refined)
        self.found.leave_out(self._moved)
        if self.found.best:
            self._moved.append(self.found.best[0].worth)
            self._walk(walked)
            self._climbs.climb_on()
            self._moved.append(self.found.best[0].worth)

    def _round_share(self) -> float:
        """The share of the budget that a round takes."""
        return ROUND * self.problem.n_turbines * self.budget.share("trial", self._trial)

    def _share_out(self) -> None:
        """Divide the budget by how many trials would fit into it if most of it went to moves."""
        first, last = (
            self.budget.pieces("trial", self._trial, until)
            for until in (MANY_MOVES.refined, MANY_MOVES.walked)
        )
        self._shares = FEW_MOVES
        if last - first >= MANY_TRIALS * self.problem.n_turbines:
            smooth = self._climbs.lead_up(self.found.best[0].layout)
            self._shares = MANY_MOVES if smooth else ONLY_MOVES

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
                method = RandomSearch(trials if trials <= FEW_TRIALS else (trials + 1) // 2)
            else:  # the first is short: single turbines may be out of place, and it shows what a trial takes
                part += 1
                method = RandomSearch(trials // 8) if part == 1 else Annealing(trials // 2)
            before = self.found.best[0].worth
            if not self._moves(method):
                break
            if part > 1 and self.found.best[0].worth <= before + GAINED * abs(before):
                break

    def _moves(self, method: Method) -> bool:
        """Move single turbines of the best layout, then climb a little; whether there was room for any trial."""
        first = self.found.best[0]
        self.budget.begin()
        found = method.prepare(self.problem)(self._seed(), first.layout)
        trials = found.evaluations - 2
        self.budget.end("trial", trials, self._trial * trials + 2.0)
        worth = self.problem.worth(found.layout, found.aep_gwh)
        self.found.take(first._replace(worth=worth, aep_gwh=found.aep_gwh, layout=found.layout))
        if worth > first.worth:
            self._climbs.climb(self.found.best[0], LAST, 1.0, 1.0)
        return trials > 0

    def _seed(self) -> int:
        return int(self._rng.integers(2**31))


SHORT = 64
"""Iterations of a climb."""
FAR = 0.004
"""A layout is far below the best if it is this share below."""
WIDENING, FREQUENT, REGULAR = 16.0, "lattice", ("lattice", "boundary-grid")
"""How wide wakes are at first, but for regular starts; one of these has every second turn."""


class Race:
    """What starts have come to so far; ``seed`` draws the seeds of their layouts."""

    def __init__(self, starts: Sequence[Start], climbs: Climbs, seed: Callable[[], int]) -> None:
        self.tools, self.found, self.budget = climbs.tools, climbs.found, climbs.found.budget
        self._starts, self._climbs, self._seed = list(starts), climbs, seed
        self._made = 0
        self._reached: dict[str, float] = {}
        self._tries: Counter[str] = Counter()
        self._failures: list[str] = []

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
                if start not in self._starts or (self.found.best and not self._pays(start, until)):
                    continue
                if (layout := self._made_by(start)) is not None:
                    self.climb_from(layout, start.name, until)
        if self.found.first is None:
            name = self.tools.problem.name
            raise TaskError(f"farm {name}: auto found no start; {'; '.join(self._failures)}")

    def _pays(self, start: Start, until: float) -> bool:
        """Whether another turn of a start fits, and its layouts before were not far below the best of all.

        The first that is climbed from need not be climbed for long; others are left out if they could not be.
        """
        if self.budget.pieces(start.name, start.work, until) < 1:
            return False
        if self._reached and not self._climbs.is_room(until - self.budget.share(start.name, start.work)):
            return False
        return not self._is_far(start)

    def goes_on(self) -> bool:
        """Whether some start still has turns."""
        return not all(map(self._is_far, self._starts))

    def _is_far(self, start: Start) -> bool:
        """Whether what a start has led to is far below what another has: the more tries, the less it takes."""
        if start.name not in self._reached:
            return False
        best = max(self._reached.values())
        return self._reached[start.name] < best * (1.0 - FAR / self._tries[start.name])

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
        spent = found.evaluations if start.name in REGULAR else start.work
        self.budget.end(start.name, 1, max(0.0, spent - 1.0))
        return found.layout

    def _enter(self, layout: Layout, start: str) -> Candidate:
        """A new layout: evaluate it."""
        candidate = Candidate(*self.found.judged(layout), layout, start, self._made)
        self._made += 1
        self.found.take(candidate)
        return candidate

    def climb_from(self, layout: Layout, start: str, until: float) -> None:
        """A new layout takes part: climb a little from it."""
        widening = 1.0 if start in REGULAR else WIDENING
        reached = self._climbs.climb(self._enter(layout, start), SHORT, widening, until).worth
        self._tries[start] += 1
        self._reached[start] = max(reached, self._reached.get(start, 0.0))


def _turns(starts: Sequence[Start]) -> list[Start]:
    """A round: lattices before each of the others."""
    frequent = [start for start in starts if start.name == FREQUENT]
    others = [start for start in starts if start.name != FREQUENT]
    return [turn for start in others for turn in (*frequent, start)] or frequent


PER_ITERATION = 1.4
"""Gradients for each iteration of a climb, about: line searches, and the climb from the start itself."""
LEAST_WIDE = 16
"""Climbs of fewer iterations have no stages with wide wakes."""
LEAST_TOLD = 16
"""Climbs of fewer iterations do not show which of two starts is the better one."""
STEPS_D, OFF, SMALL = (0.02, 0.04), 0.1, 1e-6
"""Of a test whether the energy follows the gradient: how far turbines move along it, in rotor diameters, by which share
the change may be off what the gradient promises, and by which share of the energy. With top-hat wakes, whose edges the
gradient does not see, the first share is above 1; with others it is below 0.04."""
TEST, TEST_WORK = "test of the gradient", GRADIENT + 2.0 * len(STEPS_D)
"""This kind of work, and its evaluations."""
LAST = 32
"""Iterations of a climb after moves."""
GAIN = 1e-7
"""Climbing ends when a part of it gains less than this share of the energy."""


class Climbs:
    """What they reach is taken among the candidates; if they are ``quick`` they are made in few wind states."""

    def __init__(self, tools: Tools, found: Candidates, *, quick: bool = False) -> None:
        self.tools, self.found, self.budget = tools, found, found.budget
        self._quick = quick and tools.quick is not tools.problem
        self._kind = "quick iteration" if self._quick else "iteration"
        self._work = GRADIENT * (tools.share if self._quick else 1.0)

    def climb(self, candidate: Candidate, iterations: int, widening: float, until: float) -> Candidate:
        """Climb as often as fits until a share of the budget is spent, in powers of two; what it came to."""
        if self.found.climbs_lead_up is None and self.budget.pieces(TEST, TEST_WORK, until) < 1:
            return candidate
        leads_up = self.lead_up(candidate.layout)
        fitting = min(iterations, self.budget.pieces(self._kind, PER_ITERATION * self._work, until))
        if fitting < 1 or not leads_up:
            return candidate
        count = 1 << (fitting.bit_length() - 1)
        method = Gradient(count, widening if count >= LEAST_WIDE else 1.0)
        self.budget.begin()
        try:
            found = self.tools.search(method, quick=self._quick)(0, candidate.layout)
        except (ArgumentError, TaskError):  # a model or an engine whose gradient fails for some layouts
            self.found.climbs_lead_up = False
            return candidate
        self.budget.end(self._kind, min(count, found.evaluations), self._work * found.evaluations)
        layout = strictly_kept(self.tools.problem, found.layout)
        worth, aep_gwh = self.found.judged(layout)
        climbed = candidate._replace(worth=worth, aep_gwh=aep_gwh, layout=layout)
        self.found.take(climbed)
        return climbed

    def is_room(self, until: float) -> bool:
        """Whether a climb that is long enough to compare starts fits until a share of the budget is spent."""
        fitting = self.budget.pieces(self._kind, PER_ITERATION * self._work, until)
        return fitting >= LEAST_TOLD or not self.found.climbs_lead_up

    def lead_up(self, layout: Layout) -> bool:
        """Whether there is a gradient, and the energy follows it, as the first layout that is asked about shows."""
        if self.found.climbs_lead_up is None:
            self.budget.begin()
            problem = self.tools.problem
            self.found.climbs_lead_up = all(
                _follows_gradient(replace(problem, farm=part), layout) for part in problem.farm.parts
            )
            self.budget.end(TEST, 1, TEST_WORK)
        return self.found.climbs_lead_up

    def climb_on(self, until: float = 1.0) -> None:
        """Climb from the best with the true wakes, as long as it pays and a share of the budget is not spent."""
        while self.budget.used < until:
            before = self.found.best[0].worth
            self.climb(self.found.best[0], LAST, 1.0, until)
            if self.found.best[0].worth <= before + GAIN * abs(before):
                break


def _follows_gradient(problem: LayoutProblem, layout: Layout) -> bool:
    """Whether there is a gradient, and the energy follows it."""
    many = len(layout.x)
    whole = problem.whole(layout)
    try:
        energy, *slopes = problem.farm.aep_and_gradient(whole.x, whole.y, whole.types)
    except (ArgumentError, TaskError):  # a model or an engine that has no gradient
        return False
    steepest = max(float(np.hypot(*slopes)[:many].max()), 1e-300)
    for step in STEPS_D:
        far = step * float(problem.farm.turbine_arrays.diameter.min()) / steepest
        east, north = (slope[:many].copy() for slope in slopes)
        for way in (far, -far):  # outside, the wind may not be known
            outside = ~problem.boundary.inside(layout.x + way * east, layout.y + way * north)
            east[outside] = north[outside] = 0.0
        up, down = (
            problem.aep(Layout(layout.x + way * east, layout.y + way * north, layout.types))
            for way in (far, -far)
        )
        promised = 2.0 * far * float(east @ east + north @ north)
        if abs(up - down - promised) > OFF * promised + SMALL * energy:
            return False
    return True
