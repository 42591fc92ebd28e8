"""Valid results that are computed again because somebody asks for it.

The promise: each old result counts until a merge has the new one, wherever the run is killed, and the same command goes
on with what is left. So the request is kept in the run directory with the checksums of the old results, from before the
first task until the run is complete. A merge lets any other result of the same task take the place of these records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vindeby.assembly.done import Judge
from vindeby.assembly.merging import merge_options
from vindeby.campaign.reading.readers import readers
from vindeby.errors import ArgumentError
from vindeby.runner.resume import ResumeState, TaskSpace
from vindeby.store.disk.run_directory import (
    RecomputeRequest,
    RunDirectory,
    keep_old_file,
    read_recompute_request,
    write_recompute_request,
)
from vindeby.store.format.rows import checksum_of
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.text import plural


@dataclass(frozen=True)
class Recompute:
    """Which results a user wants computed again: these keys, and those that a condition is true for."""

    keys: Sequence[str] = ()
    where: str | None = None
    keep_replaced: bool = False
    """Keep the whole OUT.h5 as it was."""

    def __bool__(self) -> bool:
        return bool(self.keys) or self.where is not None

    def refuse(self, judge: Judge, *, is_part: bool) -> None:
        """ArgumentError for a key that is not of a task, and for options that do not go together."""
        if self and is_part:
            raise ArgumentError("--recompute: a part does not merge; give it without --part")
        if self.keep_replaced and not self:
            raise ArgumentError("--keep-replaced: give it with --recompute or --recompute-where")
        for key in self.keys:
            if judge.asked(key) is None:
                raise ArgumentError(
                    f"--recompute: {key!r} is not a task of the campaign; `vindeby query OUT.h5` lists the keys of its "
                    "results"
                )

    def request(
        self, run: RunDirectory, space: TaskSpace, confirm: Callable[[], None]
    ) -> Callable[[], RecomputeRequest]:
        """Find the results, under the lock; what is returned keeps the request, once the campaign is frozen.

        The same words in the same campaign continue a request that is not complete. The results of another request
        are merged before, so that each task has one old result.
        """
        words = json.dumps([space.text, sorted(set(self.keys)), self.where])
        asked, begun = hashlib.sha256(words.encode()).hexdigest(), read_recompute_request(run)
        if begun.asked == asked:
            return lambda: begun
        keys = dict.fromkeys(self.keys)
        if self.where is not None:
            chosen = readers().ResultSet(run.output, campaign=space.campaign, where=self.where).keys
            if not chosen:
                raise ArgumentError(f"--recompute-where: no valid result meets {self.where!r}")
            keys |= dict.fromkeys(chosen)

        def keep() -> RecomputeRequest:
            if begun.keys:
                how = MergeOptions(on_bad="skip", wait_s=600.0, confirm=confirm)
                merge(run, merge_options(space.campaign, how))
            with Database(run) as database:
                old = {checksum_of(copy) for key in keys for copy in database.copies(key)}
            confirm()
            if self.keep_replaced and run.output.exists():
                keep_old_file(run, f"{plural(len(keys), 'result')} of it were to be computed again")
            kept = RecomputeRequest(asked, tuple(keys), frozenset(old))
            write_recompute_request(run, kept)
            return kept

        return keep


def add_to_todo(state: ResumeState, run: RunDirectory, space: TaskSpace, request: RecomputeRequest) -> int:
    """Add the tasks of a request that have no new result yet to what is left to do; how many there are."""
    with Database(run) as database:
        again = {
            key
            for key in request.keys
            if all(checksum_of(copy) in request.replaced for copy in database.copies(key))
        }
    todo = set(state.todo)
    for number in range(len(space)):
        key = space.key(number)
        if key not in again or number in todo:
            continue
        todo.add(number)
        if key in state.stale:
            state.stale.remove(key)
        elif state.failed.pop(key, None) is None and state.invalid.pop(key, None) is None:
            state.done -= 1
    state.todo = sorted(todo)
    return len(again)
