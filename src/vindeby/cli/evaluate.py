"""``vindeby evaluate OUT.h5 --with STUDY.yaml -o STUDY.h5``: layouts in other wind, wakes or among neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.cli.options import (
    IntervalOption,
    OnBadOption,
    PartOption,
    QuietOption,
    RetryFailedOption,
    SetOption,
    TakeOverOption,
    WorkersOption,
)
from vindeby.cli.output import say


def command(
    database: Annotated[Path, typer.Argument(metavar="OUT.h5", help="The database with the layouts.")],
    study: Annotated[Path, typer.Option("--with", metavar="STUDY.yaml", help="What is evaluated, and how.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="STUDY.h5", help="The database to make or complete.")
    ],
    workers: WorkersOption = None,
    part: PartOption = None,
    retry_failed: RetryFailedOption = False,
    replace_stale: Annotated[
        bool,
        typer.Option("--replace-stale", help="Compute again what answers an older study or older layouts."),
    ] = False,
    on_bad: OnBadOption = "abort",
    take_over: TakeOverOption = False,
    set_: SetOption = None,
    quiet: QuietOption = False,
    interval: IntervalOption = 10.0,
) -> None:
    """Evaluate stored layouts as a study file says; rerun the same command to resume after any crash."""
    from vindeby.cli.run_view import end_with, watching
    from vindeby.evaluation.running import evaluate

    on_progress, held = watching(quiet=quiet, interval_s=interval)
    with held:
        summary = evaluate(
            database,
            study,
            output,
            overrides=set_ or (),
            workers=workers,
            part=part,
            retry_failed=retry_failed,
            replace_stale=replace_stale,
            on_bad=on_bad,
            take_over=take_over,
            on_progress=on_progress,
            on_message=(lambda _: None) if quiet else say,
        )
    end_with(summary, quiet=quiet)
