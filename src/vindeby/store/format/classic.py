"""The classic format: one group per record, as readers of such databases expect it.

Group ``KEY`` holds one dataset per array and one attribute per attribute, plus ``status``, ``checksum`` and
``fingerprint``, written with h5py. Between the HDF5 part and the seal stand the columns of each chunk of records:
key, attributes, checksum, and the address at which HDF5 put the data of each array. So an intact file is read
without HDF5, and no array is stored twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.format.file_format import SAMPLE, ArrayAttributes, Content, FileFormat
from vindeby.store.format.record import Record
from vindeby.store.format.root import MARKS
from vindeby.store.format.rows import Schema, Segment, array_field, attribute_field, checksum_of, gathered
from vindeby.store.format.seal import SealedFile, open_sealed

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 512


class ClassicFormat(FileFormat):
    """The file format with one group per record."""

    name: ClassVar[str] = "classic"

    def _write_records(self, file: h5py.File, content: Content, tail: BinaryIO) -> dict[str, Any]:
        writer = _GroupWriter(file, content.array_attributes)
        chunks = []
        for segment in gathered(content.segments):
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
            count = sealed.seal.directory["count"]
        with h5py.File(path, "r", locking=False) as file:
            names = list(file)
            if len(names) != count:
                raise StorageError(f"{path}: HDF5 sees {len(names)} groups, not {count}; nothing was changed")
            for name in names[:: max(1, len(names) // SAMPLE)]:
                record, stated = read_group(name, file[name])
                if checksum_of(record) != stated:
                    raise StorageError(f"{path}: HDF5 reads other values for {name} than were merged")

    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """Return the number of chunks of records."""
        return len(directory["chunks"])

    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """Return the keys of one chunk, which are its first column."""
        chunk = file.seal.directory["chunks"][number]
        width = chunk["widths"]["key"]
        return np.frombuffer(file.read(chunk["offset"], chunk["count"] * width), f"S{width}")

    def read_chunk(self, file: SealedFile, number: int) -> list[Segment]:
        """Return the records of one chunk; damaged ones do not get in the way of the rest."""
        directory = file.seal.directory
        chunk = directory["chunks"][number]
        schema = Schema.from_json(directory["schemas"][chunk["schema"]])
        row_type, stored = schema.row_type(chunk["widths"]), stored_type(schema, chunk["widths"])
        data = memoryview(file.read(chunk["offset"], chunk["count"] * stored.itemsize))
        columns: dict[str, NDArray[Any]] = {}
        for name in stored.names or ():
            size = chunk["count"] * stored[name].itemsize
            columns[name], data = np.frombuffer(data[:size], stored[name]), data[size:]
        arrays = {name: columns[name].tolist() for name in columns if _is_array(name)}
        places = [at for addresses in arrays.values() for at in addresses]
        lengths = [row_type[name].itemsize for name, addresses in arrays.items() for _ in addresses]
        parts = iter(file.read_parts(places, lengths))
        for name, addresses in arrays.items():
            values = b"".join(itertools.islice(parts, len(addresses)))
            columns[name] = np.frombuffer(values, row_type[name].base).reshape(-1, *row_type[name].shape)
        rows = np.zeros(chunk["count"], row_type)
        for name in row_type.names or ():
            rows[name] = columns[name]
        return [Segment(schema, rows)]


def read_group(name: str, group: h5py.Group) -> tuple[Record, str]:
    """Return a vindeby record as the HDF5 library reads it, and the checksum it states."""
    values = {key: group.attrs[key] for key in group.attrs}
    marks = {mark: values.pop(mark) for mark in MARKS}
    arrays = {item: np.asarray(group[item][()]) for item in group}
    return Record(name, marks["fingerprint"], arrays, values), marks["checksum"]


def stored_type(schema: Schema, widths: dict[str, int]) -> np.dtype[Any]:
    """Return the type of a row behind the HDF5 part, with addresses instead of arrays."""
    row = schema.row_type(widths)
    return np.dtype([(name, "<u8" if _is_array(name) else row[name]) for name in row.names or ()])


def _is_array(field: str) -> bool:
    return field.startswith(array_field(""))


class _GroupWriter:
    """Writes records as groups, through the low-level calls of h5py, which take half as long as the others."""

    def __init__(self, file: h5py.File, about: ArrayAttributes) -> None:
        import h5py

        self._h5 = h5py
        self._file, self._about = file, about
        self._scalar = h5py.h5s.create(h5py.h5s.SCALAR)
        self._text = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
        self._text_object = h5py.h5t.py_create(h5py.string_dtype())
        """The type of a text in memory: a Python object."""
        self._created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._created.set_obj_track_times(False)

    def write(self, segment: Segment) -> dict[str, NDArray[np.uint64]]:
        """Write every row; return the addresses of the data of each array that has elements.

        The first group is copied for each other row while it holds only what all have in common, and the rest is then
        written into each: this takes half of the time that making each group takes.
        """
        rows, keys = segment.rows, segment.rows["key"].tolist()
        arrays = [
            (
                name.encode(),
                self._h5.h5t.py_create(np.dtype(dtype)),
                np.ascontiguousarray(rows[array_field(name)]),
            )
            for name, dtype, shape in segment.schema.arrays
            if 0 not in shape
        ]
        fields = [(mark, mark) for mark in MARKS]
        fields += [(name, attribute_field(name)) for name, _ in segment.schema.attributes]
        attributes = [(name.encode(), *self._attribute(rows[field])) for name, field in fields]
        constant = [_is_constant(rows[field]) for _, field in fields]
        changing = [one for one, same in zip(attributes, constant, strict=True) if not same]
        group = self._first_group(keys[0], segment.schema, attributes)
        for (name, _, in_memory, values), same in zip(attributes, constant, strict=True):
            if same:
                self._h5.h5a.open(group, name).write(values[0, ...], in_memory)
        for key in keys[1:]:
            self._h5.h5o.copy(self._file.id, keys[0], self._file.id, key)
        addresses = np.zeros((len(arrays), len(rows)), np.uint64)
        for row, key in enumerate(keys):
            group = self._h5.h5g.open(self._file.id, key)
            for number, (name, in_memory, values) in enumerate(arrays):
                dataset = self._h5.h5d.open(group, name)
                dataset.write(self._h5.h5s.ALL, self._h5.h5s.ALL, values[row, ...], in_memory)
                addresses[number, row] = dataset.get_offset()
            for name, _, in_memory, values in changing:
                self._h5.h5a.open(group, name).write(values[row, ...], in_memory)
        return {array_field(name.decode()): addresses[number] for number, (name, *_) in enumerate(arrays)}

    def _first_group(self, key: bytes, schema: Schema, attributes: list[tuple[Any, ...]]) -> Any:
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
        """Return an attribute's type in the file, its type in memory and its values."""
        if values.dtype.kind == "S":
            return self._text, self._text_object, values.astype(object)
        kind = self._h5.h5t.py_create(values.dtype, logical=True)
        return kind, kind, np.ascontiguousarray(values)


def _is_constant(column: NDArray[Any]) -> bool:
    return column.tobytes() == column[:1].tobytes() * len(column)
