"""The cells of a campaign: each farm with each turbine type, or once where the farm has a mix of types.

A cell's identity is a digest of everything that decides its results, with parts that many cells share digested once.
"""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.neighbours import identity_around
from vindeby.campaign.sections.costs import Objective
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import RESULT_REVISION, Cell, digest
from vindeby.campaign.worlds import identity_of_scenarios


def cells_of(campaign: CampaignFields) -> Iterator[Cell]:
    """All cells, in the order of farm and type; a campaign about a function without wind has a single one."""
    shared: dict[str, Any] = {
        "revision": RESULT_REVISION,
        "method": [step.identity() for step in campaign.method],
    }
    cases = _case_digests(campaign)
    if not campaign.is_about_wind:
        yield Cell(0, 0, n_turbines=0, spacing_m=0.0, identity=digest(shared), cases=cases)
        return
    common = digest({**shared, "site": campaign.site.identity(), "wake": campaign.wake.identity()})
    types = [digest(turbine.identity()) for turbine in campaign.turbines]
    around = cache(partial(identity_around, campaign))
    alike = next((index for index, farm in enumerate(campaign.farms) if farm.neighbours is None), 0)
    for farm_idx, farm in enumerate(campaign.farms):
        place: dict[str, Any] = {
            "common": common,
            "area": digest(_area(farm)),
            "around": around(farm_idx if farm.neighbours else alike),
        }
        if campaign.scenarios:
            place["scenarios"] = digest(identity_of_scenarios(campaign, farm_idx))
            place["over"] = campaign.over
        each = [((kind, campaign.turbine_count(farm, one)),) for kind, one in enumerate(campaign.turbines)]
        mix = campaign.mix_of(farm)
        for counts in each if mix is None else [mix]:
            yield _cell(campaign, farm_idx, counts, place, types, cases)


def _case_digests(campaign: CampaignFields) -> dict[int, str]:
    """By seed, what tells its case from others; empty where the method lists no cases."""
    cases = next((step.call.cases for step in campaign.method if step.call is not None), None) or ()
    return {seed: digest(case)[:32] for seed, case in zip(campaign.seeds, cases, strict=False)}


def _area(farm: Farm) -> dict[str, Any]:
    """What of a farm's area and of the search in it decides a result."""
    if farm.zones is None:
        return farm.boundary.identity()
    search: dict[str, Any] = {"search": farm.search or "together", "rounds": farm.rounds or 1}
    if farm.maximise == "own":
        search["maximise"] = "own"
    if len(set(farm.stages())) > 1:
        search["stages"] = farm.stages()
    return {"zones": [zone.boundary.identity() for zone in farm.zones], **search}


def _cell(
    campaign: CampaignFields,
    farm_idx: int,
    counts: tuple[tuple[int, int], ...],
    place: Mapping[str, Any],
    types: list[str],
    cases: Mapping[int, str],
) -> Cell:
    """The cell of a farm with these types and numbers of turbines; ``place`` is what all cells of the farm share."""
    farm = campaign.farms[farm_idx]
    is_mixed = campaign.mix_of(farm) is not None
    turbines = [campaign.turbines[kind] for kind, _ in counts]
    spacings = [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in turbines]
    zones = farm.zone_counts(turbines[0].rated_power_mw)
    zone_mixes = [campaign.in_order(zone.fixed_mix()) for zone in farm.zones or () if zone.mix is not None]
    chosen, ranges = campaign.level_of(farm).count_range, campaign.mix_ranges_of(farm)
    fewest = None if chosen is None else chosen.fewest
    decides: dict[str, Any] = {
        **place,
        "mixed": is_mixed,
        "types": [[types[kind], count, m] for (kind, count), m in zip(counts, spacings, strict=True)],
        "zones": zones,
        "zone_mixes": [[[types[kind], count] for kind, count in mix] for mix in zone_mixes],
        "fewest": fewest,
        "ranges": ranges,
    }
    objective = campaign.objective or Objective()
    if fewest is not None or ranges or objective.needs_costs or objective.against:
        costs = [objective.cost_gwh(turbine.name) for turbine in turbines]
        price: Any = objective.price
        if objective.is_priced_by_state:
            price = digest(objective.model_dump(include={"price"}, exclude_none=True))
        further = {"price": price, "against": objective.against}
        given = {name: value for name, value in further.items() if value is not None}
        decides["objective"] = {"maximise": objective.of, "costs": costs, **given}
    if campaign.costs is not None:
        decides["costs"] = campaign.costs.identity_for(farm, [turbine.name for turbine in turbines])
        if campaign.costs.cables is not None:
            decides["cables"] = campaign.costs.cables.identity_for(farm.name)
    return Cell(
        farm_idx,
        type_idx=counts[0][0],
        n_turbines=sum(count for _, count in counts),
        spacing_m=max(spacings),
        identity=digest(decides),
        zones=zones,
        mix=counts if is_mixed else (),
        fewest_turbines=fewest,
        mix_ranges=ranges,
        cases=cases,
    )
