"""``vindeby evaluate OUT.h5 --with STUDY.yaml -o STUDY.h5``: layouts in other wind, wakes or among neighbours."""

from pathlib import Path
from typing import Annotated, Any

import typer

from vindeby.cli.options import IntervalOption, QuietOption, SetOption, how_to_run, taking


@taking("how", how_to_run)
def command(
    database: Annotated[Path, typer.Argument(metavar="OUT.h5", help="The database with the layouts.")],
    study: Annotated[Path, typer.Option("--with", metavar="STUDY.yaml", help="What is evaluated, and how.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="STUDY.h5", help="The database to make or complete.")
    ],
    how: Any = None,
    replace_stale: Annotated[
        bool,
        typer.Option("--replace-stale", help="Compute again what answers an older study or older layouts."),
    ] = False,
    set_: SetOption = None,
    quiet: QuietOption = False,
    interval: IntervalOption = 10.0,
) -> None:
    """Evaluate stored layouts as a study file says; rerun the same command to resume after any crash."""
    from vindeby.cli.run_view import end_with, watching
    from vindeby.evaluation.running import evaluate

    with watching(quiet=quiet, interval_s=interval) as shown:
        summary = evaluate(
            database, study, output, overrides=set_ or (), replace_stale=replace_stale, **how, **shown
        )
    end_with(summary, quiet=quiet)
