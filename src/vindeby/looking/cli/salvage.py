"""``vindeby salvage PATH... -o OUT.h5``: foreign or damaged files into a database of what could be saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vindeby.campaign.outline import write_outline
from vindeby.errors import DataError
from vindeby.looking.asked import campaign_of
from vindeby.looking.cli.options import JsonOption
from vindeby.looking.cli.results import (
    NAMING,
    CampaignOption,
    LayoutOption,
    expected_of,
    say,
)
from vindeby.store.database import Database
from vindeby.store.missing import find_missing
from vindeby.store.rundir import RunDirectory
from vindeby.store.salvage import salvage


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, or folders of files.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.h5", help="The new database.")],
    campaign: CampaignOption = None,
    layout: LayoutOption = None,
    keep_doubtful: Annotated[
        Path | None,
        typer.Option(
            "--keep-doubtful",
            metavar="FILE",
            help="Write records that do not meet their checksum to this file, marked as no results.",
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Save what can be saved; the originals are not changed. Exit 1 when something was lost or is missing."""
    loaded = campaign_of(output, campaign)
    root = {} if loaded is None else loaded.root_attributes()
    report = salvage(
        paths, output, naming=NAMING, root=root, layout=layout, keep_doubtful=keep_doubtful, progress=say
    )
    if report.doubtful:
        say(
            f"{report.doubtful} records that do not meet their checksum are in {keep_doubtful}, marked as doubtful"
        )
    missing = None
    if report.records and loaded is not None:
        text = loaded.dumps()
        RunDirectory(output).freeze_campaign(text, write_outline(loaded, text))
        with Database(output) as database:
            missing = find_missing(database, expected_of(loaded))
    if json_:
        lacking = None if missing is None else [vars(entry) for entry in missing]
        typer.echo(json.dumps({**report.to_json(), "missing": lacking}, indent=1))
    else:
        typer.echo(str(report), nl=False)
    if not report.records:
        raise DataError(f"{output}: not written; no result could be saved from {len(report.files)} files")
    if missing:
        say(f"{len(missing)} of the campaign's results are missing; `vindeby missing {output}` lists them")
    if missing or not report.complete:
        raise typer.Exit(1)
