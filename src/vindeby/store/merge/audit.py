"""The audit record of a merge: every file, its findings, the records taken, and why others were not.

Written twice as a whole: before the new database takes the old one's place, and when everything is done; a
merge that was killed in between left the first, which says so.
"""

import json
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from vindeby._version import __version__
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory, replace_text
from vindeby.store.format.finding import Finding
from vindeby.text import one_line, plural


@dataclass
class FileEntry:
    """A file that a merge has read, with the counts of its records."""

    path: str
    kind: str
    size: int = 0
    digest: str = ""
    found: int = 0
    taken: int = 0
    duplicates: int = 0
    conflicts: int = 0
    superseded: int = 0
    means: dict[str, int] = field(default_factory=dict)
    """The number of records of a foreign or damaged file by the way in which they were read."""
    findings: list[Finding] = field(default_factory=list)
    fate: str = "kept"

    @property
    def bad(self) -> bool:
        """Return whether the file has findings."""
        return bool(self.findings)

    def __str__(self) -> str:
        text = f"{self.path}: {self.kind}, {self.size} bytes, {plural(self.found, 'record')} found, {self.taken} taken"
        if self.duplicates:
            text += f", {self.duplicates} already there"
        if self.superseded:
            text += f", {self.superseded} replaced by others"
        if self.conflicts:
            text += f", {self.conflicts} in conflict"
        if self.means:
            text += f" ({', '.join(f'{count} {how}' for how, count in self.means.items())})"
        text += f"; {self.fate}"
        return one_line(text) + "".join(f"\n    {finding}" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the entry as plain data, for the audit record and --json."""
        return {**vars(self), "findings": [finding.to_json() for finding in self.findings]}


@dataclass
class Conflict:
    """A key with two different contents; the merge kept the first."""

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
    """The report of a merge, or of a merge that was only checked."""

    output: str
    file_format: str
    outcome: str = "begun"
    records: int = 0
    files: list[FileEntry] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    time: str = field(default_factory=_now)
    seconds: float = 0.0
    digest: str = ""
    stale: dict[str, str] = field(default_factory=dict)
    """Fingerprints, by key, of the results that answer an older version of the campaign."""
    notes: list[str] = field(default_factory=list)
    """Results that were not under the key of their task, and stale ones, one line per reason."""

    @property
    def bad_files(self) -> list[FileEntry]:
        """The files with findings."""
        return [entry for entry in self.files if entry.bad]

    @property
    def complete(self) -> bool:
        """Return whether there is neither a bad file nor a conflict."""
        return not self.conflicts and not self.bad_files

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data, for the audit record and --json."""
        import h5py  # only here: workers load this module, and need no HDF5

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


def write_audit(run: RunDirectory, report: MergeReport) -> None:
    """Write the record as JSON."""
    owner = Identity.current()
    name = f"merge-{report.time.replace(':', '')}-{owner.host}-{owner.pid}-{owner.token}.json"
    replace_text(run.audit / name, json.dumps(report.to_json(), indent=1) + "\n", run.path.parent)
