"""``vindeby slurm CAMPAIGN -o OUT.h5``: the campaign as an array of SLURM jobs, for what is still missing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vindeby.cli.options import (
    OutputOption,
    RetryFailedOption,
    loader,
    option,
    slurm_jobs,
    slurm_options,
    taking,
)
from vindeby.cli.output import echo, say
from vindeby.errors import ArgumentError
from vindeby.text import as_ranges, plural

if TYPE_CHECKING:
    from vindeby.batch import Job
    from vindeby.campaign import Campaign
    from vindeby.store.disk.run_directory import RunDirectory


@taking("load", loader)
@taking("jobs", slurm_jobs)
def command(
    load: Any,
    output: OutputOption = Path("layouts.h5"),
    jobs: Any = None,
    retry_failed: RetryFailedOption = False,
    submit: bool = option("--submit", "Submit the jobs, too.", False),
) -> None:
    """Write the scripts of a SLURM job array for what is missing; run it again to submit what failed."""
    from vindeby.batch import Job, array_text, merge_text, refuse_while_running, what_is_left

    loaded = load(lambda _: None)
    options = slurm_options(loaded, jobs)
    run = _prepared(output, loaded)
    parts = options.nodes or 1
    left = what_is_left(run, loaded, parts, retry_failed=retry_failed)
    if left.failed:
        count = plural(left.failed, "task failed before and is", "tasks failed before and are")
        say(f"{count} left out; --retry-failed tries again")
    if not left.by_part:
        echo(
            f"{output}: nothing is left to run; to bring the results together: vindeby merge {_quoted(output)}"
        )
        return
    job = Job(run, loaded, Path.cwd(), options, parts, ("--retry-failed",) if retry_failed else ())
    if submit:
        refuse_while_running(run)
    _write(job.array_script, array_text(job, left.by_part))
    _write(job.merge_script, merge_text(job))
    tasks = f"{sum(left.by_part.values()):,} of {left.total:,} tasks"
    echo(f"{job.array_script}: {tasks} are left, in parts {as_ranges(left.by_part)} of {parts}")
    if submit:
        _submit(job)
    else:
        echo(
            f"to submit it: the same command with --submit; or sbatch {_quoted(job.array_script)}, then, "
            "with the number of"
        )
        echo(f"that job: sbatch --dependency=afterany:NUMBER {_quoted(job.merge_script)}")


def _prepared(output: Path, campaign: Campaign) -> RunDirectory:
    """The run directory, with the campaign frozen in it: the jobs run this one, whatever becomes of the file."""
    from vindeby.assembly.merging import prepared_directory
    from vindeby.batch import refuse_while_running
    from vindeby.store.disk.files import check_output

    for path in (check_output(output).absolute(), Path.cwd()):
        if not str(path).isprintable():
            raise ArgumentError(
                f"{path}: the path holds a character that cannot stand in a script for sbatch, such as the end of a "
                "line; rename the folder, or choose another name with -o"
            )
    run = prepared_directory(output, campaign)
    text = campaign.dumps()
    if run.campaign_text() != text:
        refuse_while_running(run)
        run.freeze_campaign(text)
    return run


def _quoted(path: Path) -> str:
    """A path as it can be copied into a shell."""
    return shlex.quote(str(path))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _submit(job: Job) -> None:
    from vindeby.batch import Submitted, write_note
    from vindeby.slurm_commands import submit

    array = submit(job.array_script)
    write_note(job.run, Submitted(array, ""))
    merge = submit(job.merge_script, f"--dependency=afterany:{array}")
    write_note(job.run, Submitted(array, merge))
    echo(f"submitted: job array {array}, and {merge}, which merges when all of its elements have ended")
    echo(f"to watch it: vindeby monitor {_quoted(job.run.output)}; to end it: scancel {array} {merge}")
    echo("if anything is missing in the end: the same command again")
