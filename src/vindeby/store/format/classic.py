"""The classic format: one group per record, as readers of such databases expect it.

Group ``KEY`` holds one dataset per array and one attribute per attribute, plus ``status``, ``checksum`` and
``fingerprint``, written with h5py. Between the HDF5 part and the seal stand the columns of each chunk of records:
key, attributes, checksum, and the address at which HDF5 put the data of each array. So an intact file is read
without HDF5, and no array is stored twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.format.file_format import SAMPLE, Content, FileFormat
from vindeby.store.format.record import Record
from vindeby.store.format.root import MARKS, Addition, ArrayAttributes, array_attributes
from vindeby.store.format.rows import Schema, Segment, array_field, attribute_field, checksum_of
from vindeby.store.format.seal import SealedFile, open_sealed

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 512
_LARGEST_SPAN = 1 << 26
"""Bytes of the file that are read at once to pick arrays out of them."""


class ClassicFormat(FileFormat):
    """One group per record."""

    name: ClassVar[str] = "classic"

    def _write_records(self, file: h5py.File, content: Content, tail: BinaryIO) -> dict[str, Any]:
        writer = _GroupWriter(file, array_attributes(content.root))
        chunks = []
        for segment in content.segments:
            schema = segment.schema
            widths = {name: segment.rows.dtype[name].itemsize for name in schema.text_fields}
            for start in range(0, len(segment), CHUNK_ROWS):
                piece = segment.take(slice(start, start + CHUNK_ROWS))
                addresses = writer.write(piece)
                entry = {"schema": content.schemas.index(schema), "count": len(piece), "widths": widths}
                chunks.append({**entry, "offset": tail.tell()})
                for name in stored_type(schema, widths).names or ():
                    column = addresses[name] if name in addresses else piece.rows[name]
                    tail.write(column.tobytes())
        return {"chunks": chunks}

    def look(self, path: Path) -> None:
        """List every group and read some of them through the HDF5 library."""
        import h5py  # only here: what is sealed is read without HDF5, and need not wait for it

        with open_sealed(path) as sealed:
            directory = sealed.seal.directory
        added = [Addition.from_json(entry) for entry in directory.get("additions", ())]
        objects = {one.name for one in added if not one.owner and not one.attribute}
        changed = {one.record for one in added}
        with h5py.File(path, "r", locking=False) as file:
            names = [name for name in file if name not in objects]
            if len(names) != directory["count"]:
                raise StorageError(
                    f"{path}: HDF5 sees {len(names)} groups, not {directory['count']}; nothing was changed"
                )
            for name in names[:: max(1, len(names) // SAMPLE)]:
                if name in changed:
                    continue  # it has more than its own fields
                record, stated = read_group(name, file[name])
                if checksum_of(record) != stated:
                    raise StorageError(f"{path}: HDF5 reads other values for {name} than were merged")

    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """How many chunks of records there are."""
        return len(directory["chunks"])

    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """The keys of one chunk, which are its first column."""
        chunk = file.seal.directory["chunks"][number]
        width = chunk["widths"]["key"]
        return np.frombuffer(file.read(chunk["offset"], chunk["count"] * width), f"S{width}")

    def read_chunk(
        self, file: SealedFile, number: int, fields: Collection[str] | None = None
    ) -> list[Segment]:
        """The records of one chunk; damaged ones, where nothing is verified, do not get in the way of the rest."""
        directory = file.seal.directory
        chunk = directory["chunks"][number]
        schema = Schema.from_json(directory["schemas"][chunk["schema"]])
        row_type, stored = schema.row_type(chunk["widths"]), stored_type(schema, chunk["widths"])
        data = memoryview(file.read(chunk["offset"], chunk["count"] * stored.itemsize))
        columns: dict[str, NDArray[Any]] = {}
        for name in stored.names or ():
            size = chunk["count"] * stored[name].itemsize
            columns[name], data = np.frombuffer(data[:size], stored[name]), data[size:]
        span = _Span(file, [(columns[name], row_type[name].itemsize) for name in filter(_is_array, columns)])
        wanted = [name for name in row_type.names or () if fields is None or name in {"key", *fields}]
        rows = np.zeros(chunk["count"], [(name, row_type[name]) for name in wanted])
        for name in wanted:
            rows[name] = span.arrays(columns[name], row_type[name]) if _is_array(name) else columns[name]
        return [Segment(schema, rows)]


def read_group(name: str, group: h5py.Group) -> tuple[Record, str]:
    """A record of ours as the HDF5 library gives it, and the checksum it states."""
    values = {key: group.attrs[key] for key in group.attrs}
    marks = {mark: values.pop(mark) for mark in MARKS}
    arrays = {item: np.asarray(group[item][()]) for item in group}
    return Record(name, marks["fingerprint"], arrays, values), marks["checksum"]


def stored_type(schema: Schema, widths: dict[str, int]) -> np.dtype[Any]:
    """A row as it stands behind the HDF5 part: addresses instead of arrays."""
    row = schema.row_type(widths)
    return np.dtype([(name, "<u8" if _is_array(name) else row[name]) for name in row.names or ()])


def _is_array(field: str) -> bool:
    return field.startswith(array_field(""))


class _Span:
    """Takes arrays out of the verified bytes of a file, which it reads at once where they stand close together."""

    def __init__(self, file: SealedFile, places: list[tuple[NDArray[np.uint64], int]]) -> None:
        self._file = file
        self._start, self._data = 0, b""
        if not places or not len(places[0][0]):
            return
        start = int(min(addresses.min() for addresses, _ in places))
        stop = max(int(addresses.max()) + size for addresses, size in places)
        if stop <= file.seal.length and stop - start <= _LARGEST_SPAN:
            self._start, self._data = start, file.read(start, stop - start)

    def arrays(self, addresses: NDArray[np.uint64], kind: np.dtype[Any]) -> NDArray[Any]:
        """The array at each address; one that points outside the file, as a damaged one may, gives zeros."""
        size, last = kind.itemsize, self._file.seal.length - kind.itemsize
        parts = [self._bytes(at, size) if at <= last else bytes(size) for at in addresses.tolist()]
        return np.frombuffer(b"".join(parts), kind.base).reshape(len(addresses), *kind.shape)

    def _bytes(self, at: int, size: int) -> bytes:
        if self._data:
            return self._data[at - self._start : at - self._start + size]
        return self._file.read(at, size)


class _GroupWriter:
    """Writes records as groups, through the low-level calls of h5py, which take half as long as the others."""

    def __init__(self, file: h5py.File, about: ArrayAttributes) -> None:
        import h5py

        self._h5 = h5py
        self._file, self._about = file, about
        self._scalar = h5py.h5s.create(h5py.h5s.SCALAR)
        self._text = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
        self._text_object = h5py.h5t.py_create(h5py.string_dtype())
        """How a text stands in memory: as a Python object."""
        self._created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._created.set_obj_track_times(False)

    def write(self, segment: Segment) -> dict[str, NDArray[np.uint64]]:
        """Write every row; for each array that has elements, the addresses of its data.

        The first group is copied for each other row, and what differs is written over: this takes two thirds of the
        time that making each group takes.
        """
        rows, keys = segment.rows, segment.rows["key"].tolist()
        arrays = [
            (name.encode(), np.ascontiguousarray(rows[array_field(name)]))
            for name, _, shape in segment.schema.arrays
            if 0 not in shape
        ]
        fields = [(mark, mark) for mark in MARKS]
        fields += [(name, attribute_field(name)) for name, _ in segment.schema.attributes]
        attributes = [(name.encode(), *self._attribute(rows[field])) for name, field in fields]
        changing = [
            one for one, (_, field) in zip(attributes, fields, strict=True) if not _is_constant(rows[field])
        ]
        addresses = np.zeros((len(arrays), len(rows)), np.uint64)
        for row, key in enumerate(keys):
            if row == 0:
                group = self._first_group(key, segment.schema, attributes)
            else:
                self._h5.h5o.copy(self._file.id, keys[0], self._file.id, key)
                group = self._h5.h5g.open(self._file.id, key)
            for number, (name, values) in enumerate(arrays):
                dataset = self._h5.h5d.open(group, name)
                dataset.write(self._h5.h5s.ALL, self._h5.h5s.ALL, values[row, ...])
                addresses[number, row] = dataset.get_offset()
            for name, _, in_memory, values in attributes if row == 0 else changing:
                self._h5.h5a.open(group, name).write(values[row, ...], in_memory)
        return {array_field(name.decode()): addresses[number] for number, (name, _) in enumerate(arrays)}

    def _first_group(self, key: bytes, schema: Schema, attributes: list[tuple[Any, ...]]) -> Any:
        """A group with all datasets and attributes, whose values are still to be written."""
        group = self._h5.h5g.create(self._file.id, key)
        for name, dtype, shape in schema.arrays:
            kind = self._h5.h5t.py_create(np.dtype(dtype), logical=True)
            space = self._h5.h5s.create_simple(shape) if shape else self._scalar
            dataset = self._h5.h5d.create(group, name.encode(), kind, space, self._created)
            for label, text in self._about.get(name, {}).items():
                value = np.array(text.encode(), object)
                made = self._h5.h5a.create(dataset, label.encode(), self._text, self._scalar)
                made.write(value, self._text_object)
        for label, kind, _, _ in attributes:
            self._h5.h5a.create(group, label, kind, self._scalar)
        return group

    def _attribute(self, values: NDArray[Any]) -> tuple[Any, Any, NDArray[Any]]:
        """Type in the file, type in memory and values of an attribute."""
        if values.dtype.kind == "S":
            return self._text, self._text_object, values.astype(object)
        kind = self._h5.h5t.py_create(values.dtype, logical=True)
        return kind, kind, np.ascontiguousarray(values)


def _is_constant(column: NDArray[Any]) -> bool:
    """Has every row the same bytes?"""
    return column.tobytes() == column[:1].tobytes() * len(column)
