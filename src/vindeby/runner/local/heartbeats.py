"""Heartbeats in shared memory: the current task of each worker on this machine, readable after its death.

Every worker has a slot, a row of numbers in a shared file without a name, in memory that outlives it. A worker notes
there each task that it begins and ends; when it dies, the coordinator reads which task it was on. A number is written
and read in one piece, as NumPy does it (``struct`` would fill it with zeros first).

The file is also what workers lock while they compute: all together, or one of them alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import tempfile
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROW = np.dtype([("task", "i8"), ("started", "i8"), ("beat", "i8"), ("log", "i8"), ("note", "S192")])
_NO_TASK = -1


@dataclass(frozen=True)
class WorkerStatus:
    """The state of a slot; times are of the monotonic clock, which all processes of a machine share.

    ``started_s`` is 0 while the worker is still setting up for the task.
    """

    task: int | None
    started_s: float
    beat_s: float
    log_offset: int
    note: bytes
    """The progress note of the task."""


class Heartbeats:
    """The shared file; its descriptor may be passed to other processes."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._rows: NDArray[np.void] = np.frombuffer(mmap.mmap(descriptor, 0), _ROW)

    @classmethod
    def create(cls, slots: int) -> Heartbeats:
        """Return new heartbeats, in memory where the system supports it, so that a full disk does not matter."""
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("vindeby-heartbeats")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, max(1, slots) * _ROW.itemsize)
        return cls(descriptor)

    def slot(self, number: int) -> Slot:
        """Return a slot to write to."""
        return Slot(self._rows[number])

    def look(self, number: int) -> WorkerStatus:
        """Return the current state of a slot."""
        task, started, beat, log, note = self._rows[number].item()
        return WorkerStatus(None if task == _NO_TASK else task, started / 1e9, beat / 1e9, log, note)

    def lock(self, *, alone: bool) -> bool:
        """Try to start computing beside other workers, or while no other does; return whether it succeeded."""
        try:
            fcntl.lockf(self.descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a task closed the file: there is nothing to wait for
            pass
        return True

    def unlock(self) -> None:
        """Release the lock after computing; the kernel does that for a worker that dies."""
        with contextlib.suppress(OSError):
            fcntl.lockf(self.descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file; its memory is freed with the last slot in use."""
        os.close(self.descriptor)


class Slot:
    """The row of one worker."""

    def __init__(self, row: np.void) -> None:
        self._row = row

    def clear(self) -> None:
        """Mark the slot as unused."""
        self.end()
        self.beat()

    def begin(self, task: int, log_offset: int) -> None:
        """Begin a task; its number is written last, after the fields that describe it."""
        self._row["started"] = 0
        self._row["note"] = b""
        self._row["beat"] = time.monotonic_ns()
        self._row["log"] = log_offset
        self._row["task"] = task

    def turn_to(self, task: int) -> None:
        """Switch to this task, one of several that began at the same time."""
        self._row["task"] = task

    def start_clock(self) -> None:
        """Start the task's clock, once its shared set-up is done."""
        self._row["started"] = time.monotonic_ns()

    def note(self, text: bytes) -> None:
        """Store the task's progress note; a note that is too long is dropped."""
        self._row["note"] = text if len(text) <= _ROW["note"].itemsize else b""

    def end(self) -> None:
        """Mark the worker as idle."""
        self._row["task"] = _NO_TASK

    def beat(self) -> None:
        """Record a heartbeat."""
        self._row["beat"] = time.monotonic_ns()
