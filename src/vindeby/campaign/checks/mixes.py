"""What can be wrong with mixes and zones that only the whole campaign shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vindeby.campaign.sections.values import refusal

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign
    from vindeby.campaign.reading.yaml_text import Path
    from vindeby.campaign.sections.farm import Farm
    from vindeby.campaign.sections.turbines import Turbine


def refuse_mixes(campaign: Campaign) -> None:
    """Refuse a mix of types that the campaign does not have, or of another number than the zones."""
    known = [turbine.name for turbine in campaign.turbines]
    for at, mix in _mixes(campaign):
        for name in mix:
            if name not in known:
                raise refusal(
                    f"no turbine type has the name {name!r}",
                    remedy=f"name types of this campaign: {', '.join(known)}",
                    at=(*at, name),
                )
    for index, farm in enumerate(campaign.farms):
        if farm.mix is not None and farm.zones is not None:
            mixed, zoned = sum(farm.fixed_mix().values()), sum(farm.zone_counts(1.0))
            if mixed != zoned:
                raise refusal(
                    f"makes {mixed:,} turbines, but the zones have {zoned:,}",
                    remedy="make the two agree",
                    at=("farms", index, "mix"),
                )


def _mixes(campaign: Campaign) -> Iterator[tuple[Path, Iterable[str]]]:
    """The types of every mix in the campaign, and where it is written."""
    if campaign.mix is not None:
        yield ("mix",), campaign.mix
    for index, farm in enumerate(campaign.farms):
        if farm.mix is not None:
            yield ("farms", index, "mix"), farm.mix
        for number, zone in enumerate(farm.zones or ()):
            if zone.mix is not None:
                yield ("farms", index, "zones", number, "mix"), zone.mix


def refuse_empty_zones(farm: Farm, index: int, turbine: Turbine) -> None:
    """Refuse a zone whose capacity is less than one turbine."""
    for number, (zone, count) in enumerate(
        zip(farm.zones or (), farm.zone_counts(turbine.rated_power_mw), strict=True)
    ):
        if count < 1:
            raise refusal(
                f"makes no turbine of type {turbine.name!r} ({turbine.rated_power_mw:g} MW) in zone {zone.name!r}",
                remedy="give more; the unit is MW",
                at=("farms", index, "zones", number, "capacity_mw"),
                value=zone.capacity_mw,
            )
