"""Options of every command that computes tasks: how many workers, what to do again, how much to say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="OUT.h5", help="The database to make or complete.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", "-j", metavar="N", help="Worker processes; one per core if not given."),
]
RetryFailedOption = Annotated[
    bool, typer.Option("--retry-failed", help="Try again what failed in an earlier run.")
]
OnBadOption = Annotated[
    str,
    typer.Option("--on-bad", metavar="abort|skip|rerun", help="What to do when a file with results is bad."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
IntervalOption = Annotated[
    float, typer.Option("--interval", metavar="SECONDS", help="Between lines when not in a terminal.")
]
