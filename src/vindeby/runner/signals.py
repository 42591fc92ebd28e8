"""Requests to stop: Ctrl-C, SIGTERM, SIGHUP, and SIGUSR1, which SLURM can send before a job's time is up.

A signal that is ignored when the run begins (``nohup``) stays ignored. Outside of the main thread Python cannot
listen to signals; then there are none, and the caller stops by other means.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


class StopSignals:
    """Listens between ``with`` and its end; readable, for selectors, when a signal has come."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        for descriptor in (self._reader, self._writer):
            os.set_blocking(descriptor, False)
        self._handlers: dict[signal.Signals, Any] = {}
        self._wakeup: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if (handler := signal.getsignal(number)) is not signal.SIG_IGN:
                    self._handlers[number] = handler
                    signal.signal(number, _only_wake)
            self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def fileno(self) -> int:
        """For selectors."""
        return self._reader

    def received(self) -> list[str]:
        """The names of the signals that came since the last time."""
        try:
            numbers = os.read(self._reader, 4096)
        except BlockingIOError:
            return []
        return [signal.Signals(number).name for number in numbers if number in self._handlers]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._wakeup is not None:
            signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._handlers.items():
            with contextlib.suppress(TypeError):  # a handler that was not set from Python cannot be put back
                signal.signal(number, handler)
        os.close(self._reader)
        os.close(self._writer)


def _only_wake(number: int, frame: FrameType | None) -> None:
    """The number arrives through the pipe."""
