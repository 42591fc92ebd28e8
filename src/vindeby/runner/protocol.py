"""What the plan is told and what it answers: the events and instructions of a run, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from vindeby.runner.failures import Failure


class Outcome(Enum):
    """How a run ended."""

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
    """A worker wants tasks; how long one takes it, where it knows."""

    worker: int
    seconds_per_task: float | None = None


@dataclass(frozen=True)
class Done:
    """Tasks of a worker are durable."""

    worker: int
    tasks: Sequence[int]


@dataclass(frozen=True)
class Failed:
    """A task of a living worker ended without a result."""

    worker: int
    task: int
    failure: Failure


@dataclass(frozen=True)
class Died:
    """A worker is gone; the task it was on, and why it went unless we know better."""

    worker: int
    suspect: int | None
    failure: Failure
    by_itself: bool = False
    """It said goodbye: it was told to end, or retired."""


@dataclass(frozen=True)
class TaskProgress:
    """How far a worker is in its task: what it is at, and the energy of the best layout so far."""

    stage: str
    iteration: int = 0
    iterations: int = 0
    aep_gwh: float | None = None
    left_s: float | None = None

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
class StorageLost:
    """A worker cannot publish, and is not to wait."""

    reason: str


@dataclass(frozen=True)
class MethodUnusable:
    """No task can ever succeed."""

    reason: str


@dataclass(frozen=True)
class MoreSlots:
    """The pool has room for so many workers in all now, more than before."""

    slots: int


@dataclass(frozen=True)
class PoolLost:
    """Whatever does the work cannot be reached any more, and will not be by waiting."""

    reason: str


@dataclass(frozen=True)
class Placed:
    """A new worker runs on this machine; one that nothing is known of is on the same as all such."""

    worker: int
    node: str


@dataclass(frozen=True)
class Tick:
    """Time has passed."""


Event: TypeAlias = (
    WantsWork | Done | Failed | Died | Seen | StopAsked | StorageLost | MethodUnusable | MoreSlots | PoolLost | Placed
    | Tick
)  # fmt: skip


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
    careful: bool = False
    alone: bool = False


@dataclass(frozen=True)
class EndWorker:
    """Tell a worker to publish and exit."""

    worker: int
    now: bool = False


@dataclass(frozen=True)
class KillWorker:
    """Kill a worker and everything it started."""

    worker: int
    failure: Failure | None = None


@dataclass(frozen=True)
class TryAgain:
    """For the log: a task failed and will be tried again."""

    task: int
    failure: Failure
    attempt: int


@dataclass(frozen=True)
class SetAside:
    """A task has used up what its failure may cost; the campaign goes on without it."""

    task: int
    failure: Failure
    attempts: int


@dataclass(frozen=True)
class Finish:
    """Everybody is gone; the run is over."""

    outcome: Outcome
    reason: str = ""


Instruction: TypeAlias = StartWorker | Assign | EndWorker | KillWorker | TryAgain | SetAside | Finish
