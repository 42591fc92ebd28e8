"""The evaluation of a search's layouts: one at a time, or in batches with those of other searches.

A search is given an ``Evaluator``. With ``AtOnce`` the farm itself computes what is asked for. With a ``Gathering``,
searches run at the same time, each in a thread, as it would alone. Where one asks for an AEP, with its gradient or
without, it waits until the batch that its layout is in has been evaluated, by the thread that called
``Gathering.run``. A layout's result does not depend on the others of its batch, so a search finds the same alone and
among any others.

A card that fails ends no search. A batch that does not fit into its memory, or has a layout that is refused, is
evaluated in halves; after any other failure this batch and all that follow are evaluated on the processor, and ``lost``
says why. Where there cannot be so many threads, the searches run one by one.

A search must not hold a lock that others wait for while it waits for a batch: these would not count as waiting, and the
batch would never be evaluated.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.wake.farm import WindFarm
from vindeby.wake.gpu.devices import Device
from vindeby.wake.scenarios import ScenarioFarm

Columns: TypeAlias = tuple[FloatArray, FloatArray, npt.NDArray[Any]]
Batch: TypeAlias = Callable[[WindFarm, Sequence[Columns]], Iterable[Any]]
Kind: TypeAlias = tuple[Batch, int, int, int]
Gradient: TypeAlias = tuple[float, FloatArray, FloatArray]

DUE = 0.75
"""A batch is evaluated as soon as this share of the searches waits: what the others have to do takes about as long."""


class Evaluator(Protocol):
    """The interface through which a search evaluates its layouts."""

    @property
    def shares_batches(self) -> bool:
        """Return whether layouts are evaluated in batches with those of other searches, on any device."""

    def aep(self, farm: WindFarm, x: FloatArray, y: FloatArray, types: npt.ArrayLike) -> float:
        """Return the AEP of a layout in GWh."""

    def aep_and_gradient(
        self, farm: WindFarm, x: FloatArray, y: FloatArray, types: npt.ArrayLike
    ) -> Gradient:
        """Return the result of ``farm.aep_and_gradient``."""

    def seconds(self) -> float:
        """Return the CPU seconds that the search in this thread has taken, from some beginning on."""


class AtOnce:
    """An evaluator that evaluates each layout immediately, with the farm itself."""

    shares_batches = False

    def aep(self, farm: WindFarm, x: FloatArray, y: FloatArray, types: npt.ArrayLike) -> float:
        return float(farm.turbine_aep(x, y, types).sum())

    def aep_and_gradient(
        self, farm: WindFarm, x: FloatArray, y: FloatArray, types: npt.ArrayLike
    ) -> Gradient:
        return farm.aep_and_gradient(x, y, types)

    def seconds(self) -> float:
        return time.process_time()


@dataclass(eq=False)
class _Request:
    """The request of a waiting search; requests with the same farm, ``batch`` and shape form one batch."""

    farm: WindFarm
    layout: Columns
    batch: Batch
    answer: Future[Any] = field(default_factory=Future)
    passed_over: int = 0
    seconds: float = 0.0
    """Its share of the time that its batch took."""

    @property
    def kind(self) -> Kind:
        x, y, types = self.layout
        return self.batch, len(x), len(y), len(types)


class Gathering:
    """An evaluator of the searches of ``run`` in batches, on a device; it evaluates other layouts immediately."""

    shares_batches = True

    def __init__(self, device: Device = "cpu", due: float = DUE) -> None:
        self._device, self._due = device, due
        self._farms: WeakKeyDictionary[WindFarm, WindFarm] = WeakKeyDictionary()  # on the device
        self._kinds: WeakKeyDictionary[WindFarm, set[Kind]] = WeakKeyDictionary()
        self._change = threading.Condition()
        self._waiting: list[_Request] = []
        self._live, self._closed = 0, False
        self._of_thread = threading.local()  # whether it is a search, and seconds of its batches
        self.lost = ""
        """Why the device is not used any more; empty as long as it is."""
        self.used: set[str] = set()
        """The devices that layouts of the last ``run`` were evaluated on so far."""

    def run(self, searches: Sequence[Callable[[], Any]]) -> Iterator[tuple[int, Any]]:
        """Run all searches at the same time; yield the number and the result or exception of each as it ends."""
        self._live, self._closed, self.used = len(searches), False, set()
        here = (self._of_thread, "is_search", True)
        running: dict[Future[Any], int] = {}
        with ThreadPoolExecutor(len(searches), "search", initializer=setattr, initargs=here) as pool:
            try:
                with suppress(RuntimeError, MemoryError):  # not so many threads may be had
                    running = {pool.submit(search): number for number, search in enumerate(searches)}
                one_by_one = [] if running else searches
                for future in running:
                    future.add_done_callback(self._ended)
                while running:
                    with self._change:
                        self._change.wait_for(lambda: any(map(Future.done, running)) or self._is_due())
                        over = [future for future in running if future.done()]
                        batch = [] if over else self._fullest()
                    for future in over:
                        yield running.pop(future), future.exception() or future.result()
                    if batch:
                        self._answer(batch)
            finally:
                with self._change:  # nobody evaluates layouts any longer
                    self._closed = True
                    while self._waiting:
                        self._waiting.pop().answer.set_exception(CancelledError())
                pool.shutdown(wait=False, cancel_futures=True)
        for number, search in enumerate(one_by_one):
            self.used.add("cpu")
            try:
                found = search()
            except BaseException as error:  # noqa: BLE001 - as what a thread raises
                found = error
            yield number, found

    def _ended(self, _search: Future[Any]) -> None:
        with self._change:
            self._live -= 1
            self._change.notify()

    def aep(self, farm: WindFarm, x: FloatArray, y: FloatArray, types: npt.ArrayLike) -> float:
        if isinstance(farm, ScenarioFarm):
            return float(farm.turbine_aep(x, y, types).sum())
        layout = (x, y, np.broadcast_to(types, x.shape))
        return float(self.evaluated(farm, layout, _energies))

    def aep_and_gradient(
        self, farm: WindFarm, x: FloatArray, y: FloatArray, types: npt.ArrayLike
    ) -> Gradient:
        if isinstance(farm, ScenarioFarm):
            return farm.combined([self.aep_and_gradient(part, x, y, types) for part in farm.parts])
        layout = (x, y, np.broadcast_to(types, x.shape))
        found: Gradient = self.evaluated(farm, layout, _gradients)
        return found

    def seconds(self) -> float:
        """Return the CPU seconds of this thread, and its shares of the batches that it has waited for."""
        return time.thread_time() + float(getattr(self._of_thread, "in_batches_s", 0.0))

    def evaluated(self, farm: WindFarm, layout: Columns, batch: Batch) -> Any:
        """Return the result of ``batch`` for one of its layouts; called by a search, which waits."""
        if not getattr(self._of_thread, "is_search", False):
            (found,) = batch(farm, [layout])
            return found
        request = _Request(farm, layout, batch)
        with self._change:
            if self._closed:
                raise CancelledError
            self._waiting.append(request)
            if self._is_due():
                self._change.notify()
        found = request.answer.result()
        self._of_thread.in_batches_s = getattr(self._of_thread, "in_batches_s", 0.0) + request.seconds
        return found

    def _is_due(self) -> bool:
        """Return whether most searches wait; while their layouts are evaluated, the others go on."""
        return len(self._waiting) >= self._due * self._live > 0

    def _fullest(self) -> list[_Request]:
        """Take the requests of the largest batch; the others keep waiting, and count for more."""
        groups: dict[tuple[WindFarm, Kind], list[_Request]] = {}
        for request in self._waiting:
            groups.setdefault((request.farm, request.kind), []).append(request)
        fullest = max(groups.values(), key=lambda group: sum(1 + request.passed_over for request in group))
        self._waiting = [request for request in self._waiting if request not in fullest]
        for request in self._waiting:
            request.passed_over += 1
        return fullest

    def _answer(self, batch: list[_Request]) -> None:
        try:
            for request, found in zip(batch, self._evaluated(batch), strict=True):
                request.answer.set_result(found)
        except Exception as error:  # noqa: BLE001 - a driver can fail in any way
            is_refused = isinstance(error, ArgumentError)
            if len(batch) > 1 and (is_refused or "OUT_OF_MEMORY" in str(error)):
                self._answer(batch[: len(batch) // 2])
                self._answer(batch[len(batch) // 2 :])
                return
            if not is_refused:
                self.lost = f"{type(error).__name__}: {error}"
            for request in batch:
                try:
                    (found,) = request.batch(request.farm.on("cpu"), [request.layout])
                    request.answer.set_result(found)
                    self.used.add("cpu")
                except Exception as wrong:  # noqa: BLE001 - raised by the search that asked
                    request.answer.set_exception(wrong)

    def _evaluated(self, batch: list[_Request]) -> Iterable[Any]:
        farm, began = batch[0].farm, time.perf_counter()
        kinds = self._kinds.setdefault(farm, set())
        if not self.lost:
            if farm not in self._farms:
                self._farms[farm] = farm.on(self._device)
            farm = self._farms[farm]
        found = batch[0].batch(farm, [request.layout for request in batch])
        self.used.add(farm.device)
        if batch[0].kind in kinds:  # the first time, what is compiled for the device takes longest
            for request in batch:
                request.seconds = (time.perf_counter() - began) / len(batch)
        kinds.add(batch[0].kind)
        return found


def _energies(farm: WindFarm, layouts: Sequence[Columns]) -> Iterable[float]:
    return farm.aep_batch(*map(np.stack, zip(*layouts, strict=True))).tolist()


def _gradients(farm: WindFarm, layouts: Sequence[Columns]) -> Iterable[Gradient]:
    aep, slope_x, slope_y = farm.aep_and_gradient_batch(*map(np.stack, zip(*layouts, strict=True)))
    return zip(aep.tolist(), slope_x, slope_y, strict=True)
