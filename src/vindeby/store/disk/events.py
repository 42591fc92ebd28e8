"""The event log of a run: one file of JSON lines per coordinator, in ``events/``.

A file is only ever appended to, a line at a time, so after a crash every line but perhaps the last is whole; a reader
skips what is not. Texts are cut at 64 KiB when they are written, and a line that is far longer is skipped when it is
read. What must not be forgotten (a task that failed for good) is forced to the disk. When the disk is full, lines wait
in memory: a failing log does not end the run.

Beside it stands ``NAME.now.json``, replaced as a whole about once a second: what each worker is doing.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from vindeby.store.disk.files import NotRegularError, bounded, open_bounded, read_bounded
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.text import parse_json

Event: TypeAlias = dict[str, Any]
SET_ASIDE = "set aside"
"""The event of a task that failed for good; run directories keep this name."""
CUT_SHORT = "cut short"
"""The event of a task whose worker ended while it was on it."""
LONGEST_LINE = 1 << 24
"""Bytes of a line that is read; no run writes longer ones."""
_MOST_WAITING = 1 << 24
_LAST_TIME = 1e12


class EventLog:
    """The event log file of this process."""

    def __init__(self, run: RunDirectory) -> None:
        me = Identity.current()
        self.name = f"{me.host}-{me.pid}-{me.token}"
        self.path = run.events / f"{self.name}.jsonl"
        self._now = run.events / f"{self.name}.now.json"
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._waiting = b""

    def write(self, event: str, *, durable: bool = False, **details: Any) -> None:
        """Append a line; ``durable`` forces it to the disk."""
        entry = {"time": round(time.time(), 3), "event": event, **_bounded(details)}
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        if len(self._waiting) < _MOST_WAITING:
            self._waiting += line
        with contextlib.suppress(OSError):
            self._waiting = self._waiting[os.write(self._descriptor, self._waiting) :]
            if durable:
                os.fsync(self._descriptor)

    def show(self, state: dict[str, Any]) -> None:
        """Replace the file that shows the current state of the workers."""
        temporary = self._now.with_name(f".{self._now.name}.tmp")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps({"time": round(time.time(), 3), **_bounded(state)}) + "\n")
            temporary.replace(self._now)

    def close(self) -> None:
        """Remove the current state and close the file."""
        with contextlib.suppress(OSError):
            self._now.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.fsync(self._descriptor)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def parse_event(line: bytes) -> Event | None:
    """Return the event in a line of a file; None if the line is torn or is not an event."""
    try:
        entry = parse_json(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
        return None
    time_ = entry.get("time")
    return entry if isinstance(time_, int | float) and abs(time_) < _LAST_TIME else None


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return bounded(value)
    if isinstance(value, dict):
        return {name: _bounded(part) for name, part in value.items()}
    return [_bounded(part) for part in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class WorkerState:
    """A worker process, as its coordinator last saw it and shows it in ``NAME.now.json``."""

    coordinator: str
    slot: int
    pid: int
    task: str | None
    seconds: float
    silent_s: float
    memory: int
    node: str = ""
    job: str = ""
    """The batch job that it belongs to; empty where there is none."""
    progress: dict[str, Any] = field(default_factory=dict)
    doing: str = ""
    """The progress of its task in words; ``progress`` has the numbers."""


@dataclass(frozen=True)
class FailedTask:
    """A task that failed for good, as an event records it."""

    key: str
    fingerprint: str
    kind: str
    reason: str
    traceback: str
    log: str
    attempts: int
    time: float

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def read_failures(run: RunDirectory) -> dict[str, FailedTask]:
    """Return the tasks that failed for good, by key; the last event of a task counts."""
    found: dict[str, FailedTask] = {}
    for entry in EventTail(run).read_new(SET_ASIDE, complete=True):
        with contextlib.suppress(KeyError, ValueError, TypeError, OverflowError):
            task = failed_task(entry)
            found[task.key] = task
    return found


def failed_task(entry: dict[str, Any]) -> FailedTask:
    """Return the failed task in an event; KeyError, ValueError or TypeError if the event is malformed."""
    texts = {name: str(entry.get(name, "")) for name in ("fingerprint", "traceback", "log")}
    return FailedTask(
        key=str(entry["task"]),
        kind=str(entry["kind"]),
        reason=str(entry["reason"]),
        attempts=int(entry.get("attempts", 1)),
        time=float(entry["time"]),
        **texts,
    )


class EventTail:
    """A reader that follows all event files of a run: it reads each line once and skips malformed ones."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._places: dict[Path, tuple[int, int]] = {}

    def read_new(self, only: str = "", *, complete: bool = False) -> list[Event]:
        """Return the events written since the last call, by time; with ``only``, just the events of that name.

        ``complete``: a last line without its end counts too, and a file that cannot be read raises OSError; without it,
        both are left for the next call.
        """
        found: list[Event] = []
        left_for_later = () if complete else (OSError,)
        with contextlib.suppress(*left_for_later):
            for path in sorted(self._run.events.glob("*.jsonl")):
                with contextlib.suppress(*left_for_later):
                    events = self._new_lines(path, last=complete)
                    found += (event for event in events if event["event"] == only or not only)
        return sorted(found, key=lambda event: event["time"])

    def _new_lines(self, path: Path, *, last: bool) -> Iterator[Event]:
        with contextlib.suppress(FileNotFoundError, NotRegularError), open_bounded(path) as file:
            inode, start = self._places.get(path, (0, 0))
            status = os.fstat(file.fileno())
            file.seek(start if inode == status.st_ino and start <= status.st_size else 0)
            while (line := file.readline()) and (last or line.endswith(b"\n")):
                self._places[path] = (status.st_ino, file.tell())
                event = parse_event(line) if len(line) <= LONGEST_LINE else None
                if event is not None:
                    yield event


def read_now(run: RunDirectory) -> dict[str, Event]:
    """Return the current state of each coordinator, by its name; coordinators that ended properly have none."""
    found: dict[str, Event] = {}
    with contextlib.suppress(OSError):
        for path in sorted(run.events.glob("*.now.json")):
            with contextlib.suppress(OSError, ValueError):
                entry = parse_json(read_bounded(path))
                if isinstance(entry, dict):
                    found[path.name.removesuffix(".now.json")] = entry
    return found
