"""Work that may crash or hang, done in a child process with a limit on time and memory.

The HDF5 library can crash, run in circles or ask for all memory on bad bytes. A ``Guard`` keeps one child that
does one request after another (starting Python for each file would cost more than reading it) and reports as
it goes. When the child dies or is silent too long, that is the verdict on what it was doing; the next request
gets a new child. The child only reads, and hands results back over a pipe; the one file that it may write to is
the new one of a merge, whose records are compared with the merged ones before anything relies on it.
"""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from vindeby.errors import StorageError
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.origin import SALVAGED
from vindeby.store.format.rows import BATCH_BYTES

PROGRESS, RESULT, DONE, FAILED = b"P", b"R", b"D", b"E"
TOO_LONG = "it takes too long for its size"
_LARGEST_MESSAGE = (1 << 30) + (1 << 26)
"""The largest table in a shard, with what surrounds it."""

_START_S = 300.0
"""The time limit for starting: Python and its libraries may come from a slow network file system."""


@dataclass(frozen=True)
class ReadLimits:
    """The limits of a child's time, memory and output; ``silence_s`` is the longest time without a report.

    A file may take 2 minutes and 10 s more for each MB of it; ``kept_bytes`` bounds what is kept in memory of a file
    that nothing vouches for.
    """

    silence_s: float = 60.0
    memory_bytes: int = 4 << 30
    kept_bytes: int = 4 << 30
    batch_bytes: int = BATCH_BYTES
    most_findings: int = 10_000
    least_seconds: float = 120.0
    seconds_per_mb: float = 10.0

    def seconds(self, size: int) -> float:
        """Return the time limit (s) for reading a whole file of this size."""
        return self.least_seconds + self.seconds_per_mb * size / 1e6


@dataclass(frozen=True)
class Asked:
    """The options for reading a file in the child.

    ``real_size`` bytes of it are real, the rest is padding. Groups named in ``skip`` are left out; those named in
    ``sent`` are read, but not sent again. With ``rooted`` the root group is itself one
    record: its key is what ``naming`` spells, or else ``rooted``. ``origin`` is the mark of records without a checksum.
    With ``needed``, a record without a checksum is complete when it has these arrays; what else of it cannot be read is
    left out. The file at ``path`` is read as if it began with the bytes ``head``, in hex, and went on to ``end``.
    """

    path: str
    real_size: int
    batch_bytes: int
    most_findings: int
    origin: str = SALVAGED
    needed: Sequence[str] = ()
    naming: str = ""
    rooted: str = ""
    skip: Sequence[str] = ()
    sent: Sequence[str] = ()
    head: str = ""
    end: int = 0


class GuardError(Exception):
    """The error for a child that died or hung; ``doing`` is the last step it reported."""

    def __init__(self, finding: Finding, doing: str) -> None:
        super().__init__(str(finding))
        self.finding = finding
        self.doing = doing


class Guard:
    """A child process that answers requests; use it in a ``with`` block."""

    def __init__(self, limits: ReadLimits | None = None) -> None:
        self.limits = limits or ReadLimits()
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Any = None

    def call(self, task: str, **arguments: Any) -> Iterator[tuple[bytes, bytes]]:
        """Yield the answers to one request: RESULT as they come, then DONE or FAILED; GuardError on a crash.

        ``deadline`` (of ``time.monotonic``) bounds the request as a whole.
        """
        deadline = arguments.pop("deadline", math.inf)
        doing = ""
        if self._child is None or self._child.poll() is not None:
            self._start()
        try:
            self._connection.send_bytes(json.dumps({"task": task, **arguments}).encode())
            while True:
                kind, data = self._receive(min(self.limits.silence_s, deadline - time.monotonic()))
                if kind == PROGRESS:
                    doing = data.decode(errors="surrogateescape")
                    continue
                yield kind, data
                if kind in {DONE, FAILED}:
                    return
        except TimeoutError:
            self.abort()
            late = time.monotonic() >= deadline
            detail = TOO_LONG if late else f"no sign of life for {self.limits.silence_s:g} s"
            raise GuardError(Finding(Verdict.HUNG, detail), "" if late else doing) from None
        except (EOFError, OSError):
            raise GuardError(Finding(Verdict.CRASHED, self.abort()), doing) from None
        except GeneratorExit:
            self.abort()
            raise

    def _receive(self, silence_s: float) -> tuple[bytes, bytes]:
        if silence_s <= 0 or not self._connection.poll(silence_s):
            raise TimeoutError
        message = self._connection.recv_bytes(_LARGEST_MESSAGE)
        return message[:1], message[1:]

    def _start(self) -> None:
        from multiprocessing import Pipe  # only where a file cannot be trusted

        self.abort()
        self._connection, other = Pipe()
        number = other.fileno()
        command = [sys.executable, "-P", "-m", "vindeby.store.foreign.child"]
        with other:
            self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [*command, str(number), str(self.limits.memory_bytes)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[number],
                env=_environment(),
            )
        try:
            self._receive(_START_S)
        except (EOFError, OSError):  # a child that cannot even start says nothing about any file
            raise StorageError(
                f"cannot start a process to read files in ({self.abort()}); free some memory, then run the same command"
            ) from None

    def abort(self) -> str:
        """End the child, and with it the request at hand; how it ended. The next request gets a new one."""
        if self._child is None:
            return ""
        self._connection.close()
        self._child.kill()
        status, self._child = self._child.wait(), None
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-status).name}"
        return f"exit status {status}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()


def _environment() -> dict[str, str]:
    """Return an environment in which the child finds this package and reserves no memory for unused threads."""
    package = str(Path(__file__).parents[3])
    search = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    return {**os.environ, **threads, "PYTHONPATH": search}
