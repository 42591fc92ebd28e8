"""The starts that a portfolio tries, and how the work of each part of a portfolio is counted.

A start is a method that needs no layout. To add one, write a function like those below and call it in ``starts_for``. A
start that does not suit a problem returns None; one that turns out not to fit raises TaskError or ArgumentError when it
runs and is not tried again.

Work is counted in evaluations of whole layouts in all wind states. The rules follow what is computed, wakes between
pairs of turbines in wind states, and not what it takes on some machine. They need not be exact: they only have to be
the same everywhere, and near enough for shares of a budget to mean something.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.layout.lattices.judges import can_judge_quickly, look_work, parts_of, shares_of_evaluation
from vindeby.layout.lattices.searching import KEPT, SHAPES_PER_TRIAL, WITH_SURPLUS
from vindeby.layout.method import Method
from vindeby.layout.methods.starts import BoundaryGrid, Lattice, RandomStart, SmartStart
from vindeby.layout.moves.carried_state import can_carry
from vindeby.layout.moves.steady_moves import is_steady
from vindeby.layout.moves.walk import stages_of
from vindeby.layout.placing.construction import grid_inside
from vindeby.layout.problem import LayoutProblem

GRID_SIZE = 18
"""Of smart start; finer where that leaves fewer than ``POINTS_PER_TURBINE``."""
POINTS_PER_TURBINE = 6
RANDOM_PCT = 10.0
LATTICES = 300
"""Lattices that are tried for one layout."""
PER_LATTICE = 3.0
"""Evaluations for each of them, about, with those that decide which turbines are left out."""
RINGED = 100
"""Layouts of boundary-grid that are tried for one."""
SPEEDS = 5
"""Wind speeds at most, and directions, in which smart start judges points: some of the problem's own."""
DIRECTIONS = 120


class Start(NamedTuple):
    """One way to start."""

    name: str
    method: Method
    work: float
    """In evaluations, for each layout, about; regular starts say themselves how many it took."""


def starts_for(problem: LayoutProblem) -> list[Start]:
    """All that may suit a problem, in the order in which they are tried."""
    looks = RINGED * look_work(parts_of(problem), problem)
    starts = (
        _lattice(problem),
        Start("boundary-grid", BoundaryGrid(trials=RINGED), 1.0 + looks),
        _smart_start(problem),
        Start("random-start", RandomStart(), 1.0),
    )
    return [start for start in starts if start is not None]


def _lattice(problem: LayoutProblem) -> Start:
    if can_judge_quickly(problem):  # looks, shapes, and evaluations of the best
        look, shape = shares_of_evaluation(problem)
        work = KEPT + LATTICES * (look * (1.0 + 3.0 * WITH_SURPLUS) + 2.0 * SHAPES_PER_TRIAL * shape)
    else:
        work = PER_LATTICE * LATTICES * look_work(parts_of(problem), problem)
    return Start("lattice", Lattice(trials=LATTICES), work)


def _smart_start(problem: LayoutProblem) -> Start | None:
    west, south, east, north = problem.boundary.bounds
    if not (east > west and north > south):
        return None
    inside = max(1, len(grid_inside(problem, GRID_SIZE)[0]))
    wanted = POINTS_PER_TURBINE * problem.n_turbines
    size = GRID_SIZE if inside >= wanted else ceil(GRID_SIZE * sqrt(wanted / inside))
    states = problem.farm.states
    if states.step is not None:  # a time series is taken as it is
        method, judged = SmartStart(size, RANDOM_PCT), len(states.speed)
    else:
        speeds, directions = _some(np.unique(states.speed), SPEEDS), _some(states.direction, DIRECTIONS)
        method, judged = SmartStart(size, RANDOM_PCT, speeds, directions), len(directions) * len(speeds)
    # The wakes of each turbine at all points of the grid, in the states that they are judged in.
    points = round(inside * (size / GRID_SIZE) ** 2)
    work = 1.0 + points * judged / (problem.counted * len(states.speed))
    return Start("smart-start", method, work)


def _some(values: FloatArray, most: int) -> tuple[float, ...]:
    """Every so many of some values, that there are at most so many; directions all around stay evenly spaced."""
    many = len(values)
    every = next(step for step in range(ceil(many / most), many + 1) if many % step == 0)
    return tuple(float(value) for value in values[every // 2 :: every])


GRADIENT = 3.0
"""An energy with its gradient: the walk downwind, and one back with about twice as much to compute."""


def trial_work(problem: LayoutProblem) -> float:
    """One trial of random-search or annealing, on average over its stages: in few wind states it costs as much less."""
    states = len(problem.farm.states.speed)
    return sum(
        stage.share * _trial_in(stage.problem) * len(stage.problem.farm.states.speed) / states
        for stage in stages_of(problem, "coarse-to-fine")
    )


def _trial_in(problem: LayoutProblem) -> float:
    """One trial in all wind states of a problem.

    Where wakes do not change with the wind, a move changes those from and to one turbine, 2 of n rows of pairs. Where
    they do, about as many again change in turn, and there are kept moves. A whole layout takes a tenth where its wakes
    are read from tables, which moves do not use. Where moves are not followed (models that add turbulence, blockage,
    engines of other tools, too many pairs) it is a whole evaluation.
    """
    farm = problem.farm
    if is_steady(farm):
        return min(1.0, 2.0 / problem.counted)
    if not can_carry(farm, problem.n_turbines + len(problem.neighbours.types)):
        return 1.0
    return min(0.5, (40.0 if farm.tabulated or farm.by_width else 4.0) / problem.counted)
