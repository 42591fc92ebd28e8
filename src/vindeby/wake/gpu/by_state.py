"""The kernel for every wake model: each thread walks one wind state of one layout in one direction.

The walks are those of ``loops.direct``, unchanged: a thread hands them its own places in the room of the kernel, with a
single wind state. Neighbouring threads have neighbouring wind states and neighbouring places in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numba import float64

from vindeby.arrays import FloatArray
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.gpu.devices import cuda_module
from vindeby.wake.gpu.turning import LANES, TurnedRoom, compiled_kernel, sort_downwind, total_of
from vindeby.wake.loops.direct import make_walk, make_walk_back
from vindeby.wake.loops.frame import add_slopes
from vindeby.wake.loops.wind import Adjoints, DirectionWind, Turned, Waked
from vindeby.wake.models.contract import WakeModel, once_per_model

cuda = cuda_module()

POWER_ROWS, GRADIENT_ROWS = 6, 13
"""Numbers per turbine that a thread works with."""


class StateRoom(NamedTuple):
    """The buffers of the kernel: ``rows`` is (rows, turbines, threads), ``few`` two numbers per thread."""

    turned: TurnedRoom
    rows: FloatArray
    few: FloatArray


@scalar
def _waked_at(rows, t):
    """Return the buffers of one thread for the walk downwind, as one wind state."""
    u = rows[0, :, t : t + 1]
    return Waked(
        u, rows[1, :, t : t + 1], rows[2, :, t : t + 1], rows[3, :, t : t + 1], rows[4, :, t : t + 1],
        rows[5, :, t : t + 1], u,
    )  # fmt: skip


@scalar
def _adjoints_at(rows, few, t):
    """Return the buffers of one thread for the walk upwind, without those for blockage and local wind."""
    summed, one, along = rows[6, :, t : t + 1], few[0, t : t + 1], rows[9, :, t]
    return Adjoints(
        summed, rows[7, :, t : t + 1], rows[8, :, t : t + 1], one, few[1, t : t + 1], along, rows[10, :, t],
        one, one, along, along, along, summed, summed, summed,
    )  # fmt: skip


@scalar
def _clear_sums(rows, t):
    for i in range(rows.shape[1]):
        rows[11, i, t] = rows[12, i, t] = 0.0


@scalar
def _power_of(turned, waked, counted):
    total = 0.0
    for a in range(turned.order.size):
        if turned.order[a] < counted:
            total += waked.power[a, 0]
    return total


@once_per_model
def by_state_kernel(model: WakeModel, *, gradient: bool, registers: int) -> Callable[..., None]:
    """Compile the kernel for a model; ``lanes`` threads work on each job."""
    walk, walk_back = make_walk(model, "uniform"), make_walk_back(model, "uniform")

    @scalar
    def one_state(data, turbines, turned, states, cosine, sine, counted, rows, few, t):
        waked = _waked_at(rows, t)
        walk(data, turbines, turned, states, waked)
        power = states.weight[0] * _power_of(turned, waked, counted)
        if gradient:
            adjoints = _adjoints_at(rows, few, t)
            walk_back(data, turbines, turned, states, counted, waked, adjoints)
            add_slopes(turned, turned.order.size, cosine, sine, adjoints, rows[11, :, t], rows[12, :, t])
        return power

    def kernel(data, turbines, wind, layouts, room, lanes, sums):
        powers = cuda.shared.array(LANES, float64)
        thread, block = cuda.threadIdx.x, cuda.blockIdx.x
        lane, slot = thread % lanes, thread // lanes
        slots = LANES // lanes
        place, t = block * slots + slot, block * LANES + thread
        key, order = room.turned.key[place], room.turned.order[place]
        along, across = room.turned.along[place], room.turned.across[place]
        directions = wind.cosine.size
        jobs = layouts.x.shape[0] * directions
        # All threads of a block take part in every turn, for the barriers.
        for start in range(block * slots, jobs, cuda.gridDim.x * slots):
            job = min(start + slot, jobs - 1)
            layout, d = job // directions, job % directions
            x, y, cosine, sine = layouts.x[layout], layouts.y[layout], wind.cosine[d], wind.sine[d]
            turned = Turned(layouts.types[layout], order, along, across)
            sort_downwind(x, y, cosine, sine, lane, lanes, key, turned)
            power = 0.0
            if gradient:
                _clear_sums(room.rows, t)
            for s in range(wind.first[d] + lane, wind.first[d + 1], lanes):
                states = DirectionWind(
                    wind.speed[s : s + 1], wind.weight[s : s + 1], wind.turbulence[s : s + 1]
                )
                power += one_state(
                    data, turbines, turned, states, cosine, sine, layouts.counted, room.rows, room.few, t
                )
            powers[thread] = power
            cuda.syncthreads()
            if start + slot < jobs:
                if lane == 0:
                    sums.power[layout, d] = total_of(powers, thread, thread + lanes)
                if gradient:
                    for i in range(lane, layouts.counted, lanes):
                        of_x = of_y = 0.0
                        for other in range(t - lane, t - lane + lanes):
                            of_x += room.rows[11, i, other]
                            of_y += room.rows[12, i, other]
                        sums.of_x[layout, d, i] = of_x
                        sums.of_y[layout, d, i] = of_y
            cuda.syncthreads()

    return compiled_kernel(kernel, registers)
