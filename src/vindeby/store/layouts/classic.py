"""The classic layout: one group a record, as readers of such databases expect it.

Group ``KEY`` holds one dataset an array and one attribute an attribute, plus ``status``, ``checksum`` and
``fingerprint``. The bytes of a few hundred groups of one schema are made at once from a template (``encoding``
has the HDF5 structures); any HDF5 library from 1.8 on reads them. A chunk stands in the file as: the texts
of its attributes (a global heap collection), its keys, then one row of fixed length a record.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.blockfile import BlockWriter
from vindeby.store.layouts import encoding
from vindeby.store.layouts.base import SAMPLE, Content, Layout, directory_of
from vindeby.store.lookup3 import lookup3
from vindeby.store.record import Attribute, Record
from vindeby.store.rows import Schema, Segment, array_field, attribute_field, checksum_of
from vindeby.store.seal import SealedFile

if TYPE_CHECKING:
    import h5py

CHUNK_ROWS = 512
_MARKS = ("status", "checksum", "fingerprint")


@dataclass(frozen=True)
class Template:
    """The bytes of one record's group with every place that differs from record to record."""

    data: bytes
    values: dict[str, int]
    texts: dict[str, int]
    addresses: dict[int, int]
    headers: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, schema: Schema) -> Template:
        """The template of a schema."""
        maker = _TemplateMaker()
        maker.group(schema)
        return cls(bytes(maker.data), maker.values, maker.texts, maker.addresses, tuple(maker.headers))


@lru_cache(maxsize=256)
def _template(schema: Schema) -> Template:
    """The chunks of a file have few schemas among them."""
    return Template.of(schema)


@lru_cache(maxsize=256)
def _row_type(schema: Schema, widths: tuple[int, ...]) -> np.dtype[Any]:
    return schema.row_type(dict(zip(schema.text_fields, widths, strict=True)))


class _TemplateMaker:
    def __init__(self) -> None:
        self.data = bytearray()
        self.values: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.addresses: dict[int, int] = {}
        self.headers: list[tuple[int, int]] = []

    def group(self, schema: Schema) -> None:
        messages = [(0x02, encoding.LINK_INFO), (0x0A, encoding.GROUP_INFO)]
        messages += [(0x06, encoding.link_message(name)) for name, _, _ in schema.arrays]
        fields: list[tuple[str, str]] = [(mark, "str") for mark in _MARKS]
        fields += [(attribute_field(name), kind) for name, kind in schema.attributes]
        messages += [(0x0C, _attribute(field, kind)) for field, kind in fields]
        ends = self._header(messages)
        links = ends[2 : 2 + len(schema.arrays)]
        for (field, kind), end in zip(fields, ends[2 + len(schema.arrays) :], strict=True):
            if kind == "str":
                self.texts[field] = end - encoding.TEXT_REFERENCE.itemsize
            else:
                self.values[field] = end - np.dtype(_TYPES[kind]).itemsize
        for (name, dtype, shape), link in zip(schema.arrays, links, strict=True):
            self.addresses[link - 8] = len(self.data)
            self._dataset(name, dtype, shape)

    def _dataset(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        place = encoding.UNDEFINED if size == 0 else 0
        messages = [
            (0x01, encoding.dataspace(shape)),
            (0x03, encoding.datatype(np.dtype(dtype))),
            (0x05, encoding.FILL_VALUE),
            (0x08, encoding.CONTIGUOUS_PREFIX + struct.pack("<QQ", place, size)),
        ]
        end = self._header(messages)[-1]
        if size:
            self.addresses[end - 16] = len(self.data)
            self.values[array_field(name)] = len(self.data)
            self.data += encoding.padded(bytes(size))

    def _header(self, messages: list[tuple[int, bytes]]) -> list[int]:
        """Append an object header; where each message's data ends."""
        start = len(self.data)
        data = encoding.header(messages)
        ends, at = [], start + 10
        for _, message in messages:
            at += 4 + len(message)
            ends.append(at)
        self.headers.append((start, start + len(data) - 4))
        self.data += encoding.padded(data)
        return ends


_TYPES = {"int": "<i8", "float": "<f8", "bool": "|b1"}


def _attribute(field: str, kind: str) -> bytes:
    name = field.removeprefix("attribute:")
    if kind == "str":
        return encoding.attribute_message(name, encoding.TEXT, bytes(encoding.TEXT_REFERENCE.itemsize))
    dtype = np.dtype(_TYPES[kind])
    return encoding.attribute_message(name, encoding.datatype(dtype), bytes(dtype.itemsize))


class ClassicLayout(Layout):
    """A group a record."""

    name: ClassVar[str] = "classic"

    def write(self, path: Path, content: Content) -> None:
        """Write a new sealed file and force it to the disk."""
        templates = {schema: Template.of(schema) for schema in content.schemas}
        numbers = {schema: number for number, schema in enumerate(content.schemas)}
        chunks: list[dict[str, Any]] = []
        keys: list[NDArray[np.bytes_]] = []
        addresses: list[NDArray[np.uint64]] = []
        with BlockWriter(path) as file:
            file.append(bytes(encoding.SUPERBLOCK_SIZE))
            for segment in _pieces(content.segments):
                entry, places = _write_chunk(file, segment, templates[segment.schema])
                chunks.append({"schema": numbers[segment.schema], **entry})
                keys.append(segment.rows["key"].copy())  # a view would keep all rows in memory
                addresses.append(places)
            head = _write_root(file, keys, addresses, content.root)
            schemas = [schema.to_json() for schema in content.schemas]
            file.finish(head, directory_of(self, content, {"schemas": schemas, "chunks": chunks}))

    def look(self, path: Path, count: int) -> None:
        """List every group and read some of them through the HDF5 library."""
        import h5py  # only here: what is sealed is read without HDF5, and need not wait for it

        with h5py.File(path, "r", locking=False) as file:
            names = list(file)
            if len(names) != count:
                raise StorageError(f"{path}: HDF5 sees {len(names)} groups, not {count}; nothing was changed")
            for name in names[:: max(1, count // SAMPLE)]:
                record, stated = read_group(name, file[name])
                if checksum_of(record) != stated:
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
        entry = file.seal.directory["chunks"][number]
        schema = Schema.from_json(file.seal.directory["schemas"][entry["schema"]])
        template = _template(schema)
        stride, count = len(template.data), entry["count"]
        data = file.read(entry["rows"], count * stride)
        texts = np.array([b"", *encoding.collection_texts(file.read(*entry["texts"]))])
        lengths = np.char.str_len(texts)
        columns: dict[str, NDArray[Any]] = {"key": self.read_keys(file, number)}
        widths = {"key": max(1, int(np.char.str_len(columns["key"]).max(initial=1)))}
        for field, offset in template.texts.items():
            if fields is not None and field not in fields:
                continue
            index = np.ndarray((count,), encoding.TEXT_REFERENCE, data, offset, (stride,))["index"]
            columns[field] = np.take(texts, index, mode="clip")
            widths[field] = max(1, int(np.take(lengths, index, mode="clip").max(initial=1)))
        row_type = _row_type(schema, tuple(widths.get(field, 1) for field in schema.text_fields))
        for field, offset in template.values.items():
            if fields is None or field in fields:
                base, shape = row_type[field].base, row_type[field].shape
                columns[field] = _strided(data, base, shape, offset, count, stride)
        rows = np.zeros(count, row_type if fields is None else [(name, row_type[name]) for name in columns])
        for field, values in columns.items():
            rows[field] = values
        return [Segment(schema, rows)]


def read_group(name: str, group: h5py.Group) -> tuple[Record, str]:
    """A record of ours as the HDF5 library gives it, and the checksum it states."""
    values = {key: group.attrs[key] for key in group.attrs}
    marks = {mark: values.pop(mark) for mark in _MARKS}
    arrays = {item: np.asarray(group[item][()]) for item in group}
    return Record.stored(name, marks["fingerprint"], arrays, values), marks["checksum"]


def _strided(
    data: bytes | bytearray, base: np.dtype[Any], shape: tuple[int, ...], offset: int, count: int, stride: int
) -> NDArray[Any]:
    """A column of a matrix of rows, as a view."""
    inner = np.empty(shape, base).strides
    return np.ndarray((count, *shape), base, data, offset, (stride, *inner))


def _pieces(segments: Any) -> Iterator[Segment]:
    for segment in segments:
        for start in range(0, len(segment), CHUNK_ROWS):
            yield segment.take(slice(start, start + CHUNK_ROWS))


def _write_chunk(
    file: BlockWriter, segment: Segment, template: Template
) -> tuple[dict[str, Any], NDArray[np.uint64]]:
    """Append one chunk; its directory entry, and the address of each record's group."""
    rows, count, stride = segment.rows, len(segment), len(template.data)
    texts, references = _pool(rows, list(template.texts))
    heap = encoding.collection(texts)
    heap_at = file.align()
    file.append(heap)
    keys = np.ascontiguousarray(rows["key"])
    keys_at = file.append(keys.tobytes())
    rows_at = file.align()
    matrix = np.empty((count, stride), np.uint8)
    matrix[:] = np.frombuffer(template.data, np.uint8)
    buffer = matrix.reshape(-1).data
    for field, offset in template.values.items():
        base, shape = rows.dtype[field].base, rows.dtype[field].shape
        _strided(buffer, base, shape, offset, count, stride)[...] = rows[field]  # type: ignore[arg-type]
    for field, offset in template.texts.items():
        reference = np.ndarray((count,), encoding.TEXT_REFERENCE, buffer, offset, (stride,))
        reference["length"], reference["index"] = references[field]
        reference["address"] = np.where(reference["length"] > 0, heap_at, 0)
    base_addresses = rows_at + np.arange(count, dtype=np.uint64) * np.uint64(stride)
    for offset, inside in template.addresses.items():
        np.ndarray((count,), "<u8", buffer, offset, (stride,))[...] = base_addresses + np.uint64(inside)
    for start, stop in template.headers:
        checksums = lookup3(matrix[:, start:stop])
        np.ndarray((count,), "<u4", buffer, stop, (stride,))[...] = checksums
    file.append(memoryview(buffer))
    entry = {
        "count": count,
        "texts": [heap_at, len(heap)],
        "keys": keys_at,
        "key_width": keys.dtype.itemsize,
        "rows": rows_at,
    }
    return entry, base_addresses


def _pool(rows: NDArray[Any], fields: list[str]) -> tuple[list[bytes], dict[str, tuple[Any, Any]]]:
    """The distinct texts of a chunk, and for each field the length and number of every row's text."""
    texts: list[bytes] = []
    references = {}
    for field in fields:
        distinct, codes = np.unique(rows[field], return_inverse=True)
        lengths = np.char.str_len(distinct)
        numbers = np.zeros(len(distinct), np.uint32)
        for place, (text, length) in enumerate(zip(distinct.tolist(), lengths.tolist(), strict=True)):
            if length:
                texts.append(text)
                numbers[place] = len(texts)
        references[field] = (lengths[codes], numbers[codes])
    return texts, references


def _write_root(
    file: BlockWriter,
    keys: list[NDArray[np.bytes_]],
    addresses: list[NDArray[np.uint64]],
    root: Mapping[str, Attribute],
) -> bytes:
    """Append the root group: names, symbol table, B-tree, attributes. The superblock to put in front."""
    names = np.concatenate(keys) if keys else np.empty(0, "S1")
    order = np.argsort(names, kind="stable")
    heap_at = file.align()
    heap, offsets = encoding.local_heap(names[order].tolist(), heap_at)
    file.append(heap)
    children, last_names = np.empty(0, np.uint64), offsets
    if len(offsets):
        nodes = encoding.symbol_nodes(offsets, np.concatenate(addresses)[order])
        at = file.align()
        file.append(nodes.tobytes())
        children = at + np.arange(len(nodes), dtype=np.uint64) * np.uint64(nodes.shape[1])
        ends = np.arange(1, len(nodes) + 1) * 2 * encoding.LEAF_K
        last_names = offsets[np.minimum(ends, len(offsets)) - 1]
    tree_at, level = 0, 0
    while level == 0 or len(children) > 1:
        at = file.align()
        made = encoding.tree_level(level, children, last_names, at)
        file.append(b"".join(made))
        tree_at, level = at, level + 1
        children = at + np.arange(len(made), dtype=np.uint64) * np.uint64(len(made[0]))
        ends = np.arange(1, len(made) + 1) * 2 * encoding.INTERNAL_K
        last_names = last_names[np.minimum(ends, len(last_names)) - 1] if len(last_names) else last_names
    root_at = _write_root_header(file, root, tree_at, heap_at)
    return encoding.superblock(file.position, root_at, tree_at, heap_at)


def _write_root_header(file: BlockWriter, root: Mapping[str, Attribute], tree_at: int, heap_at: int) -> int:
    texts = [value.encode() for value in root.values() if isinstance(value, str) and value]
    collection_at = file.align()
    file.append(encoding.collection(texts))
    messages, number = [], 0
    for name, value in root.items():
        if isinstance(value, str):
            number += bool(value)
            reference = (
                struct.pack("<IQI", len(value.encode()), collection_at, number) if value else bytes(16)
            )
            messages.append(encoding.attribute_message(name, encoding.TEXT, reference))
        else:
            scalar = np.array(value, _TYPES[type(value).__name__])
            messages.append(
                encoding.attribute_message(name, encoding.datatype(scalar.dtype), scalar.tobytes())
            )
    root_at = file.align()
    file.append(encoding.root_header(tree_at, heap_at, messages))
    return root_at
