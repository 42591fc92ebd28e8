"""The audit record of a merge: every file, what was found in it, what was taken, and why not the rest.

Written twice as a whole: before the new database takes the old one's place, and when everything is done; a
merge that was killed in between left the first, which says so.
"""

import hashlib
import json
import platform
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from vindeby._version import __version__
from vindeby.store.disk.files import Files, Retry, publish_bytes
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory, replace_text
from vindeby.store.format.record import Record
from vindeby.store.format.rows import batches, checksum_of, segments_of
from vindeby.store.format.shard import build_image
from vindeby.store.read.inspect import Finding
from vindeby.text import one_line


@dataclass
class FileEntry:
    """One file that a merge looked at."""

    path: str
    kind: str
    size: int = 0
    digest: str = ""
    found: int = 0
    taken: int = 0
    duplicates: int = 0
    conflicts: int = 0
    superseded: int = 0
    findings: list[Finding] = field(default_factory=list)
    fate: str = "kept"

    @property
    def bad(self) -> bool:
        """Is anything wrong with it?"""
        return bool(self.findings)

    def __str__(self) -> str:
        text = f"{self.path}: {self.kind}, {self.size} bytes, {self.found} records found, {self.taken} taken"
        if self.duplicates:
            text += f", {self.duplicates} already there"
        if self.superseded:
            text += f", {self.superseded} of an older campaign replaced"
        if self.conflicts:
            text += f", {self.conflicts} in conflict"
        text += f"; {self.fate}"
        return one_line(text) + "".join(f"\n    {finding}" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """For the audit record and --json."""
        return {**vars(self), "findings": [finding.to_json() for finding in self.findings]}


@dataclass
class Conflict:
    """A key with two different contents; the first was kept."""

    key: str
    kept: str
    kept_checksum: str
    refused: str
    refused_checksum: str

    def __str__(self) -> str:
        return one_line(
            f"{self.key}: {self.kept} (checksum {self.kept_checksum[:12]}) was kept, "
            f"{self.refused} (checksum {self.refused_checksum[:12]}) differs"
        )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class MergeReport:
    """What a merge did, or found and did not do."""

    output: str
    file_format: str
    outcome: str = "begun"
    records: int = 0
    files: list[FileEntry] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    time: str = field(default_factory=_now)
    seconds: float = 0.0
    digest: str = ""
    additions: list[str] = field(default_factory=list)
    """What others added to the standing database and the new one holds as well."""
    additions_left: list[str] = field(default_factory=list)
    """What others added and the new database does not hold; the old file is kept."""

    @property
    def bad_files(self) -> list[FileEntry]:
        """The files that something is wrong with."""
        return [entry for entry in self.files if entry.bad]

    def to_json(self) -> dict[str, Any]:
        """For the audit record and --json."""
        named = {"layout" if name == "file_format" else name: value for name, value in vars(self).items()}
        return {
            **named,
            "files": [entry.to_json() for entry in self.files],
            "conflicts": [vars(conflict) for conflict in self.conflicts],
            "by": str(Identity.current()),
            "versions": {
                "vindeby": __version__,
                "h5py": h5py.version.version,
                "hdf5": h5py.version.hdf5_version,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        }

    def __str__(self) -> str:
        lines = [
            f"merge into {self.output} ({self.file_format}), {self.time}, by {Identity.current()}: {self.outcome}",
            f"records: {self.records}; files: {len(self.files)}, bad: {len(self.bad_files)}",
            f"conflicts: {len(self.conflicts)}; {self.seconds:.1f} s; seal {self.digest or 'none'}",
        ]
        lines += [f"  {entry}" for entry in self.files]
        lines += [f"  addition by others, carried over: {name}" for name in self.additions]
        lines += [f"  addition by others, left out: {name}" for name in self.additions_left]
        lines += [f"  conflict: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines) + "\n"


def write_audit(run: RunDirectory, report: MergeReport) -> Path:
    """Write the record, as JSON and as text; where the JSON stands."""
    owner = Identity.current()
    stem = f"merge-{report.time.replace(':', '')}-{owner.host}-{owner.pid}-{owner.token}"
    path = run.audit / f"{stem}.json"
    replace_text(path, json.dumps(report.to_json(), indent=1) + "\n", run.path.parent)
    replace_text(run.audit / f"{stem}.txt", str(report), run.path.parent)
    return path


def keep_replaced(run: RunDirectory, records: Iterable[Record]) -> None:
    """Put records into ``replaced/``, durably; no key occurs twice in a file."""
    for batch in batches(records):
        while batch:
            first = {record.key: record for record in reversed(batch)}
            _keep(run, list(first.values()))
            batch = [record for record in batch if first[record.key] is not record]


def _keep(run: RunDirectory, records: list[Record]) -> None:
    digest = hashlib.sha256("".join(sorted(map(checksum_of, records))).encode()).hexdigest()[:12]
    if any(run.replaced.glob(f"*-{digest}.h5")):
        return
    stamp, owner = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), Identity.current()
    target = run.replaced / f"{stamp}-{digest}.h5"

    def names() -> tuple[Path, Path]:
        return run.replaced / f".{target.name}.{owner.pid}-{owner.token}.tmp", target

    publish_bytes(Files(), Retry(), build_image(segments_of(records)), names, run.path.parent)
