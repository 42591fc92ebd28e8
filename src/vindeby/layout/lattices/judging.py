"""The same problem with fewer wind states, to tell good lattices from poor ones; and with the wind turned round.

A search over lattices compares thousands of layouts, and only their wakes differ. So states are put together
by what a wake costs in them: a group of directions becomes one, and its speeds become one speed, weighted with
the power that a tenth of the wind speed is worth. The directions stay many: a lattice would find the gaps
between a few.

In the opposite wind a turbine stands in the wakes of those that stand in its own, so its losses in both winds
together say what its removal saves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vindeby.layout.placing.judged_points import JudgesPoints
from vindeby.layout.problem import FloatArray, Problem
from vindeby.wake import GriddedSite, Site, Turbine, WindFarm, WindStates

__all__ = ["opposite", "thinned"]

MOST_STATES = 90
"""As many are judged; more are put together."""
MOST_DIRECTIONS, MOST_SPEEDS = 60, 4
"""Where the probabilities are those of a grid."""
DEFICIT = 0.1
"""The wake by whose cost states are weighted: this share of the wind speed."""


def thinned(problem: Problem) -> Problem:
    """The problem with at most ``MOST_STATES`` wind states; itself, if it has no more or another tool's wakes."""
    farm = problem.farm
    if isinstance(farm, JudgesPoints) or len(farm.states.speed) <= MOST_STATES:
        return problem
    if isinstance(farm.site, GriddedSite) and farm.site.grid.has_weibull:
        return _in_states(problem, _every_few(farm.states))
    turbine = farm.turbines[problem.types_in_order()[0]]
    return _in_states(problem, thinned_states(farm.states, turbine))


def opposite(problem: Problem) -> Problem | None:
    """The problem with all winds from the opposite side; None where they are not those of the farm's own states."""
    farm = problem.farm
    if isinstance(farm, JudgesPoints) or isinstance(farm.site, GriddedSite):
        return None
    states = farm.states
    return _in_states(problem, replace(states, direction=(states.direction + 180.0) % 360.0))


def thinned_states(states: WindStates, turbine: Turbine) -> WindStates:
    """One speed for each direction, and at most ``MOST_STATES`` directions."""
    direction = np.repeat(states.direction, np.diff(states.first)) % 360.0
    known, group = np.unique(direction, return_inverse=True)
    if len(known) > MOST_STATES:
        # Groups as wide as each other: the rose may be anything.
        group = np.floor(direction * (MOST_STATES / 360.0)).astype(np.int64)
    group = np.unique(group, return_inverse=True)[1]
    many = int(group.max()) + 1
    cost = states.probability * _cost(turbine, states.speed)
    weight = cost + 1e-12 * (states.probability + 1e-300) * max(float(cost.max()), 1.0)

    def mean(values: FloatArray) -> FloatArray:
        if np.ptp(values) == 0.0:  # to the bit: turbulence that does not vary is faster to compute with
            return np.full(many, values[0])
        return np.bincount(group, weight * values, many) / np.bincount(group, weight, many)

    speed = mean(states.speed)
    one = _cost(turbine, speed)
    probability: FloatArray = np.bincount(group, states.probability, many).astype(np.float64)
    np.divide(np.bincount(group, cost, many), one, out=probability, where=one > 0.0)
    return WindStates(
        mean(direction), np.arange(many + 1), speed, probability, mean(states.turbulence), (many, 1)
    )


def _every_few(states: WindStates) -> WindStates:
    """Some directions and speeds, evenly chosen: a grid of Weibull parameters gives them their probabilities."""
    directions, speeds = states.shape
    every, each = -(-directions // MOST_DIRECTIONS), -(-speeds // MOST_SPEEDS)

    def some(values: FloatArray) -> FloatArray:
        return values.reshape(states.shape)[::every, each // 2 :: each]

    kept = some(states.speed).shape
    return WindStates(
        states.direction[::every],
        np.arange(kept[0] + 1) * kept[1],
        some(states.speed).ravel(),
        some(states.probability).ravel(),
        some(states.turbulence).ravel(),
        kept,
    )


def _cost(turbine: Turbine, speed: FloatArray) -> FloatArray:
    """What a wake costs (W) at these wind speeds; nothing where it brings a gain, as above cut-out."""
    return np.maximum(turbine.power_at(speed) - turbine.power_at((1.0 - DEFICIT) * speed), 0.0)


def _in_states(problem: Problem, states: WindStates) -> Problem:
    farm = problem.farm
    same: Site = _GivenWind(states)
    if isinstance(farm.site, GriddedSite):
        same = replace(farm.site, rose=same)
    changed = WindFarm(
        same,
        farm.turbines,
        farm.model,
        neighbours=farm.neighbours,
        threads=farm.threads,
        tabulate=farm.tabulated or farm.by_width,
    )
    return replace(problem, farm=changed)


@dataclass(frozen=True, eq=False)
class _GivenWind:
    """A site that has these wind states."""

    wind: WindStates

    def states(
        self,
        directions: npt.ArrayLike | None = None,  # noqa: ARG002  they were chosen before
        speeds: npt.ArrayLike | None = None,  # noqa: ARG002
    ) -> WindStates:
        return self.wind
