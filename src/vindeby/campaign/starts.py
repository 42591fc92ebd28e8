"""The layouts that the searches of a campaign start from: which one each task has, and what is wrong with them."""

from collections.abc import Sequence
from typing import Any

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.reading.places import mappings
from vindeby.campaign.sections.layouts import GivenLayout
from vindeby.campaign.sections.method import EITHER, STARTS
from vindeby.campaign.sections.values import require
from vindeby.campaign.tasks import Cell
from vindeby.text import plural


def has_starts(campaign: CampaignFields) -> bool:
    """Whether any search starts from a layout that is given, in any combination of axes."""
    return campaign.start is not None or any(True for _ in mappings({"vary": campaign.vary}, "start"))


def start_of(campaign: CampaignFields, cell: Cell, seed: int | None) -> GivenLayout | None:
    """Return the layout that the task of a cell with this seed starts from; None where there is none."""
    if campaign.start is None:
        return None
    label = cell.label([turbine.name for turbine in campaign.turbines])
    return campaign.start.of(campaign.farms[cell.farm_idx].name, label, seed)


def types_of(campaign: CampaignFields, cell: Cell, given: GivenLayout) -> list[int] | None:
    """Return the type of each turbine of a start among those of its cell; None where it lacks one, or has another."""
    names = [campaign.turbines[index].name for index in cell.type_indices]
    if given.type_names is None:
        return [0] * len(given.x) if len(names) == 1 else None
    return [names.index(name) for name in given.type_names] if {*given.type_names} <= {*names} else None


def start_identities(campaign: CampaignFields, cell: Cell) -> tuple[Any, dict[int, Any]]:
    """Return what of the start of a cell decides its results, None without any; and by seed, where each has its own."""

    def identity(given: GivenLayout) -> dict[str, Any]:
        types = types_of(campaign, cell, given)
        return {
            "x": given.x,
            "y": given.y,
            "types": types,
            "repair": bool(campaign.start and campaign.start.repair),
        }

    if (shared := start_of(campaign, cell, None)) is not None:
        return identity(shared), {}
    each = ((seed, start_of(campaign, cell, seed)) for seed in campaign.seeds if campaign.start)
    return None, {seed: identity(given) for seed, given in each if given is not None}


def refuse_missing_starts(campaign: CampaignFields) -> None:
    """Refuse a first step that improves a layout where there is none yet, and one that makes another than is given."""
    first, is_given = campaign.method[0].chosen[0], campaign.start is not None
    wrong = f"begins with {first}, which needs a layout to start from"
    remedy = "put smart-start, random-start or lattice before it, or give start: a layout"
    require(is_given or first in (*STARTS, *EITHER), wrong, remedy, "method", 0)
    wrong = f"begins with {first}, which makes a layout, but start gives one to start from"
    require(not is_given or first not in STARTS, wrong, "remove one of the two", "method", 0)


def refuse_bad_starts(campaign: CampaignFields, cells: Sequence[Cell]) -> None:
    """Refuse names that the campaign does not have, types that do not suit a farm, and tasks without a layout."""
    if campaign.start is None:
        return
    known = {"farm": [farm.name for farm in campaign.farms], "type": [one.name for one in campaign.turbines]}
    for index, given in enumerate(campaign.start.layouts):
        for what, names in (("farm", (given.farm,)), ("type", given.type or ())):
            for name in filter(None, names):
                wrong, remedy = f"there is no {what} {name!r}", f"name one of {', '.join(known[what])}"
                require(name in known[what], wrong, remedy, "start", "layouts", index, what)
    for cell in cells:
        of_all = start_of(campaign, cell, None)  # without it, each seed has its own
        for seed in campaign.seeds if of_all is None else (None,):
            found = start_of(campaign, cell, seed)
            what = f"farm {campaign.farms[cell.farm_idx].name!r} with type {cell.label(known['type'])!r}"
            wrong = f"holds no layout for {what} and seed {seed}"
            require(found is not None, wrong, "add it, or map names with farms and types", "start")
            has_types = found is not None and types_of(campaign, cell, found) is not None
            wrong = f"does not say which turbine is of which type of {what}"
            require(has_types, wrong, "add a column type, or type: [...], with types that it has", "start")


def start_in_words(campaign: CampaignFields) -> str:
    """Return what searches start from, such as ``3 layouts from older.h5``; empty where no start is given."""
    section = campaign.start
    if section is None:
        return ""
    source = f" from {section.source}" if section.source else ""
    repair = "; turbines that stand where they may not are moved" if section.repair else ""
    return f"{plural(len(section.layouts), 'layout')}{source}{repair}"
