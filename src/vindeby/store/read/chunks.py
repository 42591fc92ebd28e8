"""The chunks of records that a database consists of: read when they are asked for, the last few kept.

A chunk comes from the verified bytes of its file. When these are damaged, it comes as it is, for whoever asks
compares each record with its own checksum. Files that nothing vouches for stay in memory as they were read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from pathlib import Path

from vindeby.errors import DataError
from vindeby.store.format.hdf5.registry import FILE_FORMATS
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealedFile, SealError, directory_errors
from vindeby.store.format.shard import read_segments
from vindeby.store.read.index import Place
from vindeby.store.read.inspect import Finding, Verdict

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
            return _read(self._file(place.path), place.chunk, fields)
        except SealError as error:
            self._note(place.path, Finding(Verdict.CHECKSUM, str(error).split(": ", 1)[-1]))
        file = SealedFile.open(place.path, verify=False)
        if file is None:
            raise ReplacedError(place.path)
        with file:
            try:
                return _read(file, place.chunk)
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


def _read(file: SealedFile, chunk: int, fields: Collection[str] | None = None) -> list[Segment]:
    directory = file.seal.directory
    if directory["kind"] == "shard":
        return read_segments(file)
    with directory_errors(file.path):
        return FILE_FORMATS[directory["layout"]].read_chunk(file, chunk, fields)
