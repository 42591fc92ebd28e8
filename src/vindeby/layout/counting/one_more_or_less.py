"""The small steps between layouts of neighbouring counts: one turbine less, or one more.

The turbine that is left out is the one without which the farm keeps most energy; the one that is added comes to the
best of many free places. Where there is no free place, all turbines are pushed apart to make room for it.
"""

from __future__ import annotations

import numpy as np

from vindeby.layout.area.limits import Limits
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.elsewhere import worth_elsewhere
from vindeby.layout.problem import Layout, Problem, joined

PLACES = 300
"""Random places that are looked at for one more turbine."""
PUSHES, ROUNDS = 8, 300
"""Where none is free: how many of them are tried, and how long turbines are pushed apart each time."""


def without_the_least(problem: Problem, layout: Layout) -> tuple[Layout, int]:
    """The layout less the turbine that the farm misses least, and how many energies were computed for it.

    ``problem`` is of any number of turbines: only its energies are asked.
    """
    many = len(layout.x)
    kept = [_picked(layout, np.flatnonzero(np.arange(many) != i)) for i in range(many)]
    return kept[int(np.argmax([problem.aep(one) for one in kept]))], many


def with_one_more(
    problem: Problem, layout: Layout, kind: int, rng: np.random.Generator
) -> tuple[Layout | None, int]:
    """The layout and one more turbine of a type, and how many energies were computed; None where it has no room.

    ``problem`` is that of the larger number of turbines.
    """
    east, north = problem.zones[0].boundary.sample(rng, PLACES)
    free = _free(problem, layout, kind, east, north)
    if not len(free):
        return _pushed_apart(problem, layout, kind, east[:PUSHES], north[:PUSHES])
    more = _grown(layout, kind, east[free[0]], north[free[0]])
    value = worth_elsewhere(problem, more, len(layout.x))
    best = free[int(np.argmax([value(east[place], north[place]) for place in free]))]
    return _grown(layout, kind, east[best], north[best]), len(free)


def _free(problem: Problem, layout: Layout, kind: int, east: FloatArray, north: FloatArray) -> IntArray:
    """Which of some places are far enough from all turbines and neighbours."""
    others, spacing = joined(layout, problem.neighbours), problem.spacing_by_type
    need = 0.5 * (spacing[others.types] + spacing[kind])
    apart = np.hypot(east[:, None] - others.x, north[:, None] - others.y)
    return np.flatnonzero((apart >= need).all(axis=1))


def _pushed_apart(
    problem: Problem, layout: Layout, kind: int, east: FloatArray, north: FloatArray
) -> tuple[Layout | None, int]:
    """The best of the layouts in which the others make room for one at a place."""
    limits = Limits(problem, np.append(layout.types, kind))
    best, most, computed = None, -np.inf, 0
    for px, py in zip(east, north, strict=True):
        more = _grown(layout, kind, px, py)
        place, _ = limits.restore(np.stack([more.x, more.y]) - limits.origin[:, None], ROUNDS)
        x, y = place + limits.origin[:, None]
        more = Layout(x, y, more.types)
        if problem.is_feasible(more):
            computed += 1
            if (aep_gwh := problem.aep(more)) > most:
                best, most = more, aep_gwh
    return best, computed


def _grown(layout: Layout, kind: int, x: float, y: float) -> Layout:
    return joined(layout, Layout.of([x], [y], kind))


def _picked(layout: Layout, which: IntArray) -> Layout:
    return Layout(layout.x[which], layout.y[which], layout.types[which])
