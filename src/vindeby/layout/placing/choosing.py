"""The choices of a smart start, compiled: the best points, a draw among them, and the points that a turbine takes.

With one turbine type in one area, a whole smart start is one call of the loop in ``step``: asking Python for each
choice costs a quarter of the time. The values are NumPy's to the bit: sums over directions are added up pairwise in
NumPy's order, distances are rounded as NumPy rounds them, and draws take the words of a ``RandomState`` as its
``randint`` does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.placing.state import State
from vindeby.wake.compiling.compiled import scalar, unfused

CHOSEN, FINISHED, NO_ROOM, OUT_OF_WORDS = 0, 1, 2, 3
"""What came of a choice: a turbine to be put into the wind, the last one, or neither."""

_BLOCK, _LANES = 128, 8
"""NumPy adds up to so many numbers in so many sums side by side, and halves longer rows."""


class Choosing(NamedTuple):
    """What choices need and leave: ``chosen`` has room for a point per turbine; with none, nothing is chosen.

    ``allowed`` says of each point (at ``x``, ``y`` on the map) whether it is free; ``least_square`` is the square of
    the spacing; ``best`` says by the number of free points how many are chosen from. ``words`` are random;
    ``progress`` counts the turbines chosen and the words used. ``length`` and ``merges`` tell how to add up a row
    (see ``pairwise_blocks``); the others are room to work in.
    """

    x: FloatArray
    y: FloatArray
    least_square: float
    allowed: npt.NDArray[np.bool_]
    best: IntArray
    words: npt.NDArray[np.uint32]
    progress: IntArray
    chosen: IntArray
    length: IntArray
    merges: IntArray
    sums: FloatArray
    worth: FloatArray
    sorting: FloatArray
    candidate: IntArray


def new_choosing(
    x: FloatArray,
    y: FloatArray,
    least_square: float,
    allowed: npt.NDArray[np.bool_],
    random_pct: float,
    directions: int,
    turbines: int,
) -> Choosing:
    """Room for the choices of so many turbines among these points; words are still to be drawn."""
    points = len(x)
    length, merges = pairwise_blocks(directions)
    return Choosing(
        x=x,
        y=y,
        least_square=least_square,
        allowed=allowed,
        best=np.maximum(1, np.round(random_pct / 100 * np.arange(points + 1))).astype(np.int64),
        words=np.empty(0, np.uint32),
        progress=np.zeros(2, np.int64),
        chosen=np.zeros(turbines, np.int64),
        length=length,
        merges=merges,
        sums=np.zeros(len(length) + 1),
        worth=np.zeros(points),
        sorting=np.zeros(points),
        candidate=np.zeros(points, np.int64),
    )


def no_choosing() -> Choosing:
    """For turbines whose places are known."""
    none = np.empty(0)
    return new_choosing(none, none, 0.0, np.empty(0, np.bool_), 0.0, 0, 0)


def pairwise_blocks(count: int) -> tuple[IntArray, IntArray]:
    """How NumPy adds up a row: blocks one after another, and how many sums are merged after each block."""
    if count <= _BLOCK:
        return np.array([count]), np.array([0])
    half = count // 2
    half -= half % _LANES
    (first, after_first), (second, after_second) = pairwise_blocks(half), pairwise_blocks(count - half)
    after_second[-1] += 1
    return np.concatenate([first, second]), np.concatenate([after_first, after_second])


@scalar
def choose(state: State, choosing: Choosing, a: int) -> int:
    """Choose the point of turbine ``a``, and clear the points around it."""
    i, free = choosing.progress[0], 0
    for c in range(choosing.x.size):
        choosing.candidate[free] = c
        free += choosing.allowed[c]
    if free == 0:
        return NO_ROOM
    for n in range(free):
        row = state.energy[choosing.candidate[n], 0]
        choosing.worth[n] = pairwise_sum(row, choosing.length, choosing.merges, choosing.sums)
    enough = keep_best(choosing.worth, choosing.sorting, choosing.candidate, free, choosing.best[free])
    at = draw_below(choosing.words, choosing.progress, enough)
    if at < 0:
        return OUT_OF_WORDS
    point = choosing.candidate[at]
    choosing.chosen[i] = point
    choosing.progress[0] = i + 1
    if i + 1 == choosing.chosen.size:
        return FINISHED
    clear_near(choosing, point)
    for c in range(choosing.x.size):
        cell = state.point_cell[c]
        if not choosing.allowed[c] and state.occupant[cell] > 0:
            state.occupant[cell] = 0
    cell = state.point_cell[point]
    state.occupant[cell] = -(a + 1)
    state.cell[a], state.type_index[a] = cell, 0
    state.place[a, 0], state.place[a, 1] = state.point[point, 0], state.point[point, 1]
    return CHOSEN


@unfused
def clear_near(choosing: Choosing, point: int) -> None:
    """Take away a point, and those that are too near to it."""
    x0, y0 = choosing.x[point], choosing.y[point]
    for c in range(choosing.x.size):
        dx, dy = choosing.x[c] - x0, choosing.y[c] - y0
        if not dx * dx + dy * dy >= choosing.least_square:
            choosing.allowed[c] = False
    choosing.allowed[point] = False


@unfused
def pairwise_sum(row: FloatArray, length: IntArray, merges: IntArray, sums: FloatArray) -> float:
    """The sum of a row, added up as ``numpy.sum`` does; ``sums`` is room to work in."""
    start = height = 0
    for block in range(length.size):
        end, lanes = start + length[block], length[block] // _LANES
        part, total = row[start:end], 0.0
        if lanes > 0:
            s0, s1, s2, s3, s4, s5, s6, s7 = (
                part[0],
                part[1],
                part[2],
                part[3],
                part[4],
                part[5],
                part[6],
                part[7],
            )
            # Unsigned: no test for negative places, which costs more than the sum.
            for lane in range(np.uint64(1), np.uint64(lanes)):
                j = lane * np.uint64(_LANES)
                s0, s1 = s0 + part[j], s1 + part[j + np.uint64(1)]
                s2, s3 = s2 + part[j + np.uint64(2)], s3 + part[j + np.uint64(3)]
                s4, s5 = s4 + part[j + np.uint64(4)], s5 + part[j + np.uint64(5)]
                s6, s7 = s6 + part[j + np.uint64(6)], s7 + part[j + np.uint64(7)]
            total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        for rest in range(lanes * _LANES, part.size):
            total += part[rest]
        for _ in range(merges[block]):
            height -= 1
            total = sums[height] + total
        sums[height] = total
        height += 1
        start = end
    return sums[0]


@scalar
def keep_best(worth: FloatArray, sorting: FloatArray, candidate: IntArray, count: int, best: int) -> int:
    """Keep the best so many of ``count`` candidates and all that equal the last of them; how many that are."""
    if best >= count:
        return count
    for n in range(count):
        sorting[n] = worth[n]
    least, kept = kth_smallest(sorting, count, count - best), 0
    for n in range(count):
        candidate[kept] = candidate[n]
        kept += worth[n] >= least
    return kept


@scalar
def kth_smallest(values: FloatArray, count: int, k: int) -> float:
    """The value that would be at place ``k`` if the first ``count`` were sorted (C. A. R. Hoare's FIND, 1961)."""
    left, right = 0, count - 1
    while left < right:
        pivot, i, j = values[(left + right) // 2], left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            break
    return values[k]


@scalar
def draw_below(words: npt.NDArray[np.uint32], progress: IntArray, count: int) -> int:
    """What ``RandomState.randint(0, count)`` would draw from these words; -1 where they are used up.

    It takes as many low bits of a word as the largest number has, and another word if they make a larger one.
    """
    if count <= 1:
        return 0
    mask = 1
    while mask < count - 1:
        mask = 2 * mask + 1
    while progress[1] < words.size:
        at = np.int64(words[progress[1]]) & mask
        progress[1] += 1
        if at < count:
            return int(at)
    return -1
