"""What is on disk already, and so what is left to do.

The tasks of a campaign by number, compared with the results that are there: done, invalid, stale, failed, or in bad
files. What counts as done is defined once, in ``assembly.done``. A bad file is never deleted: ``--on-bad rerun`` moves
a shard to ``quarantine/`` with a note, after publishing what is good in it again, and puts a copy of a damaged database
there before the next merge replaces it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.assembly.done import Judge, judge, not_done
from vindeby.assembly.energy import engine_name
from vindeby.campaign import Campaign, Task
from vindeby.campaign.tasks import task_key
from vindeby.errors import ArgumentError, BusyError, DataError
from vindeby.runner.processes import node_and_job
from vindeby.store.disk.events import FailedTask, Odd, read_failures
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import RunDirectory, Verdicts, read_verdicts
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import take_over_merge
from vindeby.store.missing import answers, fingerprints, has_answer
from vindeby.store.read.database import Database
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding
from vindeby.store.read.reading import read_any
from vindeby.text import plural


class TaskSpace:
    """Task ``number`` is seed ``number % seeds`` of cell ``number // seeds``."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.text = campaign.dumps()
        """The campaign file, by which the results on disk know their campaign."""
        self.cells = campaign.cells()
        self.seeds = campaign.seeds

    def __len__(self) -> int:
        return len(self.cells) * len(self.seeds)

    def task(self, number: int) -> Task:
        """The task of this number."""
        cell, seed = divmod(number, len(self.seeds))
        return next(self.cells[cell].tasks((self.seeds[seed],)))

    def key(self, number: int) -> str:
        """Its key, without the cost of its fingerprint."""
        cell, seed = divmod(number, len(self.seeds))
        return task_key(self.cells[cell].farm_idx, self.cells[cell].type_idx, self.seeds[seed])

    def groups(self, numbers: Iterator[int]) -> list[list[int]]:
        """Numbers, sorted into their cells."""
        groups: list[list[int]] = [[] for _ in self.cells]
        for number in numbers:
            groups[number // len(self.seeds)].append(number)
        return groups


@dataclass(frozen=True)
class Part:
    """A fixed share of a campaign, ``3/32``: every 32nd task, beginning with the third."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """From the command line."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= 1_000_000):
            raise ArgumentError(f"--part: {text!r} is not a part; write 3/32 for the third of 32")
        return cls(int(number), int(of))

    def holds(self, number: int) -> bool:
        """Does a task belong to this part?"""
        return number % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass
class ResumeState:
    """How far a campaign has come."""

    asked: int = 0
    todo: list[int] = field(default_factory=list)
    done: int = 0
    stale: list[str] = field(default_factory=list)
    """Keys whose result answers what the campaign asked before it was changed."""
    invalid: dict[str, str] = field(default_factory=dict)
    """Keys whose result is not possible, and why."""
    verdicts: Verdicts = field(default_factory=Verdicts)
    failed: dict[str, FailedTask] = field(default_factory=dict)
    bad: dict[Path, list[Finding]] = field(default_factory=dict)
    """Files in which something is wrong."""
    odd: Odd = field(default_factory=dict)
    """Files of events that were left out, and why."""
    engines: Counter[str] = field(default_factory=Counter)
    """How many results are of each engine, where the campaign names one that vindeby does not hold."""


@dataclass(frozen=True)
class Again:
    """What may be computed again, though a result or a failure is there."""

    stale: bool = False
    failed: bool = False
    invalid: bool = True


def compare_with_disk(
    run: RunDirectory, space: TaskSpace, judge_: Judge, *, part: Part | None = None, again: Again
) -> ResumeState:
    """Compare what is asked with what is there."""
    state = ResumeState()
    failures, have, every = read_failures(run, state.odd), dict[str, str](), dict[str, str]()
    exists = run.output.exists() or run.shards.exists()
    with Database(run) if exists else contextlib.nullcontext() as database:
        if database is not None:
            known = read_verdicts(run, space.text) if judge_.usual else None
            state.verdicts = judge(database, judge_, known)
            state.bad = dict(database.findings)
            every, have = not_done(database, state.verdicts), fingerprints(database)
            if space.campaign.wake.engine is not None:
                state.engines = _engines_in(database, engine_name(space.campaign))
        for number in range(len(space)):
            if part is not None and not part.holds(number):
                continue
            state.asked += 1
            if not have and not failures:
                state.todo.append(number)
                continue
            task = space.task(number)
            found, failure = have.get(task.key), failures.get(task.key)
            invalid = task.key in every
            if invalid:
                state.invalid[task.key] = every[task.key]
            answered = found is not None and (
                answers(found, task.fingerprint)
                or (database is not None and has_answer(database, task.key, task.fingerprint))
            )
            if answered and (not invalid or not again.invalid):
                state.done += not invalid
            elif found is not None and not answered and not again.stale:
                state.stale.append(task.key)
            elif (
                failure is not None
                and failure.fingerprint == task.fingerprint
                and not (again.failed and _is_of_another_run(failure))
            ):
                state.failed[task.key] = failure
            else:
                if found is not None and not answered:
                    state.stale.append(task.key)
                state.todo.append(number)
    return state


def _is_of_another_run(failure: FailedTask) -> bool:
    """A job that was queued again repeats its command, but not the attempts that it has made."""
    return not failure.job or failure.job != node_and_job()[1]


def _engines_in(database: Database, default: str) -> Counter[str]:
    records = (record for segment in database.segments() for record in segment.records())
    return Counter(str(record.attributes.get("engine", default)) for record in records)


def other_engines(campaign: Campaign, engines: Counter[str]) -> Iterator[str]:
    """What to say where results are there of another engine, of another version of it, or of code edited since.

    Only code that the campaign does not hold is looked at: vindeby's own changes of results are in the fingerprints.
    """
    now = engine_name(campaign) if engines else ""
    found = Counter({name: count for name, count in engines.items() if name != now})
    given = campaign.wake.named_code
    if given is not None and given.code:
        edited = [name for name in found if given.code not in name and f"{given.model} (" in name]
        if count := sum(found.pop(name) for name in edited):
            yield (
                f"wake.{campaign.wake.chosen[0]}: the code of {given.model} has changed since "
                f"{plural(count, 'result')} were computed; they answer an older version of the campaign"
            )
    if found:
        others = ", ".join(f"{count:,} by {name}" for name, count in found.most_common(3))
        yield (
            f"{plural(found.total(), 'result')} there already come from another engine than {now}: {others}; "
            "they are kept. To compute all with one, begin anew with another -o"
        )


def refuse_or_quarantine(directory: RunDirectory, resume_state: ResumeState, on_bad: str) -> None:
    """Deal with what is bad, before anything is run."""
    if not resume_state.bad:
        return
    if on_bad == "abort":
        raise DataError(
            f"{directory.output}: {len(resume_state.bad)} files with results are bad; nothing was run or changed:",
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
    """Hold the run directory, or this part's share; BusyError names who has it. The dead hold nothing.

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
