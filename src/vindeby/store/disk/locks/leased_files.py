"""File operations of a worker: it puts nothing in place once another process has taken over the lock it works under."""

from __future__ import annotations

import errno
from pathlib import Path

from vindeby.store.disk.files import Files
from vindeby.store.disk.locks.lock_state import is_held_by


class LeasedFiles(Files):
    """Plain system calls, but a rename only while the lock at ``lock`` is held with ``token``.

    Needed for a coordinator that was stopped and cannot notice that its lock was taken over, while its workers run on.
    """

    def __init__(self, lock: Path, token: str) -> None:
        self._lock, self._token = lock, token

    def rename(self, source: Path, target: Path) -> None:
        """Rename, unless the lock is another's."""
        if not is_held_by(self._lock, self._token):
            raise OSError(errno.ECANCELED, f"another process has taken over {self._lock}", str(target))
        super().rename(source, target)
