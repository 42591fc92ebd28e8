"""Where the turbines of a result stand, in which zone, of which type, and what stands around them.

A record of a farm with zones has the array ``zone``, one number per turbine, and its turbines stand zone by zone.
A record of a farm with a mix has the array ``types``: for each turbine the number of its type in the campaign.
The engine of a mixed farm knows only the types of the mix; ``own_types`` goes from the one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of, types_of
from vindeby.campaign.sections.boundary import Boundary
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.tasks import Cell, from_to
from vindeby.store.format.record import Record
from vindeby.units import TOLERANCE_M

FloatArray = npt.NDArray[np.float64]
_MOST_DISTANCES = 4_000_000
"""At a time: a foreign file may hold a layout of any size."""


class Area:
    """How far outside a boundary points are."""

    def __init__(self, boundary: Boundary) -> None:
        self._circles_out = [hole.circle for hole in boundary.exclusions if hole.circle is not None]
        self._circle = boundary.circle
        polygons = [hole.shape() for hole in boundary.exclusions if hole.circle is None]
        outer = shapely.union_all([shapely.Polygon(ring) for ring in boundary.rings])
        self._polygons: BaseGeometry = outer
        self._holes: BaseGeometry = shapely.union_all(polygons)

    def distance_outside(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """The distance of each point from where it would be allowed; circles are taken as circles."""
        points = shapely.points(x, y)
        if self._circle is None:
            outside = shapely.distance(self._polygons, points)
        else:
            outside = np.hypot(x - self._circle.center[0], y - self._circle.center[1]) - self._circle.radius_m
        outside = np.maximum(np.asarray(outside, np.float64), 0.0)
        if not self._holes.is_empty:
            edge = shapely.distance(shapely.boundary(self._holes), points)
            outside = np.maximum(outside, np.where(shapely.contains_xy(self._holes, x, y), edge, 0.0))
        for hole in self._circles_out:
            depth = hole.radius_m - np.hypot(x - hole.center[0], y - hole.center[1])
            outside = np.maximum(outside, depth)
        return np.asarray(outside, np.float64)


def closest_pair(x: FloatArray, y: FloatArray) -> tuple[float, int, int]:
    """The least distance between two points and which they are; infinity for fewer than two."""
    short, one, other = worst_pair(x, y, np.zeros(len(x)), len(x))
    return 0.0 - short, one, other  # -short of coincident points would be -0.0, and read "-0 m"


def worst_pair(x: FloatArray, y: FloatArray, need: FloatArray, own: int) -> tuple[float, int, int]:
    """By how much (m) a pair is nearer than the mean of what its two need, and which; for the worst pair.

    One of the pair is among the first ``own`` points.
    """
    found = (-np.inf, 0, 0)
    step = max(1, _MOST_DISTANCES // max(1, len(x)))
    for start in range(0, own if len(x) > 1 else 0, step):
        rows = slice(start, min(start + step, own))
        short = 0.5 * (need[rows, None] + need[None, :])
        short -= np.hypot(x[rows, None] - x[None, :], y[rows, None] - y[None, :])
        short[np.arange(len(short)), np.arange(rows.start, rows.stop)] = -np.inf
        one, other = np.unravel_index(int(np.argmax(short)), short.shape)
        if short[one, other] > found[0]:
            found = (float(short[one, other]), start + int(one), int(other))
    return found


@dataclass(frozen=True)
class Around:
    """What stands around a farm. ``turbines`` are the farm's own types, then those of neighbours that differ."""

    turbines: tuple[Turbine, ...]
    x: FloatArray
    y: FloatArray
    types: npt.NDArray[np.int64]
    """An index of ``turbines`` for each neighbour."""

    def __len__(self) -> int:
        return len(self.x)

    def spacing_m(self, campaign: Campaign) -> list[float]:
        """The spacing of each type; a pair keeps the mean of its two."""
        return [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in self.turbines]


def around(campaign: Campaign, own: Sequence[Turbine], farm_idx: int | None) -> Around:
    """What stands around this farm, whose own turbines are of these types; nothing without a farm."""
    standing = () if farm_idx is None else neighbours_of(campaign, farm_idx)
    turbines, types = types_of(standing, own)
    x, y = np.array([one.x for one in standing], float), np.array([one.y for one in standing], float)
    return Around(tuple(turbines), x, y, np.array(types, np.int64))


IntArray = npt.NDArray[np.int64]


def zone_array(cell: Cell) -> IntArray:
    """The zone of each turbine, by its number."""
    return np.repeat(np.arange(len(cell.zones)), cell.zones)


def largest_diameter_m(campaign: Campaign, cell: Cell) -> float:
    """The rotor diameter of the cell's turbines, of a mix that of the largest."""
    return max(turbine.rotor_diameter_m for turbine in campaign.turbines_of(cell))


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


def worth_of(record: Record) -> float | None:
    """What tells the best of a farm's results: the objective that a record says, or its energy; None without any."""
    said, energy = record.attributes.get("objective"), record.arrays.get("aep")
    if isinstance(said, float):
        return said
    return float(energy.ravel()[0]) if energy is not None and energy.size == 1 else None


def own_types(record: Record, cell: Cell, count: int) -> IntArray | None:
    """The type of each turbine among those of its cell, from 0; None where a mixed farm's record does not say it."""
    if not cell.mix:
        return np.zeros(count, np.int64)
    kinds = np.array(cell.type_indices)
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
            name, wanted = campaign.turbines[kind].name, from_to(few, many)
            yield f"has {has} turbines of type {name!r}, but the mix asks for {wanted}"


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
