"""Events and instructions of a run as plain values, the interface of worker pools, and the kinds of failures."""

import contextlib
import queue
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Protocol, TypeAlias

from vindeby.campaign import Task
from vindeby.text import one_line


class Kind(StrEnum):
    """The kinds of failure of a task."""

    EXCEPTION = "exception"
    INVALID = "invalid result"
    KILLED = "worker killed"
    MEMORY = "out of memory"
    TIME = "time limit"
    STUCK = "no sign of life"


REMEDIES = {
    Kind.EXCEPTION: "the same seed raises it again; correct its cause",
    Kind.INVALID: "the same seed gives it again; correct its cause",
    Kind.KILLED: "see the worker's log for what it was doing",
    Kind.MEMORY: "raise run.memory_limit_mb or use fewer workers",
    Kind.TIME: "raise run.time_limit_s",
    Kind.STUCK: "raise run.silent_limit_s if it was at work",
}
"""The remedy for each kind of failure, besides ``--retry-failed``."""


@dataclass(frozen=True)
class Failure:
    """A failed attempt: its kind, a reason in one line, a traceback, and the log with more details."""

    kind: Kind
    reason: str
    traceback: str = ""
    log: str = ""

    def __str__(self) -> str:
        return one_line(f"{self.kind}: {self.reason}")


def how_it_ended(status: int) -> str:
    """Describe the end of a process; ``status`` is negative for a signal, as in ``subprocess``."""
    if status >= 0:
        return f"the process ended itself with status {status} (os._exit, or exit() in a library)"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    meaning = {"SIGSEGV": " (invalid memory access)", "SIGBUS": " (invalid memory access)"}
    meaning |= {"SIGABRT": " (abort)", "SIGFPE": " (arithmetic error)", "SIGILL": " (illegal instruction)"}
    meaning["SIGKILL"] = " (by the kernel, if the machine ran out of memory)"
    return f"the process was killed by {name}{meaning.get(name, '')}"


class Outcome(Enum):
    """The ways in which a run can end."""

    COMPLETE = "complete"
    STOPPED = "stopped"
    TOO_MANY_FAILURES = "too many failures"
    UNUSABLE = "method unusable"
    STORAGE = "storage"
    WORKERS = "workers keep dying"
    LOCK_LOST = "lock lost"
    POOL_LOST = "workers cannot be reached"


@dataclass(frozen=True)
class WantsWork:
    """A worker wants tasks; how long one takes it, where it knows, and how many it computes at the same time."""

    worker: int
    seconds_per_task: float | None = None
    together: int = 1


@dataclass(frozen=True)
class TasksDurable:
    """These tasks are on disk, in this shard, and took so many seconds together."""

    worker: int
    tasks: Sequence[int]
    shard: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Failed:
    """A task of a living worker ended without a result; ``final``: another process would not change that."""

    worker: int
    task: int
    failure: Failure
    final: bool = False


@dataclass(frozen=True)
class WorkerGone:
    """A worker is gone, and its slot is empty."""

    worker: int
    suspect: int | None
    """The task it was on, if any; None too where the pool cannot tell, and then no task is to blame."""
    failure: Failure
    """Why it went, as far as the pool knows, and the end of its log."""
    by_itself: bool = False
    """Whether the worker was asked to end, or retired, so that no task is the cause."""
    pid: int = 0


@dataclass(frozen=True)
class TaskProgress:
    """The progress of a worker in its task: the stage, and the energy of the best layout so far."""

    stage: str
    iteration: int = 0
    iterations: int = 0
    aep_gwh: float | None = None

    def __str__(self) -> str:
        of = f" {self.iteration:,} of {self.iterations:,}" if self.iterations else ""
        return f"{self.stage}{of}" + ("" if self.aep_gwh is None else f", {self.aep_gwh:,.1f} GWh so far")


@dataclass(frozen=True)
class Seen:
    """A look at a living worker: its task, the seconds since that began and since its last sign of life, its bytes."""

    worker: int
    task: int | None
    seconds: float
    silent_s: float
    memory: int
    pid: int = 0
    progress: TaskProgress | None = None


@dataclass(frozen=True)
class StopAsked:
    """The user wants to stop; asked twice means now."""


@dataclass(frozen=True)
class WorkerRetiring:
    """The event that a worker takes no more tasks, with the reason; its ``WorkerGone`` follows."""

    worker: int
    reason: str
    pid: int = 0


@dataclass(frozen=True)
class CannotGoOn:
    """The run has to end: the disk refuses results, no task can succeed, or whatever does the work is out of reach."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class MoreSlots:
    """The event that the pool now has so many slots in total, more than before."""

    slots: int


@dataclass(frozen=True)
class WorkerReady:
    """A worker is set up and about to ask for tasks; ``pid`` is 0 where that says nothing, ``log`` may be empty."""

    worker: int
    pid: int = 0
    log: str = ""
    node: str = ""
    job: str = ""
    """The batch job that it belongs to, as SLURM numbers it; empty where there is none."""


@dataclass(frozen=True)
class PoolNote:
    """Something for the log of events that asks for no decision."""

    event: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tick:
    """Time has passed."""


PoolEvent: TypeAlias = (
    WorkerReady
    | WantsWork
    | TasksDurable
    | Failed
    | WorkerRetiring
    | WorkerGone
    | MoreSlots
    | CannotGoOn
    | PoolNote
)
Event: TypeAlias = PoolEvent | StopAsked | Tick


@dataclass(frozen=True)
class StartWorker:
    """Start a worker on this slot, after a pause."""

    worker: int
    delay_s: float = 0.0


@dataclass(frozen=True)
class Assign:
    """Assign tasks to a worker."""

    worker: int
    tasks: tuple[int, ...]
    retry: bool = False


@dataclass(frozen=True)
class EndWorker:
    """The instruction to let a worker publish and exit."""

    worker: int
    now: bool = False


@dataclass(frozen=True)
class KillWorker:
    """Kill a worker and everything it started."""

    worker: int


@dataclass(frozen=True)
class TryAgain:
    """For the log: a task failed and will be tried again."""

    task: int
    failure: Failure
    attempt: int


@dataclass(frozen=True)
class SetAside:
    """A task has used up its retries; the campaign goes on without it."""

    task: int
    failure: Failure
    attempts: int


@dataclass(frozen=True)
class Finish:
    """Everybody is gone; the run is over."""

    outcome: Outcome
    reason: str = ""


Instruction: TypeAlias = StartWorker | Assign | EndWorker | KillWorker | TryAgain | SetAside | Finish


@dataclass(frozen=True)
class Work:
    """Tasks for a worker, each with its number, in this order.

    ``retry``: a task that failed before, for a worker that has run no other; it waits until no task is computed by
    another worker of its machine, and may then use ``Setup.memory_limit_alone``. ``last``: the worker publishes
    and goes when these are done.
    """

    tasks: tuple[tuple[int, Task], ...]
    retry: bool = False
    last: bool = False


class Inbox:
    """Calls that other threads leave for the one that a pool belongs to, and the events that come of them."""

    def __init__(self) -> None:
        # Not a SimpleQueue: in Python 3.11, one that a signal interrupts at the end of its timeout waits for ever.
        self._calls: queue.Queue[Callable[[], None]] = queue.Queue()
        self.events: list[PoolEvent] = []

    def post(self, call: Callable[[], None]) -> None:
        """Have ``wait`` make this call; from any thread."""
        self._calls.put(call)

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        """Make the queued calls, and return the events that there are; as ``WorkerPool.wait``."""
        with contextlib.suppress(queue.Empty):
            self._calls.get(timeout=0.001 if self.events else max(timeout_s, 0.001))()
            while True:
                self._calls.get_nowait()()
        events, self.events = self.events, []
        return events


class WorkerPool(Protocol):
    """The seam between a run and whatever does its work: processes of this machine, a cluster, threads of a test.

    A pool has slots, numbered from 0, each with at most one worker. The supervisor says which slots to fill and which
    tasks each worker gets, and receives events. Results never come back through a pool: a worker publishes them itself
    (``task_executor.TaskExecutor``), and the pool reports which tasks are durable. A new backend is one class of this
    form; ``tests/contracts/test_pools.py`` holds it to everything that is written here.

    - All methods are called from one thread. None waits for a worker but ``wait``, and that no longer than its timeout.
    - ``assign``, ``end`` and ``kill`` for a slot without a worker do nothing: its ``WorkerGone`` is on its way.
    - Every ``start`` is followed by exactly one ``WorkerGone``, whatever happens, unless the pool is closed first.
    - ``WorkerGone`` is the last event of a worker: what it reported before it went comes first.
    - A task counts as done when ``TasksDurable`` names it, never before it is on disk. One that its worker published
      and could not report any more is computed again, and a merge takes the first result.
    - Only OSError may leave a method, when the machine refuses something that the pool itself needs.
    """

    def start(self, slot: int) -> None:
        """Fill an empty slot; ``WantsWork`` follows, or ``WorkerGone``, and ``WorkerReady`` when it has a process."""

    def assign(self, slot: int, work: Work) -> None:
        """Append tasks to a worker's queue; per call it sends ``WantsWork`` once, before the queue is empty."""

    def end(self, slot: int, *, now: bool = False) -> None:
        """Let a worker finish the task it is on, drop the others, publish and go; ``now``: drop that task too."""

    def kill(self, slot: int) -> None:
        """End a worker and everything it started, whatever it is doing."""

    def wait(self, timeout_s: float) -> Sequence[PoolEvent]:
        """Return new events, in order for each worker; after ``timeout_s`` at the latest, perhaps none."""

    def observe(self) -> Sequence[Seen]:
        """Return the state of the workers that have started; 0 stands for what the pool cannot tell.

        A worker that is over a limit of time, silence or memory is killed; its ``WorkerGone`` has the reason.
        """

    def close(self) -> None:
        """End everything at once, and return when nothing of the pool is left; nothing is published any more."""
