"""A worker's log: whatever a task prints, from Python or from C, with the task's key on each line.

The log file stands in for standard output and standard error themselves, so nothing that a task or a library
prints is lost when the process dies, and nothing reaches the terminal. A task that prints without end is cut
to its first part when it ends; the log says so.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import logging
import os
import signal
import sys
import time
from pathlib import Path

KEPT_OF_A_TASK = 1 << 20
"""Bytes of output that are kept of one task."""


class Output:
    """The log of this process; from now on standard output and error go there."""

    def __init__(self, path: str) -> None:
        self.key = "-"
        self.name = Path(path).name
        self._descriptor = _opened(path)
        os.dup2(self._descriptor, 1)
        os.dup2(self._descriptor, 2)
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
        sys.stdout = _Tagged(self)
        sys.stderr = _Tagged(self)
        self._streams = sys.stdin, sys.stdout, sys.stderr
        faulthandler.enable(file=2)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, file=2)
        logging.basicConfig(
            stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s"
        )

    def begin(self, key: str) -> int:
        """A task begins; the size of the log now."""
        self.key = key
        return os.fstat(self._descriptor).st_size

    def end(self, size: int) -> None:
        """A task ended that began when the log had this size."""
        self._restore_streams()
        for name in ("stdout", "stderr"):
            with contextlib.suppress(
                Exception
            ):  # the user's own stream, put there when the module was imported
                getattr(sys, name).flush()
        written = os.fstat(self._descriptor).st_size - size
        if written > KEPT_OF_A_TASK:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size + KEPT_OF_A_TASK)
            self.line(f"printed {written} bytes; the first {KEPT_OF_A_TASK} are kept")
        self.key = "-"

    def _restore_streams(self) -> None:
        """A task must not take the log from the next one."""
        sys.stdin, sys.stdout, sys.stderr = self._streams
        for number in (1, 2):
            os.dup2(self._descriptor, number)

    def line(self, text: str) -> None:
        """Write a line of our own; a full disk does not fail a task."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with contextlib.suppress(OSError):
            os.write(self._descriptor, f"{stamp} {self.key} {text}\n".encode(errors="replace"))


def _opened(path: str) -> int:
    """The log, to append to; nowhere if the disk has no room for it."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


class _Tagged(io.TextIOBase):
    """Standard output of Python code: whole lines, each with the task's key."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, output: Output) -> None:
        self._output = output
        self._begun = ""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + str(text)).split("\n")
        if lines:
            key = self._output.key
            data = "".join(f"{key} | {line}\n" for line in lines).encode(errors="replace")
            with contextlib.suppress(OSError):
                os.write(2, data)
        if len(self._begun) > KEPT_OF_A_TASK:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._begun:
            self.write("\n")

    def close(self) -> None:
        """Only flush: the log belongs to all tasks of the process."""
        self.flush()
