"""``vindeby validate OUT.h5``: is every result whole and possible?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vindeby.assembly import physics_checks
from vindeby.looking.asked import campaign_of
from vindeby.looking.cli.options import JsonOption
from vindeby.looking.cli.results import CampaignOption, expected_of, say
from vindeby.store.seal import SealedFile, SealError
from vindeby.store.validate import ValidationReport, repeated, validate

_SHOWN = 50


def command(
    output: Annotated[
        Path, typer.Argument(metavar="OUT.h5", help="The database, of vindeby or of another script.")
    ],
    campaign: CampaignOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Compute every AEP again from its layout.")] = False,
    json_: JsonOption = False,
) -> None:
    """Check every result: whole, marked, unchanged, expected, and possible; exit 1 when one is not."""
    loaded = campaign_of(output, campaign, _kept_campaign(output))
    checks = physics_checks(loaded, deep=deep)
    report = validate(output, expected=None if loaded is None else expected_of(loaded), checks=checks)
    if json_:
        typer.echo(json.dumps(report.to_json(), indent=1))
    else:
        _print(report)
    if loaded is None and deep:
        say("--deep needs the campaign: no AEP was computed again")
    if loaded is None:
        say("no campaign is kept with it: what should be there is unknown; name it with --campaign FILE")
    if not report.valid:
        raise typer.Exit(1)


def _kept_campaign(output: Path) -> str | None:
    """The campaign in a sealed database, read without HDF5."""
    try:
        file = SealedFile.open(output)
    except (OSError, SealError):
        return None
    if file is None:
        return None
    with file:
        text = file.seal.directory.get("root", {}).get("campaign")
    return text if isinstance(text, str) else None


def _print(report: ValidationReport) -> None:
    verdict = "valid" if report.valid else "NOT valid"
    typer.echo(f"{report.path}: {verdict}: {report.records} records in {report.files} files")
    often = repeated(report.issues, _SHOWN)
    for what, count in often:
        typer.echo(f"  {count} records: {what}")
    said = {what for what, _ in often}
    rest = [issue for issue in report.issues if issue.what not in said]
    for issue in rest[:_SHOWN]:
        typer.echo(f"  {issue}")
    if len(rest) > _SHOWN:
        typer.echo(f"  and {len(rest) - _SHOWN} more; --json lists all")
    if report.missing:
        typer.echo(
            f"  {len(report.missing)} expected results are missing; `vindeby missing {report.path}` lists them"
        )
    for note in report.notes:
        typer.echo(f"  note: {note}")
