"""Shared parts of the kernels: compiling and caching, the job of a block, and sums over directions.

A *job* is one layout in one wind direction. A block of ``LANES`` threads (one warp, whose barriers are cheap) works on
one or several jobs at a time, and then on others, so that the room it works with is that of few jobs. Each job writes
sums of its own; ``add_directions`` adds those of a layout in the order of the directions. So a result does not depend
on the other layouts of its batch.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numba

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import Function, Keeping, described, keep_on_disk, scalar
from vindeby.wake.gpu.devices import cuda_module, is_simulated
from vindeby.wake.loops.wind import turn

cuda = cuda_module()

LANES = 32


def compiled_kernel(function: Callable[..., None], registers: int | None = None) -> Any:
    """Compile a kernel, and keep it on disk as the loops for processors are."""
    if is_simulated():
        return cuda.jit(function)

    dispatcher = cuda.jit(function, max_registers=registers)

    def made_from() -> str | None:
        text, options = described(numba.njit(function)), sorted(dispatcher.targetoptions.items())
        return None if text is None else repr((text, options, version("numba-cuda")))

    def add(dispatcher: Any, signature: Any, loaded: Any) -> None:
        loaded.bind()  # a card may refuse it, and then it is compiled again
        dispatcher.add_overload(loaded, signature)

    keep_on_disk(dispatcher, Keeping(pickle.dumps, add, made_from))
    return dispatcher


def with_barriers(function: Function) -> Function:
    """Compile a kernel function in which lanes wait for each other, which the simulator has to know."""
    compiled: Function = cuda.jit(function, device=True) if is_simulated() else scalar(function)
    return compiled


class LayoutBatch(NamedTuple):
    """Layouts of a farm, (layouts, turbines), around the origin; the first ``counted`` turbines are its own."""

    x: FloatArray
    y: FloatArray
    types: IntArray
    counted: int


class Sums(NamedTuple):
    """The mean power of the farm in W by layout and direction, and its slopes by layout, direction and turbine."""

    power: FloatArray
    of_x: FloatArray
    of_y: FloatArray


class TurnedRoom(NamedTuple):
    """Buffers of turbine coordinates in the wind, by job and turbine; ``key`` is a buffer for sorting."""

    key: FloatArray
    order: IntArray
    along: FloatArray
    across: FloatArray


@scalar
def _find_keys(x, y, cosine, sine, lane, lanes, key):
    """Compute the downwind coordinate of every turbine; each lane computes some of them."""
    for i in range(lane, x.size, lanes):
        key[i] = turn(cosine, sine, x[i], y[i])[0]


@scalar
def _place_in_order(x, y, cosine, sine, lane, lanes, key, turned):
    """Sort the turbines downwind: the index of a turbine is the number of turbines upwind of it."""
    for i in range(lane, x.size, lanes):
        rank, own = 0, key[i]
        for j in range(x.size):
            rank += (key[j] < own) | ((key[j] == own) & (j < i))
        turned.order[rank], turned.along[rank] = i, own
        turned.across[rank] = turn(cosine, sine, x[i], y[i])[1]


@with_barriers
def sort_downwind(x, y, cosine, sine, lane, lanes, key, turned):
    """Turn a layout into the wind and sort it downwind; the lanes of its job share the work."""
    _find_keys(x, y, cosine, sine, lane, lanes, key)
    cuda.syncthreads()
    _place_in_order(x, y, cosine, sine, lane, lanes, key, turned)
    cuda.syncthreads()


@scalar
def total_of(values, first, last):
    """Return the sum of some of these numbers, always in the same order."""
    total = 0.0
    for k in range(first, last):
        total += values[k]
    return total


def _add_directions(sums, unit, slopes, aep, slope_x, slope_y):
    """Add up the directions of every layout, in ``unit``: one thread for each turbine, and one for the power."""
    at = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    layout, i, directions = at // (slopes + 1), at % (slopes + 1), sums.power.shape[1]
    if layout < aep.size:
        if i == slopes:
            aep[layout] = total_of(sums.power[layout], 0, directions) * unit
        else:
            slope_x[layout, i] = total_of(sums.of_x[layout, :, i], 0, directions) * unit
            slope_y[layout, i] = total_of(sums.of_y[layout, :, i], 0, directions) * unit


add_directions = compiled_kernel(_add_directions)
