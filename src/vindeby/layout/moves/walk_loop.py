"""The loop of a walk: moves tried in sequence, compiled if trials follow only the moved turbine."""

from collections.abc import Callable
from functools import cache
from math import hypot
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.area.boundary import Areas, is_inside, nearest_inside
from vindeby.layout.moves.carried_state import MoveKernels
from vindeby.layout.moves.place_costs import PlaceCosts, change_of_cost, no_change
from vindeby.layout.problem import LayoutProblem
from vindeby.wake.compiling.compiled import kernel, scalar

SURE = 1.0 + 1e-12
"""Squares of distances that differ by this factor are not taken for each other by rounding."""


def temperature(hot: float, cold: float, done: int, budget: int) -> float:
    """Return the temperature after ``done`` trials, falling from ``hot`` to ``cold`` by a constant factor."""
    return hot * (cold / hot) ** (done / budget) if hot > 0.0 else 0.0


_temperature_at = scalar(temperature)


@kernel(counts_references=False, inline=True)
def is_in_zone(areas, z, px, py):
    discs = areas.discs
    for c in range(areas.first_disc[z], areas.first_disc[z + 1]):
        if discs[c, 3] * (discs[c, 2] - hypot(px - discs[c, 0], py - discs[c, 1])) < 0.0:
            return False
    return is_inside(areas.edges[areas.first_edge[z] : areas.first_edge[z + 1]], areas.inverted[z], px, py)


@kernel(counts_references=False, inline=True)
def place_inside(rules, i, px, py):
    """Return the position of a move of turbine ``i``, or the nearest on the border of its zone if outside."""
    z, border = rules.zone[i], rules.border
    if is_in_zone(rules.areas, z, px, py):
        return px, py
    return nearest_inside(
        border.edges[border.first_edge[z] : border.first_edge[z + 1]],
        border.discs[border.first_disc[z] : border.first_disc[z + 1]],
        border.inverted[z], px, py,
    )  # fmt: skip


@kernel(counts_references=False, inline=True)
def allowed(areas, zone, x, y, need, i, px, py):
    """Return whether turbine ``i`` may stand at a position: in its zone, and at the spacing from all others."""
    for j in range(x.size):
        dx, dy, least = x[j] - px, y[j] - py, 0.5 * (need[i] + need[j])
        # Squares tell all but the last few bits, and far faster.
        if dx * dx + dy * dy < SURE * least * least and j != i and hypot(dx, dy) < least:
            return False
    return is_in_zone(areas, zone[i], px, py)


@kernel(counts_references=False, inline=True)
def can_move(rules, x, y, i, px, py):
    """Return whether turbine ``i`` may move to a position that is allowed and no farther than the longest move."""
    if hypot(px - x[i], py - y[i]) > rules.longest_m:
        return False
    return allowed(rules.areas, rules.zone, x, y, rules.need, i, px, py)


SWAP_SHARE = 0.05
"""The share of swaps in all draws, for a farm with a mix of types."""
_SWAP_STREAM = 0x73776170
"""Tells the draws of swaps from those of moves with the same seed."""


class Swaps:
    """Draws of the turbine to swap with; -1 if a turbine moves instead.

    ``group`` tells which turbines may swap with each other: those of a zone that has a mix of its own, or all.
    """

    def __init__(self, problem: LayoutProblem, seed: int) -> None:
        mix = np.atleast_2d(np.zeros((1, 1), np.int64) if problem.mix is None else np.asarray(problem.mix))
        self.wanted = int(mix.any(axis=0).sum()) > 1
        self.group = problem.zone_of if len(mix) > 1 else np.zeros_like(problem.zone_of)
        self._rng = np.random.default_rng([_SWAP_STREAM, seed])

    def draw(self, count: int) -> IntArray:
        if not self.wanted:
            return np.full(count, -1)
        u = self._rng.random((2, count))
        return np.where(u[0] < SWAP_SHARE, np.floor(u[1] * len(self.group)), -1).astype(np.int64)


def exchange(types: IntArray, need: FloatArray, i: int, j: int) -> None:
    """Swap the types of two turbines, and the spacings of the types."""
    types[i], types[j] = types[j], types[i]
    need[i], need[j] = need[j], need[i]


_exchange = scalar(exchange)


@kernel(counts_references=False, inline=True)
def can_swap(types, group, x, y, need, i, j):
    """Return whether two turbines can swap types: these differ, and the new spacings are satisfied."""
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


@scalar
def _note(moves, best, best_types):
    for j in range(best.shape[1]):
        best[0, j], best[1, j] = moves.x[j], moves.y[j]
        best_types[j] = moves.types[j]


Walking = Callable[..., tuple[int, float, float, float]]


class Rules(NamedTuple):
    """The constraints on moves: the areas and spacings, as in ``Limits``, and the groups that may swap types.

    ``border`` is where moves end that would lead outside; ``longest_m`` what they may measure; ``costs`` are what
    moves change besides the energy.
    """

    areas: Areas
    border: Areas
    zone: IntArray
    need: FloatArray
    group: IntArray
    longest_m: float
    costs: PlaceCosts


@cache
def walk_kernel(kernels: MoveKernels, swapping: bool, costing: bool) -> Walking:
    return kernel(counts_references=False)(make_walk(kernels, swapping, costing))


def make_walk(kernels: MoveKernels, swapping: bool, costing: bool) -> Walking:
    """Return the walk by these kernels; if ``swapping``, turbines also swap types, which costs nothing."""
    settle, gained, keep = kernels
    rise_of_cost = change_of_cost if costing else no_change

    def try_all(common, rules, drawn, cooling, best, found):
        """Try all drawn moves, or until the budget is spent.

        ``common`` are the first arguments of the move kernels; ``drawn`` the moves and the turbines to swap with;
        ``cooling`` the temperatures (W) and the budget; ``best`` the best places and types. Returns the trials so far,
        the energy (W), the cost as energy, and the most that the first was above the second; ``found`` has them before.
        """
        data, turbines, wind, moves = common
        (draws, others), (hot, cold, budget) = drawn, cooling
        trials, energy, cost, most = found
        for t in range(draws.shape[0]):
            i, j = int(draws[t, 0]), others[t]
            px, py = place_inside(rules, i, moves.x[i] + draws[t, 1], moves.y[i] + draws[t, 2])
            swaps = swapping and j >= 0
            if swaps:
                if not can_swap(moves.types, rules.group, moves.x, moves.y, rules.need, i, j):
                    continue
            elif not can_move(rules, moves.x, moves.y, i, px, py):
                continue
            slack = draws[t, 3] * _temperature_at(hot, cold, trials, budget)
            dearer = 0.0 if swaps else rise_of_cost(rules.costs, moves.x, moves.y, i, px, py)
            slack += dearer
            trials += 1
            if swaps:
                _exchange(moves.types, rules.need, i, j)
                gain = settle(data, turbines, wind, moves) - energy
            else:
                gain = gained(data, turbines, wind, moves, i, px, py, slack)
            if gain > slack:
                if not swaps:
                    keep(data, turbines, wind, moves, i, px, py)
                energy += gain
                cost += dearer
                if energy - cost > most:
                    most = energy - cost
                    _note(moves, best[0], best[1])
            elif swaps:
                _exchange(moves.types, rules.need, i, j)
                settle(data, turbines, wind, moves)
            if trials == budget:
                break
        return trials, energy, cost, most

    return try_all
