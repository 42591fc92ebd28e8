"""In which wind states a walk is made: few at first and more later, or all throughout.

A trial costs by the wind states it is evaluated in, and in all states of a fine rose the pairs of a large farm do not
fit into the memory that moves may use (``carried_moves``). So most trials are made in few wind states (``thinning``).
A layout settles between few directions; the last trials, in more of them, take that back. What comes of it is compared
with the start in all wind states.

Where the wind differs from place to place, a few more wind speeds are kept: what a place is worth without wakes must be
told apart, too. All states stay where a trial is cheap in all of them (wakes that do not change with the wind, few
states), where wakes follow the turned wind, and where whole layouts are evaluated: models whose moves are not followed,
engines of other tools. A time series stays whole.
"""

from __future__ import annotations

from typing import NamedTuple

from vindeby.layout.climbing.simplified_farm import thinned
from vindeby.layout.climbing.stages import WindChoice
from vindeby.layout.moves.carried_moves import can_carry
from vindeby.layout.moves.one_move import can_move_one
from vindeby.layout.moves.steady_moves import is_steady
from vindeby.layout.problem import Problem

DIRECTIONS, SPEEDS, LOCAL_SPEEDS = 120, 6, 8
"""Of most trials; the last where the wind differs from place to place."""
LAST = 0.1
"""The share of the trials that is for all directions, where moves are carried on there."""
FEW_SPEEDS = 8
"""A farm with no more directions than these, and no more speeds than this, has few wind states already."""


class Stage(NamedTuple):
    """A share of the trials of a walk, and the problem in the wind states that they are made in."""

    problem: Problem
    share: float


def stages_of(problem: Problem, wind: WindChoice) -> tuple[Stage, ...]:
    """The stages of a walk, in order; one, the problem itself, where nothing is to be left out."""
    few = _in_few_states(problem) if wind == "coarse-to-fine" else None
    if few is None:
        return (Stage(problem, 1.0),)
    directions = len(problem.farm.states.direction)
    if len(few.farm.states.direction) < directions:
        last = thinned(problem, directions, _speeds(problem)) or problem
        if can_carry(last.farm, problem.n_turbines + len(problem.neighbours.types)):
            return (Stage(few, 1.0 - LAST), Stage(last, LAST))
    return (Stage(few, 1.0),)


def _in_few_states(problem: Problem) -> Problem | None:
    """The problem of most trials; None where all states stay."""
    farm = problem.farm
    if farm.locality == "turned" or not can_move_one(farm.model):
        return None
    if farm.locality == "uniform" and is_steady(farm):
        return None
    many = len(farm.states.direction) > DIRECTIONS or farm.wind.most > FEW_SPEEDS
    return thinned(problem, DIRECTIONS, _speeds(problem)) if many else None


def _speeds(problem: Problem) -> int:
    return SPEEDS if problem.farm.locality == "uniform" else LOCAL_SPEEDS
