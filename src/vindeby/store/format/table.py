"""The table format: one column per name and one row per record, for more than about 50,000 results.

```
key, fingerprint, status, checksum    text of fixed width, one row per record
schema                                which entry of the root attribute ``schemas`` says what the row holds
attributes/NAME                       one value per row
arrays/NAME                           (rows, ...): padded to the largest shape with NaN, or 0 for integers
```
A name that has several types, in different records, gets a column for each (``NAME@type``). All columns are
chunked alike, 1024 rows a chunk, with Fletcher-32; the seal's directory has the place of every chunk.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError, StorageError
from vindeby.store.format.file_format import (
    SAMPLE,
    Content,
    FileFormat,
    Others,
    directory_of,
    new_file,
    removed_on_error,
)
from vindeby.store.format.root import array_attributes
from vindeby.store.format.rows import CHECKSUM_WIDTH, Schema, Segment, array_field, attribute_field
from vindeby.store.format.seal import SealedFile, seal_file

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 1024
_TYPES = {"int": "<i8", "float": "<f8", "bool": "|b1"}
_MARKS = ("key", "fingerprint", "status", "checksum")
_ALLOWED_PADDING = 1 << 26
_HDF5_DIMENSIONS = 32


@dataclass(frozen=True)
class Column:
    """A dataset, and the field of which schemas it holds."""

    path: str
    field: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def fill(self) -> Any:
        """What stands where a row has nothing."""
        return {"f": float("nan"), "S": b"", "b": False}.get(np.dtype(self.dtype).kind, 0)

    def to_json(self) -> list[Any]:
        """For the directory."""
        return [self.path, self.field, self.dtype, self.shape]

    @classmethod
    def from_json(cls, data: list[Any]) -> Column:
        """Back from the directory."""
        return cls(data[0], data[1], data[2], tuple(data[3]))


def plan_columns(content: Content) -> list[Column]:
    """Every column that the records need."""
    wanted: dict[tuple[str, str, int], list[int]] = {}
    for schema in content.schemas:
        for name, kind in schema.attributes:
            wanted.setdefault((attribute_field(name), kind, 0), [])
        for name, dtype, shape in schema.arrays:
            if 0 not in shape:
                largest = wanted.setdefault((array_field(name), dtype, len(shape)), [0] * len(shape))
                largest[:] = [max(pair) for pair in zip(largest, shape, strict=True)]
    paths = column_paths(content.schemas)
    columns = [Column(mark, mark, f"S{_width(content, mark)}", ()) for mark in _MARKS]
    for (field, kind, dimensions), padded in wanted.items():
        dtype = f"S{_width(content, field)}" if kind == "str" else _TYPES.get(kind, kind)
        columns.append(Column(paths[field, kind, dimensions], field, dtype, tuple(padded)))
    _check_padding(content, columns)
    return columns


def column_paths(schemas: Sequence[Schema]) -> dict[tuple[str, str, int], str]:
    """Where the column of each field, kind and number of dimensions stands in a table with these schemas."""
    wanted = {(attribute_field(name), kind, 0) for schema in schemas for name, kind in schema.attributes}
    wanted |= {
        (array_field(name), dtype, len(shape))
        for schema in schemas
        for name, dtype, shape in schema.arrays
        if 0 not in shape
    }
    variants = Counter(field for field, _, _ in wanted)
    paths = {}
    for field, kind, dimensions in wanted:
        part, name = field.split(":", 1)
        suffix = f"@{kind.strip('<|')}" + (f"x{dimensions}" if part == "array" else "")
        paths[field, kind, dimensions] = f"{part}s/{name}{suffix if variants[field] > 1 else ''}"
    return paths


def own_columns(schemas: Sequence[Schema]) -> set[str]:
    """The path of every dataset of a table with these schemas."""
    return {*_MARKS, _SCHEMA_COLUMN.path, *column_paths(schemas).values()}


def runs(codes: NDArray[Any], *, in_order: bool) -> Iterator[tuple[int, Any]]:
    """The rows of each schema, as index arrays; in the order of the rows where others may rely on that."""
    if in_order:
        starts = np.flatnonzero(np.diff(codes, prepend=codes[:1] - 1))
        for members in np.split(np.arange(len(codes)), starts[1:]):
            if len(members):
                yield int(codes[members[0]]), members
        return
    for code in np.unique(codes):
        yield int(code), np.flatnonzero(codes == code)


def _width(content: Content, field: str) -> int:
    return CHECKSUM_WIDTH if field == "checksum" else content.widths.get(field, 1)


def _check_padding(content: Content, columns: list[Column]) -> None:
    for column in columns:
        if len(column.shape) >= _HDF5_DIMENSIONS:
            raise ArgumentError(
                f"--format table: {column.path} has {len(column.shape)} dimensions in a record, and a table needs one "
                f"more than HDF5 allows ({_HDF5_DIMENSIONS}); use --format classic"
            )
        row = int(np.prod(column.shape, dtype=np.int64)) * np.dtype(column.dtype).itemsize
        if row * CHUNK_ROWS > _ALLOWED_PADDING * 16 and content.count > 1:
            raise ArgumentError(
                f"--format table: {column.path} would need {row} bytes per row, too much for {content.count} padded "
                "rows; use --format classic"
            )


class TableFormat(FileFormat):
    """A column a name."""

    name: ClassVar[str] = "table"

    def write(self, path: Path, content: Content) -> None:
        """Write a new sealed file and force it to the disk."""
        columns = plan_columns(content)
        with removed_on_error(path):
            schemas = json.dumps([schema.to_json() for schema in content.schemas])
            with new_file(path, {**content.root, "schemas": schemas}) as file:
                places = _write_columns(file, content, columns)
            rest = {
                "chunk_rows": CHUNK_ROWS,
                "columns": [column.to_json() for column in [*columns, _SCHEMA_COLUMN]],
                "places": places,
            }
            seal_file(path, directory_of(self, content, content.carry(), rest))

    def look(
        self,
        path: Path,
        count: int,
        others: Others | None = None,  # noqa: ARG002 - what others added is not a column of ours
    ) -> None:
        """Read the first and the last rows through the HDF5 library."""
        import h5py  # only here: what is sealed is read without HDF5, and need not wait for it

        with h5py.File(path, "r", locking=False) as file:
            known = [Schema.from_json(entry) for entry in json.loads(file.attrs["schemas"])]
            if len(file["key"]) != count:
                raise StorageError(
                    f"{path}: HDF5 sees {len(file['key'])} rows, not {count}; nothing was changed"
                )
            for rows in (slice(0, SAMPLE), slice(max(0, count - SAMPLE), count)):
                codes = file["schema"][rows]
                for code, members in runs(codes, in_order=False):
                    if not table_segment(file, known, code, rows, members).intact().all():
                        raise StorageError(
                            f"{path}: HDF5 reads other values than were merged; nothing was changed"
                        )

    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """How many chunks of records there are."""
        return -(-int(directory["count"]) // int(directory["chunk_rows"]))

    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """The keys of one chunk."""
        columns = [Column.from_json(entry) for entry in file.seal.directory["columns"][:1]]
        return _read_columns(file, columns, number)[0]

    def read_chunk(
        self,
        file: SealedFile,
        number: int,
        fields: Collection[str] | None = None,  # noqa: ARG002 - chunks are large: all fields cost little
    ) -> list[Segment]:
        """The records of one chunk; damaged ones, where nothing is verified, do not get in the way of the rest."""
        directory = file.seal.directory
        columns = [Column.from_json(entry) for entry in directory["columns"]]
        values = _read_columns(file, columns, number)
        by_type = {
            (column.field, _kind(column), len(column.shape)): place for place, column in enumerate(columns)
        }
        which = np.clip(values[-1], 0, len(directory["schemas"]) - 1)
        segments = []
        for code, rows in runs(which, in_order=bool(directory.get("additions"))):
            schema = Schema.from_json(directory["schemas"][code])
            members = slice(None) if len(rows) == len(which) else rows
            segments.append(_segment(schema, columns, values, by_type, members))
        return segments


_SCHEMA_COLUMN = Column("schema", "schema", "<i4", ())


def _kind(column: Column) -> str:
    return "text" if column.dtype.startswith("S") else column.dtype


def _segment(
    schema: Schema,
    columns: list[Column],
    values: list[NDArray[Any]],
    by_type: dict[tuple[str, str, int], int],
    members: Any,
) -> Segment:
    def place_of(field: str, kind: str, dimensions: int) -> int:
        return by_type[field, kind, dimensions]

    widths = {field: columns[place_of(field, "text", 0)].dtype for field in schema.text_fields}
    dtype = schema.row_type({field: int(text[1:]) for field, text in widths.items()})
    rows = np.empty(len(values[0][members]), dtype)
    for field in (*schema.text_fields, "checksum"):
        rows[field] = values[place_of(field, "text", 0)][members]
    for name, kind in schema.attributes:
        if kind != "str":
            rows[attribute_field(name)] = values[place_of(attribute_field(name), _TYPES[kind], 0)][members]
    for name, kind, shape in schema.arrays:
        if 0 not in shape:
            padded = values[place_of(array_field(name), kind, len(shape))][members]
            rows[array_field(name)] = padded[(slice(None), *(slice(length) for length in shape))]
    return Segment(schema, rows)


def table_segment(
    file: h5py.File, schemas: Sequence[Schema], code: int, rows: slice, members: NDArray[np.intp]
) -> Segment:
    """Some rows of a table, of one schema, read through the HDF5 library."""
    schema, paths = schemas[code], column_paths(schemas)
    columns: dict[str, NDArray[Any]] = {name: file[name][rows][members] for name in _MARKS}
    for name, kind in schema.attributes:
        field = attribute_field(name)
        columns[field] = file[paths[field, kind, 0]][rows][members]
    for name, dtype, shape in schema.arrays:
        if 0 not in shape:
            field = array_field(name)
            inner = tuple(slice(length) for length in shape)
            columns[field] = file[paths[field, dtype, len(shape)]][rows][members][(slice(None), *inner)]
    widths = {field: columns[field].dtype.itemsize for field in schema.text_fields}
    made = np.zeros(len(members), schema.row_type(widths))
    for field in made.dtype.names or ():
        made[field] = columns[field]
    return Segment(schema, made)


def _read_columns(file: SealedFile, columns: list[Column], number: int) -> list[NDArray[Any]]:
    """One chunk of the first columns, in one read where they stand together."""
    directory = file.seal.directory
    start = number * directory["chunk_rows"]
    count = min(directory["chunk_rows"], directory["count"] - start)
    places = [column_places[number] for column_places in directory["places"][: len(columns)]]
    lengths = [
        count * int(np.prod(column.shape, dtype=np.int64)) * np.dtype(column.dtype).itemsize
        for column in columns
    ]
    first = min(places)
    span = max(place + length for place, length in zip(places, lengths, strict=True)) - first
    if span <= 2 * sum(lengths):
        whole = memoryview(file.read(first, span))
        parts = [whole[at - first : at - first + size] for at, size in zip(places, lengths, strict=True)]
    else:
        parts = [memoryview(file.read(at, size)) for at, size in zip(places, lengths, strict=True)]
    return [
        np.frombuffer(part, column.dtype).reshape(count, *column.shape)
        for part, column in zip(parts, columns, strict=True)
    ]


def _write_columns(file: h5py.File, content: Content, columns: list[Column]) -> list[list[int]]:
    """Write the columns chunk by chunk; where each chunk of each column stands."""
    every = [*columns, _SCHEMA_COLUMN]
    datasets = [
        file.create_dataset(
            column.path,
            (content.count, *column.shape),
            column.dtype,
            chunks=(min(CHUNK_ROWS, content.count), *column.shape) if content.count else None,
            fletcher32=True if content.count else None,
            # netcdf-c aborts on a fill value of text of fixed length.
            fillvalue=None if column.dtype.startswith("S") else column.fill,
        )
        for column in every
    ]
    about = array_attributes(content.root)
    for column, dataset in zip(every, datasets, strict=True):
        part, _, name = column.field.partition(":")
        if part == "array":
            for attribute, text in about.get(name, {}).items():
                dataset.attrs[attribute] = text
    start = 0
    numbers = {schema: number for number, schema in enumerate(content.schemas)}
    for buffers in _chunks(content, every, numbers):
        for dataset, buffer in zip(datasets, buffers, strict=True):
            dataset[start : start + len(buffer)] = buffer
        start += len(buffers[0])
    return [_chunk_places(dataset, content.count) for dataset in datasets]


def _chunk_places(dataset: h5py.Dataset, count: int) -> list[int]:
    rest = (0,) * (dataset.ndim - 1)
    starts = range(0, count, CHUNK_ROWS)
    return [int(dataset.id.get_chunk_info_by_coord((start, *rest)).byte_offset) for start in starts]


def _chunks(
    content: Content, columns: list[Column], numbers: dict[Schema, int]
) -> Iterator[list[NDArray[Any]]]:
    """The columns' values, a chunk of rows at a time."""
    buffers = _empty(columns)
    filled = 0
    for segment in content.segments:
        start = 0
        while start < len(segment):
            taken = min(CHUNK_ROWS - filled, len(segment) - start)
            _fill(columns, buffers, filled, segment.take(slice(start, start + taken)), numbers)
            filled, start = filled + taken, start + taken
            if filled == CHUNK_ROWS:
                yield buffers
                buffers, filled = _empty(columns), 0
    if filled:
        yield [buffer[:filled] for buffer in buffers]


def _empty(columns: list[Column]) -> list[NDArray[Any]]:
    return [np.full((CHUNK_ROWS, *column.shape), column.fill, column.dtype) for column in columns]


def _fill(
    columns: list[Column], buffers: list[NDArray[Any]], at: int, segment: Segment, numbers: dict[Schema, int]
) -> None:
    names: Mapping[str, Any] = segment.rows.dtype.fields or {}
    for column, buffer in zip(columns, buffers, strict=True):
        if column.field == "schema":
            buffer[at : at + len(segment)] = numbers[segment.schema]
        elif column.field in names:
            base, shape = names[column.field][0].base, names[column.field][0].shape
            text = base.kind == "S" and column.dtype.startswith("S")
            if text or (base.str == column.dtype and len(shape) == len(column.shape)):
                inner = tuple(slice(length) for length in shape)
                buffer[(slice(at, at + len(segment)), *inner)] = segment.rows[column.field]
