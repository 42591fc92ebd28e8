"""The state of each task: one list of words, and the one function that says which of them holds, and why.

A task is *missing* as long as it is not done. Its result is done when it is whole (its checksum holds), marked as a
success, possible, and an answer to the campaign. The first two the store verifies whenever it reads; ``answers`` is the
last; what is possible only the wind side knows, which hands in what it found ``invalid`` (``vindeby.assembly.done``).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from vindeby.store.disk.events import FailedTask
from vindeby.store.read.database import Database
from vindeby.text import one_line


class TaskState(IntEnum):
    """The states of a task; every command and page uses these words."""

    OPEN = 0
    DONE = 1
    FAILED = 2
    RUNNING = 3
    INVALID = 4
    STALE = 5

    @property
    def word(self) -> str:
        """The name of the state, as commands show it."""
        return self.name.lower()


def answers(fingerprint: str, asked: str) -> bool:
    """Return whether a record with this fingerprint answers the task with the fingerprint ``asked``.

    A foreign record, from an older script or salvaged, has none and is accepted: which task it answers is unknown.
    """
    return fingerprint in {"", asked}


@dataclass(frozen=True)
class TaskStatus:
    """A task with its state, and why it is not done."""

    key: str
    state: TaskState
    why: str = ""

    def __str__(self) -> str:
        return "\t".join(one_line(part) for part in (self.key, self.state.word, self.why) if part)

    def to_json(self) -> dict[str, Any]:
        """Return the status as plain data, for --json."""
        return {"key": self.key, "state": self.state.word, "why": self.why}


@dataclass
class Known:
    """The known state of the tasks of a campaign, by key."""

    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of each intact result."""
    invalid: Mapping[str, str] = field(default_factory=dict)
    """Why a result is not possible."""
    damaged: Mapping[str, str] = field(default_factory=dict)
    """The damage of each result that cannot be read; another copy counts, if there is one."""
    failed: Mapping[str, FailedTask] = field(default_factory=dict)
    begun: Mapping[str, str] | None = None
    """The fate of tasks that were started; None if it was not checked."""
    running: Collection[str] = ()
    has_answer: Callable[[str, str], bool] = lambda *_: False
    """Given key and fingerprint, whether another copy under the key answers the campaign."""
    changes: Callable[[str, str], str] = lambda *_: ""
    """Describes, given key and fingerprint of a stale result, what has changed since."""

    @classmethod
    def of(cls, database: Database, **more: Any) -> "Known":
        """Return the state of tasks according to a database and its shards; ``more`` are other fields."""

        def has_answer(key: str, asked: str) -> bool:
            return any(copy.fingerprint == asked for copy in database.copies(key))

        found = fingerprints(database)
        damaged = {
            finding.key: f"{path.name}: {finding.verdict.value}"
            for path, findings in database.findings.items()
            for finding in findings
            if finding.key
        }
        return cls(found, damaged=damaged, has_answer=has_answer, **more)

    def status(self, key: str, asked: str) -> TaskStatus:
        """Return the state of the task with this key and fingerprint, and why."""
        found, failure = self.fingerprints.get(key), self.failed.get(key)
        if found is not None:
            if answers(found, asked):
                why = self.invalid.get(key)
                return TaskStatus(key, TaskState.DONE if why is None else TaskState.INVALID, why or "")
            if key not in self.invalid and self.has_answer(key, asked):
                return TaskStatus(key, TaskState.DONE)
            what = self.changes(key, found)
            return TaskStatus(
                key, TaskState.STALE, f"changed: {what}" if what else "the campaign was edited since"
            )
        if key in self.running:
            return TaskStatus(key, TaskState.RUNNING)
        if failure is not None and failure.fingerprint == asked:
            return TaskStatus(key, TaskState.FAILED, str(failure))
        if key in self.damaged:
            return TaskStatus(key, TaskState.INVALID, self.damaged[key])
        why = "" if self.begun is None else self.begun.get(key, "never started")
        return TaskStatus(key, TaskState.OPEN, why)


def missing_tasks(expected: Mapping[str, str], known: Known) -> list[TaskStatus]:
    """Return the tasks that are not done, in the order of the campaign.

    ``expected`` has the fingerprint of each task by its key. A task whose result is under the key of another one is not
    missing: the next merge gives it its key.
    """
    moved = {mark for key, mark in known.fingerprints.items() if mark and expected.get(key) != mark}
    every = (known.status(key, asked) for key, asked in expected.items() if asked not in moved)
    return [one for one in every if one.state != TaskState.DONE]


def fingerprints(database: Database) -> dict[str, str]:
    """Return the fingerprint of every intact record."""
    found: dict[str, str] = {}
    for segment in database.segments():
        keys = (key.decode() for key in segment.rows["key"].tolist())
        marks = (mark.decode() for mark in segment.rows["fingerprint"].tolist())
        found.update(zip(keys, marks, strict=True))
    return found
