"""The keys that are not done, each with the reason.

A result is done when it is whole (its checksum holds), marked as a success, possible, and answers the campaign.
The first two the store verifies whenever it reads; ``answers`` is the last; what is possible only the wind side
knows, which hands in what it found ``invalid`` (``vindeby.assembly.done``).

``expected`` maps every key of the campaign to its fingerprint. A record whose fingerprint differs answers
another question than the campaign now asks: it is stale. A record without a fingerprint (from an older
script, or salvaged) is foreign: which task it answers is unknown, and it is accepted when it is plausible.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum

from vindeby.store.read.database import Database
from vindeby.text import one_line


def answers(fingerprint: str, asked: str) -> bool:
    """Does a record with this fingerprint answer what is asked? A foreign one, which has none, is accepted."""
    return fingerprint in {"", asked}


class Reason(Enum):
    """Why a key has no valid record."""

    NEVER_STARTED = "never started"
    UNFINISHED = "started, not finished"
    ABSENT = "no result"
    FAILED = "failed"
    INVALID = "result invalid"
    STALE = "result of an older campaign"


@dataclass(frozen=True)
class Missing:
    """One key without a valid record."""

    key: str
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return "\t".join(one_line(part) for part in (self.key, self.reason, self.detail) if part)


def find_missing(
    database: Database | None,
    expected: Mapping[str, str],
    failed: Mapping[str, str] | None = None,
    started: Mapping[str, str] | None = None,
    invalid: Mapping[str, str] | None = None,
) -> list[Missing]:
    """What is missing, in the order of the campaign.

    ``failed`` maps keys to why, as the runner noted it; ``started`` maps keys of tasks that were begun to what
    became of them; ``invalid`` maps keys whose record is not possible to why.
    """
    have = fingerprints(database) if database is not None else {}
    bad = _invalid(database) if database is not None else {}
    failed, started, invalid = failed or {}, started or {}, invalid or {}
    missing: list[Missing] = []

    def note(key: str, reason: Reason, detail: str) -> None:
        missing.append(Missing(key, reason.value, detail))

    for key, asked in expected.items():
        found = have.get(key)
        if database is not None and found is not None:
            if answers(found, asked):
                if key in invalid:
                    note(key, Reason.INVALID, invalid[key])
            elif key in invalid or not has_answer(database, key, asked):
                note(key, Reason.STALE, f"fingerprint {found[:12]} instead of {asked[:12]}")
        elif key in bad:
            note(key, Reason.INVALID, bad[key])
        elif key in failed:
            note(key, Reason.FAILED, failed[key])
        else:
            note(key, Reason.UNFINISHED if key in started else Reason.NEVER_STARTED, started.get(key, ""))
    return missing


def has_answer(database: Database, key: str, fingerprint: str) -> bool:
    """Is there a valid record for what is asked, though another one under its key was published first?"""
    return any(copy.fingerprint == fingerprint for copy in database.copies(key))


def fingerprints(database: Database) -> dict[str, str]:
    """The fingerprint of every record that is there and intact."""
    found: dict[str, str] = {}
    for segment in database.segments():
        keys = (key.decode() for key in segment.rows["key"].tolist())
        marks = (mark.decode() for mark in segment.rows["fingerprint"].tolist())
        found.update(zip(keys, marks, strict=True))
    return found


def _invalid(database: Database) -> dict[str, str]:
    return {
        finding.key: f"{path.name}: {finding.verdict.value}"
        for path, findings in database.findings.items()
        for finding in findings
        if finding.key
    }


def as_text(missing: Iterable[Missing]) -> str:
    """One line a key."""
    return "".join(f"{entry}\n" for entry in missing)


def as_csv(missing: Iterable[Missing]) -> str:
    """Comma-separated, with a header."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["key", "reason", "detail"])
    writer.writerows([entry.key, entry.reason, entry.detail] for entry in missing)
    return target.getvalue()


def as_json(missing: Iterable[Missing]) -> str:
    """A list of objects."""
    return json.dumps([asdict(entry) for entry in missing], indent=1) + "\n"
