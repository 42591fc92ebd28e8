"""The single definition of a done result, which run, missing, monitor, validate and report share.

A result is done when it is

1. whole: its bytes hold what its checksum says, where it states one (the store verifies that when it reads);
2. marked as a success (the same);
3. possible: what ``physics`` checks; turbines inside the boundary, apart, as many as asked, and an energy that is
   positive, finite, and no more than rated power all year, nor than without wakes;
4. an answer to the campaign: its fingerprint is the one that is asked, or it has none and is accepted as foreign
   (``store.states.answers``).

``judge`` finds what fails the third, among what passes the others. Whoever counts results takes it as ``invalid``.
"""

import contextlib
from collections.abc import Iterable, Iterator

from vindeby.assembly.physics import physics_checks
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import parse_key, task_key
from vindeby.errors import DataError, InputError
from vindeby.store.disk.run_directory import Invalid, RunDirectory, Verdicts, read_verdicts, write_verdicts
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Segment, checksum_of
from vindeby.store.read.database import Database
from vindeby.store.states import answers


class Judge:
    """Checks records against one campaign, each once."""

    def __init__(self, campaign: Campaign) -> None:
        self.checks = tuple(physics_checks(campaign))
        self._campaign = campaign
        self._seeds = frozenset(campaign.seeds)
        self._seen: dict[str, Invalid | None] = {}

    def asked(self, key: str) -> str | None:
        """Return the fingerprint of a key's task; None if the campaign has no such task."""
        numbers = parse_key(key)
        if numbers is None or task_key(*numbers) != key:
            return None
        cell = self._campaign.cell_of(key)
        return None if cell is None or numbers.seed not in self._seeds else cell.fingerprint(numbers.seed)

    def is_answer(self, record: Record) -> bool:
        """Return whether a record answers a task of the campaign."""
        asked = self.asked(record.key)
        return asked is not None and answers(record.fingerprint, asked)

    def why_not(self, record: Record) -> str:
        """Return why a record is invalid, in words; empty if it is valid."""
        return "; ".join(what for check in self.checks for what in check(record))

    def why_not_done(self, database: Database, key: str) -> str:
        """Return why a database has no valid result under a key, in words; empty if it has one."""
        asked = self.asked(key)
        if asked is None:
            return "is not a task of its campaign"
        if key not in database:
            return "is missing"
        record = database[key]
        if not answers(record.fingerprint, asked):
            return "answers an older version of its campaign"
        return self.why_not(record)

    def look_at(self, segments: Iterable[Segment]) -> Iterator[Invalid]:
        """Yield the invalid records among those that answer the campaign."""
        for segment in segments:
            checksums = (text.decode() for text in segment.rows["checksum"].tolist())
            for checksum, record in zip(checksums, segment.records(), strict=True):
                found = self._one(checksum, record)
                if found is not None:
                    yield found

    def _one(self, checksum: str, record: Record) -> Invalid | None:
        if not self.is_answer(record):
            return None
        if checksum not in self._seen:
            why = self.why_not(record)
            self._seen[checksum] = Invalid(record.key, checksum, why, record.fingerprint) if why else None
        return self._seen[checksum]

    def look_at_copies(self, database: Database, keys: Iterable[str]) -> Iterator[Invalid]:
        """Yield the invalid records among all copies of these keys, whether or not a copy counts."""
        for key in keys:
            for record in database.copies(key):
                found = self._one(checksum_of(record), record)
                if found is not None:
                    yield found


def judge(database: Database, judge_: Judge, known: Verdicts | None = None) -> Verdicts:
    """Return the invalid results of a database and its shards; later copies that are valid count instead.

    What ``known`` covers is not checked again.
    """
    known = known or Verdicts()
    skipped = database.path if known.covers(database.digest) else None
    invalid = {**known.invalid} if skipped else {}
    invalid |= {one.checksum: one for one in judge_.look_at(database.segments(skip=skipped))}
    keys = {one.key for one in invalid.values()}
    repeated = database.repeated_keys()
    invalid |= {one.checksum: one for one in judge_.look_at_copies(database, repeated)}
    database.pass_over(invalid, {*keys, *repeated})
    return Verdicts(invalid, database.digest)


def not_done(database: Database, verdicts: Verdicts) -> dict[str, str]:
    """Return why the record of a key is invalid, by key; records that do not count are left out."""
    return {
        one.key: one.why for one in verdicts.invalid.values() if database.checksum(one.key) == one.checksum
    }


def judged(database: Database, campaign: Campaign) -> Verdicts:
    """Judge a database, starting from the verdicts of its run directory, and write the verdicts there."""
    run, text = database.run, campaign.dumps()
    verdicts = judge(database, Judge(campaign), read_verdicts(run, text))
    write_verdicts(run, text, verdicts)
    return verdicts


class BeforeMerge:
    """The verdicts that a merge needs, and those that stay valid after it, so that not everything is checked again."""

    def __init__(self, run: RunDirectory, campaign: Campaign | None) -> None:
        self._run, self._text = run, "" if campaign is None else campaign.dumps()
        self._known, self._covered = read_verdicts(run, self._text), False
        self.invalid: frozenset[str] = frozenset(self._known.invalid)
        """Checksums of records that others may replace."""
        if campaign is None:
            return
        with contextlib.suppress(DataError, InputError), Database(run) as database:
            self._covered = self._known.covers(database.digest) or not run.output.exists()
            copies = Judge(campaign).look_at_copies(database, database.repeated_keys())
            self.invalid |= {one.checksum for one in copies}

    def carry_over(self, digest: str) -> None:
        """Write the verdicts that stay valid after the merge; workers have checked results that came from shards."""
        if self._covered and digest:
            write_verdicts(self._run, self._text, Verdicts(self._known.invalid, digest))
