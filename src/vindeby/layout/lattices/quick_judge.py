"""What lattices are worth, nearly, at a small part of the cost of an evaluation: enough to tell good from poor ones.

Two things are simplified (``offset_wakes``). Every turbine has the thrust of the free wind: in a direction with several
wind speeds, one thrust makes the wakes, and at other speeds they are scaled. And directions that are more than
``MOST_DIRECTIONS``, those of a time series, are rounded to whole degrees. What a search finds by this judge is
evaluated by the engine before it counts.
"""

from __future__ import annotations

from copy import copy
from math import pi
from typing import final

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.lattices.felt_wakes import POINTS, QuickWind, new_felt
from vindeby.layout.lattices.offset_wakes import lattice_grid, quick_energy
from vindeby.layout.lattices.points import Points
from vindeby.layout.lattices.shape_wakes import shape_power
from vindeby.layout.placing.judged_points import JudgesPoints
from vindeby.layout.problem import Problem
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import Turbine, WindFarm, WindStates

MOST_DIRECTIONS = 360
PER_LOOK, PER_SHAPE, MOST_PER_SHAPE = 10.0, 100.0, 0.25
"""A look is this part of an evaluation divided by the turbines, offsets against pairs; a shape, by their square. Both
are for one wind speed in a direction; of several, evaluations have most to themselves, but what they share."""


def can_judge_quickly(problem: Problem) -> bool:
    """Whether turbines are all alike, on the lattice, in wakes that vindeby computes and the same wind everywhere."""
    farm = problem.farm
    if isinstance(farm, JudgesPoints) or farm.locality != "uniform" or len(problem.neighbours.types):
        return False
    return len(set(problem.types_in_order().tolist())) == 1 and farm.model.superposition != "cumulative"


def shares_of_evaluation(problem: Problem) -> tuple[float, float]:
    """The work of a look at a lattice, and of one at a shape, in evaluations."""
    turbines, states = problem.n_turbines, problem.farm.states
    speeds = len(states.speed) / len(states.direction)
    look, shape = min(1.0, PER_LOOK / turbines), min(MOST_PER_SHAPE, PER_SHAPE / turbines**2)
    return look / speeds**0.5, shape / speeds**0.5


@final
class QuickJudge:
    """The energy of points that are turbines of one type, alone."""

    exact_losses = True

    def __init__(self, problem: Problem) -> None:
        farm = problem.farm
        self.turbine = farm.turbines[int(problem.types_in_order()[0])]
        self.data, self.wind = farm.data, quick_wind(farm, self.turbine)
        self._felt = new_felt(self.wind)
        self._kernel = quick_energy(farm.model)
        self._shape_kernel = shape_power(farm.model)
        many = problem.n_turbines
        self._look, self._shape = shares_of_evaluation(problem)
        self._radius = (many / pi) ** 0.5
        self._work = 0.0

    def anew(self) -> QuickJudge:
        """The same judge, before its first look."""
        judge = copy(self)
        judge._work = 0.0  # noqa: SLF001  it is of this class
        return judge

    @property
    def evaluations(self) -> float:
        """The work of all looks so far, in evaluations of all wind states."""
        return self._work

    def energy(self, points: Points, least: float = 0.0) -> float:  # noqa: ARG002  it takes the same time for all
        """AEP (GWh) of turbines on all points."""
        return float(self._by_turbine(points, losses=False).sum())

    def losses(self, points: Points) -> FloatArray:
        """What AEP (GWh) all would lose without each turbine."""
        return self._by_turbine(points, losses=True)

    def shape_energies(self, shapes: FloatArray, side: float) -> FloatArray:
        """About the AEP (GWh) of a turbine in lattices of these shapes, (3, shapes), with cells of side squared.

        Nothing but the shape counts: not where the lattice is, nor what its area looks like.
        """
        out, summed = np.empty(shapes.shape[1]), np.empty(len(self.wind.direction))
        size = self.turbine.rotor_diameter_m, self.turbine.hub_height_m
        numbers = np.stack([shapes[0], np.exp(shapes[1]), shapes[2]])
        radius = self._radius * side
        self._shape_kernel(self.data, *size, self.wind, side, radius, numbers, self._felt, summed, out)
        self._work += self._shape * len(out)
        return out * mean_power_to_aep_gwh(1.0)

    def _by_turbine(self, points: Points, *, losses: bool) -> FloatArray:
        self._work += self._look * (3 if losses else 1)
        out = np.empty(len(points.x))
        size = self.turbine.rotor_diameter_m, self.turbine.hub_height_m
        grid = lattice_grid(points.row, points.column, len(self.wind.direction))
        self._kernel(self.data, *size, self.wind, points.vectors, grid, self._felt, losses, out)
        return out * mean_power_to_aep_gwh(1.0)


def quick_wind(farm: WindFarm, turbine: Turbine) -> QuickWind:
    """The wind by direction, with what power is left by the share that wakes take."""
    direction, of_state = _directions(farm.states)
    taken = np.linspace(0.0, 1.0, POINTS)
    thrust, turbulence = np.empty(len(direction)), np.empty(len(direction))
    power = np.empty((len(direction), POINTS))
    for d in range(len(direction)):
        mine = of_state == d
        speed, weight = farm.states.speed[mine], farm.states.probability[mine]
        # Wakes count where less wind means less power.
        felt = weight * np.maximum(turbine.power_at(speed) - turbine.power_at(0.95 * speed), 0.0) + 1e-300
        every = turbine.thrust_coefficient_at(speed)
        thrust[d], turbulence[d] = np.average(np.stack([every, farm.states.turbulence[mine]]), 1, felt)
        strength = _centre_deficit(every) / max(float(_centre_deficit(thrust[d])), 1e-9)
        left = np.maximum(1.0 - strength[:, None] * taken, 0.0)
        power[d] = weight @ turbine.power_at(speed[:, None] * left)
    angle = np.deg2rad(90.0 - direction)
    return QuickWind(direction, np.cos(angle), np.sin(angle), thrust, turbulence, power)


def _directions(states: WindStates) -> tuple[FloatArray, IntArray]:
    """The directions that have any wind, and which of them each state belongs to (-1: none)."""
    direction = np.repeat(states.direction, np.diff(states.first))
    if len(states.direction) > MOST_DIRECTIONS:
        direction = np.rint(direction) % 360.0
    blows = states.probability > 0.0
    found, place = np.unique(direction[blows], return_inverse=True)
    of_state = np.full(len(direction), -1)
    of_state[blows] = place
    return found, of_state


def _centre_deficit(thrust: npt.ArrayLike) -> FloatArray:
    """How strong wakes are with a thrust coefficient, but for a factor: by momentum theory, some diameters downwind."""
    return np.asarray(1.0 - np.sqrt(1.0 - 0.5 * np.asarray(thrust)))
