"""A smart start on a grid whose points another tool judges: all of them anew after each turbine."""

from __future__ import annotations

from typing import Protocol, final, runtime_checkable

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.placing.construction import Construction, grid_inside
from vindeby.layout.placing.state import State
from vindeby.layout.problem import Problem


@runtime_checkable
class JudgesPoints(Protocol):
    """A farm that says itself what one more turbine would make."""

    def point_energies(
        self,
        x: FloatArray,
        y: FloatArray,
        standing: tuple[FloatArray, FloatArray, IntArray],
        directions: npt.ArrayLike | None,
        speeds: npt.ArrayLike | None,
    ) -> FloatArray:
        """Mean power (W) of one more turbine at each point, by type, beside those that stand (x, y, types)."""


@final
class JudgedPoints:
    """What stands, and what the points are worth now; the counterpart of ``placing.State``."""

    def __init__(self, points: int, most: int) -> None:
        self.energy = np.zeros((points, 1, 1))
        self.occupant = np.zeros(points, np.int64)
        self._place, self._type, self._count = np.zeros((2, most)), np.zeros(most, np.int64), 0

    def stand(self, a: int, x: float, y: float, type_index: int) -> None:
        """Turbine ``a`` stands there from now on."""
        self._place[:, a], self._type[a], self._count = (x, y), type_index, a + 1

    @property
    def standing(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """x, y and type of what stands."""
        count = self._count
        return self._place[0, :count], self._place[1, :count], self._type[:count]


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
