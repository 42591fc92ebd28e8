"""A time series in chunks of steps, so that the power of every turbine at every step need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vindeby.errors import ArgumentError
from vindeby.wake.sites.site import WindStates


def chunks_of(states: WindStates, steps: int) -> Iterator[tuple[slice, WindStates]]:
    """The steps of a time series in order, so many at a time, as wind states of their own.

    Each keeps the probabilities that its steps have in the whole series.
    """
    if states.step is None:
        raise ArgumentError(
            "this site is not a time series: it has no steps; call power() for its wind states"
        )
    if steps < 1:
        raise ArgumentError(f"steps_per_chunk must be a whole number >= 1, not {steps!r}")
    in_order = np.empty_like(states.step)
    in_order[states.step] = np.arange(len(states.step))
    direction_index = np.repeat(np.arange(len(states.direction)), np.diff(states.first))
    for begin in range(0, len(in_order), steps):
        chosen = np.sort(in_order[begin : begin + steps])  # by direction, as all states are
        index, first = np.unique(direction_index[chosen], return_index=True)
        yield (
            slice(begin, begin + len(chosen)),
            replace(
                states,
                direction=states.direction[index],
                first=np.append(first, len(chosen)).astype(np.int64),
                speed=states.speed[chosen],
                probability=states.probability[chosen],
                turbulence=states.turbulence[chosen],
                shape=(len(chosen),),
                step=states.step[chosen] - begin,
            ),
        )
