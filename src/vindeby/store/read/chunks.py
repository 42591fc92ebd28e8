"""The chunks of records that a database consists of: read when they are asked for, the last few kept.

A chunk comes from the verified bytes of its file. When these are damaged, it comes as it is, for whoever asks
compares each record with its own checksum. Files that nothing vouches for stay in memory as they were read.
"""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import DataError
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.read.inspect import Finding, Verdict
from vindeby.store.read.reading import read_chunk

Precedence: TypeAlias = tuple[int, bool, int, str]
_KINDS = ("database", "shard", "given file")


def precedence(kind: str, published_ns: int, path: Path) -> Precedence:
    """Sorts files by who is believed: the standing database, shards as they were published, then given files.

    Given files are equal among themselves: they stay in the order in which they were given.
    """
    if kind != "shard":
        return _KINDS.index(kind), False, 0, ""
    return _KINDS.index(kind), published_ns <= 0, published_ns, str(path)


@dataclass(frozen=True, order=True)
class Place:
    """Where a chunk of records is; the smaller of two is the one that counts."""

    precedence: Precedence
    chunk: int
    path: Path


class Index:
    """The place that counts for each key, and the other places that have it too."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self._first: dict[str, Place] = {}
        self._copies: dict[str, list[Place]] = {}

    def enter(self, place: Place, names: NDArray[np.bytes_]) -> None:
        """A chunk with these keys was found."""
        self.places.append(place)
        for name in names.tolist():
            key = name.decode(errors="replace")
            first = self._first.setdefault(key, place)
            if first is not place:
                copies = self._copies.setdefault(key, [first])
                insort(copies, place)
                self._first[key] = copies[0]

    def forget(self, path: Path) -> set[Place]:
        """This file is gone; the places of other files that now count for a key of it."""
        self.places = [place for place in self.places if place.path != path]
        promoted = set()
        for key, copies in list(self._copies.items()):
            rest = [place for place in copies if place.path != path]
            if rest and rest[0] is not copies[0]:
                promoted.add(rest[0])
                self._first[key] = rest[0]
            self._keep(key, rest)
        self._first = {key: place for key, place in self._first.items() if place.path != path}
        return promoted

    def demote(self, key: str, place: Place) -> Place | None:
        """The record there is damaged: the next place that has the key, if there is one."""
        rest = [other for other in self._copies.get(key, []) if other is not place]
        if not rest:
            return None
        self._first[key] = rest[0]
        self._keep(key, rest)
        return rest[0]

    def _keep(self, key: str, copies: list[Place]) -> None:
        if len(copies) > 1:
            self._copies[key] = copies
        else:
            del self._copies[key]

    def copies(self, key: str) -> list[Place]:
        """Every place that has the key, the one that counts first."""
        only = [self._first[key]] if key in self._first else []
        return list(self._copies.get(key, only))

    def repeated(self) -> list[str]:
        """The keys that several places have."""
        return list(self._copies)

    def get(self, key: str) -> Place | None:
        """The place that counts."""
        return self._first.get(key)

    def __getitem__(self, key: str) -> Place:
        return self._first[key]

    def __contains__(self, key: object) -> bool:
        return key in self._first

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._first))

    def __len__(self) -> int:
        return len(self._first)


_MOST_KEPT = 8
_ROOM = 1 << 25


class ReplacedError(DataError):
    """Another file took the place of one that was being read; opening it again helps."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: it was changed while it was read; open it again")


class Chunks:
    """``memory`` holds what was read of unsealed files, ``digests`` the seal that each sealed one had."""

    def __init__(self, note: Callable[[Path, Finding], None]) -> None:
        self.memory: dict[Path, list[Segment]] = {}
        self.digests: dict[Path, str] = {}
        self._note = note
        self._files: OrderedDict[Path, SealedFile] = OrderedDict()
        self._kept: OrderedDict[Place, dict[str, tuple[Segment, int]]] = OrderedDict()
        self._just_read: dict[Path, list[Segment]] = {}
        self._room = _ROOM

    def doubtful(self, path: Path) -> bool:
        """Does no seal vouch for this file?"""
        return path in self.memory

    def rows(self, place: Place) -> dict[str, tuple[Segment, int]]:
        """The records of a chunk by key: a segment, and the row in it."""
        kept = self._kept.get(place)
        if kept is not None:
            self._kept.move_to_end(place)
            return kept
        rows = {
            key.decode(errors="replace"): (segment, row)
            for segment in self.segments(place)
            for row, key in enumerate(segment.rows["key"].tolist())
        }
        self._kept[place] = rows
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return rows

    def segments(self, place: Place, fields: Collection[str] | None = None) -> list[Segment]:
        """The records of a chunk, not yet compared with their checksums.

        Of a file that is what was sealed, they may have only the ``fields`` that are named, if any are.
        """
        if place.path in self.memory:
            return [self.memory[place.path][place.chunk]]
        just_read = None if fields is None else self._take(place.path)
        if just_read is not None:
            return just_read
        try:
            return read_chunk(self._file(place.path), place.chunk, fields)
        except SealError as error:
            self._note(place.path, Finding(Verdict.CHECKSUM, str(error).split(": ", 1)[-1]))
        file = SealedFile.open(place.path, verify=False)
        if file is None:
            raise ReplacedError(place.path)
        with file:
            try:
                return read_chunk(file, place.chunk)
            except SealError as error:
                self._note(place.path, Finding(Verdict.INCOMPLETE, str(error).split(": ", 1)[-1]))
                return []

    def keep(self, path: Path, segments: list[Segment]) -> None:
        """Spare who counts a second reading of a shard that was just read, as long as there is room for it."""
        size = _bytes_of(segments)
        if size <= self._room:
            self._room -= size
            self._just_read[path] = segments

    def _take(self, path: Path) -> list[Segment] | None:
        """What was kept of a shard, once."""
        segments = self._just_read.pop(path, None)
        if segments is not None:
            self._room += _bytes_of(segments)
        return segments

    def _file(self, path: Path) -> SealedFile:
        file = self._files.get(path)
        if file is None:
            file = SealedFile.open(path)
            if file is None:
                raise ReplacedError(path)
            if file.seal.digest != self.digests.get(path):
                file.close()
                raise ReplacedError(path)
            self._files[path] = file
            if len(self._files) > _MOST_KEPT:
                self._files.popitem(last=False)[1].close()
        return file

    def forget(self, path: Path) -> None:
        """Another file stands at this path now, or none."""
        self.memory.pop(path, None)
        self._take(path)
        self._kept.clear()
        file = self._files.pop(path, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.popitem()[1].close()


def _bytes_of(segments: list[Segment]) -> int:
    return sum(segment.rows.nbytes for segment in segments)
