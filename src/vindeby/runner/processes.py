"""Requests to the operating system: the place of a process, its limits, and signals.

What only Linux can do does nothing elsewhere; the pipes between the processes alone must serve there.
"""

import contextlib
import ctypes
import os
import platform
import resource
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SHARE_OF_MEMORY = 0.85
"""The share of the memory that all workers may use in total."""
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
    """Become the parent of orphaned descendants, instead of process 1."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def limit_data(limit: int | None) -> None:
    """Limit the writable memory of this process, so that an excess raises MemoryError at the allocation.

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


def open_log(path: str) -> int:
    """Return the descriptor of a log to append to, or of the null device if the log cannot be opened."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def end_of_log(log: Path, size: int, since: int = 0) -> str:
    """Return the last bytes of a log, written after ``since``, as text; empty if it cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(since, file.seek(0, os.SEEK_END) - size))
            return file.read(size).decode(errors="replace")
    except OSError:
        return ""


def memory_of(pid: int | str = "self") -> int:
    """Return the memory in use by a process, in bytes; 0 if the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[1]) * resource.getpagesize()


def total_memory() -> int | None:
    """Return the usable memory in bytes: the machine's, or less if a container or job has a limit."""
    with contextlib.suppress(ValueError, OSError):
        amounts = [os.sysconf("SC_PHYS_PAGES") * resource.getpagesize()]
        for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                amounts.append(int(Path(name).read_text()))
        return min(amounts)
    return None


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")


def node_and_job(environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return the name of this machine, and the number of this process's batch job; empty if there is none.

    An element of a SLURM array is ``1234_7``, which ``scancel`` and ``squeue`` understand.
    """
    known = os.environ if environment is None else environment
    array, element = known.get("SLURM_ARRAY_JOB_ID", ""), known.get("SLURM_ARRAY_TASK_ID", "")
    if array and element:
        return platform.node(), f"{array}_{element}"
    return platform.node(), next((known[name] for name in _JOBS if known.get(name)), "")


STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


@contextlib.contextmanager
def stop_signals() -> Iterator[list[str]]:
    """Yield a list that collects requests to stop by name: Ctrl-C, SIGTERM, SIGHUP, and SIGUSR1 (from SLURM).

    A signal that is ignored when the run begins (``nohup``) stays ignored. Outside of the main thread Python cannot
    listen to signals; then there are none, and the caller stops by other means.
    """
    received: list[str] = []
    handlers: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in STOPPING:
            if (handler := signal.getsignal(number)) is not signal.SIG_IGN:
                handlers[number] = handler
                signal.signal(number, lambda number, _: received.append(signal.Signals(number).name))
    try:
        yield received
    finally:
        for number, handler in handlers.items():
            with contextlib.suppress(TypeError):  # a handler that was not set from Python cannot be put back
                signal.signal(number, handler)
