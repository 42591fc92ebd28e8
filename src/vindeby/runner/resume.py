"""What is there already: done, stale, failed, or bad; and so what is left to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.runner.space import Part, TaskSpace
from vindeby.store.database import Database
from vindeby.store.events import SetAside, read_failures
from vindeby.store.inspect import Finding
from vindeby.store.missing import fingerprints
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
    standing = Standing()
    have = _have(run, standing)
    failures = read_failures(run)
    for number in _numbers(space, part):
        if not have and not failures:
            standing.todo.append(number)
            continue
        task = space.task(number)
        found = have.get(task.key)
        failure = failures.get(task.key)
        if found is not None and found in {"", task.fingerprint}:
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


def _have(run: RunDirectory, standing: Standing) -> dict[str, str]:
    if not run.output.exists() and not run.shards.exists():
        return {}
    with Database(run.output) as database:
        found = fingerprints(database)
        standing.bad = dict(database.findings)
    return found


def _numbers(space: TaskSpace, part: Part | None) -> Iterator[int]:
    return iter(range(len(space))) if part is None else (n for n in range(len(space)) if part.holds(n))
