"""What the commands about results share: which campaign a database belongs to, and what that says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.store.record import Attribute
from vindeby.store.rundir import RunDirectory

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


def campaign_of(output: Path, given: str | None, kept: Attribute | None = None) -> Campaign | None:
    """The campaign that was given, else the frozen one of the run directory, else the database's own."""
    if given is not None:
        return Campaign.load(given)
    text = RunDirectory(output).campaign_text()
    if text is not None:
        return Campaign.loads(text, str(RunDirectory(output).campaign_file))
    if isinstance(kept, str) and kept:
        return Campaign.loads(kept, f"{output} (campaign)")
    return None


def required_campaign(output: Path, given: str | None, kept: Attribute | None = None) -> Campaign:
    """The same, where there must be one."""
    campaign = campaign_of(output, given, kept)
    if campaign is None:
        raise ArgumentError(f"{output}: no campaign is kept with these results; name it with --campaign FILE")
    return campaign


def expected_of(campaign: Campaign) -> dict[str, str]:
    """The fingerprint of every task, by key, in the campaign's order."""
    return {task.key: task.fingerprint for task in campaign.tasks()}


def root_of(campaign: Campaign) -> dict[str, Attribute]:
    """What the database says about itself in its root attributes."""
    root: dict[str, Attribute] = {"total_configs": campaign.total_configs, "campaign": campaign.dumps()}
    for step in campaign.method:
        if step.smart_start is not None:
            root["grid_size"] = step.smart_start.grid_size
            root["random_pct"] = float(step.smart_start.random_pct)
    return root


def say(message: str) -> None:
    """A message, on stderr."""
    typer.echo(f"vindeby: {message}", err=True)
