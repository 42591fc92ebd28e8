"""What was asked for: the campaign that belongs to results, in full or only in outline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vindeby.campaign.outline import Outline, outline_of, read_outline
from vindeby.errors import ArgumentError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute

if TYPE_CHECKING:
    from vindeby.campaign import Campaign, Farm, Turbine


@dataclass(frozen=True)
class ChangedCampaign:
    """A campaign with fields overridden, such as ``seeds=2``; the one kept with the results where none is named."""

    source: str | None
    overrides: tuple[str, ...]


GivenCampaign: TypeAlias = "str | ChangedCampaign | None"
"""A campaign file or the name of a preset, perhaps changed; None is the one kept with the results."""


def campaign_of(run: RunDirectory, given: GivenCampaign, kept: Attribute | None = None) -> Campaign | None:
    """The campaign that was given, else the frozen one of the run directory, else the database's own."""
    from vindeby.campaign import Campaign  # loads pydantic and shapely, which a look by the outline need not

    source, overrides = (given.source, given.overrides) if isinstance(given, ChangedCampaign) else (given, ())
    if source is not None:
        return Campaign.load(source, overrides)
    text = run.campaign_text()
    if text is not None:
        return Campaign.loads(text, str(run.campaign_file), overrides)
    if isinstance(kept, str) and kept:
        return Campaign.loads(kept, f"{run.output} (campaign)", overrides)
    if overrides:
        raise ArgumentError(
            f"{run.output}: --set and --seeds need a campaign, and none is kept here; name it with --campaign FILE"
        )
    return None


def farm_of(campaign: Campaign | None, farm_idx: int) -> Farm | None:
    """The farm of this number; None where no campaign knows it."""
    return campaign.farms[farm_idx] if campaign and 0 <= farm_idx < len(campaign.farms) else None


def turbine_of(campaign: Campaign | None, type_idx: int) -> Turbine | None:
    """The turbine type of this number; None where no campaign knows it."""
    return campaign.turbines[type_idx] if campaign and 0 <= type_idx < len(campaign.turbines) else None


def has_neighbours(campaign: Campaign | None, farm_idx: int) -> bool:
    """Whether turbines stand already around this farm."""
    farm = farm_of(campaign, farm_idx)
    return campaign is not None and bool(campaign.neighbours or (farm is not None and farm.neighbours))


def outline_for(run: RunDirectory, given: GivenCampaign, kept: Attribute | None = None) -> Outline | None:
    """The outline of the same campaign; quick where one is kept with the frozen campaign."""
    if given is None:
        text = run.campaign_text()
        found = None if text is None else read_outline(run.outline_text(), text)
        if found is not None:
            return found
    campaign = campaign_of(run, given, kept)
    return None if campaign is None else outline_of(campaign)
