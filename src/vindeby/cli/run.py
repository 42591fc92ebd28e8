"""``vindeby run CAMPAIGN [-o OUT.h5]``: run what is missing, then merge and validate."""

from pathlib import Path
from typing import Any

from vindeby.cli.options import (
    IntervalOption,
    OutputOption,
    QuietOption,
    how_to_run,
    loader,
    option,
    taking,
    whole_number,
)
from vindeby.cli.output import say

DEFAULT_OUTPUT = Path("layouts.h5")


@taking("load", loader)
@taking("how", how_to_run)
def command(
    load: Any,
    output: OutputOption = DEFAULT_OUTPUT,
    how: Any = None,
    dask: str | None = option(
        "--dask ADDRESS|FILE", "Compute on a Dask cluster: the address of its scheduler, or a scheduler file."
    ),
    replace_stale: bool = option(
        "--replace-stale", "Compute again what answers an older version of the campaign.", False
    ),
    recompute: list[str] | None = option(
        "--recompute KEY",
        "Compute this valid result again; it counts until the new one is there; repeatable.",
    ),
    recompute_where: str | None = option(
        "--recompute-where EXPRESSION", "The same for all results that this is true for: 'aep < 4800'."
    ),
    max_failures: int | None = option(
        "--max-failures N", "Stop when more tasks than this have failed.", parser=whole_number
    ),
    quiet: QuietOption = False,
    interval: IntervalOption = 10.0,
) -> None:
    """Run what is missing of a campaign, merge and validate; rerun the same command to resume after any crash."""
    from vindeby.campaign.survey import notes_about_files
    from vindeby.cli.run_view import end_with, watching
    from vindeby.runner.running import run

    loaded = load((lambda _: None) if quiet else _say_what_matters)
    for note in () if quiet else notes_about_files(loaded):
        say(f"warning: {note}")
    with watching(quiet=quiet, interval_s=interval) as shown:
        summary = run(
            loaded,
            output,
            replace_stale=replace_stale,
            recompute=recompute or (),
            recompute_where=recompute_where,
            max_failures=max_failures,
            pool=dask,
            **how,
            **shown,
        )
    end_with(summary, quiet=quiet)


def _say_what_matters(note: str) -> None:
    """Say what a reader of another format chose or doubts; ``check`` says what it took and left as well."""
    if not note.startswith(("taken:", "ignored:", "include left:", "schema:")):
        say(note)
