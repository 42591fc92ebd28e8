"""auto: ordinary pipelines, run again with new seeds as long as that pays, within a budget.

Which search gives the best layout in a minute depends on the number of turbines, the rose and the wake model. ``auto``
has a handful of pipelines that a user could write: a start (lattice, random-start) refined by gradient,
and the best layouts refined further, or annealed and refined. Each is run once if it fits. After that the next run is
always of the pipeline whose last runs promise the largest improvement of the best layout for its time (the expected
improvement of D. R. Jones, M. Schonlau, W. J. Welch, J. Global Optim. 13 (1998) 455). Annealings get longer. The last
part of the budget refines the best layout.

A step that does not fit into the rest of the budget is halved until it does, or left out. A budget in seconds is the
CPU time of the process, or, of searches that run together, that of the search and its share of the batches. A budget in
evaluations counts the work of each step by rules that do not depend on the machine (``_Steps.work``), so that a seed
gives the same layout to the bit everywhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, erf, exp, inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from vindeby import parameters
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.area.limits import Limits, strictly_kept
from vindeby.layout.lattices.judges import can_judge_quickly, look_work, parts_of, shares_of_evaluation
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.methods.starts import Lattice, RandomStart
from vindeby.layout.methods.walks import Annealing, RandomSearch
from vindeby.layout.moves.walk import trial_work
from vindeby.layout.problem import Layout, LayoutProblem

SECONDS = 60.0
"""The budget where none is given."""
REFINE = Gradient(32, 1.0)
"""The refinement of a regular layout; so long that it shows how good the layout will be."""
STARTS: Mapping[str, tuple[Method, Method]] = {
    "lattice": (Lattice(trials=300), REFINE),
    "random-start": (RandomStart(), Gradient(320, 16.0)),
}
"""The pipelines that begin with a layout of their own."""
REFINING, ANNEALING = "refining", "annealing"
"""The pipelines that begin with the best layout that was not through them yet."""
FIRST_TRIALS, FEWEST_TRIALS, MOST_TRIALS = 100, 300, 20_000
"""Trials of an annealing for each turbine. Where fewer can be afforded, random search does better."""
RECENT = 6
"""So many last runs of a pipeline are looked at."""
SPREAD = 1e-3
"""By what share of the worth the results of a pipeline differ, as far as one run shows."""
FIRST, LAST = 0.25, 0.95
"""The share of the rest that the first run of the first pipeline may take, of the second half as much, and so on; the
share of the budget that all runs may."""
LITTLE = 5e-5
"""The share of the worth that an annealing is expected to gain before any has been made."""
STEPS_D, OFF, SMALL = (0.02, 0.04), 0.1, 1e-6
"""Of the test of the gradient: how far turbines move along it, in rotor diameters, by which share the change may be off
what the gradient promises, and by which share of the energy. With top-hat wakes, whose edges the gradient does not see,
the first share is above 1; with others it is below 0.04."""
TEST_WORK = 2.5 + 2.0 * len(STEPS_D)
"""The evaluations that this test takes."""
LEAST = 1 / 16
"""A step that has to be shortened to less than this share is left out."""
SAME = 2e-6
"""Layouts that are worth as much, but for this share, are taken to be the same."""
KEPT = 12
"""So many of the best layouts are kept for annealing."""
_STREAM = 0x6175746F
"""Tells the draws of this search from those of its steps with the same seed."""


def shortened(step: Method, share: float) -> Method:
    """Return the step with a share of its trials or iterations; itself, if it has none."""
    for name in ("trials", "max_iterations", "max_evaluations"):
        if hasattr(step, name):
            return replace(step, **{name: max(1, ceil(share * getattr(step, name)))})  # type: ignore[type-var]
    return step


class Budget:
    """``seconds`` or ``evaluations``, one of them; counted from when it is made."""

    def __init__(
        self,
        seconds: float | None = None,
        evaluations: float | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._is_timed, self._whole = seconds is not None, float(seconds or evaluations or 0.0)
        self._clock, self._began = clock, clock()
        self.evaluations = 0.0
        """Spent so far."""
        self._seconds_per_work: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """CPU seconds spent so far."""
        return self._clock() - self._began

    @property
    def spent(self) -> float:
        """Seconds or evaluations spent so far."""
        return self.seconds if self._is_timed else self.evaluations

    def left(self, share: float = 1.0) -> float:
        """Return the budget that is left until a share of the whole is spent."""
        return share * self._whole - self.spent

    def cost(self, kind: str, work: float) -> float:
        """Return the cost of work of a kind, estimated from the last such work or, the first time, from any work."""
        if not self._is_timed:
            return work
        return work * self._seconds_per_work.get(kind, self._seconds_per_work.get("", 0.0))

    def note(self, kind: str, began: float, work: float, counted: float) -> None:
        """Work of a kind was begun after so many seconds, and counts as so many evaluations."""
        self.evaluations += counted
        each = (self.seconds - began) / work
        self._seconds_per_work[kind] = each


class Candidate(NamedTuple):
    """A feasible layout, what it is worth, its energy, the start it began with, and what was tried to improve it."""

    worth: float
    aep_gwh: float
    layout: Layout
    start: str
    improved_by: tuple[str, ...] = ()


def follows_gradient(problem: LayoutProblem, layout: Layout) -> bool:
    """Return whether the energy changes as its gradient promises, which it does not at the edges of top-hat wakes."""
    many = len(layout.x)
    try:
        energy, *slopes = problem.aep_and_gradient(layout)
    except (ArgumentError, TaskError):  # a model or an engine that has no gradient
        return False
    slope, place = np.stack(slopes)[:, :many], np.stack([layout.x, layout.y])
    steepest = max(float(np.hypot(*slope).max()), 1e-300)
    for step in STEPS_D:
        far = step * float(problem.farm.turbine_arrays.diameter.min()) / steepest
        inside = [problem.boundary.inside(*(place + way * slope)) for way in (far, -far)]
        slope = np.where(np.all(inside, axis=0), slope, 0.0)  # outside, the wind may not be known
        (x, y), (back_x, back_y) = place + far * slope, place - far * slope
        up, down = (
            problem.aep(Layout.of(x, y, layout.types)),
            problem.aep(Layout.of(back_x, back_y, layout.types)),
        )
        promised = 2.0 * far * float((slope * slope).sum())
        if abs(up - down - promised) > OFF * promised + SMALL * energy:
            return False
    return True


class Runs:
    """The results of a pipeline's runs, and the cost of the next one."""

    def __init__(self) -> None:
        self.worths: list[float] = []
        self.gains: list[float] = []
        """Of annealings, instead, by how much they have improved the best."""
        self.cost = 0.0

    def expected_gain(self, best: float) -> float:
        """By how much another run is expected to improve the best, taking its worth as normally distributed.

        An annealing begins with a good layout: it will gain what the last ones did, or, before that, a little.
        """
        if not self.worths:
            last = [LITTLE * abs(best), *self.gains[-2:]]
            return sum(last) / len(last)
        worths = np.array(self.worths[-RECENT:])
        squares = float(((worths - worths.mean()) ** 2).sum()) + (SPREAD * best) ** 2
        spread = max(sqrt(squares / len(worths)), 1e-300)
        z = (float(worths.mean()) - best) / spread
        return spread * (exp(-0.5 * z * z) / sqrt(2.0 * pi) + 0.5 * z * (1.0 + erf(z / sqrt(2.0))))


class _Steps:
    """The steps of a problem: their searches, each prepared when it is first wanted, and their work."""

    def __init__(self, problem: LayoutProblem) -> None:
        self.problem = problem
        self._searches: dict[Method, Search] = {}
        self._one_prepares = threading.Lock()

    def search(self, step: Method) -> Search:
        """The search of a step; searches that run together have the same farms."""
        with self._one_prepares:
            if step not in self._searches:
                self._searches[step] = step.prepare(self.problem)
            return self._searches[step]

    @cached_property
    def trial(self) -> float:
        """The work of a trial of annealing or random search."""
        return trial_work(self.problem)

    @cached_property
    def _look(self) -> float:
        if can_judge_quickly(self.problem):
            look, shape = shares_of_evaluation(self.problem)
            return 1.45 * look + 16.0 * shape
        return 2.0 * look_work(parts_of(self.problem), self.problem)

    def work(self, step: Method, evaluations: float | None = None) -> float:
        """The work of a step in evaluations of a layout in all wind states; of one that computed so many, if given.

        The rules follow what is computed and not what it takes on some machine.
        """
        if isinstance(step, Gradient):  # the walk downwind, and one back with about twice as much to compute
            return 2.5 * (1.2 * step.max_iterations if evaluations is None else evaluations)
        if isinstance(step, Annealing | RandomSearch):
            return 2.0 + self.trial * (step.max_evaluations if evaluations is None else evaluations - 2)
        if isinstance(step, Lattice):
            return evaluations or 8 + step.trials * self._look
        return 1.0


class _Contest:
    """The pipelines' runs, and the best layouts so far."""

    def __init__(self, problem: LayoutProblem, steps: _Steps, budget: Budget, seed: int) -> None:
        self.problem, self.steps, self.budget = problem, steps, budget
        self._rng = np.random.default_rng([_STREAM, seed])
        self._runs = {name: Runs() for name in (*STARTS, REFINING, ANNEALING)}
        self._found: list[Candidate] = []
        self._failures: dict[type[Method], str] = {}
        self._trials, self._tested = FIRST_TRIALS * problem.n_turbines, False

    def run(self, given: Layout | None) -> Result:
        begun = None if given is None else self._given(given)
        for name in sorted(STARTS, key=lambda name: self.steps.work(STARTS[name][0])):
            if not self._found:  # any layout, at the least cost
                self._step(shortened(STARTS[name][0], 0.0), None, inf, name)
        if not self._found:
            failures = "; ".join(
                f"{name}: {self._failures[type(steps[0])]}" for name, steps in STARTS.items()
            )
            raise TaskError(f"farm {self.problem.name}: auto found no start; {failures}")
        self._look_for_gradient()
        for number, name in enumerate(self._runs, 1):
            most = FIRST * self._left() / number
            if name in STARTS:  # what each lattice takes
                self._step(shortened(STARTS[name][0], LEAST), None, most, name)
            self._run(name, most)
        before = -1.0
        while before < self.budget.evaluations:  # until nothing fits
            before, left, best = self.budget.evaluations, self._left(), self._found[0].worth
            pays = {
                name: runs.expected_gain(best) / max(runs.cost, 1e-9)
                for name, runs in self._runs.items()
                if runs.cost > 0.0 and (runs.cost <= left if name in STARTS else self._is_due(name))
            }
            if pays:
                self._run(max(pays, key=lambda name: pays[name]), left)
        return self._polished(begun)

    def _is_due(self, name: str) -> bool:
        """Return whether a good layout is still to be improved; annealing may find more each time."""
        return name == ANNEALING or any(name not in one.improved_by for one in self._found)

    def _left(self) -> float:
        """Return the budget that is left, less the last refinement if there is one."""
        return self.budget.left(1.0 if Gradient in self._failures else LAST)

    def _given(self, layout: Layout) -> Candidate:
        """A layout that is given is mended if it breaks the rules, and refined."""
        if not self.problem.is_feasible(layout):
            layout, _ = Limits(self.problem, layout.types).mended(layout, rounds=2000)
            self.problem.refuse_infeasible(layout, "auto")
        given = self._evaluated(layout, "given")
        self._look_for_gradient()
        self._step(REFINE, given, FIRST * self._left())
        return given

    def _look_for_gradient(self) -> None:
        """Refine no layout where the energy does not follow the gradient."""
        began = self.budget.seconds
        if not self._tested and self.budget.cost("", TEST_WORK) <= self.budget.left():
            self._tested, layout = True, self._found[0].layout
            farms = (replace(self.problem, farm=part) for part in self.problem.farm.parts)
            leads_up = all(follows_gradient(one, layout) for one in farms)
            self.budget.note("", began, TEST_WORK, TEST_WORK)
            if not leads_up:
                self._failures[Gradient] = "the energy does not follow the gradient"

    def _run(self, name: str, most: float) -> None:
        """Run a pipeline with a new seed, within ``most`` as far as its steps can be shortened."""
        if name not in STARTS:
            self._improve(name, most)
            return
        runs, spent = self._runs[name], self.budget.spent
        found: Candidate | None = None
        for step in STARTS[name]:
            found = self._step(step, found, most - (self.budget.spent - spent), name) or found
            if found is None:
                return
        if found is not None:
            runs.worths.append(found.worth)
            runs.cost = self.budget.spent - spent

    def _improve(self, name: str, most: float) -> None:
        """Refine or anneal the best layout that was not yet, or the best of all."""
        runs, spent, before, longer = self._runs[name], self.budget.spent, self._found[0].worth, 1
        begun = next((one for one in self._found if name not in one.improved_by), self._found[0])
        tried = begun._replace(improved_by=(*begun.improved_by, name))
        self._found = [tried if one is begun else one for one in self._found]
        found = self._step(REFINE if name == REFINING else self._walk(most), begun, most)
        if found is None:
            return
        if name == ANNEALING:
            if found.worth > begun.worth:
                self._step(REFINE, found, most - (self.budget.spent - spent))
            longer = 2 if self._trials < MOST_TRIALS * self.problem.n_turbines else 1
            self._trials *= longer
        runs.gains.append(self._found[0].worth - before)
        runs.cost = longer * (self.budget.spent - spent)

    def _walk(self, most: float) -> Method:
        """The annealing that is due, or a random search where that would be too short."""
        each = self.budget.cost("trial", self.steps.trial)
        trials = max(1, int(min(self._trials, 0.8 * most / max(each, 1e-12))))
        return (Annealing if trials >= FEWEST_TRIALS * self.problem.n_turbines else RandomSearch)(trials)

    def _step(self, step: Method, begin: Candidate | None, most: float, start: str = "") -> Candidate | None:
        """Run a step, shortened to fit; None if it does not fit or fails."""
        if type(step) in self._failures:
            return None
        kind = "trial" if hasattr(step, "max_evaluations") else repr(shortened(step, 0.0))
        share, work = 1.0, self.steps.work(step)
        while share > LEAST and share * self.budget.cost(kind, work) > most:
            share /= 2.0
        if share < 1.0 and (share <= LEAST or step == shortened(step, share)):
            return None
        step, began, seed = shortened(step, share), self.budget.seconds, int(self._rng.integers(2**31))
        try:
            result = self.steps.search(step)(seed, None if begin is None else begin.layout)
        except (
            ArgumentError,
            TaskError,
        ) as error:  # no room for this start; a model or an engine without gradient
            self._failures[type(step)] = str(error)
            self.budget.evaluations += 1.0
            return None
        self.budget.note(kind, began, share * work, self.steps.work(step, result.evaluations))
        start = start if begin is None else begin.start
        if not self._found:  # what an evaluation takes
            return self._evaluated(result.layout, start)
        return self._taken(result.layout, result.aep_gwh, start)

    def _evaluated(self, layout: Layout, start: str) -> Candidate:
        began, aep_gwh = self.budget.seconds, self.problem.aep(layout)
        self.budget.note("", began, 1.0, 1.0)
        return self._taken(layout, aep_gwh, start)

    def _taken(self, layout: Layout, aep_gwh: float, start: str) -> Candidate:
        """Keep a layout if it keeps to the rules and is not known; it may be one of those that are kept already."""
        found = Candidate(self.problem.worth(layout, aep_gwh), aep_gwh, layout, start)
        known = any(abs(one.worth - found.worth) <= SAME * abs(found.worth) for one in self._found)
        better = not self._found or found.worth > self._found[0].worth
        if (better or not known) and self.problem.is_feasible(layout):
            self._found = sorted([*self._found, found], key=lambda one: -one.worth)[:KEPT]
        return found

    def _polished(self, given: Candidate | None) -> Result:
        """Refine the best layout in all wind states as long as it gains, and keep to the rules to the bit."""
        before = -inf
        while self._found[0].worth > before + SAME * abs(before):
            before = self._found[0].worth
            self._step(replace(REFINE, wind="all"), self._found[0], self.budget.left())
        best = self._found[0]
        strict = self._evaluated(strictly_kept(self.problem, best.layout), best.start)
        if given is None or strict.worth >= given.worth:
            best = strict
        spent, notes = ceil(self.budget.evaluations), {"best_start": best.start}
        return Result(best.layout, best.aep_gwh, "budget", spent, notes=notes)


@dataclass(frozen=True)
class Auto(parameters.AutoParameters, Method):
    """The pipelines that pay.

    ``seconds`` is a budget of CPU time of the process; what is found then depends on the machine, and the result's
    note ``repeatable`` is False. ``evaluations`` is one of work, with which a seed gives the same layout to the bit.
    Give one of them; without both, it is 60 seconds. A start that is given is one of the candidates.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seconds is not None and self.evaluations is not None:
            raise ArgumentError("give auto seconds or evaluations, not both")

    def prepare(self, problem: LayoutProblem) -> Search:
        """Make what seeds share when it is first needed, within the budget."""
        steps = _Steps(problem)
        seconds = SECONDS if self.seconds is None and self.evaluations is None else self.seconds

        def run(seed: int, start: Layout | None = None) -> Result:
            budget = Budget(seconds, self.evaluations, problem.evaluate.seconds)
            found = _Contest(problem, steps, budget, seed).run(start)
            return replace(found, notes={**found.notes, "repeatable": seconds is None})

        return run

    def brief(self) -> Method:
        return _EachStepOnce()


@dataclass(frozen=True)
class _EachStepOnce(Method):
    """Every step that ``auto`` may use, as short as possible: it compiles their loops."""

    def prepare(self, problem: LayoutProblem) -> Search:
        def run(seed: int, start: Layout | None = None) -> Result:
            result = None
            starts = [shortened(first, 1e-9) for first, _ in STARTS.values()]
            refined = (Gradient(16), Gradient(16, 1.0, "all"), RandomSearch(1), Annealing(1))
            for method in (*starts, *refined):
                try:
                    result = method.prepare(problem)(seed, start if result is None else result.layout)
                except (ArgumentError, TaskError):
                    continue
            if result is None:
                raise TaskError(f"farm {problem.name}: auto found no start")
            return result

        return run
