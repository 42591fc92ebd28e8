"""The identity of a process, by which a lock or temporary file names its owner, and whether it still runs."""

from __future__ import annotations

import os
import platform
import re
import time
import uuid
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """A process: its machine, the machine's boot, its number, when it started, and a random token.

    ``boot`` is the number of the boot and that of the process namespace, with a point in between.
    """

    host: str
    boot: str
    pid: int
    started: str
    token: str
    since: float = field(default=0.0, compare=False)

    @classmethod
    def current(cls) -> Identity:
        """Return this process."""
        return _identity(os.getpid())

    @classmethod
    def parse(cls, name: str) -> Identity:
        """Return the process with this ``name``; ValueError for any other text."""
        host, boot, pid, started, since, token = name.split("-")
        return cls(host, boot, int(pid), started, token, float(since))

    @property
    def name(self) -> str:
        """The identity as text that can be a part of a file name."""
        parts = (self.host, self.boot, self.pid, self.started, f"{self.since:.0f}", self.token)
        return "-".join(map(str, parts))

    @property
    def is_here(self) -> bool:
        """Return whether the process is on this machine, so that its state can be checked."""
        return self.host == _host()

    @property
    def is_dead(self) -> bool:
        """Return whether the process is known to have ended; never true of a process on another machine.

        A machine of the same name may be another one: an owner from another boot is dead only if it is from
        before this machine started. In another process namespace of this machine we cannot look.
        """
        if not self.is_here:
            return False
        boot, _, namespace = self.boot.partition(".")
        here, _, ours = _boot().partition(".")
        if boot != here:
            return self.since < _booted_at()
        if namespace != ours:
            return False
        started = _started(self.pid)
        if started is None:
            return True
        return "" not in {started, self.started} and started != self.started

    @property
    def is_alive(self) -> bool:
        """Return whether the process is known to run; never true on another machine or process namespace."""
        return self.is_here and self.boot == _boot() and not self.is_dead

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@lru_cache(maxsize=4)
def _identity(pid: int) -> Identity:
    """Return this process, cached per process number so that a forked child gets its own token."""
    return Identity(_host(), _boot(), pid, _started(pid) or "", uuid.uuid4().hex[:8], time.time())


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_.]", "_", platform.node())[:64] or "localhost"


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        namespace = str(Path("/proc/self/ns/pid").readlink())
        return f"{re.sub('[^0-9a-f]', '', boot)}.{re.sub('[^0-9]', '', namespace)}"
    except OSError:
        return ""


def _booted_at() -> float:
    """Return when this machine started, in seconds since 1970; 0 if unknown."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("btime"))
    except (OSError, StopIteration, ValueError):
        return 0.0


def _started(pid: int) -> str | None:
    """Return when a process started, in the kernel's ticks; empty if hidden, None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # none, or one of another user that /proc hides, or no /proc
        return _exists(pid)
    state, *rest = stat.rsplit(")", 1)[1].split()
    return None if state in "ZX" else rest[18]


def _exists(pid: int) -> str | None:
    """Return an empty text if the process exists, else None."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return ""
