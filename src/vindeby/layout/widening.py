"""The same farm with wider, weaker wakes: a smoother landscape, to be climbed first.

Narrow wakes make countless small optima: a turbine that stands in one cannot see past it. With wakes that grow
faster downwind, their momentum kept, most of these are gone, and what is best there lies near what is good
with the true ones (the idea of wake expansion continuation, Thomas, McOmber and Ning 2022, who scale widths
and keep depths). Every wake model here has its growth among its constants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy.typing as npt

from vindeby.layout.problem import Problem
from vindeby.wake import WakeModel, WindFarm, WindStates

__all__ = ["stages", "widened"]

GROWTH = {
    "bastankhah-2014": (0,),
    "iea37": (0,),
    "jensen": (0,),
    "niayifar-2016": (0, 1),
    "nygaard-2022": (0,),
}
"""Which of a model's constants its wakes grow with, in proportion."""


def stages(widening: float) -> tuple[float, ...]:
    """The factors of the growth, from this one down to 2 or less: each half of the one before."""
    factors = []
    while widening > 1.0:
        factors.append(widening)
        widening /= 2.0
    return tuple(factors)


def widened(problem: Problem, factor: float) -> Problem | None:
    """The problem with wakes that grow ``factor`` times as fast; None for a model that is not known here."""
    farm = problem.farm
    model = farm.model
    if model.name not in GROWTH:
        return None
    return replace(
        problem,
        farm=WindFarm(
            _SameWind(farm.states),
            farm.turbines,
            _scaled(model, factor),
            neighbours=farm.neighbours,
            threads=farm.threads,
            tabulate=farm.tabulated,
        ),
    )


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


def _scaled(model: WakeModel, factor: float) -> WakeModel:
    growing = GROWTH[model.name]
    return replace(
        model, constants=tuple(c * factor if i in growing else c for i, c in enumerate(model.constants))
    )
