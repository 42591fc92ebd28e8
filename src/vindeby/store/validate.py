"""The validation of a database: whether every record is intact, and the database matches its own description.

The store checks what it can know: seals, checksums, success marks, keys that occur twice, totals in the root
against what is there, expected keys. Whether a record is *possible* is for those who know what it means: a
``Check`` is called with every record and says what is wrong with it. What is expected and has no record that is
whole, marked, possible and an answer is missing, and ``missing`` says why. Which record of several under one key
counts is decided as in a merge (``merge.sources``).

A folder of files that other programs left is validated as it stands: what each file is, and what is in it.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from vindeby.arrays import BoolArray
from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import refuse_other_formats
from vindeby.store.disk.run_directory import (
    Invalid,
    RunDirectory,
    Verdicts,
    hdf5_files,
    read_recompute_request,
)
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.origin import count_origins, in_words
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.root import root_is_intact
from vindeby.store.format.rows import Segment
from vindeby.store.merge.audit import FileEntry
from vindeby.store.merge.new_database import STALE
from vindeby.store.merge.sources import Source, by_precedence, scan, select
from vindeby.store.read.reading import Reading
from vindeby.store.states import Known, TaskStatus, answers, missing_tasks
from vindeby.text import listed, one_line, plural

Check: TypeAlias = Callable[[Record], Iterable[str]]
"""Given a record, what is wrong with it, in words; nothing when it is right."""
_MOST_LOOKS = 10


@dataclass(frozen=True)
class Issue:
    """A problem with a file, or with a record in it."""

    file: str
    key: str
    what: str

    def __str__(self) -> str:
        return one_line(": ".join(part for part in (self.file, self.key, self.what) if part))


@dataclass
class ValidationReport:
    """The result of a validation."""

    path: str
    records: int = 0
    files: int = 0
    sealed: bool = False
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: list[TaskStatus] = field(default_factory=list)
    origins: Counter[str] = field(default_factory=Counter)
    """The number of records of each unverified origin."""
    contents: list[FileEntry] = field(default_factory=list)
    """The kind of each file, for a folder."""
    invalid: list[Invalid] = field(default_factory=list)
    """The records that a check found something wrong with."""
    digest: str = ""
    """The digest of the database's seal."""
    not_computed_again: dict[str, int] = field(default_factory=dict)
    """The number of records that a deep check left out, by reason."""

    @property
    def valid(self) -> bool:
        """Return whether there are neither issues nor missing results."""
        return not self.issues and not self.missing

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data, for --json."""
        named = {name: value for name, value in vars(self).items() if name not in {"invalid", "digest"}}
        lists = {name: [one.to_json() for one in named[name]] for name in ("contents", "missing")}
        lists["issues"] = [vars(one) for one in self.issues]
        return {"path": self.path, "valid": self.valid, **named, **lists}

    def verdicts(self, expected: Mapping[str, str]) -> Verdicts:
        """Return the verdicts to store: the invalid records that answer the campaign."""
        answering = (
            one for one in self.invalid if one.key in expected and answers(one.fingerprint, expected[one.key])
        )
        return Verdicts.of(answering, self.digest)


def validate(
    path: Path | str | RunDirectory,
    *,
    expected: Mapping[str, str] | None = None,
    checks: Iterable[Check] = (),
    limits: ReadLimits | None = None,
) -> ValidationReport:
    """Check every record of a database and its shards, or of all files in a folder."""
    checks = tuple(checks)
    for _ in range(_MOST_LOOKS):
        # A merge that ends meanwhile has deleted a shard which was listed before: look again.
        with contextlib.suppress(FileNotFoundError):
            return _Validation(path, expected, checks, limits).do()
    output = RunDirectory.of(path).output
    raise DataError(
        f"{output}: files appear and disappear while they are read; validate again when nothing merges"
    )


class _Validation:
    def __init__(
        self,
        path: Path | str | RunDirectory,
        expected: Mapping[str, str] | None,
        checks: tuple[Check, ...],
        limits: ReadLimits | None,
    ) -> None:
        self.run = RunDirectory.of(path)
        self.path = self.run.output if isinstance(path, RunDirectory) else Path(path)
        self.expected, self.checks, self.limits = expected, checks, limits
        self.report = ValidationReport(str(self.path))
        self.sources: list[Source] = []
        self.others: dict[str, str] = {}
        """Fingerprints, by checksum, of records that do not answer what is expected under their key."""
        self.shards: list[Path] = []

    def do(self) -> ValidationReport:
        shards = self.shards = self.run.shard_paths()
        if not self.path.exists() and not shards:
            raise InputError(f"{self.path}: there is no such database")
        if self.path.is_dir():
            return self._folder()
        refuse_other_formats(self.path)
        with Guard(self.limits) as guard:
            if self.path.exists():
                self._database(self._file(self.path, guard, "database").reading)
            for shard in shards:
                self._file(shard, guard, "shard")
        self._select()
        if shards and self.path.exists():
            self.report.notes.append(
                f"{plural(len(shards), 'shard is', 'shards are')} not merged yet; `vindeby merge {self.path}`"
            )
        if unverified := in_words(self.report.origins):
            self.report.notes.append(f"{plural(self.report.records, 'result')}, {unverified}")
        return self.report

    def _folder(self) -> ValidationReport:
        with Guard(self.limits) as guard:
            for path in hdf5_files(self.path):
                self.report.contents.append(self._file(path, guard, "given file").entry)
        if not self.report.contents:
            raise InputError(
                f"{self.path}: this folder holds no HDF5 files; name a database, or a folder of worker files"
            )
        self.report.notes.append(
            f"a folder of worker files: `vindeby adopt {self.path} -o OUT.h5 --campaign CAMPAIGN` keeps every layout "
            "that is right, also from damaged files; `vindeby run CAMPAIGN -o OUT.h5` computes the rest"
        )
        self._select()
        return self.report

    def _issue(self, path: Path, key: str, what: str) -> None:
        self.report.issues.append(Issue(str(path), key, what))

    def _file(self, path: Path, guard: Guard, kind: str) -> Source:
        self.report.files += 1
        source = scan(path, kind, guard, partial(self._segment, path))
        if kind == "shard" and Finding(Verdict.MISSING) in source.entry.findings:
            raise FileNotFoundError(path)
        for finding in source.entry.findings:
            self._issue(path, finding.key, str(Finding(finding.verdict, finding.detail)))
        self.sources.append(source)
        return source

    def _database(self, reading: Reading) -> None:
        self.report.sealed, self.report.digest = reading.streamed is not None, reading.digest
        self._root(reading.root)
        if reading.lost_its_seal:
            self.report.notes.append(
                "its seal is missing: it was cut off, or another program changed or copied the file since it was "
                "merged; every record that states a checksum was compared with it. "
                f"`vindeby merge {self.path}` writes the records into a new file and keeps this one whole, with all "
                f"that was added to it, in {self.run.replaced}"
            )
        elif not reading.sealed:
            self.report.notes.append(
                "no seal and no checksums: made by another program, values taken as they are"
            )

    def _segment(self, path: Path, segment: Segment, intact: BoolArray) -> None:
        self.report.records += len(segment)
        self.report.origins += count_origins(segment)
        segment = segment.take(intact)
        records = segment.records() if self.checks else iter([None] * len(segment))
        columns = [
            [text.decode(errors="replace") for text in segment.rows[name].tolist()]
            for name in ("key", "fingerprint", "checksum")
        ]
        for record, key, fingerprint, checksum in zip(records, *columns, strict=True):
            wrong = [] if record is None else [what for check in self.checks for what in check(record)]
            for what in wrong:
                self._issue(path, key, what)
            if wrong:
                self.report.invalid.append(Invalid(key, checksum, "; ".join(wrong), fingerprint))
            if self.expected is not None and not answers(fingerprint, self.expected.get(key, "")):
                self.others[checksum] = fingerprint

    def _select(self) -> None:
        sources = by_precedence(self.sources)
        invalid = {one.checksum for one in self.report.invalid}
        selection = select(sources, self.expected, invalid | read_recompute_request(self.run).replaced)
        for key, refused in {one.key: one.refused for one in selection.conflicts}.items():
            self._issue(Path(refused), key, "occurs twice with different content")
        kept = {
            key.decode(errors="replace"): checksum.decode(errors="replace")
            for source, mask in zip(sources, selection.masks, strict=True)
            for key, checksum in zip(source.keys[mask].tolist(), source.checksums[mask].tolist(), strict=True)
        }
        self._expected(kept, invalid)

    def _root(self, root: Mapping[str, Attribute]) -> None:
        if not root_is_intact(root):
            self._issue(self.path, "", "checksum mismatch in the root attributes")
        count = root.get("successful_configs")
        stale = root.get(STALE, 0)
        if isinstance(count, int) and isinstance(stale, int) and count + stale != self.report.records:
            self._issue(
                self.path,
                "",
                f"successful_configs is {count}, but {plural(self.report.records - stale, 'record')} found",
            )
        total = root.get("total_configs")
        if self.expected is not None and isinstance(total, int) and total != len(self.expected):
            what = f"total_configs is {total}, but the campaign has {len(self.expected)}"
            if self.shards:
                self.report.notes.append(f"{what}; the next merge sets it right")
            else:
                self._issue(self.path, "", what)

    def _expected(self, kept: Mapping[str, str], invalid: Collection[str]) -> None:
        if self.expected is None:
            return
        bad = {issue.key: issue.what for issue in self.report.issues if issue.key}
        known = Known(
            {key: self.others.get(checksum, self.expected.get(key, "")) for key, checksum in kept.items()},
            invalid={key: bad.get(key, "") for key, checksum in kept.items() if checksum in invalid},
            damaged=bad,
        )
        self.report.missing = missing_tasks(self.expected, known)
        unknown = [key for key in kept if key not in self.expected]
        if unknown:
            shown = listed(unknown, None)
            self.report.notes.append(
                f"{plural(len(unknown), 'record is', 'records are')} not part of the campaign: {shown}"
            )


def repeated(issues: Iterable[Issue], at_least: int = 3) -> list[tuple[str, int]]:
    """Return the issues that occur at least so often with their counts, so that each is reported once."""
    return [entry for entry in Counter(issue.what for issue in issues).most_common() if entry[1] >= at_least]
