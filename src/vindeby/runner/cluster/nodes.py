"""The coordinator's view of a Dask worker with its lanes, of a slot of the pool on one of them, and of restarts.

A nanny restarts a Dask worker whatever it dies of, each time under another address; only the address of its nanny, or
its name, tells that it is the same. One that was lost several times in a row before anything was finished on it is not
used any more. Where it is the only one, it has more tries: the cause may be a task, which the plan sets aside.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field

from vindeby.runner.cluster.agent import Opened
from vindeby.runner.protocol import Seen
from vindeby.runner.publisher import Unreported


@dataclass
class Node:
    """A Dask worker on which an agent is open."""

    address: str
    opened: Opened
    sees_run: bool
    fruitful: bool = False
    """A task was settled on it."""
    free: deque[int] = field(default_factory=deque)
    places: dict[int, Place] = field(default_factory=dict)
    """The lanes that have a slot of the pool."""
    seen: dict[int, Seen] = field(default_factory=dict)
    looked: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.free.extend(range(self.opened.lanes))

    def __str__(self) -> str:
        job = f", job {self.opened.job}" if self.opened.job else ""
        return f"{self.address} on {self.opened.node}{job}"


@dataclass
class Place:
    """A slot that has a lane, and what it holds."""

    slot: int
    node: Node
    lane: int
    unreported: Unreported = field(default_factory=Unreported)
    ending: bool = False
    """It was asked to end."""

    @property
    def suspect(self) -> int | None:
        """The task that it was last seen on, if that is not reported since; else the only one that it has."""
        seen, tasks = self.node.seen.get(self.lane), self.unreported.tasks
        if seen is not None and seen.task in tasks:
            return seen.task
        return next(iter(tasks)) if len(tasks) == 1 else None


LOSSES = 3
LOSSES_ALONE = 10


class Restarts:
    """How often each Dask worker was lost in a row without a result, and which are not used any more."""

    def __init__(self) -> None:
        self._fruitless: Counter[str] = Counter()
        self._given_up: set[str] = set()

    def lost(self, node: Node, *, alone: bool) -> str:
        """Count a loss; why the Dask worker is given up, if it is now."""
        identity = node.opened.identity
        if not identity:
            return ""
        if node.fruitful:
            del self._fruitless[identity]
            return ""
        self._fruitless[identity] += 1
        count = self._fruitless[identity]
        if count < (LOSSES_ALONE if alone else LOSSES):
            return ""
        self._given_up.add(identity)
        return (
            f"the Dask worker {node} was lost and came back {count} times in a row without finishing a task "
            f"({identity}); it is not used any more, see its own log for what ends it, such as its memory limit"
        )

    def is_given_up(self, identity: str) -> bool:
        """Is this Dask worker, under whatever address, not to be used?"""
        return identity in self._given_up
