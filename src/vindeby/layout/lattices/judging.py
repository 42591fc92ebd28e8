"""The same problem with fewer wind directions, to tell poor lattices quickly; and with the wind turned round.

A lattice has long straight lines of turbines, and a search would soon find one whose lines lie between the
directions of any fixed choice. So the directions of a fine rose are dealt out to several parts, neighbours to
different ones. Each part alone stands for the whole rose. A lattice is looked at in one of them, the parts taking
turns, and counts only after an evaluation with all.

In the opposite wind a turbine stands in the wakes of those that stand in its own, so its losses in both winds
together say what its removal saves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vindeby.layout.placing.judged_points import JudgesPoints
from vindeby.layout.problem import Problem
from vindeby.layout.with_wind import with_wind
from vindeby.wake import GriddedSite, WindStates

MOST_DIRECTIONS = 90
"""As many are evaluated at once; more are dealt out."""


def parts_of(problem: Problem) -> list[Problem]:
    """The problem with a part of the wind directions each; itself alone, where these are few or another tool's."""
    farm = problem.farm
    if isinstance(farm, JudgesPoints):
        return [problem]
    many = -(-len(farm.states.direction) // MOST_DIRECTIONS)
    if many == 1:
        return [problem]
    return [_in_states(problem, dealt_out(farm.states, many, part)) for part in range(many)]


def opposite(problem: Problem) -> Problem | None:
    """The problem with all winds from the opposite side; None where they are not those of the farm's own states."""
    farm = problem.farm
    if isinstance(farm, JudgesPoints) or isinstance(farm.site, GriddedSite):
        return None
    states = farm.states
    return _in_states(problem, replace(states, direction=(states.direction + 180.0) % 360.0))


def dealt_out(states: WindStates, parts: int, part: int) -> WindStates:
    """One direction of each group of ``parts`` next to each other, as probable as the whole group."""
    order = np.argsort(states.direction, kind="stable")
    total = np.add.reduceat(states.probability, states.first[:-1])[order]
    chosen = order[part::parts]
    groups = np.add.reduceat(total, np.arange(0, len(order), parts))
    lengths = np.diff(states.first)[chosen]
    if len(chosen) < len(groups):  # the last group is not whole: its probability goes to the one before
        groups[-2] += groups[-1]
        groups = groups[:-1]
    own = total[part::parts]
    factor = np.divide(groups, own, out=np.zeros_like(groups), where=own > 0.0)
    index = np.concatenate([np.arange(states.first[d], states.first[d + 1]) for d in chosen])
    series = states.step is not None
    return WindStates(
        states.direction[chosen],
        np.append(0, np.cumsum(lengths)),
        states.speed[index],
        states.probability[index] * np.repeat(factor, lengths),
        states.turbulence[index],
        (len(index),) if series else (len(chosen), len(index) // len(chosen)),
        np.arange(len(index)) if series else None,
    )


def _in_states(problem: Problem, states: WindStates) -> Problem:
    return replace(problem, farm=with_wind(problem.farm, states, problem.farm.model))
