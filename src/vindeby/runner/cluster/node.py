"""The coordinator's view of a Dask worker with its lanes, and of a slot of the pool on one of them."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from vindeby.runner.failures import Failure
from vindeby.runner.pool import Work
from vindeby.runner.protocol import Seen


@dataclass
class Node:
    """A Dask worker on which an agent is open."""

    address: str
    lanes: int
    name: str
    job: str
    sees_run: bool
    identity: str = ""
    """Of the Dask worker, also when it comes back under another address; empty where that is not known."""
    fruitful: bool = False
    """A task was settled on it."""
    free: deque[int] = field(default_factory=deque)
    orders: dict[int, int] = field(default_factory=dict)
    """By lane, the number of the last order."""
    heard: dict[int, int] = field(default_factory=dict)
    """By lane, the number of the last event that was heard."""
    seen: dict[int, Seen] = field(default_factory=dict)
    looked: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.free.extend(range(self.lanes))

    def __str__(self) -> str:
        job = f", job {self.job}" if self.job else ""
        return f"{self.address} on {self.name}{job}"

    def next_order(self, lane: int) -> int:
        """The number of a new order to a lane."""
        self.orders[lane] = self.orders.get(lane, 0) + 1
        return self.orders[lane]


@dataclass
class Place:
    """A slot that has a lane: what it holds and what is expected of it."""

    slot: int
    node: Node
    lane: int
    ticket: int = 0
    """Of the order that is not answered yet; 0 for none."""
    queue: deque[Work] = field(default_factory=deque)
    held: dict[int, str] = field(default_factory=dict)
    """Numbers and keys of the tasks that were assigned and not reported since."""
    shards: set[str] = field(default_factory=set)
    writer: str = ""
    ready: bool = False
    owes: int = 0
    """How often it was given tasks and has not asked for more since."""
    unanswered: bool = False
    """Dask lost the answer to its last order."""
    end: bool = False
    now: bool = False
    kill: bool = False
    failure: Failure | None = None

    @property
    def suspect(self) -> int | None:
        """The task that it was last seen on, if that is not reported since; else the only one that it has."""
        seen = self.node.seen.get(self.lane)
        if seen is not None and seen.task in self.held:
            return seen.task
        return next(iter(self.held)) if len(self.held) == 1 else None
