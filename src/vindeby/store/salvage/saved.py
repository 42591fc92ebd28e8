"""What a salvage got out of one file: records that are right, records that are doubtful, and what is wrong."""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import h5py
import numpy as np

from vindeby.store.disk.files import CarefulFile, force_file
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Schema, Segment, array_field, attribute_field
from vindeby.store.read.inspect import Finding, Verdict
from vindeby.store.read.reading import Reading, Sinks


@dataclass
class Saved:
    """What one file gave, by which means, and what is wrong with it."""

    path: Path
    spool: Spool
    size: int = 0
    means: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    root: dict[str, Attribute] = field(default_factory=dict)
    doubtful: list[Place] = field(default_factory=list)
    taken_bytes: int = 0
    contents: set[bytes] = field(default_factory=set)
    """Digests of what the records hold, apart from their keys, to know a record that is found again."""

    def __post_init__(self) -> None:
        self.records = Found(self.spool)

    @property
    def damaged(self) -> bool:
        """Is something wrong with the file as a whole?"""
        return any(not finding.key for finding in self.findings)

    def sinks(self, means: str, *, only_new: bool = False) -> Sinks:
        """Where a reading by these means puts its records; ``only_new`` leaves out known contents under other keys."""
        return Sinks(lambda segment: self._take(segment, means, only_new), self._doubt)

    def _take(self, segment: Segment, means: str, only_new: bool) -> None:
        """A record is saved only when it meets its checksum, whoever vouches for its bytes."""
        intact = segment.intact()
        if not intact.all():
            damaged = segment.take(~intact)
            keys = [key.decode(errors="replace") for key in damaged.rows["key"].tolist()]
            self.findings += [Finding(Verdict.CHECKSUM, "", key) for key in keys]
            self._doubt(damaged)
            segment = segment.take(intact)
        part = self.spool.add(segment) if len(segment) else 0
        self.taken_bytes += segment.rows.nbytes
        for row, record in enumerate(segment.records()):
            content = _content(record)
            if only_new and content in self.contents:
                continue
            self.contents.add(content)
            if self.records.put(record.key, (part, row)):
                self.means[means] = self.means.get(means, 0) + 1

    def _doubt(self, segment: Segment) -> None:
        self.taken_bytes += segment.rows.nbytes
        part = self.spool.add(segment)
        self.doubtful += [(part, row) for row in range(len(segment))]

    def note(self, reading: Reading) -> None:
        """What a reading found wrong, and the root attributes that it saw."""
        self.root = {**reading.root, **self.root}
        self.findings += reading.findings

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


DOUBTFUL = "doubtful"


def write_doubtful(path: Path, files: Sequence[Saved]) -> int:
    """Write what is doubtful in these files, if anything is; how many records."""
    count = 0
    if not any(saved.doubtful for saved in files):
        return count
    try:
        with CarefulFile(path) as target:
            with h5py.File(target, "w") as file:
                file.attrs["kind"] = "vindeby doubtful records"
                file.attrs["note"] = (
                    "each of these records states a checksum that it does not meet: do not use as results"
                )
                for source, row in _rows(files):
                    _write(file, source, row)
                    count += 1
            target.check()
        force_file(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return count


def _rows(files: Sequence[Saved]) -> Iterator[tuple[Path, Segment]]:
    for saved in files:
        for place in saved.doubtful:
            yield saved.path, saved.spool.row(place)


def _write(file: h5py.File, source: Path, segment: Segment) -> None:
    row: Any = segment.rows[0]
    key = _text(row["key"]).replace("/", "_").replace("\0", "") or "nameless"
    name, number = key, 1
    while name in file or name in {".", ".."}:
        number += 1
        name = f"{key} ({number})"
    group = file.create_group(name)
    for item, _ in segment.schema.attributes:
        value = row[attribute_field(item)].item()
        group.attrs[item] = _text(value) if isinstance(value, bytes) else value
    for item, dtype, shape in segment.schema.arrays:
        if 0 in shape:
            group.create_dataset(item, shape, dtype)
        else:
            group.create_dataset(item, data=row[array_field(item)])
    group.attrs["status"] = DOUBTFUL
    group.attrs["stated_checksum"] = _text(row["checksum"])
    group.attrs["stated_fingerprint"] = _text(row["fingerprint"])
    group.attrs["source"] = str(source)
    group.attrs["reason"] = "checksum mismatch"


def _text(value: bytes) -> str:
    return value.decode(errors="replace").replace("\0", "")
