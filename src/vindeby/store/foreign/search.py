"""The search for groups in the bytes of a file whose own paths no longer lead to them."""

import os
import re
import struct
from collections.abc import Collection

from vindeby.store.disk.files import read_fully, stored_ranges
from vindeby.store.foreign.superblock import lookup3_bytes

_EFFORT, _LEAST_EFFORT = 4, 1 << 20
_WINDOW, _OVERLAP = 1 << 24, 32
_HEADERS = (
    re.compile(rb"\x01\x00(?=.[\x00-\x03]\x01\x00\x00\x00..[\x00-\x0f]\x00{5})", re.DOTALL),
    re.compile(rb"OHDR"),
)
_SYMBOL_TABLE, _CONTINUATION, _LINK_INFO, _LINK, _LAYOUT = 0x11, 0x10, 0x02, 0x06, 0x08


def group_addresses(descriptor: int, known: Collection[int] = ()) -> list[int]:
    """Return the addresses of apparent object headers of groups, except known ones; holes are not searched.

    The work is bounded by the bytes that are stored: those that were made to look like headers cannot multiply it.
    """
    search, found = _Search(descriptor), set[int]()
    for start, end in stored_ranges(descriptor):
        search.left += _EFFORT * (end - start)
        for at in range(start, end, _WINDOW):
            window = read_fully(descriptor, min(_WINDOW, end - at) + _OVERLAP, at)
            places = {at + match.start() for header in _HEADERS for match in header.finditer(window)}
            found.update(filter(search.is_group, places.difference(known)))
    return sorted(found)


class _Search:
    """A search in a file that may become shorter meanwhile; ``left`` is how many bytes of headers it may look at."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._size = descriptor, os.fstat(descriptor).st_size
        self.left = _LEAST_EFFORT

    def is_group(self, start: int) -> bool:
        try:
            is_version_2 = self._bytes(start, 4) == b"OHDR"
            return self._is_version_2(start) if is_version_2 else self._has_symbol_table(start)
        except (IndexError, struct.error):
            return False

    def _bytes(self, start: int, length: int) -> bytes:
        return read_fully(self._descriptor, length, start) if start < self._size else b""

    def _spend(self, size: int) -> bool:
        self.left -= size
        return self.left >= 0

    def _has_symbol_table(self, start: int) -> bool:
        _, _, count, _, size = struct.unpack("<BBHII", self._bytes(start, 12))
        blocks = [(start + 16, size)]
        while blocks and count > 0:
            at, length = blocks.pop(0)
            end = at + length
            while at + 8 <= end and count > 0 and self._spend(8):
                message = self._bytes(at, 24)
                if len(message) < 8:
                    break
                kind, size = struct.unpack_from("<HH", message)
                body = message[8 : 8 + min(size, end - at - 8)]
                if kind == _SYMBOL_TABLE and len(body) == 16:
                    tree, heap = struct.unpack("<QQ", body)
                    return self._bytes(tree, 4) == b"TREE" and self._bytes(heap, 4) == b"HEAP"
                if kind == _CONTINUATION and len(body) == 16:
                    blocks.append(struct.unpack("<QQ", body))
                at, count = at + 8 + size, count - 1
        return False

    def _is_version_2(self, start: int) -> bool:
        """Return whether a version 2 header has a group's messages and the checksum that it states."""
        first = self._bytes(start, _OVERLAP)
        version, flags = first[4], first[5]
        at = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        end = at + width + int.from_bytes(first[at : at + width], "little")
        if version != 2 or end > _WINDOW or not self._spend(end):
            return False
        data, at = self._bytes(start, end + 4), at + width
        (stated,) = struct.unpack_from("<I", data, end)
        kinds = set()
        while at + 4 <= end:
            kinds.add(data[at])
            at += 4 + int.from_bytes(data[at + 1 : at + 3], "little") + (2 if flags & 0x04 else 0)
        looks_right = _LAYOUT not in kinds and bool({_LINK_INFO, _LINK} & kinds)
        return looks_right and lookup3_bytes(data[:end]) == stated
