"""The report of an adoption, for the screen, for scripts, and for the file in the run directory."""

import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from vindeby._version import __version__
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory, replace_text
from vindeby.store.states import TaskStatus
from vindeby.text import one_line, plural

_SHOWN = 20


@dataclass
class FileReport:
    """The results of adoption from one file of the script."""

    path: str
    size: int = 0
    sha256: str = ""
    found: int = 0
    adopted: int = 0
    there_already: int = 0
    duplicates: int = 0
    means: dict[str, int] = field(default_factory=dict)
    """The ways in which the records were read, with the number of records."""
    findings: list[str] = field(default_factory=list)
    """Descriptions of what is wrong with the file, or with records in it that could not be read."""

    def __str__(self) -> str:
        parts = [f"{self.size} bytes", plural(self.found, "record"), f"{self.adopted:,} adopted"]
        if self.there_already:
            parts.append(f"{self.there_already:,} there already")
        if self.duplicates:
            parts.append(f"{self.duplicates:,} found before")
        lines = [f"{one_line(self.path)}: {', '.join(parts)}", *(f"  {what}" for what in self.findings)]
        return "\n".join(lines)


@dataclass(frozen=True)
class LeftOut:
    """A record that was found and not adopted."""

    file: str
    group: str
    """The name of its group in the file."""
    key: str
    """The configuration of the record; empty if it is unknown."""
    reason: str

    def __str__(self) -> str:
        return one_line(f"{self.file}: {self.group}: {self.reason}")


@dataclass
class AdoptReport:
    """The outcome of an adoption; ``complete`` says whether nothing is missing and nothing was left out."""

    output: str
    total: int
    files: list[FileReport] = field(default_factory=list)
    changed: dict[str, int] = field(default_factory=dict)
    """The kinds of changes made in adopted records, with the number of records."""
    left_out: list[LeftOut] = field(default_factory=list)
    missing: list[TaskStatus] = field(default_factory=list)
    unanswered: int = 0
    """The number of records left out that have no valid result under their key."""
    path: str = ""
    """The path of the report file."""

    @property
    def adopted(self) -> int:
        """The number of adopted records."""
        return sum(file.adopted for file in self.files)

    @property
    def there_already(self) -> int:
        """The number of records whose configurations had a valid result."""
        return sum(file.there_already for file in self.files)

    @property
    def complete(self) -> bool:
        """True if every result of the campaign is there, and every record found is accounted for."""
        return not self.missing and not self.unanswered

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data, for --json and for the report file."""
        data = asdict(self) | {"missing": [one.to_json() for one in self.missing]}
        counts = {"adopted": self.adopted, "there_already": self.there_already}
        return {**data, **counts, "report": data.pop("path")}

    def __str__(self) -> str:
        there = f"; {self.there_already:,} were there already" if self.there_already else ""
        files = plural(len(self.files), "file")
        lines = [f"{one_line(self.output)}: {plural(self.adopted, 'result')} adopted from {files}{there}"]
        lines += [f"  {what}: {count:,}" for what, count in self.changed.items()]
        lines += [f"  {line}" for one in self.files for line in str(one).split("\n")]
        lines += [f"  left out: {entry}" for entry in self.left_out[:_SHOWN]]
        if (more := len(self.left_out) - _SHOWN) > 0:
            lines.append(f"  left out: {more:,} more, in the report")
        lines.append(f"  report: {one_line(self.path)}")
        return "\n".join(lines) + "\n"

    def keep(self, run: RunDirectory) -> None:
        """Write the report into the run directory, durably, under a name of its own."""
        now = time.gmtime()
        name = f"report-{time.strftime('%Y%m%dT%H%M%SZ', now)}-{Identity.current().token}.json"
        self.path = str(run.adopted / name)
        written = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", now), "version": __version__, **self.to_json()}
        replace_text(run.adopted / name, json.dumps(written, indent=1) + "\n", run.path.parent)
