"""SLURM's own commands: submit a script, and ask which jobs wait or run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from vindeby.errors import ArgumentError, ShortfallError

_ANSWER_S = 120.0


def submit(script: Path, *options: str) -> str:
    """Give a script to sbatch; the number of the job."""
    answer = _command("sbatch", "--parsable", *options, str(script))
    return answer.strip().partition(";")[0]


def check_script(script: Path) -> None:
    """Would sbatch take this script? ShortfallError with what it says when it would not."""
    _command("sbatch", "--test-only", str(script))


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
