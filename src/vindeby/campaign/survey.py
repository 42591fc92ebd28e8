"""What a campaign would run, and what looks doubtful about it, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.campaign import Campaign
from vindeby.campaign.geometry import grid_inside, most_points, random_fill
from vindeby.campaign.neighbour_survey import doubts_about_neighbours, free_area
from vindeby.campaign.neighbours import neighbours_of
from vindeby.campaign.ratings import doubts_about_ratings
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import Cell
from vindeby.campaign.wind_doubts import doubts_about_wind

_DEGREES_NOT_METRES = 360.0


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


@dataclass(frozen=True)
class Survey:
    """The whole campaign in figures, with warnings in words."""

    cells: tuple[CellSurvey, ...]
    warnings: tuple[str, ...]


def survey(campaign: Campaign) -> Survey:
    """Count what the campaign would run and look for what cannot work."""
    shapes = [farm.boundary.shape() for farm in campaign.farms]
    cells = campaign.cells()
    rows = tuple(_row(campaign, cell, shapes[cell.farm_idx]) for cell in cells)
    warnings = [
        text for farm, shape in zip(campaign.farms, shapes, strict=True) for text in _doubts(farm, shape)
    ]
    warnings.extend(doubts_about_neighbours(campaign, shapes))
    warnings.extend(doubts_about_ratings(campaign))
    warnings.extend(doubts_about_wind(campaign))
    for farm_idx, shape in enumerate(shapes):
        crowded = [
            text
            for row, cell in zip(rows, cells, strict=True)
            if row.farm_idx == farm_idx
            for text in _crowding(campaign, row, free_area(campaign, cell, shape))
        ]
        others = f" (and {len(crowded) - 1} more of its types likewise)" if len(crowded) > 1 else ""
        warnings.extend(text + others for text in crowded[:1])
    return Survey(rows, tuple(warnings))


def _row(campaign: Campaign, cell: Cell, shape: BaseGeometry) -> CellSurvey:
    farm, turbine = campaign.farms[cell.farm_idx], campaign.turbines[cell.type_idx]
    area_km2 = units.m2_to_km2(shape.area)
    capacity_mw = cell.n_turbines * turbine.rated_power_mw
    unlimited = cell.spacing_m == 0.0
    return CellSurvey(
        farm=farm.name,
        type=turbine.name,
        farm_idx=cell.farm_idx,
        type_idx=cell.type_idx,
        tasks=len(campaign.seeds),
        n_turbines=cell.n_turbines,
        capacity_mw=capacity_mw,
        area_km2=area_km2,
        density_mw_per_km2=capacity_mw / area_km2,
        spacing_m=cell.spacing_m,
        most_turbines=cell.n_turbines
        if unlimited
        else most_points(free_area(campaign, cell, shape), cell.spacing_m),
    )


def _doubts(farm: Farm, shape: BaseGeometry) -> Iterator[str]:
    if max(map(abs, shape.bounds)) <= _DEGREES_NOT_METRES:
        yield f"farm {farm.name}: all coordinates are within {_DEGREES_NOT_METRES:g} m of the origin; are they degrees?"
    outer = farm.boundary.model_copy(update={"exclusions": ()}).shape()
    for index, hole in enumerate(farm.boundary.exclusions):
        if not hole.shape().intersects(outer):
            yield f"farm {farm.name}: exclusions[{index}] lies outside the boundary and excludes nothing"


def _crowding(campaign: Campaign, row: CellSurvey, shape: BaseGeometry) -> Iterator[str]:
    place = f"farm {row.farm}, type {row.type}"
    if row.n_turbines > row.most_turbines:
        beside = len(neighbours_of(campaign, row.farm_idx))
        room = f"{row.area_km2:.3g} km2" + (f" beside {beside} neighbours" if beside else "")
        yield (
            f"{place}: {row.n_turbines} turbines cannot stand {row.spacing_m:g} m apart in {room}; "
            f"no more than {row.most_turbines} can; use fewer or a smaller min_spacing"
        )
        return
    start = campaign.method[0].smart_start
    if start is None:
        return
    points = grid_inside(shape, start.grid_size)
    grid = f"a grid of {start.grid_size} x {start.grid_size}"
    if len(points) < row.n_turbines:
        yield (
            f"{place}: {row.n_turbines} turbines, but only {len(points)} points of {grid} lie inside; "
            "use a larger grid_size"
        )
    elif (placed := random_fill(points, row.spacing_m)) < row.n_turbines:
        yield (
            f"{place}: a random filling of {grid} at {row.spacing_m:g} m placed {placed} of {row.n_turbines} turbines; "
            "smart-start may run out of room; use a larger grid_size or a smaller min_spacing"
        )
