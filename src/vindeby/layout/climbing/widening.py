"""The same farm with wider, weaker wakes: a smoother landscape, to be climbed first.

Narrow wakes make countless small optima: a turbine that stands in one cannot see past it. With wakes that grow
faster downwind, their momentum kept, most of these are gone, and what is best there lies near what is good
with the true ones (the idea of wake expansion continuation, Thomas, McOmber and Ning 2022, who scale widths
and keep depths). A wake model says which of its constants its wakes grow with (``growth_constants``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy.typing as npt

from vindeby.layout.problem import Problem
from vindeby.wake import GriddedSite, Site, WindFarm, WindStates

__all__ = ["stages", "widened"]


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
    if model is None:
        return None
    return replace(
        problem,
        farm=WindFarm(
            _same_wind(farm),
            farm.turbines,
            model,
            neighbours=farm.neighbours,
            threads=farm.threads,
            tabulate=farm.tabulated or farm.by_width,
        ),
    )


def _same_wind(farm: WindFarm) -> Site:
    """A site that has the farm's wind states, and its local wind if there is any."""
    same = _SameWind(farm.states)
    return replace(farm.site, rose=same) if isinstance(farm.site, GriddedSite) else same


@dataclass(frozen=True, eq=False)
class _SameWind:
    """A site that has these wind states."""

    wind: WindStates

    def states(
        self,
        directions: npt.ArrayLike | None = None,  # noqa: ARG002  they were chosen before
        speeds: npt.ArrayLike | None = None,  # noqa: ARG002
    ) -> WindStates:
        return self.wind
