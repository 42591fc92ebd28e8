"""The kernel for Gaussian models that tell their width: the arithmetic of ``loops.by_width``, one warp for each job.

What the width behind a turbine depends on is worked out once for a turbine and wind state and put into shared memory.
Then the lanes divide up the rotors that the wake reaches and the wind states: ``across`` lanes have neighbouring wind
states of one rotor, the others further rotors.

Instructions that do not fit into their cache cost most here. So there is a form of the kernel in which the model itself
is evaluated for rotors that are wide beside a wake, for farms that need it (``needs_near``), and one without that for
all others, such as those of one turbine type. The mean over a rotor is right to 3e-8, for wide ones without the model
itself to 1.2e-7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import float64

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.gpu.devices import cuda_module, is_simulated
from vindeby.wake.gpu.turning import LANES, TurnedRoom, find_keys, place_in_order
from vindeby.wake.loops.frame import pair_of
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.width_steps import (
    LARGEST_T,
    first_constants,
    last_needed,
    make_lines,
    make_near,
    make_square,
    make_square_slopes,
    widths_of,
)
from vindeby.wake.loops.wind import Turned, turn_back
from vindeby.wake.models.contract import WakeModel, once_per_model
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.curves import curves_at, curves_with_slopes
from vindeby.wake.turbines.turbine import Turbine

cuda = cuda_module()

LARGEST_T_WITHOUT_NEAR = 2.05
"""Up to here the series of ``means`` is right to 1.2e-7."""
MOST_ACROSS = 8
"""Lanes that have wind states of one rotor."""
_THRUSTS = LANES * LANES // MOST_ACROSS
_ROWS, _STRENGTH, _THRUST = 10, 4, 5
"""Rows of a source's numbers by wind state: four of its width, these two, and the slopes of the four with thrust."""
_TOGETHER = superposition_of_words("squares", "free")
_wind_speed, _wind_speed_back = _TOGETHER.wind_speed, _TOGETHER.wind_speed_back


class WidthRoom(NamedTuple):
    """What blocks work with, by block.

    ``height`` and ``radius``: of rotors in the order downwind. ``reached`` and ``other``: how many rotors the wake of
    each turbine reaches, and which. ``summed``: sums of squares by turbine and wind state and, on the way back, the
    slopes of the total with them. Slopes with both coordinates: ``of_target``, by turbine and wind state of a lane;
    ``of_source``, by turbine and lane.
    """

    turned: TurnedRoom
    height: FloatArray
    radius: FloatArray
    reached: IntArray
    other: npt.NDArray[np.uint16]
    summed: FloatArray
    of_target: FloatArray
    of_source: FloatArray


class Job(NamedTuple):
    """The room of one block, with its layout ``turned``; ``numbers`` and ``thrusts`` are in shared memory."""

    turned: Turned
    height: FloatArray
    radius: FloatArray
    reached: IntArray
    other: npt.NDArray[np.uint16]
    summed: FloatArray
    of_target: FloatArray
    of_source: FloatArray
    numbers: FloatArray
    thrusts: FloatArray


class Lane(NamedTuple):
    """A thread: ``state`` and ``slot`` are its first wind state and rotor, ``across`` and ``slots`` its steps."""

    thread: int
    state: int
    across: int
    slot: int
    slots: int


class Sources(NamedTuple):
    """The largest thrust coefficient of each turbine type, and the largest turbulence of all wind states."""

    most_thrust: FloatArray
    most_turbulence: float


def can_use_width_kernel(model: WakeModel, states: WindStates) -> bool:
    """Whether this kernel can stand for the model."""
    return (
        model.tabulate
        and model.widths is not None
        and float(states.turbulence.min(initial=1.0)) >= model.widths.least_turbulence
    )


def needs_near(model: WakeModel, turbines: Sequence[Turbine], states: WindStates) -> bool:
    """Whether some rotor can be too wide beside some wake for the series of ``means``."""
    widths, constants = widths_of(model), first_constants(model.data)
    turbulence = float(states.turbulence.min(initial=1.0))
    narrowest = min(
        widths.width(*widths.numbers(constants, turbine.rotor_diameter_m, 0.0, turbulence), 0.0)
        for turbine in turbines
    )
    widest = max(0.5 * turbine.rotor_diameter_m for turbine in turbines)
    return 0.5 * (widest / narrowest) ** 2 > LARGEST_T_WITHOUT_NEAR


@scalar
def _begin(n, a):
    """Where the rotors reached by turbine ``a`` of ``n`` begin in the list of all."""
    return a * (2 * n - a - 1) // 2


@scalar
def _fill_sizes(turbines, turned, lane, height, radius):
    for a in range(lane, turned.order.size, LANES):
        kind = turned.types[turned.order[a]]
        height[a], radius[a] = turbines.hub_height[kind], 0.5 * turbines.diameter[kind]


def _make_find_targets(model: WakeModel) -> Callable[..., None]:
    numbers_of, lines_of = widths_of(model).numbers, make_lines(model)

    @scalar
    def find_targets(data, turbines, sources, turned, radius, end, lane, count, other):
        """List the rotors that each wake reaches at the largest thrust; each lane has its own turbines."""
        along, across, constants, n = turned.along, turned.across, first_constants(data), turned.order.size
        for a in range(lane, end, LANES):
            source = turned.types[turned.order[a]]
            diameter, place, side = turbines.diameter[source], along[a], across[a]
            numbers = numbers_of(constants, diameter, sources.most_thrust[source], sources.most_turbulence)
            lines = lines_of(numbers, diameter)
            found, first = 0, _begin(n, a)
            for b in range(a + 1, end):
                far = along[b] - place
                edge = min(lines.near + lines.near_slope * far, lines.far + lines.far_slope * far)
                if abs(across[b] - side) < edge + radius[b]:
                    other[first + found] = b
                    found += 1
            count[a] = found

    return find_targets


def _make_put_source(model: WakeModel, *, gradient: bool) -> Callable[..., None]:
    numbers_of, slopes_of = widths_of(model).numbers, widths_of(model).number_slopes

    @scalar
    def put_source(data, diameter, thrust, turbulence, k, numbers):
        """Put the numbers of a turbine in one wind state into shared memory."""
        constants = first_constants(data)
        numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k] = numbers_of(
            constants, diameter, thrust, turbulence
        )
        numbers[_STRENGTH, k], numbers[_THRUST, k] = 0.125 * thrust * diameter * diameter, thrust
        if gradient:
            numbers[6, k], numbers[7, k], numbers[8, k], numbers[9, k] = slopes_of(
                constants, diameter, thrust, turbulence
            )

    return put_source


def _make_add_wake(model: WakeModel, *, near: bool) -> Callable[..., bool]:
    square = make_square(model)

    @scalar
    def add_wake(job, a, b, states, lane):
        """Add the wake of ``a`` to the sums of ``b``; returns whether some wind states are left for ``add_near``."""
        turned, height, radius, numbers, left = job.turned, job.height, job.radius, job.numbers, False
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        rise, heights, rotor = height[b] - height[a], height[b] + height[a], radius[b]
        for k in range(lane.state, states, lane.across):
            four = (numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k])
            value, t = square(four, numbers[_STRENGTH, k], far, aside, rise, heights, rotor)
            if near and t > LARGEST_T:
                left, value = True, 0.0
            job.summed[b, k] += value
        return left

    return add_wake


def _make_is_near(model: WakeModel) -> Callable[..., bool]:
    width = widths_of(model).width

    @scalar
    def is_near(numbers, k, far, radius):
        """Whether a rotor is so wide beside the wake that the model itself is to be evaluated."""
        sigma = width(numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k], far)
        return 0.5 * radius * radius / (sigma * sigma) > LARGEST_T

    return is_near


def _make_add_near(model: WakeModel) -> Callable[..., None]:
    is_near, near_square = _make_is_near(model), make_near(model)

    @scalar
    def add_near(data, turbines, job, a, b, turbulence, lane):
        """The same in the wind states that ``add_wake`` has left."""
        turned, numbers = job.turned, job.numbers
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        for k in range(lane.state, turbulence.size, lane.across):
            if is_near(numbers, k, far, job.radius[b]):
                pair = pair_of(turbines, turned, a, b, far, aside, numbers[_THRUST, k], turbulence[k])
                job.summed[b, k] += near_square(data, pair)

    return add_near


def _make_wake_back(model: WakeModel, *, near: bool) -> Callable[..., tuple[float, float, bool]]:
    square_slopes = make_square_slopes(model)

    @scalar
    def wake_back(job, a, b, states, lane, of_thrust):
        """Add to the slopes with the thrust of ``a``; returns those with both distances, and whether some are left."""
        turned, height, radius, numbers, left = job.turned, job.height, job.radius, job.numbers, False
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        rise, heights, rotor = height[b] - height[a], height[b] + height[a], radius[b]
        per_thrust = 0.5 * radius[a] * radius[a]
        of_far = of_aside = 0.0
        for k in range(lane.state, states, lane.across):
            four = (numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k])
            slopes = (numbers[6, k], numbers[7, k], numbers[8, k], numbers[9, k])
            with_far, with_aside, with_thrust, t = square_slopes(
                four, slopes, numbers[_STRENGTH, k], per_thrust, far, aside, rise, heights, rotor
            )
            share = job.summed[b, k]
            if near and t > LARGEST_T:
                left, share = True, 0.0
            of_thrust[k] += share * with_thrust
            of_far += share * with_far
            of_aside += share * with_aside
        return of_far, of_aside, left

    return wake_back


def _make_near_back(model: WakeModel) -> Callable[..., tuple[float, float]]:
    is_near, slopes_of = _make_is_near(model), model.deficit_with_slopes

    @scalar
    def near_back(data, turbines, job, a, b, turbulence, lane, of_thrust):
        """The same in the wind states that ``wake_back`` has left."""
        turned, numbers = job.turned, job.numbers
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        of_far = of_aside = 0.0
        for k in range(lane.state, turbulence.size, lane.across):
            if is_near(numbers, k, far, job.radius[b]):
                pair = pair_of(turbines, turned, a, b, far, aside, numbers[_THRUST, k], turbulence[k])
                value, with_far, with_aside, with_thrust, _ = slopes_of(data, pair)
                share = 2.0 * value * job.summed[b, k]
                of_thrust[k] += share * with_thrust
                of_far += share * with_far
                of_aside += share * with_aside
        return of_far, of_aside

    return near_back


@scalar
def _clear_rows(rows, lane):
    for a in range(rows.shape[0]):
        for k in range(lane, rows.shape[1], LANES):
            rows[a, k] = 0.0


@scalar
def _add_place(of_target, b, state, of_far, of_aside):
    of_target[0, b, state] += of_far
    of_target[1, b, state] += of_aside


@scalar
def _slopes_of_turbine(job, a, cosine, sine):
    along = across = 0.0
    for k in range(job.of_target.shape[2]):
        along += job.of_target[0, a, k]
        across += job.of_target[1, a, k]
    for k in range(LANES):
        along += job.of_source[0, a, k]
        across += job.of_source[1, a, k]
    return turn_back(cosine, sine, along, across)


def _make_walk(model: WakeModel, *, near: bool) -> Callable[..., float]:
    """The walk downwind of a warp through up to ``LANES`` wind states of one direction."""
    put_source, add_wake = _make_put_source(model, gradient=False), _make_add_wake(model, near=near)
    add_near = _make_add_near(model)

    def walk(data, turbines, wind, job, lane, start, stop, end, counted):
        turned, s, power = job.turned, start + lane.thread, 0.0
        n = turned.order.size
        for a in range(end):
            i, first = turned.order[a], _begin(n, a)
            last = first + job.reached[a]
            if s < stop:
                source = turned.types[i]
                u = _wind_speed(wind.speed[s], job.summed[a, lane.thread])
                made, thrust = curves_at(turbines, source, u)
                if i < counted:
                    power += wind.weight[s] * made
                if last > first:
                    diameter = 2.0 * job.radius[a]
                    put_source(data, diameter, thrust, wind.turbulence[s], lane.thread, job.numbers)
            if last > first:
                cuda.syncthreads()
                left = False
                for p in range(first + lane.slot, last, lane.slots):
                    left |= add_wake(job, a, job.other[p], stop - start, lane)
                if near and left:
                    for p in range(first + lane.slot, last, lane.slots):
                        add_near(data, turbines, job, a, job.other[p], wind.turbulence[start:stop], lane)
                cuda.syncthreads()
        return power

    return cuda.jit(walk, device=True)


def _make_walk_back(model: WakeModel, *, near: bool) -> Callable[..., None]:
    """The walk upwind of a warp, after the walk downwind."""
    put_source, wake_back = _make_put_source(model, gradient=True), _make_wake_back(model, near=near)
    near_back = _make_near_back(model)

    def walk_back(data, turbines, wind, job, lane, start, stop, end, counted):
        turned, s = job.turned, start + lane.thread
        # With fewer lanes for wind states than MOST_ACROSS, there are no more wind states than these lanes.
        wide = LANES if lane.across >= MOST_ACROSS else lane.across
        of_thrusts = job.thrusts[lane.slot * wide : (lane.slot + 1) * wide]
        n, speed, weight, slope_power, slope_thrust = turned.order.size, 0.0, 0.0, 0.0, 0.0
        for step in range(end):
            a = end - 1 - step
            i, first = turned.order[a], _begin(n, a)
            last = first + job.reached[a]
            if s < stop:
                speed, weight = wind.speed[s], wind.weight[s] if i < counted else 0.0
                u = _wind_speed(speed, job.summed[a, lane.thread])
                _, thrust, slope_power, slope_thrust = curves_with_slopes(turbines, turned.types[i], u)
                if last > first:
                    diameter = 2.0 * job.radius[a]
                    put_source(data, diameter, thrust, wind.turbulence[s], lane.thread, job.numbers)
            of_thrust = 0.0
            if last > first:
                cuda.syncthreads()
                left, of_place, of_side = False, 0.0, 0.0
                for p in range(first + lane.slot, last, lane.slots):
                    b = job.other[p]
                    of_far, of_aside, some = wake_back(job, a, b, stop - start, lane, of_thrusts)
                    left |= some
                    _add_place(job.of_target, b, lane.state, of_far, of_aside)
                    of_place -= of_far
                    of_side -= of_aside
                if near and left:
                    for p in range(first + lane.slot, last, lane.slots):
                        b, turbulence = job.other[p], wind.turbulence[start:stop]
                        of_far, of_aside = near_back(data, turbines, job, a, b, turbulence, lane, of_thrusts)
                        _add_place(job.of_target, b, lane.state, of_far, of_aside)
                        of_place -= of_far
                        of_side -= of_aside
                job.of_source[0, a, lane.thread] += of_place
                job.of_source[1, a, lane.thread] += of_side
                cuda.syncthreads()
                if s < stop:
                    for slot in range(lane.slots):
                        of_thrust += job.thrusts[slot * wide + lane.thread]
                        job.thrusts[slot * wide + lane.thread] = 0.0
            if s < stop:
                of_speed = weight * slope_power + of_thrust * slope_thrust
                summed = job.summed[a, lane.thread]
                job.summed[a, lane.thread] = _wind_speed_back(of_speed, speed, summed)

    return cuda.jit(walk_back, device=True)


@once_per_model
def by_width_kernel(  # noqa: C901  barriers keep the steps of a kernel together
    model: WakeModel, *, gradient: bool, near: bool, registers: int
) -> Callable[..., None]:
    """Compile the kernel for a model; ``across`` of the lanes have wind states of the same rotor."""
    widths = widths_of(model)
    model = replace(model, widths=widths.without_tables or widths)
    find_targets, walk = _make_find_targets(model), _make_walk(model, near=near)
    walk_back: Any = _make_walk_back(model, near=near)

    def kernel(data, turbines, sources, wind, layouts, room, across, sums):
        numbers = cuda.shared.array((_ROWS, LANES), float64)
        thrusts = cuda.shared.array(_THRUSTS, float64)
        powers = cuda.shared.array(LANES, float64)
        index, block = cuda.threadIdx.x, cuda.blockIdx.x
        lane = Lane(index, index % across, across, index // across, LANES // across)
        key, order = room.turned.key[block], room.turned.order[block]
        directions, counted = wind.cosine.size, layouts.counted
        for p in range(index, _THRUSTS, LANES):
            thrusts[p] = 0.0
        for at in range(block, layouts.x.shape[0] * directions, cuda.gridDim.x):
            layout, d = at // directions, at % directions
            x, y, cosine, sine = layouts.x[layout], layouts.y[layout], wind.cosine[d], wind.sine[d]
            turned = Turned(layouts.types[layout], order, room.turned.along[block], room.turned.across[block])
            job = Job(
                turned, room.height[block], room.radius[block], room.reached[block], room.other[block],
                room.summed[block], room.of_target[block], room.of_source[block], numbers, thrusts,
            )  # fmt: skip
            find_keys(x, y, cosine, sine, index, LANES, key)
            cuda.syncthreads()
            place_in_order(x, y, cosine, sine, index, LANES, key, order, turned.along, turned.across)
            if gradient:
                for axis in range(2):
                    _clear_rows(job.of_target[axis], index)
                    _clear_rows(job.of_source[axis], index)
            cuda.syncthreads()
            _fill_sizes(turbines, turned, index, job.height, job.radius)
            cuda.syncthreads()
            end = last_needed(turned, counted)
            find_targets(data, turbines, sources, turned, job.radius, end, index, job.reached, job.other)
            power = 0.0
            for start in range(wind.first[d], wind.first[d + 1], LANES):
                stop = min(start + LANES, wind.first[d + 1])
                _clear_rows(job.summed, index)
                cuda.syncthreads()
                power += walk(data, turbines, wind, job, lane, start, stop, end, counted)
                if gradient:
                    walk_back(data, turbines, wind, job, lane, start, stop, end, counted)
                cuda.syncthreads()
            powers[index] = power
            cuda.syncthreads()
            if index == 0:
                total = 0.0
                for k in range(LANES):
                    total += powers[k]
                sums.power[layout, d] = total
            if gradient:
                for a in range(index, order.size, LANES):
                    if order[a] < counted:
                        of_x, of_y = _slopes_of_turbine(job, a, cosine, sine)
                        sums.of_x[layout, d, order[a]] = of_x
                        sums.of_y[layout, d, order[a]] = of_y
            cuda.syncthreads()

    return cuda.jit(kernel) if is_simulated() else cuda.jit(kernel, max_registers=registers)
