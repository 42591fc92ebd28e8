"""The choices of a smart start, compiled: one of the best points, and the points that a turbine takes.

With one turbine type in one area, a whole smart start is one compiled loop: asking Python for each choice makes
placing 1.2 to 1.4 times as long. The values are NumPy's to the bit: sums over directions are added up pairwise in
NumPy's order, distances are rounded as NumPy rounds them, and draws take the words of a ``RandomState`` as its
``randint`` does.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray
from vindeby.wake.compiling.compiled import scalar, uncounted, unfused


class Choosing(NamedTuple):
    """The points that are chosen from.

    ``allowed`` says of each point (at ``x``, ``y`` on the map) whether it is free; ``least_square`` is the square of
    the spacing; one of the best ``share`` of the points is drawn. ``words`` are random.
    """

    x: FloatArray
    y: FloatArray
    least_square: float
    allowed: BoolArray
    share: float
    words: npt.NDArray[np.uint32]


@unfused
def clear_near(choosing: Choosing, point: int) -> None:
    """Take away a point, and those that are too near to it."""
    x0, y0 = choosing.x[point], choosing.y[point]
    for c in range(choosing.x.size):
        dx, dy = choosing.x[c] - x0, choosing.y[c] - y0
        if not dx * dx + dy * dy >= choosing.least_square:
            choosing.allowed[c] = False
    choosing.allowed[point] = False


@uncounted
def _eight_sums(row: FloatArray) -> float:
    """The sum of up to 128 numbers: 8 sums side by side, which are then added up, and what is left."""
    lanes, total = row.size // 8 * 8, 0.0
    if lanes > 0:
        s0, s1, s2, s3, s4, s5, s6, s7 = row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]
        for eight in row[8:lanes].reshape(-1, 8):
            s0, s1, s2, s3 = s0 + eight[0], s1 + eight[1], s2 + eight[2], s3 + eight[3]
            s4, s5, s6, s7 = s4 + eight[4], s5 + eight[5], s6 + eight[6], s7 + eight[7]
        total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for rest in range(lanes, row.size):
        total += row[rest]
    return total


def _pairwise(halvings: int) -> Callable[[FloatArray], float]:
    """The sum of a row, added up as ``numpy.sum`` does: rows above 128 in two halves, and so on."""
    if halvings == 0:
        return _eight_sums
    sum_half = _pairwise(halvings - 1)

    @uncounted
    def pairwise_sum(row: FloatArray) -> float:
        if row.size <= 128:
            return _eight_sums(row)
        half = row.size // 2
        half -= half % 8
        return sum_half(row[:half]) + sum_half(row[half:])

    return pairwise_sum


pairwise_sum = _pairwise(12)
"""For as many as half a million numbers."""


@scalar
def draw_below(words: npt.NDArray[np.uint32], used: int, count: int) -> tuple[int, int]:
    """What ``RandomState.randint(0, count)`` would draw from these words, and how many of them are used by then.

    It takes as many low bits of a word as the largest number has, and another word if they make a larger one.
    """
    if count <= 1:
        return 0, used
    mask = 1
    while mask < count - 1:
        mask = 2 * mask + 1
    while True:
        at = np.int64(words[used % words.size]) & mask
        used += 1
        if at < count:
            return int(at), used


@scalar
def choose(energy: FloatArray, choosing: Choosing, used: int) -> tuple[int, int]:
    """The point of the next turbine, -1 if there is none, and how many random words are used by then."""
    points = choosing.allowed.nonzero()[0]  # np.flatnonzero needs np.asarray, which PyWake replaces
    if points.size == 0:
        return -1, used
    worth = np.empty(points.size)
    for n in range(points.size):
        worth[n] = pairwise_sum(energy[points[n], 0])
    count = max(1, round(choosing.share * points.size))
    if count < points.size:
        points = points[worth >= np.partition(worth, points.size - count)[points.size - count]]
    at, used = draw_below(choosing.words, used, points.size)
    return points[at], used
