"""The loops of ``direct`` over again for Gaussian models that tell their width (``Widths``), many times faster.

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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.pair_tables import MOST_TYPES
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.width_steps import (
    ASIDE,
    FAR,
    HEIGHT,
    LARGEST_T,
    N0,
    N1,
    N2,
    N3,
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
    T,
    begin_walk,
    find_targets,
    first_constants,
    last_needed,
    make_lines,
    make_near,
    make_square,
    make_square_with_slopes,
    new_facing,
    pass_by,
    place_turbines,
    put_numbers,
    whole_vectors,
    widths_of,
)
from vindeby.wake.loops.wind import (
    BLOCK,
    DirectionWind,
    clear,
    count_up,
    new_adjoints,
    turn_back,
    turn_into_wind,
)
from vindeby.wake.models.contract import Pair, WakeModel, once_per_model
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.curves import curves_at, curves_with_slopes

FloatArray = npt.NDArray[np.float64]

_MOST_BLOCKS = 512
FEW_STATES = 6
"""Below so many wind states a direction, ``steps`` is faster than ``states``."""
_wind_speed = superposition_of_words("squares", "free").wind_speed


class ByWidthKernels(NamedTuple):
    """The compiled loops; their arguments are those of ``direct`` with the directions a block after ``data``.

    ``steps`` and ``states`` also keep power and wind speed of every state, in arrays that have room for it, in the
    column that an array tells for each state.
    """

    steps: Callable[..., None]
    states: Callable[..., None]
    gradient: Callable[..., None]


def can_use_width_loops(model: WakeModel, types: int, states: WindStates) -> bool:
    """Whether these loops are to stand for the model: where they can, and ``tabulated`` cannot or is slower."""
    if not model.tabulate or model.widths is None or not states.turbulence.size:
        return False
    low, high = float(states.turbulence.min()), float(states.turbulence.max())
    needed = states.step is not None or low != high or types > MOST_TYPES
    return needed and low >= model.widths.least_turbulence


def directions_per_block(states: WindStates) -> int:
    """As ``BLOCK``, but more in long time series, so that the sums of all blocks stay small."""
    return max(BLOCK, -(-len(states.direction) // _MOST_BLOCKS))


@once_per_model
def by_width_kernels(model: WakeModel) -> ByWidthKernels:
    """Compile, or load from disk, the loops for a model."""
    walk = _make_states_walk(model)
    return ByWidthKernels(_make_steps(model), _make_states(model, walk), _make_gradient(model, walk))


def _make_steps(model: WakeModel) -> Callable[..., None]:
    walk = _make_step_walk(model)

    @kernel(model.identity)
    def steps(
        data, block_size, machines, x, y, type_index, counted, wind, block_from, block_to, out,
        column, keep_power, keep_speed,
    ):  # fmt: skip
        n = x.size
        facing = new_facing(type_index)
        power, u, summed, room = np.empty(n), np.empty(n), np.empty(n), np.zeros(ROWS * ROW)
        for block in range(block_from, block_to):
            count_up(facing.order)
            for d in range(block * block_size, min((block + 1) * block_size, wind.cosine.size)):
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], facing.order, facing.along, facing.across)
                strips = place_turbines(machines, facing)
                end = last_needed(facing, counted)
                for k in range(wind.first[d], wind.first[d + 1]):
                    walk(
                        data,
                        machines,
                        facing,
                        strips,
                        end,
                        wind.speed[k],
                        wind.turbulence[k],
                        power,
                        u,
                        summed,
                        room,
                    )
                    for a in range(end):
                        i = facing.order[a]
                        if i < counted:
                            out[block, i] += wind.weight[k] * power[a]
                            if keep_power.size > 0:
                                keep_power[i, column[k]] = power[a]
                            if keep_speed.size > 0:
                                keep_speed[i, column[k]] = u[a]

    return steps


def _make_step_walk(model: WakeModel) -> Callable[..., None]:
    """The walk downwind in one wind state, the rotors that a wake reaches innermost."""
    numbers_of, lines_of = widths_of(model).numbers, make_lines(model)
    square, near = make_square(model), make_near(model)

    @inlined
    def squares(numbers, strength, height, room, count):
        n0, n1, n2, n3 = numbers
        for j in range(count):
            other = room[HEIGHT + j]
            room[VALUE + j], room[T + j] = square(
                n0, n1, n2, n3, strength, room[FAR + j], room[ASIDE + j], other - height, other + height,
                room[RADIUS + j],
            )  # fmt: skip

    def step_walk(data, machines, facing, strips, end, speed, turbulence, power, u, summed, room):
        along, across, hub, radius = facing.along, facing.across, facing.hub_height, facing.radius
        constants = first_constants(data)
        clear(summed[:end])
        begin_walk(facing)
        for a in range(end):
            pass_by(facing, a)
            source = facing.type_index[facing.order[a]]
            u[a] = _wind_speed(speed, summed[a])
            power[a], thrust = curves_at(machines, source, u[a])
            if thrust <= 0.0:
                continue
            diameter, height, place, side = machines.diameter[source], hub[a], along[a], across[a]
            numbers = numbers_of(constants, diameter, thrust, turbulence)
            strength = 0.125 * thrust * diameter * diameter
            count = find_targets(facing, strips, a, end, lines_of(numbers, diameter))
            for start in range(0, count, ROW):
                target = facing.target[start : min(start + ROW, count)]
                for j in range(target.size):
                    b = target[j]
                    room[FAR + j], room[ASIDE + j] = along[b] - place, across[b] - side
                    room[HEIGHT + j], room[RADIUS + j] = hub[b], radius[b]
                squares(numbers, strength, height, room, whole_vectors(target.size))
                for j in range(target.size):
                    if room[T + j] > LARGEST_T:
                        other = room[HEIGHT + j]
                        room[VALUE + j] = near(
                            data, Pair(room[FAR + j], room[ASIDE + j], other - height, other + height, diameter,
                            2.0 * room[RADIUS + j], thrust, turbulence),
                        )  # fmt: skip
                    summed[target[j]] += room[VALUE + j]

    return scalar(step_walk)


class Winds(NamedTuple):
    """By turbine, from the first to the last, and wind state: wind speed, power and summed wakes; and rows for one."""

    u: FloatArray
    power: FloatArray
    summed: FloatArray
    room: FloatArray


@scalar
def _new_winds(n):
    return Winds(np.empty((n, ROW)), np.empty((n, ROW)), np.empty((n, ROW)), np.zeros(ROWS * ROW))


def _make_settle(model: WakeModel) -> Callable[..., float]:
    numbers_of = widths_of(model).numbers

    @scalar
    def settle(constants, machines, source, states, summed, u, power, room):
        """Wind speed, power, thrust and numbers of a turbine in all wind states; returns the largest thrust."""
        diameter, most = machines.diameter[source], 0.0
        for k in range(states.speed.size):
            u[k] = _wind_speed(states.speed[k], summed[k])
        for k in range(states.speed.size):
            power[k], room[THRUST + k] = curves_at(machines, source, u[k])
            room[TURBULENCE + k] = states.turbulence[k]
            most = max(most, room[THRUST + k])
        for k in range(whole_vectors(states.speed.size)):
            put_numbers(
                room, k, numbers_of(constants, diameter, room[THRUST + k], room[TURBULENCE + k]), diameter
            )
        return most

    return settle


def _make_add_wake(model: WakeModel) -> Callable[..., None]:
    square, near = make_square(model), make_near(model)

    @scalar
    def add_wake(data, states, room, far, aside, rise, heights, diameter, radius, summed):
        for k in range(whole_vectors(states.speed.size)):
            room[VALUE + k], room[T + k] = square(
                room[N0 + k], room[N1 + k], room[N2 + k], room[N3 + k], room[STRENGTH + k], far, aside, rise,
                heights, radius,
            )  # fmt: skip
        for k in range(states.speed.size):
            if room[T + k] > LARGEST_T:
                room[VALUE + k] = near(
                    data,
                    Pair(
                        far,
                        aside,
                        rise,
                        heights,
                        diameter,
                        2.0 * radius,
                        room[THRUST + k],
                        states.turbulence[k],
                    ),
                )
            summed[k] += room[VALUE + k]

    return add_wake


def _make_states_walk(model: WakeModel) -> Callable[..., None]:
    """The walk downwind in one direction, its wind states innermost.

    The targets of ``a`` are also kept in ``other[first[a]:first[a + 1]]`` if there is room for them.
    """
    numbers_of, lines_of = widths_of(model).numbers, make_lines(model)
    settle, add_wake = _make_settle(model), _make_add_wake(model)

    def states_walk(data, machines, facing, strips, end, states, winds, first, other):
        along, across, hub, radius = facing.along, facing.across, facing.hub_height, facing.radius
        most_turbulence, kept = 0.0, 0
        for k in range(states.speed.size):
            most_turbulence = max(most_turbulence, states.turbulence[k])
        constants = first_constants(data)
        for a in range(end):
            clear(winds.summed[a, : states.speed.size])
        begin_walk(facing)
        for a in range(end):
            pass_by(facing, a)
            source = facing.type_index[facing.order[a]]
            diameter, height = machines.diameter[source], hub[a]
            thrust = settle(
                constants, machines, source, states, winds.summed[a], winds.u[a], winds.power[a], winds.room
            )
            numbers = numbers_of(constants, diameter, thrust, most_turbulence)
            count = find_targets(facing, strips, a, end, lines_of(numbers, diameter)) if thrust > 0.0 else 0
            for j in range(count):
                b = facing.target[j]
                add_wake(
                    data, states, winds.room, along[b] - along[a], across[b] - across[a], hub[b] - height,
                    hub[b] + height, diameter, radius[b], winds.summed[b],
                )  # fmt: skip
            if first.size > 0:
                first[a] = kept
                for j in range(count):
                    other[kept + j] = facing.target[j]
                kept += count
                first[a + 1] = kept

    return scalar(states_walk)


@inlined
def _up_to_a_row(wind, at, end):
    here = slice(at, min(at + ROW, end))
    return DirectionWind(wind.speed[here], wind.weight[here], wind.turbulence[here])


def _make_states(model: WakeModel, walk: Callable[..., None]) -> Callable[..., None]:
    @kernel(model.identity)
    def states(
        data, block_size, machines, x, y, type_index, counted, wind, block_from, block_to, out,
        column, keep_power, keep_speed,
    ):  # fmt: skip
        facing, winds = new_facing(type_index), _new_winds(x.size)
        first, other = np.empty(0, np.int64), np.empty(0, np.uint32)
        for block in range(block_from, block_to):
            count_up(facing.order)
            for d in range(block * block_size, min((block + 1) * block_size, wind.cosine.size)):
                turn_into_wind(x, y, wind.cosine[d], wind.sine[d], facing.order, facing.along, facing.across)
                strips = place_turbines(machines, facing)
                end = last_needed(facing, counted)
                for at in range(wind.first[d], wind.first[d + 1], ROW):
                    here = _up_to_a_row(wind, at, wind.first[d + 1])
                    walk(data, machines, facing, strips, end, here, winds, first, other)
                    for a in range(end):
                        i = facing.order[a]
                        for k in range(here.speed.size if i < counted else 0):
                            out[block, i] += here.weight[k] * winds.power[a, k]
                            if keep_power.size > 0:
                                keep_power[i, column[at + k]] = winds.power[a, k]
                            if keep_speed.size > 0:
                                keep_speed[i, column[at + k]] = winds.u[a, k]

    return states


def _make_gradient(model: WakeModel, walk: Callable[..., None]) -> Callable[..., None]:
    walk_back = make_walk_back(model)

    @kernel(model.identity)
    def gradient(
        data, block_size, machines, x, y, type_index, counted, wind, block_from, block_to, out, out_x, out_y
    ):  # fmt: skip
        n = x.size
        facing, winds, adjoints = new_facing(type_index), _new_winds(n), new_adjoints(n, ROW)
        first, other = np.zeros(n + 1, np.int64), np.empty(n * (n - 1) // 2 + 1, np.uint32)
        for block in range(block_from, block_to):
            count_up(facing.order)
            for d in range(block * block_size, min((block + 1) * block_size, wind.cosine.size)):
                cosine, sine = wind.cosine[d], wind.sine[d]
                turn_into_wind(x, y, cosine, sine, facing.order, facing.along, facing.across)
                strips = place_turbines(machines, facing)
                end = last_needed(facing, counted)
                for at in range(wind.first[d], wind.first[d + 1], ROW):
                    here = _up_to_a_row(wind, at, wind.first[d + 1])
                    walk(data, machines, facing, strips, end, here, winds, first, other)
                    for a in range(end):
                        i = facing.order[a]
                        for k in range(here.speed.size if i < counted else 0):
                            out[block, i] += here.weight[k] * winds.power[a, k]
                    walk_back(data, machines, facing, end, here, counted, winds, first, other, adjoints)
                    for a in range(end):
                        i = facing.order[a]
                        of_x, of_y = turn_back(cosine, sine, adjoints.along[a], adjoints.across[a])
                        out_x[block, i] += of_x
                        out_y[block, i] += of_y

    return gradient


_wind_speed_back = superposition_of_words("squares", "free").wind_speed_back


def make_walk_back(model: WakeModel) -> Callable[..., None]:
    """The walk upwind in one direction, after the walk downwind; fills ``adjoints.along`` and ``adjoints.across``."""
    prepare, pair_slopes = _make_prepare(model), _make_pair_slopes(model)

    @scalar
    def settle_back(machines, source, states, counts, summed, u, of_thrust, of_summed):
        for k in range(states.speed.size):
            slope_power, slope_thrust = curves_with_slopes(machines, source, u[k])[2:]
            of_speed = counts * states.weight[k] * slope_power + of_thrust[k] * slope_thrust
            of_summed[k] = _wind_speed_back(of_speed, states.speed[k], summed[k])

    def upwind_walk(data, machines, facing, end, states, counted, winds, first, other, adjoints):
        room = winds.room
        clear(adjoints.along)
        clear(adjoints.across)
        for a in range(end - 1, -1, -1):
            i = facing.order[a]
            source = facing.type_index[i]
            clear(adjoints.thrust[a, : states.speed.size])
            if first[a + 1] > first[a]:
                prepare(data, machines, source, states, winds.u[a], room)
            for p in range(first[a], first[a + 1]):
                b = other[p]
                pair_slopes(data, machines, facing, source, a, b, states, room)
                of_summed, of_thrust, of_far, of_aside = adjoints.summed[b], adjoints.thrust[a], 0.0, 0.0
                for k in range(states.speed.size):
                    of_thrust[k] += of_summed[k] * room[OF_THRUST + k]
                    of_far += of_summed[k] * room[FAR + k]
                    of_aside += of_summed[k] * room[ASIDE + k]
                adjoints.along[b] += of_far
                adjoints.across[b] += of_aside
                adjoints.along[a] -= of_far
                adjoints.across[a] -= of_aside
            counts = 1.0 if i < counted else 0.0
            settle_back(
                machines,
                source,
                states,
                counts,
                winds.summed[a],
                winds.u[a],
                adjoints.thrust[a],
                adjoints.summed[a],
            )

    return scalar(upwind_walk)


def _make_prepare(model: WakeModel) -> Callable[..., None]:
    numbers_of, slopes_of = widths_of(model).numbers, widths_of(model).number_slopes

    @scalar
    def prepare(data, machines, source, states, u, room):
        """Thrust and numbers of the source's width again, and the slopes of these."""
        diameter, constants = machines.diameter[source], first_constants(data)
        for k in range(states.speed.size):
            thrust = room[THRUST + k] = curves_at(machines, source, u[k])[1]
            put_numbers(room, k, numbers_of(constants, diameter, thrust, states.turbulence[k]), diameter)
            s0, s1, s2, s3 = slopes_of(constants, diameter, thrust, states.turbulence[k])
            room[S0 + k], room[S1 + k], room[S2 + k], room[S3 + k] = s0, s1, s2, s3

    return prepare


def _make_pair_slopes(model: WakeModel) -> Callable[..., None]:
    square_with_slopes, near_slopes = make_square_with_slopes(model), model.deficit_with_slopes

    @scalar
    def pair_slopes(data, machines, facing, source, a, b, states, room):
        """The slopes of the square of the deficit of ``a`` at ``b``, into the rows for them."""
        far, aside = facing.along[b] - facing.along[a], facing.across[b] - facing.across[a]
        rise = facing.hub_height[b] - facing.hub_height[a]
        heights = facing.hub_height[b] + facing.hub_height[a]
        radius, diameter, count = facing.radius[b], machines.diameter[source], states.speed.size
        per_thrust = 0.125 * diameter * diameter
        for k in range(whole_vectors(count)):
            numbers = (room[N0 + k], room[N1 + k], room[N2 + k], room[N3 + k])
            slopes = (room[S0 + k], room[S1 + k], room[S2 + k], room[S3 + k])
            room[FAR + k], room[ASIDE + k], room[OF_THRUST + k], room[T + k] = square_with_slopes(
                numbers, slopes, room[STRENGTH + k], per_thrust, far, aside, rise, heights, radius
            )
        for k in range(count):
            if room[T + k] > LARGEST_T:
                value, of_far, of_aside, of_thrust, _ = near_slopes(
                    data,
                    Pair(
                        far,
                        aside,
                        rise,
                        heights,
                        diameter,
                        2.0 * radius,
                        room[THRUST + k],
                        states.turbulence[k],
                    ),
                )
                room[FAR + k], room[ASIDE + k] = 2.0 * value * of_far, 2.0 * value * of_aside
                room[OF_THRUST + k] = 2.0 * value * of_thrust

    return pair_slopes
