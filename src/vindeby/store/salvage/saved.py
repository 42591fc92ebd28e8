"""What salvage found in each file; the records are in a temporary file.

Whichever way a record is reached: when it states a checksum and does not meet it, it is not saved.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vindeby.store.foreign.door import GROUP_BY_GROUP, read_foreign
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.read.reading import Reading, read_file


def rescue(path: Path, spool: Spool, guard: Guard, naming: str, needed: Sequence[str] = ()) -> Saved:
    """Save everything that can be saved from one file.

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
    """What one file gave, by which means, and what is wrong with it; the records are in the spool."""

    def __init__(self, path: Path, spool: Spool, naming: str, needed: Sequence[str]) -> None:
        super().__init__()
        self.path, self.spool, self.size = path, spool, 0
        self.means: dict[str, int] = {}
        self.records = Found(spool)
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
        part = self.spool.add(segment) if len(segment) else 0
        new = 0
        for row, record in enumerate(segment.records()):
            content = _content(record)
            if way == GROUP_BY_GROUP and content in self._contents:
                continue  # a record that is known under another key
            self._contents.add(content)
            new += self.records.put(record.key, (part, row))
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


Place: TypeAlias = tuple[int, int]
"""Which segment of a spool, and which row of it."""


class Spool:
    """A temporary file of rows; it is gone when it is closed, or with the process."""

    def __init__(self, folder: Path) -> None:
        self._descriptor, name = tempfile.mkstemp(dir=folder)
        Path(name).unlink()
        self._close = weakref.finalize(self, os.close, self._descriptor)
        self._parts: list[tuple[Schema, np.dtype[Any], int]] = []
        self._end = 0

    def add(self, segment: Segment) -> int:
        """Keep the rows of a segment; its number."""
        data = np.ascontiguousarray(segment.rows).tobytes()
        view = memoryview(data)
        at = self._end
        while view:
            done = os.pwrite(self._descriptor, view, at)
            view, at = view[done:], at + done
        self._parts.append((segment.schema, segment.rows.dtype, self._end))
        self._end = at
        return len(self._parts) - 1

    def schema(self, place: Place) -> Schema:
        """What the record there has."""
        return self._parts[place[0]][0]

    def row(self, place: Place) -> Segment:
        """One row, as a segment."""
        schema, dtype, start = self._parts[place[0]]
        data = os.pread(self._descriptor, dtype.itemsize, start + place[1] * dtype.itemsize)
        return Segment(schema, np.frombuffer(data, dtype))

    def close(self) -> None:
        """Delete it."""
        self._close()


class Found(Mapping[str, Record]):
    """The records that were found in one file, by key; each is read when it is asked for."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._places: dict[str, Place] = {}

    def put(self, key: str, place: Place) -> bool:
        """Remember where a record is, unless its key is known; was it not?"""
        return self._places.setdefault(key, place) is place

    def drop(self, key: str) -> None:
        """Forget a record."""
        del self._places[key]

    def schema(self, key: str) -> Schema:
        """What the record has, without reading it."""
        return self._spool.schema(self._places[key])

    def __getitem__(self, key: str) -> Record:
        return self._spool.row(self._places[key]).record(0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
