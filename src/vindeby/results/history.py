"""The history of a run by its events: failures, retries, the rate of results, and the task of each worker."""

import contextlib
import os
import time
from dataclasses import dataclass
from typing import Any

from vindeby.store.disk.events import (
    CUT_SHORT,
    SET_ASIDE,
    EventTail,
    FailedTask,
    WorkerState,
    failed_task,
    read_now,
)
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory

_SILENT_S = 15.0
"""The silence after which a coordinator, which reports about once per second, counts as dead or cut off."""
_WINDOW_S = 120.0
_LARGEST = 1e18


@dataclass(frozen=True)
class Coordinator:
    """A ``vindeby run``, as it last reported; ``age_s`` is how long ago that was."""

    name: str
    age_s: float
    alive: bool
    ending: bool = False
    eta_s: float | None = None


class RunHistory:
    """Failures, retries and times of publication, from the event files; what was read once is not read again."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._tail = EventTail(run)
        self.failed_tasks: dict[str, FailedTask] = {}
        self.retried = 0
        self._began = 0.0
        self.coordinators: list[tuple[Coordinator, list[WorkerState]]] = []
        """The coordinators that did not end properly, each with its workers as it last reported them."""
        self.begun: dict[str, str] = {}
        """The tasks that were started and the reasons they did not finish; some of them may be done since."""
        self.published: list[tuple[float, int]] = []
        """Times, and how many results had been published by then."""

    def refresh(self, *, complete: bool = False) -> None:
        """Read new events, and what coordinators show; ``complete`` as for ``EventTail.read_new``."""
        for event in self._tail.read_new(complete=complete):
            with contextlib.suppress(KeyError, ValueError, TypeError, OverflowError):
                self._take(event)
        self.coordinators = _last_states(self._run, time.time())

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

    def known(self) -> dict[str, Any]:
        """Return the known facts of tasks without a result, as fields of ``store.states.Known``."""
        tasks = {alive: set[str | None]() for alive in (True, False)}
        for one, workers in self.coordinators:
            tasks[one.alive] |= {worker.task for worker in workers}
        ended = dict.fromkeys(filter(None, tasks[False]), "was running when its run ended")
        return {"failed": self.failed_tasks, "begun": self.begun | ended, "running": tasks[True]}

    def rate(self, now: float) -> float | None:
        """Return the results per second over the last minutes of work; None if nothing was published yet."""
        begin = max(now - _WINDOW_S, self._began)
        if not self.published or self.published[-1][0] <= begin:
            return None
        before = max((count for moment, count in self.published if moment <= begin), default=0)
        return (self.published[-1][1] - before) / (max(now, self.published[-1][0]) - begin)


def _last_states(run: RunDirectory, now: float) -> list[tuple[Coordinator, list[WorkerState]]]:
    """Return each coordinator that did not end properly, with its workers as it last reported them."""
    found = []
    for name, state in read_now(run).items():
        age_s = max(0.0, now - _number(state.get("time")))
        alive = age_s < _SILENT_S and not _dead_here(name)
        one = Coordinator(name, age_s, alive, bool(state.get("ending")), _number(state.get("eta_s")) or None)
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
    """Return whether a process named HOST-PID-TOKEN ran on this machine and has ended."""
    try:
        host, pid, _ = name.rsplit("-", 2)
        if host == Identity.current().host:
            os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
