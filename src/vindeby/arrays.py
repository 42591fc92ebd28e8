"""The arrays that most of vindeby computes with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Labelled:
    """Numbers over named axes."""

    axes: tuple[str, ...]
    values: FloatArray

    def over(self, *axes: str) -> FloatArray:
        """Return the numbers with these axes in this order; axes that they do not depend on have the length 1."""
        own = [axis for axis in axes if axis in self.axes]
        values = self.values.transpose([self.axes.index(axis) for axis in own])
        return values[tuple(slice(None) if axis in own else None for axis in axes)]

    def take(self, axis: str, where: int | IntArray) -> Labelled:
        """Return the numbers at one point of an axis, which is then gone, or at several; the same without this axis."""
        if axis not in self.axes:
            return self
        axes = tuple(one for one in self.axes if one != axis or not isinstance(where, int))
        return Labelled(axes, np.take(self.values, where, axis=self.axes.index(axis)))
