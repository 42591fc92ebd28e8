"""Campaigns as jobs of a batch system: scripts that run a campaign in parts, and their submission.

For clusters where no process may stay on a login node. Every element of a job array is ``vindeby run --part i/n``; the
merge is a job that begins when all elements have ended, however they did. Nothing here runs tasks.

The scripts for sbatch, one for the parts and one for the merge at the end, are to be read and changed by people.
"""

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError, BusyError, ShortfallError
from vindeby.results.missing import missing_results
from vindeby.store.disk.events import read_failures
from vindeby.store.disk.files import read_bounded
from vindeby.store.disk.run_directory import RunDirectory, replace_text
from vindeby.text import as_ranges, parse_json

_ANSWER_S = 120.0
_NOTICE_S = 60
"""Between the end of the grace that running tasks have and the end of the job, to publish."""
_JOBS = "slurm.json"


@dataclass(frozen=True)
class Job:
    """A campaign in parts, as its scripts need to know it."""

    run: RunDirectory
    campaign: Campaign
    folder: Path
    """The folder in which the jobs run: the one in which the command was started."""
    options: tuple[str, ...] = ()
    """Further options of ``vindeby run``."""

    @property
    def parts(self) -> int:
        """Return the number of elements that share the tasks."""
        return self.campaign.run.slurm.nodes or 1

    @property
    def name(self) -> str:
        """Return the name of the jobs in the queue."""
        return f"vindeby-{self.run.output.stem}"

    @property
    def array_script(self) -> Path:
        """Return the path of the script of the parts, beside the database."""
        return self.run.output.with_name(f"{self.run.output.stem}.slurm.sh")

    @property
    def merge_script(self) -> Path:
        """Return the path of the script of the merge."""
        return self.run.output.with_name(f"{self.run.output.stem}.merge.sh")


def array_text(job: Job, parts: Iterable[int]) -> str:
    """Return the script of the parts; the numbers in ``parts`` are its elements."""
    notice_s = int(job.campaign.run.grace_s) + _NOTICE_S
    command = [*_vindeby(), "run", str(job.run.campaign_file), "-o", str(job.run.output), *job.options]
    lines = [
        "#!/bin/bash",
        f"# {job.campaign.name}: each element runs one part of the campaign. Written by vindeby slurm.",
        *_directives(job, f"--job-name={_directive_word(job.name)}", f"--array={as_ranges(parts)}"),
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        f"# {notice_s} s before the time is up SLURM sends USR1: the part publishes what is finished, then ends.",
        f"#SBATCH --signal=B:USR1@{notice_s}",
        f"#SBATCH --output={_log(job, 'slurm-%A_%a.log')}",
        "",
        *_surroundings(job),
        f"part=$SLURM_ARRAY_TASK_ID/{job.parts}",
        'echo "$(date -Is) part $part on $(hostname), job $SLURM_JOB_ID, start ${SLURM_RESTART_COUNT:-0}"',
        f'exec {shlex.join(command)} --part "$part" --workers "${{SLURM_CPUS_PER_TASK:-1}}"',
    ]
    return "\n".join(lines) + "\n"


def merge_text(job: Job) -> str:
    """Return the script of the merge, which lists what is missing; it exits as ``vindeby missing`` does."""
    output = str(job.run.output)
    lines = [
        "#!/bin/bash",
        f"# {job.campaign.name}: brings the results of all parts together. Written by vindeby slurm.",
        *_directives(job, f"--job-name={_directive_word(job.name + '-merge')}", cores=1),
        f"#SBATCH --output={_log(job, 'slurm-merge-%j.log')}",
        "",
        *_surroundings(job),
        f"{shlex.join([*_vindeby(), 'merge', output])} --on-bad skip --wait 600 || echo 'the merge failed, see above'",
        shlex.join([*_vindeby(), "missing", output]),
    ]
    return "\n".join(lines) + "\n"


def _vindeby() -> list[str]:
    return [sys.executable, "-m", "vindeby"]


def _directives(job: Job, *first: str, cores: int | None = None) -> list[str]:
    slurm = job.campaign.run.slurm
    cores = cores or slurm.cores
    asked = [
        *first,
        "--nodes=1",
        "--ntasks=1",
        *([f"--cpus-per-task={cores}"] if cores else []),
        *([f"--time={slurm.time}"] if slurm.time else []),
        *([f"--mem={slurm.memory}"] if slurm.memory else []),
        *([f"--partition={slurm.partition}"] if slurm.partition else []),
        *([f"--account={slurm.account}"] if slurm.account else []),
        *slurm.directives,
    ]
    return [f"#SBATCH {option}" for option in asked]


def _log(job: Job, pattern: str) -> str:
    """Return the path of a log file; percent signs in the folder's name are escaped, as SLURM has patterns with %."""
    return _directive_word(f"{str(job.run.logs).replace('%', '%%')}/{pattern}")


def _directive_word(text: str) -> str:
    """Quote a word for sbatch: blanks, quotes and # stand in double quotes, with backslashes where needed."""
    if not re.search(r"[^\w@%+=:,./-]", text):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _surroundings(job: Job) -> list[str]:
    return [
        f"cd {shlex.quote(str(job.folder))} || exit 1",
        *job.campaign.run.slurm.before,
        f"export NUMBA_CACHE_DIR={shlex.quote(str(job.run.path / 'compiled'))}",
        'mkdir -p "$NUMBA_CACHE_DIR"',
        "",
    ]


@dataclass(frozen=True)
class Left:
    """The number of tasks left in each incomplete part, and of tasks that failed before."""

    by_part: Mapping[int, int]
    failed: int
    total: int


def what_is_left(run: RunDirectory, campaign: Campaign, parts: int, *, retry_failed: bool = False) -> Left:
    """Compare the campaign with its results; tasks that failed for good count only with ``retry_failed``."""
    expected = campaign.fingerprints()
    failures = {key for key, task in read_failures(run).items() if expected.get(key) == task.fingerprint}
    missing = {one.key for one in missing_results(run, campaign)}
    given_up = set() if retry_failed else missing & failures
    left = (number for number, key in enumerate(expected) if key in missing and key not in given_up)
    by_part = Counter(number % parts + 1 for number in left)  # as ``vindeby run --part`` shares tasks out
    return Left(dict(sorted(by_part.items())), len(given_up), len(expected))


def refuse_while_running(run: RunDirectory) -> None:
    """Raise BusyError if jobs of an earlier submission of this campaign wait or run."""
    earlier = submitted_jobs(run)
    if left := in_queue(earlier):
        raise BusyError(
            f"{run.output}: jobs of this campaign are still in the queue: {', '.join(left[:8])}; wait for them, or end "
            f"them with: scancel {' '.join(earlier)}"
        )


def keep_jobs(run: RunDirectory, jobs: Sequence[str]) -> None:
    """Keep the numbers of submitted jobs in the run directory."""
    replace_text(run.path / _JOBS, json.dumps(jobs) + "\n", run.path.parent)


def submitted_jobs(run: RunDirectory) -> list[str]:
    """Return the numbers of the jobs that were submitted last, if any."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [str(job) for job in parse_json(read_bounded(run.path / _JOBS))]
    return []


def submit(script: Path, *options: str) -> str:
    """Submit a script with sbatch; return the number of the job."""
    answer = _command("sbatch", "--parsable", *options, str(script))
    return answer.strip().partition(";")[0]


def in_queue(jobs: Iterable[str]) -> list[str]:
    """Return those of the jobs that wait or run; elements of arrays are as SLURM names them."""
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
