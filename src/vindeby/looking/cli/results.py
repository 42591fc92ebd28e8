"""What the commands about results share: arguments, and the campaign of a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vindeby.errors import ArgumentError
from vindeby.looking.asked import campaign_of
from vindeby.store.record import Attribute

if TYPE_CHECKING:  # loads pydantic and shapely, which not every command needs
    from vindeby.campaign import Campaign

OutputArgument = Annotated[Path, typer.Argument(metavar="OUT.h5", help="The database.")]
CampaignOption = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        metavar="CAMPAIGN",
        help="The campaign file or preset; without it, the one kept with the results.",
    ),
]
LayoutOption = Annotated[
    str | None,
    typer.Option("--layout", metavar="classic|table", help="A group a result, or columns for very many."),
]
NAMING = "farm{farm_idx}_t{type_idx}_s{ss_seed}"
"""How a result's key is spelled by its attributes, where the name of its group is lost."""


def required_campaign(output: Path, given: str | None, kept: Attribute | None = None) -> Campaign:
    """The campaign that belongs to these results, where there must be one."""
    campaign = campaign_of(output, given, kept)
    if campaign is None:
        raise ArgumentError(f"{output}: no campaign is kept with these results; name it with --campaign FILE")
    return campaign


def expected_of(campaign: Campaign) -> dict[str, str]:
    """The fingerprint of every task, by key, in the campaign's order."""
    return {task.key: task.fingerprint for task in campaign.tasks()}


def say(message: str) -> None:
    """A message, on stderr."""
    typer.echo(f"vindeby: {message}", err=True)
