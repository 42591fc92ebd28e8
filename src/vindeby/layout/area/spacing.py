"""The least distance between turbines: how far a layout falls short.

Only pairs that stand near each other are looked at (``cells``).
"""

from __future__ import annotations

from math import sqrt

from vindeby.layout.area.cells import FEW, near_pairs
from vindeby.layout.arrays import FloatArray
from vindeby.wake.compiling.compiled import kernel

ROOM_M = -1.0
"""Pairs with more room to spare than this are not looked for."""


@kernel("spacing")
def worst_pair(
    x: FloatArray, y: FloatArray, need: FloatArray, movable: int, few: tuple[int, int] = FEW
) -> float:
    """The largest shortfall (m) of the distance of a pair below the mean of what its two need.

    Pairs of which neither is among the first ``movable`` do not count. Negative: all pairs have room to
    spare, 1 m at least if it is -1.
    """
    most = 0.0
    for i in range(x.size):
        most = max(most, need[i])
    reach = most - ROOM_M
    near = near_pairs(x, y, movable, reach, few)
    worst = ROOM_M
    for i in range(movable):
        for p in range(near.first[i], near.last[i]):
            j = near.other[p]
            dx, dy = x[i] - x[j], y[i] - y[j]
            least = 0.5 * (need[i] + need[j])
            square = dx * dx + dy * dy
            if square < (least - worst) * (least - worst):
                worst = max(worst, least - sqrt(square))
    return worst
