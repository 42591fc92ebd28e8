"""Where the record of each key is, and which one counts when several files have the same key.

One rule, for reading a run in progress and for merging it: the first valid one that was published.
``precedence`` is that rule. A shard's time is the one that its writer put under its seal. When that is lost with
the seal, the shard comes after all whose time is known; among equal times the path decides.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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
