"""The least distance between turbines: how far a layout falls short.

Pairs are few for a campaign's farms, so the loop is a plain one over all pairs, compiled.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import kernel

__all__ = ["worst_pair"]

FloatArray = npt.NDArray[np.float64]


@kernel("spacing")
def worst_pair(x: FloatArray, y: FloatArray, need: FloatArray, movable: int) -> float:
    """The largest shortfall (m) of the distance of a pair below the mean of what its two need.

    Pairs of which neither is among the first ``movable`` do not count. Negative: all pairs have room to
    spare.
    """
    worst = -np.inf
    for i in range(movable):
        for j in range(i + 1, x.size):
            dx, dy = x[i] - x[j], y[i] - y[j]
            least = 0.5 * (need[i] + need[j])
            square = dx * dx + dy * dy
            if worst == -np.inf or square < (least - worst) * (least - worst):
                worst = max(worst, least - sqrt(square))
    return worst
