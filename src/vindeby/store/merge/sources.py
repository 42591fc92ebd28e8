"""The sources of a merge: shards, the current database, and files from elsewhere.

A source is scanned once, verified, and only its keys, checksums and schemas are kept, so that a million
records need little memory; when it is written out, it is read again, and what arrived is compared with the
checksums of the scan.
"""

import contextlib
import errno
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Schema, Segment, segments_of
from vindeby.store.merge.audit import Conflict, FileEntry
from vindeby.store.read.database import precedence
from vindeby.store.read.reading import Reading, read_any


@dataclass
class Source:
    """A file, scanned; ``intact`` says which of its records meet their checksums under the right key."""

    path: Path
    entry: FileEntry
    reading: Reading
    keys: NDArray[np.bytes_]
    checksums: NDArray[np.bytes_]
    intact: BoolArray
    schemas: set[Schema]
    widths: dict[str, int]


Look: TypeAlias = Callable[[Segment, BoolArray], None]
"""Gets each segment of a source, with which of its records meet their checksums."""


class _Collector:
    """A collector of the data that a source keeps of each segment."""

    def __init__(self, look: Look | None = None) -> None:
        self._look = look
        self._keys, self._checksums = [np.empty(0, "S1")], [np.empty(0, "S64")]
        self._intact = [np.empty(0, bool)]
        self._schemas: set[Schema] = set()
        self._widths: dict[str, int] = {}

    def __call__(self, segment: Segment) -> None:
        intact = segment.intact()  # a seal vouches for the bytes, not for what was sealed
        self._keys.append(segment.rows["key"].copy())
        self._checksums.append(segment.rows["checksum"].copy())
        self._intact.append(intact)
        if self._look is not None:
            self._look(segment, intact)
        if intact.any():
            self._schemas.add(segment.schema)
            widen(self._widths, segment)

    def source(self, path: Path, kind: str, reading: Reading) -> Source:
        keys, checksums, intact = map(np.concatenate, (self._keys, self._checksums, self._intact))
        for key in keys[~intact].tolist():
            reading.findings.append(Finding(Verdict.CHECKSUM, "", key.decode(errors="replace")))
        entry = FileEntry(
            str(path), kind, digest=reading.digest, found=int(intact.sum()), means=reading.means
        )
        entry.findings = list(reading.findings)
        with contextlib.suppress(OSError):
            entry.size = path.stat().st_size
        return Source(path, entry, reading, keys, checksums, intact, self._schemas, self._widths)


def scan(path: Path, kind: str, guard: Guard, look: Look | None = None) -> Source:
    """Read and verify a file; whatever is wrong with it is in the entry's findings."""
    collector = _Collector(look)
    return collector.source(path, kind, read_any(path, guard, collector))


def source_of(path: Path, kind: str, reading: Reading) -> Source:
    """Return a source of records that are in memory; ``path`` is where they come from."""
    collector = _Collector()
    for segment in reading.segments:
        collector(segment)
    return collector.source(path, kind, reading)


def in_memory(path: Path, kind: str, records: Sequence[Record]) -> Source:
    """Return a source of these records."""
    return source_of(path, kind, Reading(segments_of(records), sealed=True))


def widen(widths: dict[str, int], segment: Segment) -> None:
    """Make the widths of text fields large enough for a segment."""
    for name in segment.schema.text_fields:
        widths[name] = max(segment.rows.dtype[name].itemsize, widths.get(name, 1))


def by_precedence(sources: Iterable[Source]) -> list[Source]:
    """Return the sources in order of precedence: the first record of a key is kept."""
    return sorted(sources, key=lambda one: precedence(one.entry.kind, one.reading.published_ns, one.path))


@dataclass
class MergeSelection:
    """For each source, which of its records are taken."""

    masks: list[BoolArray]
    conflicts: list[Conflict] = field(default_factory=list)
    incomplete: set[int] = field(default_factory=set)
    replaced: list[Record] = field(default_factory=list)
    """Valid or not, these were results: another record under their key is taken instead."""

    @property
    def count(self) -> int:
        """The number of records taken."""
        return sum(int(mask.sum()) for mask in self.masks)

    def checksums(self, sources: Sequence[Source]) -> NDArray[np.uint64]:
        """Return the checksums of the records taken, folded."""
        taken = [folded(source.checksums[mask]) for source, mask in zip(sources, self.masks, strict=True)]
        return np.concatenate([np.empty(0, np.uint64), *taken])


def folded(checksums: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """Return checksums as 64-bit numbers: enough to compare two collections, in an eighth of the memory."""
    words = np.ascontiguousarray(checksums.astype("S64")).view("<u8").reshape(-1, 8)
    mixed = words * (2 * np.arange(1, 9, dtype=np.uint64) + 1)
    return np.asarray(np.bitwise_xor.reduce(mixed, axis=1))


def select(
    sources: Sequence[Source], asked: Mapping[str, str] | None = None, invalid: Collection[str] = frozenset()
) -> MergeSelection:
    """Select the records to merge; count in each source's entry how many were taken.

    ``asked`` maps keys to fingerprints; ``invalid`` are the checksums of records that any other may replace.
    """
    selection = MergeSelection([source.intact.copy() for source in sources])
    first: dict[bytes, tuple[int, int]] = {}
    doubtful: list[tuple[int, int, int, int]] = []
    for number, source in enumerate(sources):
        everything = source.keys.tolist()
        for row in np.flatnonzero(source.intact).tolist():
            key = everything[row]
            kept = first.setdefault(key, (number, row))
            if kept == (number, row):
                continue
            selection.masks[number][row] = False
            if sources[kept[0]].checksums[kept[1]] == source.checksums[row]:
                source.entry.duplicates += 1
            else:
                doubtful.append((*kept, number, row))
    _settle(sources, selection, doubtful, asked or {}, invalid)
    for source, mask in zip(sources, selection.masks, strict=True):
        source.entry.taken = int(mask.sum())
    return selection


def _settle(
    sources: Sequence[Source],
    selection: MergeSelection,
    doubtful: list[tuple[int, int, int, int]],
    asked: Mapping[str, str],
    invalid: Collection[str],
) -> None:
    wanted: dict[int, set[int]] = {}
    for one, one_row, two, two_row in doubtful:
        wanted.setdefault(one, set()).add(one_row)
        wanted.setdefault(two, set()).add(two_row)
    records = {
        (number, row): record for number in wanted for row, record in pick(sources[number], wanted[number])
    }
    kept: dict[str, tuple[int, int]] = {}
    for one, one_row, two, two_row in doubtful:
        entry, later = sources[two].entry, records[two, two_row]
        one, one_row = kept.get(later.key, (one, one_row))  # the one that is kept by now
        first = records[one, one_row]
        bad = tuple(
            sources[number].checksums[row].decode() in invalid
            for number, row in ((one, one_row), (two, two_row))
        )
        if bad[0] == bad[1] and same_result(first, later):
            entry.duplicates += 1
            continue
        later_counts = _later_counts(first, later, asked, bad)
        if later_counts:
            selection.masks[one][one_row], selection.masks[two][two_row] = False, True
            kept[later.key] = (two, two_row)
            sources[one].entry.superseded += 1
            selection.replaced.append(first)
        elif later_counts is False:
            entry.superseded += 1
            selection.replaced.append(later)
        else:
            entry.conflicts += 1
            selection.incomplete.add(two)
            checksums = sources[one].checksums[one_row].decode(), sources[two].checksums[two_row].decode()
            selection.conflicts.append(
                Conflict(first.key, sources[one].entry.path, checksums[0], entry.path, checksums[1])
            )


def pick(source: Source, rows: set[int]) -> list[tuple[int, Record]]:
    """Return these records of a source; FileNotFoundError if the file was replaced since it was scanned."""
    picked, start = [], 0
    for segment in source.reading.iterate():
        inside = sorted(row for row in rows if start <= row < start + len(segment))
        same = [row for row in inside if segment.rows["checksum"][row - start] == source.checksums[row]]
        picked += [(row, segment.record(row - start)) for row in same]
        start += len(segment)
    if len(picked) < len(rows):
        raise FileNotFoundError(errno.ENOENT, "it was replaced while it was read", str(source.path))
    return picked


def _later_counts(
    first: Record, later: Record, asked: Mapping[str, str], invalid: tuple[bool, ...]
) -> bool | None:
    """Return whether the later of two different records of one key counts; None if nothing decides.

    ``asked`` maps keys to fingerprints, ``invalid`` says it of each record. Of two stale records, the later counts.
    """
    if invalid[0] != invalid[1]:
        return invalid[0]
    wanted = asked.get(first.key)
    if first.fingerprint != later.fingerprint and wanted in {first.fingerprint, later.fingerprint}:
        return wanted == later.fingerprint
    if wanted is not None and "" != first.fingerprint != later.fingerprint != "":
        return True
    return None


def same_result(one: Record, two: Record) -> bool:
    """Return whether two records have the same fingerprint and bitwise equal arrays."""
    if one.fingerprint != two.fingerprint or one.arrays.keys() != two.arrays.keys():
        return False
    pairs = ((one.arrays[name], two.arrays[name]) for name in one.arrays)
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)
