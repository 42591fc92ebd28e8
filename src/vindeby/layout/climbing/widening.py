"""The same farm with wider, weaker wakes: a smoother landscape, to be climbed first.

Narrow wakes make countless small optima: a turbine that stands in one cannot see past it. With wakes that grow
faster downwind, their momentum kept, most of these are gone, and what is best there lies near what is good
with the true ones (the idea of wake expansion continuation, Thomas, McOmber and Ning 2022, who scale widths
and keep depths). A wake model says which of its constants its wakes grow with (``growth_constants``).
"""

from __future__ import annotations

from dataclasses import replace

from vindeby.layout.problem import Problem
from vindeby.layout.with_wind import with_wind


def stages(widening: float) -> tuple[float, ...]:
    """The factors of the growth, from this one down to 2 or less: each half of the one before."""
    factors = []
    while widening > 1.0:
        factors.append(widening)
        widening /= 2.0
    return tuple(factors)


def widened(problem: Problem, factor: float) -> Problem | None:
    """The problem with wakes that grow ``factor`` times as fast; None for a model that names no growth constants."""
    farm = problem.farm
    model = farm.model.widened(factor)
    return None if model is None else replace(problem, farm=with_wind(farm, farm.states, model))
