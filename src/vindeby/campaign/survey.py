"""What a campaign would run, and what looks doubtful about it, before anything runs."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.campaign import Campaign
from vindeby.campaign.coordinates import doubts_about_coordinates
from vindeby.campaign.doubts import doubts
from vindeby.campaign.neighbours import around, groups_in, groups_of, neighbours_of
from vindeby.campaign.reading.tables import look_like_degrees
from vindeby.campaign.sections.boundary import grid_inside, most_points, random_fill
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import Cell
from vindeby.text import plural

_ARE_DEGREES = "within 360 m of the origin; are they degrees?"
_SHARED_KM2 = 1e-4
"""Zones that overlap by less than this share an edge, but for rounding."""


@dataclass(frozen=True)
class ZoneSurvey:
    """A zone of a farm: how many turbines stand there."""

    name: str
    n_turbines: int
    area_km2: float
    most_turbines: int


@dataclass(frozen=True)
class CellSurvey:
    """A farm with a turbine type: how many stand there and how densely."""

    farm: str
    type: str
    farm_idx: int
    type_idx: int
    tasks: int
    n_turbines: int
    capacity_mw: float
    area_km2: float
    density_mw_per_km2: float
    spacing_m: float
    most_turbines: int
    """No layout at all can have more than this at the given spacing."""
    zones: tuple[ZoneSurvey, ...] = ()
    """Its zones, where the farm has any."""
    mix: tuple[tuple[str, int], ...] = ()
    """Its types and how many there are of each, where the farm mixes several."""
    fewest_turbines: int | None = None
    """Where the search chooses how many there are, the fewest; ``n_turbines`` and figures of MW are of the most."""
    mix_ranges: tuple[tuple[int, int], ...] = ()
    """Where the search chooses the mix, the fewest and the most of each type; ``mix`` is one of those allowed."""

    @property
    def needed(self) -> int:
        """How many must find room, lest there be no layout at all."""
        return self.n_turbines if self.fewest_turbines is None else self.fewest_turbines


@dataclass(frozen=True)
class Survey:
    """The whole campaign in figures, with warnings in words."""

    cells: tuple[CellSurvey, ...]
    warnings: tuple[str, ...]


_MOST_CELLS = 300


def survey(campaign: Campaign) -> Survey:
    """Count what the campaign would run and look for what cannot work.

    Of very many combinations, the first is looked at, and those that differ from it in one axis.
    """
    if campaign.vary is None:
        return _survey(campaign, {})
    lone = [axis for axis, names in campaign.axes.items() if len(names) == 1]
    warnings = [f"vary.{axis}: has one value; it is part of keys and results like others" for axis in lone]
    kinds: dict[object, list[Cell]] = {}
    for cell in campaign.cells():
        kinds.setdefault(replace(cell, identity="", combination=0, tag=""), []).append(cell)
    shapes = [farm.boundary.shape() for farm in campaign.farms]
    rows = [
        replace(_row(campaign.of(one), one, shapes[one.farm_idx]), tasks=len(campaign.seeds) * len(alike))
        for alike in (kinds.values() if campaign.is_about_wind else ())
        for one in alike[:1]
    ]
    chosen = campaign.variants if len(campaign.cells()) <= _MOST_CELLS else campaign.one_at_a_time()
    memo: dict[object, list[str]] = {}
    warnings += [text for one in chosen for text in _survey(one, memo).warnings]
    return Survey(tuple(rows), tuple(dict.fromkeys(warnings)))


def _survey(campaign: Campaign, memo: dict[object, list[str]]) -> Survey:
    """Survey one combination; ``memo`` has what was found about cells with the same numbers in others."""
    if not campaign.is_about_wind:
        return Survey((), ())
    shapes = [farm.boundary.shape() for farm in campaign.farms]
    cells = campaign.cells()
    rows = tuple(_row(campaign, cell, shapes[cell.farm_idx]) for cell in cells)
    warnings = [
        text for farm, shape in zip(campaign.farms, shapes, strict=True) for text in _doubts(farm, shape)
    ]
    warnings += [*doubts_about_coordinates(campaign), *doubts_about_neighbours(campaign, shapes)]
    warnings += [*doubts(campaign), *_idle_objective(campaign, cells)]
    by_farm = itertools.groupby(zip(rows, cells, strict=True), lambda pair: pair[0].farm_idx)
    for farm_idx, pairs in by_farm:
        shape = shapes[farm_idx]
        crowded = []
        for row, cell in pairs:
            key = (row, *(id(getattr(campaign, name)) for name in ("method", "neighbours", "scenarios")))
            if key not in memo:
                memo[key] = [*_crowding(campaign, row, free_area(campaign, cell, shape))]
            crowded += memo[key]
        kinds = "types" if campaign.farms[farm_idx].zones is None else "types and zones"
        others = f" (and {len(crowded) - 1} more of its {kinds} likewise)" if len(crowded) > 1 else ""
        warnings.extend(text + others for text in crowded[:1])
    return Survey(rows, tuple(warnings))


def _idle_objective(campaign: Campaign, cells: Sequence[Cell]) -> Iterator[str]:
    given = campaign.objective
    decides = given is None or given.needs_costs or given.over or given.against
    if not decides and not any(cell.is_chosen for cell in cells):
        yield (
            "objective: nothing is chosen by it, because every farm has a fixed number of turbines of each type; give "
            "n_turbines or a mix as a range, e.g. {from: 60, to: 66}"
        )


def _row(campaign: Campaign, cell: Cell, shape: BaseGeometry) -> CellSurvey:
    farm, names = campaign.farms[cell.farm_idx], [turbine.name for turbine in campaign.turbines]
    area_km2 = shape.area / units.KM2
    capacity_mw = campaign.rated_mw(cell)
    # Two small ones of a mix may stand nearest to each other, so only their distance proves anything.
    diameters = [turbine.rotor_diameter_m for turbine in campaign.turbines_of(cell)]
    least_m = min(map(campaign.min_spacing.in_metres, diameters))
    zones = tuple(
        ZoneSurvey(zone.name, count, zone.boundary.area_km2, _most(zone.boundary.shape(), least_m, count))
        for zone, count in zip(farm.zones or (), cell.zones, strict=True)
    )
    return CellSurvey(
        farm=farm.name,
        type=cell.label(names),
        farm_idx=cell.farm_idx,
        type_idx=cell.type_idx,
        tasks=len(campaign.seeds),
        n_turbines=cell.n_turbines,
        capacity_mw=capacity_mw,
        area_km2=area_km2,
        density_mw_per_km2=capacity_mw / area_km2,
        spacing_m=cell.spacing_m,
        most_turbines=_most(free_area(campaign, cell, shape), least_m, cell.n_turbines),
        zones=zones,
        mix=tuple((names[kind], count) for kind, count in cell.mix),
        fewest_turbines=cell.fewest_turbines,
        mix_ranges=cell.mix_ranges,
    )


def _most(shape: BaseGeometry, spacing_m: float, count: int) -> int:
    """No more than this can stand there; ``count`` itself where nothing limits it."""
    return count if spacing_m == 0.0 else most_points(shape, spacing_m)


def _doubts(farm: Farm, shape: BaseGeometry) -> Iterator[str]:
    west, south, east, north = shape.bounds
    if look_like_degrees((west, east), (south, north)):
        yield f"farm {farm.name}: all coordinates are {_ARE_DEGREES}"
    holes = farm.boundary.exclusions
    outer = farm.boundary.model_copy(update={"exclusions": ()}).shape() if holes else shape
    for index, hole in enumerate(holes):
        if not hole.shape().intersects(outer):
            yield f"farm {farm.name}: exclusions[{index}] lies outside the boundary and excludes nothing"
    for one, other in itertools.combinations(farm.zones or (), 2):
        shared_km2 = one.boundary.shape().intersection(other.boundary.shape()).area / units.KM2
        if shared_km2 > _SHARED_KM2:
            yield f"farm {farm.name}: zones {one.name} and {other.name} overlap by {shared_km2:.3g} km2"


def _crowding(campaign: Campaign, row: CellSurvey, shape: BaseGeometry) -> Iterator[str]:
    """What has no room, or may have none; turbines across the border of two zones are not looked at."""
    farm, start = campaign.farms[row.farm_idx], campaign.method[0].smart_start
    place = f"farm {row.farm}, type {row.type}"
    areas = [(place, ZoneSurvey("", row.needed, row.area_km2, row.most_turbines), shape)]
    if farm.zones is not None:
        pairs = zip(row.zones, farm.zones, strict=True)
        areas = [(f"{place}, zone {zone.name}", zone, given.boundary.shape()) for zone, given in pairs]
    for name, zone, area in areas:
        count = zone.n_turbines
        if count > zone.most_turbines:
            beside = 0 if farm.zones else len(neighbours_of(campaign, row.farm_idx))
            room = f"{zone.area_km2:.3g} km2" + (f" beside {plural(beside, 'neighbour')}" if beside else "")
            yield (
                f"{name}: {count} turbines cannot stand {row.spacing_m:g} m apart in {room}; no more than "
                f"{zone.most_turbines} can; use fewer or a smaller min_spacing"
            )
        elif start is not None:
            bounds = None if farm.search == "in-turn" else shape.bounds
            placed = random_fill(grid_inside(area, start.grid_size, bounds), row.spacing_m, count)
            if placed < count:
                yield (
                    f"{name}: a random filling of a grid of {start.grid_size} x {start.grid_size} at "
                    f"{row.spacing_m:g} m placed {placed} of {count} turbines; smart-start may run out of room; use "
                    "a larger grid_size, a smaller min_spacing or random-start"
                )


_DISC_SEGMENTS = 64


def free_area(campaign: Campaign, cell: Cell, area: BaseGeometry) -> BaseGeometry:
    """Where turbines of a cell may stand beside its neighbours: the area less discs of the least distances.

    The discs are polygons inside circles, so that what is proved about the area that is left holds for the true one.
    """
    beside = around(campaign, cell.farm_idx)
    if not len(beside):
        return area
    radius = 0.5 * (cell.spacing_m + np.array(beside.spacing_m)[beside.types])
    points = np.asarray(shapely.points(beside.x, beside.y))
    near = (shapely.distance(area, points) < radius) & (radius > 0.0)
    discs = shapely.buffer(points[near], radius[near], quad_segs=_DISC_SEGMENTS)
    return area.difference(shapely.union_all(discs)) if near.any() else area


def doubts_about_neighbours(campaign: Campaign, shapes: Sequence[BaseGeometry]) -> Iterator[str]:
    """Neighbours inside a boundary, and coordinates that may be degrees."""
    for farm_idx, shape in enumerate(shapes):
        farm = campaign.farms[farm_idx]
        for label, places in groups_of(campaign, farm_idx).items():
            inside = np.count_nonzero(shapely.contains_xy(shape, *places))
            if inside:
                stand = "neighbour stands" if inside == 1 else "neighbours stand"
                yield (
                    f"farm {farm.name}: {inside} {stand} inside the boundary ({label}); no turbine comes nearer "
                    "to them than min_spacing"
                )
    for _, group in groups_in(campaign):
        if look_like_degrees(*zip(*group.positions, strict=True)):
            yield f"neighbours {group.label}: {plural(len(group.positions), 'position')} {_ARE_DEGREES}"
