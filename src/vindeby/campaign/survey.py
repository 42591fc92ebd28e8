"""What a campaign would run, and what looks doubtful about it, before anything runs."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.campaign import Campaign
from vindeby.campaign.doubts import (
    doubts_about_engine,
    doubts_about_ratings,
    doubts_about_wind,
    notes_about_files,
)
from vindeby.campaign.neighbours import around, groups_in, groups_of, neighbours_of
from vindeby.campaign.sections.boundary import grid_inside, most_points, random_fill
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import Cell
from vindeby.text import plural

_DEGREES_NOT_METRES = 360.0
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


def survey(campaign: Campaign) -> Survey:
    """Count what the campaign would run and look for what cannot work."""
    if not campaign.is_about_wind:
        return Survey((), ())
    shapes = [farm.boundary.shape() for farm in campaign.farms]
    cells = campaign.cells()
    rows = tuple(_row(campaign, cell, shapes[cell.farm_idx]) for cell in cells)
    warnings = [
        text for farm, shape in zip(campaign.farms, shapes, strict=True) for text in _doubts(farm, shape)
    ]
    warnings.extend(doubts_about_neighbours(campaign, shapes))
    warnings.extend(doubts_about_ratings(campaign))
    warnings.extend(doubts_about_wind(campaign))
    warnings.extend(doubts_about_engine(campaign))
    warnings.extend(notes_about_files(campaign))
    warnings.extend(_idle_objective(campaign, cells))
    for farm_idx, shape in enumerate(shapes):
        crowded = [
            text
            for row, cell in zip(rows, cells, strict=True)
            if row.farm_idx == farm_idx
            for text in _crowding(campaign, row, free_area(campaign, cell, shape))
        ]
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
    if max(map(abs, shape.bounds)) <= _DEGREES_NOT_METRES:
        yield f"farm {farm.name}: all coordinates are within {_DEGREES_NOT_METRES:g} m of the origin; are they degrees?"
    outer = farm.boundary.model_copy(update={"exclusions": ()}).shape()
    for index, hole in enumerate(farm.boundary.exclusions):
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
    beside = len(neighbours_of(campaign, row.farm_idx))
    areas = [(place, ZoneSurvey("", row.needed, row.area_km2, row.most_turbines), shape)]
    if farm.zones is not None:
        pairs = zip(row.zones, farm.zones, strict=True)
        areas = [(f"{place}, zone {zone.name}", zone, given.boundary.shape()) for zone, given in pairs]
        beside = 0
    for name, zone, area in areas:
        count = zone.n_turbines
        if count > zone.most_turbines:
            room = f"{zone.area_km2:.3g} km2" + (f" beside {beside} neighbours" if beside else "")
            yield (
                f"{name}: {count} turbines cannot stand {row.spacing_m:g} m apart in {room}; no more than "
                f"{zone.most_turbines} can; use fewer or a smaller min_spacing"
            )
        elif start is not None:
            bounds = None if farm.search == "in-turn" else shape.bounds
            placed = random_fill(grid_inside(area, start.grid_size, bounds), row.spacing_m)
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
        if np.abs(np.array(group.positions)).max() <= _DEGREES_NOT_METRES:
            count = plural(len(group.positions), "position")
            yield (
                f"neighbours {group.label}: {count} within {_DEGREES_NOT_METRES:g} m of the origin; are they degrees?"
            )
