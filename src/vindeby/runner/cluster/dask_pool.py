"""The processes of a Dask cluster behind the ``WorkerPool`` protocol.

Slots are filled from the lanes of whatever Dask workers there are; one that has none waits for one. A Dask worker that
goes takes its lanes with it: what their processes published is found in the run directory, the rest is assigned again.
Which task killed a process its agent knows; a Dask worker that vanishes accuses no task, until one task was running on
several that did.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from vindeby.errors import DataError, StorageError
from vindeby.runner.cluster.agent import AgentReport, LaneEvent, Opened, Shard
from vindeby.runner.cluster.connect import NoJobsReason
from vindeby.runner.cluster.dask_link import DaskLink
from vindeby.runner.protocol import (
    DiskTrouble,
    Failed,
    Failure,
    Inbox,
    Kind,
    MethodUnusable,
    MoreSlots,
    PoolEvent,
    PoolLost,
    PoolNote,
    Seen,
    TasksDurable,
    Work,
    WorkerGone,
)
from vindeby.runner.publisher import Unreported, shard_name
from vindeby.runner.task_executor import Setup, shard_writer
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardFile


@dataclass
class DaskNode:
    """A Dask worker on which an agent is open."""

    address: str
    opened: Opened
    sees_run: bool
    free: deque[int]
    """The lanes that have no slot of the pool."""
    places: dict[int, Place] = field(default_factory=dict)
    """The lanes that have one."""
    fruitful: bool = False
    """A task was settled on it."""
    seen: dict[int, Seen] = field(default_factory=dict)
    looked: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        job = f", job {self.opened.job}" if self.opened.job else ""
        return f"{self.address} on {self.opened.node}{job}"


@dataclass
class Place:
    """A slot that has a lane, and what it holds."""

    slot: int
    node: DaskNode
    lane: int
    unreported: Unreported = field(default_factory=Unreported)
    ending: bool = False

    @property
    def suspect(self) -> int | None:
        """The task that it was last seen on, if that is not reported since; else the only one that it has."""
        seen, tasks = self.node.seen.get(self.lane), self.unreported.tasks
        if seen is not None and seen.task in tasks:
            return seen.task
        return next(iter(tasks)) if len(tasks) == 1 else None


LOSSES = 3
LOSSES_ALONE = 10
"""How often a Dask worker may be lost in a row without a result before it is not used any more.

Where it is the only one, it has more tries: the cause may be a task, which the plan sets aside.
"""
_BLAMED_AFTER = 3
"""Dask workers that may vanish with the same task running before the task is the suspect."""


class DaskPool:
    """Processes on Dask workers, through a ``distributed.Client``."""

    def __init__(
        self,
        setup: Setup,
        client: Any,
        *,
        most: int | None = None,
        patience_s: float = 300.0,
        no_jobs_reason: NoJobsReason | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._run, self._most, self._say = RunDirectory(Path(setup.output)), most, say
        self._patience_s, self._no_jobs_reason = patience_s, no_jobs_reason
        self._inbox = Inbox()
        self._link = DaskLink(client, setup, self, self._inbox)
        self._shards = shard_writer(setup)
        self._nodes: dict[str, DaskNode] = {}
        self._known: set[str] = set()
        """Addresses of Dask workers that are being opened, are open, or were refused."""
        self._opening: set[str] = set()
        self._mismatched: dict[str, str] = {}
        """By address, what differs on Dask workers with other versions, until it is decided what that means."""
        self._places: dict[int, Place] = {}
        self._waiting: deque[int] = deque()
        self._vanished: Counter[int] = Counter()
        self._losses: Counter[str] = Counter()
        """How often each Dask worker, by what stays the same when it is restarted, was lost without a result."""
        self._given_up: set[str] = set()
        self._alone_since = time.monotonic()
        self._lost = False
        self._room = 0

    def start(self, slot: int) -> None:
        """Fill a slot with the next lane that is free."""
        self._waiting.append(slot)
        self._fill()

    def assign(self, slot: int, work: Work) -> None:
        """Send tasks to the process of a slot."""
        if (place := self._places.get(slot)) is not None:
            place.unreported.assign(work)
            self._order(place, "assign", work)

    def end(self, slot: int, *, now: bool = False) -> None:
        """Let a process publish and go."""
        if slot in self._waiting:
            self._waiting.remove(slot)
            self._inbox.events.append(
                WorkerGone(slot, None, Failure(Kind.KILLED, "never started"), by_itself=True)
            )
        elif (place := self._places.get(slot)) is not None:
            place.ending = True
            self._order(place, "end", now=now)

    def kill(self, slot: int) -> None:
        """Kill a process."""
        if slot in self._waiting:
            self.end(slot)
        elif (place := self._places.get(slot)) is not None:
            self._order(place, "kill")

    def wait(self, timeout_s: float) -> list[PoolEvent]:
        """Hear what Dask said."""
        return self._inbox.wait(timeout_s)

    def observe(self) -> list[Seen]:
        """What the agents last said, with the time since then."""
        seen = []
        for place in self._places.values():
            if (known := place.node.seen.get(place.lane)) is not None:
                age = time.monotonic() - place.node.looked
                seconds, silent_s = known.seconds + age, known.silent_s + age
                if known.task not in place.unreported.tasks:  # it has none, or that is settled since
                    known, seconds = replace(known, task=None, progress=None), 0.0
                seen.append(replace(known, worker=place.slot, seconds=seconds, silent_s=silent_s))
        return seen

    def close(self) -> None:
        """End the agents; whose cluster it is decides whether that ends too."""
        self._link.close()
        self._places.clear()
        self._nodes.clear()

    def present(self, threads: dict[str, int]) -> None:
        """Open Dask workers that came, and give up those that went."""
        for address in self._known - threads.keys():
            self._mismatched.pop(address, None)
            self._opening.discard(address)
            self._node_vanished(address)
        for address in threads.keys() - self._known:
            self._opening.add(address)
            self._link.open(address)
        self._known = set(threads)
        self._decide_mismatched()
        self._check_patience("there are no Dask workers that can be used", bool(self._nodes))

    def silent(self, reason: str, *, final: bool = False) -> None:
        """The scheduler gave no answer."""
        if final:
            self._give_up(reason)
        else:
            self._check_patience(reason, present=False)

    def _check_patience(self, reason: str, present: bool) -> None:
        now = time.monotonic()
        if present:
            self._alone_since = now
        elif self._no_jobs_reason is not None:  # as long as jobs are in the queue, workers may come
            if why := self._no_jobs_reason():
                self._give_up(why, remedy="")
        elif now - self._alone_since > self._patience_s:
            self._give_up(f"{reason}, for {self._patience_s:.0f} s")

    def _give_up(self, reason: str, remedy: str = "; see to it that the Dask cluster runs") -> None:
        if not self._lost:
            self._lost = True
            for address in list(self._nodes):
                self._node_lost(address)
            self._inbox.events.append(PoolLost(f"{reason}{remedy}"))

    def opened(self, address: str, opened: Opened, *, sees_run: bool) -> None:
        """Use a Dask worker on which an agent is there."""
        if address not in self._known:
            return  # it went meanwhile
        self._opening.discard(address)
        if opened.identity in self._given_up:
            self._link.refuse(address)
            self._decide_mismatched()
            return
        node = DaskNode(address, opened, sees_run, deque(range(opened.lanes)))
        self._nodes[address] = node
        self._alone_since = time.monotonic()
        joined = {"node": opened.node, "job": opened.job, "workers": opened.lanes, "publishes": sees_run}
        self._inbox.events.append(PoolNote("node joined", {"address": address, **joined}))
        if not node.sees_run:
            self._say(
                f"the Dask worker {node} cannot reach {self._run.path}; its results come back to this process, "
                "which publishes them"
            )
        room = sum(one.opened.lanes for one in self._nodes.values())
        room = room if self._most is None else min(room, self._most)
        if room > self._room:
            self._room = room
            self._inbox.events.append(MoreSlots(room))
        self._decide_mismatched()
        self._fill()

    def refused(self, address: str, reason: str, *, mismatch: bool = False) -> None:
        """Do without a Dask worker that has other versions; try any other again."""
        if address not in self._known:
            return
        self._opening.discard(address)
        self._inbox.events.append(PoolNote("node refused", {"address": address, "reason": reason}))
        if mismatch:
            self._mismatched[address] = reason
        else:
            self._known.discard(address)  # it is tried again
        self._decide_mismatched()

    def _decide_mismatched(self) -> None:
        """End the run over other versions if no Dask worker can be used and all of them have answered."""
        if self._nodes:
            for reason in self._mismatched.values():
                self._say(f"{reason}; it is not used")
        elif self._opening:
            return  # they may still answer
        elif self._mismatched:
            self._inbox.events.append(MethodUnusable("\n".join(self._mismatched.values())))
        self._mismatched.clear()

    def _fill(self) -> None:
        while self._waiting and not self._lost:
            node = max(self._nodes.values(), key=lambda one: len(one.free), default=None)
            if node is None or not node.free:
                return
            slot, lane = self._waiting.popleft(), node.free.popleft()
            place = self._places[slot] = node.places[lane] = Place(slot, node, lane)
            self._order(place, "start")

    def _order(self, place: Place, method: str, *arguments: Any, **more: Any) -> None:
        self._link.order(place.node.address, methodcaller(method, place.lane, *arguments, **more))

    def reported(self, address: str, events: Sequence[LaneEvent], report: AgentReport) -> None:
        """Pass on what an agent says."""
        node = self._nodes.get(address)
        if node is None:
            return
        for event in events:
            self._event(node, event)
        if report.agent_gone:  # it ended by itself, for want of news; a new one is opened in the next turn
            self._known.discard(address)
            self._node_lost(address)
        else:
            node.seen = {seen.worker: seen for seen in report.seen}
            node.looked = time.monotonic()

    def _event(self, node: DaskNode, event: LaneEvent) -> None:
        if isinstance(event, MethodUnusable | MoreSlots | PoolLost | PoolNote):
            self._inbox.events.append(event)
            return
        place = node.places[event.worker]
        if isinstance(event, Shard):
            event = self._publish(place, event)
        if not isinstance(event, PoolNote):
            place.unreported.hear(event)
        node.fruitful |= isinstance(event, TasksDurable | Failed)
        if isinstance(event, WorkerGone):
            self._free(place)
        self._inbox.events.append(event if isinstance(event, PoolNote) else replace(event, worker=place.slot))

    def _publish(self, place: Place, shard: Shard) -> TasksDurable | DiskTrouble | PoolNote:
        """Publish results that a worker could not publish, unless they were damaged on the way."""
        try:
            segments = ShardFile(Path(str(place.node)), shard.data).segments()
            records = [record for segment in segments for record in segment.records()]
            name = shard_name(self._shards.publish(records).path)
        except DataError as error:
            return PoolNote("returned results are damaged", {"reason": str(error)})
        except StorageError as error:
            return DiskTrouble(place.lane, str(error))
        return TasksDurable(place.lane, shard.tasks, name, shard.seconds)

    def _free(self, place: Place) -> None:
        del self._places[place.slot], place.node.places[place.lane]
        place.node.seen.pop(place.lane, None)
        if place.node.address in self._nodes:
            place.node.free.append(place.lane)

    def _node_vanished(self, address: str) -> None:
        """The scheduler knows a Dask worker no more; its nanny may bring it back, but not for ever.

        A nanny restarts a Dask worker whatever it dies of, each time under another address; only the address of its
        nanny, or its name, tells that it is the same.
        """
        node = self._nodes.get(address)
        self._node_lost(address)
        identity = "" if node is None else node.opened.identity
        if node is None or not identity:
            return
        alone = all(other.opened.identity == identity for other in self._nodes.values())
        count = self._losses[identity] = 0 if node.fruitful else self._losses[identity] + 1
        if count >= (LOSSES_ALONE if alone else LOSSES):
            why = (
                f"the Dask worker {node} was lost and came back {count} times in a row without finishing a task "
                f"({identity}); it is not used any more, see its own log for what ends it, such as its memory limit"
            )
            self._given_up.add(identity)
            self._inbox.events.append(PoolNote("node given up", {"address": address, "reason": why}))
            self._say(why)
            if alone:
                self._give_up(why, remedy="")

    def _node_lost(self, address: str) -> None:
        node = self._nodes.pop(address, None)
        if node is None:
            return
        self._link.forget(address)
        gone = list(node.places.values())
        self._inbox.events.append(
            PoolNote(
                "node lost",
                {"address": address, "node": node.opened.node, "job": node.opened.job, "workers": len(gone)},
            )
        )
        for place in gone:
            self._inbox.events.append(self._gone_with(node, place))
            self._free(place)

    def _gone_with(self, node: DaskNode, place: Place) -> WorkerGone:
        published = place.unreported.published(self._run) if node.sees_run else ()
        node.fruitful |= bool(published)
        suspect = place.suspect if place.suspect not in published else None
        if suspect is not None:
            self._vanished[suspect] += 1
        blamed = suspect if suspect is not None and self._vanished[suspect] >= _BLAMED_AFTER else None
        failure = Failure(Kind.KILLED, f"the Dask worker {node} is gone{_after(place, suspect)}")
        return WorkerGone(place.slot, blamed, failure, place.ending, published)


def _after(place: Place, task: int | None) -> str:
    """Return how long the task had run when its Dask worker vanished, as the job may be too short for it."""
    seen = place.node.seen.get(place.lane)
    if task is None or seen is None or seen.task != task:
        return ""
    seconds = seen.seconds + time.monotonic() - place.node.looked
    hint = "; if that is about the time of the job, raise --time" if place.node.opened.job else ""
    return f", {seconds:,.0f} s after it began this task{hint}"
