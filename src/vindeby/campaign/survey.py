"""A survey of what a campaign would run, and of what looks doubtful about it, before anything runs."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.campaign import Campaign
from vindeby.campaign.neighbours import around, groups_everywhere, groups_of
from vindeby.campaign.reading.code_files import file_of, search_path
from vindeby.campaign.reading.tables import look_like_degrees
from vindeby.campaign.sections.boundary import most_points
from vindeby.campaign.sections.site import STATED_STEP
from vindeby.campaign.sections.time_series import States, TimeSeries
from vindeby.campaign.tasks import Cell
from vindeby.text import plural

_SHARED_KM2 = 1e-4
"""Zones that overlap by less than this share an edge, but for rounding."""


@dataclass(frozen=True)
class ZoneSurvey:
    """A zone of a farm with the number of its turbines."""

    name: str
    n_turbines: int
    area_km2: float
    most_turbines: int


@dataclass(frozen=True)
class CellSurvey:
    """A farm with a turbine type: the number and the density of turbines."""

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
    """An upper bound of the turbines in any layout at the given spacing."""
    zones: tuple[ZoneSurvey, ...] = ()
    """The zones of the farm, if it has any."""
    mix: tuple[tuple[str, int], ...] = ()
    """The types of a mix and the number of turbines of each, if the farm mixes several."""


@dataclass(frozen=True)
class Survey:
    """The whole campaign in figures, with warnings in words."""

    cells: tuple[CellSurvey, ...]
    warnings: tuple[str, ...]


def survey(campaign: Campaign) -> Survey:
    """Count what the campaign would run and look for what cannot work.

    Warnings are about the first combination of the axes, and those that differ from it in one axis.
    """
    if not campaign.is_about_wind:
        return Survey((), ())
    kinds: dict[Cell, list[Cell]] = {}
    for cell in campaign.cells():
        kinds.setdefault(replace(cell, identity="", by_seed={}, combination=0, tag=""), []).append(cell)
    rows = [
        replace(_row(campaign.of(alike[0]), alike[0]), tasks=len(campaign.seeds) * len(alike))
        for alike in kinds.values()
    ]
    warnings: dict[str, None] = {}
    for doubts, fields in _DOUBTS.items():
        each = {
            tuple(id(getattr(one, name)) for name in fields): one
            for one in reversed(campaign.one_at_a_time())
        }
        warnings |= dict.fromkeys(text for one in reversed(each.values()) for text in doubts(one))
    return Survey(tuple(rows), tuple(warnings))


def _row(campaign: Campaign, cell: Cell) -> CellSurvey:
    farm, names = campaign.farms[cell.farm_idx], [turbine.name for turbine in campaign.turbines]
    area_km2 = farm.boundary.shape().area / units.KM2
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
        most_turbines=_most(_free_area(campaign, cell), least_m, cell.n_turbines),
        zones=zones,
        mix=tuple((names[kind], count) for kind, count in cell.mix),
    )


def _most(shape: BaseGeometry, spacing_m: float, count: int) -> int:
    """Return the most turbines that fit into an area; ``count`` itself if nothing limits it."""
    return count if spacing_m == 0.0 else most_points(shape, spacing_m)


_DISC_SEGMENTS = 64


def _free_area(campaign: Campaign, cell: Cell) -> BaseGeometry:
    """Return where turbines of a cell may stand: the area less discs of the least distances to neighbours.

    The discs are polygons inside circles, so that what is proved about the area that is left holds for the true one.
    """
    area, beside = campaign.farms[cell.farm_idx].boundary.shape(), around(campaign, cell.farm_idx)
    if not len(beside):
        return area
    radius = 0.5 * (cell.spacing_m + np.array(beside.spacing_m)[beside.types])
    points = np.asarray(shapely.points(beside.x, beside.y))
    near = (shapely.distance(area, points) < radius) & (radius > 0.0)
    discs = shapely.buffer(points[near], radius[near], quad_segs=_DISC_SEGMENTS)
    return area.difference(shapely.union_all(discs)) if near.any() else area


def _about_areas(campaign: Campaign) -> Iterator[str]:
    for farm in campaign.farms:
        west, south, east, north = farm.boundary.shape().bounds
        if look_like_degrees((west, east), (south, north)):
            yield f"farm {farm.name}: all coordinates are within 360 m of the origin; are they degrees?"
        outer = farm.boundary.model_copy(update={"exclusions": ()}).shape()
        for index, hole in enumerate(farm.boundary.exclusions):
            if not hole.shape().intersects(outer):
                yield f"farm {farm.name}: exclusions[{index}] lies outside the boundary and excludes nothing"
        for one, other in itertools.combinations(farm.zones or (), 2):
            shared_km2 = one.boundary.shape().intersection(other.boundary.shape()).area / units.KM2
            if shared_km2 > _SHARED_KM2:
                yield f"farm {farm.name}: zones {one.name} and {other.name} overlap by {shared_km2:.3g} km2"


def _about_neighbours(campaign: Campaign) -> Iterator[str]:
    for farm_idx, farm in enumerate(campaign.farms):
        for label, places in groups_of(campaign, farm_idx).items():
            inside = int(np.count_nonzero(shapely.contains_xy(farm.boundary.shape(), *places)))
            if inside:
                yield (
                    f"farm {farm.name}: {plural(inside, 'neighbour')} inside the boundary ({label}); no turbine "
                    "comes nearer to them than min_spacing"
                )


def _about_wind(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence if probabilities are not of a whole year, or if a search has coarser wind than its energies."""
    site, weibull, stated = campaign.site, campaign.site.weibull, campaign.stated_site.weibull
    given = site.chosen[1]
    if not isinstance(given, TimeSeries):  # whose weights are relative
        total = sum(given.probability) if isinstance(given, States) else given.total
        if abs(total - 1.0) > _ROUNDING and not given.normalise:
            yield (
                f"site: the probabilities sum to {total:.8g}, not to 1; energies are those of this part of a year; "
                "write normalise: true to divide by the sum"
            )
    if weibull is None or stated is None or campaign.method[0].call is not None:
        return
    if weibull.direction_step > STATED_STEP or weibull.wind_speeds != stated.wind_speeds:
        yield (
            f"site.weibull: layouts are searched in {round(360.0 / weibull.direction_step)} directions and "
            f"{plural(len(weibull.wind_speeds), 'wind speed')}, and a search exploits the gaps between them; the "
            f"energy of a result (aep) is stated in steps of {STATED_STEP:g} degree and {STATED_STEP:g} m/s, and the "
            "one that was searched is kept as aep_searched"
        )
    widest = max(campaign.turbines, key=lambda turbine: turbine.operating_range[1])
    if (ends := widest.operating_range[1]) > stated.wind_speeds[-1] + STATED_STEP:
        yield (
            f"site.weibull.wind_speeds: energies are stated up to {stated.wind_speeds[-1]:g} m/s, but type "
            f"{widest.name} operates up to {ends:g} m/s; list them up to {ends:g} to count that"
        )


_ROUNDING = 1e-6
_PACKAGES = {"pywake": ("py_wake", "PyWake"), "floris": ("floris", "FLORIS")}


def _about_engine(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence if the code of the wakes is not here; a campaign may run on another machine."""
    key, given = campaign.wake.chosen[0], campaign.wake.named_code
    if given is not None and file_of(given.module, search_path()) is None:
        yield f"wake.{key}: {given.model}: no module {given.module} is found here; start from the folder that it is in"
    if key in _PACKAGES and find_spec(_PACKAGES[key][0]) is None:
        name = _PACKAGES[key][1]
        yield f"wake.{key}: {name} is not installed here; install it with: pip install 'vindeby[{key}]'"


def notes_about_files(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence for each note, with the section and the name of the file."""
    sources = [
        ("site", campaign.site.source),
        *((f"type {one.name}", one.source) for one in campaign.turbines),
    ]
    for _, _, group in groups_everywhere(campaign):
        sources += [(f"{group.label}, type {one.name}", one.source) for one in group.turbines or ()]
    for what, source in sources:
        if source is not None:
            yield from (f"{what}, from {source.file}: {note}" for note in source.notes or ())


def _about_room(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence for each farm that is, or may be, too small for its turbines."""
    for farm_idx, cells in itertools.groupby(campaign.cells(), lambda cell: cell.farm_idx):
        crowded = [text for cell in cells for text in _crowding(campaign, cell)]
        kinds = "types" if campaign.farms[farm_idx].zones is None else "types and zones"
        others = f" (and {len(crowded) - 1} more of its {kinds} likewise)" if len(crowded) > 1 else ""
        yield from (text + others for text in crowded[:1])


def _crowding(campaign: Campaign, cell: Cell) -> Iterator[str]:
    """Say which areas have no room; turbines across the border of two zones are not looked at."""
    row, farm = _row(campaign, cell), campaign.farms[cell.farm_idx]
    place = f"farm {row.farm}, type {row.type}"
    areas = [(place, ZoneSurvey("", row.n_turbines, row.area_km2, row.most_turbines))]
    if farm.zones is not None:
        areas = [(f"{place}, zone {zone.name}", zone) for zone in row.zones]
    for name, zone in areas:
        count = zone.n_turbines
        if count > zone.most_turbines:
            beside = 0 if farm.zones else len(around(campaign, cell.farm_idx))
            room = f"{zone.area_km2:.3g} km2" + (f" beside {plural(beside, 'neighbour')}" if beside else "")
            yield (
                f"{name}: {count} turbines cannot stand {row.spacing_m:g} m apart in {room}; no more than "
                f"{zone.most_turbines} can; use fewer or a smaller min_spacing"
            )


_DOUBTS: Mapping[Callable[[Campaign], Iterator[str]], tuple[str, ...]] = {
    _about_areas: (),
    _about_neighbours: ("neighbours", "scenarios"),
    _about_wind: ("site", "method"),
    _about_engine: ("wake",),
    notes_about_files: ("site", "neighbours", "scenarios"),
    _about_room: (
        "neighbours", "scenarios", "min_spacing", "n_turbines", "capacity_mw", "mix",
    ),
}  # fmt: skip
"""The functions that look for doubts, each with the fields it reads that an axis may vary."""
