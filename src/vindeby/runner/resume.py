"""What is there already: done, stale, failed, or bad; and so what is left to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.runner.space import Part, TaskSpace
from vindeby.store.database import Database
from vindeby.store.events import SetAside, read_failures
from vindeby.store.inspect import Finding
from vindeby.store.missing import fingerprints, has_answer
from vindeby.store.rundir import RunDirectory


@dataclass
class Standing:
    """How far a campaign has come."""

    todo: list[int] = field(default_factory=list)
    done: int = 0
    stale: list[str] = field(default_factory=list)
    """Keys whose result answers what the campaign asked before it was changed."""
    failed: dict[str, SetAside] = field(default_factory=dict)
    bad: dict[Path, list[Finding]] = field(default_factory=dict)
    """Files in which something is wrong."""


def look(
    run: RunDirectory,
    space: TaskSpace,
    *,
    part: Part | None = None,
    replace_stale: bool = False,
    retry_failed: bool = False,
) -> Standing:
    """Compare what is asked with what is there."""
    with contextlib.ExitStack() as stack:
        exists = run.output.exists() or run.shards.exists()
        database = stack.enter_context(Database(run.output)) if exists else None
        return _compare(database, read_failures(run), space, part, replace_stale, retry_failed)


def _compare(
    database: Database | None,
    failures: dict[str, SetAside],
    space: TaskSpace,
    part: Part | None,
    replace_stale: bool,
    retry_failed: bool,
) -> Standing:
    standing = Standing()
    have: dict[str, str] = {}
    if database is not None:
        have = fingerprints(database)
        standing.bad = dict(database.findings)
    for number in _numbers(space, part):
        if not have and not failures:
            standing.todo.append(number)
            continue
        task = space.task(number)
        found = have.get(task.key)
        failure = failures.get(task.key)
        if found is not None and (
            found in {"", task.fingerprint}
            or (database is not None and has_answer(database, task.key, task.fingerprint))
        ):
            standing.done += 1
        elif found is not None and not replace_stale:
            standing.stale.append(task.key)
        elif failure is not None and failure.fingerprint == task.fingerprint and not retry_failed:
            standing.failed[task.key] = failure
        else:
            if found is not None:
                standing.stale.append(task.key)
            standing.todo.append(number)
    return standing


def _numbers(space: TaskSpace, part: Part | None) -> Iterator[int]:
    return iter(range(len(space))) if part is None else (n for n in range(len(space)) if part.holds(n))
