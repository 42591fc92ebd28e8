"""The few things that only Linux can do for us; elsewhere they do nothing, and the pipes alone must serve."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Let the kernel send this signal when the parent is gone, which reaches even a process that hangs in C."""
    parent = os.getppid()
    _prctl(_SET_PARENT_DEATH_SIGNAL, number)
    if os.getppid() != parent:  # it went in between
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Become the parent of what our descendants leave behind, instead of process 1."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def limit_data(limit: int | None) -> None:
    """Bound the memory that this process may write to, so that too much is a MemoryError where it is asked for.

    RLIMIT_DATA and not RLIMIT_AS: a worker with Numba maps 2.4 times the memory that it has in use (395 MB
    against 164 MB), while its writable data (139 MB) stay below that; docs/running.md has the measurement.
    """
    if sys.platform != "linux":
        return
    wanted = resource.RLIM_INFINITY if limit is None else limit
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        wanted = hard if wanted == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def memory_of(pid: int | str = "self") -> int:
    """The memory that a process has in use, in bytes; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[1]) * resource.getpagesize()


def child_count() -> int:
    """How many child processes this process has, those included that ended and were not waited for; 0 if not told."""
    count = 0
    with contextlib.suppress(OSError):
        for path in Path("/proc/self/task").glob("*/children"):
            with contextlib.suppress(OSError):
                count += len(path.read_text().split())
    return count


def total_memory() -> int | None:
    """The memory that we may use: the machine's, or less where a container or a job has a limit."""
    with contextlib.suppress(ValueError, OSError):
        amounts = [os.sysconf("SC_PHYS_PAGES") * resource.getpagesize()]
        for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                amounts.append(int(Path(name).read_text()))
        return min(amounts)
    return None


def oom_kills() -> int:
    """How often the kernel has killed a process for want of memory since it started."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, value = line.split()
            if name == "oom_kill":
                return int(value)
    return 0


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
