"""Of several processes that need the same machine code at the same time, one compiles it and the others wait for it.

The workers of a run all begin with the same loops, and without this each of them would compile them. The lock
(``flock``) is on a file beside the machine code; the kernel releases it when its holder ends, in whatever way. It saves
work and protects nothing: machine code is replaced as a whole. So where there can be no lock (a folder that cannot be
written to, a file system without locks), or it is held for very long, a process compiles without it.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

LONGEST_WAIT_S = 120.0
"""The largest loop takes less than a minute on a free processor; its holder may be stopped for as long as it likes."""

_BETWEEN_LOOKS_S = 0.05


class CompilingLock:
    """The lock of one file of machine code that is to be made."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".compiling")
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock; True if another process held it before, which may have left the machine code there."""
        waited = False
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            end = time.monotonic() + LONGEST_WAIT_S
            while not self._is_ours():
                waited = True
                if time.monotonic() >= end:
                    self._close()
                    break
                time.sleep(_BETWEEN_LOOKS_S)
        except OSError:  # compiling is always right
            self._close()
        return waited

    def _is_ours(self) -> bool:
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Let others go on; without effect if there is no lock."""
        if self._descriptor is None:
            return
        # Who still waits for a file that is removed here looks for the machine code next, and so does who comes now.
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        with suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # a process forked meanwhile holds the same lock
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
