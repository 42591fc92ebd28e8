"""Reads records out of HDF5 files that nothing vouches for, through the library, inside a guarded child.

Three shapes are understood: a group a record (the classic form, from vindeby or from an older script), and
vindeby's own shards and tables whose seal is lost. A record counts only if it is complete: every dataset that
the file's records have, readable, of numbers, all within the bytes that are really there; with the success
mark and the checksum right where it carries them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.errors import VindebyError
from vindeby.store.image import build_image, build_image_of
from vindeby.store.inspect import Finding, Verdict
from vindeby.store.layouts.table import table_segment
from vindeby.store.record import RESERVED, SUCCESS, Attribute, Record
from vindeby.store.rows import Schema, Segment, checksum_of

_BATCH = 256
_ROOT_ATTRIBUTE_LIMIT = 1 << 24
_LIBRARY_ERRORS = (
    OSError,
    RuntimeError,
    KeyError,
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
    progress: Callable[[str], None],
    result: Callable[[bytes], None],
) -> dict[str, Any]:
    """Send every usable record as images of shards; the findings about the rest, and the root attributes.

    ``real_size`` bytes of the file are real, the rest is padding. With ``rooted`` the root group is itself one
    record.
    """
    findings: list[Finding] = []
    with h5py.File(path, "r", locking=False) as file:
        progress("")
        root = {} if rooted else _root_attributes(file)
        if not rooted and "records" in file and root.get("kind") == "vindeby shard":
            batches = _shard_batches(file, findings)
        elif not rooted and "schemas" in root:
            batches = _table_batches(file, str(root["schemas"]), findings)
        else:
            batches = _group_batches(file, rooted, set(skip), real_size, findings, progress)
        for image in batches:
            result(image)
    return {"findings": [finding.to_json() for finding in findings], "root": root}


def _group_batches(
    file: h5py.File,
    rooted: bool,
    skip: set[str],
    real_size: int,
    findings: list[Finding],
    progress: Callable[[str], None],
) -> Iterator[bytes]:
    names = [""] if rooted else [name for name in file if name not in skip]
    reader = _GroupReader(real_size)
    read: list[Record] = []
    for name in names:
        progress(name)
        try:
            group = file if rooted else file[name]
            if not isinstance(group, h5py.Group):
                continue
            read.append(reader.record(name, group))
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
    def __init__(self, real_size: int) -> None:
        self._real_size = real_size

    def record(self, name: str, group: h5py.Group) -> Record:
        """One group as a record; UnusableError says why not."""
        attributes, marks = self._attributes(group)
        arrays = {item: self._array(item, group[item]) for item in group}
        if not arrays:
            raise UnusableError(Verdict.INCOMPLETE, "the group has no dataset")
        if marks.get("status", SUCCESS) != SUCCESS:
            raise UnusableError(Verdict.NOT_MARKED, f"status is {marks['status']!r}")
        record = Record(name or "unnamed", marks.get("fingerprint", ""), arrays, attributes)
        stated = marks.get("checksum")
        if stated and name and checksum_of(record) != stated:
            raise UnusableError(Verdict.CHECKSUM)
        return record

    def _attributes(self, group: h5py.Group) -> tuple[dict[str, Attribute], dict[str, str]]:
        attributes: dict[str, Attribute] = {}
        marks: dict[str, str] = {}
        for name in group.attrs:
            value = plain(group.attrs[name])
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


def _table_batches(file: h5py.File, schemas: str, findings: list[Finding]) -> Iterator[bytes]:
    """A table without its seal, a run of rows at a time."""
    known = [Schema.from_json(entry) for entry in json.loads(schemas)]
    for start in range(0, len(file["key"]), 1024):
        rows = slice(start, start + 1024)
        try:
            codes = file["schema"][rows]
            for code in np.unique(codes):
                segment = table_segment(file, known[code], rows, np.flatnonzero(codes == code))
                yield from _verified(segment, findings)
        except _LIBRARY_ERRORS as error:
            findings.append(Finding(Verdict.INCOMPLETE, f"rows {start} to {start + 1023}: {_reason(error)}"))


def _verified(segment: Segment, findings: list[Finding]) -> Iterator[bytes]:
    intact = segment.intact()
    lost = segment.rows["key"][~intact].tolist()
    findings += [Finding(Verdict.CHECKSUM, "", key.decode(errors="replace")) for key in lost]
    if intact.any():
        yield build_image_of([segment.take(intact)]).data


def _root_attributes(file: h5py.File) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    for name in file.attrs:
        try:
            value = plain(file.attrs[name])
        except _LIBRARY_ERRORS:
            continue
        if not isinstance(value, str) or len(value) < _ROOT_ATTRIBUTE_LIMIT:
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


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
