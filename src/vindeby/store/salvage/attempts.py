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
from typing import Any, TypeAlias

from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.read.guard import TOO_LONG, Guard
from vindeby.store.read.inspect import (
    SIGNATURE,
    SMALLEST,
    Finding,
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
    copy = _Copy(saved, folder / "copy.h5", guard, {"real_size": saved.size, "needed": list(needed)})
    try:
        damaged, visited = copy.read_by_name(damaged=finding is not None)
        if damaged:
            copy.read_orphans(naming, visited)
    finally:
        copy.path.unlink(missing_ok=True)
    saved.settle()
    if not saved.records and not saved.findings:
        saved.findings.append(Finding(Verdict.NO_RESULTS))
    return saved


class _Copy:
    """A copy of the file, whose superblock is changed; ``how`` is what every reading of it is asked."""

    def __init__(self, saved: Saved, path: Path, guard: Guard, how: dict[str, Any]) -> None:
        self.saved, self.path, self.guard, self.how = saved, path, guard, how
        shutil.copyfile(saved.path, path)
        with path.open("rb") as file:
            self.head = file.read(_HEAD)
        self.block = read_superblock(self.head)
        self.end = max(saved.size, self.block.end if self.block is not None else 0)
        if self.end > _MOST_FILLED:
            self.block, self.end = None, saved.size

    def read_by_name(self, *, damaged: bool) -> tuple[bool, set[int]]:
        """The groups that have names; whether there may be others, and where those are that were read."""
        means = "as it is"
        if damaged and self.block is None:
            return True, set()
        if damaged and self.block is not None:
            self._patch(patched_superblock(self.head, self.block, end=self.end))
            means = "with its write flags cleared"
            if self.end > self.saved.size:
                means = "filled up to its recorded end"
                with self.path.open("r+b") as file:
                    file.seek(self.saved.size)
                    file.write(b"\xff" * min(_MARKED, self.end - self.saved.size))
        reading = read_guarded(self.path, self.guard, sinks=self.saved.sinks(means), **self.how)
        self.saved.note(reading)
        if reading.form in {"shard", "table"}:
            return False, set()  # its records are rows: a group in it is never one
        return damaged or bool(reading.findings), set(reading.visited)

    def read_orphans(self, naming: str, visited: set[int]) -> None:
        """Each group in the bytes that was not read by its name, as the root group of the copy."""
        saved, limits = self.saved, self.guard.limits
        how = {"sinks": saved.sinks("group by group", only_new=True), "naming": naming, **self.how}
        useless = crashes = 0
        allowed, deadline = limits.result_bytes(saved.size), time.monotonic() + limits.seconds(saved.size)
        for address in self._addresses(visited):
            if self.block is not None:
                self._patch(patched_superblock(self.head, self.block, end=self.end, root=address))
            else:
                self._patch(_plain_superblock(saved.size, address))
            before = len(saved.records)
            fallback = f"unnamed_{saved.path.stem}_{address}"
            reading = read_guarded(self.path, self.guard, rooted=fallback, deadline=deadline, **how)
            saved.findings += [one for one in reading.findings if one.verdict is Verdict.CHECKSUM]
            crashes += any(one.verdict in {Verdict.CRASHED, Verdict.HUNG} for one in reading.findings)
            useless = 0 if len(saved.records) > before else useless + 1
            reasons = {
                TOO_LONG: time.monotonic() > deadline,
                f"{useless} groups in a row hold no record": useless > _MOST_USELESS,
                f"the HDF5 library failed {crashes} times": crashes > _MOST_CRASHES,
                f"there are more than {allowed} bytes of results": saved.taken_bytes > allowed,
            }
            for why in (why for why, holds in reasons.items() if holds):
                saved.findings.append(Finding(Verdict.INCOMPLETE, f"the search group by group ended: {why}"))
                return

    def _addresses(self, visited: set[int]) -> list[int]:
        """Where groups seem to be that were not read yet; the file is mapped, not read into memory."""
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return group_addresses(data, visited)

    def _patch(self, head: bytes) -> None:
        with self.path.open("r+b") as file:
            file.write(head)
            file.truncate(self.end)


def _plain_superblock(size: int, root: int) -> bytes:
    """A superblock of version 0, without a cached symbol table, for a file that lost its own."""
    undefined = 0xFFFFFFFFFFFFFFFF
    return (
        SIGNATURE
        + struct.pack("<BBBBBBBBHHI", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0)
        + struct.pack("<QQQQ", 0, undefined, size, undefined)
        + struct.pack("<QQIIQQ", 0, root, 0, 0, 0, 0)
    )


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
