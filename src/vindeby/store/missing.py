"""The keys that have no valid record, each with the reason.

``expected`` maps every key of the campaign to its fingerprint. A record whose fingerprint differs answers
another question than the campaign now asks: it is stale. A record without a fingerprint (from an older
script, or salvaged) cannot be told, and counts as present.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum

from vindeby.store.database import Database


class Reason(Enum):
    """Why a key has no valid record."""

    NEVER_STARTED = "never started"
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
        return f"{self.key}\t{self.reason}" + (f"\t{self.detail}" if self.detail else "")


def find_missing(
    database: Database | None,
    expected: Mapping[str, str],
    failed: Mapping[str, str] | None = None,
    started: Iterable[str] = (),
) -> list[Missing]:
    """What is missing, in the order of the campaign; ``failed`` maps keys to why, as the runner noted it."""
    have = fingerprints(database) if database is not None else {}
    bad = _invalid(database) if database is not None else {}
    begun = set(started)
    found = (
        _missing(key, fingerprint, have, bad, failed or {}, begun) for key, fingerprint in expected.items()
    )
    missing = [entry for entry in found if entry is not None]
    return [entry for entry in missing if not _answered(database, entry, expected)]


def _missing(
    key: str,
    fingerprint: str,
    have: Mapping[str, str],
    bad: Mapping[str, str],
    failed: Mapping[str, str],
    begun: set[str],
) -> Missing | None:
    found = have.get(key)
    if found is not None and found in {"", fingerprint}:
        return None
    if found is not None:
        return Missing(key, Reason.STALE.value, f"fingerprint {found[:12]} instead of {fingerprint[:12]}")
    if key in bad:
        return Missing(key, Reason.INVALID.value, bad[key])
    if key in failed:
        return Missing(key, Reason.FAILED.value, failed[key])
    return Missing(key, "started, not finished" if key in begun else Reason.NEVER_STARTED.value)


def _answered(database: Database | None, entry: Missing, expected: Mapping[str, str]) -> bool:
    stale = database is not None and entry.reason == Reason.STALE.value
    return stale and database is not None and has_answer(database, entry.key, expected[entry.key])


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
