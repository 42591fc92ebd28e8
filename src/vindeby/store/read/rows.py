"""vindeby's own shards and tables whose seal is lost: every row whose checksum holds.

A flipped bit makes Fletcher-32 refuse a whole chunk, up to 1,024 records; so where the library refuses one, its
bytes are taken past that check, and each row is compared with its own SHA-256. A row that does not meet it is
reported by key, and handed over as doubtful, never as a result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.store.format.record import Attribute
from vindeby.store.format.root import Addition, array_attributes
from vindeby.store.format.rows import Schema, Segment, pieces
from vindeby.store.format.shard import build_image_of
from vindeby.store.format.table import own_columns, runs, table_segment
from vindeby.store.read.additions import table_additions
from vindeby.store.read.confined import LIBRARY_ERRORS, Budget, UnusableError, reach, reason
from vindeby.store.read.inspect import Verdict

_MOST_ROWS = 1024
_MOST_SCHEMAS_TRIED = 64

Send = Callable[[bytes], None]


class RowSender:
    """Sends rows: those whose checksum holds as results, others as doubtful."""

    def __init__(self, budget: Budget, batch_bytes: int, result: Send, doubtful: Send) -> None:
        self.budget = budget
        self.batch_bytes = batch_bytes
        self._result, self.send_doubtful = result, doubtful

    def intact(self, segment: Segment) -> None:
        """Rows whose checksum holds."""
        for piece in pieces(segment, self.batch_bytes):
            self.budget.spend(piece.rows.nbytes)
            self._result(build_image_of([piece]).data)

    def damaged(self, segment: Segment) -> None:
        """Rows whose checksum does not hold; where even the key is gone, they are only counted."""
        keys = [key.decode(errors="replace") for key in segment.rows["key"].tolist()]
        for key in filter(None, keys):
            self.budget.note(Verdict.CHECKSUM, "", key)
        empty = keys.count("")
        if empty:
            self.budget.note(Verdict.INCOMPLETE, f"{empty} rows without a key")
        for piece in pieces(segment.take(segment.rows["key"] != b""), self.batch_bytes):
            self.budget.spend(piece.rows.nbytes)
            self.send_doubtful(build_image_of([Segment(piece.schema, piece.rows.copy())]).data)


def send_shard(file: h5py.File, sender: RowSender) -> None:
    """A shard without its seal."""
    for number in reach(file, "records"):
        try:
            dataset = reach(file, f"records/{number}")
            sender.budget.spend(dataset.size * dataset.dtype.itemsize // 16)
            rows = read_rows(dataset, slice(0, len(dataset)))
            segment = Segment(_schema_of(rows.dtype), rows)
            intact = segment.intact()
            sender.intact(segment.take(intact))
            sender.damaged(segment.take(~intact))
        except UnusableError as error:
            sender.budget.note(error.verdict, error.detail)
        except LIBRARY_ERRORS as error:
            sender.budget.note(Verdict.INCOMPLETE, f"records/{number}: {reason(error)}")


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


def send_table(file: h5py.File, root: Mapping[str, Attribute], sender: RowSender) -> list[Addition]:
    """A table without its seal, some rows at a time; what others added to it.

    Where others added something, the rows keep their order, because a column of theirs may rely on it.
    """
    known = [Schema.from_json(entry) for entry in json.loads(str(root["schemas"]))]
    columns = _Columns(file)
    count, width = columns.rows(), columns.row_bytes()
    if count * width > sender.budget.result_bytes:
        raise UnusableError(
            Verdict.IMPLAUSIBLE, f"{count} rows of {width} bytes are more than the file can hold"
        )
    additions = table_additions(file, own_columns(known), array_attributes(root))
    step = max(1, min(_MOST_ROWS, sender.batch_bytes // width))
    for start in range(0, count, step):
        columns.forget()
        rows = slice(start, min(start + step, count))
        try:
            _send_rows(columns, known, rows, sender, in_order=bool(additions))
        except UnusableError as error:
            sender.budget.note(error.verdict, error.detail)
        except LIBRARY_ERRORS as error:
            sender.budget.note(Verdict.INCOMPLETE, f"rows {rows.start} to {rows.stop - 1}: {reason(error)}")
    return additions


def _send_rows(
    columns: _Columns, known: list[Schema], rows: slice, sender: RowSender, *, in_order: bool
) -> None:
    """Each row by the schema that it names; one that does not hold by it, by any other."""
    codes = columns["schema"][rows]
    left = np.ones(len(codes), bool)
    for code, members in runs(codes, in_order=in_order):
        if 0 <= code < len(known):
            left[members] &= ~_send_intact(columns, known, code, rows, members, sender)
    for code in range(min(len(known), _MOST_SCHEMAS_TRIED)):
        members = np.flatnonzero(left)
        if not len(members):
            return
        try:
            left[members] &= ~_send_intact(columns, known, code, rows, members, sender)
        except LIBRARY_ERRORS:
            continue
    if left.any():
        members = np.flatnonzero(left)
        code = int(np.clip(codes[members[0]], 0, len(known) - 1))
        sender.damaged(table_segment(columns, known, code, rows, members))


def _send_intact(
    columns: _Columns,
    known: list[Schema],
    code: int,
    rows: slice,
    members: NDArray[np.intp],
    sender: RowSender,
) -> NDArray[np.bool_]:
    """Send those rows that hold by this schema; which of them did."""
    segment = table_segment(columns, known, code, rows, members)
    intact = segment.intact()
    sender.intact(segment.take(intact))
    return intact


class _Columns:
    """The columns of a table by name, as ``table_segment`` asks for them; keeps what it read of the rows at hand."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file
        self._kept: dict[str, NDArray[Any]] = {}

    def forget(self) -> None:
        self._kept.clear()

    def rows(self) -> int:
        return len(reach(self._file, "key"))

    def row_bytes(self) -> int:
        datasets = [reach(self._file, name) for name in self._names()]
        return max(1, sum(_row_bytes(one) for one in datasets if isinstance(one, h5py.Dataset)))

    def _names(self) -> Iterator[str]:
        yield from self._file
        for part in ("attributes", "arrays"):
            if part in self._file:
                yield from (f"{part}/{name}" for name in reach(self._file, part))

    def __contains__(self, path: str) -> bool:
        try:
            reach(self._file, path)
        except KeyError:
            return False
        return True

    def __getitem__(self, path: str) -> _Column:
        return _Column(self, path)

    def read(self, path: str, rows: slice) -> NDArray[Any]:
        if path not in self._kept:
            self._kept[path] = read_rows(reach(self._file, path), rows)
        return self._kept[path]


class _Column:
    def __init__(self, columns: _Columns, path: str) -> None:
        self._columns, self._path = columns, path

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return self._columns.read(self._path, rows)


def _row_bytes(dataset: h5py.Dataset) -> int:
    return int(math.prod(dataset.shape[1:]) * dataset.dtype.itemsize)


def read_rows(dataset: h5py.Dataset, rows: slice) -> NDArray[Any]:
    """Rows through the library; where it refuses, from the bytes of the chunks, past their Fletcher-32."""
    try:
        return np.asarray(dataset[rows])
    except LIBRARY_ERRORS:
        return _raw_rows(dataset, rows)


def _raw_rows(dataset: h5py.Dataset, rows: slice) -> NDArray[Any]:
    made = dataset.id.get_create_plist()
    filters = {made.get_filter(number)[0] for number in range(made.get_nfilters())}
    if (
        dataset.chunks is None
        or dataset.chunks[1:] != dataset.shape[1:]
        or filters - {h5py.h5z.FILTER_FLETCHER32}
    ):
        raise OSError(f"{dataset.name} cannot be read")
    length, size = dataset.chunks[0], math.prod(dataset.chunks) * dataset.dtype.itemsize
    first = rows.start // length * length
    parts = []
    for start in range(first, rows.stop, length):
        _, data = dataset.id.read_direct_chunk((start, *(0,) * (dataset.ndim - 1)))
        parts.append(np.frombuffer(data[:size], dataset.dtype).reshape(dataset.chunks))
    whole = np.concatenate(parts)
    return whole[rows.start - first : rows.stop - first]
