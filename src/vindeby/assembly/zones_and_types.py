"""In which zone each turbine of a result stands and of which type it is: what records say, and what they must.

A record of a farm with zones has the array ``zone``, one number per turbine, and its turbines stand zone by zone.
A record of a farm with a mix has the array ``types``: for each turbine the number of its type in the campaign.
The engine of a mixed farm knows only the types of the mix; ``own_types`` goes from the one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from vindeby.assembly.distances import Area, FloatArray
from vindeby.campaign import Campaign, Farm
from vindeby.campaign.tasks import Cell
from vindeby.store.format.record import Record
from vindeby.units import TOLERANCE_M

IntArray = npt.NDArray[np.int64]


def zone_array(cell: Cell) -> IntArray:
    """The zone of each turbine, by its number."""
    return np.repeat(np.arange(len(cell.zones)), cell.zones)


def kinds_of(cell: Cell) -> list[int]:
    """The types of a cell, by their numbers in the campaign."""
    return [kind for kind, _ in cell.mix] or [cell.type_idx]


def largest_diameter_m(campaign: Campaign, cell: Cell) -> float:
    """The rotor diameter of the cell's turbines, of a mix that of the largest."""
    return max(campaign.turbines[kind].rotor_diameter_m for kind in kinds_of(cell))


def rated_mw(campaign: Campaign, cell: Cell) -> float:
    """The rated power of all turbines of a cell; where the search chooses how many, of the most or of one mix."""
    mix = cell.mix or ((cell.type_idx, cell.n_turbines),)
    return sum(count * campaign.turbines[kind].rated_power_mw for kind, count in mix)


def objective_gwh(
    campaign: Campaign, cell: Cell, aep_gwh: float, count: int, types: IntArray | None
) -> float | None:
    """What a layout is worth by the campaign's objective; None where nothing was chosen by one.

    ``types`` are the numbers of types in the campaign, for a farm with a mix.
    """
    if campaign.objective is None or not cell.is_chosen or (cell.mix and types is None):
        return None
    kinds = [cell.type_idx] * count if types is None else types.tolist()
    names = Counter(campaign.turbines[kind].name for kind in kinds)
    return campaign.objective.worth(aep_gwh, names)


def own_types(record: Record, cell: Cell, count: int) -> IntArray | None:
    """The type of each turbine among those of its cell, from 0; None where a mixed farm's record does not say it."""
    if not cell.mix:
        return np.zeros(count, np.int64)
    kinds = np.array(kinds_of(cell))
    types = record.arrays.get("types")
    if types is None or types.shape != (count,) or types.dtype.kind not in "iu":
        return None
    return np.searchsorted(kinds, types).astype(np.int64) if np.isin(types, kinds).all() else None


def check_types(campaign: Campaign, cell: Cell, record: Record, count: int) -> Iterator[str]:
    """What is wrong with the types of a record."""
    if not cell.mix:
        return
    found = own_types(record, cell, count)
    if found is None:
        yield "types does not hold one of the farm's types for each turbine"
        return
    counts = np.bincount(found, minlength=len(cell.mix)).tolist()
    ranges = cell.mix_ranges or [(wanted, wanted) for _, wanted in cell.mix]
    for (kind, _), (few, many), has in zip(cell.mix, ranges, counts, strict=True):
        if not few <= has <= many:
            wanted = f"{few}" if few == many else f"{few} to {many}"
            yield (
                f"has {has} turbines of type {campaign.turbines[kind].name!r}, but the mix asks for {wanted}"
            )


def check_zone(cell: Cell, record: Record) -> Iterator[str]:
    """What is wrong with the zone numbers of a record; a layout that another program wrote need not have them."""
    stored = record.arrays.get("zone")
    if cell.zones and stored is not None and not np.array_equal(stored, zone_array(cell)):
        yield f"zone is not {' + '.join(map(str, cell.zones))} turbines, zone by zone"


def areas_of(farm: Farm) -> list[tuple[str, Area]]:
    """The areas of a farm's zones, or its one area, each with its name in a message."""
    if farm.zones is None:
        return [("the boundary", Area(farm.boundary))]
    return [(f"zone {zone.name!r}", Area(zone.boundary)) for zone in farm.zones]


def check_inside(areas: list[tuple[str, Area]], cell: Cell, x: FloatArray, y: FloatArray) -> Iterator[str]:
    """Which turbines stand outside the area that they belong to."""
    first = 0
    for (name, area), count in zip(areas, cell.zones or (len(x),), strict=True):
        mine = slice(first, first + count)
        first += count
        outside = area.distance_outside(x[mine], y[mine])
        worst = int(np.argmax(outside)) if len(outside) else 0
        if len(outside) and outside[worst] > TOLERANCE_M:
            yield (
                f"{int((outside > TOLERANCE_M).sum())} turbines stand outside {name}, "
                f"turbine {mine.start + worst} by {outside[worst]:.6g} m"
            )
