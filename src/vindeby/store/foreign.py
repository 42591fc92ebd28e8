"""Reads records out of HDF5 files that nothing vouches for, through the library, inside a guarded child.

Three shapes are understood: a group a record (the classic form, from vindeby or from an older script), and
vindeby's own shards and tables whose seal is lost (``foreign_rows``). A record counts only if it is complete:
every dataset that the file's records have, readable, of numbers, all within the bytes that are really there; with
the success mark and the checksum right where it carries them. A record that states a checksum and does not meet it
is a finding, whichever way it was reached. What leads to another file is refused (``confined``), and what a file
may give is bounded (``budget``).
"""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.errors import VindebyError
from vindeby.store.batches import batches
from vindeby.store.budget import Budget, SpentError
from vindeby.store.confined import UnusableError, member, no_more_files
from vindeby.store.foreign_rows import LIBRARY_ERRORS, RowSender, Send, reason, send_shard, send_table
from vindeby.store.image import build_image, build_image_of
from vindeby.store.inspect import Verdict
from vindeby.store.record import RESERVED, SUCCESS, Attribute, Record
from vindeby.store.rows import CHECKSUM_WIDTH, checksum_of, segments_of

_MOST_ATTRIBUTES = 1000
_ROOT_BYTES = 1 << 24


def read_foreign(
    *, path: str, progress: Callable[[str], None], result: Send, doubtful: Send, **asked: Any
) -> dict[str, Any]:
    """Send every usable record as images of shards; the findings about the rest, and the root attributes.

    What is ``asked`` are the fields of ``Asked``.
    """
    with h5py.File(path, "r", locking=False) as file, no_more_files():
        return read_open(file, Asked(**asked), progress, result, doubtful)


@dataclass(frozen=True)
class Asked:
    """How to read a file.

    ``real_size`` bytes of it are real, the rest is padding. Groups named in ``skip`` are left out. With ``rooted`` the
    root group is itself one record: its key is what ``naming`` spells, or else ``rooted``.
    """

    real_size: int
    result_bytes: int
    batch_bytes: int
    most_findings: int
    skip: Sequence[str] = ()
    rooted: str = ""
    naming: str = ""


def read_open(
    file: h5py.File, asked: Asked, progress: Callable[[str], None], result: Send, doubtful: Send
) -> dict[str, Any]:
    """``read_foreign`` for a file that is open."""
    budget = Budget(asked.result_bytes, asked.most_findings)
    sender = RowSender(budget, asked.batch_bytes, result, doubtful)
    reader = _GroupReader(asked, sender)
    progress("")
    root = {} if asked.rooted else _root_attributes(file, budget)
    form = _form(file, root, asked.rooted)
    try:
        if form == "shard":
            send_shard(file, sender)
        elif form == "table":
            send_table(file, str(root["schemas"]), sender)
        else:
            for batch in batches(reader.records(file, progress), asked.batch_bytes):
                complete = _complete(batch, budget)
                if complete:
                    result(build_image(complete).data)
    except SpentError:
        budget.note_spent()
    except UnusableError as error:
        budget.note(error.verdict, error.detail)
    return {"findings": budget.close(), "root": root, "form": form, "visited": reader.visited}


def _form(file: h5py.File, root: dict[str, Attribute], rooted: str) -> str:
    if not rooted and "records" in file and root.get("kind") == "vindeby shard":
        return "shard"
    return "table" if not rooted and "schemas" in root else "groups"


def _complete(records: list[Record], budget: Budget) -> list[Record]:
    """Only the records that have every dataset which most of them have."""
    counts = Counter(name for record in records for name in record.arrays)
    usual = {name for name, count in counts.items() if 2 * count > len(records)}
    kept = []
    for record in records:
        lacking = sorted(usual - record.arrays.keys())
        if lacking:
            budget.note(Verdict.INCOMPLETE, f"no dataset {', '.join(lacking)}", record.key)
        else:
            kept.append(record)
    return kept


class _GroupReader:
    def __init__(self, asked: Asked, sender: RowSender) -> None:
        self._real_size = asked.real_size
        self._naming = asked.naming
        self._rooted = asked.rooted
        self._skip = set(asked.skip)
        self._sender = sender
        self._budget = sender.budget
        self.visited: list[int] = []
        """Where the groups are that were read to the end, whatever they gave."""

    def records(self, file: h5py.File, progress: Callable[[str], None]) -> Iterator[Record]:
        """Each group that is a record; what is wrong with the others is noted."""
        try:
            yield from self._each(file, progress)
        except SpentError:  # here, so that what was read so far is still sent
            self._budget.note_spent()

    def _each(self, file: h5py.File, progress: Callable[[str], None]) -> Iterator[Record]:
        for name in [""] if self._rooted else (name for name in file if name not in self._skip):
            progress(name)
            self._budget.spend(len(name))
            group = None
            try:
                group = file if self._rooted else member(file, name)
                if not isinstance(group, h5py.Group):
                    continue
                record = self._record(name, group)
            except UnusableError as error:
                self._budget.note(error.verdict, error.detail, name or self._rooted)
            except VindebyError as error:
                self._budget.note(Verdict.FOREIGN, str(error), name or self._rooted)
            except LIBRARY_ERRORS as error:
                self._budget.note(Verdict.INCOMPLETE, reason(error), name or self._rooted)
                continue
            else:
                yield record
            self._visit(group)
        if not self._rooted:
            self._visit(file)

    def _visit(self, group: h5py.Group | None) -> None:
        if group is None:
            return
        try:
            self.visited.append(int(h5py.h5o.get_info(group.id).addr))
        except LIBRARY_ERRORS:
            return

    def _record(self, name: str, group: h5py.Group) -> Record:
        """One group as a record; UnusableError says why not."""
        if len(group) == 0:
            raise UnusableError(Verdict.INCOMPLETE, "the group has no dataset")
        attributes, marks = self._attributes(group)
        if self._rooted and not attributes and not marks and _are_columns(group):
            raise UnusableError(Verdict.FOREIGN, "these are the columns of a table")
        arrays = {item: self._array(item, member(group, item)) for item in group}
        if marks.get("status", SUCCESS) != SUCCESS:
            raise UnusableError(Verdict.NOT_MARKED, f"status is {marks['status']!r}")
        spelled = name or spelled_key(self._naming, attributes)
        record = Record.stored(spelled or self._rooted, marks.get("fingerprint", ""), arrays, attributes)
        if "checksum" in marks and (not spelled or checksum_of(record) != marks["checksum"]):
            self._send_doubtful(name or self._rooted, record, marks["checksum"])
            raise UnusableError(Verdict.CHECKSUM, "" if name else _why_nameless(spelled))
        return record

    def _send_doubtful(self, key: str, record: Record, stated: str) -> None:
        """What the group holds, with the checksum that it states and does not meet."""
        (segment,) = segments_of([Record.stored(key, record.fingerprint, record.arrays, record.attributes)])
        segment.rows["checksum"] = stated.encode(errors="replace")[:CHECKSUM_WIDTH]
        self._sender.send_doubtful(build_image_of([segment]).data)

    def _attributes(self, group: h5py.Group) -> tuple[dict[str, Attribute], dict[str, str]]:
        attributes: dict[str, Attribute] = {}
        marks: dict[str, str] = {}
        if len(group.attrs) > _MOST_ATTRIBUTES:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"the group has {len(group.attrs)} attributes")
        for name in group.attrs:
            value = plain(group.attrs[name])
            self._budget.spend(len(name) + (len(value) if isinstance(value, str) else 8))
            if name in RESERVED:
                marks[name] = str(value)
            else:
                attributes[name] = value
        return attributes, marks

    def _array(self, name: str, dataset: Any) -> NDArray[Any]:
        if not isinstance(dataset, h5py.Dataset):
            raise UnusableError(Verdict.FOREIGN, f"{name} is not a dataset")
        if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
            raise UnusableError(Verdict.FOREIGN, f"{name} has type {dataset.dtype}")
        if dataset.size * dataset.dtype.itemsize > max(self._real_size, 1 << 20) * 64:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has shape {dataset.shape}")
        self._check_extent(name, dataset)
        self._budget.spend(dataset.size * dataset.dtype.itemsize)
        value = np.asarray(dataset[()])
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has values that are not finite")
        return value

    def _check_extent(self, name: str, dataset: h5py.Dataset) -> None:
        """Are the dataset's bytes within the bytes that are really there?"""
        ends = [0]
        if dataset.chunks is None:
            offset = dataset.id.get_offset()
            if offset is not None:
                ends.append(offset + dataset.id.get_storage_size())
        else:
            dataset.id.chunk_iter(lambda chunk: ends.append(chunk.byte_offset + chunk.size))
        if dataset.size and dataset.id.get_storage_size() == 0:
            raise UnusableError(Verdict.INCOMPLETE, f"{name} was never written")
        if max(ends) > self._real_size:
            raise UnusableError(Verdict.TRUNCATED, f"{name} ends at byte {max(ends)} of {self._real_size}")


def _are_columns(group: h5py.Group) -> bool:
    """Is this a helper group of a table: no attributes, and nothing but chunked columns with Fletcher-32?"""
    members = [member(group, name) for name in group]
    return bool(members) and all(isinstance(one, h5py.Dataset) and one.fletcher32 for one in members)


def spelled_key(naming: str, attributes: dict[str, Attribute]) -> str:
    """The key that a record's attributes spell, as ``str.format`` does; empty when they do not."""
    try:
        return string.Formatter().vformat(naming, (), attributes)
    except (LookupError, ValueError, TypeError, AttributeError):
        return ""


def _why_nameless(spelled: str) -> str:
    if spelled:
        return f"by its attributes it is {spelled}"
    return "its key is lost, so that it cannot be compared"


def _root_attributes(file: h5py.File, budget: Budget) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    left = _ROOT_BYTES
    for number, name in enumerate(file.attrs):
        if number == _MOST_ATTRIBUTES:
            budget.note(Verdict.IMPLAUSIBLE, f"the root has more than {_MOST_ATTRIBUTES} attributes")
            break
        try:
            value = plain(file.attrs[name])
        except LIBRARY_ERRORS:
            continue
        left -= len(name) + (len(value) if isinstance(value, str) else 8)
        if left < 0:
            budget.note(Verdict.IMPLAUSIBLE, f"the root attributes have more than {_ROOT_BYTES} bytes")
            break
        found[name] = value
    return found


def plain(value: Any) -> Attribute:
    """An attribute as h5py gives it, as a plain value; what is no scalar becomes JSON text."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else json.dumps(value.tolist(), default=str)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str | int | float | bool) else str(value)
