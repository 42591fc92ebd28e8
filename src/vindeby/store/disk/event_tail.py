"""Following the events of a run while they are written (``events`` says how), for whoever looks again and again.

The last line of a file may be torn, now or for ever after a crash; it is taken up when it is whole. A line that is too
long to be an event is skipped, and what follows it is read; what no run can have written is noted in ``odd``. Nothing
here raises for a file that is missing, damaged or not ours: a look at a run must not depend on its health.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from vindeby.store.disk.events import OVERLONG, Event, Odd, noting, parse_event, whole_lines
from vindeby.store.disk.regular_files import open_bounded, read_bounded
from vindeby.store.disk.run_directory import RunDirectory


class EventTail:
    """Follows all event files of a run; what was read once is not read again."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._places: dict[Path, tuple[int, int, bool]] = {}
        self.odd: Odd = {}

    def read_new(self) -> list[Event]:
        """The events that were written since the last call, in the order of their times."""
        found: list[Event] = []
        with contextlib.suppress(OSError):
            for path in sorted(self._run.events.glob("*.jsonl")):
                found += self._new_lines(path)
        return sorted(found, key=lambda event: event["time"])

    def _new_lines(self, path: Path) -> Iterator[Event]:
        with contextlib.suppress(OSError), noting(path, self.odd), open_bounded(path) as file:
            inode, start, inside = self._places.get(path, (0, 0, False))
            status = os.fstat(file.fileno())
            if inode != status.st_ino or start > status.st_size:
                start, inside = 0, False
            file.seek(start)
            for line, size in whole_lines(file, inside=inside):
                start, inside = start + size, line is OVERLONG
                event = parse_event(line, path, self.odd)
                if event is not None:
                    yield event
            self._places[path] = (status.st_ino, start, inside)


def read_now(run: RunDirectory, odd: Odd | None = None) -> dict[str, Event]:
    """What each coordinator says of this moment, by its name; those that ended properly have nothing to say."""
    odd = {} if odd is None else odd
    found: dict[str, Event] = {}
    with contextlib.suppress(OSError):
        for path in sorted(run.events.glob("*.now.json")):
            with contextlib.suppress(OSError, ValueError), noting(path, odd):
                entry = json.loads(read_bounded(path))
                if isinstance(entry, dict):
                    found[path.name.removesuffix(".now.json")] = entry
    return found
