"""What is wrong with a file, in words a user understands, without letting HDF5 near it.

The cheap checks (size, signature, the superblock's own idea of where the file ends, its write flags) find
what a crash usually leaves. Only a file that passes them is worth a guarded child (``guard``).
"""

import os
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.store.disk.files import open_regular, read_bounded
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment, attribute_field
from vindeby.text import one_line, parse_json

_MIX = ((0, 2, 4), (1, 0, 6), (2, 1, 8), (0, 2, 16), (1, 0, 19), (2, 1, 4))
_FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
_WORD = 0xFFFFFFFF


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _WORD


def lookup3_bytes(data: bytes) -> int:
    """The checksum of HDF5's metadata: lookup3 of Bob Jenkins."""
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


ORIGIN = "origin"
FOREIGN, REPACKED, SALVAGED = "foreign", "repacked", "salvaged"
ORIGINS = (FOREIGN, REPACKED, SALVAGED)
_FORMER = "stated_origin"


def marked(attributes: Mapping[str, Attribute], origin: str) -> dict[str, Attribute]:
    """The attributes of an unverified record with its mark; another program's ``origin`` gets another name."""
    former = attributes.get(ORIGIN)
    if former in ORIGINS:
        return dict(attributes)
    moved = {} if former is None else {_FORMER: former}
    return {**attributes, **moved, ORIGIN: origin}


def origins(rows: NDArray[Any]) -> NDArray[np.bytes_]:
    """The origin of every row of a segment; empty for what vindeby computed."""
    field = attribute_field(ORIGIN)
    found = np.where(rows["fingerprint"] == b"", FOREIGN.encode(), b"")
    if field in (rows.dtype.names or ()) and rows.dtype[field].kind == "S":
        stated = np.isin(rows[field], [origin.encode() for origin in ORIGINS])
        found = np.where(stated, rows[field], found)
    return found


def count_origins(segment: Segment) -> Counter[str]:
    """How many records of each unverified origin there are."""
    names, counts = np.unique(origins(segment.rows), return_counts=True)
    pairs = zip(names.tolist(), counts.tolist(), strict=True)
    return Counter({name.decode(): count for name, count in pairs if name})


def in_words(counts: Mapping[str, int]) -> str:
    """For example ``12 of unverified origin (salvaged)``; empty when there are none."""
    present = {name: counts[name] for name in ORIGINS if counts.get(name)}
    if not present:
        return ""
    kinds = ", ".join(
        present if len(present) == 1 else [f"{count:,} {name}" for name, count in present.items()]
    )
    return f"{sum(present.values()):,} of unverified origin ({kinds})"


def origin_of_file(path: Path) -> str:
    """What a record without a checksum in this file is: repacked, if a merge is known to have made the file once."""
    return REPACKED if _was_merged(RunDirectory(path)) else FOREIGN


def _was_merged(run: RunDirectory) -> bool:
    for audit in sorted(run.audit.glob("merge-*.json"), reverse=True):
        try:
            if parse_json(read_bounded(audit)).get("outcome") == "done":
                return True
        except (OSError, ValueError, AttributeError):
            continue
    return False
