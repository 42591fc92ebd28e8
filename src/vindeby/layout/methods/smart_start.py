"""smart-start: one turbine after the other, each where it would give most.

The greedy construction that TopFarm made popular (``topfarm.utils.smart_start`` with
``get_aep4smart_start``), with the same points, values and random draws, so that a seed gives the layout it
gives there. Points of a grid over the boundary's bounding box are kept if they are inside. At each step the
energy that one more turbine would make at every free point is computed in the wakes of those placed so far:
at a point at hub height, without its wake on the others. Among the best ``random_pct`` percent of the points
(at least one, and all that equal the last of them) one is drawn, and the points nearer than the spacing are
removed.

``placing`` does the work. What differs from TopFarm, on purpose:
points too near to a neighbour are never used; a point is used once even if the spacing is 0; and with several
types, a type that is too large for a point is never drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vindeby import parameters
from vindeby.arrays import FloatArray
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.placing.construction import (
    Construction,
    JudgesPoints,
    foreign_construction,
    own_construction,
)
from vindeby.layout.problem import Layout, Problem
from vindeby.wake import WindFarm

DEFAULT_SPEEDS = (6.0, 8.0, 10.0, 12.0, 14.0)


@dataclass(frozen=True)
class SmartStart(parameters.SmartStart, Method):
    """Greedy construction on a grid.

    ``wind_speeds`` (m/s) and ``wind_directions`` (degrees) are those in which points are judged; by default 6,
    8, 10, 12, 14 m/s and every whole degree. A site that is a time series is taken as it is.
    """

    wind_speeds: Sequence[float] | None = None
    wind_directions: Sequence[float] | None = None

    def __repr__(self) -> str:
        chosen = "".join(
            f", {name}=<{len(values)} values>"
            for name in ("wind_speeds", "wind_directions")
            if (values := getattr(self, name)) is not None
        )
        return f"SmartStart(grid_size={self.grid_size}, random_pct={self.random_pct:g}{chosen})"

    def prepare(self, problem: Problem) -> Search:
        """Work out the grid and the wakes on it."""
        construct = self.construction(problem).construct

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  a construction needs no start
            layout = construct(seed)
            return Result(layout, problem.aep(layout), "complete", 1)

        return run

    def construction(self, problem: Problem) -> Construction:
        """What all seeds share, with vindeby's wakes or those of another tool."""
        if isinstance(problem.farm, JudgesPoints):
            return foreign_construction(
                problem, self.grid_size, self.random_pct, self._directions, self._speeds
            )
        return own_construction(problem, self.judging_farm(problem), self.grid_size, self.random_pct)

    def judging_farm(self, problem: Problem) -> WindFarm:
        """The problem's farm in the wind states in which points are judged."""
        farm = problem.farm
        if farm.states.step is not None:
            return farm
        return WindFarm(
            farm.site,
            farm.turbines,
            farm.model,
            directions=self._directions,
            speeds=self._speeds,
            neighbours=farm.neighbours,
        )

    @property
    def _directions(self) -> FloatArray:
        return np.arange(360.0) if self.wind_directions is None else np.array(self.wind_directions)

    @property
    def _speeds(self) -> FloatArray:
        return np.array(self.wind_speeds or DEFAULT_SPEEDS)
