"""The steps of ``one_move``: a turbine's wakes taken out of the sums of others, put in, or summed up anew."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.moves.move_state import FreeWinds
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.loops.wind import clear
from vindeby.wake.loops.wind_access import Locality, access_of, superposition_for
from vindeby.wake.models.contract import Pair
from vindeby.wake.turbines.curves import curves_at

__all__ = [
    "almost_empty",
    "make_add_wake",
    "make_differs",
    "make_remove_old_wakes",
    "make_replace_wakes",
    "make_settle_one",
    "make_sum_anew",
    "reorder",
]

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
