"""vindeby's own shards and tables whose seal is lost: every row whose checksum holds.

A flipped bit makes Fletcher-32 refuse a whole chunk, up to 1,024 records; so where the library refuses one, its
bytes are taken past that check, and each row is compared with its own SHA-256. A row that does not meet it is
reported by key, and handed over as doubtful, never as a result.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.store.format.record import Attribute
from vindeby.store.format.root import Addition, array_attributes
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.format.table import Paths, column_paths, own_columns, runs, table_segment
from vindeby.store.read.additions import table_additions
from vindeby.store.read.confined import LIBRARY_ERRORS, Answer, UnusableError, reach, reason
from vindeby.store.read.inspect import Verdict

_MOST_ROWS = 1024
_MOST_SCHEMAS_TRIED = 64


def send_shard(file: h5py.File, answer: Answer) -> None:
    """A shard without its seal."""
    for number in reach(file, "records"):
        try:
            dataset = reach(file, f"records/{number}")
            answer.spend(dataset.size * dataset.dtype.itemsize // 16)
            rows = read_rows(dataset, slice(0, len(dataset)))
            segment = Segment(_schema_of(rows.dtype), rows)
            answer.damaged(segment.take(~answer.intact(segment)))
        except UnusableError as error:
            answer.note(error.verdict, error.detail)
        except LIBRARY_ERRORS as error:
            answer.note(Verdict.INCOMPLETE, f"records/{number}: {reason(error)}")


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


def send_table(file: h5py.File, root: Mapping[str, Attribute], answer: Answer) -> list[Addition]:
    """A table without its seal, some rows at a time; what others added to it.

    Where others added something, the rows keep their order, because a column of theirs may rely on it.
    """
    known = [Schema.from_json(entry) for entry in json.loads(str(root["schemas"]))]
    paths, own = column_paths(known), own_columns(known)
    datasets = {}
    for path in sorted(own):
        with contextlib.suppress(KeyError):  # rows that need a column which is gone are findings
            datasets[path] = reach(file, path)
    count, width = len(datasets["key"]), max(1, sum(map(_row_bytes, datasets.values())))
    if count * width > answer.asked.result_bytes:
        raise UnusableError(
            Verdict.IMPLAUSIBLE, f"{count} rows of {width} bytes are more than the file can hold"
        )
    additions = table_additions(file, own, array_attributes(root))
    step = max(1, min(_MOST_ROWS, answer.asked.batch_bytes // width))
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        try:
            columns = {path: read_rows(dataset, rows) for path, dataset in datasets.items()}
            _send_rows(columns, known, paths, answer, in_order=bool(additions))
        except UnusableError as error:
            answer.note(error.verdict, error.detail)
        except LIBRARY_ERRORS as error:
            answer.note(Verdict.INCOMPLETE, f"rows {rows.start} to {rows.stop - 1}: {reason(error)}")
    return additions


def _send_rows(
    columns: Mapping[str, NDArray[Any]], known: list[Schema], paths: Paths, answer: Answer, *, in_order: bool
) -> None:
    """Each row by the schema that it names; one that does not hold by it, by any other."""
    codes = np.clip(columns["schema"], 0, len(known) - 1)
    left = np.ones(len(codes), bool)
    for code, members in runs(codes, in_order=in_order):
        left[members] = ~answer.intact(table_segment(known[code], paths, columns, members))
    for schema in known[:_MOST_SCHEMAS_TRIED] if left.any() else ():
        members = np.flatnonzero(left)
        left[members] = ~answer.intact(table_segment(schema, paths, columns, members))
    members = np.flatnonzero(left)
    if len(members):
        answer.damaged(table_segment(known[codes[members[0]]], paths, columns, members))


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
