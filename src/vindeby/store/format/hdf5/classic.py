"""The classic format: one group per record, as readers of such databases expect it.

Group ``KEY`` holds one dataset an array and one attribute an attribute, plus ``status``, ``checksum`` and
``fingerprint``. The bytes of a few hundred groups of one schema are made at once from what the HDF5 library wrote
for one of them (``template``). A chunk stands in the file as: the texts of its attributes (global heap
collections), its keys, where the texts of each record begin, then one row of fixed length a record.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.format.array_attributes import array_attributes
from vindeby.store.format.block_file import BlockWriter
from vindeby.store.format.hdf5 import encoding, heaps
from vindeby.store.format.hdf5.file_format import SAMPLE, Content, FileFormat, Others, directory_of
from vindeby.store.format.hdf5.template import MARKS, Template, offsets_of, record_template, root_template
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Schema, Segment, checksum_of
from vindeby.store.format.seal import SealedFile

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 512
_NOTHING = np.empty(0, np.uint64)


@lru_cache(maxsize=256)
def _row_type(schema: Schema, widths: tuple[int, ...]) -> np.dtype[Any]:
    return schema.row_type(dict(zip(schema.text_fields, widths, strict=True)))


@dataclass
class _Groups:
    """The groups that were written so far: names, and the addresses of their header, B-tree and heap."""

    names: list[NDArray[np.bytes_]] = field(default_factory=lambda: [np.empty(0, "S1")])
    headers: list[NDArray[np.uint64]] = field(default_factory=lambda: [_NOTHING])
    trees: list[NDArray[np.uint64]] = field(default_factory=lambda: [_NOTHING])
    heaps: list[NDArray[np.uint64]] = field(default_factory=lambda: [_NOTHING])

    def add(self, names: NDArray[np.bytes_], headers: NDArray[np.uint64], template: Template) -> None:
        self.names.append(names)
        self.headers.append(headers)
        self.trees.append(headers + np.uint64(template.tree))
        self.heaps.append(headers + np.uint64(template.heap))


class ClassicFormat(FileFormat):
    """A group a record."""

    name: ClassVar[str] = "classic"

    def write(self, path: Path, content: Content) -> None:
        """Write a new sealed file and force it to the disk."""
        about = array_attributes(content.root)
        templates = {schema: record_template(schema, about) for schema in content.schemas}
        numbers = {schema: number for number, schema in enumerate(content.schemas)}
        chunks: list[dict[str, Any]] = []
        groups = _Groups()
        with BlockWriter(path) as file:
            file.append(bytes(encoding.SUPERBLOCK_SIZE))
            for segment in _pieces(content.segments):
                template = templates[segment.schema]
                entry, places = _write_chunk(file, segment, template)
                chunks.append({"schema": numbers[segment.schema], **entry})
                linked = _linked(segment, content.unlinked)
                keys = segment.rows["key"][linked].copy()  # a view would keep all rows in memory
                groups.add(keys, places[linked], template)
            head = _write_root(file, groups, content.root)
            rest = {
                "schemas": [schema.to_json() for schema in content.schemas],
                "offsets": [offsets_of(template) for template in templates.values()],
                "chunks": chunks,
            }
            file.finish(head, directory_of(self, content, rest))

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
                    continue  # compared when its group was copied
                record, stated = read_group(name, file[name])
                if checksum_of(record) != stated or len(file[name].attrs) != len(record.attributes) + len(
                    MARKS
                ):
                    raise StorageError(f"{path}: HDF5 reads other values for {name} than were merged")

    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """How many chunks of records there are."""
        return len(directory["chunks"])

    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """The keys of one chunk."""
        entry = file.seal.directory["chunks"][number]
        data = file.read(entry["keys"], entry["count"] * entry["key_width"])
        return np.frombuffer(data, f"S{entry['key_width']}")

    def read_chunk(
        self, file: SealedFile, number: int, fields: Collection[str] | None = None
    ) -> list[Segment]:
        """The records of one chunk; damaged ones, where nothing is verified, do not get in the way of the rest."""
        directory = file.seal.directory
        entry = directory["chunks"][number]
        schema = Schema.from_json(directory["schemas"][entry["schema"]])
        offsets = directory["offsets"][entry["schema"]]
        data = file.read(entry["rows"], entry["count"] * offsets["stride"])
        keys = self.read_keys(file, number)
        columns: dict[str, NDArray[Any]] = {"key": keys}
        widths = {"key": max(1, int(np.char.str_len(keys).max(initial=1)))}
        for name, values, width in _read_texts(file, entry, offsets, data, fields):
            columns[name], widths[name] = values, width
        row_type = _row_type(schema, tuple(widths.get(name, 1) for name in schema.text_fields))
        for name, offset in offsets["values"]:
            if fields is None or name in fields:
                base, shape = row_type[name].base, row_type[name].shape
                columns[name] = _strided(data, base, shape, offset, entry["count"], offsets["stride"])
        rows = np.zeros(
            entry["count"], row_type if fields is None else [(name, row_type[name]) for name in columns]
        )
        for name, values in columns.items():
            rows[name] = values
        return [Segment(schema, rows)]


def _read_texts(
    file: SealedFile,
    entry: Mapping[str, Any],
    offsets: Mapping[str, Any],
    data: bytes,
    fields: Collection[str] | None,
) -> Iterator[tuple[str, NDArray[np.bytes_], int]]:
    """Each text that is asked for: its field, the values and how wide they are."""
    count, stride = entry["count"], offsets["stride"]
    lengths = [
        np.ndarray((count,), heaps.REFERENCE, data, offset, (stride,))["length"]
        for _, offset in offsets["texts"]
    ]
    starts = np.frombuffer(file.read(entry["starts"], 8 * count), "<u8")
    heap = file.read(*entry["texts"])
    widths = [
        width if fields is None or name in fields else -width
        for (name, _), width in zip(offsets["texts"], entry["widths"], strict=True)
    ]
    columns = heaps.unpack(heap, starts, np.stack(lengths, axis=1).astype(np.uint64), widths)
    for (name, _), values, width in zip(offsets["texts"], columns, entry["widths"], strict=True):
        if values is not None and not name.startswith("about:"):
            yield name, values, width


def read_group(name: str, group: h5py.Group) -> tuple[Record, str]:
    """A record of ours as the HDF5 library gives it, and the checksum it states."""
    values = {key: group.attrs[key] for key in group.attrs}
    marks = {mark: values.pop(mark) for mark in MARKS}
    arrays = {item: np.asarray(group[item][()]) for item in group}
    return Record.stored(name, marks["fingerprint"], arrays, values), marks["checksum"]


def _strided(
    data: bytes | bytearray | memoryview,
    base: np.dtype[Any],
    shape: tuple[int, ...],
    offset: int,
    count: int,
    stride: int,
) -> NDArray[Any]:
    """A column of a matrix of rows, as a view."""
    inner = np.empty(shape, base).strides
    return np.ndarray((count, *shape), base, data, offset, (stride, *inner))


def _pieces(segments: Any) -> Iterator[Segment]:
    for segment in segments:
        for start in range(0, len(segment), CHUNK_ROWS):
            yield segment.take(slice(start, start + CHUNK_ROWS))


def _linked(segment: Segment, unlinked: Collection[bytes]) -> Any:
    """Which of these records get a name in the root group."""
    if not unlinked:
        return slice(None)
    return ~np.isin(segment.rows["key"], np.array(sorted(unlinked)))


def _write_chunk(
    file: BlockWriter, segment: Segment, template: Template
) -> tuple[dict[str, Any], NDArray[np.uint64]]:
    """Append one chunk; its directory entry, and the address of each record's group."""
    rows, count, stride = segment.rows, len(segment), len(template.data)
    columns = [
        np.full(count, template.constants[name]) if name in template.constants else rows[name]
        for name in template.texts
    ]
    texts = heaps.pack(columns)
    heap_at = file.align()
    file.append(texts.data)
    keys = np.ascontiguousarray(rows["key"])
    keys_at = file.append(keys.tobytes())
    starts_at = file.append(texts.starts.tobytes())
    rows_at = file.align()
    matrix = np.empty((count, stride), np.uint8)
    matrix[:] = np.frombuffer(template.data, np.uint8)
    buffer = matrix.reshape(-1).data
    for name, offset in template.values.items():
        base, shape = rows.dtype[name].base, rows.dtype[name].shape
        _strided(buffer, base, shape, offset, count, stride)[...] = rows[name]
    for number, offset in enumerate(template.texts.values()):
        reference = np.ndarray((count,), heaps.REFERENCE, buffer, offset, (stride,))
        reference["length"], reference["index"] = texts.lengths[:, number], texts.numbers[:, number]
        reference["address"] = texts.addresses + np.uint64(heap_at)
    headers = rows_at + np.arange(count, dtype=np.uint64) * np.uint64(stride)
    for offset, inside in template.addresses.items():
        np.ndarray((count,), "<u8", buffer, offset, (stride,))[...] = headers + np.uint64(inside)
    file.append(buffer)
    entry = {
        "count": count,
        "texts": [heap_at, len(texts.data)],
        "widths": [max(1, int(longest)) for longest in texts.lengths.max(axis=0, initial=1)],
        "keys": keys_at,
        "key_width": keys.dtype.itemsize,
        "starts": starts_at,
        "rows": rows_at,
    }
    return entry, headers


def _write_root(file: BlockWriter, groups: _Groups, root: Mapping[str, Attribute]) -> bytes:
    """Append the root group: names, symbol table, B-tree, attributes. The superblock to put in front."""
    names = np.concatenate(groups.names)
    order = np.argsort(names, kind="stable")
    heap_at = file.align()
    heap, offsets = encoding.local_heap(names[order].tolist(), heap_at)
    file.append(heap)
    children, last_names = _NOTHING, offsets
    if len(offsets):
        addresses = (np.concatenate(part)[order] for part in (groups.headers, groups.trees, groups.heaps))
        nodes, last = encoding.symbol_nodes(offsets, *addresses)
        children = _addresses(file.align(), len(nodes), nodes.shape[1])
        file.append(nodes.tobytes())
        last_names = offsets[last]
    tree_at, level = 0, 0
    while level == 0 or len(children) > 1:
        tree_at = file.align()
        made, last = encoding.tree_level(level, children, last_names, tree_at)
        file.append(b"".join(made))
        level += 1
        last_names = last_names[last] if len(children) else last_names
        children = _addresses(tree_at, len(made), len(made[0]))
    root_at = _write_root_header(file, root, tree_at, heap_at)
    return encoding.superblock(file.position, root_at, tree_at, heap_at)


def _addresses(first: int, count: int, size: int) -> NDArray[np.uint64]:
    return np.uint64(first) + np.arange(count, dtype=np.uint64) * np.uint64(size)


def _write_root_header(file: BlockWriter, root: Mapping[str, Attribute], tree_at: int, heap_at: int) -> int:
    template = root_template(root)
    header = bytearray(template.data)
    if template.texts:
        texts = heaps.pack([np.array([str(root[name]).encode()]) for name in template.texts])
        texts_at = np.uint64(file.align())
        file.append(texts.data)
        for number, offset in enumerate(template.texts.values()):
            reference = np.ndarray((1,), heaps.REFERENCE, header, offset)
            reference["length"], reference["index"] = texts.lengths[:, number], texts.numbers[:, number]
            reference["address"] = texts.addresses + texts_at
    root_at = file.align()
    pointers = {at: root_at + inside for at, inside in template.addresses.items()}
    for at, target in {**pointers, template.tree: tree_at, template.heap: heap_at}.items():
        header[at : at + 8] = target.to_bytes(8, "little")
    file.append(header)
    return root_at
