"""One turbine moved at random, again and again: the walk that random-search and annealing share.

A turbine and a place are drawn; a place outside or too near to others is passed over; otherwise the move is
evaluated, and kept if the farm gains by it, or loses no more than chance and temperature allow (Metropolis et
al. 1953). At temperature 0 only gains are kept.

Most moves are refused, so what counts is the time of a trial: ``moving`` evaluates only what the moved turbine
changes. Where that does not hold (a model that adds turbulence) or does not pay (``is_cheaper_whole``), whole layouts
are evaluated, with the same draws. In a farm with a mix of types, a small share of the moves swap types instead
(``swapping``). In which wind states moves are evaluated, ``walk_stages`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import hypot, pi

import numpy as np

from vindeby.layout.area.boundary import is_inside
from vindeby.layout.area.limits import Limits
from vindeby.layout.method import Result, start_for
from vindeby.layout.moves.moving import can_move_one, is_cheaper_whole, mover_of
from vindeby.layout.moves.one_move import MoveKernels
from vindeby.layout.moves.swapping import Swaps, can_swap, exchange, make_swap, may_swap, never_swap
from vindeby.layout.moves.walk_stages import Stage
from vindeby.layout.problem import FloatArray, Layout, Problem
from vindeby.wake.compiling.compiled import kernel, scalar

__all__ = ["Walk", "walk"]

BATCH = 4096
"""Draws made at a time; between two batches, sums that are carried on from move to move may be made anew."""
SURE = 1.0 + 1e-12
"""Squares of distances that differ by this factor are not taken for each other by rounding."""
DRAWS_PER_TRIAL = 100
"""After so many draws for each evaluation still allowed, there is no room to move in: the walk ends."""


@dataclass(frozen=True)
class Walk:
    """How to walk: ``budget`` evaluations, moves of up to ``longest_m``.

    The lengths of a share ``even`` of the moves are drawn evenly; the others go down to ``decades`` powers of
    ten below the longest, each scale alike. Temperatures, ``hot`` at first and ``cold`` at the end, are fractions of
    the mean energy of a turbine of the start; with ``of_losses``, of what wakes take from that.
    """

    budget: int
    longest_m: float
    even: float
    decades: float
    hot: float = 0.0
    cold: float = 0.0
    of_losses: bool = False

    def at(self, problem: Problem, start: Layout) -> Walk:
        """The same walk from a start, its temperatures as fractions of the mean energy of a turbine."""
        if not self.of_losses:
            return self
        whole = problem.whole(start)
        free = problem.farm.free_aep_at(whole.x, whole.y, whole.types)
        loss = max(0.0, 1.0 - problem.aep(start) / free) if free > 0.0 else 0.0
        return replace(self, hot=loss * self.hot, cold=loss * self.cold, of_losses=False)

    def part(self, begin: float, end: float) -> Walk:
        """The part of a walk from one share of its trials to another: its trials, at their temperatures."""
        if (begin, end) == (0.0, 1.0):
            return self
        ratio = self.cold / self.hot if self.hot > 0.0 else 1.0
        budget = round(self.budget * end) - round(self.budget * begin)
        return replace(self, budget=budget, hot=self.hot * ratio**begin, cold=self.hot * ratio**end)


def walk(
    problem: Problem, start: Layout | None, seed: int, how: Walk, name: str, stages: Sequence[Stage] = ()
) -> Result:
    """The best layout on the way; a feasible start is never made worse, any other is mended first.

    ``stages`` say in which wind states the walk is made, without them in all. What it leads to is compared with the
    start in all of them.
    """
    start = start_for(problem, start, name)
    if not problem.is_feasible(start):
        limits = Limits(problem, start.types)
        place, _ = limits.restore(np.stack([start.x, start.y]) - limits.origin[:, None], rounds=2000)
        x, y = place + limits.origin[:, None]
        start = Layout(x, y, start.types)
        problem.refuse_infeasible(start, name)
    how, layout, trials, share = how.at(problem, start), start, 0, 0.0
    for number, stage in enumerate(stages or (Stage(problem, 1.0),)):
        part = how.part(share, share + stage.share)
        share += stage.share
        if part.budget > 0:
            # A swap of types changes limits.
            limits = Limits(problem, layout.types)
            way = _by_parts if _goes_by_parts(stage.problem) else _as_a_whole
            layout, tried = way(stage.problem, limits, layout, _seed_of(seed, number), part)
            trials += tried
    before, after = problem.aep(start), problem.aep(layout)
    # Tables and the model itself differ in some late digit, and few wind states from all by more.
    if after < before:
        layout, after = start, before
    return Result(layout, after, "budget", trials + 2)


def _goes_by_parts(problem: Problem) -> bool:
    """Whether trials follow the moved turbine; otherwise whole layouts are evaluated."""
    farm = problem.farm
    whole = is_cheaper_whole(farm, problem.n_turbines + len(problem.neighbours.types))
    return can_move_one(farm.model) and not whole


def _seed_of(seed: int, stage: int) -> int:
    """The first stage draws what a walk of one stage does, the others something else each."""
    return seed if stage == 0 else int(np.random.SeedSequence([seed, stage]).generate_state(1)[0])


def _draws(many: int, seed: int, how: Walk) -> Callable[[], FloatArray]:
    """Batches of moves: turbine, how far to the east and to the north, and what chance allows.

    A batch is overwritten by the next one.
    """
    rng = np.random.default_rng(seed)
    u, moves = np.empty((5, BATCH)), np.empty((BATCH, 4))

    def draw() -> FloatArray:
        rng.random(out=u)
        length = np.where(u[3] < how.even, u[2], 10.0 ** (-how.decades * u[2]))
        length *= how.longest_m
        angle = 2.0 * pi * u[1]
        np.floor(u[0] * many, out=moves[:, 0])
        np.multiply(length, np.cos(angle), out=moves[:, 1])
        np.multiply(length, np.sin(angle), out=moves[:, 2])
        np.log(1.0 - u[4], out=moves[:, 3])
        return moves

    return draw


def _by_parts(problem: Problem, limits: Limits, start: Layout, seed: int, how: Walk) -> tuple[Layout, int]:
    farm, many = problem.farm, problem.n_turbines
    place = np.hstack([np.stack([start.x, start.y]) - limits.origin[:, None], limits.beside])
    type_index = np.append(start.types, problem.neighbours.types)
    mover = mover_of(farm, place[0], place[1], type_index, problem.counted, how.budget)
    moves, kernels, identity = mover
    swaps = Swaps(problem, seed)
    draw, try_all = _draws(many, seed, how), _walk_kernel(kernels, identity, swaps.wanted)
    best, best_types = place[:, :many].copy(), start.types.copy()
    wind = farm.wind_near(limits.origin)
    energy = most = kernels.settle(farm.data, farm.machines, wind, moves)
    hot, cold = how.hot * energy / problem.counted, how.cold * energy / problem.counted
    trials = kept = 0
    for _ in range(1 + DRAWS_PER_TRIAL * how.budget // BATCH):
        if kept >= mover.lasting:
            energy, kept = kernels.settle(farm.data, farm.machines, wind, moves), 0
        trials, kept, energy, most = try_all(
            farm.data, farm.machines, wind, moves, limits.areas, limits.zone, limits.need,
            draw(), swaps.draw(BATCH), swaps.group, hot, cold, trials, how.budget, best, best_types, kept, energy, most,
        )  # fmt: skip
        if trials >= how.budget:
            break
    x, y = best + limits.origin[:, None]
    return Layout(x, y, best_types), trials


def _as_a_whole(problem: Problem, limits: Limits, start: Layout, seed: int, how: Walk) -> tuple[Layout, int]:
    many, origin = problem.n_turbines, limits.origin[:, None]
    here = np.hstack([np.stack([start.x, start.y]) - origin, limits.beside])
    types, need = start.types.copy(), limits.need
    draw, swaps = _draws(many, seed, how), Swaps(problem, seed)
    best, best_types, trials = here.copy(), types.copy(), 0
    energy = most = problem.aep(start)
    hot, cold = how.hot * energy / problem.counted, how.cold * energy / problem.counted
    for _ in range(1 + DRAWS_PER_TRIAL * how.budget // BATCH):
        for (turbine, east, north, chance), other in zip(draw(), swaps.draw(BATCH), strict=True):
            i, j = int(turbine), int(other)
            px, py = here[0, i] + east, here[1, i] + north
            before = here[:, i].copy()
            if j >= 0:
                if not can_swap(types, swaps.group, here[0], here[1], need, i, j):
                    continue
                exchange(types, need, i, j)
            elif not allowed(limits.areas, limits.zone, here[0], here[1], need, i, px, py):
                continue
            else:
                here[:, i] = px, py
            x, y = here[:, :many] + origin
            worth = problem.aep(Layout(x, y, types))
            slack = chance * temperature(hot, cold, trials, how.budget)
            trials += 1
            if worth - energy > slack:
                energy = worth
            elif j >= 0:
                exchange(types, need, i, j)
            else:
                here[:, i] = before
            if energy > most:
                best, best_types, most = here.copy(), types.copy(), energy
            if trials >= how.budget:
                break
        if trials >= how.budget:
            break
    x, y = best[:, :many] + origin
    return Layout(x, y, best_types), trials


@scalar
def _temperature(hot, cold, done, budget):  # type: ignore[no-untyped-def]
    """From hot to cold, by the same factor with every trial."""
    return hot * (cold / hot) ** (done / budget) if hot > 0.0 else 0.0


@scalar
def _is_allowed(areas, zone, x, y, need, i, px, py):  # type: ignore[no-untyped-def]
    """Whether turbine ``i`` may stand at a place: inside its zone, and far enough from all others."""
    z, discs = zone[i], areas.discs
    for c in range(areas.first_disc[z], areas.first_disc[z + 1]):
        if discs[c, 3] * (discs[c, 2] - hypot(px - discs[c, 0], py - discs[c, 1])) < 0.0:
            return False
    for j in range(x.size):
        dx, dy, least = x[j] - px, y[j] - py, 0.5 * (need[i] + need[j])
        # Squares tell all but the last few bits, and far faster.
        if dx * dx + dy * dy < SURE * least * least and j != i and hypot(dx, dy) < least:
            return False
    return is_inside(areas.edges[areas.first_edge[z] : areas.first_edge[z + 1]], areas.inverted[z], px, py)


@kernel("relocating")
def allowed(areas, zone, x, y, need, i, px, py):  # type: ignore[no-untyped-def]
    """``_is_allowed``, for callers that are not compiled."""
    return _is_allowed(areas, zone, x, y, need, i, px, py)


@kernel("relocating")
def temperature(hot, cold, done, budget):  # type: ignore[no-untyped-def]
    """``_temperature``, for callers that are not compiled."""
    return _temperature(hot, cold, done, budget)


@scalar
def _note(moves, best, best_types):  # type: ignore[no-untyped-def]
    """Keep the layout as it is now."""
    for j in range(best.shape[1]):
        best[0, j], best[1, j] = moves.x[j], moves.y[j]
        best_types[j] = moves.type_index[j]


@cache
def _walk_kernel(
    kernels: MoveKernels, identity: str, swapping: bool
) -> Callable[..., tuple[int, int, float, float]]:
    """The walk of a farm; only in one of several types turbines swap types."""
    settle, gained, keep = kernels
    identity = f"{identity} swapping" if swapping else identity
    swap = make_swap(settle, identity) if swapping else never_swap

    @kernel(identity, counts_references=False)
    def try_all(  # type: ignore[no-untyped-def]
        data,
        machines,
        wind,
        moves,
        areas,
        zone,
        need,
        draws,
        others,
        group,
        hot,
        cold,
        trials,
        budget,
        best,
        best_types,
        kept,
        energy,
        most,
    ):
        """Try all moves drawn, or until the budget is spent.

        Returns the trials so far, the moves kept since sums were last made anew, the energy and the most of it (W).
        """
        for t in range(draws.shape[0]):
            i = int(draws[t, 0])
            if swapping and others[t] >= 0:
                j = others[t]
                if not may_swap(moves.type_index, group, moves.x, moves.y, need, i, j):
                    continue
                slack = draws[t, 3] * _temperature(hot, cold, trials, budget)
                trials += 1
                gain = swap(data, machines, wind, moves, need, i, j, energy, slack)
                if gain > slack:
                    energy += gain
                    if energy > most:
                        most = energy
                        _note(moves, best, best_types)
                if trials == budget:
                    break
                continue
            px, py = moves.x[i] + draws[t, 1], moves.y[i] + draws[t, 2]
            if not _is_allowed(areas, zone, moves.x, moves.y, need, i, px, py):
                continue
            slack = draws[t, 3] * _temperature(hot, cold, trials, budget)
            gain = gained(data, machines, wind, moves, i, px, py, slack)
            trials += 1
            if gain > slack:
                keep(data, machines, wind, moves, i, px, py)
                kept += 1
                energy += gain
                if energy > most:
                    most = energy
                    _note(moves, best, best_types)
            if trials == budget:
                break
        return trials, kept, energy, most

    return try_all
