"""What a coordinator and a worker say to each other, and the socket they say it through.

Results never travel here: a worker publishes them itself and reports which tasks are durable. The coordinator
never waits for a worker: it reads what has arrived, and what a worker does not take yet is kept, so that a
worker that hangs, or a half-written message of one that died, holds up nobody.
"""

from __future__ import annotations

import pickle
import select
import socket
import struct
import threading
from dataclasses import dataclass
from typing import Any, TypeAlias

from vindeby.campaign import Campaign, Task
from vindeby.runner.failures import Failure

_LENGTH = struct.Struct("<I")
_READ_SIZE = 1 << 18


@dataclass(frozen=True)
class Setup:
    """The first message to a worker: what the campaign is and how to work."""

    campaign: Campaign
    output: str
    search_path: tuple[str, ...]
    flush_s: float
    heartbeat_s: float
    memory_limit: int | None
    wait_for_disk: bool
    lock: str
    """The lock under which the run works, which another process may take over."""
    token: str
    check_physics: bool = True
    """Whether results that are not possible are refused; not where the caller has checks of its own."""


@dataclass(frozen=True)
class Work:
    """Tasks to do, in this order.

    ``careful``: publish what is finished before starting. ``alone``: no other task runs meanwhile, and the
    memory limit is this one.
    """

    tasks: tuple[tuple[int, Task], ...]
    careful: bool = False
    alone: bool = False
    memory_limit: int | None = None


@dataclass(frozen=True)
class End:
    """Publish and exit; after the running task, or now."""

    now: bool = False


@dataclass(frozen=True)
class Ready:
    """The worker stands; its shards' directories begin with ``writer``."""

    writer: str


@dataclass(frozen=True)
class WantsWork:
    """There is little left to do here."""

    seconds_per_task: float | None


@dataclass(frozen=True)
class Durable:
    """These tasks are on disk, in this file."""

    tasks: tuple[int, ...]
    shard: str
    seconds: float


@dataclass(frozen=True)
class TaskFailed:
    """A task ended without a result."""

    task: int
    failure: Failure


@dataclass(frozen=True)
class DiskTrouble:
    """Results cannot be published; empty when that is over."""

    reason: str


@dataclass(frozen=True)
class Unusable:
    """The method cannot be used at all: no task would ever succeed."""

    reason: str


@dataclass(frozen=True)
class Retiring:
    """The process is used up or was changed by a task, and makes room for a fresh one; why."""

    reason: str = ""


Message: TypeAlias = (
    Setup | Work | End | Ready | WantsWork | Durable | TaskFailed | DiskTrouble | Unusable | Retiring
)


class Channel:
    """Whole messages over a stream socket."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._received = bytearray()
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
        messages, start = [], 0
        while len(self._received) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received, start)
            stop = start + _LENGTH.size + length
            if len(self._received) < stop:
                break
            messages.append(pickle.loads(memoryview(self._received)[start + _LENGTH.size : stop]))  # noqa: S301 - our own child
            start = stop
        if start:
            self._received = self._received[start:]
        return messages

    def post(self, message: Message) -> None:
        """Assign without waiting; what does not fit is kept for ``flush``."""
        self._unsent += _framed(message)
        self.flush()

    def flush(self) -> bool:
        """Assign what is kept; whether all of it went."""
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
        """Assign, waiting as long as it takes; from any thread."""
        with self._lock:
            self._unsent += _framed(message)
            while not self.flush():
                select.select([], [self._socket], [], 1.0)

    def close(self) -> None:
        """Close this side."""
        self._socket.close()


def _framed(message: Message) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data
