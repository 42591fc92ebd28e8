"""The table format: a netCDF-4 file with one variable per name, for more than about 50,000 results.

```
key, fingerprint, status, checksum    text, one row per record
schema                                which entry of the root attribute ``schemas`` says what the row holds
NAME of an attribute                  one value per row
NAME of an array                      (key, NAME_axis0, ...): padded to the largest shape with NaN, or 0 for integers
```
A text is a row of UTF-8 characters, as every netCDF library reads it. A name that has several types, in different
records, gets a column for each (``NAME@type``). All columns are chunked alike, 1024 rows a chunk; the seal's directory
has the place of every chunk.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError, StorageError
from vindeby.store.format.file_format import SAMPLE, Content, FileFormat
from vindeby.store.format.netcdf import new_variable, number_axes
from vindeby.store.format.rows import CHECKSUM_WIDTH, KINDS, Schema, Segment, array_field, attribute_field
from vindeby.store.format.seal import SealedFile, open_sealed

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 1024
MARK_COLUMNS = ("key", "fingerprint", "status", "checksum")
"""The columns with which a table begins."""
_LARGEST_CHUNK = 1 << 30


class TableColumn(NamedTuple):
    """A dataset, and the field of which schemas it holds."""

    path: str
    field: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def fill(self) -> Any:
        """The value for a row without an entry in this column."""
        return {"f": float("nan"), "S": b"", "b": False}.get(np.dtype(self.dtype).kind, 0)

    def empty(self) -> NDArray[Any]:
        """Return a chunk of rows without entries."""
        return np.full((CHUNK_ROWS, *self.shape), self.fill, self.dtype)


_SCHEMA_COLUMN = TableColumn("schema", "schema", "<i4", ())
Paths = Mapping[tuple[str, str, int], str]
"""The dataset of each field, kind and number of dimensions."""


def _fields(schema: Schema) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    for name, kind in schema.attributes:
        yield attribute_field(name), kind, ()
    for name, dtype, shape in schema.arrays:
        if 0 not in shape:
            yield array_field(name), dtype, shape


def plan_columns(content: Content) -> list[TableColumn]:
    """Return every column that the records need."""
    largest: dict[tuple[str, str, int], tuple[int, ...]] = {}
    for schema in content.schemas:
        for field, kind, shape in _fields(schema):
            before = largest.get((field, kind, len(shape)), shape)
            largest[field, kind, len(shape)] = tuple(map(max, shape, before))
    paths = column_paths(content.schemas)
    columns = [TableColumn(mark, mark, f"S{_width(content, mark)}", ()) for mark in MARK_COLUMNS]
    for (field, kind, dimensions), padded in largest.items():
        dtype = f"S{_width(content, field)}" if kind == "str" else KINDS.get(kind, kind)
        columns.append(TableColumn(paths[field, kind, dimensions], field, dtype, padded))
    for column in columns:
        row = int(np.prod(column.shape, dtype=np.int64)) * np.dtype(column.dtype).itemsize
        if row * CHUNK_ROWS > _LARGEST_CHUNK and content.count > 1:
            raise ArgumentError(
                f"--format table: {column.path} would need {row} bytes per row, too much for {content.count} padded "
                "rows; use --format classic"
            )
    return [*columns, _SCHEMA_COLUMN]


def _width(content: Content, field: str) -> int:
    return CHECKSUM_WIDTH if field == "checksum" else content.widths.get(field, 1)


def column_paths(schemas: Sequence[Schema]) -> Paths:
    """Return the path of the column of each field, kind and number of dimensions in a table with these schemas."""
    wanted = {(field, kind, len(shape)) for schema in schemas for field, kind, shape in _fields(schema)}
    places = {one: one[0].split(":", 1)[1] for one in wanted}
    taken = Counter([_SCHEMA_COLUMN.path, *places.values()])
    taken.update(axis for one, place in places.items() for axis in _axes(place, one[2] + (one[1] == "str")))
    paths = {}
    for (field, kind, dimensions), place in places.items():
        suffix = f"@{kind.strip('<|')}" + (f"x{dimensions}" if field.startswith(array_field("")) else "")
        paths[field, kind, dimensions] = f"{place}{suffix if taken[place] > 1 else ''}"
    return paths


def _axes(path: str, dimensions: int) -> list[str]:
    """Return the names of the axes of a column, other than that of the rows."""
    return [f"{path}_axis{number}" for number in range(dimensions)]


def own_columns(paths: Paths) -> set[str]:
    """Return the path of every dataset of a table with these columns."""
    return {*MARK_COLUMNS, _SCHEMA_COLUMN.path, *paths.values()}


def runs(codes: NDArray[Any]) -> Iterator[tuple[int, Any]]:
    """Yield each schema's number with the indices of its rows."""
    for code in np.unique(codes):
        yield int(code), np.flatnonzero(codes == code)


class TableFormat(FileFormat):
    """The file format with one column per name."""

    name: ClassVar[str] = "table"

    def _write_records(self, file: h5py.File, content: Content, tail: BinaryIO) -> dict[str, Any]:  # noqa: ARG002
        columns = plan_columns(content)
        file.attrs["schemas"] = json.dumps([schema.to_json() for schema in content.schemas])
        datasets = [_new_dataset(file, column, content) for column in columns]
        number_axes(file, "key", ["key", *_axes("key", 1)])
        rows = min(CHUNK_ROWS, content.count)
        for start, buffers in zip(
            range(0, content.count, CHUNK_ROWS), _chunks(content, columns), strict=True
        ):
            for column, dataset in zip(columns, datasets, strict=True):
                # Written directly, so that the chunks of a run of rows are contiguous in the file and read in one go.
                place = (start, *(0 for _ in dataset.shape[1:]))
                dataset.id.write_direct_chunk(place, buffers[column.path][:rows].tobytes())
        places = [_chunk_places(dataset, content.count) for dataset in datasets]
        return {"chunk_rows": CHUNK_ROWS, "columns": columns, "places": places}

    def look(self, path: Path) -> None:
        """Read the first and the last rows through the HDF5 library."""
        import h5py  # only here: what is sealed is read without HDF5, and need not wait for it

        with open_sealed(path) as sealed:
            count = sealed.seal.directory["count"]
        with h5py.File(path, "r", locking=False) as file:
            known = [Schema.from_json(entry) for entry in json.loads(file.attrs["schemas"])]
            if len(file["key"]) != count:
                raise StorageError(
                    f"{path}: HDF5 sees {len(file['key'])} rows, not {count}; nothing was changed"
                )
            paths = column_paths(known)
            for rows in (slice(0, SAMPLE), slice(max(0, count - SAMPLE), count)):
                columns = {name: column_values(file[name], rows) for name in own_columns(paths)}
                for code, members in runs(columns["schema"]):
                    if not table_segment(known[code], paths, columns, members).intact().all():
                        raise StorageError(
                            f"{path}: HDF5 reads other values than were merged; nothing was changed"
                        )

    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """Return the number of chunks of records."""
        return -(-int(directory["count"]) // int(directory["chunk_rows"]))

    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """Return the keys of one chunk."""
        keys = _read_columns(file, number, 1)["key"]
        if keys.dtype.kind != "S" or keys.ndim != 1:
            raise ValueError(f"its keys are of type {keys.dtype}")
        return keys

    def read_chunk(self, file: SealedFile, number: int) -> list[Segment]:
        """Return the records of one chunk; damaged ones do not get in the way of the rest."""
        directory = file.seal.directory
        known = [Schema.from_json(entry) for entry in directory["schemas"]]
        columns = _read_columns(file, number, len(directory["columns"]))
        codes = np.clip(columns["schema"], 0, len(known) - 1)
        paths = column_paths(known)
        return [table_segment(known[code], paths, columns, members) for code, members in runs(codes)]


def column_values(dataset: h5py.Dataset, rows: slice) -> NDArray[Any]:
    """Return some rows of a column; texts as texts, whose characters are the last axis of the dataset."""
    values = np.asarray(dataset[rows])
    return values.view(f"S{values.shape[1]}")[:, 0] if values.dtype == "S1" and values.ndim == 2 else values


def table_segment(
    schema: Schema, paths: Paths, columns: Mapping[str, NDArray[Any]], members: NDArray[np.intp]
) -> Segment:
    """Return rows of a table, all of one schema, from the values of its columns by path."""
    found = {mark: columns[mark] for mark in MARK_COLUMNS}
    shapes: dict[str, tuple[int, ...]] = {}
    for field, kind, shape in _fields(schema):
        found[field], shapes[field] = columns[paths[field, kind, len(shape)]], shape
        if any(length > there for length, there in zip(shape, found[field].shape[1:], strict=True)):
            raise ValueError(f"the column of {field} is too small for {shape}")
    widths = {field: found[field].dtype.itemsize for field in schema.text_fields}
    rows = np.zeros(len(members), schema.row_type(widths))
    for field in rows.dtype.names or ():
        place: tuple[Any, ...] = (members, *(slice(length) for length in shapes.get(field, ())))
        rows[field] = found[field][place]
    return Segment(schema, rows)


def _read_columns(file: SealedFile, number: int, first: int) -> dict[str, NDArray[Any]]:
    directory = file.seal.directory
    columns = [TableColumn(*entry) for entry in directory["columns"][:first]]
    count = min(directory["chunk_rows"], directory["count"] - number * directory["chunk_rows"])
    places = [places[number] for places in directory["places"][:first]]
    lengths = [count * np.dtype((column.dtype, tuple(column.shape))).itemsize for column in columns]
    return {
        column.path: np.frombuffer(data, column.dtype).reshape(count, *column.shape)
        for column, data in zip(columns, file.read_parts(places, lengths), strict=True)
    }


def _new_dataset(file: h5py.File, column: TableColumn, content: Content) -> h5py.Dataset:
    dtype, shape, fill = column.dtype, column.shape, column.fill
    part, _, name = column.field.partition(":")
    about = dict(content.array_attributes.get(name, {})) if part == "array" else {}
    if column.dtype == KINDS["bool"]:
        dtype, about = "|i1", {**about, "dtype": "bool"}  # as xarray keeps booleans, which netCDF has not
    elif column.dtype.startswith("S"):
        # netcdf-c crashes on other texts of fixed width, and aborts on a fill value of text.
        dtype, shape, fill, about = "S1", (int(column.dtype[1:]),), None, {"_Encoding": "utf-8"}
    axes = {"key": content.count, **dict(zip(_axes(column.path, len(shape)), shape, strict=True))}
    chunks = (min(CHUNK_ROWS, content.count), *shape) if content.count else None
    return new_variable(file, column.path, dtype, axes, about, chunks=chunks, fillvalue=fill)


def _chunk_places(dataset: h5py.Dataset, count: int) -> list[int]:
    rest = (0,) * (dataset.ndim - 1)
    starts = range(0, count, CHUNK_ROWS)
    return [int(dataset.id.get_chunk_info_by_coord((start, *rest)).byte_offset) for start in starts]


def _chunks(content: Content, columns: list[TableColumn]) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns' values by path, a chunk of rows at a time; the last chunk may have unused rows."""
    paths = column_paths(content.schemas)
    buffers = {column.path: column.empty() for column in columns}
    filled = 0
    for segment in content.segments:
        start = 0
        while start < len(segment):
            taken = min(CHUNK_ROWS - filled, len(segment) - start)
            some = segment.rows[start : start + taken]
            place = slice(filled, filled + taken)
            buffers["schema"][place] = content.schemas.index(segment.schema)
            for mark in MARK_COLUMNS:
                buffers[mark][place] = some[mark]
            for field, kind, shape in _fields(segment.schema):
                inner = tuple(slice(length) for length in shape)
                buffers[paths[field, kind, len(shape)]][(place, *inner)] = some[field]
            filled, start = filled + taken, start + taken
            if filled == CHUNK_ROWS:
                yield buffers
                buffers, filled = {column.path: column.empty() for column in columns}, 0
    if filled:
        yield buffers
