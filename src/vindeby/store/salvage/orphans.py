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
from collections.abc import Iterator

from vindeby.store.lookup3 import lookup3_bytes

_VERSION_1 = re.compile(rb"\x01\x00.[\x00-\x03]\x01\x00\x00\x00..[\x00-\x0f]\x00\x00\x00\x00\x00", re.DOTALL)
_SYMBOL_TABLE, _CONTINUATION, _LINK_INFO, _LINK, _LAYOUT = 0x11, 0x10, 0x02, 0x06, 0x08


def group_addresses(data: bytes) -> list[int]:
    """Where object headers of groups seem to stand, in the order of the file."""
    return sorted({*_version_1(data), *_version_2(data)})


def _version_1(data: bytes) -> Iterator[int]:
    at = 0
    while (found := _VERSION_1.search(data, at)) is not None:
        at = found.start() + 1
        if _has_symbol_table(data, found.start()):
            yield found.start()


def _has_symbol_table(data: bytes, start: int) -> bool:
    """Does a header, with the blocks it is continued in, name a B-tree and a heap that are there?"""
    _, _, count, _, size = struct.unpack_from("<BBHII", data, start)
    blocks = [(start + 16, size)]
    while blocks and count > 0:
        at, length = blocks.pop(0)
        end = min(at + length, len(data))
        while at + 8 <= end and count > 0:
            kind, size = struct.unpack_from("<HH", data, at)
            body = data[at + 8 : min(at + 8 + size, end)]
            if kind == _SYMBOL_TABLE and len(body) >= 16:
                tree, heap = struct.unpack_from("<QQ", body)
                return data[tree : tree + 4] == b"TREE" and data[heap : heap + 4] == b"HEAP"
            if kind == _CONTINUATION and len(body) >= 16:
                blocks.append(struct.unpack_from("<QQ", body))
            at, count = at + 8 + size, count - 1
    return False


def _version_2(data: bytes) -> Iterator[int]:
    at = -1
    while (at := data.find(b"OHDR", at + 1)) >= 0:
        messages = _messages(data, at)
        if messages is not None and _LAYOUT not in messages and {_LINK_INFO, _LINK} & messages:
            yield at


def _messages(data: bytes, start: int) -> set[int] | None:
    """The kinds of the messages of a version 2 header; None when its checksum does not hold."""
    try:
        version, flags = data[start + 4], data[start + 5]
        at = start + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        size = int.from_bytes(data[at : at + width], "little")
        at += width
        end = at + size
        (stated,) = struct.unpack_from("<I", data, end)
    except (IndexError, struct.error):
        return None
    if version != 2 or lookup3_bytes(data[start:end]) != stated:
        return None
    kinds = set()
    while at + 4 <= end:
        kinds.add(data[at])
        at += 4 + int.from_bytes(data[at + 1 : at + 3], "little") + (2 if flags & 0x04 else 0)
    return kinds
