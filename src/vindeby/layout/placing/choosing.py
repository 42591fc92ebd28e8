"""The choices of a smart start, compiled: one of the best points, and the points that a turbine takes.

With one turbine type in one area, a whole smart start is one compiled loop: asking Python for each choice makes
placing 1.2 to 1.4 times as long. The values are NumPy's to the bit: sums over directions are added up pairwise in
NumPy's order, distances are rounded as NumPy rounds them, and draws take the words of a ``RandomState`` as its
``randint`` does.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.wake.compiling.compiled import kernel, scalar, uncounted, unfused


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
def _eight_sums(row: FloatArray, first: int, size: int) -> float:
    """The sum of up to 128 numbers: 8 sums side by side, which are then added up, and what is left."""
    lanes, total = first + size // 8 * 8, 0.0
    if lanes > first:
        s0, s1, s2, s3 = row[first], row[first + 1], row[first + 2], row[first + 3]
        s4, s5, s6, s7 = row[first + 4], row[first + 5], row[first + 6], row[first + 7]
        for at in range(first + 8, lanes, 8):
            s0, s1, s2, s3 = s0 + row[at], s1 + row[at + 1], s2 + row[at + 2], s3 + row[at + 3]
            s4, s5, s6, s7 = s4 + row[at + 4], s5 + row[at + 5], s6 + row[at + 6], s7 + row[at + 7]
        total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for rest in range(lanes, first + size):
        total += row[rest]
    return total


MOST_HALVINGS = 48
"""Of a row, on the way to parts of at most 128 numbers."""


@uncounted
def pairwise_sum(row: FloatArray, waiting: IntArray, sums: FloatArray) -> float:
    """The sum of a row, added up as ``numpy.sum`` does: rows above 128 in two halves, and so on.

    ``waiting`` (MOST_HALVINGS, 2) is room for where second halves begin and how long they are, ``sums`` (MOST_HALVINGS)
    for those of first halves. A half of length 0 is being added up.
    """
    first, size, halvings = 0, row.size, 0
    while True:
        while size > 128:
            half = size // 2
            half -= half % 8
            waiting[halvings, 0], waiting[halvings, 1] = first + half, size - half
            size, halvings = half, halvings + 1
        total = _eight_sums(row, first, size)
        while halvings > 0 and waiting[halvings - 1, 1] == 0:
            halvings -= 1
            total += sums[halvings]
        if halvings == 0:
            return total
        sums[halvings - 1] = total
        first, size = waiting[halvings - 1, 0], waiting[halvings - 1, 1]
        waiting[halvings - 1, 1] = 0


@uncounted
def partition(values: FloatArray, place: int) -> float:
    """The value that is at this place in sorted order (Hoare's selection); the others are rearranged around it.

    Numba's ``np.partition`` takes 10 s to compile.
    """
    low, high = 0, values.size - 1
    while low < high:
        pivot, left, right = values[(low + high) // 2], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    return values[place]


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


@kernel()
def choose(energy: FloatArray, choosing: Choosing, used: int) -> tuple[int, int]:
    """The point of the next turbine, -1 if there is none, and how many random words are used by then."""
    waiting, sums = np.empty((MOST_HALVINGS, 2), np.int64), np.empty(MOST_HALVINGS)
    points, worth, count = np.empty(energy.shape[0], np.int64), np.empty(energy.shape[0]), 0
    for c in range(energy.shape[0]):
        if choosing.allowed[c]:
            points[count], worth[count] = c, pairwise_sum(energy[c, 0], waiting, sums)
            count += 1
    if count == 0:
        return -1, used
    best = max(1, round(choosing.share * count))
    if best < count:
        least, considered, count = partition(worth[:count].copy(), count - best), count, 0
        for n in range(considered):
            if worth[n] >= least:
                points[count] = points[n]
                count += 1
    at, used = draw_below(choosing.words, used, count)
    return points[at], used
