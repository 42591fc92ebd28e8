"""How the work of each part of a portfolio is counted, in evaluations of whole layouts in all wind states.

The rules follow what is computed, wakes between pairs of turbines in wind states, and not what it takes on some
machine. They need not be exact: they only have to be the same everywhere, and near enough for shares of a budget to
mean something.
"""

from __future__ import annotations

from vindeby.layout.lattices.quick_judge import shares_of_evaluation
from vindeby.layout.lattices.searching import KEPT, SHAPES_PER_TRIAL, WITH_SURPLUS
from vindeby.layout.methods.smart_start import SmartStart
from vindeby.layout.moves.carried_moves import can_carry
from vindeby.layout.moves.moving import is_cheaper_whole
from vindeby.layout.moves.one_move import can_move_one
from vindeby.layout.moves.steady_moves import is_steady
from vindeby.layout.moves.walk_stages import stages_of
from vindeby.layout.problem import Problem

GRADIENT = 3.0
"""An energy with its gradient: the walk downwind, and one back with about twice as much to compute."""


def trial_work(problem: Problem) -> float:
    """One trial of random-search or annealing, on average over its stages: in few wind states it costs as much less."""
    states = len(problem.farm.states.speed)
    return sum(
        stage.share * _trial_in(stage.problem) * len(stage.problem.farm.states.speed) / states
        for stage in stages_of(problem, "coarse-to-fine")
    )


def _trial_in(problem: Problem) -> float:
    """One trial in all wind states of a problem.

    Where wakes do not change with the wind, a move changes those from and to one turbine, 2 of n rows of pairs. Where
    they do and are carried on from move to move, about as many again change in turn, and there are kept moves; where
    they are not carried on, it is about half of what a whole layout takes. Where moves are not followed (models that
    add turbulence, blockage, engines of other tools, layouts that are faster evaluated from tables) it is a whole
    evaluation.
    """
    farm = problem.farm
    turbines = problem.n_turbines + len(problem.neighbours.types)
    if not can_move_one(farm.model) or is_cheaper_whole(farm, turbines):
        return 1.0
    if farm.locality == "uniform" and is_steady(farm):
        return min(1.0, 2.0 / problem.counted)
    if can_carry(farm, turbines):
        return min(0.5, 4.0 / problem.counted)
    return 0.5


def smart_start_work(method: SmartStart, problem: Problem, points: int) -> float:
    """One construction: the wakes of each turbine at all points of the grid, in the states that it is judged in."""
    farm = problem.farm
    judged = len(farm.states.speed)
    if farm.states.step is None:
        judged = len(method.wind_directions or range(360)) * len(method.wind_speeds or range(5))
    return 1.0 + points * judged / (problem.counted * len(farm.states.speed))


def quick_lattice_work(problem: Problem, trials: int) -> float:
    """The search for a lattice that is judged quickly: looks, shapes, and evaluations of the best."""
    look, shape = shares_of_evaluation(problem)
    return KEPT + trials * (look * (1.0 + 3.0 * WITH_SURPLUS) + 2.0 * SHAPES_PER_TRIAL * shape)
