"""The ways to read a damaged file, tried in order on a copy; each adds what the ones before did not get.

1. as it is; 2. with the write flags cleared; 3. with a cut file filled up to its recorded end; 4. group by
group, each put in the place of the root group. What lies in the filled-up part never counts as data; where it begins,
it is filled with ones, so that a number that was cut does not read as a smaller one. Whichever
way a record is reached: when it states a checksum and does not meet it, it is not saved.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import shutil
import struct
import tempfile
import time
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import h5py
import numpy as np

from vindeby.store.disk.files import CarefulFile, force_file
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Schema, Segment, array_field, attribute_field
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
from vindeby.store.read.reading import Reading, read_guarded, read_sealed


class Saved(Reading):
    """What one file gave, by which means, and what is wrong with it; the records are in the spool."""

    in_memory: ClassVar[bool] = False

    def __init__(self, path: Path, spool: Spool) -> None:
        super().__init__()
        self.path, self.spool, self.size = path, spool, 0
        self.means: dict[str, int] = {}
        self.by = ""
        """How the file is being read."""
        self.only_new = False
        """Leave out records whose content is known under another key."""
        self.doubtful: list[Place] = []
        self.taken_bytes = 0
        self.records = Found(spool)
        self._contents: set[bytes] = set()

    @property
    def damaged(self) -> bool:
        """Is something wrong with the file as a whole?"""
        return any(not finding.key for finding in self.findings)

    def take(self, segment: Segment) -> None:
        """A record is saved only when it meets its checksum, whoever vouches for its bytes."""
        intact = segment.intact()
        if not intact.all():
            damaged = segment.take(~intact)
            keys = [key.decode(errors="replace") for key in damaged.rows["key"].tolist()]
            self.findings += [Finding(Verdict.CHECKSUM, "", key) for key in keys]
            self.doubt(damaged)
            segment = segment.take(intact)
        part = self.spool.add(segment) if len(segment) else 0
        self.taken_bytes += segment.rows.nbytes
        for row, record in enumerate(segment.records()):
            content = _content(record)
            if self.only_new and content in self._contents:
                continue
            self._contents.add(content)
            if self.records.put(record.key, (part, row)):
                self.means[self.by] = self.means.get(self.by, 0) + 1

    def doubt(self, segment: Segment) -> None:
        """Keep damaged records for who asks for them."""
        self.taken_bytes += segment.rows.nbytes
        part = self.spool.add(segment)
        self.doubtful += [(part, row) for row in range(len(segment))]

    def settle(self) -> None:
        """Forget complaints about records that were saved in another way, and those that are made twice."""
        self.findings = list(
            dict.fromkeys(finding for finding in self.findings if finding.key not in self.records)
        )


def _content(record: Record) -> bytes:
    digest = hashlib.sha256(repr([*record.attributes.items()]).encode(errors="replace"))
    for name, value in record.arrays.items():
        digest.update(repr((name, value.dtype.str, value.shape)).encode())
        digest.update(value.tobytes())
    return digest.digest()


Place: TypeAlias = tuple[int, int]
"""Which segment of a spool, and which row of it."""


class Spool:
    """A temporary file of rows; it is gone when it is closed, or with the process."""

    def __init__(self, folder: Path) -> None:
        self._descriptor, name = tempfile.mkstemp(dir=folder)
        Path(name).unlink()
        self._close = weakref.finalize(self, os.close, self._descriptor)
        self._parts: list[tuple[Schema, np.dtype[Any], int]] = []
        self._end = 0

    def add(self, segment: Segment) -> int:
        """Keep the rows of a segment; its number."""
        data = np.ascontiguousarray(segment.rows).tobytes()
        view = memoryview(data)
        at = self._end
        while view:
            done = os.pwrite(self._descriptor, view, at)
            view, at = view[done:], at + done
        self._parts.append((segment.schema, segment.rows.dtype, self._end))
        self._end = at
        return len(self._parts) - 1

    def schema(self, place: Place) -> Schema:
        """What the record there has."""
        return self._parts[place[0]][0]

    def row(self, place: Place) -> Segment:
        """One row, as a segment."""
        schema, dtype, start = self._parts[place[0]]
        data = os.pread(self._descriptor, dtype.itemsize, start + place[1] * dtype.itemsize)
        return Segment(schema, np.frombuffer(data, dtype))

    def close(self) -> None:
        """Delete it."""
        self._close()


class Found(Mapping[str, Record]):
    """The records that were found in one file, by key; each is read when it is asked for."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._places: dict[str, Place] = {}

    def put(self, key: str, place: Place) -> bool:
        """Remember where a record is, unless its key is known; was it not?"""
        return self._places.setdefault(key, place) is place

    def drop(self, key: str) -> None:
        """Forget a record."""
        del self._places[key]

    def schema(self, key: str) -> Schema:
        """What the record has, without reading it."""
        return self._spool.schema(self._places[key])

    def __getitem__(self, key: str) -> Record:
        return self._spool.row(self._places[key]).record(0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


DOUBTFUL = "doubtful"


def write_doubtful(path: Path, files: Sequence[Saved]) -> int:
    """Write what is doubtful in these files, if anything is; how many records."""
    doubtful = [(saved, place) for saved in files for place in saved.doubtful]
    if not doubtful:
        return 0
    try:
        with CarefulFile(path) as target:
            with h5py.File(target, "w") as file:
                file.attrs["kind"] = "vindeby doubtful records"
                file.attrs["note"] = (
                    "each of these records states a checksum that it does not meet: do not use as results"
                )
                for saved, place in doubtful:
                    _write(file, saved.path, saved.spool.row(place))
            target.check()
        force_file(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return len(doubtful)


def _write(file: h5py.File, source: Path, segment: Segment) -> None:
    row: Any = segment.rows[0]
    key = _text(row["key"]).replace("/", "_").replace("\0", "") or "nameless"
    name, number = key, 1
    while name in file or name in {".", ".."}:
        number += 1
        name = f"{key} ({number})"
    group = file.create_group(name)
    for item, _ in segment.schema.attributes:
        value = row[attribute_field(item)].item()
        group.attrs[item] = _text(value) if isinstance(value, bytes) else value
    for item, dtype, shape in segment.schema.arrays:
        if 0 in shape:
            group.create_dataset(item, shape, dtype)
        else:
            group.create_dataset(item, data=row[array_field(item)])
    group.attrs["status"] = DOUBTFUL
    group.attrs["stated_checksum"] = _text(row["checksum"])
    group.attrs["stated_fingerprint"] = _text(row["fingerprint"])
    group.attrs["source"] = str(source)
    group.attrs["reason"] = "checksum mismatch"


def _text(value: bytes) -> str:
    return value.decode(errors="replace").replace("\0", "")


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
            saved.by = "by its seal"
            read_sealed(sealed, saved)
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
        saved = self.saved
        saved.by = "as it is"
        if damaged and self.block is None:
            return True, set()
        if damaged and self.block is not None:
            self._patch(patched_superblock(self.head, self.block, end=self.end))
            saved.by = "with its write flags cleared"
            if self.end > saved.size:
                saved.by = "filled up to its recorded end"
                with self.path.open("r+b") as file:
                    file.seek(saved.size)
                    file.write(b"\xff" * min(_MARKED, self.end - saved.size))
        before = len(saved.findings)
        read_guarded(self.path, self.guard, saved, **self.how)
        if saved.form in {"shard", "table"}:
            return False, set()  # its records are rows: a group in it is never one
        return damaged or len(saved.findings) > before, set(saved.visited)

    def read_orphans(self, naming: str, visited: set[int]) -> None:
        """Each group in the bytes that was not read by its name, as the root group of the copy."""
        saved, limits = self.saved, self.guard.limits
        saved.by, saved.only_new = "group by group", True
        useless = crashes = 0
        allowed, deadline = limits.result_bytes(saved.size), time.monotonic() + limits.seconds(saved.size)
        for address in self._addresses(visited):
            if self.block is not None:
                self._patch(patched_superblock(self.head, self.block, end=self.end, root=address))
            else:
                self._patch(_plain_superblock(saved.size, address))
            records, known = len(saved.records), len(saved.findings)
            how = {"rooted": f"unnamed_{saved.path.stem}_{address}", "naming": naming, **self.how}
            read_guarded(self.path, self.guard, saved, deadline=deadline, **how)
            new = saved.findings[known:]
            saved.findings[known:] = [one for one in new if one.verdict is Verdict.CHECKSUM]
            crashes += any(one.verdict in {Verdict.CRASHED, Verdict.HUNG} for one in new)
            useless = 0 if len(saved.records) > records else useless + 1
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
