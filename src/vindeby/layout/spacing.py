"""The least distance between turbines: how far a layout falls short, and the way apart.

Pairs are few for a campaign's farms, so the loops are plain ones over all pairs, compiled.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import kernel

__all__ = ["push_apart", "spacing_penalty", "worst_pair"]

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


@kernel("spacing")
def spacing_penalty(
    x: FloatArray, y: FloatArray, need: FloatArray, movable: int, out_x: FloatArray, out_y: FloatArray
) -> float:
    """Half the sum of the squares of all shortfalls; its slopes are added to ``out_x`` and ``out_y``."""
    total = 0.0
    for i in range(movable):
        for j in range(i + 1, x.size):
            dx, dy = x[i] - x[j], y[i] - y[j]
            least = 0.5 * (need[i] + need[j])
            square = dx * dx + dy * dy
            if square >= least * least:
                continue
            apart = sqrt(square)
            short = least - apart
            total += 0.5 * short * short
            if apart == 0.0:
                continue
            out_x[i] -= short * dx / apart
            out_y[i] -= short * dy / apart
            if j < movable:
                out_x[j] += short * dx / apart
                out_y[j] += short * dy / apart
    return total


@kernel("spacing")
def push_apart(x: FloatArray, y: FloatArray, need: FloatArray, movable: int, share: float) -> int:
    """Move pairs that are too near away from each other, in place, by ``share`` of what they lack.

    Both move by half, but a neighbour never moves. Returns the number of pairs that were too near.
    """
    count = 0
    for i in range(movable):
        for j in range(i + 1, x.size):
            dx, dy = x[i] - x[j], y[i] - y[j]
            least = 0.5 * (need[i] + need[j])
            square = dx * dx + dy * dy
            if square >= least * least:
                continue
            count += 1
            apart = sqrt(square)
            if apart < 1e-9 * least:
                # Two on one spot part along a direction of their own, the same in every run.
                angle = 2.399963229728653 * (i + 1)
                dx, dy, apart = np.cos(angle), np.sin(angle), 1.0
                short = least * share
            else:
                short = (least - apart) * share
            move = short if j >= movable else 0.5 * short
            x[i] += move * dx / apart
            y[i] += move * dy / apart
            if j < movable:
                x[j] -= move * dx / apart
                y[j] -= move * dy / apart
    return count
