"""The bytes of the HDF5 structures that the classic layout is made of.

Written from the HDF5 File Format Specification, version 3.0 (sections II.A superblock, III.A.1 B-tree,
III.B symbol table node, III.D local heap, III.E global heap, IV object headers). Making a group with a dozen
attributes through the library costs about a millisecond; filling in these bytes, a few microseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vindeby.store.lookup3 import lookup3_bytes

UNDEFINED = 0xFFFFFFFFFFFFFFFF
LEAF_K = 16
INTERNAL_K = 32
SUPERBLOCK_SIZE = 96
TEXT = bytes.fromhex("1901010010000000100000000100000000000800")
"""The datatype message of text of any length, as h5py writes it for a str; on disk a value has 16 bytes."""

_COMMON_TYPES = {
    "<f8": bytes.fromhex("11203f000800000000004000340b0034ff030000"),
    "<i8": bytes.fromhex("100800000800000000004000"),
    "|b1": bytes.fromhex("180200000100000010080000010000000000080046414c534500000054525545000000000001"),
}
"""The datatype messages of what most records are made of, so that reading those needs no HDF5 library."""

TEXT_REFERENCE = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
"""How a value of that type is stored: a reference into a global heap collection."""

_MINIMUM_COLLECTION = 4096


def padded(data: bytes, multiple: int = 8) -> bytes:
    """Filled up with zeros."""
    return data + bytes(-len(data) % multiple)


def datatype(dtype: np.dtype[np.generic]) -> bytes:
    """The datatype message of a number or boolean."""
    known = _COMMON_TYPES.get(dtype.str)
    if known is not None:
        return known
    import h5py  # only for rare types: loading it takes as long as reading thousands of records

    return bytes(h5py.h5t.py_create(dtype, logical=True).encode()[2:])


def dataspace(shape: tuple[int, ...]) -> bytes:
    """The dataspace message (version 2) of a scalar or a simple array."""
    return struct.pack("<BBBB", 2, len(shape), 0, 1 if shape else 0) + struct.pack(f"<{len(shape)}Q", *shape)


def attribute_message(name: str, type_message: bytes, value: bytes) -> bytes:
    """A scalar attribute (message version 3); the value comes last."""
    text = name.encode() + b"\0"
    space = dataspace(())
    return struct.pack("<BBHHHB", 3, 0, len(text), len(type_message), len(space), 1) + (
        text + type_message + space + value
    )


def link_message(name: str) -> bytes:
    """A hard link whose address, the last eight bytes, is still to be filled in."""
    text = name.encode()
    if len(text) < 256:
        return struct.pack("<BBBB", 1, 0x10, 1, len(text)) + text + bytes(8)
    return struct.pack("<BBBH", 1, 0x11, 1, len(text)) + text + bytes(8)


LINK_INFO = struct.pack("<BBQQ", 0, 0, UNDEFINED, UNDEFINED)
GROUP_INFO = bytes(2)
FILL_VALUE = bytes((3, 0x0A))
CONTIGUOUS_PREFIX = bytes((3, 1))


def header(messages: Sequence[tuple[int, bytes]]) -> bytes:
    """An object header (version 2) with its checksum."""
    body = b"".join(struct.pack("<BHB", kind, len(data), 0) + data for kind, data in messages)
    data = b"OHDR" + struct.pack("<BBI", 2, 2, len(body)) + body
    return data + struct.pack("<I", lookup3_bytes(data))


def root_header(tree: int, heap: int, attributes: Sequence[bytes]) -> bytes:
    """The root group's object header (version 1): a symbol table and attributes."""
    messages = [(0x11, struct.pack("<QQ", tree, heap)), *((0x0C, data) for data in attributes)]
    body = b"".join(
        struct.pack("<HHBBH", kind, len(padded(data)), 0, 0, 0) + padded(data) for kind, data in messages
    )
    return struct.pack("<BBHIII", 1, 0, len(messages), 1, len(body), 0) + body


def superblock(end: int, root: int, tree: int, heap: int) -> bytes:
    """A superblock of version 0, which every HDF5 library reads."""
    return (
        b"\x89HDF\r\n\x1a\n"
        + struct.pack("<BBBBBBBBHHI", 0, 0, 0, 0, 0, 8, 8, 0, LEAF_K, INTERNAL_K, 0)
        + struct.pack("<QQQQ", 0, UNDEFINED, end, UNDEFINED)
        + struct.pack("<QQIIQQ", 0, root, 1, 0, tree, heap)
    )


def collection(texts: Sequence[bytes]) -> bytes:
    """A global heap collection holding these texts as objects 1, 2, ..."""
    parts = [
        struct.pack("<HHIQ", number, 1, 0, len(text)) + text + bytes(-len(text) % 8)
        for number, text in enumerate(texts, 1)
    ]
    body = b"".join(parts)
    size = max(_MINIMUM_COLLECTION, -(-(16 + len(body) + 16) // 8) * 8)
    free = size - 16 - len(body)
    return (
        b"GCOL"
        + struct.pack("<BBHQ", 1, 0, 0, size)
        + body
        + padded(struct.pack("<HHIQ", 0, 0, 0, free), free)
    )


def collection_texts(data: bytes) -> list[bytes]:
    """The texts of a collection, back; object 1 comes first."""
    texts, at = [], 16
    while at + 16 <= len(data):
        index, _, _, length = struct.unpack_from("<HHIQ", data, at)
        if index == 0:
            break
        texts.append(data[at + 16 : at + 16 + length])
        at += 16 + -(-length // 8) * 8
    return texts


def local_heap(names: Sequence[bytes], address: int) -> tuple[bytes, NDArray[np.uint64]]:
    """A local heap at this address, and where in it each name begins; offset 0 is the empty name."""
    lengths = np.array([len(name) // 8 * 8 + 8 for name in names], np.uint64)
    offsets = np.concatenate([[8], 8 + np.cumsum(lengths)]).astype("<u8")
    data = bytes(8) + b"".join(name + bytes(8 - len(name) % 8) for name in names)
    head = b"HEAP" + struct.pack("<BBHQQQ", 0, 0, 0, len(data), 1, address + 32)
    return head + data, offsets[:-1]


def symbol_nodes(offsets: NDArray[np.uint64], addresses: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The symbol table nodes of names in sorted order, one a row."""
    entry = np.dtype([("name", "<u8"), ("header", "<u8"), ("rest", "V24")])
    node = np.dtype(
        [("sign", "S4"), ("version", "u1"), ("none", "u1"), ("used", "<u2"), ("of", entry, 2 * LEAF_K)]
    )
    count = max(1, -(-len(offsets) // (2 * LEAF_K)))
    nodes = np.zeros(count, node)
    nodes["sign"], nodes["version"] = b"SNOD", 1
    used = np.full(count, 2 * LEAF_K)
    used[-1] = len(offsets) - (count - 1) * 2 * LEAF_K
    nodes["used"] = used
    flat = np.zeros(count * 2 * LEAF_K, entry)
    flat["name"][: len(offsets)], flat["header"][: len(offsets)] = offsets, addresses
    nodes["of"] = flat.reshape(count, 2 * LEAF_K)
    return nodes.view(np.uint8).reshape(count, node.itemsize)


def tree_level(
    level: int, children: NDArray[np.uint64], last_names: NDArray[np.uint64], address: int
) -> list[bytes]:
    """The B-tree nodes above these children, each child known by its last name; they stand one after another."""
    width = 2 * INTERNAL_K
    size = 24 + (width + 1) * 8 + width * 8
    count = max(1, -(-len(children) // width))
    nodes = []
    for number in range(count):
        part = slice(number * width, (number + 1) * width)
        kids, keys = children[part], last_names[part]
        first = 0 if number == 0 else int(last_names[number * width - 1])
        left = UNDEFINED if number == 0 else address + (number - 1) * size
        right = UNDEFINED if number == count - 1 else address + (number + 1) * size
        pairs = np.column_stack([kids, keys]).astype("<u8").tobytes()
        data = b"TREE" + struct.pack("<BBHQQQ", 0, level, len(kids), left, right, first) + pairs
        nodes.append(data + bytes(size - len(data)))
    return nodes
