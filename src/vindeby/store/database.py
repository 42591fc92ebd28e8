"""Reading results: a finished OUT.h5 of either layout, a run in progress, or a file from elsewhere.

Whatever is handed out was verified: the bytes against the seal of their file, the record against its own
checksum. A damaged shard or database does not stop the rest from being read; what is wrong with it is in
``findings``, and asking for a record that is damaged raises ``DataError``.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import DataError, InputError
from vindeby.store.guard import Guard
from vindeby.store.inspect import Finding, Verdict
from vindeby.store.layouts import LAYOUTS
from vindeby.store.reading import read_any
from vindeby.store.record import Attribute, Record
from vindeby.store.rows import Segment
from vindeby.store.rundir import RunDirectory
from vindeby.store.seal import SealedFile, SealError
from vindeby.store.shard import read_segments

_CACHED_CHUNKS = 8
_KEPT_BYTES = 1 << 25


class ReplacedError(DataError):
    """Another file took the place of one that was being read; opening it again helps."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: it was changed while it was read; open it again")


@dataclass(frozen=True)
class _Place:
    """Where a chunk of records is."""

    path: Path
    chunk: int


class Database(Mapping[str, Record]):
    """The records of an OUT.h5 and of the shards beside it, by key.

    A ``guard`` that is given is used for files that may be bad, instead of one of its own each time.
    """

    def __init__(self, path: Path | str, guard: Guard | None = None) -> None:
        self.path = Path(path)
        self._guard = guard
        self.run = RunDirectory(self.path)
        self.attributes: dict[str, Attribute] = {}
        self.findings: dict[Path, list[Finding]] = {}
        self.sealed = False
        self._index: dict[str, _Place] = {}
        self._places: list[_Place] = []
        self._known: dict[Path, tuple[int, int, int]] = {}
        self._memory: dict[Path, list[Segment]] = {}
        self._files: OrderedDict[Path, SealedFile] = OrderedDict()
        self._chunks: OrderedDict[_Place, dict[str, tuple[Segment, int]]] = OrderedDict()
        self._just_read: dict[_Place, list[Segment]] = {}
        self._room = _KEPT_BYTES
        self._handed_out: set[_Place] = set()
        self._digests: dict[Path, str] = {}
        if self.path.is_dir():
            raise InputError(
                f"{self.path}: this is a folder; name the database, or run `salvage` on the folder"
            )
        if not self.path.exists() and not self.run.shards.exists():
            raise InputError(f"{self.path}: there is no such database, nor a run directory {self.run.path}")
        self.refresh()

    def refresh(self) -> int:
        """Look for what is new since the last time; how many records came. Known files are not read again."""
        before = len(self._index)
        with contextlib.nullcontext(self._guard) if self._guard is not None else Guard() as guard:
            while True:
                self._add_new_output(guard)
                known = set(map(str, self._known))
                for path in (Path(name) for name in self.run.shard_names() if name not in known):
                    self._known[path] = (0, 0, 0)
                    self._add(path, guard)
                # A merge that ended meanwhile has taken shards away before they were listed: then look again.
                if self._known.get(self.path) == _state(self.path):
                    break
        return len(self._index) - before

    def _add_new_output(self, guard: Guard) -> None:
        state = _state(self.path)
        if self._known.get(self.path) == state:
            return
        self._forget(self.path)
        if state is None:
            del self._known[self.path]
        else:
            self._add(self.path, guard)
            self._known[self.path] = state

    def _forget(self, path: Path) -> None:
        """Another file stands at this path now."""
        if path in self._known:
            self._index = {key: place for key, place in self._index.items() if place.path != path}
            self._places = [place for place in self._places if place.path != path]
            self._handed_out = {place for place in self._handed_out if place.path != path}
        self._memory.pop(path, None)
        self._kept(_Place(path, 0))
        self.findings.pop(path, None)
        self._chunks.clear()
        file = self._files.pop(path, None)
        if file is not None:
            file.close()

    def _add(self, path: Path, guard: Guard) -> None:
        try:
            self._add_sealed(path, guard)
        except FileNotFoundError:
            return  # merged and deleted since it was listed
        except SealError:
            self._add_unsealed(path, guard)

    def _add_sealed(self, path: Path, guard: Guard) -> None:
        file = SealedFile.open(path)
        if file is None:
            self._add_unsealed(path, guard)
            return
        directory = file.seal.directory
        self._digests[path] = file.seal.digest
        with file:
            if directory["kind"] == "shard":
                file.load()
                segments = read_segments(file)
                keys = [(0, np.concatenate([segment.rows["key"] for segment in segments]))]
                self._keep(_Place(path, 0), segments)
            else:
                layout = LAYOUTS[directory["layout"]]
                count = layout.chunk_count(directory)
                keys = [(number, layout.read_keys(file, number)) for number in range(count)]
        for number, names in keys:
            self._enter(_Place(path, number), names)
        if path == self.path:
            self.attributes, self.sealed = dict(directory["root"]), True

    def _keep(self, place: _Place, segments: list[Segment]) -> None:
        """Spare who counts a second reading of a shard that was just read, as long as there is room for it."""
        size = sum(segment.rows.nbytes for segment in segments)
        if size <= self._room:
            self._room -= size
            self._just_read[place] = segments

    def _kept(self, place: _Place) -> list[Segment] | None:
        """What was kept of a shard, once."""
        segments = self._just_read.pop(place, None)
        if segments is not None:
            self._room += sum(segment.rows.nbytes for segment in segments)
        return segments

    def _enter(self, place: _Place, names: NDArray[np.bytes_]) -> None:
        self._places.append(place)
        for key in names.tolist():
            self._index.setdefault(key.decode(errors="replace"), place)

    def _add_unsealed(self, path: Path, guard: Guard) -> None:
        """Nothing vouches for this file as a whole: keep what can be read and verified, in memory."""
        reading = read_any(path, guard)
        if reading.findings:
            self.findings[path] = reading.findings
        if path != self.path and not reading.sealed and not reading.segments:
            return
        self._memory[path] = reading.segments
        for number, segment in enumerate(reading.segments):
            self._enter(_Place(path, number), segment.rows["key"])
        if path == self.path:
            self.attributes, self.sealed = reading.root, False
            if not reading.segments and reading.findings and reading.findings[0].key == "":
                raise DataError(f"{path}: {reading.findings[0]}; `vindeby salvage` may save what is in it")

    def __getitem__(self, key: str) -> Record:
        place = self._index[key]
        try:
            found = self._chunk(place).get(key)
        except FileNotFoundError:
            self._forget_missing()
            place = self._index[key]
            found = self._chunk(place).get(key)
        if found is None or not found[0].take(slice(found[1], found[1] + 1)).intact().all():
            raise DataError(
                f"{place.path}: record {key}: checksum mismatch; run `vindeby validate` to see what else is bad"
            )
        return found[0].record(found[1])

    def _forget_missing(self) -> None:
        """A merge may have moved records from shards into the database since we looked."""
        gone = [path for path in self._known if not path.exists()]
        if not gone:
            return
        for path in gone:
            self._forget(path)
            del self._known[path]
        self._known.pop(self.path, None)
        self._index = {
            key: place for key, place in self._index.items() if place.path not in {*gone, self.path}
        }
        self.refresh()

    def _chunk(self, place: _Place) -> dict[str, tuple[Segment, int]]:
        cached = self._chunks.get(place)
        if cached is not None:
            self._chunks.move_to_end(place)
            return cached
        rows = {
            key.decode(errors="replace"): (segment, row)
            for segment in self._segments(place)
            for row, key in enumerate(segment.rows["key"].tolist())
        }
        self._chunks[place] = rows
        if len(self._chunks) > _CACHED_CHUNKS:
            self._chunks.popitem(last=False)
        return rows

    def _segments(self, place: _Place, fields: Collection[str] | None = None) -> list[Segment]:
        """The records of a chunk, with all fields where its file is not what was sealed."""
        if place.path in self._memory:
            return [self._memory[place.path][place.chunk]]
        kept = None if fields is None else self._kept(place)
        if kept is not None:
            return kept
        try:
            return _read(self._file(place.path), place.chunk, fields)
        except SealError as error:
            self._note(place.path, Finding(Verdict.CHECKSUM, str(error).split(": ", 1)[-1]))
        file = SealedFile.open(place.path, verify=False)
        if file is None:
            raise ReplacedError(place.path)
        with file:
            return _read(file, place.chunk)

    def _file(self, path: Path) -> SealedFile:
        file = self._files.get(path)
        if file is None:
            file = SealedFile.open(path)
            if file is None:
                raise ReplacedError(path)
            if file.seal.digest != self._digests.get(path):
                file.close()
                raise ReplacedError(path)
            self._files[path] = file
            if len(self._files) > _CACHED_CHUNKS:
                self._files.popitem(last=False)[1].close()
        return file

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._index))

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def segments(self) -> Iterator[Segment]:
        """Every record once, verified, in bulk; what is damaged is left out and noted in ``findings``."""
        self._forget_missing()
        return self._of_places(list(self._places))

    def new_segments(self, fields: Collection[str] | None = None) -> Iterator[Segment]:
        """As ``segments``, but only what came since this was last asked; all of a file that was replaced.

        Who names the ``fields`` that are needed counts quickly: others may be missing, and what a seal vouches for is
        not compared with its own checksum again.
        """
        fresh = [place for place in self._places if place not in self._handed_out]
        for place in fresh:
            yield from self._of_places([place], fields)
            self._handed_out.add(place)

    def _of_places(self, places: list[_Place], fields: Collection[str] | None = None) -> Iterator[Segment]:
        for place in places:
            trusted = place.path not in self._memory and place.path not in self.findings
            for segment in self._segments(place, fields if trusted else None):
                keys = [key.decode(errors="replace") for key in segment.rows["key"].tolist()]
                mine = np.array([self._index.get(key) is place for key in keys], bool)
                if fields is None or not trusted or place.path in self.findings:
                    intact = segment.intact()
                    for row in np.flatnonzero(mine & ~intact):
                        self._note(place.path, Finding(Verdict.CHECKSUM, "", keys[row]))
                    mine &= intact
                if mine.all():
                    yield segment
                elif mine.any():
                    yield segment.take(mine)

    def _note(self, path: Path, finding: Finding) -> None:
        known = self.findings.setdefault(path, [])
        if finding not in known:
            known.append(finding)

    @property
    def campaign_text(self) -> str | None:
        """The campaign file, as the database or the run directory keeps it."""
        text = self.attributes.get("campaign")
        return text if isinstance(text, str) else self.run.campaign_text()

    def to_xarray(self) -> Any:
        """Everything as an ``xarray.Dataset`` over ``key``, arrays padded to the largest (needs xarray)."""
        from vindeby.store.arrays import to_xarray  # needs xarray, which is optional

        return to_xarray(self)

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _state(path: Path) -> tuple[int, int, int] | None:
    """What tells one file at this path from another; None when there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read(file: SealedFile, chunk: int, fields: Collection[str] | None = None) -> list[Segment]:
    directory = file.seal.directory
    if directory["kind"] == "shard":
        return read_segments(file)
    return LAYOUTS[directory["layout"]].read_chunk(file, chunk, fields)


def open_database(path: Path | str) -> Database:
    """Open a database, finished or still being made."""
    return Database(path)
