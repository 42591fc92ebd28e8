"""The bytes of the HDF5 structures around the records of the classic format: superblock and root group.

Written from the HDF5 File Format Specification, version 3.0 (sections II.A superblock, III.A.1 B-tree, III.B
symbol table node, III.D local heap). Nodes are as large and as full, and the heap has as much room, as the
library leaves them when it is given the same names in sorted order.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

UNDEFINED = 0xFFFFFFFFFFFFFFFF
LEAF_K = 4
INTERNAL_K = 16
SUPERBLOCK_SIZE = 96
_FIRST_HEAP = 88
_FREE_BLOCK = 16
_SPLIT_SHARE = 0.9


def superblock(end: int, root: int, tree: int, heap: int) -> bytes:
    """A superblock of version 0, which every HDF5 library reads."""
    return (
        b"\x89HDF\r\n\x1a\n"
        + struct.pack("<BBBBBBBBHHI", 0, 0, 0, 0, 0, 8, 8, 0, LEAF_K, INTERNAL_K, 0)
        + struct.pack("<QQQQ", 0, UNDEFINED, end, UNDEFINED)
        + struct.pack("<QQIIQQ", 0, root, 1, 0, tree, heap)
    )


def local_heap(names: Sequence[bytes], address: int) -> tuple[bytes, NDArray[np.uint64]]:
    """A local heap at this address, and where in it each name begins; offset 0 is the empty name."""
    lengths = np.array([len(name) // 8 * 8 + 8 for name in names], np.int64)
    ends = 8 + np.cumsum(lengths)
    used = int(ends[-1]) if len(ends) else 8
    free = _heap_size(lengths, ends) - used
    data = bytes(8) + b"".join(name + bytes(8 - len(name) % 8) for name in names)
    first_free = used if free >= _FREE_BLOCK else 1
    rest = struct.pack("<QQ", 1, free) + bytes(free - _FREE_BLOCK) if free >= _FREE_BLOCK else bytes(free)
    head = b"HEAP" + struct.pack("<BBHQQQ", 0, 0, 0, used + free, first_free, address + 32)
    return head + data + rest, (ends - lengths).astype("<u8")


def _heap_size(lengths: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """How far the library's heap grows: it doubles when a name does not fit with room for a free block behind it."""
    size, done = _FIRST_HEAP, 0
    while done < len(ends):
        fits = (ends[done:] <= size - _FREE_BLOCK) | (ends[done:] == size)
        done += len(fits) if fits.all() else int(np.argmin(fits))
        if done < len(ends):
            size += max(size, int(lengths[done]))
            done += 1
    return size


def symbol_nodes(
    offsets: NDArray[np.uint64],
    addresses: NDArray[np.uint64],
    tree: NDArray[np.uint64],
    heap: NDArray[np.uint64],
) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """The symbol table nodes of groups by name in sorted order, one a row; which name is the last of each node.

    ``addresses`` are those of the groups' headers, ``tree`` and ``heap`` of what their own names are kept in.
    """
    entry = np.dtype(
        [
            ("name", "<u8"),
            ("header", "<u8"),
            ("cache", "<u4"),
            ("none", "<u4"),
            ("tree", "<u8"),
            ("heap", "<u8"),
        ]
    )
    node = np.dtype(
        [("sign", "S4"), ("version", "u1"), ("none", "u1"), ("used", "<u2"), ("of", entry, 2 * LEAF_K)]
    )
    used = _shares(len(offsets), 2 * LEAF_K, LEAF_K)
    ends = np.cumsum(used)
    nodes = np.zeros(len(used), node)
    nodes["sign"], nodes["version"], nodes["used"] = b"SNOD", 1, used
    which = np.repeat(np.arange(len(used)), used)
    within = np.arange(len(offsets)) - (ends - used)[which]
    entries = np.zeros(len(offsets), entry)
    entries["name"], entries["header"], entries["cache"] = offsets, addresses, 1
    entries["tree"], entries["heap"] = tree, heap
    nodes["of"][which, within] = entries
    return nodes.view(np.uint8).reshape(len(used), node.itemsize), ends - 1


def tree_level(
    level: int, children: NDArray[np.uint64], last_names: NDArray[np.uint64], address: int
) -> tuple[list[bytes], NDArray[np.intp]]:
    """The B-tree nodes above these children, each child known by its last name; which child is the last of each."""
    size = 24 + 8 + 2 * INTERNAL_K * 16
    used = _shares(len(children), 2 * INTERNAL_K, int(2 * INTERNAL_K * _SPLIT_SHARE))
    ends = np.cumsum(used)
    nodes = []
    for number, (count, end) in enumerate(zip(used.tolist(), ends.tolist(), strict=True)):
        start = end - count
        first = 0 if start == 0 else int(last_names[start - 1])
        left = UNDEFINED if number == 0 else address + (number - 1) * size
        right = UNDEFINED if number == len(used) - 1 else address + (number + 1) * size
        pairs = np.column_stack([children[start:end], last_names[start:end]]).astype("<u8").tobytes()
        data = b"TREE" + struct.pack("<BBHQQQ", 0, level, count, left, right, first) + pairs
        nodes.append(data + bytes(size - len(data)))
    return nodes, ends - 1


def _shares(count: int, most: int, left: int) -> NDArray[np.intp]:
    """How many of ``count`` go into each node, where a full node that gets one more leaves ``left`` behind."""
    splits = max(0, -(-(count - most) // left))
    return np.array([*([left] * splits), count - splits * left])
