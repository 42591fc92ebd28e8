"""Who may run a campaign at the same time: all parts of it side by side, or one process the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vindeby.errors import BusyError
from vindeby.runner.task_space import Part
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import take_over_merge


@contextmanager
def hold(
    directory: RunDirectory,
    part: Part | None,
    *,
    take_over: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Lock]:
    """Hold the run directory, or this part's share; BusyError names who has it. The dead hold nothing.

    ``take_over`` takes it away from whoever holds it, from those that it excludes, and from who merges.
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
