"""What a file format of OUT.h5 must be able to do; ``tests/contracts`` holds every file format to it.

A file format writes segments into a new sealed file and reads them back, chunk by chunk, from the bytes that the
seal vouches for. It decides nothing about which records belong there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.format.seal import SealedFile

SAMPLE = 64
"""How many records are read through the HDF5 library when a new file is looked at."""


@dataclass(frozen=True)
class Content:
    """What a new database is to hold: every schema and width is known before the first row is written."""

    count: int
    schemas: tuple[Schema, ...]
    widths: Mapping[str, int]
    root: Mapping[str, Attribute]
    segments: Iterable[Segment]
    unlinked: Collection[bytes] = frozenset()
    """Keys of records that get no group of their own here, though a reader of the seal finds them: a merge puts the
    group there through the library, because others have added something to it."""


@dataclass(frozen=True)
class Others:
    """What others added, where it shows among the records: objects at the root, and records that hold more."""

    objects: Collection[str] = frozenset()
    records: Collection[str] = frozenset()


class FileFormat(ABC):
    """One form of the database file; the root attribute ``layout`` names it."""

    name: ClassVar[str]

    @abstractmethod
    def write(self, path: Path, content: Content) -> None:
        """Write a new sealed file and force it to the disk; on an error nothing is left at ``path``."""

    @abstractmethod
    def look(self, path: Path, count: int, others: Others | None = None) -> None:
        """Look at a new file through the HDF5 library, as its readers will; StorageError when it differs."""

    @abstractmethod
    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """How many chunks of records a file with this directory has."""

    @abstractmethod
    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """The keys of one chunk."""

    @abstractmethod
    def read_chunk(
        self, file: SealedFile, number: int, fields: Collection[str] | None = None
    ) -> list[Segment]:
        """The records of one chunk, not yet compared with their checksums.

        Where ``fields`` names those that the caller needs, the rows may lack others; all bytes are verified even so.
        """


def refuse_unless_intact(path: Path, segment: Segment) -> None:
    """Every record as HDF5 gives it has its checksum."""
    if not segment.intact().all():
        raise StorageError(f"{path}: HDF5 reads other values than were merged; nothing was changed")


def directory_of(file_format: FileFormat, content: Content, rest: Mapping[str, Any]) -> dict[str, Any]:
    """The directory of a database's seal."""
    return {
        "kind": "database",
        "layout": file_format.name,
        "format_version": content.root["format_version"],
        "count": content.count,
        "root": dict(content.root),
        **rest,
    }
