"""The same farm in a few of its wind directions: cheap gradients whose mean is that of the whole wind.

The directions are dealt out in turn: with four in each group, those of a group are a quarter of all apart. So a group
tells something about every side, and each direction belongs to one group: the energies of all groups add up to
that of the farm.
"""

from __future__ import annotations

import numpy as np

from vindeby.layout.arrays import IntArray
from vindeby.layout.with_wind import with_wind
from vindeby.wake import WakeModel, WindFarm, WindStates

MOST_GROUPS = 90


def groups_of_directions(many: int, samples: int) -> list[IntArray]:
    """Which of ``many`` directions belong to each group; more than ``samples`` where there would be too many groups."""
    count = min(-(-many // samples), MOST_GROUPS)
    return [np.arange(group, many, count) for group in range(count)]


def sampled_farms(farm: WindFarm, samples: int, model: WakeModel) -> list[WindFarm]:
    """The farm with another wake model, once for each group of about ``samples`` directions."""
    return [
        with_wind(farm, _only(farm.states, group), model)
        for group in groups_of_directions(len(farm.states.direction), samples)
    ]


def _only(states: WindStates, directions: IntArray) -> WindStates:
    """The wind states of these directions, with the probabilities that they have among all."""
    counts = np.diff(states.first)[directions]
    chosen = np.concatenate([np.arange(states.first[d], states.first[d + 1]) for d in directions])
    several = states.step is None and len(set(counts.tolist())) == 1
    return WindStates(
        states.direction[directions],
        np.cumsum([0, *counts.tolist()]),
        states.speed[chosen],
        states.probability[chosen],
        states.turbulence[chosen],
        (len(directions), int(counts[0])) if several else (len(chosen),),
        None if states.step is None else np.arange(len(chosen)),
    )
