"""Records on the disk while a salvage goes on, so that it needs little memory however much it finds."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vindeby.store.record import Record
from vindeby.store.rows import Schema, Segment

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
