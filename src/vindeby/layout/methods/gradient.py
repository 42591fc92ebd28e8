"""gradient: all turbines moved simultaneously along the gradient of the yearly energy, to a local optimum.

One climb (``climbing.climb``) ends at the first optimum it meets. So from a start that is not good yet the same climb
is made first with wider wakes, narrower from stage to stage (``widening``), which leads to far better optima than a
start has nearby; and in few wind states, more from stage to stage (``wind``), which leads there at a fraction of the
cost.

Wakes that grow fast are wide, and what is wide needs few directions: with wakes that grow ``factor`` times as fast,
``DIRECTIONS / factor`` directions give nearly the same slopes as all of them. A few wind speeds are enough for every
width (``climbing.simplified_farm``). From stage to stage other directions stand for their neighbours. With the true
wakes all directions count; the last iterations are made in all wind states, and so is every comparison with the start:
one that keeps to the rules is never made worse there. A start that breaks them is mended first.

With costs, cables are routed at the beginning of every stage, and an LCOE gives its price to the stages with wider
wakes and, found anew, to each of those with the true wakes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from vindeby import parameters
from vindeby.layout.climbing.climb import Climb
from vindeby.layout.climbing.simplified_farm import stages, thinned, widened
from vindeby.layout.method import Method, Result, Search, start_for
from vindeby.layout.methods.starts import RandomStart, SmartStart
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.parameters import WindChoice

WIDENING = 16.0
"""The default factor of wake growth in the first stage, after a poor start."""
DIRECTIONS = 480
"""Directions of a stage times the factor by which its wakes grow faster ..."""
LEAST_DIRECTIONS, MOST_DIRECTIONS = 24, 180
"""... but no fewer and no more than these."""
WIDE_SPEEDS, TRUE_SPEEDS = 6, 8
"""Wind speeds of the stages with wider wakes, and of that with the true wakes before the last."""
WIDE_SHARE = {"coarse-to-fine": 0.75, "all": 0.5}
"""The share of the iterations that is for wider wakes; less in all wind states, where they are expensive."""
LAST = 0.1
"""The share of the iterations with the true wakes that is for all wind states, where there are few speeds before."""
AGAIN = 3
"""Where a climb from coarse to fine has led below the start, one in so many iterations is for a climb from there. With
costs always, and as many again: where wakes are wide, turbines crowd where the ground is cheap, and may stay there."""


class Schedule(NamedTuple):
    """The problems of the stages before the last: with wider wakes, then with true wakes in few wind speeds."""

    wide: tuple[LayoutProblem, ...]
    few_speeds: LayoutProblem | None


def schedule_of(problem: LayoutProblem, widening: float, wind: WindChoice) -> Schedule:
    """Return the stages for this problem; fewer if wakes cannot be widened or wind states not thinned."""
    wide = []
    for number, factor in enumerate(stages(widening)):
        stage = widened(problem, factor)
        if stage is None:
            continue
        if wind == "coarse-to-fine":
            directions = min(MOST_DIRECTIONS, max(LEAST_DIRECTIONS, round(DIRECTIONS / factor)))
            stage = thinned(stage, directions, WIDE_SPEEDS, offset=number) or stage
        wide.append(stage)
    few = None
    if wind == "coarse-to-fine":
        few = thinned(problem, len(problem.farm.states.direction), TRUE_SPEEDS)
    return Schedule(tuple(wide), few)


@dataclass(frozen=True)
class Gradient(parameters.GradientParameters, Method):
    """Continuous refinement of a start.

    ``max_iterations`` is the budget of all stages together; the energy and its gradient are computed at least
    once in each iteration. ``widening`` is how many times as fast wakes grow in the first stage; the next has
    half of it, and so on, down to the true wakes. 1: the true wakes alone. Without it, 16 after random-start and
    smart-start, and 1 from any other layout. ``wind`` says in which wind states the stages are climbed: few at first
    (``coarse-to-fine``) or always ``all``.
    """

    def brief(self) -> Method:
        """Return the method with a few iterations of every stage."""
        return replace(self, max_iterations=min(self.max_iterations, 16))

    def after(self, before: Method) -> Method:
        """Return the method with wide wakes first, if the previous step makes a poor start."""
        if self.widening is not None or not isinstance(before, RandomStart | SmartStart):
            return self
        return replace(self, widening=WIDENING)

    def prepare(self, problem: LayoutProblem) -> Search:
        schedule = schedule_of(problem, self.widening or 1.0, self.wind)

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  nothing is drawn
            return _refine(problem, schedule, start_for(problem, start, "gradient"), self)

        return run


def _refine(problem: LayoutProblem, schedule: Schedule, start: Layout, method: Gradient) -> Result:
    """Climb through all stages; if that leads below the start, climb from the start itself."""
    layout, evaluations, left = start, 0, method.max_iterations
    each = int(WIDE_SHARE[method.wind] * left) // max(len(schedule.wide), 1)
    problem.report.begin(left)
    value = problem.valued_at(start) if schedule.wide else None
    for stage in schedule.wide if each else ():  # at one price, if any
        if value is not None:
            whole = problem.whole(layout)
            value = value.routed(whole.x, whole.y)
        climb = Climb(stage, layout, valuation=value)
        left -= climb.run(each)
        evaluations += climb.evaluations
        layout = climb.best_layout()
    climb, spent = _with_true_wakes(problem, schedule.few_speeds, layout, left)
    evaluations += spent
    coarse, costly = schedule.wide or schedule.few_speeds is not None, problem.by_place is not None
    if coarse and problem.is_feasible(start) and (costly or _reached(climb) < problem.worth(start)):
        every = costly or method.wind == "all"
        again = method.max_iterations if every else -(-method.max_iterations // AGAIN)
        few_speeds = schedule.few_speeds if costly else None
        from_start, spent = _with_true_wakes(problem, few_speeds, start, again)
        evaluations += spent
        if not costly or _reached(from_start) > _reached(climb):
            climb = from_start
    layout = climb.best_layout()
    if costly and problem.is_feasible(start) and problem.worth(layout) < problem.worth(start):
        layout = start  # other cables are not always better ones
    return Result(layout, problem.aep(layout), climb.status, evaluations)


def _reached(climb: Climb) -> float:
    """Return the worth of the best layout of a climb, whose energy is a smooth one over several scenarios."""
    is_worth = climb.valuation is None and len(climb.problem.farm.parts) == 1
    return climb.best_energy if is_worth else climb.problem.worth(climb.best_layout())


def _with_true_wakes(
    problem: LayoutProblem, few_speeds: LayoutProblem | None, start: Layout, iterations: int
) -> tuple[Climb, int]:
    """Return the last climb, in few wind speeds before all, and the number of evaluations."""
    before, evaluations, layout = None, 0, start
    if few_speeds is not None:
        before = Climb(few_speeds, start, valuation=problem.valued_at(start))
        iterations -= before.run(iterations - max(1, round(LAST * iterations)))
        layout, evaluations = before.best_layout(), before.evaluations
    climb = Climb(problem, layout, before, problem.valued_at(layout))
    climb.run(iterations)
    return climb, evaluations + climb.evaluations
