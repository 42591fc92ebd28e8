"""The cells of a campaign: each farm with each turbine type, or one cell for a farm with a mix of types.

A cell's identity is a digest of everything that decides its results, with parts that many cells share digested once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.neighbours import identity_around
from vindeby.campaign.sections.costs import Objective
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.starts import start_identities
from vindeby.campaign.stored import identity_of_standing, pins_of
from vindeby.campaign.tasks import RESULT_REVISION, Cell, digest

_Made = TypeVar("_Made")
_BY_AEP = Objective()


def cells_of(campaign: CampaignFields, memo: dict[object, Any] | None = None) -> Iterator[Cell]:
    """Yield all cells, in the order of farm and type; a campaign about a function without wind has a single one.

    ``memo`` keeps the digests of sections, for other combinations that have the same ones.
    """
    memo = {} if memo is None else memo

    def once(make: Callable[[], _Made], what: object, *fields: str) -> _Made:
        """Return the cached result of ``make`` for these fields."""
        key = (what, *(id(getattr(campaign, name)) for name in fields))
        if key not in memo:
            memo[key] = make()
        found: _Made = memo[key]
        return found

    def shared() -> dict[str, Any]:
        return {"revision": RESULT_REVISION, "method": [step.identity() for step in campaign.method]}

    def numbers(farm: Farm) -> list[tuple[tuple[int, int], ...]]:
        mix = campaign.mix_of(farm)
        if mix is not None:
            return [mix]
        return [((kind, campaign.turbine_count(farm, one)),) for kind, one in enumerate(campaign.turbines)]

    if not campaign.is_about_wind:
        yield Cell(
            0,
            0,
            n_turbines=0,
            spacing_m=0.0,
            identity=digest(shared()),
            combination=campaign.combination.index,
            tag=campaign.combination.tag,
        )
        return
    common = once(
        lambda: digest({**shared(), "site": campaign.site_identity(), "wake": campaign.wake.identity()}),
        "common", "method", "site", "wake",
    )  # fmt: skip
    types = once(lambda: [digest(turbine.identity()) for turbine in campaign.turbines], "types")
    alike = next((index for index, farm in enumerate(campaign.farms) if farm.neighbours is None), 0)
    for farm_idx, farm in enumerate(campaign.farms):
        beside = farm_idx if farm.neighbours else alike
        around = once(
            partial(identity_around, campaign, beside),
            ("around", beside),
            "neighbours",
            "scenarios",
            "min_spacing",
        )
        area = once(partial(_digest_of_area, farm), ("area", farm_idx))
        place: dict[str, Any] = {"common": common, "area": area, "around": around}
        if campaign.scenarios:
            place["scenarios"] = digest(_scenarios(campaign, farm_idx))
            place["over"] = campaign.over
        if standing := identity_of_standing(campaign, farm_idx):
            place["standing"] = standing
        given = once(partial(numbers, farm), ("numbers", farm_idx), "n_turbines", "capacity_mw", "mix")
        for counts in given:
            yield _cell(campaign, farm_idx, counts, place, types)


def _scenarios(campaign: CampaignFields, farm_idx: int) -> list[dict[str, Any]]:
    """Return the data of the scenarios that decide the results of a farm."""
    return [
        {
            "weight": world.weight,
            "site": world.campaign.site_identity(),
            "wake": world.campaign.wake.identity(),
            "around": identity_around(world.campaign, farm_idx),
        }
        for world in campaign.worlds
    ]


def _digest_of_area(farm: Farm) -> str:
    return digest(_area(farm))


def _area(farm: Farm) -> dict[str, Any]:
    if farm.zones is None:
        return farm.boundary.identity()
    search: dict[str, Any] = {"search": farm.search or "together", "rounds": farm.rounds or 1}
    return {"zones": [zone.boundary.identity() for zone in farm.zones], **search}


def _cell(
    campaign: CampaignFields,
    farm_idx: int,
    counts: tuple[tuple[int, int], ...],
    place: Mapping[str, Any],
    types: list[str],
) -> Cell:
    """Return the cell of a farm with these types and numbers of turbines; ``place`` is common to cells of the farm."""
    farm = campaign.farms[farm_idx]
    is_mixed = campaign.mix_of(farm) is not None
    turbines = [campaign.turbines[kind] for kind, _ in counts]
    spacings = [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in turbines]
    zones = farm.zone_counts(turbines[0].rated_power_mw)
    zone_mixes = [
        campaign.in_order(zone.turbines_by_type()) for zone in farm.zones or () if zone.mix is not None
    ]
    decides: dict[str, Any] = {
        **place,
        "mixed": is_mixed,
        "types": [[types[kind], count, m] for (kind, count), m in zip(counts, spacings, strict=True)],
        "zones": zones,
        "zone_mixes": [[[types[kind], count] for kind, count in mix] for mix in zone_mixes],
    }
    objective = campaign.objective or _BY_AEP
    if objective.needs_costs or objective.against:
        price: Any = objective.price
        if objective.is_priced_by_state:
            price = digest(objective.model_dump(include={"price"}, exclude_none=True))
        further = {"price": price, "against": objective.against}
        said = {name: value for name, value in further.items() if value is not None}
        decides["objective"] = {"maximise": objective.of, **said}
    if campaign.costs is not None:
        decides["costs"] = campaign.costs.identity_for(farm, [turbine.name for turbine in turbines])
        if campaign.costs.cables is not None:
            decides["cables"] = campaign.costs.cables.identity_for(farm.name)
    cell = Cell(
        farm_idx,
        type_idx=counts[0][0],
        n_turbines=sum(count for _, count in counts),
        spacing_m=max(spacings),
        identity="",
        zones=zones,
        mix=counts if is_mixed else (),
        combination=campaign.combination.index,
        tag=campaign.combination.tag,
    )
    start, starts = start_identities(campaign, cell)
    decides |= {} if start is None else {"start": start}
    given = dict(zip(campaign.seeds, pins_of(campaign, cell), strict=False)) or starts
    by_seed = {seed: digest(own)[:32] for seed, own in given.items()}
    return replace(cell, identity=digest(decides), by_seed=by_seed)
