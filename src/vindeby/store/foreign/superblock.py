"""The start of an HDF5 file, read and changed without the HDF5 library.

The cheap checks (size, signature, the superblock's own idea of where the file ends, its write flags) find
what a crash usually leaves.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from vindeby.store.disk.files import open_regular, stored_ranges
from vindeby.store.format.finding import Finding, Verdict

SIGNATURE = b"\x89HDF\r\n\x1a\n"
SMALLEST = 96
"""The bytes of the smallest superblock together with a root group entry."""

_HEAD = 4096
_MIX = ((0, 2, 4), (1, 0, 6), (2, 1, 8), (0, 2, 16), (1, 0, 19), (2, 1, 4))
_FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
_WORD = 0xFFFFFFFF


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _WORD


def lookup3_bytes(data: bytes) -> int:
    """Return the checksum of HDF5's metadata: lookup3 of Bob Jenkins."""
    state = [(0xDEADBEEF + len(data)) & _WORD] * 3
    words = struct.unpack(f"<{-(-len(data) // 12) * 3}I", data + bytes(-len(data) % 12))
    for at in range(0, len(words), 3):
        state = [(one + word) & _WORD for one, word in zip(state, words[at : at + 3], strict=True)]
        for target, source, bits in _MIX if at + 3 < len(words) else _FINAL:
            if at + 3 < len(words):
                # a -= c; a ^= rot(c, k); c += b, with the three taking turns
                state[target] = (state[target] - state[source] & _WORD) ^ _rotate(state[source], bits)
                state[source] = state[source] + state[3 - target - source] & _WORD
            else:
                state[target] = (state[target] ^ state[source]) - _rotate(state[source], bits) & _WORD
    return state[2]


@dataclass(frozen=True)
class Superblock:
    """The addresses of a file's end and root group as its superblock states them, and their positions in the file."""

    offset: int
    version: int
    end_at: int
    root_at: int
    flags: int
    end: int

    @property
    def marked_open(self) -> bool:
        """Return whether the superblock has the mark of a writer; only version 3 has one that counts."""
        return self.version == 3 and self.flags & 0b101 != 0


_PLACES = {0: (40, 64), 1: (44, 68), 2: (28, 36), 3: (28, 36)}
"""The offsets of the end address and the root group address, by version."""


def read_superblock(head: bytes) -> Superblock | None:
    """Return the superblock in the first bytes of a file; None when there is none that makes sense."""
    for offset in (0, 512, 1024, 2048):
        if head[offset : offset + 8] == SIGNATURE:
            version = head[offset + 8] if len(head) >= offset + SMALLEST else None
            if version not in _PLACES:
                return None
            end_at, root_at = (offset + place for place in _PLACES[version])
            (end,) = struct.unpack_from("<Q", head, end_at)
            return Superblock(offset, version, end_at, root_at, head[offset + 11], end)
    return None


def patched_superblock(
    head: bytes, block: Superblock, *, end: int | None = None, root: int | None = None
) -> bytes:
    """Return the first bytes of a file with the write flags cleared, and another end or root group if given."""
    data = bytearray(head)
    if end is not None:
        struct.pack_into("<Q", data, block.end_at, end)
    if root is not None:
        struct.pack_into("<Q", data, block.root_at, root)
        if block.version < 2:  # no cached symbol table: the library shall look into the header
            data[block.root_at + 8 : block.root_at + 32] = bytes(24)
    if block.version >= 2:
        data[block.offset + 11] = 0
        checksum = lookup3_bytes(bytes(data[block.offset : block.offset + 44]))
        struct.pack_into("<I", data, block.offset + 44, checksum)
    return bytes(data)


LOST_HEAD = struct.pack("<8s8BHHIQqQq40x", SIGNATURE, 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0, 0, -1, 0, -1)
LOST = Superblock(0, 0, 40, 64, 0, 0)
"""A superblock of version 0, without end and root, for a file that lost its own."""


@dataclass(frozen=True)
class Probe:
    """A file seen from outside; ``finding`` is the problem that the cheap checks found."""

    finding: Finding | None
    size: int = 0
    stored: int = 0
    """The bytes that are on the disk: the size without holes."""
    head: bytes = b""
    block: Superblock | None = None

    @property
    def bytes_behind(self) -> int:
        """The number of bytes after the HDF5 part; a program that changes a file through HDF5 leaves none."""
        return 0 if self.block is None else self.size - self.block.end


def probe(path: Path) -> Probe:
    """Look at a file from outside."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            head, size = file.read(_HEAD), file.seek(0, os.SEEK_END)
            stored = sum(end - start for start, end in stored_ranges(file.fileno()))
    except FileNotFoundError:
        return Probe(Finding(Verdict.MISSING))
    except OSError as error:
        return Probe(Finding(Verdict.CANNOT_OPEN, error.strerror or str(error)))
    block = read_superblock(head)
    return Probe(_check(head, size, block), size, stored, head, block)


def _check(head: bytes, size: int, block: Superblock | None) -> Finding | None:
    if size == 0:
        return Finding(Verdict.EMPTY)
    if size < SMALLEST:
        short = SIGNATURE.startswith(head[:8]) or head.startswith(SIGNATURE)
        return Finding(Verdict.TOO_SHORT if short else Verdict.NO_SIGNATURE, f"{size} bytes")
    if block is None and SIGNATURE in head:
        return Finding(Verdict.CANNOT_OPEN, "the superblock makes no sense")
    if block is None:
        what = "this is not an HDF5 file, or its first bytes were never written"
        return Finding(Verdict.NO_SIGNATURE, what)
    if block.end > size:
        return Finding(Verdict.TRUNCATED, f"{size} bytes of {block.end}")
    if block.marked_open:
        return Finding(Verdict.LEFT_OPEN, "its writer did not close it")
    return None
