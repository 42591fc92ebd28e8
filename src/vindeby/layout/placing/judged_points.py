"""Points of a grid that another tool judges: what a smart start needs of a farm whose wakes are not vindeby's."""

from __future__ import annotations

from typing import Protocol, final, runtime_checkable

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray


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
