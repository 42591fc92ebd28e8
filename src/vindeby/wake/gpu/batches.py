"""Batches of layouts on a CUDA card: data transfer, division into launches, and results.

What belongs to the farm is moved once. The room that blocks work with is limited (``MOST_ROOM``), whatever the number
of turbines, and so are the sums by direction, which decide how many layouts one launch takes (``layouts_at_once``).
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake.gpu.by_state import GRADIENT_ROWS, POWER_ROWS, StateRoom, by_state_kernel
from vindeby.wake.gpu.by_table import MOST_TURBINES, NUMBERS, PER_PAIR, Sources, TableRoom, by_table_kernel
from vindeby.wake.gpu.devices import Batch, cuda_module, found_device, is_simulated
from vindeby.wake.gpu.turning import LANES, LayoutBatch, Sums, TurnedRoom, add_directions
from vindeby.wake.loops.choice import LoopCall
from vindeby.wake.loops.pair_tables import NODES, PairTables
from vindeby.wake.loops.wind import DirectionPairs, Wind
from vindeby.wake.models.contract import ModelData, WakeModel
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.curves import TurbineArrays
from vindeby.wake.turbines.turbine import Turbine

cuda = cuda_module()

REGISTERS, BLOCKS_PER_PROCESSOR = 80, 24
"""Registers of a thread, and the blocks that then fit on a multiprocessor. With more registers there are fewer blocks,
and waiting for instructions and memory costs more than keeping numbers elsewhere."""
REGISTERS_BY_TABLE, BLOCKS_BY_TABLE = 64, 32
LEAST_STATES = 4
"""The least mean number of wind states per direction for which reading tables for all thrusts pays off."""
PAIRS_PER_TURBINE = 8
"""Room to begin with; where more wakes reach a rotor, a batch is evaluated once more with as much as is needed."""
PAUSE_S = 5e-4
"""Between two looks at whether a card has finished."""
MOST_ROOM = 8.0e9
MOST_SUMS = 2.0e9
"""Bytes, on cards with more than four times as much; on smaller ones a quarter of the memory that is free."""


def _to_card(array: npt.NDArray[Any]) -> Any:
    if is_simulated():
        return array  # in tuples the simulator takes arrays as they are
    # An allocation of size 0 has no address.
    return cuda.to_device(array if array.size else np.zeros(1, array.dtype))


def _tuple_to_card(values: Any) -> Any:
    def moved(value: Any) -> Any:
        if isinstance(value, tuple):
            return _tuple_to_card(value)
        return _to_card(value) if isinstance(value, np.ndarray) else value

    return type(values)(*map(moved, values))


def _room(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> Any:
    return np.empty(shape, dtype) if is_simulated() else cuda.device_array(shape, dtype)


_kept: dict[str, Any] = {}
_one_at_a_time = threading.Lock()


def _kept_room(name: str, shape: tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> Any:
    """Return a device buffer that is reused by later calls of any farm; only for the thread that launches kernels."""
    size = prod(shape)
    if name not in _kept or _kept[name].size < size:
        _kept.pop(name, None)  # before there is more of it
        try:
            _kept[name] = _room((size,), dtype)
        except Exception:
            _kept.clear()  # what others have used may be what is missing
            raise
    return _kept[name][:size].reshape(shape)


def _to_host(array: Any) -> npt.NDArray[Any]:
    if is_simulated():
        return np.array(array)
    done = cuda.event(timing=False)
    done.record()
    while not done.query():  # waiting for a copy would keep a core busy that searches can use
        time.sleep(PAUSE_S)
    return array.copy_to_host()


class FarmOnCard:
    """A farm whose layouts are evaluated on a card: its wake model, turbine types and wind."""

    def __init__(
        self,
        model: WakeModel,
        turbines: Sequence[Turbine],
        arrays: TurbineArrays,
        wind: Wind,
        states: WindStates,
        tables: LoopCall | None,
    ) -> None:
        self._model, self._wind, self._tables = model, wind, tables
        self.by_table = tables is not None and len(states.speed) >= LEAST_STATES * len(states.direction)
        self._pairs = 0
        most_thrust = np.array([turbine.thrust_range()[1] for turbine in turbines])
        self._sources = Sources(most_thrust, float(states.turbulence.max(initial=0.0)))
        self._arrays = arrays

    @cached_property
    def _moved(self) -> tuple[ModelData, TurbineArrays, Sources, Wind]:
        farm = (self._model.data, self._arrays, self._sources, self._wind)
        data, arrays, sources, wind = map(_tuple_to_card, farm)
        return data, arrays, sources, wind

    @cached_property
    def _tabulated(self) -> tuple[PairTables, DirectionPairs]:
        assert self._tables is not None, "chosen only for tables"
        return _tuple_to_card(self._tables.data), _tuple_to_card(self._tables.pairs)

    def evaluate(
        self, x: FloatArray, y: FloatArray, types: IntArray, counted: int, *, gradient: bool
    ) -> Batch:
        """Return the AEP of layouts (layouts, turbines), and its slopes with the first ``counted`` positions."""
        layouts, n = x.shape
        slopes = counted if gradient else 0
        found = Batch(np.zeros(layouts), np.zeros((layouts, slopes)), np.zeros((layouts, slopes)))
        if not (layouts and counted):
            return found
        # Map coordinates are millions of metres; near zero, turning them loses no digits.
        x, y = (v - 0.5 * (v.min(axis=1) + v.max(axis=1))[:, None] for v in (x, y))
        portion = self.layouts_at_once(slopes)
        for start in range(0, layouts, portion):
            here = slice(start, min(start + portion, layouts))
            given = _tuple_to_card(LayoutBatch(x[here], y[here], types[here], counted))
            launch, jobs = self._by_state, len(self._wind.cosine)
            if self.by_table and n < MOST_TURBINES:
                launch, jobs = self._by_table, len(self._tabulated[1].ahead)
            sums = _sums_for(here.stop - start, jobs, slopes)
            with _one_at_a_time:
                launch(given, sums, gradient=gradient)
            for whole, values in zip(found, _added(sums, slopes), strict=True):
                whole[here] = values
        return found

    def layouts_at_once(self, slopes: int) -> int:
        """Return how many layouts one launch takes, with slopes for so many turbines each."""
        each = 8 * len(self._wind.cosine) * (1 + 2 * slopes)
        return max(1, int(_bytes(MOST_SUMS) // each))

    def _by_table(self, given: LayoutBatch, sums: Sums, *, gradient: bool) -> None:
        (_, arrays, sources, wind), (tables, directions), n = self._moved, self._tabulated, given.x.shape[1]
        kernel = by_table_kernel(self._model, gradient=gradient, registers=REGISTERS_BY_TABLE)
        jobs, needed, pairs = len(given.x) * len(directions.ahead), PAIRS_PER_TURBINE * n, -1
        lanes = max(PER_PAIR, _lanes_for(self._wind.most))
        while pairs < needed:
            self._pairs = max(self._pairs, needed)
            pairs, most = min(self._pairs, n * (n - 1) // 2), _to_card(np.zeros(1, np.int64))
            room = self._table_room(jobs, n, max(pairs, 1), LANES // lanes, gradient=gradient)
            _run(
                kernel, len(room.states), tables, arrays, sources, wind, directions, given, room, lanes, sums, most
            )  # fmt: skip
            needed = int(_to_host(most)[0])
            del room  # before there is more of it

    def _table_room(self, jobs: int, n: int, pairs: int, slots: int, *, gradient: bool) -> TableRoom:
        """Return buffers for blocks that work on ``slots`` jobs each, of ``n`` turbines and ``pairs`` pairs."""
        wide = 3 * NODES if gradient else NODES
        per_block = slots * (48 * n + pairs * (4 + 8 * wide)) + 8 * n * LANES * (NUMBERS + 1)
        blocks = _blocks(-(-jobs // slots), per_block, BLOCKS_BY_TABLE)
        many = blocks * slots
        first, rows = (
            _kept_room("first", (many, 2 * n + 1), np.uint64),
            _kept_room("rows", (many, pairs * wide)),
        )
        source, other = (_kept_room(name, (many, pairs), np.uint16) for name in ("source", "other"))
        states, thrust = (
            _kept_room(name, (blocks, n * LANES * k)) for name, k in (("states", NUMBERS), ("thrust", 1))
        )
        return TableRoom(_turned_room(many, n), first, source, other, rows, states, thrust)

    def _by_state(self, given: LayoutBatch, sums: Sums, *, gradient: bool) -> None:
        data, arrays, _, wind = self._moved
        layouts, n = given.x.shape
        lanes, rows = _lanes_for(self._wind.most), GRADIENT_ROWS if gradient else POWER_ROWS
        slots, jobs = LANES // lanes, layouts * len(self._wind.cosine)
        blocks = _blocks(-(-jobs // slots), 8 * n * rows * LANES + 32 * n * slots)
        room = StateRoom(
            _turned_room(blocks * slots, n),
            _kept_room("states", (rows, n, blocks * LANES)),
            _kept_room("sums", (2, blocks * LANES)),
        )
        kernel = by_state_kernel(self._model, gradient=gradient, registers=REGISTERS)
        _run(kernel, blocks, data, arrays, wind, given, room, lanes, sums)


def _sums_for(layouts: int, jobs: int, slopes: int) -> Sums:
    rows = (layouts, jobs, slopes) if slopes else (1, 1, 1)
    return Sums(_room((layouts, jobs)), _room(rows), _room(rows))


def _turned_room(jobs: int, n: int) -> TurnedRoom:
    key, along, across = (_kept_room(name, (jobs, n)) for name in ("key", "along", "across"))
    return TurnedRoom(key, _kept_room("order", (jobs, n), np.int64), along, across)


def _added(sums: Sums, slopes: int) -> Batch:
    """Return the sums over all directions, in GWh."""
    layouts = sums.power.shape[0]
    aep, slope_x, slope_y = _room((layouts,)), *(_room((layouts, max(slopes, 1))) for _ in range(2))
    threads = 1 if is_simulated() else 128
    blocks = -(-layouts * (slopes + 1) // threads)
    unit = mean_power_to_aep_gwh(1.0)
    _run(add_directions, blocks, sums, unit, slopes, aep, slope_x, slope_y, threads=threads)
    return Batch(_to_host(aep), _to_host(slope_x)[:, :slopes], _to_host(slope_y)[:, :slopes])


def _run(kernel: Any, blocks: int, *arguments: Any, threads: int = LANES) -> None:
    with warnings.catch_warnings():
        # Few layouts do not fill a card; that is what the user asked for.
        warnings.simplefilter("ignore")
        kernel[blocks, threads](*arguments)


def _lanes_for(states: int) -> int:
    """Return the smallest power of two that holds so many wind states, at most ``LANES``."""
    lanes = 1
    while lanes < min(states, LANES):
        lanes *= 2
    return lanes


def _bytes(most: float) -> float:
    return min(most, 0.25 * found_device().memory)


def _blocks(jobs: int, bytes_per_block: int, per_processor: int = BLOCKS_PER_PROCESSOR) -> int:
    """Return the number of concurrent blocks: as many as the card can run and its memory allows."""
    if is_simulated():
        return min(jobs, 2)
    processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    return max(1, min(jobs, processors * per_processor, int(_bytes(MOST_ROOM) // bytes_per_block)))
