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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalRows, fill_row, rows_for
from vindeby.wake.loops.wind import clear, count_up, turn, turn_into_wind, wind_from
from vindeby.wake.loops.wind_access import Locality, OwnWind, access_of, identity_of, superposition_for
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at


class Moves(NamedTuple):
    """The layout in every direction; then room for a move. Turbines first, neighbours after them.

    ``along``, ``across``, ``order`` and ``watts`` are (directions, turbines); ``summed``, ``speed`` and
    ``thrust`` (directions, turbines, wind speeds); those beginning with ``new`` (turbines, wind speeds). ``free`` has
    the free wind of every turbine where it differs from place to place, direction after direction, and in its last row
    that of the moved turbine at its new place.
    """

    type_index: IntArray
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
    free: LocalRows


class Trial(NamedTuple):
    """The turbine that moves, and where it would stand in the wind of direction ``d``."""

    d: int
    moved: int
    along: float
    across: float


class FreeWinds(NamedTuple):
    """Where the steps find the free wind of a turbine: all of compiled functions.

    ``settled(moves, d, states, i)``: that of turbine ``i`` where it stands; ``tried(moves, trial, states, i)``: where
    it would stand. ``fill(wind, d, moves, t, x, y, row)`` works it out, in a row of ``moves.free``.
    """

    settled: Callable[..., Any]
    tried: Callable[..., Any]
    fill: Callable[..., None]


@inlined
def _same_wind(moves, d, states, i):
    return states


@inlined
def _nothing_to_fill(wind, d, moves, t, x, y, row):
    return None


@inlined
def row_of(free, count, row):
    """The free wind in one row of ``free``."""
    return OwnWind(
        free.speed[row, :count], free.weight[row, :count], free.turbulence[row, :count],
        free.cosine[row], free.sine[row],
    )  # fmt: skip


@inlined
def _own_settled(moves, d, states, i):
    return row_of(moves.free, states.speed.size, d * moves.x.size + i)


@inlined
def _own_tried(moves, trial, states, i):
    row = trial.d * moves.x.size + i
    if i == trial.moved:
        row = moves.free.cosine.size - 1
    return row_of(moves.free, states.speed.size, row)


@scalar
def _fill_own(wind, d, moves, t, x, y, row):
    fill_row(wind, d, t, x, y, moves.free, row)


def free_winds(locality: Locality) -> FreeWinds:
    """The functions for a kind of wind."""
    if locality == "uniform":
        return FreeWinds(_same_wind, _same_wind, _nothing_to_fill)
    return FreeWinds(_own_settled, _own_tried, _fill_own)


LEFT = 1e-9
"""A sum of wakes of which less than this share is left is summed up anew."""


def make_add_wake(model: WakeModel, locality: Locality = "uniform") -> Callable[..., bool]:
    """Adding one wake to a sum, or taking it out."""
    deficit, reach = model.deficit, model.reach
    together, rotate_to_local_wind, turned_wakes = (
        superposition_for(model, locality),
        access_of(locality).rotate_to_local_wind,
        locality == "turned",
    )
    scale, term = together.scale, together.term

    @scalar
    def add_wake(data, machines, source, target, far, aside, states, speed, thrust, sign, summed):
        """The wake of type ``source`` on type ``target``; ``states``, ``speed`` and ``thrust`` are the source's."""
        far, aside = rotate_to_local_wind(states, far, aside)
        if turned_wakes and far <= 0.0:
            return False
        free, turbulence = states.speed, states.turbulence
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        most_thrust = most_turbulence = 0.0
        for k in range(free.size):
            most_thrust = max(most_thrust, thrust[k])
            most_turbulence = max(most_turbulence, turbulence[k])
        if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
            return False
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        last = last_turbulence = -1.0
        value = 0.0
        for k in range(free.size):
            if thrust[k] != last or turbulence[k] != last_turbulence:
                last, last_turbulence = thrust[k], turbulence[k]
                value = deficit(data, Pair(far, aside, rise, heights, diameter, rotor, last, last_turbulence))
            summed[k] += sign * term(value * scale(speed[k], free[k]))
        return True

    return add_wake


def make_settle_one(model: WakeModel, locality: Locality = "uniform") -> Callable[..., float]:
    """Settling a turbine whose wakes are summed."""
    wind_speed = superposition_for(model, locality).wind_speed

    @scalar
    def settle_one(machines, type_index, states, summed, speed, thrust):
        """Wind speeds and thrusts of a turbine; returns its mean power."""
        power = 0.0
        for k in range(states.speed.size):
            speed[k] = wind_speed(states.speed[k], max(summed[k], 0.0))
            watts, thrust[k] = curves_at(machines, type_index, speed[k])
            power += states.weight[k] * watts
        return power

    return settle_one


@scalar
def touch(moves, d, j):
    """A turbine whose sum changes begins with the one it had."""
    if not moves.touched[j]:
        moves.touched[j] = True
        for k in range(moves.new_summed.shape[1]):
            moves.new_summed[j, k] = moves.summed[d, j, k]


@scalar
def reorder(moves, trial):
    """The new order: the old one with the moved turbine at its new place."""
    order, at = moves.new_order, 0
    inserted = False
    for a in range(order.size):
        i = moves.order[trial.d, a]
        if i == trial.moved:
            continue
        if not inserted and moves.along[trial.d, i] > trial.along:
            order[at] = trial.moved
            at += 1
            inserted = True
        order[at] = i
        at += 1
    if not inserted:
        order[at] = trial.moved


@scalar
def almost_empty(moves, d, i, count):
    """Whether so little of a sum is left that rounding would show."""
    least = 1.0
    for k in range(count):
        least = min(least, moves.new_summed[i, k] - LEFT * moves.summed[d, i, k])
    return least < 0.0


def make_sum_anew(add_wake: Callable[..., bool], free: FreeWinds) -> Callable[..., None]:
    """Make the step for a turbine whose wakes are all gathered again."""
    tried = free.tried

    @scalar
    def sum_anew(data, machines, moves, trial, a, states):
        """All wakes on the turbine at ``a`` of the new order, from those before it."""
        d, order = trial.d, moves.new_order
        i = order[a]
        here, beside = moves.along[d, i], moves.across[d, i]
        if i == trial.moved:
            here, beside = trial.along, trial.across
        clear(moves.new_summed[i])
        for b in range(a):
            j = order[b]
            far, aside = here - moves.along[d, j], beside - moves.across[d, j]
            if j == trial.moved:
                far, aside = here - trial.along, beside - trial.across
            speed, thrust = moves.speed[d, j], moves.thrust[d, j]
            if moves.touched[j]:
                speed, thrust = moves.new_speed[j], moves.new_thrust[j]
            add_wake(
                data, machines, moves.type_index[j], moves.type_index[i], far, aside,
                tried(moves, trial, states, j), speed, thrust, 1.0, moves.new_summed[i],
            )  # fmt: skip

    return sum_anew


def make_replace_wakes(add_wake: Callable[..., bool], free: FreeWinds) -> Callable[..., None]:
    """Make the step for a turbine whose thrust (or place) has changed."""
    tried = free.tried

    @scalar
    def replace_wakes(data, machines, moves, trial, a, states):
        """The wakes of the turbine at ``a`` of the new order, new for old, on those after it."""
        d, order = trial.d, moves.new_order
        i = order[a]
        own = tried(moves, trial, states, i)
        for b in range(a + 1, order.size):
            j = order[b]
            if j == trial.moved:
                continue
            touched = moves.touched[j]
            touch(moves, d, j)
            far, aside = moves.along[d, j] - moves.along[d, i], moves.across[d, j] - moves.across[d, i]
            was = False
            if i == trial.moved:
                far, aside = moves.along[d, j] - trial.along, moves.across[d, j] - trial.across
            else:
                was = add_wake(
                    data, machines, moves.type_index[i], moves.type_index[j], far, aside, own,
                    moves.speed[d, i], moves.thrust[d, i], -1.0, moves.new_summed[j],
                )  # fmt: skip
            now = add_wake(
                data, machines, moves.type_index[i], moves.type_index[j], far, aside, own,
                moves.new_speed[i], moves.new_thrust[i], 1.0, moves.new_summed[j],
            )  # fmt: skip
            moves.touched[j] = touched or was or now

    return replace_wakes


def make_remove_old_wakes(add_wake: Callable[..., bool], free: FreeWinds) -> Callable[..., None]:
    """Make the step that comes first: the moved turbine is taken away."""
    settled = free.settled

    @scalar
    def remove_old_wakes(data, machines, moves, trial, states):
        """The wakes of the moved turbine, where it stood, on those after it."""
        d, moved = trial.d, trial.moved
        own = settled(moves, d, states, moved)
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
                    data, machines, moves.type_index[moved], moves.type_index[j], far, aside, own,
                    moves.speed[d, moved], moves.thrust[d, moved], -1.0, moves.new_summed[j],
                )  # fmt: skip

    return remove_old_wakes


def make_differs(model: WakeModel) -> Callable[..., bool]:
    """Make the test whether a wake is the same as before."""
    of_source = model.reference == "source"

    @scalar
    def differs(moves, d, i, count):
        """Whether a turbine casts another wake than before."""
        for k in range(count):
            if moves.new_thrust[i, k] != moves.thrust[d, i, k]:
                return True
            if of_source and moves.new_speed[i, k] != moves.speed[d, i, k]:
                return True
        return False

    return differs


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
