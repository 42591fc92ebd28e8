"""``vindeby missing OUT.h5``: the configurations that have no valid result, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.errors import ArgumentError
from vindeby.looking.cli.options import JsonOption
from vindeby.looking.cli.results import CampaignOption, OutputArgument, expected_of, required_campaign, say
from vindeby.store.database import Database
from vindeby.store.events import read_failures
from vindeby.store.missing import as_csv, as_json, as_text, find_missing
from vindeby.store.rundir import RunDirectory

_FORMATS = {"text": as_text, "csv": as_csv, "json": as_json}


def command(
    output: OutputArgument,
    campaign: CampaignOption = None,
    format: Annotated[
        str, typer.Option("--format", metavar="text|csv|json", help="How to print the list.")
    ] = "text",
    json_: JsonOption = False,
) -> None:
    """List the configurations that have no valid result, with the reason; exit 1 when there are any."""
    chosen = "json" if json_ else format
    if chosen not in _FORMATS:
        raise ArgumentError(f"--format: {format!r} is not known; use text, csv or json")
    database = _open(output)
    kept = None if database is None else database.attributes.get("campaign")
    expected = expected_of(required_campaign(output, campaign, kept))
    failed = {key: str(task) for key, task in read_failures(RunDirectory(output)).items()}
    missing = find_missing(database, expected, failed)
    typer.echo(_FORMATS[chosen](missing), nl=False)
    if missing:
        say(f"{len(missing)} of {len(expected)} results are missing")
        raise typer.Exit(1)
    say(f"all {len(expected)} results are there")


def _open(output: Path) -> Database | None:
    """The database; None when a campaign was frozen but nothing is finished yet."""
    return None if RunDirectory(output).nothing_yet else Database(output)
