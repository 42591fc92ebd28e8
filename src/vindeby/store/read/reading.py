"""Reading one file, in any state, as segments of records and findings about everything else.

A shard or a sealed database is verified by hashing and read without HDF5. Anything else goes through the one door for
files that nobody vouches for (``foreign``). Nothing here raises for a bad file: what is wrong is a finding.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vindeby.store.foreign.door import Rescue, read_foreign
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding, Verdict, marked_rows
from vindeby.store.format.formats import VerifiedFile, chunk_count, iterate, open_verified, read_chunk
from vindeby.store.format.origin import ORIGIN, origins
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.root import own_root
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.format.seal import SealError

Sink: TypeAlias = Callable[[Segment], Any]


@dataclass
class Reading:
    """The contents of a file, and the findings about it."""

    segments: list[Segment] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    root: dict[str, Attribute] = field(default_factory=dict)
    digest: str = ""
    published_ns: int = 0
    sealed: bool = False
    lost_its_seal: bool = False
    streamed: Path | None = None
    """The sealed file from which the records are read each time that they are asked for."""
    means: dict[str, int] = field(default_factory=dict)
    """The number of records in ``segments`` by the way in which they were read."""

    def take(self, segment: Segment, way: str = "by its seal") -> None:
        """Keep records that are right."""
        self.segments.append(segment)
        self.means[way] = self.means.get(way, 0) + len(segment)

    def records(self) -> dict[str, Record]:
        """Return the records in memory whose checksums hold, by key."""
        intact = (segment.take(segment.intact()) for segment in self.segments)
        return {record.key: record for segment in intact for record in segment.records()}

    def iterate(self) -> Iterator[Segment]:
        """Yield the records, from memory or from the file, each time in the same order.

        Whoever asks compares each with its checksum: those of a file that is not kept are not verified again.
        """
        yield from self.segments
        if self.streamed is None:
            return
        with self.noting(self.streamed):
            file = open_verified(self.streamed)
            if file is None:
                raise SealError(f"{self.streamed}: the seal is missing")
            with file:
                for segment in iterate(file.unverified()):
                    marked = segment.marked()
                    yield segment if marked.all() else segment.take(marked)

    @contextlib.contextmanager
    def noting(self, path: Path) -> Iterator[None]:
        """Record a finding if a sealed file does not match its directory."""
        try:
            yield
        except SealError as error:
            self.findings.append(error.finding(path))


def read_any(path: Path, guard: Guard, sink: Sink | None = None, rescue: Rescue | None = None) -> Reading:
    """Return everything usable in a file, and its findings.

    With a ``sink``, which takes each segment, nothing of a sound sealed file is kept in memory. With ``rescue``, a file
    that is damaged as a whole is read, too.
    """
    reading = Reading()
    try:
        file = open_verified(path)
    except FileNotFoundError:
        reading.findings.append(Finding(Verdict.MISSING))
    except SealError as error:
        reading.findings.append(error.finding(path))
        _read_unsealed(path, guard, reading, rescue)
    except OSError as error:
        reading.findings.append(Finding(Verdict.CANNOT_OPEN, error.strerror or str(error)))
    else:
        if file is None:
            _read_unsealed(path, guard, reading, rescue)
        else:
            with file:
                read_verified(file, reading, sink)
    if sink is not None:
        for segment in reading.segments:
            sink(segment)
    return reading


def _read_unsealed(path: Path, guard: Guard, reading: Reading, rescue: Rescue | None) -> None:
    """Read a file without a valid seal."""
    known, early = len(reading.findings), []
    seen = read_foreign(path, guard, reading, rescue)
    reading.lost_its_seal = "root_checksum" in reading.root
    if reading.lost_its_seal and rescue is None:
        own = own_root(reading.root)
        if seen.bytes_behind and not known:
            what = f"{seen.bytes_behind} bytes follow its HDF5 part, but no seal"
            early.append(Finding(Verdict.TRUNCATED, what))
        if own is None:
            early.append(Finding(Verdict.CHECKSUM, "in the root attributes"))
        reading.root = own or {}
    reading.findings[known:known] = early
    if rescue is None:
        drop_incomplete([reading])
    if not reading.segments and len(reading.findings) == known:
        reading.findings.append(Finding(Verdict.NO_RESULTS))


def read_verified(file: VerifiedFile, reading: Reading, sink: Sink | None = None) -> None:
    """Read everything in a sealed file; if it is damaged, every record that matches its own checksum.

    A ``sink`` takes the segments of a sound file only, which are then not kept; it compares each with its checksum.
    """
    reading.root, reading.digest, reading.sealed = file.root, file.digest, True
    try:
        file.verify(once=sink is not None)
        reading.published_ns = file.published_ns
    except SealError as error:
        reading.findings.append(error.finding(file.path))
        _take_intact(file.unverified(), reading)
        return
    reading.streamed = None if sink is None else file.path
    with reading.noting(file.path):
        for segment in iterate(file):
            (sink or reading.take)(marked_rows(segment, reading.findings))


def _take_intact(file: VerifiedFile, reading: Reading) -> None:
    for number in range(chunk_count(file)):
        try:
            segments = read_chunk(file, number)
        except SealError as error:
            detail = error.finding(file.path).detail
            reading.findings.append(Finding(Verdict.INCOMPLETE, f"chunk {number}: {detail}"))
            continue
        for segment in segments:
            intact = segment.intact()
            for key in segment.rows["key"][~intact].tolist():
                reading.findings.append(Finding(Verdict.CHECKSUM, "", key.decode(errors="replace")))
            right = marked_rows(segment.take(intact), reading.findings)
            if len(right):
                reading.take(right)


def drop_incomplete(readings: Sequence[Reading]) -> None:
    """Drop each unproven record without an array (in a damaged file, an attribute) that most records have."""
    counts = Counter[Schema]()
    for reading in readings:
        for segment in reading.segments:
            counts[segment.schema] += len(segment)
    arrays = _usual((schema.array_names, count) for schema, count in counts.items())
    attributes = _usual((_attribute_names(schema), count) for schema, count in counts.items())
    for reading in readings:
        is_damaged = any(not finding.key for finding in reading.findings)
        kept = []
        for segment in reading.segments:
            lacking = sorted(arrays - set(segment.schema.array_names))
            if is_damaged:
                lacking += sorted(attributes - _attribute_names(segment.schema))
            dropped = origins(segment.rows) != b"" if lacking else np.zeros(len(segment), bool)
            what = f"no {', '.join(lacking)}"
            for key in segment.rows["key"][dropped].tolist():
                reading.findings.append(Finding(Verdict.INCOMPLETE, what, key.decode(errors="replace")))
            kept.append(segment.take(~dropped))
        reading.segments = [segment for segment in kept if len(segment)]


def _attribute_names(schema: Schema) -> set[str]:
    return {name for name, _ in schema.attributes} - {ORIGIN}


def _usual(names: Iterable[tuple[Collection[str], int]]) -> set[str]:
    """Return the names that more than half of the records have, given the names of some and how many they are."""
    counts: Counter[str] = Counter()
    total = 0
    for some, count in names:
        counts.update(dict.fromkeys(some, count))
        total += count
    return {name for name, count in counts.items() if 2 * count > total}
