"""What the farm is worth when one turbine moves, from what it was worth before.

Of a farm's wakes only those from and to the moved turbine change, and those of turbines whose own wind, and
with it their thrust, changed in turn. For every direction the sums of wakes, speeds and thrusts of the layout
are kept; a move takes the old wakes out of the sums and puts the new ones in, walking downwind through the
turbines that are touched and no others. A sum of which almost nothing is left is summed up anew, so that
rounding stays below 1e-10 of the energy. Nothing is carried on from move to move: a kept move is followed by
a whole evaluation.

The loops stand on the wake model's functions, as those of ``vindeby.wake.direct`` do, for models that add no
turbulence. ``vindeby.wake`` has faster tables for whole layouts of some models; ``random_search`` says which
is used when.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.curves import curves_at
from vindeby.wake.wind import clear, count_up, turn_into_wind

__all__ = ["MoveKernels", "Moves", "can_move_one", "move_kernels", "new_moves"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LEFT = 1e-9
"""A sum of wakes of which less than this share is left is summed up anew."""


class Moves(NamedTuple):
    """The layout in every direction; then room for a move. Turbines first, neighbours after them.

    ``along``, ``across``, ``order`` and ``watts`` are (directions, turbines); ``summed``, ``speed`` and
    ``thrust`` (directions, turbines, wind speeds); those beginning with ``new`` (turbines, wind speeds).
    """

    kind: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    along: FloatArray
    across: FloatArray
    order: IntArray
    watts: FloatArray
    summed: FloatArray
    speed: FloatArray
    thrust: FloatArray
    new_summed: FloatArray
    new_speed: FloatArray
    new_thrust: FloatArray
    new_order: IntArray
    new_along: FloatArray
    new_across: FloatArray
    touched: npt.NDArray[np.bool_]


class MoveKernels(NamedTuple):
    """The compiled loops of one model. Power (W) is the mean over all wind, that of neighbours left out.

    ``settle(data, machines, wind, moves)`` takes the layout in ``moves`` as it is and returns its power;
    ``gained(data, machines, wind, moves, turbine, x, y)`` tells how much more it would be with one turbine
    elsewhere; ``keep``, of the same arguments and right after it, puts the turbine there.
    """

    settle: Callable[..., float]
    gained: Callable[..., float]
    keep: Callable[..., None]


def can_move_one(model: WakeModel) -> bool:
    """Whether the loops here hold for a model: turbulence that wakes add is not followed."""
    return model.added_turbulence is None


def new_moves(farm: WindFarm, x: FloatArray, y: FloatArray, kind: IntArray, counted: int) -> Moves:
    """Room for a layout, neighbours included; ``settle`` it first."""
    n, directions, most = len(x), len(farm.wind.cosine), farm.wind.most
    states = (directions, n, most)
    return Moves(
        np.array(kind, np.int64), counted, np.array(x), np.array(y),
        np.zeros((directions, n)), np.zeros((directions, n)), np.zeros((directions, n), np.int64),
        np.zeros((directions, n)), np.zeros(states), np.zeros(states), np.zeros(states),
        np.zeros(states[1:]), np.zeros(states[1:]), np.zeros(states[1:]), np.zeros(n, np.int64),
        np.zeros(n), np.zeros(n), np.zeros(n, np.bool_),
    )  # fmt: skip


def _make_steps(model: WakeModel) -> tuple[Callable[..., bool], Callable[..., float]]:
    """Adding one wake to a sum (or taking it out), and settling a turbine whose wakes are summed."""
    deficit, reach = model.deficit, model.reach
    squares = model.superposition == "squares"
    free = model.reference == "free"

    @scalar
    def add_wake(data, machines, source, target, far, aside, wind, turbulence, speed, thrust, sign, summed):  # type: ignore[no-untyped-def]
        """The wake of type ``source`` on type ``target``; ``speed`` and ``thrust`` are the source's."""
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        most_thrust = most_turbulence = 0.0
        for k in range(wind.size):
            most_thrust = max(most_thrust, thrust[k])
            most_turbulence = max(most_turbulence, turbulence[k])
        if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
            return False
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        last = last_turbulence = -1.0
        value = 0.0
        for k in range(wind.size):
            if thrust[k] != last or turbulence[k] != last_turbulence:
                last, last_turbulence = thrust[k], turbulence[k]
                value = deficit(data, far, aside, rise, heights, diameter, rotor, last, last_turbulence)
            whole = value if free else value * speed[k]
            if free and not squares:
                whole = value * wind[k]
            if squares and not free:
                whole = value * speed[k] / wind[k]
            summed[k] += sign * (whole * whole if squares else whole)
        return True

    @scalar
    def settle_one(machines, kind, wind, weight, summed, speed, thrust):  # type: ignore[no-untyped-def]
        """Wind speeds and thrusts of a turbine; returns its mean power."""
        power = 0.0
        for k in range(wind.size):
            total = max(summed[k], 0.0)
            speed[k] = wind[k] * (1.0 - sqrt(total)) if squares else wind[k] - total
            watts, thrust[k] = curves_at(machines, kind, speed[k])
            power += weight[k] * watts
        return power

    return add_wake, settle_one


@once_per_model
def move_kernels(model: WakeModel) -> MoveKernels:  # noqa: C901  two walks side by side
    """Compile, or load from disk, the loops for a model."""
    add_wake, settle_one = _make_steps(model)
    free = model.reference == "free"

    @kernel(model.identity, counts_references=False)
    def settle(data, machines, wind, moves):  # type: ignore[no-untyped-def]
        n = moves.x.size
        kind, total = moves.kind, 0.0
        along, across = moves.new_along, moves.new_across
        for d in range(wind.cosine.size):
            order = moves.order[d]
            count_up(order)
            for a in range(n if d else 0):
                order[a] = moves.order[d - 1, a]
            turn_into_wind(moves.x, moves.y, wind.cosine[d], wind.sine[d], order, along, across)
            here = slice(wind.first[d], wind.first[d + 1])
            speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
            for a in range(n):
                i = order[a]
                moves.along[d, i], moves.across[d, i] = along[a], across[a]
                clear(moves.summed[d, i])
            for a in range(n):
                i = order[a]
                moves.watts[d, i] = settle_one(
                    machines,
                    kind[i],
                    speed,
                    weight,
                    moves.summed[d, i],
                    moves.speed[d, i],
                    moves.thrust[d, i],
                )
                if i < moves.counted:
                    total += moves.watts[d, i]
                for b in range(a + 1, n):
                    j = order[b]
                    add_wake(
                        data, machines, kind[i], kind[j], along[b] - along[a], across[b] - across[a],
                        speed, turbulence, moves.speed[d, i], moves.thrust[d, i], 1.0, moves.summed[d, j],
                    )  # fmt: skip
        return total

    @scalar
    def touch(moves, d, j):  # type: ignore[no-untyped-def]
        if not moves.touched[j]:
            moves.touched[j] = True
            for k in range(moves.new_summed.shape[1]):
                moves.new_summed[j, k] = moves.summed[d, j, k]

    @scalar
    def sum_anew(data, machines, moves, d, order, a, moved, place, side, wind, turbulence):  # type: ignore[no-untyped-def]
        """All wakes on the turbine at ``a`` of the new order, from those before it."""
        i = order[a]
        here, beside = (place, side) if i == moved else (moves.along[d, i], moves.across[d, i])
        clear(moves.new_summed[i])
        for b in range(a):
            j = order[b]
            far, aside = here - moves.along[d, j], beside - moves.across[d, j]
            if j == moved:
                far, aside = here - place, beside - side
            speed, thrust = moves.speed[d, j], moves.thrust[d, j]
            if moves.touched[j]:
                speed, thrust = moves.new_speed[j], moves.new_thrust[j]
            add_wake(
                data, machines, moves.kind[j], moves.kind[i], far, aside, wind, turbulence,
                speed, thrust, 1.0, moves.new_summed[i],
            )  # fmt: skip

    @scalar
    def replace_wakes(data, machines, moves, d, order, a, moved, place, side, wind, turbulence):  # type: ignore[no-untyped-def]
        """The wakes of the turbine at ``a`` of the new order, new for old, on those after it."""
        i = order[a]
        for b in range(a + 1, order.size):
            j = order[b]
            if j == moved:
                continue
            touched = moves.touched[j]
            touch(moves, d, j)
            far, aside = moves.along[d, j] - moves.along[d, i], moves.across[d, j] - moves.across[d, i]
            was = False
            if i == moved:
                far, aside = moves.along[d, j] - place, moves.across[d, j] - side
            else:
                was = add_wake(
                    data, machines, moves.kind[i], moves.kind[j], far, aside, wind, turbulence,
                    moves.speed[d, i], moves.thrust[d, i], -1.0, moves.new_summed[j],
                )  # fmt: skip
            now = add_wake(
                data, machines, moves.kind[i], moves.kind[j], far, aside, wind, turbulence,
                moves.new_speed[i], moves.new_thrust[i], 1.0, moves.new_summed[j],
            )  # fmt: skip
            moves.touched[j] = touched or was or now

    @scalar
    def reorder(moves, d, moved, place):  # type: ignore[no-untyped-def]
        """The new order: the old one with the moved turbine at its new place."""
        order, at = moves.new_order, 0
        inserted = False
        for a in range(order.size):
            i = moves.order[d, a]
            if i == moved:
                continue
            if not inserted and moves.along[d, i] > place:
                order[at] = moved
                at += 1
                inserted = True
            order[at] = i
            at += 1
        if not inserted:
            order[at] = moved

    @scalar
    def remove_old_wakes(data, machines, moves, d, moved, wind, turbulence):  # type: ignore[no-untyped-def]
        behind = False
        for a in range(moves.new_order.size):
            j = moves.order[d, a]
            if j == moved:
                behind = True
            elif behind:
                far = moves.along[d, j] - moves.along[d, moved]
                aside = moves.across[d, j] - moves.across[d, moved]
                touch(moves, d, j)
                moves.touched[j] = add_wake(
                    data, machines, moves.kind[moved], moves.kind[j], far, aside, wind, turbulence,
                    moves.speed[d, moved], moves.thrust[d, moved], -1.0, moves.new_summed[j],
                )  # fmt: skip

    @scalar
    def differs(moves, d, i, count):  # type: ignore[no-untyped-def]
        """Whether a turbine casts another wake than before."""
        for k in range(count):
            if moves.new_thrust[i, k] != moves.thrust[d, i, k]:
                return True
            if not free and moves.new_speed[i, k] != moves.speed[d, i, k]:
                return True
        return False

    @scalar
    def almost_empty(moves, d, i, count):  # type: ignore[no-untyped-def]
        least = 1.0
        for k in range(count):
            least = min(least, moves.new_summed[i, k] - LEFT * moves.summed[d, i, k])
        return least < 0.0

    @kernel(model.identity, counts_references=False)
    def gained(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            here = slice(wind.first[d], wind.first[d + 1])
            speed, weight, turbulence = wind.speed[here], wind.weight[here], wind.turbulence[here]
            place = -wind.cosine[d] * x - wind.sine[d] * y
            side = wind.sine[d] * x - wind.cosine[d] * y
            for i in range(n):
                moves.touched[i] = False
            remove_old_wakes(data, machines, moves, d, moved, speed, turbulence)
            reorder(moves, d, moved, place)
            order = moves.new_order
            for a in range(n):
                i = order[a]
                if i == moved or moves.touched[i]:
                    if i == moved or almost_empty(moves, d, i, speed.size):
                        sum_anew(data, machines, moves, d, order, a, moved, place, side, speed, turbulence)
                    moves.touched[i] = True
                    watts = settle_one(
                        machines, moves.kind[i], speed, weight,
                        moves.new_summed[i], moves.new_speed[i], moves.new_thrust[i],
                    )  # fmt: skip
                    if i == moved or differs(moves, d, i, speed.size):
                        replace_wakes(
                            data, machines, moves, d, order, a, moved, place, side, speed, turbulence
                        )
                    if i < moves.counted:
                        total += watts - moves.watts[d, i]
        return total

    @kernel(model.identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]
        moves.x[moved], moves.y[moved] = x, y
        settle(data, machines, wind, moves)

    return MoveKernels(settle, gained, keep)
