"""The classic format: one group per record, as readers of such databases expect it.

Group ``KEY`` holds one dataset per array and one attribute per attribute, plus ``status``, ``checksum`` and
``fingerprint``, written with h5py. Between the HDF5 part and the seal stand the columns of each chunk of records:
key, attributes, checksum, and the address at which HDF5 put the data of each array. So an intact file is read
without HDF5, and no array is stored twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.format.file_format import (
    SAMPLE,
    Content,
    FileFormat,
    Others,
    directory_of,
    new_file,
    removed_on_error,
)
from vindeby.store.format.record import Record
from vindeby.store.format.root import MARKS, ArrayAttributes, array_attributes
from vindeby.store.format.rows import Schema, Segment, array_field, attribute_field, checksum_of
from vindeby.store.format.seal import SealedFile, seal_file

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 512
_LARGEST_SPAN = 1 << 26
"""Bytes of the file that are read at once to pick arrays out of them."""


class ClassicFormat(FileFormat):
    """One group per record."""

    name: ClassVar[str] = "classic"

    def write(self, path: Path, content: Content) -> None:
        """Write a new sealed file and force it to the disk."""
        numbers = {schema: number for number, schema in enumerate(content.schemas)}
        chunks: list[dict[str, Any]] = []
        columns: list[bytes] = []
        with removed_on_error(path):
            with new_file(path, content.root) as file:
                writer = _GroupWriter(file, array_attributes(content.root))
                for segment in _pieces(content.segments):
                    stored = _with_addresses(segment, writer.write(segment))
                    columns += [stored[name].tobytes() for name in stored.dtype.names or ()]
                    chunks.append(_entry(numbers[segment.schema], segment))
            additions = content.carry()
            at = path.stat().st_size
            for chunk, schema in ((chunk, content.schemas[chunk["schema"]]) for chunk in chunks):
                chunk["offset"] = at
                at += chunk["count"] * stored_type(schema, chunk["widths"]).itemsize
            seal_file(path, directory_of(self, content, additions, {"chunks": chunks}), b"".join(columns))

    def look(self, path: Path, count: int, others: Others | None = None) -> None:
        """List every group and read some of them through the HDF5 library."""
        import h5py  # only here: what is sealed is read without HDF5, and need not wait for it

        others = others or Others()
        with h5py.File(path, "r", locking=False) as file:
            names = [name for name in file if name not in others.objects]
            if len(names) != count:
                raise StorageError(f"{path}: HDF5 sees {len(names)} groups, not {count}; nothing was changed")
            for name in names[:: max(1, count // SAMPLE)]:
                if name in others.records:
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
        arrays = {array_field(name) for name, _, _ in schema.arrays} & columns.keys()
        pick = _Picker(file, [(columns[name], row_type[name].itemsize) for name in sorted(arrays)])
        wanted = [name for name in row_type.names or () if fields is None or name in {"key", *fields}]
        rows = np.zeros(chunk["count"], [(name, row_type[name]) for name in wanted])
        for name in wanted:
            rows[name] = pick.values(columns[name], row_type[name]) if name in arrays else columns[name]
        return [Segment(schema, rows)]


def read_group(name: str, group: h5py.Group) -> tuple[Record, str]:
    """A record of ours as the HDF5 library gives it, and the checksum it states."""
    values = {key: group.attrs[key] for key in group.attrs}
    marks = {mark: values.pop(mark) for mark in MARKS}
    arrays = {item: np.asarray(group[item][()]) for item in group}
    return Record.stored(name, marks["fingerprint"], arrays, values), marks["checksum"]


def _pieces(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        for start in range(0, len(segment), CHUNK_ROWS):
            yield segment.take(slice(start, start + CHUNK_ROWS))


def _entry(schema: int, segment: Segment) -> dict[str, Any]:
    """What the directory says of a chunk, but where it stands."""
    widths = {name: segment.rows.dtype[name].itemsize for name in segment.schema.text_fields}
    return {"schema": schema, "count": len(segment), "widths": widths}


def stored_type(schema: Schema, widths: dict[str, int]) -> np.dtype[Any]:
    """A row as it stands behind the HDF5 part: addresses instead of arrays."""
    row = schema.row_type(widths)
    arrays = {array_field(name) for name, _, _ in schema.arrays}
    return np.dtype([(name, "<u8" if name in arrays else row[name]) for name in row.names or ()])


def _with_addresses(segment: Segment, addresses: Mapping[str, NDArray[np.uint64]]) -> NDArray[Any]:
    widths = {name: segment.rows.dtype[name].itemsize for name in segment.schema.text_fields}
    stored = np.empty(len(segment), stored_type(segment.schema, widths))
    for name in stored.dtype.names or ():
        stored[name] = addresses[name] if name in addresses else segment.rows[name]
    return stored


class _Picker:
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

    def values(self, addresses: NDArray[np.uint64], kind: np.dtype[Any]) -> NDArray[Any]:
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
        """Write every row; for each array that has elements, the addresses of its data."""
        rows = segment.rows
        arrays = [self._array(rows, name, dtype, shape) for name, dtype, shape in segment.schema.arrays]
        named = [(mark, mark) for mark in MARKS]
        named += [(name, attribute_field(name)) for name, _ in segment.schema.attributes]
        attributes = [self._attribute(name, rows[field]) for name, field in named]
        addresses = np.zeros((len(arrays), len(rows)), np.uint64)
        for row, key in enumerate(rows["key"].tolist()):
            group = self._h5.h5g.create(self._file.id, key)
            for number, (name, kind, space, values, about) in enumerate(arrays):
                dataset = self._h5.h5d.create(group, name, kind, space, self._created)
                if values is not None:
                    dataset.write(self._h5.h5s.ALL, self._h5.h5s.ALL, values[row, ...], kind)
                    addresses[number, row] = dataset.get_offset()
                for label, text in about:
                    self._h5.h5a.create(dataset, label, self._text, self._scalar).write(
                        text, self._text_object
                    )
            for label, kind, in_memory, values in attributes:
                self._h5.h5a.create(group, label, kind, self._scalar).write(values[row, ...], in_memory)
        fields = [array_field(name) for name, _, _ in segment.schema.arrays]
        return {field: addresses[number] for number, field in enumerate(fields)}

    def _array(self, rows: NDArray[Any], name: str, dtype: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Name, type, space, values and attributes of a dataset; no values where it has no elements."""
        kind = self._h5.h5t.py_create(np.dtype(dtype), logical=True)
        space = self._h5.h5s.create_simple(shape) if shape else self._scalar
        values = None if 0 in shape else np.ascontiguousarray(rows[array_field(name)])
        about = [
            (label.encode(), np.array(text.encode(), object))
            for label, text in self._about.get(name, {}).items()
        ]
        return name.encode(), kind, space, values, about

    def _attribute(self, name: str, values: NDArray[Any]) -> tuple[bytes, Any, Any, NDArray[Any]]:
        """Name, type in the file, type in memory and values of an attribute."""
        if values.dtype.kind == "S":
            return name.encode(), self._text, self._text_object, values.astype(object)
        kind = self._h5.h5t.py_create(values.dtype, logical=True)
        return name.encode(), kind, kind, np.ascontiguousarray(values)
