"""Faster loops than ``direct`` for Gaussian models that define their width (``Widths``).

They serve what ``tabulated`` cannot: a turbulence intensity that differs between wind states, any number of turbine
types, and time series. What the width behind a turbine depends on is four numbers, worked out once for a turbine and
wind state; a wake on a rotor downwind then costs one look into a small table and arithmetic without branches. That
arithmetic is done for several rotors, or several wind states, by one instruction:

``steps``   for a time series, where a direction has one wind state or few: wind state after wind state, the rotors that
            a wake reaches innermost.
``states``  for directions with many wind states: these innermost.

The deficit is right to 3e-8 where the rotor's radius is below 1.87 sigma; nearer behind a source the model itself is
evaluated. Which path is taken changes results by no more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.frame import add_slopes, make_add_up, make_loop, pair_of
from vindeby.wake.loops.pair_tables import MOST_TYPES
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.width_steps import (
    ASIDE,
    FAR,
    HEIGHT,
    LARGEST_T,
    OF_THRUST,
    RADIUS,
    ROW,
    ROWS,
    S0,
    S1,
    S2,
    S3,
    STRENGTH,
    THRUST,
    TURBULENCE,
    VALUE,
    Facing,
    T,
    begin_walk,
    find_targets,
    first_constants,
    last_needed,
    make_lines,
    make_near,
    make_square,
    make_square_slopes,
    new_facing,
    numbers_at,
    pass_by,
    place_turbines,
    put_numbers,
    whole_vectors,
    widths_of,
)
from vindeby.wake.loops.wind import DirectionWind, Waked, clear, new_adjoints, new_waked, no_adjoints
from vindeby.wake.loops.wind_access import access_of
from vindeby.wake.models.contract import WakeModel, once_per_model
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.curves import curves_at, curves_with_slopes

FEW_STATES = 4
"""Below so many wind states per direction, ``steps`` is faster than ``states``."""
_TOGETHER = superposition_of_words("squares", "free")
_wind_speed, _wind_speed_back = _TOGETHER.wind_speed, _TOGETHER.wind_speed_back
_add_up = make_add_up(access_of("uniform").at)


class ByWidthKernels(NamedTuple):
    """The compiled loops; ``frame`` says what their arguments are."""

    steps: Callable[..., None]
    states: Callable[..., None]
    gradient: Callable[..., None]


class WidthRoom(NamedTuple):
    """The scratch arrays of one direction.

    ``room`` holds rows of numbers (``width_steps``). For the gradient, the targets of turbine ``a`` are kept in
    ``other[first[a]:first[a + 1]]``.
    """

    facing: Facing
    waked: Waked
    adjoints: Any
    room: FloatArray
    first: IntArray
    other: npt.NDArray[np.uint32]


def can_use_width_loops(model: WakeModel, types: int, states: WindStates) -> bool:
    """Return whether these loops hold and ``tabulated`` does not hold or is slower."""
    if not model.tabulate or model.widths is None or not states.turbulence.size:
        return False
    low, high = float(states.turbulence.min()), float(states.turbulence.max())
    needed = states.step is not None or low != high or types > MOST_TYPES
    return needed and low >= model.widths.least_turbulence


@once_per_model
def by_width_kernels(model: WakeModel) -> ByWidthKernels:
    states = _make_states_walk(model)
    walks = {"steps": (1, _make_step_walk(model)), "states": (ROW, states), "gradient": (ROW, states)}
    return ByWidthKernels(
        *(
            make_loop(*_make_direction(model, *walk, gradient=name == "gradient"))
            for name, walk in walks.items()
        )
    )


def _make_direction(
    model: WakeModel, most: int, walk: Callable[..., None], *, gradient: bool
) -> tuple[Callable[..., WidthRoom], Callable[..., None]]:
    walk_back, adjoints_for = _make_walk_back(model), new_adjoints if gradient else no_adjoints

    @scalar
    def new_room(wind, types):
        n = types.size
        first = np.zeros(n + 1 if gradient else 0, np.int64)
        other = np.empty(n * (n - 1) // 2 + 1 if gradient else 0, np.uint32)
        adjoints = adjoints_for(n, ROW)
        return WidthRoom(new_facing(n), new_waked(n, most), adjoints, np.zeros(ROWS * ROW), first, other)

    @inlined
    def one_direction(
        data, turbines, turned, room, wind, d, opposite, x, y, counted, out, out_x, out_y, kept
    ):
        strips = place_turbines(turbines, turned, room.facing)
        end = last_needed(turned, counted)
        for at in range(wind.first[d], wind.first[d + 1], most):
            here = slice(at, min(at + most, wind.first[d + 1]))
            states = DirectionWind(wind.speed[here], wind.weight[here], wind.turbulence[here])
            walk(data, turbines, turned, room, strips, end, states)
            _add_up(turned, end, states, at, counted, room.waked, out, kept)
            if gradient:
                walk_back(data, turbines, turned, room, end, states, counted)
                add_slopes(turned, end, wind.cosine[d], wind.sine[d], room.adjoints, out_x, out_y)

    return new_room, one_direction


def _make_step_walk(model: WakeModel) -> Callable[..., None]:
    """Make the walk downwind in one wind state, with the rotors in a wake innermost."""
    numbers_of, lines_of = widths_of(model).numbers, make_lines(model)
    square, near = make_square(model), make_near(model)

    @inlined
    def squares(numbers, strength, height, room, count):
        for j in range(count):
            other = room[HEIGHT + j]
            room[VALUE + j], room[T + j] = square(
                numbers, strength, room[FAR + j], room[ASIDE + j], other - height, other + height, room[RADIUS + j]
            )  # fmt: skip

    @scalar
    def step_walk(data, turbines, turned, whole, strips, end, states):
        facing, waked, room = whole.facing, whole.waked, whole.room
        along, across, hub, radius = turned.along, turned.across, facing.hub_height, facing.radius
        constants, turbulence = first_constants(data), states.turbulence[0]
        for a in range(end):
            waked.summed[a, 0] = 0.0
        begin_walk(facing)
        for a in range(end):
            pass_by(facing, a)
            source = turned.types[turned.order[a]]
            waked.u[a, 0] = _wind_speed(states.speed[0], waked.summed[a, 0])
            waked.power[a, 0], thrust = curves_at(turbines, source, waked.u[a, 0])
            if thrust <= 0.0:
                continue
            diameter, height, place, side = turbines.diameter[source], hub[a], along[a], across[a]
            numbers = numbers_of(constants, diameter, thrust, turbulence)
            strength = 0.125 * thrust * diameter * diameter
            count = find_targets(turned, facing, strips, a, end, lines_of(numbers, diameter))
            for start in range(0, count, ROW):
                target = facing.target[start : min(start + ROW, count)]
                for j in range(target.size):
                    b = target[j]
                    room[FAR + j], room[ASIDE + j] = along[b] - place, across[b] - side
                    room[HEIGHT + j], room[RADIUS + j] = hub[b], radius[b]
                squares(numbers, strength, height, room, whole_vectors(target.size))
                for j in range(target.size):
                    b = target[j]
                    if room[T + j] > LARGEST_T:
                        far, aside = room[FAR + j], room[ASIDE + j]
                        pair = pair_of(turbines, turned, a, b, far, aside, thrust, turbulence)
                        room[VALUE + j] = near(data, pair)
                    waked.summed[b, 0] += room[VALUE + j]

    return step_walk


def _make_settle(model: WakeModel) -> Callable[..., float]:
    numbers_of = widths_of(model).numbers

    @scalar
    def settle(constants, turbines, source, states, waked, room, a):
        """Compute speed, power, thrust and width numbers of a turbine in all wind states; return the largest thrust."""
        diameter, most = turbines.diameter[source], 0.0
        u, power, summed = waked.u[a], waked.power[a], waked.summed[a]
        for k in range(states.speed.size):
            u[k] = _wind_speed(states.speed[k], summed[k])
        for k in range(states.speed.size):
            power[k], room[THRUST + k] = curves_at(turbines, source, u[k])
            room[TURBULENCE + k] = states.turbulence[k]
            most = max(most, room[THRUST + k])
        for k in range(whole_vectors(states.speed.size)):
            numbers = numbers_of(constants, diameter, room[THRUST + k], room[TURBULENCE + k])
            put_numbers(room, k, numbers, diameter)
        return most

    return settle


def _make_add_wake(model: WakeModel) -> Callable[..., None]:
    square, near = make_square(model), make_near(model)

    @scalar
    def add_wake(data, turbines, turned, facing, states, room, a, b, summed):
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        rise = facing.hub_height[b] - facing.hub_height[a]
        heights, radius = facing.hub_height[b] + facing.hub_height[a], facing.radius[b]
        for k in range(whole_vectors(states.speed.size)):
            room[VALUE + k], room[T + k] = square(
                numbers_at(room, k), room[STRENGTH + k], far, aside, rise, heights, radius
            )
        for k in range(states.speed.size):
            if room[T + k] > LARGEST_T:
                thrust = room[THRUST + k]
                pair = pair_of(turbines, turned, a, b, far, aside, thrust, states.turbulence[k])
                room[VALUE + k] = near(data, pair)
            summed[k] += room[VALUE + k]

    return add_wake


def _make_states_walk(model: WakeModel) -> Callable[..., None]:
    """Make the walk downwind in one direction, with its wind states innermost."""
    numbers_of, lines_of = widths_of(model).numbers, make_lines(model)
    settle, add_wake = _make_settle(model), _make_add_wake(model)

    @scalar
    def states_walk(data, turbines, turned, whole, strips, end, states):
        facing, waked, room, first = whole.facing, whole.waked, whole.room, whole.first
        most_turbulence, kept = 0.0, 0
        for k in range(states.speed.size):
            most_turbulence = max(most_turbulence, states.turbulence[k])
        constants = first_constants(data)
        for a in range(end):
            clear(waked.summed[a, : states.speed.size])
        begin_walk(facing)
        for a in range(end):
            pass_by(facing, a)
            source = turned.types[turned.order[a]]
            diameter = turbines.diameter[source]
            thrust = settle(constants, turbines, source, states, waked, room, a)
            numbers = numbers_of(constants, diameter, thrust, most_turbulence)
            lines = lines_of(numbers, diameter)
            count = find_targets(turned, facing, strips, a, end, lines) if thrust > 0.0 else 0
            for j in range(count):
                b = facing.target[j]
                add_wake(data, turbines, turned, facing, states, room, a, b, waked.summed[b])
            if first.size > 0:
                first[a] = kept
                for j in range(count):
                    whole.other[kept + j] = facing.target[j]
                kept += count
                first[a + 1] = kept

    return states_walk


def _make_walk_back(model: WakeModel) -> Callable[..., None]:
    """Make the walk upwind after the walk downwind; it fills ``adjoints.along`` and ``adjoints.across``."""
    prepare, pair_slopes = _make_prepare(model), _make_pair_slopes(model)

    @scalar
    def settle_back(turbines, source, states, counts, waked, adjoints, a):
        of_thrust, of_summed = adjoints.thrust[a], adjoints.summed[a]
        for k in range(states.speed.size):
            slope_power, slope_thrust = curves_with_slopes(turbines, source, waked.u[a, k])[2:]
            of_speed = counts * states.weight[k] * slope_power + of_thrust[k] * slope_thrust
            of_summed[k] = _wind_speed_back(of_speed, states.speed[k], waked.summed[a, k])

    @scalar
    def upwind_walk(data, turbines, turned, whole, end, states, counted):
        waked, adjoints, room, first = whole.waked, whole.adjoints, whole.room, whole.first
        clear(adjoints.along)
        clear(adjoints.across)
        for a in range(end - 1, -1, -1):
            i = turned.order[a]
            source = turned.types[i]
            clear(adjoints.thrust[a, : states.speed.size])
            if first[a + 1] > first[a]:
                prepare(data, turbines, source, states, waked.u[a], room)
            for p in range(first[a], first[a + 1]):
                b = np.int64(whole.other[p])
                pair_slopes(data, turbines, turned, whole.facing, a, b, states, room)
                of_summed, of_thrust, of_far, of_aside = adjoints.summed[b], adjoints.thrust[a], 0.0, 0.0
                for k in range(states.speed.size):
                    of_thrust[k] += of_summed[k] * room[OF_THRUST + k]
                    of_far += of_summed[k] * room[FAR + k]
                    of_aside += of_summed[k] * room[ASIDE + k]
                adjoints.along[b] += of_far
                adjoints.across[b] += of_aside
                adjoints.along[a] -= of_far
                adjoints.across[a] -= of_aside
            settle_back(turbines, source, states, 1.0 if i < counted else 0.0, waked, adjoints, a)

    return upwind_walk


def _make_prepare(model: WakeModel) -> Callable[..., None]:
    numbers_of, slopes_of = widths_of(model).numbers, widths_of(model).number_slopes

    @scalar
    def prepare(data, turbines, source, states, u, room):
        diameter, constants = turbines.diameter[source], first_constants(data)
        for k in range(states.speed.size):
            thrust = room[THRUST + k] = curves_at(turbines, source, u[k])[1]
            put_numbers(room, k, numbers_of(constants, diameter, thrust, states.turbulence[k]), diameter)
            room[S0 + k], room[S1 + k], room[S2 + k], room[S3 + k] = slopes_of(
                constants, diameter, thrust, states.turbulence[k]
            )

    return prepare


def _make_pair_slopes(model: WakeModel) -> Callable[..., None]:
    square_slopes, near_slopes = make_square_slopes(model), model.deficit_with_slopes

    @scalar
    def pair_slopes(data, turbines, turned, facing, a, b, states, room):
        """Fill the rows for the partial derivatives of the squared deficit of ``a`` at ``b``."""
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        rise = facing.hub_height[b] - facing.hub_height[a]
        heights, radius = facing.hub_height[b] + facing.hub_height[a], facing.radius[b]
        diameter = 2.0 * facing.radius[a]
        per_thrust = 0.125 * diameter * diameter
        for k in range(whole_vectors(states.speed.size)):
            numbers, slopes = numbers_at(room, k), (room[S0 + k], room[S1 + k], room[S2 + k], room[S3 + k])
            room[FAR + k], room[ASIDE + k], room[OF_THRUST + k], room[T + k], _ = square_slopes(
                numbers, slopes, room[STRENGTH + k], per_thrust, far, aside, rise, heights, radius
            )
        for k in range(states.speed.size):
            if room[T + k] > LARGEST_T:
                thrust = room[THRUST + k]
                pair = pair_of(turbines, turned, a, b, far, aside, thrust, states.turbulence[k])
                value, of_far, of_aside, of_thrust, _ = near_slopes(data, pair)
                room[FAR + k], room[ASIDE + k] = 2.0 * value * of_far, 2.0 * value * of_aside
                room[OF_THRUST + k] = 2.0 * value * of_thrust

    return pair_slopes
