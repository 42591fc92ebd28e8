"""Looking at a campaign again and again, at little cost: files that have not changed are not read again.

Results come from the database and its shards; failures, workers and the rate from the events of the run.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign import Campaign
from vindeby.errors import CampaignError, InputError
from vindeby.results.columns import ResultColumns
from vindeby.results.snapshot import BadFile, Coordinator, Disk, Expected, Snapshot, TaskState, guessed
from vindeby.results.sources import GivenCampaign, campaign_of, open_source
from vindeby.store.disk.events import (
    CUT_SHORT,
    SET_ASIDE,
    EventTail,
    FailedTask,
    Odd,
    WorkerState,
    failed_task,
    read_now,
)
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import ReplacedError

_SILENT_S = 15.0
"""A coordinator reports about once per second; one that has been silent for this long is dead or cut off."""
_WINDOW_S = 120.0
_LARGEST = 1e18


class RunHistory:
    """Failures, retries and times of publication, from the event files; what was read once is not read again."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._tail = EventTail(run)
        self.odd = self._tail.odd
        """Files of events that were left out, and why."""
        self.failed_tasks: dict[str, FailedTask] = {}
        self.retried = 0
        self._began = 0.0
        self.begun: dict[str, str] = {}
        """Tasks that were started and why they did not finish; some of them may be done since."""
        self.published: list[tuple[float, int]] = []
        """Times, and how many results had been published by then."""

    def refresh(self, *, complete: bool = False) -> None:
        """Read new events; ``complete`` as for ``EventTail.read_new``."""
        for event in self._tail.read_new(complete=complete):
            with contextlib.suppress(KeyError, ValueError, TypeError, OverflowError):
                self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        name = event["event"]
        if name == SET_ASIDE:
            self.failed_tasks[str(event["task"])] = failed_task(event)
        elif name == "failed":
            self.retried += 1
            self.begun[str(event["task"])] = f"to be tried again after: {event['kind']}: {event['reason']}"
        elif name == CUT_SHORT:
            self.begun[str(event["task"])] = "was running when its worker ended"
        elif name == "run started":
            self._began = float(event["time"])
        elif name == "published":
            self._began = self._began or float(event["time"])
            before = self.published[-1][1] if self.published else 0
            self.published.append((float(event["time"]), before + int(event["tasks"])))

    def rate(self, now: float) -> float | None:
        """Results per second over the last minutes of work; None when nothing was published yet."""
        begin = max(now - _WINDOW_S, self._began)
        if not self.published or self.published[-1][0] <= begin:
            return None
        before = max((count for moment, count in self.published if moment <= begin), default=0)
        return (self.published[-1][1] - before) / (max(now, self.published[-1][0]) - begin)


def history_of(run: RunDirectory) -> RunHistory:
    """All events until now; what workers were on when they last reported is among what was begun."""
    history = RunHistory(run)
    history.refresh(complete=True)
    for one, workers in sorted(_last_states(run, time.time(), history.odd), key=lambda entry: entry[0].alive):
        what = "is running now" if one.alive else "was running when its run ended"
        history.begun |= {worker.task: what for worker in workers if worker.task}
    return history


def _last_states(run: RunDirectory, now: float, odd: Odd) -> list[tuple[Coordinator, list[WorkerState]]]:
    """Each coordinator that did not end properly, with its workers as it last showed them."""
    found = []
    for name, state in read_now(run, odd).items():
        age_s = max(0.0, now - _number(state.get("time")))
        alive = age_s < _SILENT_S and not _dead_here(name)
        ending, trouble = bool(state.get("ending")), str(state.get("trouble") or "")
        eta_s = _number(state.get("eta_s")) or None
        one = Coordinator(name, age_s, alive, ending, trouble, eta_s)
        listed = state.get("workers")
        workers = listed if isinstance(listed, list) else []
        found.append((one, [_worker(name, worker, age_s) for worker in workers if isinstance(worker, dict)]))
    return found


def _worker(coordinator: str, data: dict[str, Any], age_s: float) -> WorkerState:
    task, progress = data.get("task"), data.get("progress")
    return WorkerState(
        coordinator,
        int(_number(data.get("slot"))),
        int(_number(data.get("pid"))),
        task if isinstance(task, str) else None,
        _number(data.get("seconds")) + age_s,
        _number(data.get("silent_s")) + age_s,
        int(_number(data.get("memory"))),
        str(data.get("node") or ""),
        str(data.get("job") or ""),
        progress if isinstance(progress, dict) else {},
        str(data.get("doing") or ""),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < _LARGEST else 0.0


def _dead_here(name: str) -> bool:
    """Whether this is a process of this machine that has ended; its name is HOST-PID-TOKEN."""
    try:
        host, pid, _ = name.rsplit("-", 2)
        if host == Identity.current().host:
            os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


_ATTEMPTS = 5
_PAUSE_S = 0.1
_SIZES_EVERY_S = 10.0


class Observer:
    """Watches one database or folder; ``look`` gives what is there now."""

    def __init__(
        self,
        path: Path | str,
        *,
        campaign: GivenCampaign = None,
        seed: int | None = None,
        results: ResultColumns | None = None,
    ) -> None:
        """``results`` are those that were already read."""
        self._results = results
        self._given = campaign
        self._seed = seed
        self._open(Path(path))

    def _open(self, path: Path) -> None:
        """Open the path again; retries while another file is being put in its place."""
        for attempt in range(_ATTEMPTS):
            try:
                self._open_once(path)
                return
            except (ReplacedError, FileNotFoundError):
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_PAUSE_S)

    def _open_once(self, path: Path) -> None:
        shared, self._results = self._results, None
        self.results = ResultColumns(open_source(path)) if shared is None else shared
        self.source = self.results.source
        self.path, self.run = self.source.path, self.source.run
        self.history = RunHistory(self.run)
        self.campaign: Campaign | None = None
        """That of the last look; the same object until it changes."""
        self._stamp_of_expected: tuple[object, ...] | None = None
        self._expected = Expected((), (), (), None, known=False)
        self._files: set[str] = set()
        self._counted: tuple[object, tuple[NDArray[np.int8], int]] | None = None
        self._disk: tuple[float, Disk] | None = None

    def look(self) -> Snapshot:
        """What is there now; InputError when nothing is there any more."""
        self._refresh()
        self.history.refresh()
        expected = self.expectation()
        self.results.leave_out_invalid(self.campaign)
        return self._snapshot(expected, time.time())

    def _refresh(self) -> None:
        if not self.path.exists() and not self.run.path.exists():
            self._files = {str(self.run.path)}  # so that everything is read again when it comes back
            raise InputError(f"{self.path}: it is gone, and so is its run directory {self.run.path}")
        files = {*self.run.shard_names(), *([str(self.path)] if self.path.exists() else [])}
        # A shard that is gone was merged or deleted: everything has to be read again.
        if not self._files <= files:
            self._open(self.path)
        self._files = files
        try:
            self.source.refresh()
            self.results.take_new()
        except (ReplacedError, FileNotFoundError):
            self._open(self.path)

    def expectation(self) -> Expected:
        """What the results are counted against; made again only when the campaign changes."""
        stamp = self._stamp()
        if stamp != self._stamp_of_expected:
            self._stamp_of_expected = stamp
            try:
                self.campaign = campaign_of(self.run, self._given, self.source.campaign_text)
            except CampaignError:
                if self._given is not None:
                    raise
                self.campaign = None
            self._expected = Expected.of(self.campaign) if self.campaign else guessed(self.results)
            self._stamp_of_expected = self._stamp()
        return self._expected

    def _stamp(self) -> tuple[object, ...]:
        try:
            frozen = self.run.campaign_file.stat().st_mtime_ns
        except OSError:
            frozen = 0
        kept = None if frozen else self.source.campaign_text
        return frozen, kept, None if self.campaign else self.results.version

    def _snapshot(self, expected: Expected, now: float) -> Snapshot:
        found = _last_states(self.run, now, self.history.odd)
        coordinators = tuple(one for one, _ in found)
        workers = tuple(worker for one, mine in found for worker in mine if one.alive)
        if self._seed is not None:
            expected = expected.only_seed(self._seed)
        wrong: dict[Path, Sequence[object]] = {**self.source.findings, **self.history.odd}
        damaged = (finding.key for findings in self.source.findings.values() for finding in findings)
        stamp = (self.results.version, self._stamp_of_expected)
        if self._counted is None or self._counted[0] != stamp:
            self._counted = stamp, expected.states(self.results)
        by_result, outside = self._counted[1]
        notes = {
            TaskState.RUNNING: [worker.task for worker in workers if worker.task],
            TaskState.FAILED: self.history.failed_tasks,
            TaskState.INVALID: damaged,
        }
        states = expected.noted(by_result, notes)
        count = {state: int((states == state).sum()) for state in TaskState}
        total, done = expected.total, count[TaskState.DONE]
        if self._seed is None and not expected.farms:
            done, outside = len(self.results), 0  # keys of another kind than ours: they can only be counted
        rate = self.history.rate(now)
        left = None if total is None else total - done - count[TaskState.FAILED]
        estimates = [one.eta_s for one in coordinators if one.alive]
        kind = "campaign" if self.run.path.exists() else "database"
        if self.path.is_dir():
            kind = "folder"
        return Snapshot(
            path=str(self.path),
            name=self.campaign.name if self.campaign else self.path.name,
            kind=kind,
            time=now,
            expected=total,
            done=done,
            failed=count[TaskState.FAILED],
            running=sum(
                worker.task is not None and expected.place(worker.task) is not None for worker in workers
            ),
            invalid=count[TaskState.INVALID],
            stale=count[TaskState.STALE],
            missing=None if total is None else max(0, total - done),
            extra=outside if self._seed is None else 0,
            rate=rate,
            eta_s=max(filter(None, estimates), default=left / rate if rate and left and estimates else None),
            axes=expected,
            states=states,
            workers=workers,
            coordinators=coordinators,
            failures=self._failures(expected, states),
            retried=self.history.retried,
            bad_files=tuple(
                BadFile(str(path), tuple(map(str, findings))) for path, findings in sorted(wrong.items())
            ),
            origins=self.results.origins(),
            disk=self._space(now),
        )

    def _failures(self, expected: Expected, states: NDArray[np.int8]) -> tuple[FailedTask, ...]:
        found = [
            failure
            for key, failure in self.history.failed_tasks.items()
            if (place := expected.place(key)) is not None and states[place] == TaskState.FAILED
        ]
        return tuple(sorted(found, key=lambda failure: failure.time, reverse=True))

    def _space(self, now: float) -> Disk | None:
        if self._disk is None or now - self._disk[0] > _SIZES_EVERY_S:
            try:
                where = self.path if self.path.exists() else self.run.path
                self._disk = now, Disk(_size(self.path), _size(self.run.path), shutil.disk_usage(where).free)
            except OSError:
                return None
        return self._disk[1]


def _size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; what cannot be looked at counts as nothing."""
    try:
        if not path.is_dir():
            return path.stat().st_size
        return sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
    except OSError:
        return 0
