"""gradient: all turbines moved together along the gradient of the yearly energy, to a local optimum.

One climb (``climbing.climb``) ends at the first optimum it meets. So the same climb is made first with wider
wakes, narrower from stage to stage (``widening``), which leads to far better optima than a start has nearby; and
in few wind states, more from stage to stage (``wind``), which leads there at a fraction of the cost. The cheapest
stages are climbed again and again from the best layout so far, shaken (``climbing.stages``). The last iterations are
made with the true wakes in all wind states, and a start that keeps to the rules is never made worse there. A start
that breaks them is mended first.

With costs, cables are routed at the beginning of every stage, and an LCOE gives its price to the stages with wider
wakes and, found anew, to each of those with the true wakes.
"""

from dataclasses import dataclass, replace

import numpy as np

from vindeby import parameters
from vindeby.layout.climbing.climb import Climb
from vindeby.layout.climbing.stages import (
    Schedule,
    StageIterations,
    climb_stages,
    climb_with_shakes,
    schedule_of,
)
from vindeby.layout.method import Method, Result, Search, start_for
from vindeby.layout.problem import Layout, LayoutProblem

LAST = 0.1
"""The share of the iterations with the true wakes that is for all wind states, where there are few speeds before."""
AGAIN = 3
"""Where a climb from coarse to fine has led below the start, one in so many iterations is for a climb from there. With
costs always, and as many again: where wakes are wide, turbines crowd where the ground is cheap, and may stay there."""


@dataclass(frozen=True)
class Gradient(parameters.Gradient, Method):
    """Continuous refinement of a start.

    ``max_iterations`` is the budget of all stages together; the energy and its gradient are computed at least
    once in each iteration. ``widening`` is how many times as fast wakes grow in the first stage; the next has
    half of it, and so on, down to the true wakes. 1: the true wakes alone. ``wind`` says in which wind states the
    stages are climbed: few at first (``coarse-to-fine``) or always ``all``. From coarse to fine, more iterations mean
    more shakes; in ``all`` wind states there are none. ``memory`` is from how many last steps the curvature is
    estimated (a quasi-Newton method); 0: the length of the last step alone.
    """

    def brief(self) -> Method:
        """A few iterations of every stage."""
        return replace(self, max_iterations=min(self.max_iterations, 16))

    def prepare(self, problem: LayoutProblem) -> Search:
        """Make the stages. A seed is for the shakes; with few iterations there are none."""
        schedule = schedule_of(problem, self.widening, self.wind)

        def run(seed: int, start: Layout | None = None) -> Result:
            start = start_for(problem, start, "gradient")
            return _refine(problem, schedule, start, self, np.random.default_rng(seed))

        return run


def _refine(
    problem: LayoutProblem, schedule: Schedule, start: Layout, method: Gradient, rng: np.random.Generator
) -> Result:
    """Climb through all stages; if that leads below the start, climb from the start itself."""
    layout, evaluations, left, memory = start, 0, method.max_iterations, method.memory
    budget = schedule.budget(left)
    stages = list(zip(schedule.wide, budget.wide, strict=True))
    problem.report.begin(left, _work(problem, schedule, budget, left))
    value = problem.valued_at(start) if stages else None
    if first := stages[: schedule.repeated]:
        climbed = climb_with_shakes(first, layout, memory, budget.shakes, rng, value)
        layout, evaluations, left = climbed.layout, climbed.evaluations, left - climbed.iterations
    climbed = climb_stages(stages[schedule.repeated :], layout, memory, value)
    layout, evaluations, left = climbed.layout, evaluations + climbed.evaluations, left - climbed.iterations
    climb, spent = _with_true_wakes(problem, schedule.few_speeds, layout, left, memory)
    evaluations += spent
    coarse, costly = schedule.wide or schedule.few_speeds is not None, problem.by_place is not None
    if coarse and problem.is_feasible(start) and (costly or _reached(climb) < problem.worth(start)):
        every = costly or method.wind == "all"
        again = method.max_iterations if every else -(-method.max_iterations // AGAIN)
        few_speeds = schedule.few_speeds if costly else None
        from_start, spent = _with_true_wakes(problem, few_speeds, start, again, memory)
        evaluations += spent
        if not costly or _reached(from_start) > _reached(climb):
            climb = from_start
    layout = climb.best_layout()
    if (
        problem.by_place is not None
        and problem.is_feasible(start)
        and problem.worth(layout) < problem.worth(start)
    ):
        layout = start  # other cables are not always better ones
    return Result(layout, problem.aep(layout), climb.status, evaluations)


def _reached(climb: Climb) -> float:
    """What the best layout of a climb is worth; over several scenarios, the energy of the climb is a smooth one."""
    is_worth = climb.valuation is None and len(climb.problem.farm.parts) == 1
    return climb.best_energy if is_worth else climb.problem.worth(climb.best_layout())


def _work(problem: LayoutProblem, schedule: Schedule, budget: StageIterations, iterations: int) -> float:
    """How many wind states the iterations of all stages evaluate, if none ends early."""
    spent = np.array(budget.wide, float)
    spent[: schedule.repeated] *= 1 + budget.shakes
    few = schedule.few_speeds or problem
    *wide, few_states, all_states = (len(one.farm.states.speed) for one in (*schedule.wide, few, problem))
    true = (1.0 - LAST) * few_states + LAST * all_states
    return float(spent @ np.array(wide, float) + (iterations - spent.sum()) * true)


def _with_true_wakes(
    problem: LayoutProblem, few_speeds: LayoutProblem | None, start: Layout, iterations: int, memory: int
) -> tuple[Climb, int]:
    """The last climb, in few wind speeds before all; and how often the energy was computed."""
    before, evaluations, layout = None, 0, start
    if few_speeds is not None:
        before = Climb(few_speeds, start, memory, valuation=problem.valued_at(start))
        iterations -= before.run(iterations - max(1, round(LAST * iterations)))
        layout, evaluations = before.best_layout(), before.evaluations
    climb = Climb(problem, layout, memory, before, problem.valued_at(layout))
    climb.run(iterations)
    return climb, evaluations + climb.evaluations
