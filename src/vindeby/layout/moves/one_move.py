"""What the farm is worth when one turbine moves, from what it was worth before.

Of a farm's wakes only those from and to the moved turbine change, and those of turbines whose own wind, and
with it their thrust, changed in turn. For every direction the sums of wakes, speeds and thrusts of the layout
are kept; a move takes the old wakes out of the sums and puts the new ones in, walking downwind through the
turbines that are touched and no others. A sum of which almost nothing is left is summed up anew, so that
rounding stays below 1e-10 of the energy. Nothing is carried on from move to move: a kept move is followed by
a whole evaluation.

The loops stand on the wake model's functions, as those of ``vindeby.wake.loops.direct`` do, for models that add no
turbulence. ``carried_moves`` does the same faster, but for wakes that follow the turned wind and too many pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.move_state import FreeWinds, Moves, Trial, free_winds
from vindeby.layout.moves.move_steps import (
    almost_empty,
    make_add_wake,
    make_differs,
    make_remove_old_wakes,
    make_replace_wakes,
    make_settle_one,
    make_sum_anew,
    reorder,
)
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import kernel
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.local.local_rows import rows_for
from vindeby.wake.loops.rotation import turn, turn_into_wind
from vindeby.wake.loops.wind import clear, count_up, wind_from
from vindeby.wake.loops.wind_access import Locality, identity_of


class MoveKernels(NamedTuple):
    """The compiled loops of one model. Power (W) is the mean over all wind, that of neighbours left out.

    ``settle(data, machines, wind, moves)`` takes the layout in ``moves`` as it is and returns its power;
    ``gained(data, machines, wind, moves, turbine, x, y, needed)`` tells how much more it would be with one turbine
    elsewhere; a gain that is no more than ``needed`` may be a rough one, so none is with ``-inf``. ``keep``, of the
    same arguments but for the last and right after it, puts the turbine there.
    """

    settle: Callable[..., float]
    gained: Callable[..., float]
    keep: Callable[..., None]


def can_move_one(model: WakeModel) -> bool:
    """Whether the loops here hold for a model: neither turbulence that wakes add nor blockage is followed."""
    return model.is_a_sum_of_pairs


def new_moves(farm: WindFarm, x: FloatArray, y: FloatArray, type_index: IntArray, counted: int) -> Moves:
    """Room for a layout, neighbours included; ``settle`` it first."""
    n, directions, most = len(x), len(farm.wind.cosine), farm.wind.most
    states = (directions, n, most)
    return Moves(
        np.array(type_index, np.int64), counted, np.array(x), np.array(y),
        np.zeros((directions, n)), np.zeros((directions, n)), np.zeros((directions, n), np.int64),
        np.zeros((directions, n)), np.zeros(states), np.zeros(states), np.zeros(states),
        np.zeros(states[1:]), np.zeros(states[1:]), np.zeros(states[1:]), np.zeros(n, np.int64),
        np.zeros(n), np.zeros(n), np.zeros(n, np.bool_),
        rows_for(0 if farm.locality == "uniform" else directions * n + 1, most),
    )  # fmt: skip


@once_per_model
def move_kernels(model: WakeModel, locality: Locality = "uniform") -> MoveKernels:
    """Compile, or load from disk, the loops for a model."""
    steps = make_add_wake(model, locality), make_settle_one(model, locality), free_winds(locality)
    identity = identity_of(model, locality)
    settle = _make_settle(identity, *steps)
    return MoveKernels(settle, _make_gained(model, identity, *steps), _make_keep(identity, settle))


def _make_settle(
    identity: str, add_wake: Callable[..., bool], settle_one: Callable[..., float], free: FreeWinds
) -> Callable[..., float]:
    settled, fill = free.settled, free.fill

    @kernel(identity, counts_references=False)
    def settle(data, machines, wind, moves):
        n = moves.x.size
        type_index, total = moves.type_index, 0.0
        along, across = moves.new_along, moves.new_across
        for d in range(wind.cosine.size):
            order, states = moves.order[d], wind_from(wind, d)
            count_up(order)
            for a in range(n if d else 0):
                order[a] = moves.order[d - 1, a]
            turn_into_wind(moves.x, moves.y, wind.cosine[d], wind.sine[d], order, along, across)
            for a in range(n):
                i = order[a]
                moves.along[d, i], moves.across[d, i] = along[a], across[a]
                clear(moves.summed[d, i])
                fill(wind, d, moves, type_index[i], moves.x[i], moves.y[i], d * n + i)
            for a in range(n):
                i = order[a]
                speed, thrust, own = moves.speed[d, i], moves.thrust[d, i], settled(moves, d, states, i)
                moves.watts[d, i] = settle_one(
                    machines, type_index[i], own, moves.summed[d, i], speed, thrust
                )
                if i < moves.counted:
                    total += moves.watts[d, i]
                for b in range(a + 1, n):
                    j = order[b]
                    add_wake(
                        data, machines, type_index[i], type_index[j], along[b] - along[a], across[b] - across[a],
                        own, speed, thrust, 1.0, moves.summed[d, j],
                    )  # fmt: skip
        return total

    return settle


def _make_gained(
    model: WakeModel,
    identity: str,
    add_wake: Callable[..., bool],
    settle_one: Callable[..., float],
    free: FreeWinds,
) -> Callable[..., float]:
    sum_anew, replace_wakes = make_sum_anew(add_wake, free), make_replace_wakes(add_wake, free)
    remove_old_wakes, differs = make_remove_old_wakes(add_wake, free), make_differs(model)
    tried, fill = free.tried, free.fill

    @kernel(identity, counts_references=False)
    def gained(data, machines, wind, moves, moved, x, y, needed):
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            states = wind_from(wind, d)
            along, across = turn(wind.cosine[d], wind.sine[d], x, y)
            trial = Trial(d, moved, along, across)
            fill(wind, d, moves, moves.type_index[moved], x, y, moves.free.cosine.size - 1)
            for i in range(n):
                moves.touched[i] = False
            remove_old_wakes(data, machines, moves, trial, states)
            reorder(moves, trial)
            for a in range(n):
                i = moves.new_order[a]
                if i == moved or moves.touched[i]:
                    if i == moved or almost_empty(moves, d, i, states.speed.size):
                        sum_anew(data, machines, moves, trial, a, states)
                    moves.touched[i] = True
                    watts = settle_one(
                        machines, moves.type_index[i], tried(moves, trial, states, i),
                        moves.new_summed[i], moves.new_speed[i], moves.new_thrust[i],
                    )  # fmt: skip
                    if i == moved or differs(moves, d, i, states.speed.size):
                        replace_wakes(data, machines, moves, trial, a, states)
                    if i < moves.counted:
                        total += watts - moves.watts[d, i]
        return total

    return gained


def _make_keep(identity: str, settle: Callable[..., float]) -> Callable[..., None]:
    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):
        moves.x[moved], moves.y[moved] = x, y
        settle(data, machines, wind, moves)

    return keep
