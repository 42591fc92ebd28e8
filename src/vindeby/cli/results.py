"""What the commands about results share: arguments, and the campaign of a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vindeby.cli.completion import campaigns
from vindeby.cli.output import say as say
from vindeby.errors import ArgumentError

if TYPE_CHECKING:  # options are completed without loading what a command needs
    from vindeby.campaign import Campaign
    from vindeby.results.campaign_lookup import GivenCampaign
    from vindeby.store.disk.run_directory import RunDirectory
    from vindeby.store.format.record import Attribute

OutputArgument = Annotated[Path, typer.Argument(metavar="OUT.h5", help="The database.")]
CampaignOption = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        metavar="CAMPAIGN",
        help="The campaign file or preset; without it, the one kept with the results.",
        autocompletion=campaigns,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="classic|table", help="A group per result, or columns for very many."),
]
"""The former name of ``--format``."""


def required_campaign(run: RunDirectory, given: GivenCampaign, kept: Attribute | None = None) -> Campaign:
    """The campaign that belongs to these results, where there must be one."""
    from vindeby.results.campaign_lookup import campaign_of

    campaign = campaign_of(run, given, kept)
    if campaign is None:
        raise ArgumentError(
            f"{run.output}: no campaign is kept with these results; name it with --campaign FILE"
        )
    return campaign


def kept_campaign(output: Path) -> Attribute | None:
    """The campaign inside a database, sealed or not; None where there is none or the file cannot be read."""
    from vindeby.store.format.seal import SealedFile, SealError
    from vindeby.store.read.guard import Guard
    from vindeby.store.read.reading import read_any

    try:
        file = SealedFile.open(output)
    except (OSError, SealError):
        file = None
    if file is not None:
        with file:
            root = file.seal.directory.get("root")
            return root.get("campaign") if isinstance(root, dict) else None
    if not output.is_file():
        return None
    with Guard() as guard:
        return read_any(output, guard).root.get("campaign")
