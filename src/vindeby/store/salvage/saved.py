"""What salvage found in each file; the records are in a temporary file.

Whichever way a record is reached: when it states a checksum and does not meet it, it is not saved.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from vindeby.store.foreign.door import GROUP_BY_GROUP, read_foreign
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.read.reading import Reading, read_file


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
