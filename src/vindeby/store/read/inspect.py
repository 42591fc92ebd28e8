"""What is wrong with a file, in words a user understands, without letting HDF5 near it.

The cheap checks (size, signature, the superblock's own idea of where the file ends, its write flags) find
what a crash usually leaves. Only a file that passes them is worth a guarded child (``guard``).
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from vindeby.printable import one_line
from vindeby.store.disk.regular_files import open_regular
from vindeby.store.format.hdf5.lookup3 import lookup3_bytes

SIGNATURE = b"\x89HDF\r\n\x1a\n"
SMALLEST = 96
"""The bytes of the smallest superblock together with a root group entry."""


class Verdict(Enum):
    """Why a file or a record cannot be used."""

    MISSING = "missing"
    EMPTY = "empty (0 bytes)"
    TOO_SHORT = "too short"
    NO_SIGNATURE = "no HDF5 signature"
    CANNOT_OPEN = "cannot be opened"
    LEFT_OPEN = "left open by a writer"
    TRUNCATED = "truncated"
    NO_RESULTS = "holds no results"
    CHECKSUM = "checksum mismatch"
    INCOMPLETE = "incomplete record"
    NOT_MARKED = "record without success mark"
    IMPLAUSIBLE = "implausible record"
    FOREIGN = "foreign format"
    ELSEWHERE = "refers to another file"
    CRASHED = "the HDF5 library crashed on it"
    HUNG = "the HDF5 library did not come back from it"


@dataclass(frozen=True)
class Finding:
    """A verdict with its particulars; ``key`` names the record when it is about one."""

    verdict: Verdict
    detail: str = ""
    key: str = ""

    def __str__(self) -> str:
        record = f"{self.key}: " if self.key else ""
        return one_line(
            record + (f"{self.verdict.value}: {self.detail}" if self.detail else self.verdict.value)
        )

    def to_json(self) -> dict[str, str]:
        """For reports."""
        return {"verdict": self.verdict.value, "detail": self.detail, "key": self.key}


@dataclass(frozen=True)
class Superblock:
    """Where a file says that it ends and where its root group is."""

    offset: int
    version: int
    flags: int
    end: int
    root: int

    @property
    def marked_open(self) -> bool:
        """Does a writer's mark stand in it? Only version 3 has one that counts."""
        return self.version == 3 and self.flags & 0b101 != 0


def read_superblock(head: bytes) -> Superblock | None:
    """The superblock in the first bytes of a file; None when there is none that makes sense."""
    for offset in (0, 512, 1024, 2048):
        if head[offset : offset + 8] == SIGNATURE:
            return _parse(head, offset)
    return None


def _parse(head: bytes, offset: int) -> Superblock | None:
    try:
        version = head[offset + 8]
        if version in {0, 1}:
            shift = offset + (24 if version == 0 else 28)
            (flags,) = struct.unpack_from("<I", head, offset + 20)
            (end,) = struct.unpack_from("<Q", head, shift + 16)
            (root,) = struct.unpack_from("<Q", head, shift + 40)
        elif version in {2, 3}:
            flags = head[offset + 11]
            end, root = struct.unpack_from("<QQ", head, offset + 28)
        else:
            return None
    except (IndexError, struct.error):
        return None
    return Superblock(offset, version, flags, end, root)


def patched_superblock(
    head: bytes, block: Superblock, *, end: int | None = None, root: int | None = None
) -> bytes:
    """The first bytes of a file with the write flags cleared, and another end or root group where given."""
    data = bytearray(head)
    if block.version in {0, 1}:
        shift = block.offset + (24 if block.version == 0 else 28)
        struct.pack_into("<Q", data, shift + 16, block.end if end is None else end)
        if root is not None:
            # No cached symbol table: the library shall look into the header.
            struct.pack_into("<QIIQQ", data, shift + 40, root, 0, 0, 0, 0)
        return bytes(data)
    data[block.offset + 11] = 0
    struct.pack_into(
        "<QQ",
        data,
        block.offset + 28,
        block.end if end is None else end,
        block.root if root is None else root,
    )
    body = bytes(data[block.offset : block.offset + 44])
    struct.pack_into("<I", data, block.offset + 44, lookup3_bytes(body))
    return bytes(data)


def inspect(path: Path) -> Finding | None:
    """The verdict of the cheap checks; None when the file passes them."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            head = file.read(4096)
            size = file.seek(0, 2)
    except FileNotFoundError:
        return Finding(Verdict.MISSING)
    except OSError as error:
        return Finding(Verdict.CANNOT_OPEN, error.strerror or str(error))
    if size == 0:
        return Finding(Verdict.EMPTY)
    if size < SMALLEST:
        short = SIGNATURE.startswith(head[:8]) or head.startswith(SIGNATURE)
        return Finding(Verdict.TOO_SHORT if short else Verdict.NO_SIGNATURE, f"{size} bytes")
    block = read_superblock(head)
    if block is None:
        if SIGNATURE in head:
            return Finding(Verdict.CANNOT_OPEN, "the superblock makes no sense")
        return Finding(
            Verdict.NO_SIGNATURE, "this is not an HDF5 file, or its first bytes were never written"
        )
    if block.end > size:
        return Finding(Verdict.TRUNCATED, f"{size} bytes of {block.end}")
    if block.marked_open:
        return Finding(Verdict.LEFT_OPEN, "its writer did not close it")
    return None
