"""Who may run a campaign at the same time: all parts of it side by side, or one process the whole of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vindeby.errors import BusyError
from vindeby.runner.space import Part
from vindeby.store.lock import Lock
from vindeby.store.rundir import RunDirectory


@contextmanager
def hold(directory: RunDirectory, part: Part | None) -> Iterator[None]:
    """Hold the run directory, or this part's share; BusyError names who has it. The dead hold nothing."""
    name = "run" if part is None else f"run-{part.number}-of-{part.of}"
    with directory.lock(name):
        _refuse_others(directory, part)
        yield


def _refuse_others(directory: RunDirectory, part: Part | None) -> None:
    """Parts and the whole exclude each other."""
    pattern = "run-*-of-*.lock" if part is None else "run.lock"
    for path in sorted(directory.path.glob(pattern)):
        holder = Lock(path, "run").holder()
        if holder is not None and not holder.is_dead:
            raise BusyError(
                f"{directory.output}: {holder} runs {'a part' if part is None else 'the whole'} of this campaign "
                f"({path.name}); wait until it ends, or delete {path} if that machine is gone"
            )
