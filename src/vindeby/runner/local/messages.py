"""What a coordinator and a worker say to each other, and the socket they say it through.

Results never travel here: a worker publishes them itself and reports which tasks are durable. The coordinator
never waits for a worker: it reads what has arrived, and what a worker does not take yet is kept, so that a
worker that hangs, or a half-written message of one that died, holds up nobody.
"""

from __future__ import annotations

import pickle
import select
import socket
import threading
from dataclasses import dataclass
from typing import Any, TypeAlias

from vindeby.campaign import Campaign
from vindeby.runner.execution.task_executor import ExecutorOptions
from vindeby.runner.local.framing import FrameBuffer, framed
from vindeby.runner.pool import DiskTrouble, TasksDurable, Work, WorkerRetiring
from vindeby.runner.protocol import Failed, MethodUnusable, WantsWork

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
