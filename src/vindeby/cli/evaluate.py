"""``vindeby evaluate OUT.h5 --with STUDY.yaml -o STUDY.h5``: stored layouts in other wind, wakes or company."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from vindeby.cli.options import SetOption, TakeOverOption
from vindeby.cli.output import echo_text, say


def command(
    database: Annotated[Path, typer.Argument(metavar="OUT.h5", help="The database with the layouts.")],
    study: Annotated[Path, typer.Option("--with", metavar="STUDY.yaml", help="What is evaluated, and how.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="STUDY.h5", help="The database to make or complete.")
    ],
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-j", metavar="N", help="Worker processes; one per core if not given."),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option("--part", metavar="I/N", help="Only this share of the cases, for job arrays; no merge."),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what failed in an earlier run.")
    ] = False,
    replace_stale: Annotated[
        bool,
        typer.Option("--replace-stale", help="Compute again what answers an older study or older layouts."),
    ] = False,
    on_bad: Annotated[
        str,
        typer.Option(
            "--on-bad", metavar="abort|skip|rerun", help="What to do when a file with results is bad."
        ),
    ] = "abort",
    take_over: TakeOverOption = False,
    set_: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="Between lines when not in a terminal.")
    ] = 10.0,
) -> None:
    """Evaluate stored layouts as a study file says; rerun the same command to resume after any crash."""
    from vindeby.cli.run_view import summary_text, watching
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
    if not quiet:
        words = [word for word in sys.argv[1:] if word not in {"--retry-failed", "--take-over"}]
        echo_text(summary_text(summary, shlex.join(["vindeby", *words])))
    if not summary.complete:
        raise typer.Exit(1)
