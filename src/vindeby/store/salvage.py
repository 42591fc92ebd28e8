"""From any mixture of good, empty, cut, locked and corrupt files to a database of what was saved.

Originals are never changed. Whichever way a record is reached: when it states a checksum and does not meet it, it is
not saved. What is saved is merged like every result: written into a new file, verified, renamed. The report says for
each file what was found, saved and lost, and why.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vindeby.errors import ArgumentError, InputError
from vindeby.store.disk.files import check_output, refuse_other_formats
from vindeby.store.disk.run_directory import SUFFIXES, RunDirectory
from vindeby.store.foreign.door import Rescue
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.finding import Finding
from vindeby.store.format.record import Attribute
from vindeby.store.merge.audit import Conflict
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.merge.sources import source_of
from vindeby.store.read.reading import drop_incomplete, read_any
from vindeby.text import one_line, plural

_SUFFIXES = {*SUFFIXES, ".nc", ".tmp"}


@dataclass(frozen=True)
class SavedFile:
    """What one file gave, by which means, and what is wrong with it."""

    path: str
    size: int
    saved: int
    means: dict[str, int]
    findings: list[Finding]

    def __str__(self) -> str:
        means = ", ".join(f"{count} {how}" for how, count in self.means.items()) or "nothing"
        text = f"{self.path}: {self.size} bytes, {plural(self.saved, 'record')} saved ({means})"
        return "\n    ".join([one_line(text), *map(str, self.findings)])

    def to_json(self) -> dict[str, Any]:
        """Return the same for --json."""
        return {**vars(self), "findings": [finding.to_json() for finding in self.findings]}


@dataclass
class SalvageReport:
    """What was found, saved and lost."""

    output: str
    records: int = 0
    files: list[SavedFile] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Was nothing wrong with any file?"""
        return not self.conflicts and not any(saved.findings for saved in self.files)

    def to_json(self) -> dict[str, Any]:
        """Return the same for --json."""
        return {
            "output": self.output,
            "records": self.records,
            "files": [saved.to_json() for saved in self.files],
            "conflicts": [vars(conflict) for conflict in self.conflicts],
        }

    def __str__(self) -> str:
        done = f"{plural(self.records, 'record')} saved from {plural(len(self.files), 'file')}"
        lines = [f"{one_line(str(self.output))}: {done}", *(f"  {saved}" for saved in self.files)]
        lines += [f"  conflict: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines) + "\n"


def salvage(
    paths: Sequence[Path],
    output: Path | RunDirectory,
    *,
    naming: str = "",
    root: Mapping[str, Attribute] | None = None,
    file_format: str | None = None,
    limits: ReadLimits | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SalvageReport:
    """Save what can be saved from ``paths`` (files or folders) into a new database.

    ``naming`` makes a key from a record's attributes, as ``str.format`` does, where a group's name is lost. A record
    that does not meet the checksum it states is not saved.
    """
    run = output if isinstance(output, RunDirectory) else RunDirectory(check_output(output))
    files = list(files_in(paths))
    if run.output.exists():
        raise ArgumentError(f"{run.output}: exists and is left as it is; choose another name with -o")
    if run.shard_paths():
        raise ArgumentError(f"{run.path}: holds results already; choose another name with -o")
    readings = []
    with Guard(limits) as guard:
        for number, path in enumerate(files, 1):
            readings.append(read_any(path, guard, rescue=Rescue(naming)))
            if number % 100 == 0:
                progress(f"{number} of {len(files)} files read")
    drop_incomplete(readings)
    sources = [source_of(path, "given file", reading) for path, reading in zip(files, readings, strict=True)]
    report = SalvageReport(str(run.output))
    report.files = [
        SavedFile(one.entry.path, one.entry.size, one.entry.found, one.reading.means, one.entry.findings)
        for one in sources
    ]
    if any(one.entry.found for one in sources):
        how = MergeOptions(
            file_format=file_format, on_bad="skip", given=sources, root=root or {}, progress=progress
        )
        merged = merge(run, how)
        report.records, report.conflicts = merged.records, merged.conflicts
    return report


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield each file that is named, or stands in a folder that is named and looks like HDF5 or a shard by its name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                file for file in path.rglob("*") if file.suffix in _SUFFIXES and not file.is_dir()
            )
        elif path.exists():
            refuse_other_formats(path)
            yield path
        else:
            raise InputError(f"{path}: there is no such file or folder")
