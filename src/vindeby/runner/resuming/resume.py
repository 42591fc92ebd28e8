"""What is there already: done, invalid, stale, failed, or bad; and so what is left to do.

What counts as done is said once, in ``assembly.done``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.assembly.done import Judge, judge, not_done
from vindeby.runner.batch_job import node_and_job
from vindeby.runner.task_space import Part, TaskSpace
from vindeby.store.disk.events import FailedTask, Odd, read_failures
from vindeby.store.disk.run_directory import RunDirectory, Verdicts, read_verdicts
from vindeby.store.missing import answers, fingerprints, has_answer
from vindeby.store.read.database import Database
from vindeby.store.read.inspect import Finding


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
    with contextlib.ExitStack() as stack:
        exists = run.output.exists() or run.shards.exists()
        database = stack.enter_context(Database(run)) if exists else None
        resume_state = ResumeState()
        if database is not None:
            known = read_verdicts(run, space.campaign.dumps()) if judge_.usual else None
            resume_state.verdicts = judge(database, judge_, known)
            resume_state.invalid = not_done(database, resume_state.verdicts)
            resume_state.bad = dict(database.findings)
        _compare(resume_state, database, read_failures(run, resume_state.odd), space, part, again)
        return resume_state


def _compare(
    resume_state: ResumeState,
    database: Database | None,
    failures: dict[str, FailedTask],
    space: TaskSpace,
    part: Part | None,
    again: Again,
) -> None:
    have = {} if database is None else fingerprints(database)
    every, resume_state.invalid = resume_state.invalid, {}
    for number in _numbers(space, part):
        resume_state.asked += 1
        if not have and not failures:
            resume_state.todo.append(number)
            continue
        task = space.task(number)
        found, failure = have.get(task.key), failures.get(task.key)
        invalid = task.key in every
        if invalid:
            resume_state.invalid[task.key] = every[task.key]
        answered = found is not None and (
            answers(found, task.fingerprint)
            or (database is not None and has_answer(database, task.key, task.fingerprint))
        )
        if answered and (not invalid or not again.invalid):
            resume_state.done += not invalid
        elif found is not None and not answered and not again.stale:
            resume_state.stale.append(task.key)
        elif (
            failure is not None
            and failure.fingerprint == task.fingerprint
            and not (again.failed and _is_of_another_run(failure))
        ):
            resume_state.failed[task.key] = failure
        else:
            if found is not None and not answered:
                resume_state.stale.append(task.key)
            resume_state.todo.append(number)


def _is_of_another_run(failure: FailedTask) -> bool:
    """A job that was queued again repeats its command, but not the attempts that it has made."""
    return not failure.job or failure.job != node_and_job()[1]


def _numbers(space: TaskSpace, part: Part | None) -> Iterator[int]:
    return iter(range(len(space))) if part is None else (n for n in range(len(space)) if part.holds(n))
