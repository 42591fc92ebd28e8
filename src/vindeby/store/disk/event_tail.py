"""Following the events of a run while they are written (``events`` says how), for whoever looks again and again.

The last line of a file may be torn, now or for ever after a crash; it is taken up when it is whole. A line that is too
long to be an event is skipped, and what follows it is read. Nothing here raises for a file that is missing, damaged or
not ours: a look at a run must not depend on its health.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from vindeby.store.disk.events import OVERLONG, whole_lines
from vindeby.store.disk.run_directory import RunDirectory

Event: TypeAlias = dict[str, Any]


class EventTail:
    """Follows all event files of a run; what was read once is not read again."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._places: dict[Path, tuple[int, int, bool]] = {}

    def read_new(self) -> list[Event]:
        """The events that were written since the last call, in the order of their times."""
        found: list[Event] = []
        with contextlib.suppress(OSError):
            for path in sorted(self._run.events.glob("*.jsonl")):
                found += self._new_lines(path)
        return sorted(found, key=lambda event: event["time"])

    def _new_lines(self, path: Path) -> Iterator[Event]:
        try:
            with path.open("rb") as file:
                inode, start, inside = self._places.get(path, (0, 0, False))
                status = os.fstat(file.fileno())
                if inode != status.st_ino or start > status.st_size:
                    start, inside = 0, False
                file.seek(start)
                for line, size in whole_lines(file, inside=inside):
                    start, inside = start + size, line is OVERLONG
                    event = parse_event(line)
                    if event is not None:
                        yield event
                self._places[path] = (status.st_ino, start, inside)
        except OSError:
            return


def parse_event(line: bytes) -> Event | None:
    """One line; None when it is torn or no event."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
        return None
    if not isinstance(entry.get("time"), int | float):
        return None
    return entry


def read_now(run: RunDirectory) -> dict[str, Event]:
    """What each coordinator says of this moment, by its name; those that ended properly have nothing to say."""
    found: dict[str, Event] = {}
    with contextlib.suppress(OSError):
        for path in sorted(run.events.glob("*.now.json")):
            with contextlib.suppress(OSError, ValueError):
                entry = json.loads(path.read_bytes())
                if isinstance(entry, dict):
                    found[path.name.removesuffix(".now.json")] = entry
    return found
