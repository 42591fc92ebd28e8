"""Two turbines of different types swap their types: a move of farms with a mix, for the walk in ``relocating``.

Both stay where they are. A swap changes the wakes of two turbines, so the whole layout is evaluated; swaps are
therefore a small share of the moves. They are drawn apart from all else: a farm of one type, or whose types are
given turbine by turbine, makes the same walk as if there were none.
"""

from __future__ import annotations

from collections.abc import Callable
from math import hypot
from typing import final

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.problem import Problem
from vindeby.wake.compiling.compiled import kernel, scalar

SHARE = 0.05
"""Of all draws in a farm with a mix."""
_STREAM = 0x73776170
"""Tells the draws of swaps from those of moves with the same seed."""


@final
class Swaps:
    """Draws of the turbine to swap with; -1 where a turbine moves instead.

    ``group`` tells which turbines may swap with each other: those of a zone that has a mix of its own, or all.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        mix = np.atleast_2d(np.zeros((1, 1), np.int64) if problem.mix is None else np.asarray(problem.mix))
        self.wanted = int(mix.any(axis=0).sum()) > 1
        self.group = problem.zone_of if len(mix) > 1 else np.zeros_like(problem.zone_of)
        self._rng = np.random.default_rng([_STREAM, seed])

    def draw(self, count: int) -> IntArray:
        """The next draws."""
        if not self.wanted:
            return np.full(count, -1)
        u = self._rng.random((2, count))
        return np.where(u[0] < SHARE, np.floor(u[1] * len(self.group)), -1).astype(np.int64)


def exchange(types: IntArray, need: FloatArray, i: int, j: int) -> None:
    """Swap types, and the spacings that go with them."""
    types[i], types[j] = types[j], types[i]
    need[i], need[j] = need[j], need[i]


_exchange = scalar(exchange)


@scalar
def may_swap(types, group, x, y, need, i, j):
    """Whether two turbines can swap types: they differ, and the larger has room where the smaller stands."""
    if types[i] == types[j] or group[i] != group[j]:
        return False
    for k in range(x.size):
        if k == i or k == j:  # noqa: SIM109  compiled code compares numbers
            continue
        if hypot(x[k] - x[i], y[k] - y[i]) < 0.5 * (need[k] + need[j]):
            return False
        if hypot(x[k] - x[j], y[k] - y[j]) < 0.5 * (need[k] + need[i]):
            return False
    return True


@kernel("swapping")
def can_swap(types, group, x, y, need, i, j):
    """``may_swap``, for callers that are not compiled."""
    return may_swap(types, group, x, y, need, i, j)


@scalar
def never_swap(data, machines, wind, moves, need, i, j, energy, slack):
    """Stands for the move in farms that have none."""
    return -1.0


def make_swap(settle: Callable[..., float], identity: str) -> Callable[..., float]:
    """Make the move: swap, and swap back unless the gain (W), which is returned, is above ``slack``."""

    @kernel(identity, counts_references=False)
    def swap(data, machines, wind, moves, need, i, j, energy, slack):
        _exchange(moves.type_index, need, i, j)
        gain = settle(data, machines, wind, moves) - energy
        if not gain > slack:
            _exchange(moves.type_index, need, i, j)
            settle(data, machines, wind, moves)
        return gain

    return swap
