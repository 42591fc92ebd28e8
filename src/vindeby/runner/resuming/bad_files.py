"""What a run does about results that turned out to be bad: refuse to go on, leave them, or compute them again.

A bad file is never deleted: ``rerun`` moves a shard to ``quarantine/`` with a note, after what is good in it was
published anew, and puts a copy of a damaged database there before the next merge replaces it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from vindeby.errors import DataError
from vindeby.runner.resuming.resume import ResumeState
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding
from vindeby.store.read.reading import read_any


def refuse_or_quarantine(directory: RunDirectory, resume_state: ResumeState, on_bad: str) -> None:
    """Deal with what is bad, before anything is run."""
    if not resume_state.bad:
        return
    if on_bad == "abort":
        raise DataError(*_refusal(directory, resume_state.bad))
    for path, findings in resume_state.bad.items():
        why = "; ".join(map(str, findings))
        if path == directory.output:
            copy = directory.path / f"{path.name}.copy"
            shutil.copy2(path, copy)
            directory.put_in_quarantine(copy, f"copy of {path}: {why}")
        elif on_bad == "rerun":
            good = _good_records(path)
            if good:
                ShardWriter(directory).publish(good)
            directory.put_in_quarantine(path, why)


def _good_records(path: Path) -> list[Record]:
    with Guard() as guard:
        reading = read_any(path, guard)
    return [record for segment in reading.segments for record in segment.records()]


def _refusal(directory: RunDirectory, bad: dict[Path, list[Finding]]) -> list[str]:
    return [
        f"{directory.output}: {len(bad)} files with results are bad; nothing was run or changed:",
        *(f"  {path}: {'; '.join(map(str, findings))}" for path, findings in bad.items()),
        "--on-bad rerun puts them in quarantine/ and computes again what is missing; --on-bad skip goes on without",
    ]
