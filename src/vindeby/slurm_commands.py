"""SLURM's own commands: submit a script, and ask which jobs wait or run."""

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


def in_queue(jobs: Iterable[str]) -> list[str]:
    """Return which of these jobs wait or run; elements of arrays as SLURM names them."""
    known = [job for job in jobs if job]
    if not known:
        return []
    try:
        return _command("squeue", "--noheader", "--format=%i", f"--jobs={','.join(known)}").split()
    except ShortfallError as error:
        if "Invalid job id" in str(error):  # so it says of jobs that are long gone
            return [found for job in known for found in in_queue([job])] if len(known) > 1 else []
        raise


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
        reason = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        raise ShortfallError(f"{name} refused: {reason}")
    return done.stdout
