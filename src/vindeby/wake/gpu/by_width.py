"""The kernel for Gaussian models that tell their width: the arithmetic of ``loops.by_width``, one warp for each job.

What the width behind a turbine depends on is worked out once for a turbine and wind state and put into shared memory.
Then the lanes divide up the rotors that the wake reaches and the wind states: ``across`` lanes have neighbouring wind
states of one rotor, the others further rotors. It has no gradient.

Instructions that do not fit into their cache cost most here. So there is a form of the kernel in which the model itself
is evaluated for rotors that are wide beside a wake, for farms that need it (``needs_near``), and one without that for
all others, such as those of one turbine type. The mean over a rotor is right to 3e-8, for wide ones without the model
itself to 1.2e-7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import float64

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.gpu.devices import cuda_module
from vindeby.wake.gpu.turning import (
    LANES,
    TurnedRoom,
    compiled_kernel,
    sort_downwind,
    total_of,
    with_barriers,
)
from vindeby.wake.loops.frame import pair_of
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.width_steps import (
    LARGEST_T,
    first_constants,
    last_needed,
    make_lines,
    make_square,
    widths_of,
)
from vindeby.wake.loops.wind import Turned
from vindeby.wake.models.contract import WakeModel, once_per_model
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.curves import curves_at
from vindeby.wake.turbines.turbine import Turbine

cuda = cuda_module()

LARGEST_T_WITHOUT_NEAR = 2.05
"""Up to here the series of ``means`` is right to 1.2e-7."""
MOST_ACROSS = 8
"""Lanes that have wind states of one rotor."""
_ROWS, _STRENGTH, _THRUST = 6, 4, 5
"""Rows of a source's numbers by wind state: four of its width, and these two."""
_TOGETHER = superposition_of_words("squares", "free")
_wind_speed = _TOGETHER.wind_speed


class WidthRoom(NamedTuple):
    """What blocks work with, by block; or that of one block, with its layout ``turned``.

    ``height`` and ``radius``: of rotors in the order downwind. ``reached`` and ``other``: how many rotors the wake of
    each turbine reaches, and which. ``summed``: sums of squares by turbine and wind state.
    """

    turned: TurnedRoom | Turned
    height: FloatArray
    radius: FloatArray
    reached: IntArray
    other: npt.NDArray[np.uint16]
    summed: FloatArray


class Lane(NamedTuple):
    """A thread: ``state`` and ``slot`` are its first wind state and rotor, ``across`` and ``slots`` its steps.

    ``numbers`` of a source are in shared memory.
    """

    thread: int
    state: int
    across: int
    slot: int
    slots: int
    numbers: FloatArray


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


def _make_put_source(model: WakeModel) -> Callable[..., None]:
    numbers_of = widths_of(model).numbers

    @scalar
    def put_source(data, diameter, thrust, turbulence, k, numbers):
        """Put the numbers of a turbine in one wind state into shared memory."""
        numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k] = numbers_of(
            first_constants(data), diameter, thrust, turbulence
        )
        numbers[_STRENGTH, k], numbers[_THRUST, k] = 0.125 * thrust * diameter * diameter, thrust

    return put_source


def _make_add_wake(model: WakeModel, *, near: bool) -> Callable[..., bool]:
    square = make_square(model)

    @scalar
    def add_wake(job, a, b, states, lane):
        """Add the wake of ``a`` to the sums of ``b``; returns whether some wind states are left for ``add_near``."""
        turned, height, radius, numbers, left = job.turned, job.height, job.radius, lane.numbers, False
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


def _make_add_near(model: WakeModel) -> Callable[..., None]:
    width, deficit = widths_of(model).width, model.deficit

    @scalar
    def add_near(data, turbines, job, a, b, turbulence, lane):
        """The same by the model itself in the wind states that ``add_wake`` has left."""
        turned, numbers, radius = job.turned, lane.numbers, job.radius[b]
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        for k in range(lane.state, turbulence.size, lane.across):
            sigma = width(numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k], far)
            if 0.5 * radius * radius / (sigma * sigma) > LARGEST_T:
                pair = pair_of(turbines, turned, a, b, far, aside, numbers[_THRUST, k], turbulence[k])
                value = deficit(data, pair)
                job.summed[b, k] += value * value

    return add_near


@scalar
def _clear_rows(rows, lane):
    for a in range(rows.shape[0]):
        for k in range(lane, rows.shape[1], LANES):
            rows[a, k] = 0.0


def _make_walk(model: WakeModel, *, near: bool) -> Callable[..., float]:
    """The walk downwind of a warp through up to ``LANES`` wind states of one direction."""
    put_source, add_wake, add_near = (
        _make_put_source(model), _make_add_wake(model, near=near), _make_add_near(model),
    )  # fmt: skip

    @with_barriers
    def walk(data, turbines, wind, job, lane, start, stop, end, counted, each):
        turned, s, power = job.turned, start + lane.thread, 0.0
        n = turned.order.size
        for a in range(end):
            i, first = turned.order[a], _begin(n, a)
            last = first + job.reached[a]
            if s < stop:
                u = _wind_speed(wind.speed[s], job.summed[a, lane.thread])
                made, thrust = curves_at(turbines, turned.types[i], u)
                if i < counted:
                    power += wind.weight[s] * made
                if i < each.shape[0] and s < each.shape[1]:
                    each[i, s] = made
                if last > first:
                    diameter = 2.0 * job.radius[a]
                    put_source(data, diameter, thrust, wind.turbulence[s], lane.thread, lane.numbers)
            if last > first:
                cuda.syncthreads()
                left = False
                for p in range(first + lane.slot, last, lane.slots):
                    left |= add_wake(job, a, job.other[p], stop - start, lane)
                # Apart from the loop above, whose instructions so stay in their cache.
                if near and left:
                    turbulence = wind.turbulence[start:stop]
                    for p in range(first + lane.slot, last, lane.slots):
                        add_near(data, turbines, job, a, job.other[p], turbulence, lane)
                cuda.syncthreads()
        return power

    return walk


def _without_tables(model: WakeModel) -> WakeModel:
    widths = widths_of(model)
    return replace(model, widths=widths.without_tables or widths)


@once_per_model
def by_width_kernel(model: WakeModel, *, near: bool, registers: int) -> Callable[..., None]:
    """Compile the kernel for a model; ``across`` of the lanes have wind states of the same rotor."""
    model = _without_tables(model)
    find_targets, walk = _make_find_targets(model), _make_walk(model, near=near)

    def kernel(data, turbines, sources, wind, layouts, room, across, sums):
        numbers = cuda.shared.array((_ROWS, LANES), float64)
        powers = cuda.shared.array(LANES, float64)
        index, block = cuda.threadIdx.x, cuda.blockIdx.x
        lane = Lane(index, index % across, across, index // across, LANES // across, numbers)
        key, directions, counted = room.turned.key[block], wind.cosine.size, layouts.counted
        for at in range(block, layouts.x.shape[0] * directions, cuda.gridDim.x):
            layout, d = at // directions, at % directions
            n, cosine, sine = layouts.sizes[layout], wind.cosine[d], wind.sine[d]
            x, y, order = layouts.x[layout, :n], layouts.y[layout, :n], room.turned.order[block, :n]
            turned = Turned(layouts.types[layout], order, room.turned.along[block], room.turned.across[block])
            job = WidthRoom(
                turned, room.height[block], room.radius[block], room.reached[block], room.other[block],
                room.summed[block, :n],
            )  # fmt: skip
            sort_downwind(x, y, cosine, sine, index, LANES, key, turned)
            _fill_sizes(turbines, turned, index, job.height, job.radius)
            cuda.syncthreads()
            end = last_needed(turned, counted)
            find_targets(data, turbines, sources, turned, job.radius, end, index, job.reached, job.other)
            cuda.syncthreads()
            power = 0.0
            for start in range(wind.first[d], wind.first[d + 1], LANES):
                stop = min(start + LANES, wind.first[d + 1])
                _clear_rows(job.summed, index)
                cuda.syncthreads()
                power += walk(data, turbines, wind, job, lane, start, stop, end, counted, sums.each[layout])
                cuda.syncthreads()
            powers[index] = power
            cuda.syncthreads()
            if index == 0:
                sums.power[layout, d] = total_of(powers, 0, LANES)
            cuda.syncthreads()

    return compiled_kernel(kernel, registers)
