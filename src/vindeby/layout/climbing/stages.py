"""The stages of a climb: which wakes and wind states it is made in, and how often each stage is climbed.

Wakes that grow fast are wide, and what is wide needs few directions: with wakes that grow ``factor`` times as fast,
``DIRECTIONS / factor`` directions give nearly the same slopes as all of them. A few wind speeds are enough for every
width (``simplified_farm``). From stage to stage other directions stand for their neighbours. With the true wakes all
directions count; the last iterations are made in all wind states, and so is every comparison with the start.

Wide wakes in few wind states cost a fraction of the true ones, and already show which of several layouts will be the
best in the end. So the first half of the stages with wider wakes is climbed more than once where there are enough
iterations: the best layout so far is perturbed, climbed from with the widest wakes and narrower ones, and kept where
that leads higher (basin hopping, Wales and Doye 1997, in the smoothed landscape). Narrower wakes are climbed once,
from the best of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vindeby.layout.area.limits import Limits
from vindeby.layout.climbing.climb import Climb
from vindeby.layout.climbing.simplified_farm import stages, thinned, widened
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.layout.valuation import Valuation
from vindeby.parameters import WindChoice as WindChoice

DIRECTIONS = 480
"""Directions of a stage times the factor by which its wakes grow faster ..."""
LEAST_DIRECTIONS, MOST_DIRECTIONS = 24, 180
"""... but no fewer and no more than these."""
WIDE_SPEEDS = 6
"""Wind speeds of the stages with wider wakes."""
TRUE_SPEEDS = 8
"""Wind speeds of the stage with the true wakes, before the last."""
WIDE_SHARE = 0.5
"""The share of the iterations that is for wider wakes in all wind states, where they are expensive."""
ONCE, ONCE_SHARE = 48, 8
"""From coarse to fine, so many iterations or one in so many, if that is more, are for stages that are climbed once; of
few iterations no more than half."""
LEAST_ITERATIONS = 10
"""Iterations of a stage that is climbed again, at least."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """The problems of a climb before the last: those with wider wakes, and the true wakes in few wind speeds."""

    wide: tuple[LayoutProblem, ...]
    few_speeds: LayoutProblem | None
    repeated: int
    """How many of the first of ``wide`` may be climbed more than once."""

    def budget(self, iterations: int) -> StageIterations:
        """How the iterations of a climb are shared out; what is left is for the true wakes."""
        many = len(self.wide)
        if not self.repeated:
            return StageIterations(0, (int(WIDE_SHARE * iterations) // max(many, 1),) * many)
        once = max(min((iterations + 1) // 2, ONCE), iterations // ONCE_SHARE)
        passes = max(1, (iterations - once) // (self.repeated * LEAST_ITERATIONS))
        each = (iterations - once) // (self.repeated * passes)
        later = many - self.repeated
        return StageIterations(passes - 1, (each,) * self.repeated + (once // (later + 1),) * later)


@dataclass(frozen=True)
class StageIterations:
    """How often the first stages are climbed again, and the iterations of every stage with wider wakes, each time."""

    shakes: int
    wide: tuple[int, ...]


def schedule_of(problem: LayoutProblem, widening: float, wind: WindChoice) -> Schedule:
    """The stages for this problem; fewer where its wakes cannot be widened or its wind states not thinned."""
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
    return Schedule(tuple(wide), few, (len(wide) + 1) // 2 if wind == "coarse-to-fine" else 0)


FAR = 2.0
"""How far a shake moves a turbine to each side, in rotor diameters (standard deviation)."""
ROUNDS = 200
"""So often a shaken layout is mended before it is given up."""


@dataclass(frozen=True, eq=False)
class Climbed:
    """Where climbs have led: the energy is that of the last of their problems."""

    layout: Layout
    energy: float
    iterations: int
    evaluations: int


def climb_stages(
    stages: Sequence[tuple[LayoutProblem, int]],
    start: Layout,
    memory: int,
    valuation: Valuation | None = None,
) -> Climbed:
    """Climb each problem, so many iterations at most, from where the one before has led; at one price, if any."""
    layout, energy, iterations, evaluations = start, -np.inf, 0, 0
    for problem, most in stages:
        if valuation is not None:
            whole = problem.whole(layout)
            valuation = valuation.routed(whole.x, whole.y)
        climb = Climb(problem, layout, memory, valuation=valuation)
        iterations += climb.run(most)
        evaluations += climb.evaluations
        layout, energy = climb.best_layout(), climb.best_energy
    return Climbed(layout, energy, iterations, evaluations)


def climb_with_shakes(
    stages: Sequence[tuple[LayoutProblem, int]],
    start: Layout,
    memory: int,
    shakes: int,
    rng: np.random.Generator,
    valuation: Valuation | None = None,
) -> Climbed:
    """Climb these stages from the start, then so often from the best layout so far, shaken."""
    best = climb_stages(stages, start, memory, valuation)
    iterations, evaluations = best.iterations, best.evaluations
    problem = stages[-1][0]
    for _ in range(shakes if problem.is_feasible(best.layout) else 0):
        begin = shaken(problem, best.layout, rng)
        if begin is None:
            continue
        found = climb_stages(stages, begin, memory, valuation)
        iterations, evaluations = iterations + found.iterations, evaluations + found.evaluations
        if found.energy > best.energy and problem.is_feasible(found.layout):
            best = found
    return Climbed(best.layout, best.energy, iterations, evaluations)


def shaken(problem: LayoutProblem, layout: Layout, rng: np.random.Generator) -> Layout | None:
    """The layout with all turbines moved at random, mended to keep to the rules; None where that does not succeed."""
    limits = Limits(problem, layout.types)
    far = FAR * problem.farm.turbine_arrays.diameter[layout.types]
    place = np.stack([layout.x, layout.y]) - limits.origin[:, None]
    place, kept = limits.restore(place + far * rng.standard_normal(place.shape), ROUNDS)
    x, y = place + limits.origin[:, None]
    return Layout(x, y, layout.types) if kept else None
