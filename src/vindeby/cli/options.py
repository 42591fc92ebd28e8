"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from vindeby.cli.completion import campaigns

if TYPE_CHECKING:
    from vindeby.campaign import Campaign
    from vindeby.results.campaign_lookup import GivenCampaign

CampaignArgument = Annotated[
    str,
    typer.Argument(metavar="CAMPAIGN", help="A campaign file, or a preset's name.", autocompletion=campaigns),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help="Override a field, e.g. method.smart-start.grid_size=12."
    ),
]
SeedsOption = Annotated[
    str | None,
    typer.Option("--seeds", metavar="N|LIST", help="Override the seeds: a number, or a list such as 0,7,12."),
]
TakeOverOption = Annotated[
    bool,
    typer.Option("--take-over", help="Take the lock from the process that holds it, e.g. on a lost machine."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def load_campaign(
    campaign: str,
    set_: list[str] | None,
    seeds: str | None,
    on_note: Callable[[str], None] = lambda _: None,
) -> Campaign:
    """Load a campaign with what the command line overrides in it.

    ``on_note`` hears what was done or ignored while files of other formats were read, in words.
    """
    from vindeby.campaign import Campaign  # loads pydantic and shapely, which not every command needs
    from vindeby.campaign.reading import source

    overrides = _overrides(set_, seeds)
    document = source.load(campaign, overrides)
    for note in document.notes:
        on_note(note)
    return Campaign.from_document(document, overrides)


def given_campaign(campaign: str | None, set_: list[str] | None, seeds: str | None) -> GivenCampaign:
    """The campaign to read results by: the one named, or the one kept with them, with what is overridden in it."""
    from vindeby.results.campaign_lookup import ChangedCampaign

    overrides = _overrides(set_, seeds)
    return ChangedCampaign(campaign, tuple(overrides)) if overrides else campaign


def _overrides(set_: list[str] | None, seeds: str | None) -> list[str]:
    overrides = list(set_ or [])
    if seeds is not None:
        overrides.append(f"seeds=[{seeds}]" if "," in seeds else f"seeds={seeds}")
    return overrides
