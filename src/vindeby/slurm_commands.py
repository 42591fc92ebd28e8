"""SLURM's own commands: submit a script, cancel jobs, and ask which of them wait or run."""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vindeby.errors import ArgumentError, ShortfallError

_ANSWER_S = 120.0


def submit(script: Path, *options: str) -> str:
    """Give a script to sbatch; the number of the job."""
    answer = _command("sbatch", "--parsable", *options, str(script))
    return answer.strip().partition(";")[0]


def cancel(jobs: Iterable[str]) -> None:
    """End jobs, whatever their state."""
    if known := sorted(jobs):
        _command("scancel", *known)


@dataclass(frozen=True)
class InQueue:
    """A job that waits or runs: its state such as PENDING, and why it is in that state."""

    state: str
    reason: str


def in_queue(jobs: Iterable[str]) -> dict[str, InQueue]:
    """Of these jobs, those that wait or run, by number; elements of arrays as SLURM names them."""
    known = [job for job in jobs if job]
    if not known:
        return {}
    try:
        listed = _command("squeue", "--noheader", "--format=%i|%T|%r", f"--jobs={','.join(known)}")
    except ShortfallError as error:
        if "Invalid job id" in str(error):  # so it says of jobs that are long gone
            found: dict[str, InQueue] = {}
            for job in known if len(known) > 1 else ():
                found |= in_queue([job])
            return found
        raise
    lines = (line.strip().split("|", 2) for line in listed.splitlines() if line.count("|") >= 2)
    return {job: InQueue(state, reason) for job, state, reason in lines}


def how_it_ended(job: str) -> str:
    """What SLURM says of a job that is over, as long as it remembers it: its state, reason and exit status."""
    fields = dict(
        word.split("=", 1)
        for word in _command("scontrol", "--oneliner", "show", "job", job).split()
        if "=" in word
    )
    status, _, number = fields.get("ExitCode", "").partition(":")
    parts = [fields.get("JobState", "")]
    if (reason := fields.get("Reason", "None")) != "None":
        parts.append(reason)
    if status not in {"", "0"}:
        parts.append(f"exit status {status}")
    if number not in {"", "0"}:
        parts.append(f"signal {number}")
    return ", ".join(part for part in parts if part)


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
