"""stochastic-gradient: all turbines moved along gradients of sampled wind directions, the rules broken on the way.

In a dense farm a climb whose every iterate keeps to the rules jams: turbines cannot pass each other. Here the rules are
a penalty that grows while the steps shrink, after Quick et al. (2023, "Stochastic gradient descent for wind farm
optimization", Wind Energy Science 8, 1235-1250), with the steps of Adam (Kingma and Ba 2015): at first turbines pass
through each other, at the end they are apart but for centimetres. Each step takes a few wind directions, which makes it
cheap and keeps it from the first optimum it meets. The wakes are wide at first (``widening``).

What comes out is mended and refined by ``gradient`` with all directions. Where it is worse than a start that keeps to
the rules, the start is refined instead: it is never made worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from vindeby import parameters
from vindeby.layout.area.limits import Limits
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.climbing.simplified_farm import sampled_farms, stages
from vindeby.layout.method import Method, Result, Search, start_for
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.placing.construction import JudgesPoints
from vindeby.layout.problem import Layout, Problem
from vindeby.wake import WindFarm
from vindeby.wake.compiling.compiled import kernel

WIDENING = 16.0
"""How many times as fast wakes grow at first; then half of it, and so on."""
WIDE = 0.6
"""The share of the steps that is made with wider wakes, the same number with each width."""
FIRST_STEP, LAST_STEP = 1.5, 0.005
"""How far a turbine moves in a step, in rotor diameters; shorter by the same factor from step to step."""
PENALTY = 3.0
"""How much stronger than energy the rules pull on a turbine that breaks one by the length of a step."""
MEAN, SQUARE = 0.9, 0.99
"""How much of the last step's mean gradient, and mean square, the next one keeps."""
REFINING = 20
"""One iteration with all directions for so many steps; as many as the refinement may take at the end."""


@final
@dataclass(frozen=True)
class StochasticGradient(parameters.StochasticGradient, Method):
    """Refinement of a start that may break the rules on its way.

    ``max_iterations`` is the number of steps; ``samples`` how many wind directions each of them takes.
    """

    def prepare(self, problem: Problem) -> Search:
        """Make the farm in a few directions at a time, with wakes of each width."""
        widths = _widths(problem.farm, self.samples)
        refine = Gradient(max(1, self.max_iterations // REFINING), widening=1.0).prepare(problem)

        def run(seed: int, start: Layout | None = None) -> Result:
            start = start_for(problem, start, "stochastic-gradient")
            limits = Limits(problem, start.types)
            place = np.stack([start.x, start.y]) - limits.origin[:, None]
            place = _descend(problem, limits, widths, place, start, self.max_iterations, seed)
            place, kept = limits.restore(place, rounds=2000)
            x, y = place + limits.origin[:, None]
            found = refine(seed, Layout(x, y, start.types) if kept else start)
            evaluations = self.max_iterations + found.evaluations
            if kept and problem.is_feasible(start) and found.aep_gwh < problem.aep(start):
                found = refine(seed, start)
                evaluations += found.evaluations
            return Result(found.layout, found.aep_gwh, "budget", evaluations)

        return run


def _widths(farm: WindFarm, samples: int) -> list[list[WindFarm]]:
    """For each width of the wakes, the widest first, the farm in each group of directions."""
    if isinstance(farm, JudgesPoints):  # computed by another tool, in all directions at once
        return [[farm]]
    wider = [farm.model.widened(factor) for factor in stages(WIDENING)]
    models = [model for model in wider if model is not None] + [farm.model]
    return [sampled_farms(farm, samples, model) for model in models]


def _descend(
    problem: Problem,
    limits: Limits,
    widths: list[list[WindFarm]],
    place: FloatArray,
    start: Layout,
    steps: int,
    seed: int,
) -> FloatArray:
    """All steps of Adam; where the turbines stand after them, nearly in keeping with the rules."""
    rng = np.random.default_rng(seed)
    diameter = float(problem.farm.machines.diameter.max())
    mean, square, push = np.zeros_like(place), np.zeros_like(place), np.empty_like(place)
    wide, size = len(widths) - 1, 0.0
    order: list[int] = []
    problem.report.begin(steps)
    for step in range(1, steps + 1):
        problem.report.advance()
        done = step / steps
        # Every group once, in a new order each time.
        order = order or rng.permutation(len(widths[0])).tolist()
        farm = widths[min(int(done / WIDE * wide), wide)][order.pop()]
        length = diameter * FIRST_STEP * (LAST_STEP / FIRST_STEP) ** done
        slope = _slope(problem, farm, limits, place, start)
        now = float(np.sqrt((slope * slope).mean()))
        size = now if step == 1 else MEAN * size + (1.0 - MEAN) * now
        push[:] = 0.0
        _push_apart(*limits.broken(place), push)
        slope += PENALTY * size / length * push
        mean += (1.0 - MEAN) * (slope - mean)
        square += (1.0 - SQUARE) * (slope * slope - square)
        unbiased = mean / (1.0 - MEAN**step)
        place = place + length * unbiased / (np.sqrt(square / (1.0 - SQUARE**step)) + 1e-300)
    return place


def _slope(problem: Problem, farm: WindFarm, limits: Limits, place: FloatArray, start: Layout) -> FloatArray:
    """The gradient of the energy in the directions of this farm."""
    x, y = place + limits.origin[:, None]
    whole = problem.whole(Layout(x, y, start.types))
    _, east, north = farm.aep_and_gradient(whole.x, whole.y, whole.types)
    return np.stack([east[: len(x)], north[: len(x)]])


@kernel()
def _push_apart(rows: IntArray, normals: FloatArray, rooms: FloatArray, push: FloatArray) -> None:
    """Add how far (m) each turbine breaks each rule, in the direction that mends it."""
    for r in range(rooms.size):
        if rooms[r] >= 0.0:
            continue
        i, j = rows[r, 0], rows[r, 1]
        push[0, i] -= rooms[r] * normals[r, 0]
        push[1, i] -= rooms[r] * normals[r, 1]
        if j >= 0:
            push[0, j] += rooms[r] * normals[r, 0]
            push[1, j] += rooms[r] * normals[r, 1]
