"""SLURM's commands: submit, and ask which jobs are still there; and a note of what was submitted."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from vindeby.errors import ArgumentError, BusyError, ShortfallError
from vindeby.store.disk.run_directory import RunDirectory, replace_text

_ANSWER_S = 120.0


@dataclass(frozen=True)
class Submitted:
    """The jobs of one submission."""

    array: str
    merge: str
    parts: tuple[int, ...]
    of: int
    time: float


def submit(script: Path, *options: str) -> str:
    """Give a script to sbatch; the number of the job."""
    answer = _command("sbatch", "--parsable", *options, str(script))
    return answer.strip().partition(";")[0]


def still_there(jobs: Iterable[str]) -> list[str]:
    """Of these jobs, those that wait or run; elements of arrays as SLURM names them."""
    known = [job for job in jobs if job]
    if not known:
        return []
    try:
        listed = _command("squeue", "--noheader", "--format=%i", f"--jobs={','.join(known)}")
    except ShortfallError as error:
        if "Invalid job id" in str(error):  # so it says of jobs that are long gone
            return [job for job in known if len(known) > 1 and still_there([job])]
        raise
    return listed.split()


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
        data = json.loads(_note(run).read_text(encoding="utf-8"))
        return Submitted(
            str(data["array"]), str(data["merge"]), tuple(data["parts"]), data["of"], data["time"]
        )
    return None


def _note(run: RunDirectory) -> Path:
    return run.path / "slurm.json"


def _command(name: str, *arguments: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise ArgumentError(
            f"{name} is not here; give this command on a machine from which jobs are submitted"
        )
    try:
        done = subprocess.run(  # noqa: S603 - SLURM's own command
            [path, *arguments], capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise ShortfallError(f"{name} gave no answer within {_ANSWER_S:.0f} s; try again later") from None
    if done.returncode:
        told = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        raise ShortfallError(f"{name} refused: {told}")
    return done.stdout
