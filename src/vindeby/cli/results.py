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
LayoutOption = Annotated[
    str | None,
    typer.Option("--layout", metavar="classic|table", help="A group a result, or columns for very many."),
]
NAMING = "farm{farm_idx}_t{type_idx}_s{ss_seed}"
"""How a result's key is spelled by its attributes, where the name of its group is lost."""


def required_campaign(output: Path, given: GivenCampaign, kept: Attribute | None = None) -> Campaign:
    """The campaign that belongs to these results, where there must be one."""
    from vindeby.results.campaign_lookup import campaign_of

    campaign = campaign_of(output, given, kept)
    if campaign is None:
        raise ArgumentError(f"{output}: no campaign is kept with these results; name it with --campaign FILE")
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


def expected_of(campaign: Campaign) -> dict[str, str]:
    """The fingerprint of every task, by key, in the campaign's order."""
    return {task.key: task.fingerprint for task in campaign.tasks()}
