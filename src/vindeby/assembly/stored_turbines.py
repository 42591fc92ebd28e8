"""The turbines of a result: their positions, zones and types, and the turbines around them.

A record of a farm with zones has the array ``zone``, one number per turbine, and its turbines stand zone by zone.
A record of a farm with a mix has the array ``types``: for each turbine the number of its type in the campaign.
The engine of a mixed farm knows only the types of the mix; ``own_types`` goes from the one to the other.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import Around
from vindeby.campaign.sections.boundary import BoundarySection
from vindeby.campaign.sections.costs import Objective
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import Cell
from vindeby.store.format.record import Record
from vindeby.text import plural
from vindeby.units import TOLERANCE_M

Arrays = Mapping[str, npt.NDArray[Any]]
_MOST_DISTANCES = 4_000_000
"""At a time: a foreign file may hold a layout of any size."""


class Area:
    """An area, to measure how far outside its boundary points are."""

    def __init__(self, boundary: BoundarySection) -> None:
        holes = boundary.exclusions
        self._outer: BaseGeometry = shapely.union_all([shapely.Polygon(ring) for ring in boundary.rings])
        self._radius_m = 0.0
        if boundary.circle is not None:
            self._outer, self._radius_m = shapely.Point(boundary.circle.center), boundary.circle.radius_m
        self._holes: BaseGeometry = shapely.union_all([hole.shape() for hole in holes if hole.polygon])
        self._round_holes = [hole.circle for hole in holes if hole.circle is not None]

    def distance_outside(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the distance of each point from the allowed area; circles are exact."""
        points = shapely.points(x, y)
        outside = np.maximum(shapely.distance(self._outer, points) - self._radius_m, 0.0)
        if not self._holes.is_empty:
            edge = shapely.distance(shapely.boundary(self._holes), points)
            outside = np.maximum(outside, np.where(shapely.contains_xy(self._holes, x, y), edge, 0.0))
        for hole in self._round_holes:
            outside = np.maximum(outside, hole.radius_m - np.hypot(x - hole.center[0], y - hole.center[1]))
        return np.asarray(outside, np.float64)


def closest_pair(x: FloatArray, y: FloatArray) -> tuple[float, int, int]:
    """Return the least distance between two points and the pair's indices; infinity for fewer than two points."""
    short, one, other = worst_pair(x, y, np.zeros(len(x)), len(x))
    return 0.0 - short, one, other  # -short of coincident points would be -0.0, and read "-0 m"


def worst_pair(x: FloatArray, y: FloatArray, need: FloatArray, own: int) -> tuple[float, int, int]:
    """Return the largest shortfall (m) of a pair's distance from the mean spacing of its two points, and the pair.

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


def zone_array(cell: Cell) -> IntArray:
    """Return the zone number of each turbine."""
    return np.repeat(np.arange(len(cell.zones)), cell.zones)


def largest_diameter_m(campaign: Campaign, cell: Cell) -> float:
    """Return the rotor diameter of the cell's turbines; the largest one of a mix."""
    return max(turbine.rotor_diameter_m for turbine in campaign.turbines_of(cell))


def layout_of(record: Record) -> FloatArray | None:
    """Return the positions in metres, x and y, (2, turbines); None if the record holds no usable layout."""
    layout = record.arrays.get("layout")
    if layout is None or layout.ndim != 2 or len(layout) != 2 or not np.isfinite(layout).all():
        return None
    return layout.astype(np.float64)


def energy_of(record: Record) -> float | None:
    """Return the AEP in a result, GWh; None if it has none."""
    energy = record.arrays.get("aep")
    return float(energy.ravel()[0]) if energy is not None and energy.size == 1 else None


def worth_of(record: Record, objective: Objective | None) -> float | None:
    """Return the value that results of a farm are compared by, larger is better: the stored objective or the energy.

    None if the record does not have it.

    None without any.
    """
    if objective is None or objective.is_of_energy:
        return energy_of(record)
    said = record.attributes.get("objective")
    return objective.sign * said if isinstance(said, float) else None


def own_types(arrays: Arrays, cell: Cell, count: int) -> IntArray | None:
    """Return the type of each turbine among those of its cell, from 0; None if a mixed farm's result lacks types."""
    if not cell.mix:
        return np.zeros(count, np.int64)
    known = np.array(cell.type_indices)
    types = arrays.get("types")
    if types is None or types.shape != (count,) or types.dtype.kind not in "iu":
        return None
    return np.searchsorted(known, types).astype(np.int64) if np.isin(types, known).all() else None


CellLayout = tuple[FloatArray, FloatArray, IntArray | None]
"""The layout of a cell: x and y (m) of each turbine, and the types as of ``own_types``."""


def check_types(campaign: Campaign, cell: Cell, found: IntArray | None) -> Iterator[str]:
    """Yield what is wrong with the turbine types of a layout."""
    if not cell.mix:
        return
    if found is None:
        yield "types does not hold one of the farm's types for each turbine"
        return
    counts = np.bincount(found, minlength=len(cell.mix)).tolist()
    for (kind, wanted), has in zip(cell.mix, counts, strict=True):
        if has != wanted:
            name = campaign.turbines[kind].name
            yield f"has {plural(has, 'turbine')} of type {name!r}, but the mix asks for {wanted}"


def check_zone(cell: Cell, record: Record) -> Iterator[str]:
    """Yield what is wrong with the zone numbers of a record; layouts that another program wrote need not have them."""
    stored = record.arrays.get("zone")
    if cell.zones and stored is not None and not np.array_equal(stored, zone_array(cell)):
        yield f"zone is not {' + '.join(map(str, cell.zones))} turbines, zone by zone"


def areas_of(farm: Farm) -> list[tuple[str, Area]]:
    """Return the areas of a farm's zones, or its single area, each with its name in a message."""
    if farm.zones is None:
        return [("the boundary", Area(farm.boundary))]
    return [(f"zone {zone.name!r}", Area(zone.boundary)) for zone in farm.zones]


def check_inside(areas: list[tuple[str, Area]], cell: Cell, layout: CellLayout) -> Iterator[str]:
    """Yield the number of turbines outside each area, and the turbine that is farthest outside."""
    first, (x, y, _) = 0, layout
    for (name, area), count in zip(areas, cell.zones or (len(x),), strict=True):
        mine = slice(first, first + count)
        first += count
        outside = area.distance_outside(x[mine], y[mine])
        worst = int(np.argmax(outside)) if len(outside) else 0
        if len(outside) and outside[worst] > TOLERANCE_M:
            yield (
                f"{plural(int((outside > TOLERANCE_M).sum()), 'turbine stands', 'turbines stand')} outside {name}, "
                f"turbine {mine.start + worst} by {outside[worst]:.6g} m{_at(layout, mine.start + worst)}"
            )


def _at(layout: CellLayout, turbine: int) -> str:
    return f", at ({layout[0][turbine]:.10g}, {layout[1][turbine]:.10g})"


def check_spacing(beside: Around, cell: Cell, layout: CellLayout) -> Iterator[str]:
    """Yield the pair with the largest shortfall of spacing, of two turbines or a turbine and a neighbour."""
    (x, y, types), each = layout, np.array(beside.spacing_m)
    own = np.full(len(x), cell.spacing_m) if types is None else each[types]
    need = np.concatenate([own, each[beside.types]])
    all_x, all_y = np.concatenate([x, beside.x]), np.concatenate([y, beside.y])
    short_m, one, other = worst_pair(all_x, all_y, need, len(x))
    if short_m <= TOLERANCE_M:
        return
    if other >= len(x):
        yield f"turbine {one} is {short_m:.6g} m too near to neighbour {other - len(x)}{_at(layout, one)}"
    else:
        gap, least = np.hypot(x[one] - x[other], y[one] - y[other]), 0.5 * (need[one] + need[other])
        yield f"turbines {one} and {other} are {gap:.6g} m apart, but must be {least:g} m{_at(layout, one)}"
