"""The layouts that the searches of a campaign start from: one for each task, and what is wrong with them."""

from collections.abc import Iterator, Sequence
from typing import Any

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.reading.places import mappings
from vindeby.campaign.reading.yaml_text import Path, field_name
from vindeby.campaign.sections.layouts import GivenLayout, LayoutsSection
from vindeby.campaign.sections.method import EITHER, STARTS
from vindeby.campaign.sections.values import require
from vindeby.campaign.tasks import Cell
from vindeby.text import plural


def start_section(campaign: CampaignFields, farm_idx: int) -> tuple[Path, LayoutsSection | None]:
    """Return the section that says where searches of a farm start, the farm's own or the campaign's, and its path."""
    own = campaign.farms[farm_idx].start if campaign.farms else None
    return (("start",), campaign.start) if own is None else (("farms", farm_idx, "start"), own)


def has_starts(campaign: CampaignFields) -> bool:
    """Return whether any search starts from a given layout, in any combination of axes."""
    is_varied = any(True for _ in mappings({"vary": campaign.vary}, "start"))
    return campaign.start is not None or is_varied or any(farm.start for farm in campaign.farms)


def start_of(campaign: CampaignFields, cell: Cell, seed: int | None) -> GivenLayout | None:
    """Return the layout that the task of a cell with this seed starts from; None if there is none."""
    _, section = start_section(campaign, cell.farm_idx)
    if section is None:
        return None
    label = cell.label([turbine.name for turbine in campaign.turbines])
    return section.of(campaign.farms[cell.farm_idx].name, label, seed)


def types_of(campaign: CampaignFields, cell: Cell, given: GivenLayout) -> list[int] | None:
    """Return the type of each turbine of a start among those of its cell; None if a type is missing or unknown."""
    names = [campaign.turbines[index].name for index in cell.type_indices]
    if given.type_names is None:
        return [0] * len(given.x) if len(names) == 1 else None
    return [names.index(name) for name in given.type_names] if {*given.type_names} <= {*names} else None


def start_identities(campaign: CampaignFields, cell: Cell) -> tuple[Any, dict[int, Any]]:
    """Return the data of a cell's start that decide its results, None without a start; and by seed, if seeds differ."""
    _, section = start_section(campaign, cell.farm_idx)

    def identity(given: GivenLayout) -> dict[str, Any]:
        types = types_of(campaign, cell, given)
        return {"x": given.x, "y": given.y, "types": types, "repair": bool(section and section.repair)}

    if section is None:
        return None, {}
    if (shared := start_of(campaign, cell, None)) is not None:
        return identity(shared), {}
    each = ((seed, start_of(campaign, cell, seed)) for seed in campaign.seeds)
    return None, {seed: identity(given) for seed, given in each if given is not None}


def refuse_missing_starts(campaign: CampaignFields) -> None:
    """Refuse a first step that improves a layout without a start, and one that makes a layout despite a start."""
    first = campaign.method[0].chosen[0]
    sections = [start_section(campaign, farm_idx) for farm_idx in range(len(campaign.farms))] or [((), None)]
    given = [field_name(at) for at, section in sections if section is not None]
    wrong = f"begins with {first}, which needs a layout to start from"
    remedy = "put smart-start, random-start or lattice before it, or give start: a layout"
    require(len(given) == len(sections) or first in (*STARTS, *EITHER), wrong, remedy, "method", 0)
    wrong = f"begins with {first}, which makes a layout, but {given[0] if given else 'start'} gives one to start from"
    require(not given or first not in STARTS, wrong, "remove one of the two", "method", 0)


def refuse_bad_starts(campaign: CampaignFields, cells: Sequence[Cell]) -> None:
    """Refuse names that the campaign does not have, types that do not suit a farm, and tasks without a layout."""
    known = {"farm": [farm.name for farm in campaign.farms], "type": [one.name for one in campaign.turbines]}
    for farm_idx in range(len(campaign.farms)):
        at, section = start_section(campaign, farm_idx)
        for index, given in enumerate(section.layouts if section else ()):
            for what, names in (("farm", (given.farm,)), ("type", given.type or ())):
                for name in filter(None, names):
                    wrong, remedy = f"there is no {what} {name!r}", f"name one of {', '.join(known[what])}"
                    require(name in known[what], wrong, remedy, *at, "layouts", index, what)
    for cell in cells:
        at, section = start_section(campaign, cell.farm_idx)
        for seed in (None, *campaign.seeds) if section else ():
            found = start_of(campaign, cell, seed)
            if found is None and seed is None:
                continue  # each seed has its own
            what = f"farm {campaign.farms[cell.farm_idx].name!r} with type {cell.label(known['type'])!r}"
            wrong = f"holds no layout for {what} and seed {seed}"
            require(found is not None, wrong, "add it, or map names with farms and types", *at)
            has_types = found is not None and types_of(campaign, cell, found) is not None
            wrong = f"does not say which turbine is of which type of {what}"
            require(has_types, wrong, "add a column type, or type: [...], with types that it has", *at)
            if seed is None:
                break


def starts_in_words(campaign: CampaignFields) -> Iterator[tuple[str, str]]:
    """Yield for each start its farms and its source in words: ``all farms``, ``3 layouts from older.h5``."""
    for where, section in [
        ("all farms", campaign.start),
        *((f"farm {one.name}", one.start) for one in campaign.farms),
    ]:
        if section is not None:
            source = f" from {section.source}" if section.source else ""
            repair = "; turbines that stand where they may not are moved" if section.repair else ""
            yield where, f"{plural(len(section.layouts), 'layout')}{source}{repair}"
