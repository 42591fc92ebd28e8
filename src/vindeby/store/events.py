"""Who started, finished, failed and died, and when: one file of JSON lines for each coordinator, in ``events/``.

A file is only ever appended to, a line at a time, so after a crash every line but perhaps the last is whole; a reader
skips what is not. What must not be forgotten (a task set aside) is forced to the disk. When the disk is full, lines
wait in memory: the log of a run is no reason to end it.

Beside it stands ``NAME.now.json``, replaced as a whole about once a second: what each worker is doing.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vindeby.store.process import Identity
from vindeby.store.rundir import RunDirectory

SET_ASIDE = "set aside"
"""The event of a task that was given up."""
_MOST_WAITING = 1 << 24


class EventLog:
    """The file of this process."""

    def __init__(self, run: RunDirectory) -> None:
        me = Identity.current()
        self.name = f"{me.host}-{me.pid}-{me.token}"
        self.path = run.events / f"{self.name}.jsonl"
        self._now = run.events / f"{self.name}.now.json"
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._waiting = b""

    def write(self, event: str, *, durable: bool = False, **details: Any) -> None:
        """Append a line; ``durable`` forces it to the disk."""
        entry = {"time": round(time.time(), 3), "event": event, **details}
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        if len(self._waiting) < _MOST_WAITING:
            self._waiting += line
        with contextlib.suppress(OSError):
            self._waiting = self._waiting[os.write(self._descriptor, self._waiting) :]
            if durable:
                os.fsync(self._descriptor)

    def show(self, state: dict[str, Any]) -> None:
        """Replace what is shown of this moment."""
        temporary = self._now.with_name(f".{self._now.name}.tmp")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps({"time": round(time.time(), 3), **state}) + "\n")
            temporary.replace(self._now)

    def close(self) -> None:
        """Nothing is happening any more."""
        with contextlib.suppress(OSError):
            self._now.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.fsync(self._descriptor)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line of a file, whatever its end looks like."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict) and isinstance(entry.get("event"), str):
                    yield entry


def event_files(run: RunDirectory) -> list[Path]:
    """The files of all coordinators, the oldest first."""
    if not run.events.is_dir():
        return []
    found = [(path.stat().st_mtime_ns, path) for path in run.events.glob("*.jsonl")]
    return [path for _, path in sorted(found)]


@dataclass(frozen=True)
class SetAside:
    """A task that was given up, as the events tell it."""

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


def read_failures(run: RunDirectory) -> dict[str, SetAside]:
    """The tasks that were set aside, by key; the last word counts."""
    found: dict[str, SetAside] = {}
    for path in event_files(run):
        for entry in read_events(path):
            if entry["event"] == SET_ASIDE:
                with contextlib.suppress(KeyError, ValueError, TypeError):
                    task = _set_aside(entry)
                    found[task.key] = task
    return found


def _set_aside(entry: dict[str, Any]) -> SetAside:
    texts = {name: str(entry[name]) for name in ("fingerprint", "kind", "reason", "traceback", "log")}
    return SetAside(
        key=str(entry["task"]), attempts=int(entry["attempts"]), time=float(entry["time"]), **texts
    )
