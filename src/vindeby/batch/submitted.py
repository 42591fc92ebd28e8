"""A note of the jobs that were submitted for a campaign, so that nobody submits it twice at the same time."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from vindeby.errors import BusyError
from vindeby.slurm_commands import still_there
from vindeby.store.disk.files import read_bounded
from vindeby.store.disk.run_directory import RunDirectory, replace_text
from vindeby.text import parse_json


@dataclass(frozen=True)
class Submitted:
    """The jobs of one submission."""

    array: str
    merge: str
    parts: tuple[int, ...]
    of: int
    time: float


def refuse_while_running(run: RunDirectory) -> None:
    """BusyError when jobs of an earlier submission of this campaign wait or run."""
    earlier = read_note(run)
    if earlier is None:
        return
    if left := still_there((earlier.array, earlier.merge)):
        raise BusyError(
            f"{run.output}: jobs of this campaign are still in the queue: {', '.join(left[:8])}; wait for them, or end "
            f"them with: scancel {earlier.array} {earlier.merge}"
        )


def write_note(run: RunDirectory, array: str, merge: str, parts: Iterable[int], of: int) -> None:
    """Keep the numbers of the jobs in the run directory."""
    note = Submitted(array, merge, tuple(parts), of, time.time())
    replace_text(_note(run), json.dumps(asdict(note)) + "\n", run.path.parent)


def read_note(run: RunDirectory) -> Submitted | None:
    """What was submitted last, if anything."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        data = parse_json(read_bounded(_note(run)))
        return Submitted(
            str(data["array"]), str(data["merge"]), tuple(data["parts"]), data["of"], data["time"]
        )
    return None


def _note(run: RunDirectory) -> Path:
    return run.path / "slurm.json"
