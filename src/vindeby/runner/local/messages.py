"""What a coordinator and a worker say to each other: messages through a socket, and heartbeats in shared memory.

Results never travel here: a worker publishes them itself and reports which tasks are durable. The coordinator
never waits for a worker: it reads what has arrived, and what a worker does not take yet is kept, so that a
worker that hangs, or a half-written message of one that died, holds up nobody.

Every worker has a slot, a row of numbers in a shared file without a name, in memory that outlives it. A worker notes
there each task that it begins and ends; when it dies, the coordinator reads which task it was on. A number is written
and read in one piece, as NumPy does it (``struct`` would fill it with zeros first).
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

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign import Campaign
from vindeby.runner.protocol import (
    DiskTrouble,
    Failed,
    MethodUnusable,
    TasksDurable,
    WantsWork,
    Work,
    WorkerReady,
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


Message: TypeAlias = (
    Setup | Work | End | WorkerReady | WantsWork | TasksDurable | Failed | WorkerRetiring | DiskTrouble | MethodUnusable
)  # fmt: skip
"""A worker knows its slot, so it says everything in the words of the pool's events."""
_HEADER = 4
"""Bytes of the length that precedes each message."""


class Channel:
    """Whole messages over a stream socket."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._received, self._unsent = bytearray(), bytearray()
        self._lock = threading.Lock()

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    def receive(self) -> list[Any]:
        """Every whole message that has arrived, without waiting; EOFError when the other side is gone."""
        messages: list[Any] = []
        try:
            while data := self._socket.recv(_READ_SIZE, socket.MSG_DONTWAIT):
                self._received += data
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
        """Every message that has arrived in whole; one that was cut short stays."""
        messages = []
        while len(self._received) >= _HEADER:
            stop = _HEADER + int.from_bytes(self._received[:_HEADER], "little")
            if len(self._received) < stop:
                break
            messages.append(pickle.loads(self._received[_HEADER:stop]))  # noqa: S301 - our own child
            del self._received[:stop]
        return messages

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
    payload = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(payload).to_bytes(_HEADER, "little") + payload


_ROW = np.dtype([("task", "i8"), ("started", "i8"), ("beat", "i8"), ("log", "i8"), ("note", "S192")])
_NO_TASK = -1


@dataclass(frozen=True)
class WorkerStatus:
    """What a slot shows: times are of the monotonic clock, which all processes of a machine share.

    ``started_s`` is 0 while the worker is still setting up for the task.
    """

    task: int | None
    started_s: float
    beat_s: float
    log_offset: int
    note: bytes
    """What the task says of itself."""


class Heartbeats:
    """The shared file; the descriptor may be handed to other processes."""

    def __init__(self, descriptor: int, slots: int) -> None:
        self.descriptor = descriptor
        memory = mmap.mmap(descriptor, max(1, slots) * _ROW.itemsize)
        self._rows: NDArray[np.void] = np.frombuffer(memory, _ROW)

    @classmethod
    def create(cls, slots: int) -> Heartbeats:
        """New ones, in memory where the system has files in memory, so that a full disk does not matter."""
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("vindeby-heartbeats")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, max(1, slots) * _ROW.itemsize)
        return cls(descriptor, slots)

    def slot(self, number: int) -> Slot:
        """A slot to write to."""
        return Slot(self._rows[number])

    def look(self, number: int) -> WorkerStatus:
        """What a slot shows now."""
        task, started, beat, log, note = self._rows[number].item()
        return WorkerStatus(None if task == _NO_TASK else task, started / 1e9, beat / 1e9, log, note)

    def close(self) -> None:
        """Close the file; the memory goes with the last slot that is in use."""
        os.close(self.descriptor)


class Slot:
    """The row of one worker."""

    def __init__(self, row: np.void) -> None:
        self._row = row

    def clear(self) -> None:
        """Nobody sits here yet."""
        self.end()
        self.beat()

    def begin(self, task: int, log_offset: int) -> None:
        """The worker turns to a task; the task's number is written last, when the rest is true of it."""
        self._row["started"] = 0
        self._row["note"] = b""
        self._row["beat"] = time.monotonic_ns()
        self._row["log"] = log_offset
        self._row["task"] = task

    def start_clock(self) -> None:
        """What the task shares with others is set up: from now on its time counts."""
        self._row["started"] = time.monotonic_ns()

    def note(self, text: bytes) -> None:
        """What the task says of itself; a text that is too long is left out."""
        self._row["note"] = text if len(text) <= _ROW["note"].itemsize else b""

    def stop_clock(self) -> None:
        """The task is over, although the slot still names it."""
        self._row["started"] = 0

    def end(self) -> None:
        """The worker is on no task."""
        self._row["task"] = _NO_TASK

    def beat(self) -> None:
        """The worker is alive."""
        self._row["beat"] = time.monotonic_ns()
