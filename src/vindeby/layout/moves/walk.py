"""The walk of random-search and annealing: one turbine moved at random, repeatedly.

A turbine and a place are drawn. A place outside is replaced by the nearest on the border, where many turbines of a good
layout stand and along which they then move; a place too near to others is passed over. Otherwise the move is evaluated,
and kept if the farm gains by it, or loses no more than chance and temperature allow (Metropolis et al. 1953). At
temperature 0 only gains are kept.

Most moves are refused, so what counts is the time of a trial: ``mover_of`` chooses the engine that evaluates only what
the moved turbine changes. Where that does not hold (a model that adds turbulence, too many pairs), whole layouts are
evaluated, with the same draws. In a farm with a mix of types, a small share of the moves swap types instead
(``walk_loop``). In which wind states moves are evaluated, ``stages_of`` says.

With costs, what a move changes in them counts as energy (``place_costs``). Then the walk is made in parts: at the
beginning of each, cables are routed anew, and an LCOE gives its price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, pi
from typing import Any, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.area.boundary import BORDER_M, areas_of
from vindeby.layout.area.limits import Limits
from vindeby.layout.climbing.simplified_farm import thinned
from vindeby.layout.method import Result, Search, start_for
from vindeby.layout.moves.carried_moves import carried_kernels
from vindeby.layout.moves.carried_state import CarriedMoves, MoveKernels, can_carry, new_carried_moves
from vindeby.layout.moves.place_costs import place_costs
from vindeby.layout.moves.steady_moves import (
    SteadyMoves,
    has_steady_wakes,
    new_steady_moves,
    steady_move_kernels,
)
from vindeby.layout.moves.walk_loop import Rules, Swaps, make_walk, walk_kernel
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.layout.valuation import Valuation
from vindeby.parameters import WindChoice
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import Neighbours, ScenarioFarm, WindFarm
from vindeby.wake.layout_checks import Places


class WholeMoves(NamedTuple):
    """A layout that each trial evaluates as a whole; ``energies`` (GWh): its energy and the last trial's."""

    types: IntArray
    x: FloatArray
    y: FloatArray
    energies: FloatArray


class Mover(NamedTuple):
    """A layout in which single turbines move, and the loops that move them."""

    moves: SteadyMoves | CarriedMoves | WholeMoves
    kernels: MoveKernels
    is_compiled: bool

    @property
    def per_gwh(self) -> float:
        """The value of 1 GWh per year in the unit of the mover's energies."""
        return 1.0 / mean_power_to_aep_gwh(1.0) if self.is_compiled else 1.0


def mover_of(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    types: IntArray,
    counted: int,
    origin: Sequence[float] | FloatArray = (0.0, 0.0),
) -> Mover:
    """Return a layout (neighbours after its turbines) ready for moves, relative to ``origin``; ``settle`` it first."""
    if isinstance(farm, ScenarioFarm):
        return _mover_over_scenarios(farm, (x, y, types), counted, origin)
    model = farm.model
    if has_steady_wakes(farm):
        steady = new_steady_moves(farm, x, y, types, counted)
        one_type = len(farm.turbines) == 1
        return Mover(steady, steady_move_kernels(model, one_type), True)
    if not can_carry(farm, len(x)):
        whole = WholeMoves(np.array(types, np.int64), np.array(x), np.array(y), np.zeros(2))
        return Mover(whole, _whole_kernels(farm, counted, origin), False)
    carried = new_carried_moves(farm, x, y, types, counted)
    return Mover(carried, carried_kernels(model, farm.locality), True)


def _whole_kernels(farm: WindFarm, counted: int, origin: Sequence[float] | FloatArray) -> MoveKernels:
    def settle(_data: Any, _turbines: Any, _wind: Any, moves: WholeMoves) -> float:
        x, y = moves.x[:counted] + origin[0], moves.y[:counted] + origin[1]
        moves.energies[:] = farm.turbine_aep(x, y, moves.types[:counted]).sum()
        return float(moves.energies[0])

    def gained(*given: Any) -> float:
        *common, moved, x, y, _ = given
        moves = common[3]
        before, was_x, was_y = moves.energies[0], moves.x[moved], moves.y[moved]
        moves.x[moved], moves.y[moved] = x, y
        after = settle(*common)
        moves.x[moved], moves.y[moved], moves.energies[0] = was_x, was_y, before
        return float(after - before)

    def keep(*given: Any) -> None:
        *_, moves, moved, x, y = given
        moves.x[moved], moves.y[moved], moves.energies[0] = x, y, moves.energies[1]

    return MoveKernels(settle, gained, keep)


def _mover_over_scenarios(
    farm: ScenarioFarm, layout: Places, counted: int, origin: Sequence[float] | FloatArray
) -> Mover:
    """Return a mover over all scenarios, each with its neighbours; ``energies`` (GWh) are by scenario."""
    each = []
    for part in farm.parts:
        beside = part.neighbours or Neighbours((), ())
        others = np.broadcast_arrays(*np.atleast_1d(beside.x, beside.y, beside.types))
        others = others[0] - origin[0], others[1] - origin[1], others[2].astype(np.int64)
        x, y, types = (np.append(own[:counted], other) for own, other in zip(layout, others, strict=True))
        mover = mover_of(part, x, y, types, counted, origin)
        common = part.data, part.turbine_arrays, part.wind_near(origin), mover.moves
        each.append((mover, common, 1.0 / mover.per_gwh))
    x, y, types = layout
    energies = np.zeros((2, len(each)))
    whole = WholeMoves(np.array(types, np.int64), np.array(x), np.array(y), energies)

    def settle(*_common: Any) -> float:
        for place, (mover, common, unit) in enumerate(each):
            for name in ("types", "x", "y"):
                getattr(mover.moves, name)[:counted] = getattr(whole, name)[:counted]
            energies[0, place] = mover.kernels.settle(*common) * unit
        return farm.value(energies[0])

    def gained(*given: Any) -> float:
        *_, moved, x, y, _ = given
        gains = [mover.kernels.gained(*common, moved, x, y, -inf) * unit for mover, common, unit in each]
        energies[1] = energies[0] + gains
        return farm.value(energies[1]) - farm.value(energies[0])

    def keep(*given: Any) -> None:
        *_, moved, x, y = given
        for mover, common, _ in each:
            mover.kernels.keep(*common, moved, x, y)
        whole.x[moved], whole.y[moved], energies[0] = x, y, energies[1]

    return Mover(whole, MoveKernels(settle, gained, keep), False)


BATCH = 4096
"""Draws made at a time."""
SETTLED_EVERY = 8
"""After so many batches, sums that are carried on from move to move are made anew, for what rounding did to them."""


@dataclass(frozen=True)
class Walk:
    """The parameters of a walk: ``budget`` evaluations, moves of up to ``longest_m``.

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

    def at(self, problem: LayoutProblem, start: Layout) -> Walk:
        """Return the walk for a start, with temperatures as fractions of a turbine's mean energy."""
        if not self.of_losses:
            return self
        whole = problem.whole(start)
        free = problem.farm.free_aep_at(whole.x, whole.y, whole.types)
        loss = max(0.0, 1.0 - problem.aep(start) / free) if free > 0.0 else 0.0
        return replace(self, hot=loss * self.hot, cold=loss * self.cold, of_losses=False)

    def part(self, begin: float, end: float) -> Walk:
        """Return the part of a walk between two fractions of its trials, at their temperatures."""
        if (begin, end) == (0.0, 1.0):
            return self
        ratio = self.cold / self.hot if self.hot > 0.0 else 1.0
        budget = round(self.budget * end) - round(self.budget * begin)
        return replace(self, budget=budget, hot=self.hot * ratio**begin, cold=self.hot * ratio**end)


def draws(many: int, seed: int, how: Walk) -> Callable[[], FloatArray]:
    """Return a function that draws batches of moves: turbine, east and north distance, and random threshold.

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


DIRECTIONS, SPEEDS, LOCAL_SPEEDS = 120, 6, 8
"""The directions and speeds of most trials; the last is the number of speeds for local wind."""
LAST = 0.1
"""The share of the trials that is for all directions, where moves are carried on there."""
FEW_SPEEDS = 8
"""A farm with no more directions than these, and no more speeds than this, has few wind states already."""


class Stage(NamedTuple):
    """A stage of a walk: its share of the trials, and the problem in its wind states."""

    problem: LayoutProblem
    share: float


def stages_of(problem: LayoutProblem, wind: WindChoice) -> tuple[Stage, ...]:
    """Return the stages of a walk, in order; just the problem itself if no wind state is left out."""
    few = _in_few_states(problem) if wind == "coarse-to-fine" else None
    if few is None:
        return (Stage(problem, 1.0),)
    directions = len(problem.farm.states.direction)
    if len(few.farm.states.direction) < directions:
        last = thinned(problem, directions, _speeds(problem)) or problem
        if can_carry(last.farm, problem.n_turbines + len(problem.neighbours.types)):
            return (Stage(few, 1.0 - LAST), Stage(last, LAST))
    return (Stage(few, 1.0),)


def _in_few_states(problem: LayoutProblem) -> LayoutProblem | None:
    """Return the problem of most trials, in few wind states; None if all states stay."""
    farm = problem.farm
    if farm.locality == "turned" or not _follows_moves(farm):
        return None
    many = len(farm.states.direction) > DIRECTIONS or farm.wind.most > FEW_SPEEDS
    return thinned(problem, DIRECTIONS, _speeds(problem)) if many else None


def _follows_moves(farm: WindFarm) -> bool:
    return all(part.model.is_a_sum_of_pairs and not has_steady_wakes(part) for part in farm.parts)


def _speeds(problem: LayoutProblem) -> int:
    return SPEEDS if problem.farm.locality == "uniform" else LOCAL_SPEEDS


def trial_work(problem: LayoutProblem) -> float:
    """Return the mean work of a trial of random-search or annealing, in evaluations in all wind states."""
    states = len(problem.farm.states.speed)
    return sum(
        stage.share * _trial_in(stage.problem) * len(stage.problem.farm.states.speed) / states
        for stage in stages_of(problem, "coarse-to-fine")
    )


def _trial_in(problem: LayoutProblem) -> float:
    """Return the work of a trial in all wind states of a problem, in evaluations.

    Where wakes do not change with the wind, a move changes those from and to one turbine, 2 of n rows of pairs. Where
    they do, about as many again change in turn, and there are kept moves. A whole layout takes a tenth where its wakes
    are read from tables, which moves do not use. Where moves are not followed (models that add turbulence, blockage,
    engines of other tools, too many pairs) it is a whole evaluation.
    """
    farm = problem.farm
    if has_steady_wakes(farm):
        return min(1.0, 2.0 / problem.counted)
    if not can_carry(farm, problem.n_turbines + len(problem.neighbours.types)):
        return 1.0
    return min(0.5, (40.0 if farm.loops in ("tabulated", "by width") else 4.0) / problem.counted)


def walking(problem: LayoutProblem, how: Walk, wind: WindChoice, name: str) -> Search:
    """Return the search by such a walk, in the chosen wind states; the default longest move spans the area."""
    stages = stages_of(problem, wind)
    west, south, east, north = problem.boundary.bounds
    how = replace(how, longest_m=how.longest_m or hypot(east - west, north - south))

    def run(seed: int, start: Layout | None = None) -> Result:
        return walk(problem, start, seed, how, name, stages)

    return run


PARTS = 6
"""The number of parts of each stage if costs count; cables are routed once per part."""
DRAWS_PER_TRIAL = 100
"""After so many draws for each evaluation still allowed, there is no room to move in: the walk ends."""


def walk(
    problem: LayoutProblem,
    start: Layout | None,
    seed: int,
    how: Walk,
    name: str,
    stages: Sequence[Stage] = (),
) -> Result:
    """Return the best layout of a walk; a feasible start never gets worse, an infeasible one is repaired first.

    ``stages`` say in which wind states the walk is made, without them in all. What it leads to is compared with the
    start in all of them.
    """
    start = start_for(problem, start, name)
    if not problem.is_feasible(start):
        start, _ = Limits(problem, start.types).mended(start, rounds=2000)
        problem.refuse_infeasible(start, name)
    how, layout, trials, share = how.at(problem, start), start, 0, 0.0
    problem.report.begin(how.budget)
    stages = stages or (Stage(problem, 1.0),)
    found = [start]
    if problem.by_place is not None:
        stages = [Stage(one, share / PARTS) for one, share in stages for _ in range(PARTS)]
    for number, stage in enumerate(stages):
        part = how.part(share, share + stage.share)
        share += stage.share
        if part.budget > 0:
            # A swap of types changes limits.
            limits = Limits(problem, layout.types)
            value = problem.valued_at(layout)
            best, last, tried = _walk_on(stage.problem, limits, layout, _seed_of(seed, number), part, value)
            trials += tried
            layout = best if value is None else last
            found = [start, best] if value is None else [*found, best]
    # Tables and the model itself differ in some late digit, and few wind states from all by more.
    energies = [problem.aep(one) for one in found]
    worth = [problem.worth(one, aep_gwh) for one, aep_gwh in zip(found, energies, strict=True)]
    best_of_all = max(range(len(found)), key=lambda k: (worth[k], k))
    return Result(found[best_of_all], energies[best_of_all], "budget", trials + 2)


def _seed_of(seed: int, stage: int) -> int:
    """Return the seed of a stage: ``seed`` for the first, so that it draws as a walk of one stage does."""
    return seed if stage == 0 else int(np.random.SeedSequence([seed, stage]).generate_state(1)[0])


def _walk_on(
    problem: LayoutProblem, limits: Limits, start: Layout, seed: int, how: Walk, value: Valuation | None
) -> tuple[Layout, Layout, int]:
    """Walk in the problem's wind states; return the best layout, the last one, and the number of trials."""
    farm, many = problem.farm, problem.n_turbines
    place = np.hstack([np.stack([start.x, start.y]) - limits.origin[:, None], limits.beside])
    types = np.append(start.types, problem.neighbours.types)
    mover = mover_of(farm, place[0], place[1], types, problem.counted, limits.origin)
    moves, kernels, is_compiled = mover
    swaps = Swaps(problem, seed)
    border = areas_of([zone.boundary.inset(BORDER_M) for zone in problem.zones], limits.origin)
    costs = place_costs(value, problem.counted, limits.origin, mover.per_gwh)
    rules = Rules(limits.areas, border, limits.zone, limits.need, swaps.group, how.longest_m, costs)
    draw = draws(many, seed, how)
    make = walk_kernel if is_compiled else make_walk
    try_all = make(kernels, swaps.wanted, value is not None)
    best = place[:, :many].copy(), start.types.copy()
    common = farm.data, farm.turbine_arrays, farm.wind_near(limits.origin), moves
    energy = kernels.settle(*common)
    cooling = how.hot * energy / problem.counted, how.cold * energy / problem.counted, how.budget
    found = 0, energy, 0.0, energy
    # Each move that is evaluated as a whole is reported, with the energy.
    at_once, whole = (BATCH, None) if is_compiled else (1, farm if value is None else None)
    for batch in range(1 + DRAWS_PER_TRIAL * how.budget // BATCH):
        if batch and batch % SETTLED_EVERY == 0:
            found = found[0], kernels.settle(*common), found[2], found[3]
        drawn, others = draw(), swaps.draw(BATCH)
        for first in range(0, BATCH, at_once):
            part, before = slice(first, first + at_once), found[0]
            found = try_all(common, rules, (drawn[part], others[part]), cooling, best, found)
            if found[0] > before:
                problem.report.advance(found[0] - before, whole, None if whole is None else found[3])
            if found[0] >= how.budget:
                break
        if found[0] >= how.budget:
            break
    x, y = best[0] + limits.origin[:, None]
    last = Layout(moves.x[:many] + limits.origin[0], moves.y[:many] + limits.origin[1], moves.types[:many])
    return Layout(x, y, best[1]), last, found[0]
