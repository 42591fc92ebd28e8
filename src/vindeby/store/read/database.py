"""Reading results: a finished OUT.h5 of either file format, a run in progress, or a file from elsewhere.

Whatever is handed out was verified: the bytes against the seal of their file, the record against its own
checksum. A damaged shard or database does not stop the rest from being read; what is wrong with it is in
``findings``, and asking for a record that is damaged, of which no other copy is right, raises ``DataError``.
Which copy of a key counts is the same as in a merge (``index``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError, DataError, InputError
from vindeby.store.disk.files import file_state, refuse_special
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.formats import FILE_FORMATS
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealedFile, SealError, directory_errors
from vindeby.store.format.shard import read_segments
from vindeby.store.read.chunks import Chunks, Index, Place, ReplacedError, precedence
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding, Verdict
from vindeby.store.read.reading import chunk_count, read_any

if TYPE_CHECKING:
    from vindeby.campaign import Campaign

__all__ = ["Database", "ReplacedError", "open_database"]


class Database(Mapping[str, Record]):
    """The records of an OUT.h5 and of the shards beside it, by key.

    A ``guard`` that is given is used for files that may be bad, instead of one of its own each time.
    """

    def __init__(self, path: Path | str | RunDirectory, guard: Guard | None = None) -> None:
        self.run = RunDirectory.of(path)
        self.path = self.run.output if isinstance(path, RunDirectory) else Path(path)
        self._guard = guard
        self.attributes: dict[str, Attribute] = {}
        self.findings: dict[Path, list[Finding]] = {}
        self.sealed = False
        self._index = Index()
        self._known: dict[Path, tuple[int, int, int]] = {}
        self._chunks = Chunks(self.findings)
        self._handed_out: set[Place] = set()
        if self.path.is_dir():
            raise InputError(
                f"{self.path}: this is a folder; name the database, or run `salvage` on the folder"
            )
        refuse_special(self.path)
        if not self.path.exists() and not self.run.shards.exists() and self.run.campaign_text() is None:
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
                    self._add(path, guard)
                    self._known[path] = (0, 0, 0)
                # A merge that ended meanwhile has taken shards away before they were listed: then look again.
                if self._known.get(self.path) == file_state(self.path):
                    break
        return len(self._index) - before

    def _add_new_output(self, guard: Guard) -> None:
        state = file_state(self.path)
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
            self._handed_out -= self._index.forget(path)
            self._handed_out = {place for place in self._handed_out if place.path != path}
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
        file = SealedFile.open(path)
        if file is None:
            self._add_unsealed(path, guard)
            return
        directory = file.seal.directory
        self._chunks.digests[path] = file.seal.digest
        with file:
            if directory["kind"] == "shard":
                file.verify()
                segments = read_segments(file)
                keys = [np.concatenate([np.empty(0, "S1"), *(one.rows["key"] for one in segments)])]
                self._chunks.keep(path, segments)
            else:
                read_keys = FILE_FORMATS[directory["layout"]].read_keys
                with directory_errors(path):
                    keys = [read_keys(file, number) for number in range(chunk_count(file))]
        for number, names in enumerate(keys):
            self._enter(path, number, names, int(directory.get("published_ns", 0)))
        if path == self.path:
            self.attributes, self.sealed = dict(directory.get("root", {})), True

    def _enter(self, path: Path, chunk: int, names: NDArray[np.bytes_], published_ns: int) -> None:
        kind = "database" if path == self.path else "shard"
        self._index.enter(Place(precedence(kind, published_ns, path), chunk, path), names)

    def _add_unsealed(self, path: Path, guard: Guard) -> None:
        """Nothing vouches for this file as a whole: keep what can be read and verified, in memory."""
        reading = read_any(path, guard)
        if reading.findings:
            self.findings[path] = reading.findings
        if path != self.path and not reading.sealed and not reading.segments:
            return
        self._chunks.memory[path] = reading.segments
        for number, segment in enumerate(reading.segments):
            self._enter(path, number, segment.rows["key"], reading.published_ns)
        if path == self.path:
            self.attributes, self.sealed = reading.root, False
            if not reading.segments and reading.findings and reading.findings[0].key == "":
                raise DataError(f"{path}: {reading.findings[0]}; `vindeby salvage` may save what is in it")

    def __getitem__(self, key: str) -> Record:
        place: Place | None = self._index[key]
        while place is not None:
            try:
                record = self._record(place, key)
            except FileNotFoundError:
                self._forget_missing()
                place = self._index[key]
                record = self._record(place, key)
            if isinstance(record, Record):
                return record
            wrong, place = f"{place.path}: record {key}: {record.value}", self._demote(key, place, record)
        raise DataError(f"{wrong}; run `vindeby validate` to see what else is bad")

    def _record(self, place: Place, key: str) -> Record | Verdict:
        """The record there, or what is wrong with it."""
        segment, row = self._chunks.rows(place).get(key, (None, 0))
        if segment is None:
            return Verdict.CHECKSUM
        only = segment.take(slice(row, row + 1))
        if not only.intact().all():
            return Verdict.CHECKSUM
        return only.record(0) if only.marked().all() else Verdict.NOT_MARKED

    def _demote(self, key: str, place: Place, why: Verdict) -> Place | None:
        """The record there is not right; the next copy counts, if there is one."""
        self._chunks.note(place.path, Finding(why, "", key))
        better = self._index.demote(key, place)
        if better is not None:
            self._handed_out.discard(better)
        return better

    @property
    def digest(self) -> str:
        """The digest of OUT.h5's seal; empty where there is no OUT.h5, or one that is not sealed."""
        return self._chunks.digests.get(self.path, "") if self.sealed and self.path in self._known else ""

    def pass_over(self, invalid: Collection[str], keys: Iterable[str]) -> None:
        """Forget copies with these checksums, of these keys, as long as another copy is left to count.

        A result that was computed again stands in a shard until it is merged, behind the one that it replaces.
        """
        for key in keys:
            for place in self._index.copies(key):
                if len(self._index.copies(key)) > 1 and self._checksum(place, key) in invalid:
                    better = self._index.demote(key, place)
                    assert better is not None
                    self._handed_out.discard(better)

    def repeated_keys(self) -> list[str]:
        """The keys that several files have."""
        return self._index.repeated()

    def checksum(self, key: str) -> str:
        """The checksum of the record that counts for a key; empty when there is none."""
        place = self._index.get(key)
        return "" if place is None else self._checksum(place, key)

    def _checksum(self, place: Place, key: str) -> str:
        try:
            segment, row = self._chunks.rows(place).get(key, (None, 0))
        except FileNotFoundError:  # merged and deleted since it was listed
            return ""
        return "" if segment is None else str(segment.rows["checksum"][row].decode(errors="replace"))

    def copies(self, key: str) -> list[Record]:
        """Every valid record that stands under this key somewhere, the one that counts first."""
        found = []
        for place in self._index.copies(key):
            with contextlib.suppress(FileNotFoundError):  # merged and deleted since it was listed
                found.append(self._record(place, key))
        return [record for record in found if isinstance(record, Record)]

    def _forget_missing(self) -> None:
        """A merge may have moved records from shards into the database since we looked."""
        gone = [path for path in self._known if not path.exists()]
        if not gone:
            return
        for path in {*gone, self.path}:
            self._forget(path)
            self._known.pop(path, None)
        self.refresh()

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def segments(self, skip: Path | None = None) -> Iterator[Segment]:
        """Every record once, verified, in bulk; what is damaged is left out and noted in ``findings``.

        The records of the file ``skip`` are left out.
        """
        self._forget_missing()
        return self._of_places(sorted(place for place in self._index.places if place.path != skip))

    def new_segments(self, fields: Collection[str] | None = None) -> Iterator[Segment]:
        """As ``segments``, but only what came since this was last asked; all of a file that was replaced.

        Who names the ``fields`` that are needed counts quickly: others may be missing, and what a seal vouches for is
        not compared with its own checksum again.
        """
        for place in sorted(place for place in self._index.places if place not in self._handed_out):
            yield from self._of_places([place], fields)
            self._handed_out.add(place)

    def _of_places(self, places: list[Place], fields: Collection[str] | None = None) -> Iterator[Segment]:
        needed = None if fields is None else {*fields, "status"}
        for place in places:
            trusted = not self._chunks.doubtful(place.path) and place.path not in self.findings
            for segment in self._chunks.segments(place, needed if trusted else None):
                keys = [key.decode(errors="replace") for key in segment.rows["key"].tolist()]
                mine = np.array([self._index.get(key) is place for key in keys], bool)
                for row in np.flatnonzero(mine & ~segment.marked()):
                    self._demote(keys[row], place, Verdict.NOT_MARKED)
                    mine[row] = False
                if needed is None or not trusted or place.path in self.findings:
                    intact = segment.intact()
                    for row in np.flatnonzero(mine & ~intact):
                        self._demote(keys[row], place, Verdict.CHECKSUM)
                    mine &= intact
                if mine.all():
                    yield segment
                elif mine.any():
                    yield segment.take(mine)

    @property
    def campaign_text(self) -> str | None:
        """The campaign file, as the database or the run directory keeps it."""
        text = self.attributes.get("campaign")
        return text if isinstance(text, str) else self.run.campaign_text()

    def to_xarray(self, by: Literal["task", "key"] = "task") -> Any:
        """The results as an ``xarray.Dataset`` (needs xarray) over farm, type, seed and turbine.

        Every farm, type and seed of the campaign is there, with NaN where a result is missing or a layout has fewer
        turbines than the largest. ``by="key"`` gives all records as they are, over ``key``.
        """
        if by not in ("task", "key"):
            raise ArgumentError(f"to_xarray: by must be 'task' or 'key', not {by!r}")
        from vindeby.store.read import export  # only for those who ask for it

        if by == "key":
            return export.dataset_by_key(list(self.segments()), self.attributes)
        return export.dataset_by_task(list(self.segments()), self._campaign(), self.attributes)

    def to_dataframe(self) -> Any:
        """The results as a ``pandas.DataFrame`` (needs pandas), one row per result; layouts are left out."""
        from vindeby.store.read.export import data_frame  # needs pandas, which is optional

        return data_frame(list(self.segments()), self._campaign())

    def _campaign(self) -> Campaign | None:
        from vindeby.store.read.export import campaign_in  # only here and in a notebook

        return campaign_in(self.campaign_text)

    def __repr__(self) -> str:
        total = self.attributes.get("total_configs")
        of = f" of {total:,}" if isinstance(total, int) and not isinstance(total, bool) else ""
        bad = f", {len(self.findings):,} files with something wrong" if self.findings else ""
        return f"<Database {str(self.path)!r}: {len(self):,}{of} results{bad}>"

    def _repr_html_(self) -> str:
        from vindeby.store.read.export import progress  # only a notebook asks for it

        return progress(self.path.name, list(self), self._campaign(), len(self.findings))

    def close(self) -> None:
        """Close the files."""
        self._chunks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(path: Path | str | RunDirectory) -> Database:
    """Open a database, finished or still being made."""
    return Database(path)
