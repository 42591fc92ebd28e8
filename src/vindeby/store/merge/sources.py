"""Where a merge takes records from: shards, the standing database, files from elsewhere.

A source is scanned once, verified, and only its keys, checksums and schemas are kept, so that a million
records need little memory; when it is written out, it is read again, and what arrived is compared with the
checksums of the scan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vindeby.store.format.own_fields import Addition
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.merge.audit import FileEntry
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding, Verdict
from vindeby.store.read.reading import Reading, iterate_sealed, read_any, read_sealed, sealed_additions


@dataclass
class Source:
    """A file, scanned."""

    path: Path
    entry: FileEntry
    keys: NDArray[np.bytes_]
    checksums: NDArray[np.bytes_]
    schemas: set[Schema] = field(default_factory=set)
    widths: dict[str, int] = field(default_factory=dict)
    root: dict[str, Attribute] = field(default_factory=dict)
    published_ns: int = 0
    kept: list[Segment] | None = None
    additions: list[Addition] = field(default_factory=list)
    """What others added to it."""

    def segments(self) -> Iterator[Segment]:
        """The records again, in the order of ``keys``."""
        if self.kept is not None:
            yield from self.kept
            return
        file = SealedFile.open(self.path, verify=False)
        if file is None:
            raise SealError(f"{self.path}: it changed while it was merged")
        with file:
            if self.entry.kind == "shard":
                file.load()
            yield from iterate_sealed(file)


def scan(path: Path, kind: str, guard: Guard) -> Source:
    """Read and verify a file; whatever is wrong with it is in the entry's findings."""
    entry = FileEntry(str(path), kind)
    try:
        entry.size = path.stat().st_size
    except OSError:
        entry.size = 0
    file = _open(path)
    if file is None:
        reading = read_any(path, guard)
    else:
        with file:
            if file.seal.directory.get("kind") == "database":
                streamed = _scan_database(file, entry)
                if streamed is not None:
                    return streamed
            reading = read_sealed(file)
    if kind == "shard" and not reading.sealed and not reading.findings:
        reading.findings.append(Finding(Verdict.CHECKSUM, "the seal that every shard ends with is missing"))
    return _of_reading(path, entry, reading)


def _open(path: Path) -> SealedFile | None:
    try:
        return SealedFile.open(path)
    except (OSError, SealError):
        return None


def _of_reading(path: Path, entry: FileEntry, reading: Reading) -> Source:
    entry.digest, entry.found, entry.findings = reading.digest, reading.count, reading.findings
    source = _collect(path, entry, iter(reading.segments))
    source.root, source.published_ns = reading.root, reading.published_ns
    source.additions = reading.additions
    if not reading.sealed or reading.findings:
        source.kept = reading.segments
    return source


def _scan_database(file: SealedFile, entry: FileEntry) -> Source | None:
    """A standing database, chunk by chunk; None when something is wrong and it must be read with care."""
    try:
        source = _collect(file.path, entry, _checked(file))
    except SealError:
        return None
    entry.digest, entry.found = file.seal.digest, len(source.keys)
    source.root = dict(file.seal.directory["root"])
    source.additions = sealed_additions(file)
    return source


def _checked(file: SealedFile) -> Iterator[Segment]:
    for segment in iterate_sealed(file):
        if not (segment.intact() & segment.marked()).all():
            raise SealError(f"{file.path}: a record in it is not right")
        yield segment


def _collect(path: Path, entry: FileEntry, segments: Iterator[Segment]) -> Source:
    keys, checksums = [np.empty(0, "S1")], [np.empty(0, "S64")]
    source = Source(path, entry, keys[0], checksums[0])
    for segment in segments:
        keys.append(segment.rows["key"].copy())
        checksums.append(segment.rows["checksum"].copy())
        source.schemas.add(segment.schema)
        for name in segment.schema.text_fields:
            width = segment.rows.dtype[name].itemsize
            source.widths[name] = max(width, source.widths.get(name, 1))
    source.keys, source.checksums = np.concatenate(keys), np.concatenate(checksums)
    return source
