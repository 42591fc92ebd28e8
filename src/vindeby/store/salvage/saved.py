"""What a salvage got out of one file: records that are right, records that are doubtful, and what is wrong."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.store.inspect import Finding, Verdict
from vindeby.store.reading import Reading, Sinks
from vindeby.store.record import Attribute, Record
from vindeby.store.rows import Segment
from vindeby.store.salvage.spool import Found, Place, Spool


@dataclass
class Saved:
    """What one file gave, by which means, and what is wrong with it."""

    path: Path
    spool: Spool
    size: int = 0
    means: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    root: dict[str, Attribute] = field(default_factory=dict)
    doubtful: list[Place] = field(default_factory=list)
    taken_bytes: int = 0
    contents: set[bytes] = field(default_factory=set)
    """Digests of what the records hold, apart from their keys, to know a record that is found again."""

    def __post_init__(self) -> None:
        self.records = Found(self.spool)

    @property
    def damaged(self) -> bool:
        """Is something wrong with the file as a whole?"""
        return any(not finding.key for finding in self.findings)

    def sinks(self, means: str, *, only_new: bool = False) -> Sinks:
        """Where a reading by these means puts its records; ``only_new`` leaves out known contents under other keys."""
        return Sinks(lambda segment: self._take(segment, means, only_new), self._doubt)

    def _take(self, segment: Segment, means: str, only_new: bool) -> None:
        """A record is saved only when it meets its checksum, whoever vouches for its bytes."""
        intact = segment.intact()
        if not intact.all():
            damaged = segment.take(~intact)
            keys = [key.decode(errors="replace") for key in damaged.rows["key"].tolist()]
            self.findings += [Finding(Verdict.CHECKSUM, "", key) for key in keys]
            self._doubt(damaged)
            segment = segment.take(intact)
        part = self.spool.add(segment) if len(segment) else 0
        self.taken_bytes += segment.rows.nbytes
        for row, record in enumerate(segment.records()):
            content = _content(record)
            if only_new and content in self.contents:
                continue
            self.contents.add(content)
            if self.records.put(record.key, (part, row)):
                self.means[means] = self.means.get(means, 0) + 1

    def _doubt(self, segment: Segment) -> None:
        self.taken_bytes += segment.rows.nbytes
        part = self.spool.add(segment)
        self.doubtful += [(part, row) for row in range(len(segment))]

    def note(self, reading: Reading) -> None:
        """What a reading found wrong, and the root attributes that it saw."""
        self.root = {**reading.root, **self.root}
        self.findings += reading.findings

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
