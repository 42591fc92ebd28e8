"""What a coordinator and its agents on Dask workers say to each other; plain values, pickled by Dask."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TypeAlias

from vindeby.runner.local.messages import Setup
from vindeby.runner.pool import PoolEvent, Work
from vindeby.runner.protocol import Failure, Seen


@dataclass(frozen=True)
class Session:
    """What a coordinator opens on each Dask worker: a campaign, and how to work on it."""

    token: str
    """Of this coordinator's run; a later one of the same campaign ends what an earlier one left."""
    setup: Setup
    """For its processes; without a memory limit, each has a fair share of what the Dask worker may use."""
    start_method: str
    name: str
    """What the logs of its workers begin with."""
    silent_limit_s: float = 60.0
    """An agent that has heard nothing of its coordinator for so long ends its processes."""

    @classmethod
    def of(cls, setup: Setup, start_method: str, name: str) -> Session:
        """For the same work as the processes of one machine would be set up for."""
        return cls(uuid.uuid4().hex, setup, start_method, name)


@dataclass(frozen=True)
class Opened:
    """An agent is there: how many processes it has room for, and where it runs."""

    lanes: int
    node: str
    job: str
    identity: str = ""
    """What stays the same when it is restarted: the address of its nanny, or its name."""


@dataclass(frozen=True)
class StartLane:
    """Start the process of a lane."""


@dataclass(frozen=True)
class EndLane:
    """Let it finish the task it is on, publish and go."""


@dataclass(frozen=True)
class KillLane:
    """Kill it; why, if a task is to blame."""

    failure: Failure | None = None


@dataclass(frozen=True)
class Attend:
    """Only wait for what was ordered before; after an answer that came early or was lost."""


Order: TypeAlias = StartLane | EndLane | KillLane | Attend | Work


@dataclass(frozen=True)
class Shard:
    """A file of results from an agent that does not see the run directory, for the coordinator to publish."""

    worker: int
    tasks: tuple[int, ...]
    data: bytes
    seconds: float


LaneEvent: TypeAlias = PoolEvent | Shard


@dataclass(frozen=True)
class Answer:
    """What came of an order: events since those that the coordinator has, numbered."""

    events: tuple[tuple[int, LaneEvent], ...] = ()
    settled: bool = False
    """Nothing of what was ordered is left to wait for."""
    seconds: float | None = None
    """How long a task takes, where that is known."""
    agent_gone: bool = False


@dataclass(frozen=True)
class Look:
    """An agent at this moment."""

    seen: tuple[Seen, ...] = ()
    fallen: tuple[int, ...] = ()
    """Lanes whose process went while no task attended to them."""
    agent_gone: bool = False
