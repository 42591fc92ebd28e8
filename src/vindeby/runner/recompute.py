"""Requests to compute valid results again.

The promise: each old result counts until a merge has the new one, wherever the run is killed, and the next run goes on
with what is left. So the request is kept in the run directory with the checksums of the old results, from before the
first task until the run is over. A merge lets any other result of the same task take the place of these records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vindeby.assembly.done import Judge
from vindeby.campaign.reading.readers import readers
from vindeby.errors import ArgumentError
from vindeby.runner.resume import ResumeState, TaskSpace
from vindeby.store.disk.run_directory import (
    RecomputeRequest,
    RunDirectory,
    read_recompute_request,
    write_recompute_request,
)
from vindeby.store.format.rows import checksum_of
from vindeby.store.read.database import Database


@dataclass(frozen=True)
class Recompute:
    """A request to compute results again: these keys, and all results for which a condition is true."""

    keys: Sequence[str] = ()
    where: str | None = None

    def refuse(self, judge: Judge, *, is_part: bool) -> None:
        """Raise ArgumentError if a key is not the key of a task, or if the run is a part."""
        if is_part and (self.keys or self.where is not None):
            raise ArgumentError("--recompute: a part does not merge; give it without --part")
        for key in self.keys:
            if judge.asked(key) is None:
                raise ArgumentError(
                    f"--recompute: {key!r} is not a task of the campaign; `vindeby query OUT.h5` lists the keys of its "
                    "results"
                )

    def find(self, run: RunDirectory, space: TaskSpace) -> list[str]:
        """Return the keys of the results; ArgumentError if the condition is true for none."""
        keys = dict.fromkeys(self.keys)
        if self.where is not None:
            chosen = readers().ResultSet(run.output, campaign=space.campaign, where=self.where).keys
            if not (chosen or read_recompute_request(run).keys):
                raise ArgumentError(f"--recompute-where: no valid result meets {self.where!r}")
            keys |= dict.fromkeys(chosen)
        return [*keys]


def renew_request(run: RunDirectory, keys: Sequence[str]) -> RecomputeRequest:
    """Add results to the incomplete request, durably; return the whole request.

    A key that is in it already keeps its old result, so that the same command goes on where it was killed.
    """
    begun = read_recompute_request(run)
    if not (added := [key for key in keys if key not in begun.keys]):
        return begun
    with Database(run) as database:
        old = {checksum_of(copy) for key in added for copy in database.copies(key)}
    request = RecomputeRequest((*begun.keys, *added), begun.replaced | old)
    write_recompute_request(run, request)
    return request


def add_to_todo(state: ResumeState, run: RunDirectory, space: TaskSpace, request: RecomputeRequest) -> int:
    """Add the requested tasks without a new result to the tasks to do; return their number."""
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
