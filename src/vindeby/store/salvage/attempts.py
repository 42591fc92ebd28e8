"""The ways to read a damaged file, tried in order on a copy; each adds what the ones before did not get.

1. as it is; 2. with the write flags cleared; 3. with a cut file filled up to its recorded end; 4. group by
group, each put in the place of the root group. What lies in the filled-up part never counts as data.
"""

from __future__ import annotations

import shutil
import string
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.store.guard import Guard
from vindeby.store.inspect import (
    SMALLEST,
    Finding,
    Superblock,
    Verdict,
    inspect,
    patched_superblock,
    read_superblock,
)
from vindeby.store.layouts import encoding
from vindeby.store.reading import Reading, read_guarded, read_sealed
from vindeby.store.record import Attribute, Record
from vindeby.store.rows import segments_of
from vindeby.store.salvage.orphans import group_addresses
from vindeby.store.seal import SealedFile, SealError

_HEAD = 4096


@dataclass
class Saved:
    """What one file gave, by which means, and what is wrong with it."""

    path: Path
    size: int = 0
    records: dict[str, Record] = field(default_factory=dict)
    means: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    root: dict[str, Attribute] = field(default_factory=dict)

    @property
    def damaged(self) -> bool:
        """Is something wrong with the file as a whole?"""
        return any(not finding.key for finding in self.findings)

    def add(self, reading: Reading, means: str) -> None:
        """Take the records that are new, and forget complaints about records that are now saved."""
        before = len(self.records)
        for segment in reading.segments:
            for record in segment.records():
                self.records.setdefault(record.key, record)
        if len(self.records) > before:
            self.means[means] = self.means.get(means, 0) + len(self.records) - before
        self.root = {**reading.root, **self.root}
        self.findings += reading.findings
        self.findings = [finding for finding in self.findings if finding.key not in self.records]


def rescue(path: Path, folder: Path, guard: Guard, naming: str) -> Saved:
    """Everything that can be saved from one file; ``folder`` is for the copy."""
    saved = Saved(path)
    try:
        saved.size = path.stat().st_size
        sealed = SealedFile.open(path)
    except SealError as error:
        sealed = None
        saved.findings.append(Finding(Verdict.CHECKSUM, str(error).split(": ", 1)[-1]))
    except OSError as error:
        saved.findings.append(Finding(Verdict.CANNOT_OPEN, error.strerror or str(error)))
        return saved
    if sealed is not None:
        with sealed:
            saved.add(read_sealed(sealed), "by its seal")
        return saved
    finding = inspect(path)
    if finding is not None:
        saved.findings.append(finding)
    if saved.size < SMALLEST:
        return saved
    copy = folder / "copy.h5"
    shutil.copyfile(path, copy)
    try:
        _try_copy(copy, saved, guard, naming, damaged=finding is not None)
    finally:
        copy.unlink(missing_ok=True)
    if not saved.records and not saved.findings:
        saved.findings.append(Finding(Verdict.NO_RESULTS))
    return saved


def _try_copy(copy: Path, saved: Saved, guard: Guard, naming: str, *, damaged: bool) -> None:
    data = copy.read_bytes()
    block = read_superblock(data[:_HEAD])
    if not damaged:
        reading = read_guarded(copy, guard, real_size=saved.size)
        saved.add(reading, "as it is")
        damaged = bool(reading.findings)
    elif block is not None:
        end = max(block.end, saved.size)
        _patch(copy, patched_superblock(data[:_HEAD], block, end=end), end)
        means = "with its write flags cleared" if block.end <= saved.size else "filled up to its recorded end"
        saved.add(read_guarded(copy, guard, real_size=saved.size), means)
    if damaged:
        _orphans(copy, data, block, saved, guard, naming)


def _orphans(
    copy: Path, data: bytes, block: Superblock | None, saved: Saved, guard: Guard, naming: str
) -> None:
    """Each group that stands in the bytes, as the root group of the copy."""
    known = {_content(record) for record in saved.records.values()}
    for address in group_addresses(data):
        if block is not None:
            end = max(block.end, len(data))
            _patch(copy, patched_superblock(data[:_HEAD], block, end=end, root=address), end)
        else:
            head = bytearray(encoding.superblock(len(data), address, 0, 0))
            head[72:76] = bytes(4)  # no cached symbol table
            head[16:20] = bytes((4, 0, 16, 0))  # the library's own node sizes
            _patch(copy, bytes(head), len(data))
        reading = read_guarded(copy, guard, real_size=len(data), rooted=True)
        renamed = Reading()
        for segment in reading.segments:
            for record in segment.records():
                if _content(record) not in known:
                    named = Record(
                        name_of(record, naming, saved.path, address),
                        record.fingerprint,
                        record.arrays,
                        record.attributes,
                    )
                    renamed.segments += segments_of([named])
        saved.add(renamed, "group by group")


def _content(record: Record) -> tuple[object, ...]:
    arrays = tuple((name, value.shape, value.tobytes()) for name, value in record.arrays.items())
    return arrays, tuple((name, repr(value)) for name, value in record.attributes.items())


def name_of(record: Record, naming: str, path: Path, address: int) -> str:
    """The key that a record's attributes spell, or one that says where it was found."""
    try:
        return (
            string.Formatter().vformat(naming, (), dict(record.attributes))
            if naming
            else _nameless(path, address)
        )
    except (KeyError, IndexError, ValueError):
        return _nameless(path, address)


def _nameless(path: Path, address: int) -> str:
    return f"unnamed_{path.stem}_{address}"


def _patch(copy: Path, head: bytes, size: int) -> None:
    with copy.open("r+b") as file:
        file.write(head)
        file.truncate(size)
