"""The kinds of failures, what each of them says about a task, and how often it may happen.

An exception or an invalid result comes from the task itself: with the same seed it would come again, so it is
not tried again. A worker that was killed may have been hit from outside. A task that ran out of memory may fit
when it has the machine for itself. A task that ran out of time would do so again, unless its user knows better.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

from vindeby.campaign import RunOptions
from vindeby.printable import one_line


class Kind(StrEnum):
    """What happened to a task."""

    EXCEPTION = "exception"
    INVALID = "invalid result"
    KILLED = "worker killed"
    MEMORY = "out of memory"
    TIME = "time limit"
    STUCK = "no sign of life"
    JOB_TIME = "time of the job"


REMEDIES = {
    Kind.EXCEPTION: "not tried again, because the same seed would raise it again; correct its cause",
    Kind.INVALID: "not tried again, because the same seed would give it again; correct its cause",
    Kind.KILLED: "see the worker's log for what it was doing",
    Kind.MEMORY: "raise run.memory_limit_mb or use fewer workers",
    Kind.TIME: "raise run.time_limit_s",
    Kind.STUCK: "raise run.silent_limit_s if it was at work",
    Kind.JOB_TIME: "it takes longer than a job may: submit it again with a longer --time, or let it compute less",
}
"""What to do about a task that failed, besides ``--retry-failed``."""


@dataclass(frozen=True)
class Failure:
    """One failed attempt: what, why in one line, where in the code, and which log tells more."""

    kind: Kind
    reason: str
    traceback: str = ""
    log: str = ""

    def __str__(self) -> str:
        return one_line(f"{self.kind}: {self.reason}")


def retries(options: RunOptions) -> dict[Kind, int]:
    """How often a task is tried again after each kind of failure."""
    return {
        Kind.EXCEPTION: 0,
        Kind.INVALID: 0,
        Kind.KILLED: options.retries,
        Kind.MEMORY: options.memory_retries,
        Kind.TIME: options.time_retries,
        Kind.STUCK: options.time_retries,
        Kind.JOB_TIME: 0,
    }


def most_failures(limit: int | str | None, total: int) -> int | None:
    """How many tasks may fail before the campaign stops: a number, or a percentage of all tasks."""
    if limit is None or isinstance(limit, int):
        return limit
    return int(total * float(limit.removesuffix("%")) / 100.0)


def how_it_ended(status: int) -> str:
    """The end of a process in words; ``status`` is negative for a signal, as ``subprocess`` has it."""
    if status >= 0:
        return f"the process ended itself with status {status} (os._exit, or exit() in a library)"
    number = -status
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    told = {"SIGSEGV": " (invalid memory access)", "SIGBUS": " (invalid memory access)"}
    told |= {"SIGABRT": " (abort)", "SIGFPE": " (arithmetic error)", "SIGILL": " (illegal instruction)"}
    return f"the process was killed by {name}{told.get(name, '')}"
