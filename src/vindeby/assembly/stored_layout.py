"""A layout out of a database, for another campaign in which its turbines stand already.

The best of a farm and type is the one with the most energy, or the best by the campaign's objective, among the
results that are done: those that answer the database's own campaign and are possible.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vindeby.assembly.done import Judge
from vindeby.assembly.stored_turbines import layout_of, own_types, worth_of
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import parse_key
from vindeby.errors import DataError, InputError
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database


def read_stored_layout(path: Path, key: str | None, farm: str | None, type_: str | None) -> dict[str, Any]:
    """A group of neighbours: the result of this key, or the best of a farm and type, which may be left out if alone."""
    with Database(path) as database:
        text = database.campaign_text
        campaign = None if text is None else Campaign.loads(text, f"{path} (campaign)")
        if key is not None:
            if key not in database:
                raise InputError(f"{path}: holds no result {key!r} among its {len(database):,}")
            return _stored(path, database[key], campaign)
        if campaign is None:
            raise InputError(f"{path}: keeps no campaign, so the best result is not known; name its key")
        if not campaign.is_about_wind:
            raise InputError(
                f"{path}: its campaign is about a function without wind; its results hold no layouts"
            )
        farm_idx = _index("farm", [one.name for one in campaign.farms], farm, path)
        type_idx = _index("type", [one.name for one in campaign.turbines], type_, path)
        judge = Judge(campaign)
        for best in keys_by_worth(database, campaign).get((farm_idx, type_idx), ()):
            if not judge.why_not_done(database, best):
                return _stored(path, database[best], campaign)
    raise DataError(
        f"{path}: holds no valid result of farm {campaign.farms[farm_idx].name!r} with type "
        f"{campaign.turbines[type_idx].name!r}"
    )


def _index(what: str, names: Sequence[str], name: str | None, path: Path) -> int:
    if name is None and len(names) == 1:
        return 0
    if name is None or name not in names:
        wrong = f"there is no {what} {name!r}" if name is not None else f"the {what} is missing"
        raise InputError(f"{path}: {wrong}; it has: {', '.join(names)}")
    return names.index(name)


def keys_by_worth(database: Database, campaign: Campaign) -> dict[tuple[int, int], list[str]]:
    """By farm and type the keys of all results, the best first: by their objective, or their energy."""
    found: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for segment in database.segments():
        for record in segment.records():
            numbers, worth = parse_key(record.key), worth_of(record, campaign.objective)
            if numbers is not None and worth is not None:
                found.setdefault(numbers[:2], []).append((-worth, record.key))
    return {place: [key for _, key in sorted(entries)] for place, entries in found.items()}


def _stored(path: Path, record: Record, campaign: Campaign | None) -> dict[str, Any]:
    layout = layout_of(record)
    if layout is None or not layout.size:
        raise DataError(f"{path}: result {record.key} holds no layout")
    positions = layout.T.tolist()
    plain = {"positions": positions, "source": f"{path.name} {record.key}"}
    numbers = parse_key(record.key)
    if campaign is None or numbers is None:
        return plain
    farm_idx, type_idx, seed = numbers
    if farm_idx >= len(campaign.farms) or type_idx >= len(campaign.turbines):
        return plain
    types, own = [type_idx], None
    cell = next((one for one in campaign.cells() if (one.farm_idx, one.type_idx) == numbers[:2]), None)
    if cell is not None and cell.mix:
        types, own = [*cell.type_indices], own_types(record.arrays, cell, len(positions))
        if own is None:
            raise DataError(f"{path}: result {record.key} does not say of which type each turbine is")
    turbines = [campaign.turbines[index] for index in types]
    names = [turbine.name for turbine in turbines]
    what = f"{campaign.farms[farm_idx].name}, {'+'.join(names)}, seed {seed}"
    data = [turbine.model_dump(mode="json", by_alias=True, exclude_none=True) for turbine in turbines]
    each = names[0] if own is None else [names[index] for index in own]
    return {
        "positions": positions,
        "source": f"{path.name} {record.key} ({what})",
        "turbines": data,
        "type": each,
    }
