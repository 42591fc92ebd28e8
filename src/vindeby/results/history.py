"""What the events of a run tell: failures, and when how much was published."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

from vindeby.results.snapshot import Coordinator, Failure, Worker
from vindeby.store.disk.events import CUT_SHORT, SET_ASIDE, EventTail, Odd, read_now
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory

_SILENT_S = 15.0
"""A coordinator speaks about once a second; one that was silent for so long is dead or cut off."""
_WINDOW_S = 120.0
_LARGEST = 1e18


class History:
    """Grows with the event files; what was read once is not read again."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._tail = EventTail(run)
        self.odd = self._tail.odd
        """Files of events that were left out, and why."""
        self.failed_tasks: dict[str, Failure] = {}
        self.retried = 0
        self._began = 0.0
        self.begun: dict[str, str] = {}
        """Tasks that were begun, and why that came to nothing; some of them may be done since."""
        self.published: list[tuple[float, int]] = []
        """Times, and how many results had been published by then."""

    def refresh(self) -> None:
        """Take up new events."""
        for event in self._tail.read_new():
            with contextlib.suppress(KeyError, ValueError, TypeError, OverflowError):
                self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        name = event["event"]
        if name == SET_ASIDE:
            self.failed_tasks[str(event["task"])] = _failure(event)
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
        """ResultColumns a second over the last minutes of work; None when nothing was published yet."""
        begin = max(now - _WINDOW_S, self._began)
        if not self.published or self.published[-1][0] <= begin:
            return None
        before = max((count for moment, count in self.published if moment <= begin), default=0)
        return (self.published[-1][1] - before) / (max(now, self.published[-1][0]) - begin)


def _failure(event: dict[str, Any]) -> Failure:
    return Failure(
        key=str(event["task"]),
        kind=str(event["kind"]),
        reason=str(event["reason"]),
        traceback=str(event.get("traceback", "")),
        log=str(event.get("log", "")),
        attempts=int(event.get("attempts", 1)),
        time=float(event["time"]),
    )


def current_workers(
    run: RunDirectory, now: float, odd: Odd
) -> tuple[tuple[Coordinator, ...], tuple[Worker, ...]]:
    """Who is at work, as the coordinators last said; nobody after they ended properly."""
    found = _last_states(run, now, odd)
    workers = tuple(worker for one, workers in found for worker in workers if one.alive)
    return tuple(one for one, _ in found), workers


def begun_tasks(run: RunDirectory) -> dict[str, str]:
    """Tasks that were begun, by key, with what became of each; those that are done since are among them."""
    history = History(run)
    history.refresh()
    for one, workers in sorted(_last_states(run, time.time(), history.odd), key=lambda entry: entry[0].alive):
        what = "is running now" if one.alive else "was running when its run ended"
        history.begun |= {worker.task: what for worker in workers if worker.task}
    return history.begun


def _last_states(run: RunDirectory, now: float, odd: Odd) -> list[tuple[Coordinator, list[Worker]]]:
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


def _worker(coordinator: str, data: dict[str, Any], age_s: float) -> Worker:
    task, progress = data.get("task"), data.get("progress")
    return Worker(
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
    """Is it a process of this machine that is gone? Its name is HOST-PID-TOKEN."""
    try:
        host, pid, _ = name.rsplit("-", 2)
        if host == Identity.current().host:
            os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
