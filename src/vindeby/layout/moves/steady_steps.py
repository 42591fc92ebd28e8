"""What the loops of ``steady_moves`` are made of: the wake of a pair, and the power that is left of a sum of wakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.models.contract import Pair, PairSquares
from vindeby.wake.turbines.curves import COLUMNS

__all__ = ["POINTS", "SteadyMoves", "is_downwind", "make_all_watts", "make_pair", "pair_squares_of"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
PlaceArray = npt.NDArray[np.uint64]
"""Places in lists: loops need not look whether one counts from the end."""

POINTS = 1024
"""Of each table of power, from no wake at all to no wind at all."""
NOWHERE = np.uint64(2**63)
"""No place in a table."""


class SteadyMoves(NamedTuple):
    """The layout in every direction; then room for a move. Turbines first, neighbours after them.

    Directions ``ahead`` and ``behind`` (-1: none) are opposite and make an axis. ``along`` and ``across`` are
    (axes, turbines), ``wake`` is (turbines, axes, turbines); ``summed`` and ``watts`` hold (directions, turbines) and
    ``power`` (directions, types, points), one after the other. ``only_speed`` is the wind speed of a direction
    that has but one (others: -1), ``only_weight`` how often it blows.

    Then the lists of a move. Pairs: the ``other`` turbine, how ``far`` downwind and ``aside`` of the moved one it
    stands, whether that is in reach (``reached``: 1 or 0) and its wake ``now``; those of axis ``a`` begin at
    ``first[a]``. Sums, ``changes[0]`` of them: ``new_summed`` and ``new_watts`` of ``place`` in ``direction``, the
    fraction of the wind that is ``taken`` and the ``point`` in ``power``.
    """

    type_index: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    ahead: IntArray
    behind: IntArray
    thrust: FloatArray
    power: FloatArray
    only_speed: FloatArray
    only_weight: FloatArray
    along: FloatArray
    across: FloatArray
    wake: FloatArray
    summed: FloatArray
    watts: FloatArray
    touched: IntArray
    first: PlaceArray
    other: PlaceArray
    far: FloatArray
    aside: FloatArray
    reached: FloatArray
    now: FloatArray
    changes: PlaceArray
    direction: PlaceArray
    place: PlaceArray
    new_summed: FloatArray
    new_watts: FloatArray
    taken: FloatArray
    point: PlaceArray


@inlined
def is_downwind(far, i, j):
    """Whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return (far > 0.0) | ((far == 0.0) & (i > j))


def pair_squares_of(model: WakeModel, one_type: bool) -> PairSquares | None:
    """The fast way to the wake of a pair, where a model has one and it holds."""
    return model.pair_squares if one_type and model.superposition == "squares" else None


def make_pair(model: WakeModel, one_type: bool) -> Callable[..., float]:
    """The wake of a pair. What it adds to a sum is a fraction of the wind (or its square), the same at all speeds."""
    deficit, reach, term = model.deficit, model.reach, superposition_of(model).term
    squares = pair_squares_of(model, one_type)
    if squares is not None:
        numbers, square = squares

        @scalar
        def pair_square(data, machines, thrust, source, target, far, aside):
            diameter = machines.diameter[0]
            if abs(aside) >= reach(data, far, diameter, diameter, thrust[0], 0.0):
                return 0.0
            n0, n1, n2, n3 = numbers(data, diameter, thrust[0])
            return square(n0, n1, n2, n3, far, aside)

        return pair_square

    @scalar
    def pair(data, machines, thrust, source, target, far, aside):
        """What the wake of type ``source`` adds to the sum of type ``target``, ``far`` downwind of it."""
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        if abs(aside) >= reach(data, far, diameter, rotor, thrust[source], 0.0):
            return 0.0
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        return term(deficit(data, Pair(far, aside, rise, heights, diameter, rotor, thrust[source], 0.0)))

    return pair


@inlined
def _power_at(machines, per_speed, first, last, wind_speed):
    """Power (W), as ``curves_at`` gives it, alone; the buckets of the type are ``first`` to ``last``."""
    wind_speed = max(wind_speed, 0.0)
    p = machines.piece
    row = np.uint64(machines.bucket[min(first + np.uint64(wind_speed * per_speed), last)])
    while wind_speed >= p[row + np.uint64(11)]:
        row += np.uint64(COLUMNS)
    t = wind_speed - p[row + np.uint64(10)]
    return ((p[row + np.uint64(3)] * t + p[row + np.uint64(2)]) * t + p[row + np.uint64(1)]) * t + p[row]


def make_all_watts(model: WakeModel, one_type: bool) -> Callable[..., float]:
    """The power of turbines by their sums, for all sums listed; returns how much more it is than before."""
    taken = superposition_of(model).taken

    @scalar
    def all_watts(machines, moves, many):
        fraction, summed, point, watts = moves.taken, moves.new_summed, moves.point, moves.new_watts
        n, counted, power = np.uint64(moves.x.size), np.uint64(moves.counted), moves.power
        types, points, last = np.uint64(moves.thrust.size), np.uint64(POINTS), np.uint64(POINTS - 2)
        for c in range(many):
            value = summed[c]
            fraction[c] = taken(value if value > 0.0 else 0.0)  # noqa: FURB136  a comparison vectorises, max does not
        tables = False
        per_speed, first = machines.per_speed[0], np.uint64(machines.bucket_first[0])
        end = first + np.uint64(machines.bucket_count[0] - 1)
        for c in range(many):
            d = moves.direction[c]
            i, t = moves.place[c] - d * n, np.uint64(0)
            speed = moves.only_speed[d]
            if not one_type:
                t = np.uint64(moves.type_index[i])
                per_speed, first = machines.per_speed[t], np.uint64(machines.bucket_first[t])
                end = first + np.uint64(machines.bucket_count[t] - 1)
            if i >= counted:
                watts[c], point[c] = 0.0, NOWHERE
            elif speed >= 0.0:
                watts[c] = moves.only_weight[d] * _power_at(
                    machines, per_speed, first, end, speed * (1.0 - fraction[c])
                )
                point[c] = NOWHERE
            else:
                tables = True
                at = min(fraction[c], 1.0) * (POINTS - 1)
                k = min(np.uint64(at), last)
                fraction[c] = at - k
                point[c] = (d * types + t) * points + k
        if tables:
            for c in range(many):
                k = point[c]
                if k != NOWHERE:
                    watts[c] = power[k] + fraction[c] * (power[k + np.uint64(1)] - power[k])
        total = 0.0
        for c in range(many):
            total += watts[c] - moves.watts[moves.place[c]]
        return total

    return all_watts
