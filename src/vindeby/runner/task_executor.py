"""Executes tasks: prepares what a cell shares, solves, checks the result, classifies failures, publishes.

It knows nothing of processes, sockets or slots, so a worker process, a worker of a cluster or a plain loop can use it::

    executor = TaskExecutor(campaign, directory, on_durable=print, on_failed=print)
    for number, task in enumerate(campaign.tasks()):
        executor.execute(number, task)
    executor.close()

Tasks are executed from one thread; ``on_durable`` and ``on_disk_trouble`` are called from the publisher's thread.
"""

from __future__ import annotations

import errno
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

from vindeby.assembly.physics import ENGINE_AEP, CampaignCheck, ReturnedCheck
from vindeby.campaign import Campaign, Task
from vindeby.campaign.tasks import Cell
from vindeby.errors import TaskError, VindebyError
from vindeby.runner.methods.call import method_for
from vindeby.runner.methods.method_protocol import InvalidResultError, Prepared, checked_record
from vindeby.runner.protocol import Failure, Kind
from vindeby.runner.publisher import OnDiskTrouble, OnDurable, OnFailed, Publisher
from vindeby.store.disk.files import bounded, shortened
from vindeby.store.disk.lock import LeasedFiles
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.validate import Check

_LONGEST_TRACEBACK = 16_000


class MethodUnusableError(TaskError):
    """The method cannot be used at all, e.g. its module cannot be imported: no task would ever succeed."""


@dataclass(frozen=True)
class ExecutorOptions:
    """How results are checked and published; plain values, to be sent wherever tasks are executed."""

    flush_s: float = 1.0
    """How long a result waits for others to share a shard with."""
    wait_for_disk: bool = False
    """Whether a full disk is waited for."""
    lock: str = ""
    """The lock under which the run works, which another process may take over; empty where there is none."""
    token: str = ""
    check_physics: bool = True
    """Whether results that are not possible are refused; not where the caller has checks of its own."""


@dataclass(frozen=True)
class Attempt:
    """What came of a task: a record, or a failure."""

    record: Record | None
    seconds: float
    """Of the solver alone, or until the failure."""
    failure: Failure | None = None
    in_doubt: bool = False
    """It raised an error that may be due to what tasks before it did to the process."""


class ExecutorHooks:
    """What surrounds a task in a process that guards itself against it; here nothing does."""

    def solving(self) -> None:
        """What the task shares with others is set up: from now on its time counts."""

    def progress(self, stage: str, *how_far: float | None) -> None:
        """What the task is at, and how far (``layout.problem.Report``); called very often."""

    def solved(self, error: BaseException | None) -> None:
        """The method returned or raised; its result was not looked at yet."""


class TaskExecutor:
    """Executes tasks of one campaign, for one worker; MethodUnusableError when none can be."""

    def __init__(
        self,
        campaign: Campaign,
        directory: RunDirectory | Path | str,
        *,
        on_durable: OnDurable,
        on_failed: OnFailed,
        on_disk_trouble: OnDiskTrouble = lambda _: None,
        options: ExecutorOptions | None = None,
        hooks: ExecutorHooks | None = None,
    ) -> None:
        options = options or ExecutorOptions()
        self._campaign, self._on_failed, self._hooks = campaign, on_failed, hooks or ExecutorHooks()
        try:
            self._method = method_for(campaign, self._hooks.progress)
        except Exception as error:
            known = isinstance(error, VindebyError)
            raise MethodUnusableError(str(error) if known else trace(error)) from error
        self._check: Check = _check_of(campaign) if options.check_physics else lambda _: ()
        self._cells = {(cell.farm_idx, cell.type_idx): cell for cell in campaign.cells()}
        self._prepared: tuple[Cell | None, Prepared | BaseException | None] = (None, None)
        run = directory if isinstance(directory, RunDirectory) else RunDirectory(Path(directory))
        files = LeasedFiles(Path(options.lock), options.token) if options.lock else None
        self._shards = ShardWriter(run, files=files)
        self.publisher = Publisher(
            self._shards,
            on_durable=on_durable,
            on_failed=on_failed,
            on_disk_trouble=on_disk_trouble,
            flush_s=options.flush_s,
            wait_for_disk=options.wait_for_disk,
        )

    @property
    def writer(self) -> str:
        """Under which name its shards are found when it cannot report them any more."""
        return self._shards.name

    def execute(self, number: int, task: Task) -> Failure | None:
        """One task, whatever comes of it: hand its result to the publisher, or report its failure."""
        attempt = self.attempt(task)
        if attempt.failure is not None:
            self._on_failed(number, attempt.failure)
        self.publish(number, attempt)
        return attempt.failure

    def attempt(self, task: Task) -> Attempt:
        """Solve and check a task, and report nothing; whatever it raises becomes a failure."""
        began = time.perf_counter()
        try:
            record, seconds = self._solve(task)
        except BaseException as error:  # noqa: BLE001 - a task may raise anything, SystemExit too
            return Attempt(
                None, time.perf_counter() - began, failure_of(error), not isinstance(error, VindebyError)
            )
        return Attempt(record, seconds)

    def publish(self, number: int, attempt: Attempt) -> None:
        """Hand over the record of an attempt, if it has one; it becomes durable soon."""
        if attempt.record is not None:
            self.publisher.add(number, attempt.record, attempt.seconds)

    def close(self) -> bool:
        """Publish the rest; whether everything is durable."""
        return self.publisher.close()

    def _solve(self, task: Task) -> tuple[Record, float]:
        """The record and the seconds it took, without what its cell shares, which is set up first."""
        try:
            cell = self._cells[task.farm_idx, task.type_idx]
            prepared = self._prepare(cell)
            self._hooks.solving()
            started = time.perf_counter()
            result = prepared.solve(task)
            seconds = time.perf_counter() - started
        except BaseException as error:
            self._hooks.solved(error)
            raise
        self._hooks.solved(None)
        record = checked_record(self._campaign, cell, task, result, seconds, self._check)
        if isinstance(self._check, CampaignCheck) and self._check.compares:
            engine_gwh = self._check.energy_gwh(record)
            if engine_gwh is not None:
                record = replace(record, attributes={**record.attributes, ENGINE_AEP: engine_gwh})
        return record, seconds

    def _prepare(self, cell: Cell) -> Prepared:
        if self._prepared[0] is not cell:
            self._prepared = (None, None)
            try:
                self._prepared = (cell, self._method.prepare(cell))
            except Exception as error:  # noqa: BLE001 - it is raised again for every task of the cell
                self._prepared = (cell, error)
        prepared = self._prepared[1]
        if isinstance(prepared, BaseException):
            raise prepared
        assert prepared is not None
        return prepared


def _check_of(campaign: Campaign) -> Check:
    names = campaign.returned_arrays
    return CampaignCheck(campaign) if names is None else ReturnedCheck(names)


def failure_of(error: BaseException) -> Failure:
    """What kind of failure an exception is."""
    if isinstance(error, InvalidResultError):
        return Failure(Kind.INVALID, bounded(str(error)))
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return Failure(Kind.MEMORY, f"memory could not be had: {one_line(error)}", trace(error))
    return Failure(Kind.EXCEPTION, one_line(error), trace(error))


def one_line(error: BaseException) -> str:
    """An exception in one text of a bounded size; even its own text may fail."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a user's __str__
        text = "(its text cannot be made)"
    if not isinstance(error, VindebyError):
        name = type(error).__name__
        text = f"{name}: {text}" if text else name
    return bounded(text)


def trace(error: BaseException) -> str:
    """The traceback of an exception, of a bounded size."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - a user's __str__ or __repr__
        text = "".join(traceback.format_tb(error.__traceback__)) + one_line(error)
    return shortened(text, _LONGEST_TRACEBACK)
