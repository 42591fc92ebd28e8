"""From any mixture of good, empty, cut, locked and corrupt files to a database of what was saved.

What is saved goes the same way as every result: published as shards beside the new database, then merged,
verified. The report says for each file what was found, saved and lost, and why.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vindeby.errors import ArgumentError, InputError
from vindeby.store.disk.files import check_output, refuse_other_formats, storage_error
from vindeby.store.disk.run_directory import SUFFIXES, RunDirectory
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.origin import ORIGIN
from vindeby.store.format.record import Attribute
from vindeby.store.format.root import OWN_FIELDS
from vindeby.store.format.rows import batches, checksum_of
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.audit import Conflict
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.merge.new_database import STALE
from vindeby.store.merge.sources import same_result
from vindeby.store.read.reading import usual_names
from vindeby.store.salvage.saved import Saved, rescue
from vindeby.text import one_line, plural

_SUFFIXES = {*SUFFIXES, ".nc", ".tmp"}


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
        done = f"{plural(self.records, 'record')} saved from {plural(len(self.files), 'file')}"
        lines = [f"{one_line(str(self.output))}: {done}"]
        for saved in self.files:
            means = ", ".join(f"{count} {how}" for how, count in saved.means.items()) or "nothing"
            count = plural(len(saved.records), "record")
            lines.append(f"  {one_line(str(saved.path))}: {saved.size} bytes, {count} saved ({means})")
            lines += [f"    {finding}" for finding in saved.findings]
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
    output = run.output
    files = list(files_in(paths))
    if output.exists():
        raise ArgumentError(f"{output}: exists and is left as it is; choose another name with -o")
    if run.shard_paths():
        raise ArgumentError(f"{run.path}: holds results already; choose another name with -o")
    report = SalvageReport(str(output))
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output.parent) as spool, Guard(limits) as guard:
            for number, path in enumerate(files, 1):
                report.files.append(rescue(path, spool, guard, naming))
                if number % 100 == 0:
                    progress(f"{number} of {len(files)} files read")
            _save(report, run, root or {}, file_format, guard.limits)
    except OSError as error:
        raise storage_error(error, output) from error
    return report


def _save(
    report: SalvageReport,
    run: RunDirectory,
    root: Mapping[str, Attribute],
    file_format: str | None,
    limits: ReadLimits,
) -> None:
    _drop_incomplete(report)
    chosen = _choose(report)
    report.records = len(chosen)
    if not chosen:
        return
    found: dict[str, Attribute] = {}
    for saved in reversed(report.files):
        found |= {name: value for name, value in saved.root.items() if name not in _OURS}
    records = (saved.records[key].record() for key, saved in chosen.items())
    writer = ShardWriter(run.create())
    for batch in batches(records, limits.batch_bytes):
        writer.publish(batch)
    merge(run, MergeOptions(root={**found, **root}, file_format=file_format, limits=limits))


_OURS = {"root_checksum", "layout", "version", "format_version", "successful_configs", STALE, OWN_FIELDS}


def files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """Each file that is named, or stands in a folder that is named and looks like HDF5 or a shard by its name."""
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


def _drop_incomplete(report: SalvageReport) -> None:
    """Drop each record that lacks an array (in a damaged file also an attribute) which most records have."""
    schemas = Counter(row.schema for saved in report.files for row in saved.records.values())
    attributes = {schema: {name for name, _ in schema.attributes} - {ORIGIN} for schema in schemas}
    usual = usual_names((schema.array_names, count) for schema, count in schemas.items())
    usual_attributes = usual_names((attributes[schema], count) for schema, count in schemas.items())
    for saved in report.files:
        damaged = saved.damaged
        for key, (_, schema, *_) in list(saved.records.items()):
            lacking = sorted(usual - set(schema.array_names))
            if damaged:
                lacking += sorted(usual_attributes - attributes[schema])
            if lacking:
                del saved.records[key]
                saved.findings.append(Finding(Verdict.INCOMPLETE, f"no {', '.join(lacking)}", key))


def _choose(report: SalvageReport) -> dict[str, Saved]:
    chosen: dict[str, Saved] = {}
    for saved in report.files:
        for key in saved.records:
            first = chosen.setdefault(key, saved)
            if first is saved:
                continue
            one, two = first.records[key].record(), saved.records[key].record()
            if not same_result(one, two):
                sums = checksum_of(one), checksum_of(two)
                report.conflicts.append(Conflict(key, str(first.path), sums[0], str(saved.path), sums[1]))
    return chosen
