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
from vindeby.store.foreign.confined import (
    LIBRARY_ERRORS,
    Answer,
    SpentError,
    UnusableError,
    member,
    names_of,
    plain,
    readable,
    reason,
)
from vindeby.store.format.finding import Verdict
from vindeby.store.format.origin import FOREIGN, REPACKED, marked
from vindeby.store.format.record import RESERVED, SUCCESS, Attribute, Record
from vindeby.store.format.root import MARKS, described, own_record
from vindeby.store.format.seal import MARK_COLUMNS

_MOST_ATTRIBUTES = 1000
_ENERGY = "aep"
"""An array of one number, which other programs may store as an attribute."""


class GroupReader:
    """Reads the groups of one file; the root of a file of ours says which fields its records have."""

    def __init__(self, answer: Answer, root: dict[str, Attribute]) -> None:
        self._answer, asked = answer, answer.asked
        self._rooted, self._needed = asked.rooted, set(asked.needed)
        self._skip, self._sent = set(asked.skip), set(asked.sent)
        self._ours = "root_checksum" in root
        self._origin = REPACKED if asked.origin == FOREIGN and self._ours else asked.origin
        self._kinds = (described(root) or (frozenset(), []))[1]
        self._places: set[int] = set()
        self.visited: list[int] = []
        """Where the groups are that were read to the end, whatever they gave."""

    def records(self, file: h5py.File, progress: Callable[[str], None]) -> Iterator[Record]:
        """Each group that is a record; what is wrong with the others is noted."""
        try:
            yield from self._each(file, progress)
        except SpentError:  # here, so that what was read so far is still sent
            self._answer.note_spent()

    def _each(self, file: h5py.File, progress: Callable[[str], None]) -> Iterator[Record]:
        for name, stored in ({"": b""} if self._rooted else names_of(file)).items():
            if name in self._skip:
                continue
            progress(name)
            self._answer.spend(len(name))
            group = None
            try:
                group = file if self._rooted else self._group(file, stored)
                if group is None:
                    continue
                record = self._record(name, group)
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

    def _group(self, file: h5py.File, name: bytes) -> h5py.Group | None:
        """The group of a record; None for what others added to a file of ours, and for anything but a group."""
        if self._ours and file.id.links.get_info(name).type != h5py.h5l.TYPE_HARD:
            return None
        item = file[name] if self._ours else member(file, name)
        if not isinstance(item, h5py.Group):
            return None
        if self._ours and not any(mark in item.attrs for mark in MARKS):
            known = not self._kinds or any(arrays <= names_of(item).keys() for arrays, _ in self._kinds)
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
        if len(group) == 0:
            raise UnusableError(Verdict.INCOMPLETE, "the group has no dataset")
        attributes, marks = self._attributes(group)
        if self._rooted and group.keys() >= set(MARK_COLUMNS):
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
            if _ENERGY not in arrays and isinstance(attributes.get(_ENERGY), int | float):
                arrays[_ENERGY] = np.array(float(attributes.pop(_ENERGY)))
            return Record(key, fingerprint, arrays, marked(attributes, self._origin))
        own = own_record(self._kinds, key, fingerprint, arrays, attributes, stated) if spelled else None
        if own is None:
            if unusable:
                raise unusable[0]
            raise UnusableError(Verdict.CHECKSUM, "" if name else _why_nameless(spelled))
        self._places.add(h5py.h5o.get_info(group.id).addr)
        return own

    def _attributes(self, group: h5py.Group) -> tuple[dict[str, Attribute], dict[str, str]]:
        attributes: dict[str, Attribute] = {}
        marks: dict[str, str] = {}
        if len(group.attrs) > _MOST_ATTRIBUTES:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"the group has {len(group.attrs)} attributes")
        for name, stored in names_of(group.attrs).items():
            try:
                value = plain(group.attrs[stored])
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
        arrays: dict[str, NDArray[Any]] = {}
        unusable: list[UnusableError] = []
        for item, stored in names_of(group).items():
            try:
                arrays[item] = self._array(item, self._member(group, stored))
            except UnusableError as error:
                unusable.append(error)
            except LIBRARY_ERRORS as error:
                unusable.append(UnusableError(Verdict.INCOMPLETE, reason(error)))
        return arrays, unusable

    def _member(self, group: h5py.Group, item: bytes) -> Any:
        """A member of a record's group; in a file of ours, links that lead elsewhere are not followed."""
        if self._ours and group.id.links.get_info(item).type != h5py.h5l.TYPE_HARD:
            raise UnusableError(Verdict.FOREIGN, f"{readable(item)} is a link")
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
