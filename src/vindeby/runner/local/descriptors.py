"""File descriptors of a worker: how many are left, and a few kept back for publishing what is finished.

A user's function may open files and never close them. Descriptors are given out from the lowest free number, so one
probe tells how close a process is to its limit; the limit is looked up each time, as a function may change it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource

_RETIRE_AT = 0.7
"""A worker that uses so much of its descriptors between two tasks makes room for a fresh one."""
_MOST_KEPT = 8


class Descriptors:
    """What a worker knows about its own descriptors."""

    def __init__(self) -> None:
        kept = max(2, min(_MOST_KEPT, _limit() // 32))
        self._kept = [os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) for _ in range(kept)]
        self._at_start = self._lowest_free()

    def scarce(self) -> str:
        """Why a fresh process is needed; empty while there are enough."""
        limit, used = _limit(), self._lowest_free()
        if used < limit and (used < _RETIRE_AT * limit or self._at_start > _RETIRE_AT / 2 * limit):
            return ""
        return f"{min(used, limit)} of {limit} file descriptors are in use"

    def release(self) -> None:
        """Give up what was kept back, when no task will run here any more."""
        for descriptor in self._kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._kept = []

    def _lowest_free(self) -> int:
        try:
            probe = os.dup(self._kept[0])
        except OSError as error:
            return _limit() if error.errno == errno.EMFILE else 0
        os.close(probe)
        return probe


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (1 << 30) if soft == resource.RLIM_INFINITY else soft
