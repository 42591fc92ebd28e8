"""One file, whatever state it is in, as segments of records and findings about the rest.

A sealed file is verified by hashing and read without HDF5. Anything else is looked at from outside first
(``inspect``) and then read in a guarded child. Nothing here raises for a bad file: what is wrong is a finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.store.guard import DONE, RESULT, Guard, GuardError
from vindeby.store.inspect import Finding, Verdict, inspect
from vindeby.store.layouts import LAYOUTS
from vindeby.store.record import Attribute
from vindeby.store.root import root_is_intact
from vindeby.store.rows import Segment
from vindeby.store.seal import SealedFile, SealError, directory_errors
from vindeby.store.shard import read_segments

_MAXIMUM_CRASHES = 64


@dataclass
class Reading:
    """What a file gave."""

    segments: list[Segment] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    root: dict[str, Attribute] = field(default_factory=dict)
    digest: str = ""
    published_ns: int = 0
    sealed: bool = False
    lost_its_seal: bool = False

    @property
    def count(self) -> int:
        """How many records are usable."""
        return sum(len(segment) for segment in self.segments)

    def leave_out_unmarked(self) -> None:
        """Whatever vouches for its bytes: a record without the success mark is no result."""
        found, self.segments = self.segments, []
        for segment in found:
            marked = segment.marked()
            keys = segment.rows["key"][~marked].tolist()
            self.findings += [Finding(Verdict.NOT_MARKED, "", key.decode(errors="replace")) for key in keys]
            if marked.any():
                self.segments.append(segment if marked.all() else segment.take(marked))


def iterate_sealed(file: SealedFile) -> Iterator[Segment]:
    """Every segment of a sealed shard or database."""
    directory = file.seal.directory
    if directory.get("kind") == "shard":
        yield from read_segments(file)
        return
    layout = LAYOUTS.get(str(directory.get("layout")))
    if directory.get("kind") != "database" or layout is None:
        raise SealError(f"{file.path}: foreign format: it was sealed as {directory.get('kind')!r}")
    for number in range(layout.chunk_count(directory)):
        with directory_errors(file.path):
            segments = layout.read_chunk(file, number)
        yield from segments


def read_any(path: Path, guard: Guard) -> Reading:
    """Everything usable in a file, and what is wrong with it."""
    try:
        file = SealedFile.open(path)
    except FileNotFoundError:
        return Reading(findings=[Finding(Verdict.MISSING)])
    except SealError as error:
        reading = read_unsealed(path, guard)
        reading.findings.insert(0, Finding(Verdict.CHECKSUM, _detail(error, path)))
        return reading
    except OSError as error:
        return Reading(findings=[Finding(Verdict.CANNOT_OPEN, error.strerror or str(error))])
    if file is None:
        return read_unsealed(path, guard)
    with file:
        return read_sealed(file)


def read_sealed(file: SealedFile) -> Reading:
    """Everything in a sealed file; when it is damaged, every record whose own checksum still holds."""
    directory = file.seal.directory
    reading = Reading(
        root=dict(directory.get("root", {})),
        digest=file.seal.digest,
        published_ns=int(directory.get("published_ns", 0)),
        sealed=True,
    )
    try:
        file.load()
        reading.segments = list(iterate_sealed(file))
        reading.leave_out_unmarked()
        return reading
    except SealError as error:
        reading.findings.append(Finding(Verdict.CHECKSUM, _detail(error, file.path)))
    unverified = SealedFile.open(file.path, verify=False)
    assert unverified is not None
    with unverified:
        _take_intact(unverified, reading)
    reading.leave_out_unmarked()
    return reading


def _take_intact(file: SealedFile, reading: Reading) -> None:
    directory = file.seal.directory
    segments: list[Segment] = []
    if directory.get("kind") == "shard":
        try:
            segments = read_segments(file)
        except SealError as error:
            reading.findings.append(Finding(Verdict.INCOMPLETE, _detail(error, file.path)))
    else:
        layout = LAYOUTS[directory["layout"]]
        for number in range(layout.chunk_count(directory)):
            try:
                with directory_errors(file.path):
                    segments += layout.read_chunk(file, number)
            except SealError as error:
                reading.findings.append(
                    Finding(Verdict.INCOMPLETE, f"chunk {number}: {_detail(error, file.path)}")
                )
    for segment in segments:
        intact = segment.intact()
        for key in segment.rows["key"][~intact]:
            reading.findings.append(Finding(Verdict.CHECKSUM, "", key.decode(errors="replace")))
        if intact.any():
            reading.segments.append(segment.take(intact))


def read_unsealed(path: Path, guard: Guard) -> Reading:
    """A file without a seal: first from outside, then through the library in a guarded child."""
    finding = inspect(path)
    if finding is not None:
        return Reading(findings=[finding])
    reading = read_guarded(path, guard, real_size=path.stat().st_size)
    reading.lost_its_seal = "root_checksum" in reading.root
    if not root_is_intact(reading.root):
        reading.findings.insert(0, Finding(Verdict.CHECKSUM, "in the root attributes"))
        reading.root = {}
    if not reading.segments and not reading.findings:
        reading.findings.append(Finding(Verdict.NO_RESULTS))
    return reading


def read_guarded(path: Path, guard: Guard, *, real_size: int, rooted: bool = False) -> Reading:
    """Read through the HDF5 library; a record that kills the child is left out and the rest is read again."""
    skip: list[str] = []
    crashes: list[Finding] = []
    while True:
        reading = Reading()
        try:
            frames = guard.call("read", path=str(path), skip=skip, real_size=real_size, rooted=rooted)
            for kind, data in frames:
                if kind == RESULT:
                    image = SealedFile.of_bytes(data, f"{path} (guarded)")
                    reading.segments += [] if image is None else read_segments(image)
                elif kind == DONE:
                    answer = json.loads(data)
                    reading.root = {k: v for k, v in answer["root"].items() if k not in {"schemas", "kind"}}
                    reading.findings += [_finding(entry) for entry in answer["findings"]]
                else:
                    reading.findings.append(Finding(Verdict.CANNOT_OPEN, data.decode(errors="replace")))
            reading.findings += crashes
            reading.leave_out_unmarked()
            return reading
        except GuardError as error:
            crashes.append(Finding(error.finding.verdict, error.finding.detail, error.doing))
            if not error.doing or error.doing in skip or len(crashes) >= _MAXIMUM_CRASHES:
                reading.findings += crashes
                return reading
            skip.append(error.doing)


def _finding(entry: dict[str, str]) -> Finding:
    return Finding(Verdict(entry["verdict"]), entry["detail"], entry["key"])


def _detail(error: SealError, path: Path) -> str:
    return str(error).removeprefix(f"{path}: ").removeprefix("checksum mismatch ")
