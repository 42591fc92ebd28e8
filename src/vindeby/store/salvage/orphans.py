"""Finds the groups in the bytes of a damaged HDF5 file, without following a single link.

The names in a root group are often the last thing to reach the disk: a file that was cut, or whose writer was
killed, can hold every byte of a record that no path leads to any more. Object headers can be recognised by
themselves: those of version 2 by signature and checksum, those of version 1 by their shape and by a symbol
table message that leads to a B-tree and a heap. What is found here is only a candidate; the HDF5 library
reads it, in a guarded child, with the candidate put in the place of the root group.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator
from mmap import mmap
from typing import TypeAlias

from vindeby.store.lookup3 import lookup3_bytes

Bytes: TypeAlias = bytes | mmap

_EFFORT, _LEAST_EFFORT = 4, 1 << 20
_VERSION_1 = re.compile(rb"\x01\x00.[\x00-\x03]\x01\x00\x00\x00..[\x00-\x0f]\x00\x00\x00\x00\x00", re.DOTALL)
_SYMBOL_TABLE, _CONTINUATION, _LINK_INFO, _LINK, _LAYOUT = 0x11, 0x10, 0x02, 0x06, 0x08


def group_addresses(data: Bytes, known: Collection[int] = ()) -> list[int]:
    """Where object headers of groups seem to be, in the order of the file, apart from those that are known.

    The work is bounded by the size of the file: bytes that were made to look like headers cannot multiply it.
    """
    effort = _Effort(_LEAST_EFFORT + _EFFORT * len(data))
    return sorted({*_version_1(data, known, effort), *_version_2(data, known, effort)})


class _Effort:
    """How many bytes of headers may still be looked at."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, size: int) -> bool:
        self.left -= size
        return self.left >= 0


def _version_1(data: Bytes, known: Collection[int], effort: _Effort) -> Iterator[int]:
    at = 0
    while (found := _VERSION_1.search(data, at)) is not None:
        at = found.start() + 1
        if found.start() not in known and _has_symbol_table(data, found.start(), effort):
            yield found.start()


def _has_symbol_table(data: Bytes, start: int, effort: _Effort) -> bool:
    """Does a header, with the blocks it is continued in, name a B-tree and a heap that are there?"""
    _, _, count, _, size = struct.unpack_from("<BBHII", data, start)
    blocks = [(start + 16, size)]
    while blocks and count > 0:
        at, length = blocks.pop(0)
        end = min(at + length, len(data))
        while at + 8 <= end and count > 0 and effort.spend(8):
            kind, size = struct.unpack_from("<HH", data, at)
            body = data[at + 8 : min(at + 8 + size, end)]
            if kind == _SYMBOL_TABLE and len(body) >= 16:
                tree, heap = struct.unpack_from("<QQ", body)
                return data[tree : tree + 4] == b"TREE" and data[heap : heap + 4] == b"HEAP"
            if kind == _CONTINUATION and len(body) >= 16:
                blocks.append(struct.unpack_from("<QQ", body))
            at, count = at + 8 + size, count - 1
    return False


def _version_2(data: Bytes, known: Collection[int], effort: _Effort) -> Iterator[int]:
    at = -1
    while (at := data.find(b"OHDR", at + 1)) >= 0:
        if at not in known and _is_group(data, at, effort):
            yield at


def _is_group(data: Bytes, start: int, effort: _Effort) -> bool:
    """Has a version 2 header the messages of a group, and the checksum that it states?"""
    try:
        version, flags = data[start + 4], data[start + 5]
        at = start + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        size = int.from_bytes(data[at : at + width], "little")
        at += width
        end = at + size
        (stated,) = struct.unpack_from("<I", data, end)
    except (IndexError, struct.error):
        return False
    if version != 2 or not effort.spend(end - start):
        return False
    kinds = set()
    while at + 4 <= end:
        kinds.add(data[at])
        at += 4 + int.from_bytes(data[at + 1 : at + 3], "little") + (2 if flags & 0x04 else 0)
    looks_right = _LAYOUT not in kinds and bool({_LINK_INFO, _LINK} & kinds)
    return looks_right and lookup3_bytes(data[start:end]) == stated
