"""The integral that gives the width of ``nygaard-2022``, from a table that a vectorised loop can read.

g(y) = sqrt(1 + y^2) - log((1 + sqrt(1 + y^2))/y) is y plus a function that is bounded but for the logarithm at 0. That
function is kept as cubics in y/(y + 1/4), with its own slopes at the points: right to 1e-10 for y above 0.06, to 5e-8
down to ``SMALLEST_Y``, which is a turbulence intensity of 0.01.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined

FloatArray = npt.NDArray[np.float64]

SMALLEST_Y = 0.012
_CELLS = 512
_MIDDLE = 0.25


def _cubics() -> FloatArray:
    """Four numbers a cell, constant first; zeros for the first cell, where the logarithm is, and after the last."""
    w = np.arange(1, _CELLS) / _CELLS
    y = _MIDDLE * w / (1.0 - w)
    root = np.sqrt(1.0 + y * y)
    # In the limit of an infinite y the function is -1/(2 y).
    value = np.append(1.0 / (root + y) - np.log((1.0 + root) / y), 0.0)
    slope = np.append((root / y - 1.0) * (y + _MIDDLE) ** 2 / _MIDDLE, 0.5 / _MIDDLE) / _CELLS
    rise = np.diff(value)
    cells = np.zeros((_CELLS + 1, 4))
    cells[1:-1] = np.stack(
        [
            value[:-1],
            slope[:-1],
            3.0 * rise - 2.0 * slope[:-1] - slope[1:],
            slope[:-1] + slope[1:] - 2.0 * rise,
        ],
        axis=1,
    )
    return cells.ravel()


_TABLE = _cubics()


@inlined
def growth(y: float) -> float:
    """The integral g(y)."""
    w = y / (y + _MIDDLE) * _CELLS
    cell = np.int32(w)
    t = w - cell
    i = np.uint32(4 * cell)
    return ((_TABLE[i + 3] * t + _TABLE[i + 2]) * t + _TABLE[i + 1]) * t + _TABLE[i] + y


@inlined
def growth_with_slope(y: float) -> tuple[float, float]:
    """The integral and its slope, which is that of the cubics."""
    per = 1.0 / (y + _MIDDLE)
    w = y * per * _CELLS
    cell = np.int32(w)
    t = w - cell
    i = np.uint32(4 * cell)
    c0, c1, c2, c3 = _TABLE[i], _TABLE[i + 1], _TABLE[i + 2], _TABLE[i + 3]
    slope = ((3.0 * c3 * t + 2.0 * c2) * t + c1) * (_MIDDLE * per * per * _CELLS)
    return ((c3 * t + c2) * t + c1) * t + c0 + y, slope + 1.0
