"""Is every record whole, and is the database what it says it is?

The store checks what it can know: seals, checksums, success marks, keys that occur twice, totals in the root
against what is there, expected keys. Whether a record is *possible* is for those who know what it means: a
``Check`` is called with every record and says what is wrong with it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vindeby.errors import DataError, InputError
from vindeby.store.database import Database
from vindeby.store.guard import Guard, Limits
from vindeby.store.inspect import Finding, Verdict
from vindeby.store.missing import Missing, Reason
from vindeby.store.reading import Reading, iterate_sealed, read_any
from vindeby.store.record import Attribute, Record
from vindeby.store.root import root_is_intact
from vindeby.store.rows import Segment
from vindeby.store.rundir import RunDirectory
from vindeby.store.seal import SealedFile, SealError
from vindeby.store.selection import Relation, relate

Check: TypeAlias = Callable[[Record], Iterable[str]]
"""Given a record, what is wrong with it, in words; nothing when it is right."""
_MOST_LOOKS = 10


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong: about a file, or about a record in it."""

    file: str
    key: str
    what: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.what) if part)


@dataclass
class ValidationReport:
    """What was looked at and what was found."""

    path: str
    records: int = 0
    files: int = 0
    sealed: bool = False
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        """Does everything hold?"""
        return not self.issues and not self.missing

    def to_json(self) -> dict[str, Any]:
        """For --json."""
        return {
            "path": self.path,
            "valid": self.valid,
            "records": self.records,
            "files": self.files,
            "sealed": self.sealed,
            "issues": [vars(issue) for issue in self.issues],
            "notes": self.notes,
            "missing": [vars(entry) for entry in self.missing],
        }


def validate(
    path: Path,
    *,
    expected: Mapping[str, str] | None = None,
    checks: Iterable[Check] = (),
    limits: Limits | None = None,
) -> ValidationReport:
    """Look at every record of a database and of the shards beside it."""
    checks = tuple(checks)
    for _ in range(_MOST_LOOKS):
        # A merge that ends meanwhile has deleted a shard which was listed before: look again.
        with contextlib.suppress(FileNotFoundError):
            return _Validation(path, expected, checks, limits).do()
    raise DataError(
        f"{path}: files appear and disappear while they are read; validate again when nothing merges"
    )


class _Validation:
    def __init__(
        self, path: Path, expected: Mapping[str, str] | None, checks: tuple[Check, ...], limits: Limits | None
    ) -> None:
        self.path, self.expected, self.checks, self.limits = path, expected, checks, limits
        self.report = ValidationReport(str(path))
        self.keys: dict[bytes, bytes] = {}
        self.checksums: dict[bytes, bytes] = {}
        self.doubtful: dict[str, Path] = {}
        self.root: Mapping[str, Attribute] = {}
        self.shards: list[Path] = []

    def do(self) -> ValidationReport:
        shards = self.shards = RunDirectory(self.path).shard_paths()
        if not self.path.exists() and not shards:
            raise InputError(f"{self.path}: there is no such database")
        if self.path.is_dir():
            raise InputError(
                f"{self.path}: this is a folder; name a database, or run `salvage` on the folder"
            )
        with Guard(self.limits) as guard:
            if self.path.exists():
                self._file(self.path, guard, "database")
                self._root()
            for shard in shards:
                self._file(shard, guard, "shard")
            self._copies(guard)
        if shards and self.path.exists():
            self.report.notes.append(f"{len(shards)} shards are not merged yet; `vindeby merge {self.path}`")
        self._expected()
        return self.report

    def _issue(self, path: Path, key: str, what: str) -> None:
        self.report.issues.append(Issue(str(path), key, what))

    def _file(self, path: Path, guard: Guard, kind: str) -> None:
        self.report.files += 1
        for item in self._segments(path, guard, kind):
            if isinstance(item, Segment):
                self._segment(path, item)
            else:
                self._issue(path, item.key, str(Finding(item.verdict, item.detail)))

    def _segments(self, path: Path, guard: Guard, kind: str) -> Iterator[Segment | Finding]:
        """Stream a sound sealed file; fall back to careful reading for anything else."""
        try:
            file = SealedFile.open(path)
            if file is not None:
                with file:
                    sound = next(file.bad_blocks(), None) is None
                    if sound:
                        if kind == "database":
                            self.root, self.report.sealed = dict(file.seal.directory["root"]), True
                        yield from iterate_sealed(file)
                        return
        except SealError:
            pass
        reading = read_any(path, guard)
        yield from reading.findings
        yield from reading.segments
        if kind == "database":
            self.root = reading.root
            self._unsealed(reading)
        elif not reading.sealed and not reading.findings:
            yield Finding(Verdict.CHECKSUM, "the seal that every shard ends with is missing")

    def _unsealed(self, reading: Reading) -> None:
        if reading.lost_its_seal:
            self._issue(
                self.path, "", "its seal is missing: another program changed or cut it since it was merged"
            )
        elif not reading.sealed:
            self.report.notes.append(
                "no seal and no checksums: made by another program, values taken as they are"
            )

    def _segment(self, path: Path, segment: Segment) -> None:
        rows = segment.rows
        self.report.records += len(segment)
        for row in np.flatnonzero(~segment.intact()):
            self._issue(path, rows["key"][row].decode(errors="replace"), Verdict.CHECKSUM.value)
        for row in np.flatnonzero(~segment.marked()):
            self._issue(path, rows["key"][row].decode(errors="replace"), Verdict.NOT_MARKED.value)
        keys, checksums = rows["key"].tolist(), rows["checksum"].tolist()
        for key, fingerprint, checksum in zip(keys, rows["fingerprint"].tolist(), checksums, strict=True):
            if self.checksums.setdefault(key, checksum) != checksum:
                self.doubtful[key.decode(errors="replace")] = path
            self.keys.setdefault(key, fingerprint)
        if self.checks:
            for record in segment.records():
                for check in self.checks:
                    for what in check(record):
                        self._issue(path, record.key, what)

    def _copies(self, guard: Guard) -> None:
        """Keys that occur again with another checksum: a merge must be able to tell which record to keep."""
        if not self.doubtful:
            return
        asked = self.expected or {}
        damaged = {issue.key for issue in self.report.issues}
        with Database(self.path, guard) as database:
            for key, path in self.doubtful.items():
                copies = database.copies(key)
                relations = {relate(copies[0], other, asked) for other in copies[1:]}
                twice_in_one_file = not relations and key not in damaged
                if Relation.CONFLICT in relations or twice_in_one_file:
                    self._issue(path, key, "occurs twice with different content")
                if Relation.LATER_ASKED in relations:
                    self.keys[key.encode()] = asked[key].encode()

    def _root(self) -> None:
        """The root attributes against themselves and against what is there."""
        if not root_is_intact(self.root):
            self._issue(self.path, "", "checksum mismatch in the root attributes")
        count = self.root.get("successful_configs")
        if isinstance(count, int) and count != self.report.records:
            self._issue(
                self.path, "", f"successful_configs is {count}, but {self.report.records} records are there"
            )
        total = self.root.get("total_configs")
        if self.expected is not None and isinstance(total, int) and total != len(self.expected):
            what = f"total_configs is {total}, but the campaign has {len(self.expected)}"
            if self.shards:
                self.report.notes.append(f"{what}; the next merge sets it right")
            else:
                self._issue(self.path, "", what)

    def _expected(self) -> None:
        if self.expected is None:
            return
        have = {
            key.decode(errors="replace"): mark.decode(errors="replace") for key, mark in self.keys.items()
        }
        bad = {issue.key: issue.what for issue in self.report.issues if issue.key}
        for key, fingerprint in self.expected.items():
            if key not in have:
                reason = Reason.INVALID if key in bad else Reason.NEVER_STARTED
                self.report.missing.append(Missing(key, reason.value, bad.get(key, "")))
            elif have[key] not in {"", fingerprint}:
                self.report.missing.append(Missing(key, Reason.STALE.value))
        unknown = [key for key in have if key not in self.expected]
        if unknown:
            shown = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
            self.report.notes.append(f"{len(unknown)} records are not part of the campaign: {shown}")


def repeated(issues: Iterable[Issue], at_least: int = 3) -> list[tuple[str, int]]:
    """What was found most often, so that 3,000 equal complaints can be said once."""
    return [entry for entry in Counter(issue.what for issue in issues).most_common() if entry[1] >= at_least]
