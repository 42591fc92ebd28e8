"""Climbs with wide wakes, again and again from the best so far with all turbines moved a little.

Wide wakes in few wind states cost a fraction of what the true ones cost, and tell already which of several layouts will
be the best in the end. So a part of a climb's iterations is for trying: the best layout so far is shaken, climbed
from with the widest wakes and narrower ones, and kept where that leads higher (basin hopping, Wales and Doye 1997, in
the smoothed landscape). What is narrower still is climbed once, from the best of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vindeby.layout.area.limits import Limits
from vindeby.layout.climbing.climb import Climb
from vindeby.layout.problem import Layout, Problem

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


def climb_stages(stages: Sequence[tuple[Problem, int]], start: Layout, memory: int) -> Climbed:
    """Climb each problem, so many iterations at most, from where the one before has led."""
    layout, energy, iterations, evaluations = start, -np.inf, 0, 0
    for problem, most in stages:
        climb = Climb(problem, layout, memory)
        iterations += climb.run(most)
        evaluations += climb.evaluations
        layout, energy = climb.best_layout(), climb.best_energy
    return Climbed(layout, energy, iterations, evaluations)


def climb_with_shakes(
    stages: Sequence[tuple[Problem, int]], start: Layout, memory: int, shakes: int, rng: np.random.Generator
) -> Climbed:
    """Climb these stages from the start, then so often from the best layout so far, shaken."""
    best = climb_stages(stages, start, memory)
    iterations, evaluations = best.iterations, best.evaluations
    problem = stages[-1][0]
    for _ in range(shakes if problem.is_feasible(best.layout) else 0):
        begin = shaken(problem, best.layout, rng)
        if begin is None:
            continue
        found = climb_stages(stages, begin, memory)
        iterations, evaluations = iterations + found.iterations, evaluations + found.evaluations
        if found.energy > best.energy and problem.is_feasible(found.layout):
            best = found
    return Climbed(best.layout, best.energy, iterations, evaluations)


def shaken(problem: Problem, layout: Layout, rng: np.random.Generator) -> Layout | None:
    """The layout with all turbines moved at random, mended to keep to the rules; None where that does not succeed."""
    limits = Limits(problem, layout.types)
    far = FAR * problem.farm.machines.diameter[layout.types]
    place = np.stack([layout.x, layout.y]) - limits.origin[:, None]
    place, kept = limits.restore(place + far * rng.standard_normal(place.shape), ROUNDS)
    x, y = place + limits.origin[:, None]
    return Layout(x, y, layout.types) if kept else None
