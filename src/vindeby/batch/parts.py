"""Which parts of a campaign still miss something, so that only those are submitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vindeby.assembly.done import judged, not_done
from vindeby.campaign import Campaign
from vindeby.store.disk.events import read_failures
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.missing import find_missing
from vindeby.store.read.database import Database


@dataclass(frozen=True)
class Left:
    """What is left to do: for each part that misses something, how many tasks; and how many failed before."""

    by_part: Mapping[int, int]
    failed: int
    total: int

    @property
    def tasks(self) -> int:
        """How many tasks are left in all."""
        return sum(self.by_part.values())


def what_is_left(run: RunDirectory, campaign: Campaign, parts: int, *, retry_failed: bool = False) -> Left:
    """Compare the campaign with what is there; tasks that failed for good count only with ``retry_failed``."""
    expected = campaign.fingerprints()
    failures = {key for key, task in read_failures(run).items() if expected.get(key) == task.fingerprint}
    missing = _missing(run, campaign, expected)
    given_up = set() if retry_failed else missing & failures
    by_part: dict[int, int] = {}
    for number, key in enumerate(expected):
        if key in missing and key not in given_up:
            part = number % parts + 1  # as ``vindeby run --part`` shares tasks out
            by_part[part] = by_part.get(part, 0) + 1
    return Left(dict(sorted(by_part.items())), len(given_up), len(expected))


def _missing(run: RunDirectory, campaign: Campaign, expected: Mapping[str, str]) -> set[str]:
    if not (run.output.exists() or run.shards.exists()):
        return set(expected)
    with Database(run) as database:
        invalid = not_done(database, judged(database, campaign))
        return {one.key for one in find_missing(database, expected, invalid=invalid)}
