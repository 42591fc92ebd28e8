"""Reading results: a finished OUT.h5 of either file format, a run in progress, files from elsewhere.

Whatever is handed out was verified: the bytes against the seal of their file, the record against its own
checksum. A damaged shard or database does not stop the rest from being read; what is wrong with it is in
``findings``, and asking for a record that is damaged, of which no other copy is right, raises ``DataError``.
Which copy of a key counts is the same as in a merge (``precedence``).
"""

from __future__ import annotations

import contextlib
from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.reading.readers import readers
from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import file_state, refuse_other_formats
from vindeby.store.disk.run_directory import RunDirectory, hdf5_files
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.formats import FILE_FORMATS, VerifiedFile, chunk_count, open_verified, read_chunk
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealError, directory_errors
from vindeby.store.format.shard import ShardFile
from vindeby.store.read.reading import read_any
from vindeby.text import plural

Precedence: TypeAlias = tuple[int, bool, int, str]
_KINDS = ("database", "shard", "given file")


def precedence(kind: str, published_ns: int, path: Path) -> Precedence:
    """Return a sort key for files: the database first, then shards by time of publication, then given files.

    Given files are equal among themselves: they stay in the order in which they were given.
    """
    if kind != "shard":
        return _KINDS.index(kind), False, 0, ""
    return _KINDS.index(kind), published_ns <= 0, published_ns, str(path)


@dataclass(frozen=True, order=True)
class ChunkPlace:
    """The position of a chunk of records; of two positions, the smaller one takes precedence."""

    precedence: Precedence
    chunk: int
    path: Path


_MOST_KEPT = 8


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
        self._open: VerifiedFile | None = None
        self._kept: dict[ChunkPlace, dict[str, tuple[Segment, int]]] = {}

    def note(self, path: Path, finding: Finding) -> None:
        """Record a finding about a file, unless it is already recorded."""
        known = self._findings.setdefault(path, [])
        if finding not in known:
            known.append(finding)

    def find(self, place: ChunkPlace, key: str) -> Segment | None:
        """Return the first record of this key in a chunk as a segment of one row, without a checksum test."""
        found = self._kept.pop(place, None)
        if found is None:
            found = {}
            for segment in self.segments(place):
                for row, name in enumerate(segment.rows["key"].tolist()):
                    found.setdefault(name.decode(errors="replace"), (segment, row))
        self._kept[place] = found  # the last one is the one that was asked for last
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        if key not in found:
            return None
        segment, row = found[key]
        return segment.take(slice(row, row + 1))

    def segments(self, place: ChunkPlace) -> list[Segment]:
        """Return the records of a chunk, not yet compared with their checksums."""
        if place.path in self.memory:
            return [self.memory[place.path][place.chunk]]
        file = self._file(place.path)
        try:
            return read_chunk(file, place.chunk)
        except SealError as error:
            self.note(place.path, error.finding(place.path))
        try:
            return read_chunk(file.unverified(), place.chunk)
        except SealError as error:
            self.note(place.path, Finding(Verdict.INCOMPLETE, error.finding(place.path).detail))
            return []

    def _file(self, path: Path) -> VerifiedFile:
        if self._open is None or self._open.path != path:
            self.close()
            self._open = open_verified(path)
            if self._open is None or self._open.digest != self.digests.get(path):
                self.close()
                raise ReplacedError(path)
        return self._open

    def forget(self, path: Path) -> None:
        """Drop everything cached of a path whose file was replaced or removed."""
        self.memory.pop(path, None)
        self._kept.clear()
        self.close()

    def close(self) -> None:
        """Close the file that is open."""
        if self._open is not None:
            self._open.close()
            self._open = None


class Database(Mapping[str, Record]):
    """The records of an OUT.h5 and its shards, by key: a mapping that ``open_database`` returns.

    Args:
        path: The OUT.h5, its run directory, or with ``folder`` a folder of files.
        guard: Used for files that may be bad, instead of one of its own each time.
        folder: Read the files of a folder instead.
    """

    def __init__(
        self, path: Path | str | RunDirectory, guard: Guard | None = None, *, folder: bool = False
    ) -> None:
        self.run = RunDirectory.of(path)
        self.path = self.run.output if isinstance(path, RunDirectory) else Path(path)
        self._guard, self._folder = guard, folder
        self.attributes: dict[str, Attribute] = {}
        self.findings: dict[Path, list[Finding]] = {}
        self.sealed = False
        self._places: list[ChunkPlace] = []
        self._by_key: dict[str, list[ChunkPlace]] = {}
        """The places that have each key; the first is the one that counts."""
        self._known: dict[Path, tuple[int, int, int]] = {}
        self._chunks = Chunks(self.findings)
        self._handed_out: set[ChunkPlace] = set()
        if folder:
            self.refresh()
            if not self._known:
                raise InputError(
                    f"{path}: this folder holds no HDF5 files; name a database, or a folder of worker files"
                )
            return
        if self.path.is_dir():
            raise InputError(
                f"{self.path}: this is a folder; name the database, or run `salvage` on the folder"
            )
        refuse_other_formats(self.path)
        if not self.path.exists() and not self.run.shards.exists() and self.run.campaign_text() is None:
            raise InputError(f"{self.path}: there is no such database, nor a run directory {self.run.path}")
        self.refresh()

    def refresh(self) -> int:
        """Read new files; return the number of new keys. Known files are not read again."""
        before = len(self._by_key)
        with contextlib.nullcontext(self._guard) if self._guard is not None else Guard() as guard:
            for path in hdf5_files(self.path) if self._folder else ():
                self._add_changed(path, guard)
            while not self._folder:
                self._add_changed(self.path, guard)
                known = set(map(str, self._known))
                for path in (Path(name) for name in self.run.shard_names() if name not in known):
                    self._add(path, guard)
                    self._known[path] = (0, 0, 0)
                # A merge that ended meanwhile has taken shards away before they were listed: then look again.
                if self._known.get(self.path) == file_state(self.path):
                    break
        return len(self._by_key) - before

    def _add_changed(self, path: Path, guard: Guard) -> None:
        state = file_state(path)
        if self._known.get(path) == state:
            return
        self._forget(path)
        if state is None:
            del self._known[path]
        else:
            self._add(path, guard)
            self._known[path] = state

    def _forget(self, path: Path) -> None:
        """Drop the records of a path whose file was replaced; for their keys, other files may now take precedence."""
        if path in self._known:
            self._places = [place for place in self._places if place.path != path]
            self._handed_out = {place for place in self._handed_out if place.path != path}
            for key, known in list(self._by_key.items()):
                rest = [place for place in known if place.path != path]
                if not rest:
                    del self._by_key[key]
                elif len(rest) < len(known):
                    if rest[0] is not known[0]:
                        self._handed_out.discard(rest[0])
                    self._by_key[key] = rest
        self.findings.pop(path, None)
        self._chunks.forget(path)

    def _add(self, path: Path, guard: Guard) -> None:
        try:
            self._add_sealed(path, guard)
        except FileNotFoundError:
            return  # merged and deleted since it was listed
        except (SealError, OSError):
            self._add_unsealed(path, guard)

    def _add_sealed(self, path: Path, guard: Guard) -> None:
        file = open_verified(path)
        if file is None:
            self._add_unsealed(path, guard)
            return
        self._chunks.digests[path] = file.digest
        with file:
            if isinstance(file, ShardFile):
                segments = file.segments()
                keys = [np.concatenate([np.empty(0, "S1"), *(one.rows["key"] for one in segments)])]
            else:
                read_keys = FILE_FORMATS[file.seal.directory["layout"]].read_keys
                with directory_errors(path):
                    keys = [read_keys(file, number) for number in range(chunk_count(file))]
        for number, names in enumerate(keys):
            self._enter(self._place(path, number, file.published_ns), names)
        if path == self.path:
            self.attributes, self.sealed = file.root, True
        elif self._folder:
            self.attributes = {**file.root, **self.attributes}

    def _place(self, path: Path, chunk: int, published_ns: int) -> ChunkPlace:
        kind = "database" if path == self.path else "shard"
        return ChunkPlace(precedence(kind, published_ns, path), chunk, path)

    def _enter(self, place: ChunkPlace, names: NDArray[np.bytes_]) -> None:
        self._places.append(place)
        for name in names.tolist():
            known = self._by_key.setdefault(name.decode(errors="replace"), [])
            if place not in known:
                insort(known, place)

    def _add_unsealed(self, path: Path, guard: Guard) -> None:
        """Read a file without a seal and keep its readable, verified records in memory."""
        reading = read_any(path, guard)
        if reading.findings:
            self.findings[path] = reading.findings
        if self._folder:
            self.attributes = {**reading.root, **self.attributes}
        if path != self.path and not reading.sealed and not reading.segments:
            return
        self._chunks.memory[path] = reading.segments
        for number, segment in enumerate(reading.segments):
            self._enter(self._place(path, number, reading.published_ns), segment.rows["key"])
        if path == self.path:
            self.attributes, self.sealed = reading.root, False
            if not reading.segments and reading.findings and reading.findings[0].key == "":
                raise DataError(f"{path}: {reading.findings[0]}; `vindeby salvage` may save what is in it")

    def __getitem__(self, key: str) -> Record:
        place: ChunkPlace | None = self._by_key[key][0]
        while place is not None:
            try:
                record = self._record(place, key)
            except FileNotFoundError:
                self._forget_missing()
                place = self._by_key[key][0]
                record = self._record(place, key)
            if isinstance(record, Record):
                return record
            wrong, place = f"{place.path}: record {key}: {record.value}", self._demote(key, place, record)
        raise DataError(f"{wrong}; run `vindeby validate` to see what else is bad")

    def _record(self, place: ChunkPlace, key: str) -> Record | Verdict:
        only = self._chunks.find(place, key)
        if only is None or not only.intact().all():
            return Verdict.CHECKSUM
        return only.record(0) if only.marked().all() else Verdict.NOT_MARKED

    def _demote(self, key: str, place: ChunkPlace, why: Verdict | None = None) -> ChunkPlace | None:
        if why is not None:
            self._chunks.note(place.path, Finding(why, "", key))
        rest = [other for other in self._by_key[key] if other is not place]
        if not rest:
            return None
        self._by_key[key] = rest
        self._handed_out.discard(rest[0])
        return rest[0]

    @property
    def digest(self) -> str:
        """The digest of OUT.h5's seal; empty if OUT.h5 does not exist or is not sealed."""
        return self._chunks.digests.get(self.path, "") if self.sealed and self.path in self._known else ""

    def pass_over(self, invalid: Collection[str], keys: Iterable[str]) -> None:
        """Forget copies with these checksums, of these keys, as long as another copy is left to count.

        A result that was computed again stands in a shard until it is merged, behind the one that it replaces.
        """
        for key in keys:
            for place in list(self._by_key.get(key, ())):
                if len(self._by_key[key]) > 1 and self._checksum(place, key) in invalid:
                    self._demote(key, place)

    def repeated_keys(self) -> list[str]:
        """Return the keys that several files have."""
        return [key for key, known in self._by_key.items() if len(known) > 1]

    def checksum(self, key: str) -> str:
        """Return the checksum of the record that counts for a key; empty if there is none."""
        return self._checksum(self._by_key[key][0], key) if key in self._by_key else ""

    def _checksum(self, place: ChunkPlace, key: str) -> str:
        try:
            only = self._chunks.find(place, key)
        except FileNotFoundError:  # merged and deleted since it was listed
            return ""
        return "" if only is None else str(only.rows["checksum"][0].decode(errors="replace"))

    def copies(self, key: str) -> list[Record]:
        """Return every valid record of this key, the one that counts first."""
        found = []
        for place in self._by_key.get(key, ()):
            with contextlib.suppress(FileNotFoundError):  # merged and deleted since it was listed
                found.append(self._record(place, key))
        return [record for record in found if isinstance(record, Record)]

    def _forget_missing(self) -> None:
        """Drop files that are gone and refresh: a merge may have moved their records into the database."""
        gone = [path for path in self._known if not path.exists()]
        if not gone:
            return
        for path in {*gone, self.path}:
            self._forget(path)
            self._known.pop(path, None)
        self.refresh()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._by_key))

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def segments(self, skip: Path | None = None) -> Iterator[Segment]:
        """Yield every record once, verified, in bulk; damaged records are left out and noted in ``findings``.

        The records of the file ``skip`` are left out.
        """
        self._forget_missing()
        for place in sorted(place for place in self._places if place.path != skip):
            yield from self._counting(place)

    def new_segments(self) -> Iterator[Segment]:
        """Yield the records that are new since the last call, as ``segments`` does; all of a replaced file."""
        for place in sorted(place for place in self._places if place not in self._handed_out):
            yield from self._counting(place)
            self._handed_out.add(place)

    def _counting(self, place: ChunkPlace) -> Iterator[Segment]:
        """Yield the verified records of a chunk that count for their keys."""
        for segment in self._chunks.segments(place):
            keys = [key.decode(errors="replace") for key in segment.rows["key"].tolist()]
            mine = np.array([self._by_key.get(key, (None,))[0] is place for key in keys], bool)
            for right, verdict in (
                (segment.marked(), Verdict.NOT_MARKED),
                (segment.intact(), Verdict.CHECKSUM),
            ):
                for row in np.flatnonzero(mine & ~right):
                    self._demote(keys[row], place, verdict)
                mine &= right
            if mine.any():
                yield segment if mine.all() else segment.take(mine)

    def counts(self) -> dict[Path, int]:
        """Return the number of records that each file contributes."""
        found = Counter(place.path for places in self._by_key.values() for place in places)
        return {path: found[path] for path in sorted(self._known)}

    @property
    def campaign_text(self) -> str | None:
        """The text of the campaign file, as the database or the run directory stores it."""
        text = self.attributes.get("campaign")
        return text if isinstance(text, str) else self.run.campaign_text()

    def to_xarray(self) -> Any:
        """Return the results as an ``xarray.Dataset`` (needs xarray) over farm, type, axes, seed and turbine.

        Every farm, type and seed of the campaign is there, with NaN where a result is missing or a layout has fewer
        turbines than the largest.
        """
        return readers().dataset(self)

    def to_dataframe(self) -> Any:
        """Return the results as a ``pandas.DataFrame`` (needs pandas), one row per result, without layouts.

        ``longitude`` and ``latitude`` are those of the middle of the layout.
        """
        return readers().data_frame(self)

    def __repr__(self) -> str:
        total = self.attributes.get("total_configs")
        of = f" of {total:,}" if isinstance(total, int) and not isinstance(total, bool) else ""
        stale = self.attributes.get("stale_configs", 0)
        of += f" results, {stale:,} of them stale" if stale else " results"
        bad = f", {plural(len(self.findings), 'file')} with something wrong" if self.findings else ""
        return f"<Database {str(self.path)!r}: {len(self):,}{of}{bad}>"

    def close(self) -> None:
        """Close the files."""
        self._chunks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(path: Path | str | RunDirectory) -> Database:
    """Open a database, finished or still being made.

    Args:
        path: An OUT.h5, which need not exist yet while its run directory OUT.h5.run does.

    Returns:
        A mapping from key to ``Record``; damaged records are left out and noted in its ``findings``.
    """
    return Database(path)
