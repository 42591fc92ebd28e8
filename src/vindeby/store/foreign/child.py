"""What runs inside a guarded child: ``python -m vindeby.store.foreign.child DESCRIPTOR MEMORY_BYTES``.

It gets requests, one JSON object each, over a connection and answers with messages (``guard``). It may die at any
moment; it changes nothing on disk.

Of vindeby's own tables whose seal is lost, every row whose checksum holds is sent.
"""

import contextlib
import importlib
import io
import json
import math
import os
import resource
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.errors import VindebyError
from vindeby.store.disk.files import read_fully
from vindeby.store.foreign.confined import (
    LIBRARY_ERRORS,
    Answer,
    Send,
    SpentError,
    UnusableError,
    names_of,
    no_more_files,
    plain,
    reach,
    reason,
)
from vindeby.store.foreign.gridded_file import read_gridded
from vindeby.store.foreign.groups import GroupReader
from vindeby.store.foreign.guard import DONE, FAILED, PROGRESS, RESULT, Asked
from vindeby.store.format.finding import Verdict
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Schema, Segment, batches, segments_of
from vindeby.store.format.seal import FORMAT_VERSION
from vindeby.store.format.shard import shard_bytes
from vindeby.store.format.table import Paths, column_paths, column_values, own_columns, runs, table_segment

_MOST_ROWS = 1024
_MOST_SCHEMAS_TRIED = 64


_HDF5_SHARD = "vindeby shard"
"""What shards of a vindeby that was never released state of themselves."""


def send_shard(file: h5py.File, answer: Answer) -> None:
    """Send the records of such a shard."""
    for number, stored in names_of(reach(file, b"records")).items():
        try:
            dataset = reach(file, b"records/" + stored)
            answer.spend(dataset.size * dataset.dtype.itemsize // 16)
            rows = np.asarray(dataset[()])
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


def send_table(file: h5py.File, root: Mapping[str, Attribute], answer: Answer) -> None:
    """Send the rows of a table without its seal, some at a time."""
    known = [Schema.from_json(entry) for entry in json.loads(str(root["schemas"]))]
    paths = column_paths(known, int(root.get("format_version", FORMAT_VERSION)))
    datasets = {}
    for path in sorted(own_columns(paths)):
        with contextlib.suppress(
            KeyError, RuntimeError
        ):  # rows that need a column which is gone are findings
            datasets[path] = reach(file, path.encode())
    count, width = len(datasets["key"]), max(1, sum(map(_row_bytes, datasets.values())))
    if count * width > answer.asked.result_bytes:
        raise UnusableError(
            Verdict.IMPLAUSIBLE, f"{count} rows of {width} bytes are more than the file can hold"
        )
    step = max(1, min(_MOST_ROWS, answer.asked.batch_bytes // width))
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        try:
            columns = {path: column_values(dataset, rows) for path, dataset in datasets.items()}
            _send_rows(columns, known, paths, answer)
        except UnusableError as error:
            answer.note(error.verdict, error.detail)
        except LIBRARY_ERRORS as error:
            answer.note(Verdict.INCOMPLETE, f"rows {rows.start} to {rows.stop - 1}: {reason(error)}")


def _send_rows(
    columns: Mapping[str, NDArray[Any]], known: list[Schema], paths: Paths, answer: Answer
) -> None:
    """Send each row by the schema that it names, or by any other one that its checksum confirms."""
    codes = np.clip(columns["schema"], 0, len(known) - 1)
    left = np.ones(len(codes), bool)
    for code, members in runs(codes):
        left[members] = ~answer.intact(table_segment(known[code], paths, columns, members))
    for schema in known[:_MOST_SCHEMAS_TRIED] if left.any() else ():
        members = np.flatnonzero(left)
        left[members] = ~answer.intact(table_segment(schema, paths, columns, members))
    members = np.flatnonzero(left)
    if len(members):
        answer.damaged(table_segment(known[codes[members[0]]], paths, columns, members))


def _row_bytes(dataset: h5py.Dataset) -> int:
    return int(math.prod(dataset.shape[1:]) * dataset.dtype.itemsize)


_MOST_ATTRIBUTES = 1000
_ROOT_BYTES = 1 << 24


def read_foreign(
    file: h5py.File, asked: Asked, progress: Callable[[str], None], result: Send
) -> dict[str, Any]:
    """Send every usable record as images of shards; the findings about the rest, and the root attributes."""
    answer = Answer(asked, result)
    progress("")
    root = {} if asked.rooted else _root_attributes(file, answer)
    reader = GroupReader(answer, root)
    form = _form(file, root, asked.rooted)
    try:
        if form == "shard":
            send_shard(file, answer)
        elif form == "table":
            send_table(file, root, answer)
        else:
            for batch in batches(reader.records(file, progress), asked.batch_bytes):
                result(shard_bytes(segments_of(batch)))
    except SpentError:
        answer.note_spent()
    except UnusableError as error:
        answer.note(error.verdict, error.detail)
    return {"findings": answer.close(), "root": root, "form": form, "visited": reader.visited}


def _form(file: h5py.File, root: dict[str, Attribute], rooted: str) -> str:
    if not rooted and "records" in file and root.get("kind") == _HDF5_SHARD:
        return "shard"
    return "table" if not rooted and "schemas" in root else "groups"


def _root_attributes(file: h5py.File, answer: Answer) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    left = _ROOT_BYTES
    for number, (name, stored) in enumerate(names_of(file.attrs).items()):
        if number == _MOST_ATTRIBUTES:
            answer.note(Verdict.IMPLAUSIBLE, f"the root has more than {_MOST_ATTRIBUTES} attributes")
            break
        try:
            value = plain(file.attrs[stored])
        except LIBRARY_ERRORS:
            continue
        left -= len(name) + (len(value) if isinstance(value, str) else 8)
        if left < 0:
            answer.note(Verdict.IMPLAUSIBLE, f"the root attributes have more than {_ROOT_BYTES} bytes")
            break
        found[name] = value
    return found


_ONES = 1 << 16


class _Patched(io.FileIO):
    """A file as if it began with other bytes and went on to another end, after its own with ones and then with zeros.

    There are more ones than an attribute in an object header has bytes: a cut number does not read as a smaller one.
    """

    def __init__(self, path: str, head: bytes, end: int) -> None:
        super().__init__(path)
        self._head, self._end, self._zeros = head, end, os.fstat(self.fileno()).st_size + _ONES

    def readinto(self, buffer: Any) -> int:
        at, size = self.tell(), len(buffer)
        data = self._head[at : at + size]
        data += read_fully(self.fileno(), size - len(data), at + len(data))
        ones = min(size - len(data), max(0, self._zeros - at - len(data)))
        buffer[:] = (data + b"\xff" * ones).ljust(size, b"\0")
        self.seek(at + size)
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(self._end) if whence == os.SEEK_END else super().seek(offset, whence)


def main() -> None:
    """Answer requests until the connection closes."""
    connection, memory = Connection(int(sys.argv[1])), int(sys.argv[2])
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def send(kind: bytes) -> Send:
        return lambda data: connection.send_bytes(kind + data)

    def progress(text: str) -> None:
        connection.send_bytes(PROGRESS + text.encode(errors="surrogateescape"))

    _load_everything()
    progress("ready")
    while True:
        try:
            request: dict[str, Any] = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        task = request.pop("task")
        try:
            if task == "gridded":
                answer: dict[str, Any] = read_gridded(result=send(RESULT), **request)
            else:
                asked = Asked(**request)
                head = bytes.fromhex(asked.head)
                source = _Patched(asked.path, head, asked.end) if head else asked.path
                with h5py.File(source, "r", locking=False) as file, no_more_files():
                    answer = read_foreign(file, asked, progress, send(RESULT))
            connection.send_bytes(DONE + json.dumps(answer).encode())
        except (VindebyError, *LIBRARY_ERRORS) as error:
            text = f"{type(error).__name__}: {error}"[:1000]
            connection.send_bytes(FAILED + text.encode(errors="replace"))


def _load_everything() -> None:
    """Read a file of each kind once: while one is read, no library can open the files of a part that it loads late."""
    for name in ("encodings.ascii", "h5py._hl.dims", "numpy.ma"):
        importlib.import_module(name)
    record = Record("key", "", {"array": np.zeros((1, 2))}, {"text": "a", "number": 1.0, "flag": True})
    rows = segments_of([record])[0].rows
    table, groups = io.BytesIO(), io.BytesIO()
    with h5py.File(table, "w") as file:
        file.attrs["kind"] = _HDF5_SHARD
        file.create_dataset("records/0", data=rows, chunks=rows.shape, fletcher32=True)
    with h5py.File(groups, "w") as file:
        file["a/array"], file["b/array"] = np.zeros((1, 2)), np.zeros(3)
        file["a"].attrs.update({"text": "a", "texts": ["a", "b"], "number": 1.0, "bytes": np.bytes_(b"a")})
        file["b"].attrs["checksum"] = "none"
    for data in (table, groups):
        with h5py.File(data, "r") as file:
            asked = Asked("", 1 << 20, 1 << 20, 1 << 20, 10)
            read_foreign(file, asked, lambda _: None, lambda _: None)


if __name__ == "__main__":
    main()
