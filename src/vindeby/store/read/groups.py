"""Records as groups of an HDF5 file: the classic form, whether vindeby wrote it or an older script.

A record counts only if every dataset of it is readable, of numbers, and within the bytes that are really there; with
the success mark and the checksum right where it carries them. A record without a
checksum gets the mark of its origin (``origin``).
"""

import string
from collections.abc import Callable, Iterator
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.errors import VindebyError
from vindeby.store.format.record import RESERVED, SUCCESS, Attribute, Record
from vindeby.store.format.root import MARKS, Addition, array_attributes, described, own_record
from vindeby.store.format.rows import CHECKSUM_WIDTH, segments_of
from vindeby.store.format.shard import build_image
from vindeby.store.read.additions import dataset_additions
from vindeby.store.read.confined import (
    LIBRARY_ERRORS,
    Answer,
    SpentError,
    UnusableError,
    member,
    plain,
    reason,
)
from vindeby.store.read.inspect import FOREIGN, REPACKED, Verdict, marked

_MOST_ATTRIBUTES = 1000


class _LaterError(Exception):
    """Only what the other records of the file are like tells what this group is."""


class GroupReader:
    """Reads the groups of one file.

    The root says which fields the records have. Where that is damaged, records that nobody added to tell it: a group
    that is not what is known so far is looked at again when all others were read.
    """

    def __init__(self, answer: Answer, root: dict[str, Attribute]) -> None:
        self._answer, asked = answer, answer.asked
        self._rooted, self._needed = asked.rooted, set(asked.needed)
        self._skip, self._sent = set(asked.skip), set(asked.sent)
        self._ours = "root_checksum" in root
        self._origin = REPACKED if asked.origin == FOREIGN and self._ours else asked.origin
        self._kinds = (described(root) or (frozenset(), []))[1]
        self._written = array_attributes(root)
        self._places: set[int] = set()
        self._last = bool(self._rooted)
        self.additions: list[Addition] = []
        """What others added to a file of vindeby."""
        self.visited: list[int] = []
        """Where the groups are that were read to the end, whatever they gave."""

    def records(self, file: h5py.File, progress: Callable[[str], None]) -> Iterator[Record]:
        """Each group that is a record; what is wrong with the others is noted."""
        try:
            yield from self._each(file, progress)
        except SpentError:  # here, so that what was read so far is still sent
            self._answer.note_spent()

    def _each(self, file: h5py.File, progress: Callable[[str], None]) -> Iterator[Record]:
        later: list[str] = []
        for name in self._names(file, later):
            progress(name)
            self._answer.spend(len(name))
            group = None
            try:
                group = file if self._rooted else self._group(file, name)
                if group is None:
                    self.additions.append(Addition("", name))
                    continue
                record = self._record(name, group)
                self._add(self._additions(name, group, record))
            except _LaterError:
                later.append(name)
                continue
            except UnusableError as error:
                self._answer.note(error.verdict, error.detail, name or self._rooted)
                if group is None:
                    continue
            except VindebyError as error:
                self._answer.note(Verdict.FOREIGN, str(error), name or self._rooted)
            except LIBRARY_ERRORS as error:
                self._answer.note(Verdict.INCOMPLETE, reason(error), name or self._rooted)
                continue
            else:
                if name not in self._sent:
                    yield record
            self._visit(group)
        if not self._rooted:
            self._visit(file)

    def _names(self, file: h5py.File, later: list[str]) -> Iterator[str]:
        """The name of each group, and then of those that were put off."""
        yield from [""] if self._rooted else [name for name in file if name not in self._skip]
        self._last = True
        yield from list(later)

    def _group(self, file: h5py.File, name: str) -> h5py.Group | None:
        """The group of a record; None for what others added to a file of ours, and for anything but a group."""
        if self._ours and not isinstance(file.get(name, getlink=True), h5py.HardLink):
            return None
        item = file[name] if self._ours else member(file, name)
        if not isinstance(item, h5py.Group):
            return None
        if self._ours and not any(mark in item.attrs for mark in MARKS):
            if not self._last:
                raise _LaterError
            known = not self._kinds or any(arrays <= set(item) for arrays, _ in self._kinds)
            return item if known else None
        if h5py.h5o.get_info(item.id).addr in self._places:
            return None  # a second name of a record that was read already
        return item

    def _visit(self, group: h5py.Group) -> None:
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
        arrays, unusable = self._arrays(group)
        stated = marks.get("checksum")
        lacking = set() if stated else self._needed - arrays.keys()
        enough = bool(self._needed) and not stated and not lacking
        if unusable and not (stated and name) and not enough:
            raise unusable[0]
        if lacking or not arrays:
            what = f"no dataset {', '.join(sorted(lacking))}" if lacking else "the group has no dataset"
            raise unusable[0] if unusable else UnusableError(Verdict.INCOMPLETE, what)
        if marks.get("status", SUCCESS) != SUCCESS:
            raise UnusableError(Verdict.NOT_MARKED, f"status is {marks['status']!r}")
        spelled = name or spelled_key(self._answer.asked.naming, attributes)
        key, fingerprint = spelled or self._rooted, marks.get("fingerprint", "")
        if not stated:
            return Record(key, fingerprint, arrays, marked(attributes, self._origin))
        own = own_record(self._kinds, key, fingerprint, arrays, attributes, stated) if spelled else None
        if own is None:
            if not self._last:
                raise _LaterError
            if unusable:
                raise unusable[0]
            self._send_doubtful(Record(name or self._rooted, fingerprint, arrays, attributes), stated)
            raise UnusableError(Verdict.CHECKSUM, "" if name else _why_nameless(spelled))
        self._places.add(h5py.h5o.get_info(group.id).addr)
        kind = frozenset(own.arrays), frozenset(own.attributes)
        if kind not in self._kinds:
            self._kinds.append(kind)
        return own

    def _send_doubtful(self, record: Record, stated: str) -> None:
        """What the group holds, with the checksum that it states and does not meet."""
        (segment,) = segments_of([record])
        segment.rows["checksum"] = stated.encode(errors="replace")[:CHECKSUM_WIDTH]
        self._answer.doubtful(build_image([segment]))

    def _add(self, additions: Iterator[Addition]) -> None:
        for addition in additions:
            self._answer.spend(len(addition.owner) + len(addition.name))
            self.additions.append(addition)

    def _additions(self, name: str, group: h5py.Group, record: Record) -> Iterator[Addition]:
        """What others added to a record: objects and attributes in its group, attributes of its datasets."""
        own = {*record.attributes, *MARKS} if self._ours else set(group.attrs)
        for item in group:
            if item not in record.arrays:
                yield Addition(name, item)
        for attribute in group.attrs:
            if attribute not in own:
                yield Addition(name, attribute, attribute=True)
        for item in record.arrays:
            yield from dataset_additions(f"{name}/{item}", group[item], self._written.get(item, {}))

    def _attributes(self, group: h5py.Group) -> tuple[dict[str, Attribute], dict[str, str]]:
        attributes: dict[str, Attribute] = {}
        marks: dict[str, str] = {}
        if len(group.attrs) > _MOST_ATTRIBUTES:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"the group has {len(group.attrs)} attributes")
        for name in group.attrs:
            try:
                value = plain(group.attrs[name])
            except LIBRARY_ERRORS:
                if self._ours and name not in RESERVED:
                    continue
                raise
            self._answer.spend(len(name) + (len(value) if isinstance(value, str) else 8))
            if name in RESERVED:
                marks[name] = str(value)
            else:
                attributes[name] = value
        return attributes, marks

    def _arrays(self, group: h5py.Group) -> tuple[dict[str, NDArray[Any]], list[UnusableError]]:
        """The datasets that can be arrays of a record, and what is wrong with the other members."""
        arrays: dict[str, NDArray[Any]] = {}
        unusable: list[UnusableError] = []
        for item in group:
            try:
                arrays[item] = self._array(item, self._member(group, item))
            except UnusableError as error:
                unusable.append(error)
            except LIBRARY_ERRORS as error:
                unusable.append(UnusableError(Verdict.INCOMPLETE, reason(error)))
        return arrays, unusable

    def _member(self, group: h5py.Group, item: str) -> Any:
        """A member of a record's group; in a file of ours, links that lead elsewhere are not followed."""
        if self._ours and not isinstance(group.get(item, getlink=True), h5py.HardLink):
            raise UnusableError(Verdict.FOREIGN, f"{item} is a link")
        return member(group, item)

    def _array(self, name: str, dataset: Any) -> NDArray[Any]:
        if not isinstance(dataset, h5py.Dataset):
            raise UnusableError(Verdict.FOREIGN, f"{name} is not a dataset")
        if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
            raise UnusableError(Verdict.FOREIGN, f"{name} has type {dataset.dtype}")
        if dataset.size * dataset.dtype.itemsize > max(self._answer.asked.real_size, 1 << 20) * 64:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has shape {dataset.shape}")
        self._check_extent(name, dataset)
        self._answer.spend(dataset.size * dataset.dtype.itemsize)
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
        if max(ends) > self._answer.asked.real_size:
            raise UnusableError(
                Verdict.TRUNCATED, f"{name} ends at byte {max(ends)} of {self._answer.asked.real_size}"
            )


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
