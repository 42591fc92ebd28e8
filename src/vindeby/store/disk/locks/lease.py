"""For how long a lock is believed to be held by an owner of whom nothing else is known than its heartbeats.

No clock of another machine is trusted. Whoever wants the lock watches, by its own clock that cannot be moved, whether
the owner's count changes. Only how long ago the last heartbeat was before the watch began comes from the file system:
the difference of two times that the file server set. If that clock was moved, the watch that follows still has to see
several heartbeats missing.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from vindeby.store.disk.locks.lock_state import LockState


@dataclass(frozen=True)
class Lease:
    """How often a lock is renewed, and for how long it must not have been before it may be taken over."""

    beat_s: float = 5.0
    stale_s: float = 120.0
    watch_s: float = 20.0
    """The shortest time to watch, even when the last heartbeat was long ago."""


LEASE = Lease()


class Sign(Enum):
    """What watching a lock has shown."""

    ALIVE = "it was renewed while we watched"
    UNKNOWN = "not renewed so far"
    STALE = "not renewed for too long"


class Watch:
    """Watches one lock of which only the heartbeats can be seen."""

    def __init__(self, path: Path, lease: Lease) -> None:
        self._path, self._lease = path, lease
        self._seen: LockState | None = None
        self._since = 0.0
        self._before = 0.0
        self._changed = False

    def look(self, state: LockState) -> Sign:
        """Note the present state; what is known by now."""
        now = time.monotonic()
        if state != self._seen:
            self._changed = self._seen is not None
            self._before = 0.0 if self._changed else heartbeat_age(self._path) or 0.0
            self._seen, self._since = state, now
        watched = now - self._since
        if watched >= self._lease.watch_s and self._before + watched >= self._lease.stale_s:
            return Sign.STALE
        return Sign.ALIVE if self._changed else Sign.UNKNOWN


def heartbeat_age(path: Path) -> float | None:
    """Seconds since a lock's state last changed, by the clock of the file system; None when it cannot be told."""
    try:
        with tempfile.TemporaryFile(dir=path.parent) as probe:
            probe.write(b"now")
            probe.flush()
            os.fsync(probe.fileno())  # on a network, so that the server sets the time
            return max(0.0, os.fstat(probe.fileno()).st_mtime - path.stat().st_mtime)
    except OSError:
        return None
