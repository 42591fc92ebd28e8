"""Turning places into the wind, and gradients back: the only place that knows the signs.

A wind direction goes by the ``cosine`` and ``sine`` of its mathematical angle (``wind.wind_of``). Turned, a place has a
downwind coordinate, which grows with the wind, and a crosswind one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, scalar

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def turn_arrays(cosine: Any, sine: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The downwind and the crosswind coordinates of places, or of distances between places; arrays are broadcast."""
    return -cosine * x - sine * y, sine * x - cosine * y


turn = inlined(turn_arrays)
"""The same for one direction and place, in loops."""


@inlined
def downwind_of(cosine: float, sine: float, x: float, y: float) -> float:
    """The downwind coordinate alone."""
    return -cosine * x - sine * y


@inlined
def turn_back(cosine: float, sine: float, of_along: float, of_across: float) -> tuple[float, float]:
    """The slopes with x and with y of what has these slopes with the downwind and the crosswind coordinate."""
    return sine * of_across - cosine * of_along, -cosine * of_across - sine * of_along


class Turned(NamedTuple):
    """A farm turned into the wind.

    ``type_index`` belongs to turbines as they were given; ``order`` tells which of them comes first, second, ... going
    downwind, and ``along`` and ``across`` (m) are in that order.
    """

    type_index: IntArray
    order: IntArray
    along: FloatArray
    across: FloatArray


@scalar
def new_turned(type_index: IntArray) -> Turned:
    """Room for these turbines."""
    n = type_index.size
    return Turned(type_index, np.empty(n, np.int64), np.empty(n), np.empty(n))


@scalar
def turn_into_wind(
    x: FloatArray,
    y: FloatArray,
    cosine: float,
    sine: float,
    order: IntArray,
    downwind: FloatArray,
    crosswind: FloatArray,
) -> None:
    """Fill ``order`` with the turbines from upwind to downwind, and their places in that order.

    ``order`` must hold every number once; that of the neighbouring direction is nearly right already, which
    insertion takes advantage of.
    """
    n = x.size
    for a in range(n):
        i = order[a]
        place = downwind_of(cosine, sine, x[i], y[i])
        b = a
        while b > 0 and downwind[b - 1] > place:
            downwind[b] = downwind[b - 1]
            order[b] = order[b - 1]
            b -= 1
        downwind[b] = place
        order[b] = i
    for a in range(n):
        i = order[a]
        crosswind[a] = turn(cosine, sine, x[i], y[i])[1]
