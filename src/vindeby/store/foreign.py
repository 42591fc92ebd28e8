"""Reads records out of HDF5 files that nothing vouches for, through the library, inside a guarded child.

Three shapes are understood: a group a record (the classic form, from vindeby or from an older script), and
vindeby's own shards and tables whose seal is lost. A record counts only if it is complete: every dataset that
the file's records have, readable, of numbers, all within the bytes that are really there; with the success
mark and the checksum right where it carries them. What others added to a file of vindeby is listed, not read
(``own``); a record without a checksum gets the mark of its origin (``origin``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.errors import VindebyError
from vindeby.store.array_attributes import ArrayAttributes, array_attributes
from vindeby.store.image import build_image, build_image_of
from vindeby.store.inspect import Finding, Verdict
from vindeby.store.layouts.table import own_columns, runs, table_segment
from vindeby.store.origin import FOREIGN, REPACKED, marked
from vindeby.store.own import MARKS, Addition, OwnFields
from vindeby.store.record import RESERVED, SUCCESS, Attribute, Record
from vindeby.store.root import KNOWN
from vindeby.store.rows import Schema, Segment

_BATCH = 256
_ROOT_ATTRIBUTE_LIMIT = 1 << 24
_LIBRARY_ERRORS = (
    OSError,
    RuntimeError,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    UnicodeError,
    MemoryError,
)


class UnusableError(Exception):
    """A record that cannot be used, with the verdict."""

    def __init__(self, verdict: Verdict, detail: str = "") -> None:
        super().__init__(detail)
        self.verdict = verdict
        self.detail = detail


def read_foreign(
    *,
    path: str,
    skip: list[str],
    real_size: int,
    rooted: bool,
    origin: str,
    progress: Callable[[str], None],
    result: Callable[[bytes], None],
) -> dict[str, Any]:
    """Send every usable record as images of shards; the findings about the rest, the root attributes, the additions.

    ``real_size`` bytes of the file are real, the rest is padding. With ``rooted`` the root group is itself one
    record. ``origin`` is the mark of records without a checksum.
    """
    findings: list[Finding] = []
    additions: list[Addition] = []
    with h5py.File(path, "r", locking=False) as file:
        progress("")
        root, inexact = ({}, []) if rooted else _root_attributes(file)
        if not rooted and "records" in file and root.get("kind") == "vindeby shard":
            batches = _shard_batches(file, findings)
        elif not rooted and "schemas" in root:
            batches = _table_batches(file, root, findings, additions)
        else:
            origin = REPACKED if origin == FOREIGN and "root_checksum" in root else origin
            reader = _GroupReader(real_size, root, origin)
            batches = _group_batches(file, rooted, set(skip), reader, findings, additions, progress)
        for image in batches:
            result(image)
    return {
        "findings": [finding.to_json() for finding in findings],
        "root": root,
        "inexact": inexact,
        "additions": [addition.to_json() for addition in additions],
    }


def _group_batches(
    file: h5py.File,
    rooted: bool,
    skip: set[str],
    reader: _GroupReader,
    findings: list[Finding],
    additions: list[Addition],
    progress: Callable[[str], None],
) -> Iterator[bytes]:
    names = [""] if rooted else [name for name in file if name not in skip]
    read: list[Record] = []
    for name in _records_first(file, names, reader):
        progress(name)
        try:
            group = file if rooted else reader.group(file, name)
            if group is None:
                additions.append(Addition("", name))
                continue
            read.append(reader.record(name, group))
            additions += reader.additions(name, group, read[-1])
        except UnusableError as error:
            findings.append(Finding(error.verdict, error.detail, name))
        except VindebyError as error:
            findings.append(Finding(Verdict.FOREIGN, str(error), name))
        except _LIBRARY_ERRORS as error:
            findings.append(Finding(Verdict.INCOMPLETE, _reason(error), name))
        if len(read) >= _BATCH * 4:
            complete, read = _complete(read, findings), []
            yield build_image(complete).data
    complete = _complete(read, findings)
    if complete:
        yield build_image(complete).data


def _records_first(file: h5py.File, names: list[str], reader: _GroupReader) -> Iterator[str]:
    """The names, those last that only what was learned from the others tells what they are."""
    if not reader.ours:
        yield from names
        return
    doubtful = []
    for name in names:
        try:
            later = not reader.is_plain_record(file, name)
        except _LIBRARY_ERRORS:
            later = False
        if later:
            doubtful.append(name)
        else:
            yield name
    yield from doubtful


def _complete(records: list[Record], findings: list[Finding]) -> list[Record]:
    """Only the records that have every dataset which most of them have."""
    counts = Counter(name for record in records for name in record.arrays)
    usual = {name for name, count in counts.items() if 2 * count > len(records)}
    kept = []
    for record in records:
        lacking = sorted(usual - record.arrays.keys())
        if lacking:
            findings.append(Finding(Verdict.INCOMPLETE, f"no dataset {', '.join(lacking)}", record.key))
        else:
            kept.append(record)
    return kept


class _GroupReader:
    def __init__(self, real_size: int, root: dict[str, Attribute], origin: str) -> None:
        self._real_size = real_size
        self._own = OwnFields(root)
        self._origin = origin
        self._places: set[int] = set()
        self._written = array_attributes(root)
        self.ours = "root_checksum" in root

    def is_plain_record(self, file: h5py.File, name: str) -> bool:
        """Is this a group under one name only, with a mark of ours?"""
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            return False
        item = file[name]
        marks = isinstance(item, h5py.Group) and any(mark in item.attrs for mark in MARKS)
        return marks and h5py.h5o.get_info(item.id).rc == 1

    def group(self, file: h5py.File, name: str) -> h5py.Group | None:
        """The group of a record; None for what others added to a file of ours, and for what is no group."""
        if self.ours and not isinstance(file.get(name, getlink=True), h5py.HardLink):
            return None
        item = file[name]
        if not isinstance(item, h5py.Group):
            return None
        if self.ours and not any(mark in item.attrs for mark in MARKS):
            return item if self._own.looks_like_a_record(set(item)) else None
        if h5py.h5o.get_info(item.id).addr in self._places:
            return None  # a second name of a record that was read already
        return item

    def record(self, name: str, group: h5py.Group) -> Record:
        """One group as a record; UnusableError says why not."""
        attributes, marks = self._attributes(group)
        arrays, unusable = self._arrays(group)
        stated = marks.get("checksum")
        if unusable and not (stated and name):
            raise unusable[0]
        if not arrays:
            raise unusable[0] if unusable else UnusableError(Verdict.INCOMPLETE, "the group has no dataset")
        if marks.get("status", SUCCESS) != SUCCESS:
            raise UnusableError(Verdict.NOT_MARKED, f"status is {marks['status']!r}")
        fingerprint = marks.get("fingerprint", "")
        if not stated:
            return Record(name or "unnamed", fingerprint, arrays, marked(attributes, self._origin))
        if not name:
            return Record("unnamed", fingerprint, arrays, attributes)
        record = self._own.find(name, fingerprint, arrays, attributes, stated)
        if record is None:
            raise unusable[0] if unusable else UnusableError(Verdict.CHECKSUM)
        self._places.add(h5py.h5o.get_info(group.id).addr)
        return record

    def additions(self, name: str, group: h5py.Group, record: Record) -> Iterator[Addition]:
        """What others added to a record: objects and attributes in its group, attributes of its datasets."""
        own = {*record.attributes, *MARKS} if self.ours else set(group.attrs)
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
        for name in group.attrs:
            try:
                value = plain(group.attrs[name])
            except _LIBRARY_ERRORS:
                if self.ours and name not in RESERVED:
                    continue
                raise
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
            except _LIBRARY_ERRORS as error:
                unusable.append(UnusableError(Verdict.INCOMPLETE, _reason(error)))
        return arrays, unusable

    def _member(self, group: h5py.Group, item: str) -> Any:
        """A member of a record's group; in a file of ours, links that lead elsewhere are not followed."""
        if self.ours and not isinstance(group.get(item, getlink=True), h5py.HardLink):
            raise UnusableError(Verdict.FOREIGN, f"{item} is a link")
        return group[item]

    def _array(self, name: str, dataset: Any) -> NDArray[Any]:
        if not isinstance(dataset, h5py.Dataset):
            raise UnusableError(Verdict.FOREIGN, f"{name} is not a dataset")
        if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
            raise UnusableError(Verdict.FOREIGN, f"{name} has type {dataset.dtype}")
        if dataset.size * dataset.dtype.itemsize > max(self._real_size, 1 << 20) * 64:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has shape {dataset.shape}")
        self._check_extent(name, dataset)
        value = np.asarray(dataset[()])
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has values that are not finite")
        return value

    def _check_extent(self, name: str, dataset: h5py.Dataset) -> None:
        """Are the dataset's bytes within the bytes that are really there?"""
        ends = []
        if dataset.chunks is None:
            offset = dataset.id.get_offset()
            if offset is not None:
                ends.append(offset + dataset.id.get_storage_size())
        else:
            for number in range(dataset.id.get_num_chunks()):
                chunk = dataset.id.get_chunk_info(number)
                ends.append(chunk.byte_offset + chunk.size)
        if dataset.size and dataset.id.get_storage_size() == 0:
            raise UnusableError(Verdict.INCOMPLETE, f"{name} was never written")
        if any(end > self._real_size for end in ends):
            raise UnusableError(Verdict.TRUNCATED, f"{name} ends at byte {max(ends)} of {self._real_size}")


def _shard_batches(file: h5py.File, findings: list[Finding]) -> Iterator[bytes]:
    """A shard without its seal: rows whose checksum holds, past a chunk checksum that may not."""
    for number in file["records"]:
        try:
            dataset = file["records"][number]
            _, data = dataset.id.read_direct_chunk((0,))
            rows = np.frombuffer(data[: dataset.dtype.itemsize * len(dataset)], dataset.dtype)
            yield from _verified(Segment(_schema_of(rows.dtype), rows), findings)
        except _LIBRARY_ERRORS as error:
            findings.append(Finding(Verdict.INCOMPLETE, f"records/{number}: {_reason(error)}"))


def _schema_of(dtype: np.dtype[Any]) -> Schema:
    """The schema that the fields of a row spell out; arrays of no element cannot be seen there."""
    arrays, attributes = [], []
    kinds = {"S": "str", "i": "int", "f": "float", "b": "bool"}
    for field in dtype.names or ():
        part, _, name = field.partition(":")
        if part == "array":
            arrays.append((name, dtype[field].base.str, dtype[field].shape))
        elif part == "attribute":
            attributes.append((name, kinds[dtype[field].kind]))
    return Schema(tuple(arrays), tuple(attributes))


def _table_batches(
    file: h5py.File, root: Mapping[str, Attribute], findings: list[Finding], additions: list[Addition]
) -> Iterator[bytes]:
    """A table without its seal, a run of rows at a time; in their order, where others may rely on it."""
    known = [Schema.from_json(entry) for entry in json.loads(str(root["schemas"]))]
    additions += _table_additions(file, own_columns(known), array_attributes(root))
    for start in range(0, len(file["key"]), 1024):
        rows = slice(start, start + 1024)
        try:
            codes = file["schema"][rows]
            for code, members in runs(codes, in_order=bool(additions)):
                segment = table_segment(file, known, code, rows, members)
                yield from _verified(segment, findings)
        except _LIBRARY_ERRORS as error:
            findings.append(Finding(Verdict.INCOMPLETE, f"rows {start} to {start + 1023}: {_reason(error)}"))


def _table_additions(file: h5py.File, own: set[str], written: ArrayAttributes) -> list[Addition]:
    """What others added to a table: at the root, in the groups of its columns, and as attributes of those."""
    found = [Addition("", name) for name in file if name not in own and name not in {"arrays", "attributes"}]
    for part in ("arrays", "attributes"):
        if isinstance(file.get(part), h5py.Group):
            group = file[part]
            found += [Addition(part, name) for name in group if f"{part}/{name}" not in own]
            found += [Addition(part, name, attribute=True) for name in group.attrs]
    for path in sorted(own):
        if isinstance(file.get(path), h5py.Dataset):
            part, _, name = path.partition("/")
            texts = written.get(name.partition("@")[0], {}) if part == "arrays" else {}
            found += dataset_additions(path, file[path], texts)
    return found


def dataset_additions(path: str, dataset: h5py.Dataset, written: Mapping[str, str]) -> Iterator[Addition]:
    """The attributes of one of our datasets that vindeby did not write."""
    for name in dataset.attrs:
        if name not in written or plain(dataset.attrs[name]) != written[name]:
            yield Addition(path, name, attribute=True)


def _verified(segment: Segment, findings: list[Finding]) -> Iterator[bytes]:
    intact = segment.intact()
    lost = segment.rows["key"][~intact].tolist()
    findings += [Finding(Verdict.CHECKSUM, "", key.decode(errors="replace")) for key in lost]
    if intact.any():
        yield build_image_of([segment.take(intact)]).data


def _root_attributes(file: h5py.File) -> tuple[dict[str, Attribute], list[str]]:
    """The root attributes as plain values, and the names of those that are more than these values say."""
    found: dict[str, Attribute] = {}
    inexact: list[str] = []
    for name in file.attrs:
        try:
            stored = file.attrs[name]
            value = plain(stored)
        except _LIBRARY_ERRORS:
            inexact.append(name)
            continue
        if not isinstance(value, str) or len(value) < _ROOT_ATTRIBUTE_LIMIT:
            found[name] = value
        exact = isinstance(stored, str | np.int64 | np.float64 | np.bool_)
        if name not in found or not (exact or name in KNOWN):
            inexact.append(name)
    return found, inexact


def plain(value: Any) -> Attribute:
    """An attribute as h5py gives it, as a plain value; what is no scalar becomes JSON text."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, h5py.Empty) and value.dtype.kind in "SO":
        return ""  # how PyTables writes a text of no length
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else json.dumps(value.tolist(), default=str)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str | int | float | bool) else str(value)


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
