"""The comparison of a campaign with the results on disk, and so the tasks that are left to do.

The tasks of a campaign by number, compared with the results that are there: done, invalid, stale, failed, or in bad
files. What counts as done is defined once, in ``assembly.done``. A bad file is never deleted: ``--on-bad rerun`` moves
a shard to ``quarantine/`` with a note, after publishing what is good in it again, and puts a copy of a damaged database
there before the next merge replaces it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from vindeby.assembly.done import Judge, judge, not_done
from vindeby.campaign import Campaign, Task
from vindeby.campaign.task_index import TaskIndex
from vindeby.errors import ArgumentError, BusyError, DataError
from vindeby.store.disk.events import FailedTask, read_failures
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import RunDirectory, Verdicts, read_verdicts
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import take_over_merge
from vindeby.store.read.columns import former_campaigns
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.states import Known, TaskState
from vindeby.text import plural


class TaskSpace:
    """The numbering of tasks: ``number`` is seed ``number % seeds`` of cell ``number // seeds``."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.text = campaign.dumps()
        """The campaign file, by which the results on disk know their campaign."""
        self.cells = campaign.cells()
        self.seeds = campaign.seeds

    def __len__(self) -> int:
        return len(self.cells) * len(self.seeds)

    def task(self, number: int) -> Task:
        """Return the task of this number."""
        cell, seed = divmod(number, len(self.seeds))
        return next(self.cells[cell].tasks((self.seeds[seed],)))

    def key(self, number: int) -> str:
        """Return the key of this task, without computing its fingerprint."""
        cell, seed = divmod(number, len(self.seeds))
        return self.cells[cell].key(self.seeds[seed])

    def groups(self, numbers: Iterator[int]) -> list[list[int]]:
        """Return the numbers by cell; for stored layouts, whose combinations share much, by farm and type."""
        groups: dict[object, list[int]] = {}
        is_stored = self.campaign.stored is not None
        for number in numbers:
            cell = self.cells[number // len(self.seeds)]
            groups.setdefault(cell.place[:2] if is_stored else cell.place, []).append(number)
        return [*groups.values()]


@dataclass(frozen=True)
class Part:
    """A fixed share of a campaign: ``3/32`` is every 32nd task, beginning with the third."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """Return the part that the command line names; ArgumentError if it names none."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= 1_000_000):
            raise ArgumentError(f"--part: {text!r} is not a part; write 3/32 for the third of 32")
        return cls(int(number), int(of))

    def holds(self, number: int) -> bool:
        """Return whether a task belongs to this part."""
        return number % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass
class ResumeState:
    """The state of a campaign on disk."""

    asked: int = 0
    todo: list[int] = field(default_factory=list)
    done: int = 0
    stale: list[str] = field(default_factory=list)
    """Keys whose result answers what the campaign asked before it was changed."""
    changes: str = ""
    """The changes since the first stale result was computed; empty if unknown."""
    invalid: dict[str, str] = field(default_factory=dict)
    """Keys whose result is not possible, and why."""
    verdicts: Verdicts = field(default_factory=Verdicts)
    failed: dict[str, FailedTask] = field(default_factory=dict)
    bad: dict[Path, list[Finding]] = field(default_factory=dict)
    """Files in which something is wrong."""


@dataclass(frozen=True)
class Again:
    """The kinds of tasks to compute again although a result or a failure is stored."""

    stale: bool = False
    failed: bool = False


def compare_with_disk(
    run: RunDirectory, space: TaskSpace, judge_: Judge, *, part: Part | None = None, again: Again
) -> ResumeState:
    """Compare the tasks of a campaign with the results on disk."""
    state = ResumeState()
    failures = read_failures(run)
    known = Known(failed=failures)
    exists = run.output.exists() or run.shards.exists()
    with Database(run) if exists else contextlib.nullcontext() as database:
        if database is not None:
            state.verdicts = judge(database, judge_, read_verdicts(run, space.text))
            state.bad = dict(database.findings)
            known = Known.of(database, invalid=not_done(database, state.verdicts), failed=failures)
        for number in range(len(space)):
            if part is not None and not part.holds(number):
                continue
            state.asked += 1
            if not known.fingerprints and not failures:
                state.todo.append(number)
                continue
            task = space.task(number)
            status = known.status(task.key, task.fingerprint)
            is_stale, found = status.state == TaskState.STALE, known.fingerprints.get(task.key)
            is_invalid = status.state == TaskState.INVALID and found is not None
            if is_invalid:
                state.invalid[task.key] = status.why
            failure = failures.get(task.key)
            has_failed = failure is not None and failure.fingerprint == task.fingerprint and not again.failed
            is_kept = is_stale and not again.stale
            if found is not None and is_stale and (is_kept or not has_failed):
                _note_stale(state, run, space.campaign, task.key, found)
            if status.state == TaskState.DONE:
                state.done += 1
            elif failure is not None and has_failed and not is_kept:
                state.failed[task.key] = failure
            elif not is_kept:
                state.todo.append(number)
    return state


def _note_stale(
    state: ResumeState, run: RunDirectory, campaign: Campaign, key: str, fingerprint: str
) -> None:
    if not state.stale:
        formers = partial(former_campaigns, run, run.campaign_text())
        state.changes = TaskIndex(campaign, formers).changes_since(key, fingerprint)
    state.stale.append(key)


def refuse_or_quarantine(directory: RunDirectory, resume_state: ResumeState, on_bad: str) -> None:
    """Refuse or quarantine bad files, before any task is run."""
    if not resume_state.bad:
        return
    if on_bad == "abort":
        count = plural(len(resume_state.bad), "file with results is", "files with results are")
        raise DataError(
            f"{directory.output}: {count} bad; nothing was run or changed:",
            *(f"  {path}: {'; '.join(map(str, findings))}" for path, findings in resume_state.bad.items()),
            "--on-bad rerun puts them in quarantine/ and computes again what is missing; --on-bad skip goes on without",
        )
    for path, findings in resume_state.bad.items():
        why = "; ".join(map(str, findings))
        if path == directory.output:
            copy = directory.path / f"{path.name}.copy"
            shutil.copy2(path, copy)
            directory.put_in_quarantine(copy, f"copy of {path}: {why}")
        elif on_bad == "rerun":
            with Guard() as guard:
                segments = read_any(path, guard).segments
            good = [record for segment in segments for record in segment.records()]
            if good:
                ShardWriter(directory).publish(good)
            directory.put_in_quarantine(path, why)


@contextmanager
def hold(
    directory: RunDirectory,
    part: Part | None,
    *,
    take_over: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Lock]:
    """Hold the run directory, or this part's share of it; BusyError names the process that holds it.

    ``take_over`` takes it away from the process that holds it, from those that it excludes, and from one that merges.
    """
    name = "run" if part is None else f"run-{part.number}-of-{part.of}"
    with directory.lock(name, take_over=take_over, say=say) as lock:
        pattern = "run-*-of-*.lock" if part is None else "run.lock"
        for path in sorted(directory.path.glob(pattern)):
            other = directory.lock(path.stem, take_over=take_over, say=say)
            try:
                other.clear()
            except BusyError as error:
                share = "a part" if part is None else "the whole"
                raise BusyError(
                    f"{directory.output}: another process runs {share} of this campaign", *error.args
                ) from None
        if take_over:
            take_over_merge(directory, say)
        yield lock
