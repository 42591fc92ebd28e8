"""The execution of tasks: shared preparation, solving, checking, classifying failures, publishing.

It knows nothing of processes, sockets or slots, so a worker process, a worker of a cluster or a plain loop can use it::

    executor = TaskExecutor(Setup(campaign, "layouts.h5"), report=print)
    for number, task in enumerate(campaign.tasks()):
        executor.execute(number, task)
    executor.close()

Tasks are executed from one thread; ``report`` is called from this one and from the publisher's.
"""

import contextlib
import errno
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vindeby.assembly.physics import ENGINE_AEP, FREE_AEP, CampaignCheck, check_returned
from vindeby.assembly.starts import Starts
from vindeby.campaign import Campaign, Task
from vindeby.campaign.starts import has_starts
from vindeby.campaign.tasks import Cell
from vindeby.errors import TaskError, VindebyError
from vindeby.runner.methods.call import method_for
from vindeby.runner.methods.method_protocol import InvalidResultError, Solve, TaskResult, checked_record
from vindeby.runner.protocol import Failed, Failure, Kind
from vindeby.runner.publisher import Publisher, Report
from vindeby.store.disk.files import bounded
from vindeby.store.disk.lock import LeasedFiles
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.validate import Check

if TYPE_CHECKING:
    from vindeby.wake.gathering import Gathering

_LONGEST_TRACEBACK = 16_000


class MethodUnusableError(TaskError):
    """The error for a method that cannot be used at all, e.g. because its module cannot be imported."""


@dataclass(frozen=True)
class Setup:
    """The work to do and its place, as plain values that can be sent to any executor."""

    campaign: Campaign
    output: str
    search_path: tuple[str, ...] = ()
    name: str = ""
    """The prefix of the worker logs."""
    memory_limit: int | None = None
    """Bytes for each worker."""
    lock: str = ""
    """The lock under which the run works, which another process may take over; empty where there is none."""
    token: str = ""
    memory_limit_alone: int | None = None
    """Bytes for a worker while no other computes."""
    device: Literal["cpu", "cuda"] = "cpu"
    together: int = 1
    """The most tasks of a farm and type that are computed at the same time on ``device``."""


@dataclass(frozen=True)
class Attempt:
    """The outcome of one attempt at a task."""

    outcome: Record | Failure
    seconds: float
    """The time of the solver alone, or until the failure."""
    final: bool = False
    """Whether the task failed by itself, and not because of earlier tasks in the process."""


COMPUTING = "computing"
"""The stage of a task when what it shares with others is set up: from now on its time counts."""


class TaskExecutor:
    """The executor of a campaign's tasks in one worker; MethodUnusableError if it can execute none.

    ``progress`` is called, very often, with what a task is at and how far (``layout.problem.Report``).
    """

    def __init__(
        self,
        setup: Setup,
        report: Report,
        worker: int = 0,
        progress: Callable[..., None] = lambda *_: None,
    ) -> None:
        self._campaign = campaign = setup.campaign
        self._report, self._worker, self._progress, self._pid = report, worker, progress, os.getpid()
        self._device, self.together = setup.device, setup.together
        if setup.device == "cuda":  # on this machine, which may be another one of a cluster
            from vindeby.wake.gpu.devices import found_device

            self.together = setup.together if found_device().usable else 1
        self._gathering = _gathering_for(setup.device) if self.together > 1 else None
        try:
            self._method = method_for(campaign, progress, self._gathering)
        except Exception as error:
            known = isinstance(error, VindebyError)
            raise MethodUnusableError(str(error) if known else trace(error)) from error
        self._check: Check = _check_of(campaign)
        self._cells = {cell.place: cell for cell in campaign.cells()}
        check = self._check if has_starts(campaign) else None
        self._starts = Starts(campaign, check) if isinstance(check, CampaignCheck) else None
        self._prepared: tuple[Cell | None, Solve | BaseException | None] = (None, None)
        self.lost = ""
        """Why this process should not compute on its device any more; empty as long as it can."""
        files = LeasedFiles(Path(setup.lock), setup.token) if setup.lock else None
        shards = ShardWriter(RunDirectory(Path(setup.output)), files=files)
        self.publisher = Publisher(shards, report, worker, flush_s=campaign.run.flush_s)

    def execute(self, number: int, task: Task) -> Failure | None:
        """Execute a task: pass its result to the publisher, or report its failure and return that."""
        attempt = self.attempt(task)
        if isinstance(attempt.outcome, Record):
            self.publisher.add(number, attempt.outcome, attempt.seconds)
            return None
        self._report(Failed(self._worker, number, attempt.outcome, attempt.final))
        return attempt.outcome

    def attempt(self, task: Task) -> Attempt:
        """Solve and check a task without reporting it; any exception becomes a failure."""
        began = time.perf_counter()
        try:
            solve = self._prepare(self._cells[task.place])
            self._progress(COMPUTING)
            started = time.perf_counter()
            result = solve(task)
            seconds = time.perf_counter() - started
        except BaseException as error:  # noqa: BLE001 - a task may raise anything, SystemExit too
            self._end_forked_child(error)
            return _failed(error, time.perf_counter() - began)
        self._end_forked_child()
        return self._checked(task, result, seconds)

    def attempts(self, tasks: Sequence[Task]) -> Iterable[tuple[int, Attempt]]:
        """Attempt tasks of one farm and type at the same time; yield the index of each as it ends."""
        gathering = self._gathering
        if gathering is not None:
            with contextlib.suppress(Exception):  # each of the tasks raises it again
                solves = [self._prepare(self._cells[task.place]) for task in tasks]
                return self._attempts_together(gathering, tasks, solves)
        return enumerate(map(self.attempt, tasks))

    def _attempts_together(
        self, gathering: "Gathering", tasks: Sequence[Task], solves: Sequence[Solve]
    ) -> Iterator[tuple[int, Attempt]]:
        self._progress(COMPUTING)
        began = time.perf_counter()
        for place, found in gathering.run(list(map(partial, solves, tasks))):
            self.lost = gathering.lost
            seconds = (time.perf_counter() - began) / len(tasks)
            if isinstance(found, TaskResult):
                device = "+".join(sorted(gathering.used)) or self._device  # that of what it took from others
                found = replace(found, attributes={**found.attributes, "device": device})
                yield place, self._checked(tasks[place], found, seconds)
            else:
                yield place, _failed(found, seconds)

    def _end_forked_child(self, error: BaseException | None = None) -> None:
        """End a child process that a function forked and that returned from it."""
        if os.getpid() != self._pid:
            os._exit(
                error.code & 0xFF if isinstance(error, SystemExit) and isinstance(error.code, int) else 1
            )

    def close(self) -> bool:
        """Publish the rest; return whether everything is durable."""
        return self.publisher.close()

    def _checked(self, task: Task, result: TaskResult, seconds: float) -> Attempt:
        """Return the attempt with the record of a result, or with a failure if the result is not possible."""
        try:
            cell = self._cells[task.place]
            record = checked_record(self._campaign.of(cell), cell, task, result, seconds, self._check)
            check = self._check.of(task.key) if isinstance(self._check, CampaignCheck) else None
            if check is not None:
                engine_gwh = check.energy_gwh(record) if check.compares else None
                energies = {ENGINE_AEP: engine_gwh, FREE_AEP: check.free_gwh(record)}
                known = {name: value for name, value in energies.items() if value is not None}
                if self._starts is not None:
                    known |= self._starts.attributes(record)
                record = replace(record, attributes={**record.attributes, **known})
        except BaseException as error:  # noqa: BLE001 - a returned object may raise anything
            return _failed(error, seconds)
        return Attempt(record, seconds)

    def _prepare(self, cell: Cell) -> Solve:
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


def _failed(error: BaseException, seconds: float) -> Attempt:
    return Attempt(failure_of(error), seconds, isinstance(error, VindebyError))


def _gathering_for(device: Literal["cpu", "cuda"]) -> "Gathering":
    from vindeby.wake.gathering import Gathering  # and Numba, which a campaign of calls need not load

    return Gathering(device)


def _check_of(campaign: Campaign) -> Check:
    names = campaign.returned_arrays
    return CampaignCheck(campaign) if names is None else partial(check_returned, names)


def failure_of(error: BaseException) -> Failure:
    """Return the failure that an exception stands for."""
    if isinstance(error, InvalidResultError):
        return Failure(Kind.INVALID, bounded(str(error)))
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return Failure(Kind.MEMORY, f"memory could not be had: {one_line(error)}", trace(error))
    return Failure(Kind.EXCEPTION, one_line(error), trace(error))


def one_line(error: BaseException) -> str:
    """Return an exception as one text of limited size, even if its own text cannot be made."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a user's __str__
        text = "(its text cannot be made)"
    if not isinstance(error, VindebyError):
        name = type(error).__name__
        text = f"{name}: {text}" if text else name
    return bounded(text)


def trace(error: BaseException) -> str:
    """Return the traceback of an exception, of limited size."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - a user's __str__ or __repr__
        text = "".join(traceback.format_tb(error.__traceback__)) + one_line(error)
    return bounded(text, _LONGEST_TRACEBACK)
