"""What a coordinator and a worker say to each other: messages through a socket, and heartbeats in shared memory.

Results never travel here: a worker publishes them itself and reports which tasks are durable. The coordinator
never waits for a worker: it reads what has arrived, and what a worker does not take yet is kept, so that a
worker that hangs, or a half-written message of one that died, holds up nobody.

Every worker has a slot, a row of numbers in a shared file without a name, in memory that outlives it. A worker notes
there each task that it begins and ends; when it dies, the coordinator reads which task it was on. A number is written
and read in one piece. ``struct`` would fill it with zeros first, and a worker that lost its processor just then would
look as if it had given no sign of life since the machine was started.
"""

from __future__ import annotations

import mmap
import os
import pickle
import select
import socket
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Any, TypeAlias

from vindeby.campaign import Campaign
from vindeby.runner.local.spawner import FrameBuffer, framed
from vindeby.runner.pool import Work
from vindeby.runner.protocol import (
    DiskTrouble,
    Failed,
    MethodUnusable,
    TasksDurable,
    WantsWork,
    WorkerRetiring,
)
from vindeby.runner.task_executor import ExecutorOptions

_READ_SIZE = 1 << 18


@dataclass(frozen=True)
class Setup:
    """The first message to a worker: what the campaign is and how to work."""

    campaign: Campaign
    output: str
    options: ExecutorOptions
    search_path: tuple[str, ...]
    heartbeat_s: float
    memory_limit: int | None


@dataclass(frozen=True)
class End:
    """Publish and exit; after the running task, or now."""

    now: bool = False


@dataclass(frozen=True)
class Ready:
    """The worker is set up; its shards' directories begin with ``writer``."""

    writer: str


Message: TypeAlias = (
    Setup
    | Work
    | End
    | Ready
    | WantsWork
    | TasksDurable
    | Failed
    | WorkerRetiring
    | DiskTrouble
    | MethodUnusable
)
"""A worker knows its slot, so it says most things in the words of the pool's events."""


class Channel:
    """Whole messages over a stream socket."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._frames = FrameBuffer()
        self._unsent = bytearray()
        self._lock = threading.Lock()

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    def receive(self) -> list[Any]:
        """Every whole message that has arrived, without waiting; EOFError when the other side is gone."""
        messages: list[Any] = []
        try:
            while data := self._socket.recv(_READ_SIZE, socket.MSG_DONTWAIT):
                self._frames.feed(data)
                if len(data) < _READ_SIZE:
                    break
            if not data and not (messages := self._parse()):
                raise EOFError
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            if not (messages := self._parse()):
                raise EOFError from None
        return messages or self._parse()

    def _parse(self) -> list[Any]:
        return [pickle.loads(payload) for payload in self._frames.take()]  # noqa: S301 - our own child

    def post(self, message: Message) -> None:
        """Send without waiting; what does not fit is kept for ``flush``."""
        self._unsent += _framed(message)
        self.flush()

    def flush(self) -> bool:
        """Send what is kept; whether all of it went."""
        try:
            while self._unsent:
                sent = self._socket.send(self._unsent, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                del self._unsent[:sent]
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            self._unsent.clear()  # the other side is gone, which is noticed elsewhere
        return True

    def send(self, message: Message) -> None:
        """Send, waiting as long as it takes; from any thread."""
        with self._lock:
            self._unsent += _framed(message)
            while not self.flush():
                select.select([], [self._socket], [], 1.0)

    def close(self) -> None:
        """Close this side."""
        self._socket.close()


def _framed(message: Message) -> bytes:
    return framed(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


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

    def stop_clock(self) -> None:
        """The task is over, although the slot still names it."""
        self._put(_STARTED, 0)

    def end(self) -> None:
        """The worker is on no task."""
        self._put(_TASK, NO_TASK)
        self._put(_COUNT, self._numbers[self._start + _COUNT] + 1)

    def beat(self) -> None:
        """The worker is alive."""
        self._put(_BEAT, time.monotonic_ns())
