"""The chunks of records that a database consists of: read when they are asked for, the last few kept.

A chunk comes from the verified bytes of its file. When these are damaged, it comes as it is, for whoever asks
compares each record with its own checksum. Files that nothing vouches for stay in memory as they were read.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator
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
    """The places that have each key; the first is the one that counts."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self._by_key: dict[str, list[Place]] = {}

    def enter(self, place: Place, names: NDArray[np.bytes_]) -> None:
        """A chunk with these keys was found."""
        self.places.append(place)
        for name in names.tolist():
            known = self._by_key.setdefault(name.decode(errors="replace"), [place])
            if place not in known:
                insort(known, place)

    def forget(self, path: Path) -> set[Place]:
        """This file is gone; the places of other files that now count for a key of it."""
        self.places = [place for place in self.places if place.path != path]
        promoted = set()
        for key, known in list(self._by_key.items()):
            rest = [place for place in known if place.path != path]
            if not rest:
                del self._by_key[key]
            elif len(rest) < len(known):
                if rest[0] is not known[0]:
                    promoted.add(rest[0])
                self._by_key[key] = rest
        return promoted

    def demote(self, key: str, place: Place) -> Place | None:
        """The record there is damaged: the next place that has the key, if there is one."""
        rest = [other for other in self._by_key[key] if other is not place]
        if rest:
            self._by_key[key] = rest
        return rest[0] if rest else None

    def copies(self, key: str) -> list[Place]:
        """Every place that has the key, the one that counts first."""
        return list(self._by_key.get(key, []))

    def repeated(self) -> list[str]:
        """The keys that several places have."""
        return [key for key, known in self._by_key.items() if len(known) > 1]

    def get(self, key: str) -> Place | None:
        """The place that counts."""
        known = self._by_key.get(key)
        return known[0] if known else None

    def __getitem__(self, key: str) -> Place:
        return self._by_key[key][0]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._by_key))

    def __len__(self) -> int:
        return len(self._by_key)


_MOST_KEPT = 8
_ROOM = 1 << 25


class ReplacedError(DataError):
    """Another file took the place of one that was being read; opening it again helps."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: it was changed while it was read; open it again")


class Chunks:
    """``memory`` holds what was read of unsealed files, ``digests`` the seal that each sealed one had.

    What is wrong goes into ``findings``. Nothing here refers back to its owner or to itself: the command collects no
    garbage, so that what is no longer used must be free at once.
    """

    def __init__(self, findings: dict[Path, list[Finding]]) -> None:
        self.memory: dict[Path, list[Segment]] = {}
        self.digests: dict[Path, str] = {}
        self._findings = findings
        self._open: SealedFile | None = None
        self._just_read: dict[Path, list[Segment]] = {}
        self._room = _ROOM
        self._kept: dict[Place, dict[str, tuple[Segment, int]]] = {}

    def note(self, path: Path, finding: Finding) -> None:
        """Something is wrong with a file; each finding is kept once."""
        known = self._findings.setdefault(path, [])
        if finding not in known:
            known.append(finding)

    def doubtful(self, path: Path) -> bool:
        """Does no seal vouch for this file?"""
        return path in self.memory

    def rows(self, place: Place) -> dict[str, tuple[Segment, int]]:
        """The records of a chunk by key: a segment, and the row in it."""
        found = self._kept.pop(place, None)
        if found is None:
            found = {
                key.decode(errors="replace"): (segment, row)
                for segment in self.segments(place)
                for row, key in enumerate(segment.rows["key"].tolist())
            }
        self._kept[place] = found  # the last one is the one that was asked for last
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return found

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
            self.note(place.path, Finding(Verdict.CHECKSUM, str(error).split(": ", 1)[-1]))
        file = SealedFile.open(place.path, verify=False)
        if file is None:
            raise ReplacedError(place.path)
        with file:
            try:
                return read_chunk(file, place.chunk)
            except SealError as error:
                self.note(place.path, Finding(Verdict.INCOMPLETE, str(error).split(": ", 1)[-1]))
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
        """The file, which stays open until another one is asked for."""
        if self._open is None or self._open.path != path:
            self.close()
            self._open = SealedFile.open(path)
            if self._open is None or self._open.seal.digest != self.digests.get(path):
                self.close()
                raise ReplacedError(path)
        return self._open

    def forget(self, path: Path) -> None:
        """Another file stands at this path now, or none."""
        self.memory.pop(path, None)
        self._take(path)
        self._kept.clear()
        self.close()

    def close(self) -> None:
        """Close the file that is open."""
        if self._open is not None:
            self._open.close()
            self._open = None


def _bytes_of(segments: list[Segment]) -> int:
    return sum(segment.rows.nbytes for segment in segments)
