"""Results whose key is not that of the task they belong to, and results that earlier merges replaced.

A campaign may drop, insert, reorder or rename farms, types and seeds. A merge then gives each result that answers a
task the key, the numbers and the names of that task (``TaskIndex``). Nothing is computed. What belongs to no task goes
to ``replaced/`` as a database, and comes back from there when the campaign asks for it again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray
from vindeby.campaign.task_index import Names, TaskIndex
from vindeby.campaign.tasks import KeyParts
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.formats import chunk_count, read_chunk
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Segment, attribute_field, checksum_of
from vindeby.store.format.seal import SealError, open_sealed
from vindeby.store.merge.sources import MergeSelection, Source, in_memory, pick
from vindeby.store.read.columns import PLACE, former_campaigns, texts
from vindeby.store.read.database import Database
from vindeby.text import listed, plural


def identities(segment: Segment, tasks: TaskIndex) -> Iterator[tuple[str, str, Names | None]]:
    """Return the key, the fingerprint and the names of farm, type and axis values of each record."""

    def column(name: str) -> list[str] | None:
        if name not in (segment.rows.dtype.names or ()) or segment.rows.dtype[name].kind != "S":
            return None
        return [text.decode(errors="replace") for text in segment.rows[name].tolist()]

    keys, marks, *names = map(column, ("key", "fingerprint", *map(attribute_field, tasks.attributes)))
    assert keys is not None, "every record has a key"
    assert marks is not None, "and a fingerprint"
    none = [""] * len(keys)
    is_named = None not in names[:2] or any(names[2:])
    columns = [none if one is None else one for one in names]
    pairs: Iterable[Names | None] = zip(*columns, strict=True) if is_named else [None] * len(keys)
    return zip(keys, marks, pairs, strict=True)


@dataclass
class Strays:
    """The records of one file that are not under the key of their task; called with each segment, in order."""

    tasks: TaskIndex
    rows: dict[int, str | None] = field(default_factory=dict)
    """The key of each record's task, by the number of the record; None if the campaign has no such task."""
    stale: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    """Key and fingerprint, by checksum, of results whose task has changed."""
    _start: int = 0

    def __call__(self, segment: Segment, intact: BoolArray) -> None:
        """Note the strays of the next segment."""
        for row, (key, mark, names) in enumerate(identities(segment, self.tasks)):
            if self.tasks.is_in_place(key, mark, names) or not intact[row]:
                continue
            task = self.tasks.key_of(key, mark, names)
            if task != key or names not in (None, self.tasks.names(key)):
                self.rows[self._start + row] = task
            elif mark and task in self.tasks:
                self.stale[bytes(segment.rows["checksum"][row])] = key, mark
        self._start += len(segment)


@dataclass
class Rekeyed:
    """The results that were not under the key of their task, and where they are now."""

    sources: list[Source] = field(default_factory=list)
    """Their records, under the keys of their tasks."""
    moved: dict[str, str] = field(default_factory=dict)
    """Former keys, with the key of the task."""
    gone: list[Record] = field(default_factory=list)
    """Results that belong to no task of the campaign."""
    stale: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    """Key and fingerprint, by checksum, of results whose task has changed."""
    back: Source | None = None
    """Results that were replaced before and answer the campaign again."""

    def taken_stale(self, sources: Sequence[Source], selection: MergeSelection) -> dict[str, str]:
        """Return the fingerprints, by key, of the stale results that the new database has."""
        pairs = zip(sources, selection.masks, strict=True) if self.stale else ()
        taken = (checksum for source, mask in pairs for checksum in source.checksums[mask].tolist())
        return dict(self.stale[checksum] for checksum in taken if checksum in self.stale)

    def notes(self, tasks: TaskIndex | None, stale: Mapping[str, str]) -> list[str]:
        """Return one line for each reason why results were renumbered, replaced, taken back or are stale."""
        moves = [f"{old} is now {new}" for old, new in sorted(self.moved.items())]
        gone, many = sorted(record.key for record in self.gone), self.back.entry.found if self.back else 0
        changes = tasks.changes_since(*next(iter(stale.items()))) if tasks and stale else ""
        what = f" (changed: {changes})" if changes else ""
        old = f"{listed(stale, None, most=3)}; `vindeby run` with --replace-stale computes them again"
        reasons = (
            (len(moves), f"got the numbers and names of the campaign: {listed(moves, None, most=2)}"),
            (len(gone), f"of no task of the campaign went to replaced/: {listed(gone, None, most=3)}"),
            (many, "came back from replaced/, as the campaign asks for them again"),
            (len(stale), f"of an older version of the campaign{what}, marked as stale: {old}"),
        )
        return [f"{plural(count, 'result')} {text}" for count, text in reasons if count]


def rekey(sources: Sequence[Source], strays: Mapping[Path, Strays], tasks: TaskIndex) -> Rekeyed:
    """Take stray records out of their sources, and give those that belong to a task the key of the task."""
    done = Rekeyed()
    for source in sources:
        found = strays[source.path]
        done.stale |= found.stale
        if not found.rows:
            continue
        records = []
        for row, record in pick(source, set(found.rows)):
            key = found.rows[row]
            moved = None if key is None else under_key(record, key, tasks)
            if moved is None:
                done.gone.append(record)
            else:
                records.append(moved)
                done.moved[record.key] = moved.key
                if moved.fingerprint not in ("", tasks[moved.key]):
                    done.stale[checksum_of(moved).encode()] = moved.key, moved.fingerprint
        source.intact[list(found.rows)] = False
        done.sources.append(in_memory(source.path, f"{source.entry.kind}, renumbered", records))
    return done


def needs_rekeying(run: RunDirectory, tasks: TaskIndex) -> bool:
    """Return whether a result is under another key than its task, or ``replaced/`` holds one that is missing."""
    strays, keys = Strays(tasks), set[str]()
    with Database(run) as database:
        for segment in database.new_segments():
            strays(segment, np.ones(len(segment), np.bool_))
            keys.update(texts([segment], "key"))
    answered = keys - {key for key, _ in strays.stale.values()}
    return bool(strays.rows) or taken_back(run, tasks, answered, ()) is not None


def under_key(record: Record, key: str, tasks: TaskIndex) -> Record | None:
    """Return a result with the key, numbers and names of a task; None where its type numbers are of unknown types."""
    numbers, names = KeyParts.of(key)[:3], tasks.names(key)
    said = dict(zip(PLACE, numbers, strict=True)) | dict(zip(tasks.attributes, names or (), strict=False))
    kept = {name: value for name, value in record.attributes.items() if name not in tasks.former_axes()}
    attributes = {name: said.get(name, value) for name, value in kept.items()}
    attributes |= {axis: said[axis] for axis in tasks.campaign.axes}
    arrays = dict(record.arrays)
    cell = tasks.cell(key)
    if cell is not None and cell.mix:
        known = tasks.type_numbers(key, record.fingerprint, record.key)
        if (types := arrays.get("types")) is not None:
            if known is None or not set(np.unique(types).tolist()) <= known.keys():
                return None
            arrays["types"] = _replaced(types, known)
    return Record(key, record.fingerprint, arrays, attributes)


def _replaced(numbers: NDArray[Any], by: Mapping[int, int]) -> NDArray[Any]:
    found = np.copy(numbers)
    for before, after in by.items():
        found[numbers == before] = after
    return found


def taken_back(
    run: RunDirectory, tasks: TaskIndex, answered: Collection[str], invalid: Collection[str]
) -> Source | None:
    """Return the results in ``replaced/`` that answer tasks without a result, under the keys of these tasks."""
    files = sorted(run.replaced.glob("*.h5"), reverse=True)
    wanted = {tasks[key] for key in tasks if key not in answered} if files else set[str]()
    found: dict[str, Record] = {}
    for path in files:
        if not wanted:
            break
        with contextlib.suppress(OSError, SealError), open_sealed(path) as file:
            kept = file.seal.directory.get("root", {}).get("campaign")
            here = tasks.with_formers(partial(former_campaigns, run, kept))
            for number in range(chunk_count(file)):
                for segment in read_chunk(file, number):
                    _take_wanted(segment, here, wanted, invalid, found)
    return in_memory(run.replaced, "replaced before", list(found.values())) if found else None


def _take_wanted(
    segment: Segment, tasks: TaskIndex, wanted: set[str], invalid: Collection[str], found: dict[str, Record]
) -> None:
    """Add the intact records with a wanted fingerprint to ``found``, by the key of their task."""
    good, checksums = segment.intact() & segment.marked(), segment.rows["checksum"].tolist()
    for row, (_, mark, names) in enumerate(identities(segment, tasks)):
        if mark not in wanted or not good[row] or checksums[row].decode() in invalid:
            continue
        key = tasks.answered_by(mark, names)
        record = None if key is None else under_key(segment.record(row), key, tasks)
        if record is not None:
            found[record.key] = record
            wanted.discard(mark)
