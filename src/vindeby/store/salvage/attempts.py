"""The ways to read a damaged file, tried in order on a copy; each adds what the ones before did not get.

1. as it is; 2. with the write flags cleared; 3. with a cut file filled up to its recorded end; 4. group by
group, each put in the place of the root group. What lies in the filled-up part never counts as data; where it begins,
it is filled with ones, so that a number that was cut does not read as a smaller one. Whichever
way a record is reached: when it states a checksum and does not meet it, it is not saved.
"""

from __future__ import annotations

import mmap
import re
import shutil
import struct
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.read.guard import TOO_LONG, Guard
from vindeby.store.read.inspect import (
    SIGNATURE,
    SMALLEST,
    Finding,
    Superblock,
    Verdict,
    inspect,
    lookup3_bytes,
    patched_superblock,
    read_superblock,
)
from vindeby.store.read.reading import read_guarded, read_sealed
from vindeby.store.salvage.saved import Saved, Spool

_HEAD = 4096
_MOST_USELESS = 4096
"""How many groups in a row may give nothing before the search group by group ends."""

_MOST_CRASHES = 16
_MOST_FILLED = 1 << 40
_MARKED = 1 << 16
"""As many bytes as an attribute in an object header may have: one that was cut ends within them."""


def rescue(
    path: Path,
    folder: Path,
    guard: Guard,
    naming: str,
    spool: Spool | None = None,
    needed: Sequence[str] = (),
) -> Saved:
    """Everything that can be saved from one file; ``folder`` is for the copy, and for the records.

    With ``needed``, a record without a checksum is saved when it has these arrays, whatever else of it is lost.
    """
    saved = Saved(path, spool or Spool(folder))
    try:
        saved.size = path.stat().st_size
        sealed = SealedFile.open(path)
    except SealError as error:
        sealed = None
        saved.findings.append(Finding(Verdict.CHECKSUM, str(error).removeprefix(f"{path}: ")))
    except OSError as error:
        saved.findings.append(Finding(Verdict.CANNOT_OPEN, error.strerror or str(error)))
        return saved
    if sealed is not None:
        with sealed:
            saved.note(read_sealed(sealed, saved.sinks("by its seal")))
        saved.settle()
        return saved
    finding = inspect(path)
    if finding is not None:
        saved.findings.append(finding)
    if saved.size < SMALLEST:
        return saved
    copy = folder / "copy.h5"
    shutil.copyfile(path, copy)
    try:
        _try_copy(copy, saved, guard, naming, needed, damaged=finding is not None)
    finally:
        copy.unlink(missing_ok=True)
    saved.settle()
    if not saved.records and not saved.findings:
        saved.findings.append(Finding(Verdict.NO_RESULTS))
    return saved


def _try_copy(
    copy: Path, saved: Saved, guard: Guard, naming: str, needed: Sequence[str], *, damaged: bool
) -> None:
    with copy.open("rb") as file:
        head = file.read(_HEAD)
    block = read_superblock(head)
    means = "as it is"
    if damaged and block is not None:
        end = max(block.end, saved.size)
        if end > _MOST_FILLED:
            block = None
        else:
            _patch(copy, patched_superblock(head, block, end=end), end)
            filled = block.end > saved.size
            if filled:
                _mark_filling(copy, saved.size, end)
            means = "filled up to its recorded end" if filled else "with its write flags cleared"
    visited: set[int] = set()
    if not damaged or block is not None:
        reading = read_guarded(copy, guard, real_size=saved.size, needed=needed, sinks=saved.sinks(means))
        saved.note(reading)
        if reading.form in {"shard", "table"}:
            return  # its records are rows: a group in it is never one
        visited = set(reading.visited)
        damaged = damaged or bool(reading.findings)
    if damaged:
        _orphans(copy, head, block, saved, guard, naming, needed, visited)


def _orphans(
    copy: Path,
    head: bytes,
    block: Superblock | None,
    saved: Saved,
    guard: Guard,
    naming: str,
    needed: Sequence[str],
    visited: set[int],
) -> None:
    """Each group in the bytes that was not read by its name, as the root group of the copy."""
    sinks = saved.sinks("group by group", only_new=True)
    useless = crashes = 0
    deadline = time.monotonic() + guard.limits.seconds(saved.size)
    for address in _addresses(copy, visited):
        if block is not None:
            end = max(block.end, saved.size)
            _patch(copy, patched_superblock(head, block, end=end, root=address), end)
        else:
            _patch(copy, _plain_superblock(saved.size, address), saved.size)
        before = len(saved.records)
        fallback = f"unnamed_{saved.path.stem}_{address}"
        reading = read_guarded(
            copy,
            guard,
            real_size=saved.size,
            rooted=fallback,
            naming=naming,
            needed=needed,
            sinks=sinks,
            deadline=deadline,
        )
        saved.findings += [one for one in reading.findings if one.verdict is Verdict.CHECKSUM]
        crashes += any(one.verdict in {Verdict.CRASHED, Verdict.HUNG} for one in reading.findings)
        useless = 0 if len(saved.records) > before else useless + 1
        why = TOO_LONG if time.monotonic() > deadline else _why_stop(saved, guard, useless, crashes)
        if why:
            saved.findings.append(Finding(Verdict.INCOMPLETE, f"the search group by group ended: {why}"))
            return


def _why_stop(saved: Saved, guard: Guard, useless: int, crashes: int) -> str:
    """Why more groups are not worth reading; empty when they are."""
    if useless > _MOST_USELESS:
        return f"{useless} groups in a row hold no record"
    if crashes > _MOST_CRASHES:
        return f"the HDF5 library failed {crashes} times"
    allowed = guard.limits.result_bytes(saved.size)
    return f"there are more than {allowed} bytes of results" if saved.taken_bytes > allowed else ""


def _addresses(copy: Path, visited: set[int]) -> list[int]:
    """Where groups seem to be that were not read yet; the file is mapped, not read into memory."""
    with copy.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return group_addresses(data, visited)


def _plain_superblock(size: int, root: int) -> bytes:
    """A superblock of version 0, without a cached symbol table, for a file that lost its own."""
    undefined = 0xFFFFFFFFFFFFFFFF
    return (
        SIGNATURE
        + struct.pack("<BBBBBBBBHHI", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0)
        + struct.pack("<QQQQ", 0, undefined, size, undefined)
        + struct.pack("<QQIIQQ", 0, root, 0, 0, 0, 0)
    )


def _mark_filling(copy: Path, start: int, end: int) -> None:
    with copy.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * min(_MARKED, end - start))


def _patch(copy: Path, head: bytes, size: int) -> None:
    with copy.open("r+b") as file:
        file.write(head)
        file.truncate(size)


Bytes: TypeAlias = bytes | mmap.mmap

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
