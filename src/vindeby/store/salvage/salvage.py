"""From any mixture of good, empty, cut, locked and corrupt files to a database of what was saved.

What is saved goes the same way as every result: published as shards beside the new database, then merged,
verified. The report says for each file what was found, saved and lost, and why.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vindeby.errors import ArgumentError, InputError
from vindeby.store.audit import Conflict
from vindeby.store.guard import Guard, Limits
from vindeby.store.inspect import Finding, Verdict
from vindeby.store.merge import MergeOptions, merge
from vindeby.store.publish import ShardWriter
from vindeby.store.record import Attribute, Record
from vindeby.store.regular import refuse_special
from vindeby.store.rows import checksum_of
from vindeby.store.rundir import RunDirectory
from vindeby.store.salvage.attempts import Saved, rescue
from vindeby.store.selection import same_result

_BATCH = 1000
_SUFFIXES = {".h5", ".hdf5", ".he5", ".nc", ".tmp"}


@dataclass
class SalvageReport:
    """What was found, saved and lost."""

    output: str
    records: int = 0
    files: list[Saved] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Was nothing wrong with any file?"""
        return not self.conflicts and not any(saved.findings for saved in self.files)

    def to_json(self) -> dict[str, Any]:
        """For --json."""
        return {
            "output": self.output,
            "records": self.records,
            "files": [
                {
                    "path": str(saved.path),
                    "size": saved.size,
                    "saved": len(saved.records),
                    "means": saved.means,
                    "findings": [finding.to_json() for finding in saved.findings],
                }
                for saved in self.files
            ],
            "conflicts": [vars(conflict) for conflict in self.conflicts],
        }

    def __str__(self) -> str:
        lines = [f"{self.output}: {self.records} records saved from {len(self.files)} files"]
        for saved in self.files:
            means = ", ".join(f"{count} {how}" for how, count in saved.means.items()) or "nothing"
            lines.append(f"  {saved.path}: {saved.size} bytes, {len(saved.records)} records saved ({means})")
            lines += [f"    {finding}" for finding in saved.findings]
        lines += [f"  conflict: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines) + "\n"


def salvage(
    paths: Sequence[Path],
    output: Path,
    *,
    naming: str = "",
    root: Mapping[str, Attribute] | None = None,
    layout: str | None = None,
    limits: Limits | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SalvageReport:
    """Save what can be saved from ``paths`` (files or folders) into a new database.

    ``naming`` makes a key from a record's attributes, as ``str.format`` does, where a group's name is lost.
    """
    files = list(_files(paths))
    if output.exists():
        raise ArgumentError(f"{output}: exists and is left as it is; choose another name with -o")
    if RunDirectory(output).shard_paths():
        raise ArgumentError(
            f"{RunDirectory(output).path}: holds results already; choose another name with -o"
        )
    report = SalvageReport(str(output))
    output.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.salvage-", dir=output.parent))
    try:
        with Guard(limits) as guard:
            for number, path in enumerate(files, 1):
                report.files.append(rescue(path, folder, guard, naming))
                if number % 100 == 0:
                    progress(f"{number} of {len(files)} files read")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _drop_incomplete(report)
    chosen = _choose(report)
    if chosen:
        found: dict[str, Attribute] = {}
        for saved in reversed(report.files):
            found |= {name: value for name, value in saved.root.items() if name not in _OURS}
        _write(output, list(chosen.values()), {**found, **(root or {})}, layout)
    report.records = len(chosen)
    return report


_OURS = {"root_checksum", "layout", "version", "format_version", "successful_configs"}


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(
                file for file in path.rglob("*") if file.suffix in _SUFFIXES and not file.is_dir()
            )
        elif path.exists():
            refuse_special(path)
            yield path
        else:
            raise InputError(f"{path}: there is no such file or folder")


def _drop_incomplete(report: SalvageReport) -> None:
    """A record that lacks an array which most have is not a result; nor, in a damaged file, an attribute."""
    everything = [record for saved in report.files for record in saved.records.values()]
    arrays = _usual([record.arrays for record in everything])
    attributes = _usual([record.attributes for record in everything])
    for saved in report.files:
        for key, record in list(saved.records.items()):
            lacking = sorted(arrays - record.arrays.keys())
            if saved.damaged:
                lacking += sorted(attributes - record.attributes.keys())
            if lacking:
                del saved.records[key]
                saved.findings.append(Finding(Verdict.INCOMPLETE, f"no {', '.join(lacking)}", key))


def _usual(parts: Sequence[Mapping[str, object]]) -> set[str]:
    """The names that more than half of the records have."""
    counts = Counter(name for part in parts for name in part)
    return {name for name, count in counts.items() if 2 * count > len(parts)}


def _choose(report: SalvageReport) -> dict[str, Record]:
    chosen: dict[str, Record] = {}
    origin: dict[str, Path] = {}
    for saved in report.files:
        for key, record in saved.records.items():
            if key not in chosen:
                chosen[key], origin[key] = record, saved.path
            elif not same_result(chosen[key], record):
                sums = checksum_of(chosen[key]), checksum_of(record)
                report.conflicts.append(Conflict(key, str(origin[key]), sums[0], str(saved.path), sums[1]))
    return chosen


def _write(output: Path, records: list[Record], root: Mapping[str, Attribute], layout: str | None) -> None:
    run = RunDirectory(output).create()
    writer = ShardWriter(run)
    for start in range(0, len(records), _BATCH):
        writer.publish(records[start : start + _BATCH])
    merge(output, MergeOptions(root=root, layout=layout))
