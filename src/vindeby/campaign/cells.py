"""The cells of a campaign: each farm with each turbine type, or once where the farm has a mix of types.

What decides a cell's results is digested in parts: what all share, the area, the turbine, the counts. A farm
without zones and without a mix is digested as it was before there were any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vindeby.campaign.neighbours import neighbours_identities
from vindeby.campaign.tasks import Cell, digest

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign
    from vindeby.campaign.sections.farm import Farm


def cells_of(campaign: Campaign, common: str) -> Iterator[Cell]:
    """All cells, in the order of farm and type; ``common`` is the digest of what they share."""
    types = [digest(turbine.identity()) for turbine in campaign.turbines]
    beside = neighbours_identities(campaign)
    for farm_idx, farm in enumerate(campaign.farms):
        area = digest(_area(farm))
        around = beside[farm_idx]
        mix = campaign.mix_of(farm)
        if mix is not None:
            yield _mixed_cell(campaign, farm_idx, mix, common, area, around, types)
            continue
        for type_idx, turbine in enumerate(campaign.turbines):
            count = campaign.turbine_count(farm, turbine)
            zones = farm.zone_counts(turbine.rated_power_mw)
            spacing_m = campaign.min_spacing.in_metres(turbine.rotor_diameter_m)
            decides: list[Any] = [common, area, types[type_idx], count, spacing_m]
            # Left out where there are none: older campaigns had neither.
            decides += [part for part in (zones, around) if part]
            fewest = campaign.fewest_turbines(farm)
            if fewest is not None:
                decides.append({"fewest": fewest, **_objective(campaign, [type_idx])})
            yield Cell(farm_idx, type_idx, count, spacing_m, digest(decides), zones, fewest_turbines=fewest)


def _area(farm: Farm) -> dict[str, Any]:
    """What of a farm's area and of the search in it decides a result."""
    if farm.zones is None:
        return farm.boundary.identity()
    search = {"search": "in-turn", "rounds": farm.rounds or 1} if farm.search == "in-turn" else {}
    return {"zones": [zone.boundary.identity() for zone in farm.zones], **search}


def _objective(campaign: Campaign, kinds: list[int]) -> dict[str, Any]:
    """What tells counts apart: the bare energy, that of each turbine, or that less a cost of each type."""
    objective = campaign.objective
    if objective is None or not objective.tells_counts_apart:
        return {}
    if objective.turbine_cost_gwh is None:
        return {"objective": objective.of}
    return {"costs": [objective.cost_gwh(campaign.turbines[kind].name) for kind in kinds]}


def _mixed_cell(
    campaign: Campaign,
    farm_idx: int,
    mix: tuple[tuple[int, int], ...],
    common: str,
    area: str,
    around: str | None,
    types: list[str],
) -> Cell:
    farm = campaign.farms[farm_idx]
    zones = farm.zone_counts(1.0)
    spacings = {
        kind: campaign.min_spacing.in_metres(campaign.turbines[kind].rotor_diameter_m) for kind, _ in mix
    }
    by_zone = [campaign.in_order(zone.fixed_mix()) for zone in farm.zones or () if zone.mix is not None]
    ranges = campaign.mix_ranges_of(farm)
    decides: dict[str, Any] = {
        "common": common,
        "area": area,
        "types": [[types[kind], count, spacings[kind]] for kind, count in mix],
        "zones": zones,
        "by_zone": [[[types[kind], count] for kind, count in one] for one in by_zone],
        "around": around,
    }
    if ranges:
        decides |= {"ranges": ranges, **_objective(campaign, [kind for kind, _ in mix])}
    count = sum(number for _, number in mix)
    return Cell(
        farm_idx, mix[0][0], count, max(spacings.values()), digest(decides), zones, mix, mix_ranges=ranges
    )
