"""From any mixture of good, empty, cut, locked and corrupt files to a database of what was saved.

Originals are never changed. Whichever way a record is reached: when it states a checksum and does not meet it, it is
not saved. What is saved goes the same way as every result: published as shards beside the new database, then merged,
verified. The report says for each file what was found, saved and lost, and why.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from vindeby.errors import ArgumentError, InputError
from vindeby.store.disk.files import check_output, refuse_other_formats, storage_error
from vindeby.store.disk.run_directory import SUFFIXES, RunDirectory
from vindeby.store.foreign.door import GROUP_BY_GROUP, read_foreign
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.origin import ORIGIN
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.root import OWN_FIELDS
from vindeby.store.format.rows import Schema, Segment, batches, checksum_of
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.audit import Conflict
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.merge.new_database import STALE
from vindeby.store.merge.sources import same_result
from vindeby.store.read.reading import Reading, read_file, usual_names
from vindeby.text import one_line, plural


class SavedRow(NamedTuple):
    """A record that was saved, in a temporary file."""

    spool: IO[bytes]
    schema: Schema
    row_type: np.dtype[Any]
    place: int

    def record(self) -> Record:
        """Read it."""
        data = os.pread(self.spool.fileno(), self.row_type.itemsize, self.place)
        return Segment(self.schema, np.frombuffer(data, self.row_type)).record(0)


def rescue(path: Path, spool: IO[bytes], guard: Guard, naming: str, needed: Sequence[str] = ()) -> Saved:
    """Save everything that can be saved from one file; the records are kept in ``spool``, a temporary file.

    With ``needed``, a record without a checksum is saved when it has these arrays, whatever else of it is lost.
    """
    saved = Saved(path, spool, naming, needed)
    try:
        saved.size = path.stat().st_size
    except OSError as error:
        saved.findings.append(Finding(Verdict.CANNOT_OPEN, error.strerror or str(error)))
        return saved
    read_file(path, guard, saved)
    saved.settle()
    return saved


class Saved(Reading):
    """What one file gave, by which means, and what is wrong with it."""

    def __init__(self, path: Path, spool: IO[bytes], naming: str, needed: Sequence[str]) -> None:
        super().__init__()
        self.path, self.spool, self.size = path, spool, 0
        self.means: dict[str, int] = {}
        self.records: dict[str, SavedRow] = {}
        self._naming, self._needed = naming, needed
        self._contents: set[bytes] = set()

    @property
    def damaged(self) -> bool:
        """Is something wrong with the file as a whole?"""
        return any(not finding.key for finding in self.findings)

    def read_unsealed(self, path: Path, guard: Guard) -> None:
        """Read a file without a valid seal in every way there is."""
        read_foreign(path, guard, self, rescue=True, naming=self._naming, needed=self._needed)
        self.settle()
        if not self.records and not self.findings:
            self.findings.append(Finding(Verdict.NO_RESULTS))

    def take(self, segment: Segment, way: str = "by its seal") -> int:
        """Save records that meet their checksums, whoever vouches for their bytes; return how many are new."""
        intact = segment.intact()
        if not intact.all():
            keys = [key.decode(errors="replace") for key in segment.rows["key"][~intact].tolist()]
            self.findings += [Finding(Verdict.CHECKSUM, "", key) for key in keys]
            segment = segment.take(intact)
        start, row_type = self.spool.seek(0, os.SEEK_END), segment.rows.dtype
        self.spool.write(segment.rows.tobytes())
        self.spool.flush()
        known = len(self.records)
        for row, record in enumerate(segment.records()):
            content = _content(record)
            if way == GROUP_BY_GROUP and content in self._contents:
                continue  # a record that is known under another key
            self._contents.add(content)
            place = start + row * row_type.itemsize
            self.records.setdefault(record.key, SavedRow(self.spool, segment.schema, row_type, place))
        new = len(self.records) - known
        if new:
            self.means[way] = self.means.get(way, 0) + new
        return new

    def settle(self) -> None:
        """Forget complaints about records that were saved in another way, and those that are made twice."""
        self.findings = list(
            dict.fromkeys(finding for finding in self.findings if finding.key not in self.records)
        )


def _content(record: Record) -> bytes:
    digest = hashlib.sha256(repr([*record.attributes.items()]).encode(errors="replace"))
    for name, value in record.arrays.items():
        digest.update(repr((name, value.dtype.str, value.shape)).encode())
        digest.update(value.tobytes())
    return digest.digest()


_SUFFIXES = {*SUFFIXES, ".nc", ".tmp"}


@dataclass
class SalvageReport:
    """What was found, saved and lost."""

    output: str
    records: int = 0
    files: list[Saved] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Was nothing wrong with any file?"""
        return not self.conflicts and not any(saved.findings for saved in self.files)

    def to_json(self) -> dict[str, Any]:
        """For --json."""
        return {
            "output": self.output,
            "records": self.records,
            "files": [
                {
                    "path": str(saved.path),
                    "size": saved.size,
                    "saved": len(saved.records),
                    "means": saved.means,
                    "findings": [finding.to_json() for finding in saved.findings],
                }
                for saved in self.files
            ],
            "conflicts": [vars(conflict) for conflict in self.conflicts],
        }

    def __str__(self) -> str:
        done = f"{plural(self.records, 'record')} saved from {plural(len(self.files), 'file')}"
        lines = [f"{one_line(str(self.output))}: {done}"]
        for saved in self.files:
            means = ", ".join(f"{count} {how}" for how, count in saved.means.items()) or "nothing"
            count = plural(len(saved.records), "record")
            lines.append(f"  {one_line(str(saved.path))}: {saved.size} bytes, {count} saved ({means})")
            lines += [f"    {finding}" for finding in saved.findings]
        lines += [f"  conflict: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines) + "\n"


def salvage(
    paths: Sequence[Path],
    output: Path | RunDirectory,
    *,
    naming: str = "",
    root: Mapping[str, Attribute] | None = None,
    file_format: str | None = None,
    limits: ReadLimits | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SalvageReport:
    """Save what can be saved from ``paths`` (files or folders) into a new database.

    ``naming`` makes a key from a record's attributes, as ``str.format`` does, where a group's name is lost. A record
    that does not meet the checksum it states is not saved.
    """
    run = output if isinstance(output, RunDirectory) else RunDirectory(check_output(output))
    output = run.output
    files = list(files_in(paths))
    if output.exists():
        raise ArgumentError(f"{output}: exists and is left as it is; choose another name with -o")
    if run.shard_paths():
        raise ArgumentError(f"{run.path}: holds results already; choose another name with -o")
    report = SalvageReport(str(output))
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output.parent) as spool, Guard(limits) as guard:
            for number, path in enumerate(files, 1):
                report.files.append(rescue(path, spool, guard, naming))
                if number % 100 == 0:
                    progress(f"{number} of {len(files)} files read")
            _save(report, run, root or {}, file_format, guard.limits)
    except OSError as error:
        raise storage_error(error, output) from error
    return report


def _save(
    report: SalvageReport,
    run: RunDirectory,
    root: Mapping[str, Attribute],
    file_format: str | None,
    limits: ReadLimits,
) -> None:
    _drop_incomplete(report)
    chosen = _choose(report)
    report.records = len(chosen)
    if not chosen:
        return
    found: dict[str, Attribute] = {}
    for saved in reversed(report.files):
        found |= {name: value for name, value in saved.root.items() if name not in _OURS}
    records = (saved.records[key].record() for key, saved in chosen.items())
    writer = ShardWriter(run.create())
    for batch in batches(records, limits.batch_bytes):
        writer.publish(batch)
    merge(run, MergeOptions(root={**found, **root}, file_format=file_format, limits=limits))


_OURS = {"root_checksum", "layout", "version", "format_version", "successful_configs", STALE, OWN_FIELDS}


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """Each file that is named, or stands in a folder that is named and looks like HDF5 or a shard by its name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                file for file in path.rglob("*") if file.suffix in _SUFFIXES and not file.is_dir()
            )
        elif path.exists():
            refuse_other_formats(path)
            yield path
        else:
            raise InputError(f"{path}: there is no such file or folder")


def _drop_incomplete(report: SalvageReport) -> None:
    """Drop each record that lacks an array (in a damaged file also an attribute) which most records have."""
    schemas = Counter(row.schema for saved in report.files for row in saved.records.values())
    attributes = {schema: {name for name, _ in schema.attributes} - {ORIGIN} for schema in schemas}
    usual = usual_names((schema.array_names, count) for schema, count in schemas.items())
    usual_attributes = usual_names((attributes[schema], count) for schema, count in schemas.items())
    for saved in report.files:
        damaged = saved.damaged
        for key, (_, schema, *_) in list(saved.records.items()):
            lacking = sorted(usual - set(schema.array_names))
            if damaged:
                lacking += sorted(usual_attributes - attributes[schema])
            if lacking:
                del saved.records[key]
                saved.findings.append(Finding(Verdict.INCOMPLETE, f"no {', '.join(lacking)}", key))


def _choose(report: SalvageReport) -> dict[str, Saved]:
    chosen: dict[str, Saved] = {}
    for saved in report.files:
        for key in saved.records:
            first = chosen.setdefault(key, saved)
            if first is saved:
                continue
            one, two = first.records[key].record(), saved.records[key].record()
            if not same_result(one, two):
                sums = checksum_of(one), checksum_of(two)
                report.conflicts.append(Conflict(key, str(first.path), sums[0], str(saved.path), sums[1]))
    return chosen
