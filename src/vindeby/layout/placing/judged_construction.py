"""A smart start on a grid whose points another tool judges: all of them anew after each turbine."""

from __future__ import annotations

from typing import final

import numpy as np

from vindeby.layout.arrays import FloatArray
from vindeby.layout.placing.construction import Construction
from vindeby.layout.placing.grid_points import grid_inside
from vindeby.layout.placing.judged_points import JudgedPoints, JudgesPoints
from vindeby.layout.placing.state import State
from vindeby.layout.problem import Problem


@final
class JudgedConstruction(Construction):
    """The same choosing, in these wind directions (degrees) and speeds (m/s)."""

    def __init__(
        self, problem: Problem, size: int, random_pct: float, directions: FloatArray, speeds: FloatArray
    ) -> None:
        self.problem, self.farm, self.size, self.random_pct = problem, problem.farm, size, random_pct
        self.directions, self.speeds = directions, speeds
        self.x, self.y = grid_inside(problem, size)
        self.cell = np.arange(len(self.x))
        self.member = np.stack([zone.boundary.inside(self.x, self.y) for zone in problem.zones], axis=1)
        self.on_grid = self.compiled_choices = False

    def _new_state(self, most: int) -> State:
        state = JudgedPoints(len(self.x), most)
        self._judge(state)
        return state  # type: ignore[return-value]  # it has all that choosing needs

    def _stand(self, state: State, a: int, x0: float, y0: float, type_index: int) -> None:
        judged: JudgedPoints = state  # type: ignore[assignment]
        judged.stand(a, x0, y0, type_index)
        if a + 1 >= len(self.problem.neighbours.x):  # nobody chooses before all neighbours stand
            self._judge(judged)

    def _judge(self, state: JudgedPoints) -> None:
        farm = self.farm
        assert isinstance(farm, JudgesPoints), "others are not prepared here"
        worth = farm.point_energies(self.x, self.y, state.standing, self.directions, self.speeds)
        state.energy = worth[:, :, None]
