"""``vindeby slurm CAMPAIGN -o OUT.h5``: the campaign as an array of SLURM jobs, for what is still missing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vindeby.cli.options import OutputOption, RetryFailedOption, loader, option, taking
from vindeby.cli.output import echo, say
from vindeby.errors import ArgumentError
from vindeby.text import as_ranges, plural

if TYPE_CHECKING:
    from vindeby.batch import Job
    from vindeby.campaign import Campaign
    from vindeby.store.disk.run_directory import RunDirectory


@taking("load", loader)
def command(
    load: Any,
    output: OutputOption = Path("layouts.h5"),
    retry_failed: RetryFailedOption = False,
    submit: bool = option("--submit", "Submit the jobs, too.", False),
) -> None:
    """Write the scripts of a SLURM job array for what is missing; run it again to submit what failed."""
    from vindeby.batch import Job, array_text, merge_text, refuse_while_running, what_is_left

    loaded = load(lambda _: None)
    run = _prepared(output, loaded)
    job = Job(run, loaded, Path.cwd(), ("--retry-failed",) if retry_failed else ())
    left = what_is_left(run, loaded, job.parts, retry_failed=retry_failed)
    if left.failed:
        count = plural(left.failed, "task failed before and is", "tasks failed before and are")
        say(f"{count} left out; --retry-failed tries again")
    if not left.by_part:
        echo(
            f"{output}: nothing is left to run; to bring the results together: vindeby merge {shlex.quote(str(output))}"
        )
        return
    if submit:
        refuse_while_running(run)
    for path, text in (
        (job.array_script, array_text(job, left.by_part)),
        (job.merge_script, merge_text(job)),
    ):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    tasks = f"{sum(left.by_part.values()):,} of {left.total:,} tasks"
    echo(f"{job.array_script}: {tasks} are left, in parts {as_ranges(left.by_part)} of {job.parts}")
    array, merge = (shlex.quote(str(path)) for path in (job.array_script, job.merge_script))
    if submit:
        _submit(job)
    else:
        echo(f"to submit it: the same command with --submit; or sbatch {array}, then, with the number of")
        echo(f"that job: sbatch --dependency=afterany:NUMBER {merge}")


def _prepared(output: Path, campaign: Campaign) -> RunDirectory:
    """Return the run directory with the campaign frozen in it: the jobs run this text even if the file changes."""
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


def _submit(job: Job) -> None:
    from vindeby.batch import keep_jobs, submit

    array = submit(job.array_script)
    keep_jobs(job.run, [array])
    merge = submit(job.merge_script, f"--dependency=afterany:{array}")
    keep_jobs(job.run, [array, merge])
    echo(f"submitted: job array {array}, and {merge}, which merges when all of its elements have ended")
    echo(
        f"to watch it: vindeby monitor {shlex.quote(str(job.run.output))}; to end it: scancel {array} {merge}"
    )
    echo("if anything is missing in the end: the same command again")
