"""random-search: one turbine moved at random, again and again, and kept where the farm gains by it.

The relocation search of Feng and Shen (2015): a turbine, a direction and a distance are drawn; a place outside
or too near to others is drawn anew; the move is kept if the yearly energy rises. It needs no gradient and no
smooth landscape, and it finds its way from a layout that the gradient holds for the best.

Most moves are refused, so what counts is the time of a trial: ``one_move`` evaluates only what the moved
turbine changes. Where that does not hold (a model that adds turbulence), whole layouts are evaluated, with the
same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import hypot, pi
from typing import final

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.boundary import _nearest_edge
from vindeby.layout.limits import Limits
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.one_move import can_move_one, move_kernels, new_moves
from vindeby.layout.problem import FloatArray, Layout, Problem
from vindeby.wake import WakeModel
from vindeby.wake.compiled import kernel, scalar

__all__ = ["RandomSearch"]

BATCH = 4096
"""Draws made at a time."""
DRAWS_PER_TRIAL = 100
"""After so many draws for each evaluation still allowed, there is no room to move in: the search ends."""


@final
@dataclass(frozen=True)
class RandomSearch(Method):
    """Relocation of single turbines.

    ``max_evaluations`` is its budget; ``max_step_m`` the longest move, by default the size of the area. Half
    of the moves are drawn evenly up to it, half on all scales below it.
    """

    max_evaluations: int = 10_000
    max_step_m: float | None = None

    def __post_init__(self) -> None:
        if self.max_evaluations < 1:
            raise ArgumentError(f"max_evaluations must be a whole number >= 1, not {self.max_evaluations!r}")
        if self.max_step_m is not None and not (np.isfinite(self.max_step_m) and self.max_step_m > 0):
            raise ArgumentError(f"max_step_m must be a positive number of metres, not {self.max_step_m!r}")

    def prepare(self, problem: Problem) -> Search:
        """Load the loops; there is nothing else that seeds share."""
        west, south, east, north = problem.boundary.bounds
        longest = self.max_step_m or hypot(east - west, north - south)
        incremental = can_move_one(problem.farm.model)

        def run(seed: int, start: Layout | None = None) -> Result:
            if start is None:
                raise TaskError(
                    f"farm {problem.name}: random-search needs a start; put smart-start or random-start before it"
                )
            limits = Limits(problem, start.types)
            if not problem.is_feasible(start):
                place, _ = limits.restore(np.stack([start.x, start.y]) - limits.origin[:, None], rounds=2000)
                x, y = place + limits.origin[:, None]
                start = Layout(x, y, start.types)
                problem.refuse_infeasible(start, "random-search")
            way = _by_parts if incremental else _as_a_whole
            layout, trials = way(problem, limits, start, seed, longest, self.max_evaluations)
            before, after = problem.aep(start), problem.aep(layout)
            # The engine's tables and the model itself differ in the eighth digit; a start is never made worse.
            if after < before:
                layout, after = start, before
            return Result(layout, after, "budget", trials + 2)

        return run


def _draws(seed: int, longest: float, many: int) -> Callable[[], FloatArray]:
    """Batches of moves: turbine, and how far to the east and to the north."""
    rng = np.random.default_rng(seed)

    def draw() -> FloatArray:
        u = rng.random((4, BATCH))
        # Evenly up to the longest, or from a thousandth of it on with every scale alike.
        length = longest * np.where(u[3] < 0.5, u[2], 10.0 ** (-3.0 * u[2]))
        angle = 2.0 * pi * u[1]
        return np.stack([np.floor(u[0] * many), length * np.cos(angle), length * np.sin(angle)], axis=1)

    return draw


def _by_parts(
    problem: Problem, limits: Limits, start: Layout, seed: int, longest: float, budget: int
) -> tuple[Layout, int]:
    farm, many = problem.farm, problem.n_turbines
    place = np.hstack([np.stack([start.x, start.y]) - limits.origin[:, None], limits.beside])
    kind = np.append(start.types, problem.neighbours.types)
    moves = new_moves(farm, place[0], place[1], kind, many)
    draw, search = _draws(seed, longest, many), _search_kernel(farm.model)
    energy = move_kernels(farm.model).settle(farm.data, farm.machines, farm.wind, moves)
    trials = 0
    for _ in range(1 + DRAWS_PER_TRIAL * budget // BATCH):
        energy, done = search(
            farm.data, farm.machines, farm.wind, moves, limits.edges, limits.discs, limits.inverted,
            limits.need, draw(), energy, budget - trials,
        )  # fmt: skip
        trials += done
        if trials >= budget:
            break
    x, y = moves.x[:many] + limits.origin[0], moves.y[:many] + limits.origin[1]
    return Layout(x, y, start.types), trials


def _as_a_whole(
    problem: Problem, limits: Limits, start: Layout, seed: int, longest: float, budget: int
) -> tuple[Layout, int]:
    many, origin = problem.n_turbines, limits.origin
    x, y = (
        np.append(a, b)
        for a, b in zip((start.x - origin[0], start.y - origin[1]), limits.beside, strict=True)
    )
    draw = _draws(seed, longest, many)
    energy, trials = problem.aep(start), 0
    for _ in range(1 + DRAWS_PER_TRIAL * budget // BATCH):
        for turbine, east, north in draw():
            i = int(turbine)
            px, py = x[i] + east, y[i] + north
            if not allowed(limits.edges, limits.discs, limits.inverted, x, y, limits.need, i, px, py):
                continue
            before = x[i], y[i]
            x[i], y[i] = px, py
            worth = problem.farm.aep(x[:many] + origin[0], y[:many] + origin[1], start.types)
            trials += 1
            if worth > energy:
                energy = worth
            else:
                x[i], y[i] = before
            if trials >= budget:
                return Layout(x[:many] + origin[0], y[:many] + origin[1], start.types), trials
    return Layout(x[:many] + origin[0], y[:many] + origin[1], start.types), trials


@scalar
def _is_allowed(edges, discs, inverted, x, y, need, i, px, py):  # type: ignore[no-untyped-def]
    """Whether turbine ``i`` may stand at a place: inside, and far enough from all others."""
    for j in range(x.size):
        if j != i and hypot(x[j] - px, y[j] - py) < 0.5 * (need[i] + need[j]):
            return False
    for c in range(discs.shape[0]):
        if discs[c, 3] * (discs[c, 2] - hypot(px - discs[c, 0], py - discs[c, 1])) < 0.0:
            return False
    edge, _, _, inside = _nearest_edge(edges, px, py)
    return edge < 0 or inside != inverted


@kernel("random search")
def allowed(edges, discs, inverted, x, y, need, i, px, py):  # type: ignore[no-untyped-def]
    """``_is_allowed``, for callers that are not compiled."""
    return _is_allowed(edges, discs, inverted, x, y, need, i, px, py)


@cache
def _search_kernel(model: WakeModel) -> Callable[..., tuple[float, int]]:
    settle, worth = move_kernels(model)

    @kernel(f"{model.name} {model.deficit.__module__}", counts_references=False)
    def search(data, machines, wind, moves, edges, discs, inverted, need, draws, energy, budget):  # type: ignore[no-untyped-def]
        """Try all moves drawn, or until the budget is spent; returns the energy (W) and the number of trials."""
        trials = 0
        for t in range(draws.shape[0]):
            i = int(draws[t, 0])
            px, py = moves.x[i] + draws[t, 1], moves.y[i] + draws[t, 2]
            if not _is_allowed(edges, discs, inverted, moves.x, moves.y, need, i, px, py):
                continue
            trials += 1
            if worth(data, machines, wind, moves, i, px, py) > energy:
                moves.x[i], moves.y[i] = px, py
                energy = settle(data, machines, wind, moves)
            if trials == budget:
                break
        return energy, trials

    return search
