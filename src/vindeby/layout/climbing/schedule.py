"""In which wakes and wind a climb is made, one after the other: from coarse to fine, or in all wind states throughout.

Wakes that grow fast are wide, and what is wide needs few directions: with wakes that grow ``factor`` times as fast,
``DIRECTIONS / factor`` of them give nearly the slopes that all give. A few wind speeds do for every width
(``thinning``). From stage to stage other directions stand for their neighbours. With the true wakes all directions
count; the last iterations are made in all wind states, and so is every comparison with the start.

The first half of the stages with wider wakes is the cheapest, and is climbed more than once where there are iterations
for it (``shaking``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vindeby.layout.climbing.thinning import thinned
from vindeby.layout.climbing.widening import stages, widened
from vindeby.layout.problem import Problem

WindChoice = Literal["coarse-to-fine", "all"]

DIRECTIONS = 480
"""Directions of a stage times the factor by which its wakes grow faster ..."""
LEAST_DIRECTIONS, MOST_DIRECTIONS = 24, 180
"""... but no fewer and no more than these."""
WIDE_SPEEDS = 6
"""Wind speeds of the stages with wider wakes."""
TRUE_SPEEDS = 8
"""Wind speeds of the stage with the true wakes, before the last."""
WIDE_SHARE = 0.5
"""The share of the iterations that is for wider wakes in all wind states, where they are dear."""
ONCE, ONCE_SHARE = 48, 8
"""From coarse to fine, so many iterations or one in so many, if that is more, are for stages that are climbed once; of
few iterations no more than half."""
LEAST_ITERATIONS = 10
"""Iterations of a stage that is climbed again, at least."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """The problems of a climb before the last: those with wider wakes, and the true wakes in few wind speeds."""

    wide: tuple[Problem, ...]
    few_speeds: Problem | None
    repeated: int
    """How many of the first of ``wide`` may be climbed more than once."""

    def budget(self, iterations: int) -> Budget:
        """How the iterations of a climb are shared out; what is left is for the true wakes."""
        many = len(self.wide)
        if not self.repeated:
            return Budget(0, (int(WIDE_SHARE * iterations) // max(many, 1),) * many)
        once = max(min((iterations + 1) // 2, ONCE), iterations // ONCE_SHARE)
        passes = max(1, (iterations - once) // (self.repeated * LEAST_ITERATIONS))
        each = (iterations - once) // (self.repeated * passes)
        later = many - self.repeated
        return Budget(passes - 1, (each,) * self.repeated + (once // (later + 1),) * later)


@dataclass(frozen=True)
class Budget:
    """How often the first stages are climbed again, and the iterations of every stage with wider wakes, each time."""

    shakes: int
    wide: tuple[int, ...]


def schedule_of(problem: Problem, widening: float, wind: WindChoice) -> Schedule:
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
