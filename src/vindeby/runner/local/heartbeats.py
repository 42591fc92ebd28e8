"""Who is on which task at this moment, in memory that outlives the worker that wrote it.

Every worker has a slot, a row of numbers in a shared file without a name. Writing to it costs nothing worth
counting, so a worker notes each task that it begins and ends; when it dies, the coordinator reads which task it was on.
Heartbeats stand there too, so that no message is needed for them.

A number is written and read in one piece. ``struct`` would fill it with zeros first, and a worker that lost its
processor just then would look as if it had given no sign of life since the machine was started.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from dataclasses import dataclass

_TASK, _STARTED, _BEAT, _LOG, _COUNT, _NOTED = range(6)
_SLOT_SIZE = 256
_NUMBERS = _SLOT_SIZE // 8
_NOTE = 64
"""Where the note of a slot begins: what its task says of itself, of which the last number is the length."""
NO_TASK = -1


@dataclass(frozen=True)
class WorkerStatus:
    """What a slot shows: times are of the monotonic clock, which all processes of a machine share.

    ``started_s`` is 0 while the worker is still setting up for the task.
    """

    task: int | None
    started_s: float
    beat_s: float
    log_offset: int
    count: int
    note: bytes = b""


class Heartbeats:
    """The shared file; the descriptor may be handed to other processes."""

    def __init__(self, descriptor: int, slots: int) -> None:
        self.descriptor = descriptor
        self.slots = slots
        self._memory = mmap.mmap(descriptor, max(1, slots) * _SLOT_SIZE)
        self._numbers = memoryview(self._memory).cast("q")

    @classmethod
    def create(cls, slots: int) -> Heartbeats:
        """A new heartbeats, in memory where the system has files in memory, so that a full disk does not matter."""
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("vindeby-heartbeats")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, max(1, slots) * _SLOT_SIZE)
        return cls(descriptor, slots)

    def slot(self, number: int) -> Slot:
        """A slot to write to."""
        return Slot(self._numbers, self._memory, number * _NUMBERS)

    def look(self, number: int) -> WorkerStatus:
        """What a slot shows now."""
        first = number * _NUMBERS
        task, started, beat, log, count = (self._numbers[first + place] for place in range(_COUNT + 1))
        length, text = self._numbers[first + _NOTED], number * _SLOT_SIZE + _NOTE
        note = self._memory[text : text + length]
        return WorkerStatus(None if task == NO_TASK else task, started / 1e9, beat / 1e9, log, count, note)

    def close(self) -> None:
        """Let go of the memory."""
        self._numbers.release()
        self._memory.close()
        os.close(self.descriptor)


class Slot:
    """The row of one worker."""

    def __init__(self, numbers: memoryview, memory: mmap.mmap, start: int) -> None:
        self._numbers, self._memory = numbers, memory
        self._start = start

    def _put(self, place: int, value: int) -> None:
        self._numbers[self._start + place] = value

    def clear(self) -> None:
        """Nobody sits here yet."""
        for place, value in enumerate((NO_TASK, 0, time.monotonic_ns(), 0, 0, 0)):
            self._put(place, value)

    def begin(self, task: int, log_offset: int) -> None:
        """The worker turns to a task; the task's number is written last, when the rest is true of it."""
        self._put(_STARTED, 0)
        self._put(_NOTED, 0)
        self._put(_BEAT, time.monotonic_ns())
        self._put(_LOG, log_offset)
        self._put(_TASK, task)

    def start_clock(self) -> None:
        """What the task shares with others is set up: from now on its time counts."""
        self._put(_STARTED, time.monotonic_ns())

    def note(self, text: bytes) -> None:
        """What the task says of itself; a text that is too long is left out."""
        self._put(_NOTED, 0)
        if len(text) <= _SLOT_SIZE - _NOTE:
            first = 8 * self._start + _NOTE
            self._memory[first : first + len(text)] = text
            self._put(_NOTED, len(text))

    def end(self) -> None:
        """The worker is on no task."""
        self._put(_TASK, NO_TASK)
        self._put(_COUNT, self._numbers[self._start + _COUNT] + 1)

    def beat(self) -> None:
        """The worker is alive."""
        self._put(_BEAT, time.monotonic_ns())
