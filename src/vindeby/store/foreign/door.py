"""Read HDF5 that nobody vouches for: records, findings, and nothing raised for a bad file.

A file is looked at from outside first (``superblock``); the HDF5 library reads it only in a guarded child (``guard``).

To rescue what is in a damaged file, it is read in several ways, each of which adds what the ones before did not get:
1. as it is; 2. with the write flags cleared; 3. with a cut file filled up to its recorded end; 4. group by group, each
put in the place of the root group. Bytes are changed as they are read, never on the disk. What lies in the filled-up
part never counts as data; where it begins, it is filled with ones, so that a number that was cut does not read as a
smaller one.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from vindeby.store.disk.files import open_regular
from vindeby.store.foreign.guard import DONE, RESULT, TOO_LONG, Asked, Guard, GuardError
from vindeby.store.foreign.search import group_addresses
from vindeby.store.foreign.superblock import (
    LOST,
    LOST_HEAD,
    SMALLEST,
    Probe,
    Superblock,
    patched_superblock,
    probe,
)
from vindeby.store.format.finding import Finding, Verdict, marked_rows
from vindeby.store.format.origin import FOREIGN, SALVAGED
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealError
from vindeby.store.format.shard import ShardFile

_MOST_FILLED = 1 << 40


class Taker(Protocol):
    """A receiver of the contents of a file."""

    findings: list[Finding]
    root: dict[str, Attribute]
    """The root attributes of the file."""

    def take(self, segment: Segment, way: str) -> None:
        """Take records with the success mark, and the way in which they were read."""


@dataclass(frozen=True)
class Rescue:
    """The rules for saving records from a damaged file."""

    naming: str = ""
    """Makes a key from a record's attributes, as ``str.format`` does, where a group's name is lost."""
    needed: Sequence[str] = ()
    """A record without a checksum that has these arrays is saved, whatever else of it is lost."""


def read_foreign(path: Path, guard: Guard, taker: Taker, rescue: Rescue | None = None) -> Probe:
    """Pass every usable record of a file to ``taker``, with findings about the rest; return the file's probe.

    Without ``rescue``, a file that is bad as a whole is not read, and no more is given than may be kept in memory.
    """
    seen = probe(path)
    if seen.finding is not None:
        taker.findings.append(seen.finding)
    if seen.finding is None or (rescue is not None and seen.size >= SMALLEST):
        limits = guard.limits
        asked = Asked(
            path=str(path),
            real_size=seen.size,
            batch_bytes=limits.batch_bytes,
            most_findings=limits.most_findings,
            origin=FOREIGN if rescue is None else SALVAGED,
            needed=() if rescue is None else rescue.needed,
        )
        reader = _Reader(guard, taker, seen, asked)
        if rescue is None:
            reader.read(asked, "as it is")
        else:
            reader.rescue(rescue.naming)
    return seen


class _Reader:
    """A reader of one file, which may read it in several ways."""

    def __init__(self, guard: Guard, taker: Taker, seen: Probe, asked: Asked) -> None:
        self._guard, self._taker, self._seen, self._asked = guard, taker, seen, asked
        self._is_table = False
        self._visited: set[int] = set()
        """The addresses of the groups that were read completely."""
        self._received = 0
        """Bytes that the child has sent, in all readings."""
        self._keys: set[bytes] | None = None
        """The keys of the records taken so far, if the file is read in several ways."""

    def rescue(self, naming: str) -> None:
        """Read the groups that have names and, if there may be others, all that the search finds."""
        seen, known, self._keys = self._seen, len(self._taker.findings), set[bytes]()
        head, block = seen.head, seen.block
        lost = block is None or block.end > max(seen.size, _MOST_FILLED)
        if block is None or lost:
            head, block = LOST_HEAD, LOST
        end = max(seen.size, block.end)
        asked = replace(self._asked, end=end)
        if seen.finding is None:
            self.read(asked, "as it is")
        elif not lost:
            way = "filled up to its recorded end" if end > seen.size else "with its write flags cleared"
            self.read(replace(asked, head=patched_superblock(head, block, end=end).hex()), way)
        # The records of a table are rows: a group in it is never one.
        if not self._is_table and (seen.finding is not None or len(self._taker.findings) > known):
            self._rescue_groups(replace(asked, naming=naming), head, block)
        saved = {key.decode(errors="replace") for key in self._keys}
        self._taker.findings = list(
            dict.fromkeys(one for one in self._taker.findings if one.key not in saved)
        )

    def _rescue_groups(self, asked: Asked, head: bytes, block: Superblock) -> None:
        """Read each group that was not read by its name, as the root group of the file."""
        limits, findings, stored = self._guard.limits, self._taker.findings, self._seen.stored
        path, deadline = Path(asked.path), time.monotonic() + limits.seconds(stored)
        with os.fdopen(open_regular(path), "rb") as file:
            addresses = group_addresses(file.fileno(), self._visited)
        for address in addresses:
            start, known = patched_superblock(head, block, end=asked.end, root=address), len(findings)
            rooted = replace(asked, head=start.hex(), rooted=f"unnamed_{path.stem}_{address}")
            self.read(rooted, "group by group", deadline)
            findings[known:] = [one for one in findings[known:] if one.verdict is Verdict.CHECKSUM]
            is_late = time.monotonic() > deadline
            if is_late or self._received > limits.kept_bytes:
                why = TOO_LONG if is_late else "it gives too much"
                findings.append(Finding(Verdict.INCOMPLETE, f"the search group by group ended: {why}"))
                return

    def read(self, asked: Asked, way: str, deadline: float | None = None) -> None:
        """Read through the HDF5 library.

        A record that kills the child is left out and the rest is read again. The reading ends at ``deadline`` (of
        ``time.monotonic``), or when the limits say.
        """
        most = self._guard.limits.kept_bytes
        if deadline is None:
            deadline = time.monotonic() + self._guard.limits.seconds(self._seen.stored)
        skip: list[str] = []
        sent: list[str] = []
        crashes: list[Finding] = []
        while True:
            request = asdict(replace(asked, skip=skip, sent=sent))
            try:
                for kind, data in self._guard.call("read", deadline=deadline, **request):
                    self._received += len(data)
                    if self._received > most:
                        what = f"it gives more than {most} bytes of results; the rest is left out"
                        crashes.append(Finding(Verdict.IMPLAUSIBLE, what))
                        break
                    sent += self._take(kind, data, way)
                break
            except GuardError as error:
                crashes.append(Finding(error.finding.verdict, error.finding.detail, error.doing))
                if not error.doing or error.doing in skip:
                    break
                skip.append(error.doing)
            except SealError as error:
                self._guard.abort()
                crashes.append(Finding(Verdict.CRASHED, f"what the child sent makes no sense: {error}"))
                break
        self._taker.findings += crashes

    def _take(self, kind: bytes, data: bytes, way: str) -> list[str]:
        """Take one message of the child; return the keys of the results in it."""
        keys: list[str] = []
        if kind == RESULT:
            for segment in ShardFile(Path(f"{self._asked.path} (guarded)"), data).segments():
                keys += [key.decode(errors="replace") for key in segment.rows["key"].tolist()]
                right = marked_rows(segment, self._taker.findings)
                if self._keys is not None:
                    right = right.take([key not in self._keys for key in right.rows["key"].tolist()])
                    self._keys.update(right.rows["key"].tolist())
                if len(right):
                    self._taker.take(right, way)
        elif kind == DONE:
            answer = json.loads(data)
            root = {name: value for name, value in answer["root"].items() if name != "schemas"}
            self._taker.root = root | self._taker.root
            self._taker.findings += [
                Finding(Verdict(entry["verdict"]), entry["detail"], entry["key"])
                for entry in answer["findings"]
            ]
            self._is_table = self._is_table or answer["is_table"]
            self._visited.update(answer["visited"])
        else:
            self._taker.findings.append(Finding(Verdict.CANNOT_OPEN, data.decode(errors="replace")))
        return keys
