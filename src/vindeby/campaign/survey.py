"""What a campaign would run, and what looks doubtful about it, before anything runs."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.campaign.campaign import Campaign
from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.neighbours import around, groups_in, groups_of, neighbours_of
from vindeby.campaign.reading.code_files import file_of, search_path
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import look_like_degrees
from vindeby.campaign.reading.yaml_text import field_name
from vindeby.campaign.refusals import far_from_farms
from vindeby.campaign.sections.boundary import grid_inside, most_points, random_fill
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.sections.site import STATED_STEP, ProbabilityTable, SiteSection, Weibull
from vindeby.campaign.sections.time_series import States, TimeSeries
from vindeby.campaign.sections.turbines import Tabulated, TurbineSection
from vindeby.campaign.tasks import Cell
from vindeby.text import plural
from vindeby.units import BETZ_LIMIT, mean_power_to_aep_gwh, wind_power_w

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
        text
        for farm, shape in zip(campaign.farms, shapes, strict=True)
        for text in _doubts_about(farm, shape)
    ]
    warnings += [*_far_places(campaign), *doubts_about_neighbours(campaign, shapes)]
    warnings += [*_doubts(campaign), *_idle_objective(campaign, cells)]
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


def _doubts_about(farm: Farm, shape: BaseGeometry) -> Iterator[str]:
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


def _far_places(campaign: CampaignFields) -> Iterator[str]:
    """One sentence for each place, or list of places, that is far from the farms."""
    for far in far_from_farms(campaign):
        yield f"{field_name(far.at)}: {far.words}; are these the farms' coordinates?"


_ROUNDING = 1e-6
_LEAST_POWER_COEFFICIENT = 0.05


def _doubts(campaign: Campaign) -> Iterator[str]:
    """One sentence for each doubt about ratings, wind, power curves and the engine, and for each note about a file."""
    yield from _ratings(campaign)
    yield from _sum(campaign.site.chosen[1])
    yield from _bins(campaign)
    for turbine in campaign.turbines:
        if isinstance(turbine.description, Tabulated):
            yield from _power(turbine, turbine.description)
    yield from _engine(campaign)
    yield from notes_about_files(campaign)


def _sum(site: Weibull | ProbabilityTable | TimeSeries | States) -> Iterator[str]:
    if isinstance(site, TimeSeries):
        return  # weights are relative: their sum has no meaning
    total = sum(site.probability) if isinstance(site, States) else site.total
    if abs(total - 1.0) <= _ROUNDING:
        return
    what = "frequencies" if isinstance(site, Weibull) else "probabilities"
    if site.normalise:
        yield f"site: the {what} sum to {total:.8g}; they are divided by this sum (normalise: true)"
    else:
        yield (
            f"site: the {what} sum to {total:.8g}, not to 1; energies are those of this part of a year, as in PyWake; "
            "write normalise: true to divide by the sum"
        )


def _bins(campaign: Campaign) -> Iterator[str]:
    """Yield what is lost by bins of wind that are coarser than those of the stated energy, or that miss some wind."""
    site, stated = campaign.site, campaign.stated_site
    if site.weibull is None or stated.weibull is None or campaign.method[0].call is not None:
        return
    stating = "the energy of a result (aep) is stated"
    kept = "and the one that was searched is kept as aep_searched"
    if (step := site.weibull.direction_step) > STATED_STEP:
        yield (
            f"site.weibull.direction_step: layouts are searched in {round(360.0 / step)} directions, {step:g} degrees "
            f"apart, and a search exploits the gaps between them; {stating} at {STATED_STEP:g} degree, {kept}; use "
            f"{STATED_STEP:g} for better layouts"
        )
    speeds, fine = site.weibull.wind_speeds, stated.weibull.wind_speeds
    widest = max(campaign.turbines, key=lambda turbine: turbine.operating_range[1])
    if speeds != fine:
        yield (
            f"site.weibull.wind_speeds: layouts are searched at {plural(len(speeds), 'wind speed')} from {speeds[0]:g} "
            f"to {speeds[-1]:g} m/s; {stating} in bins of {STATED_STEP:g} m/s from {fine[0]:g} to {fine[-1]:g} m/s, "
            f"{kept}; {_in_bins(stated, site, widest)}"
        )
    elif (ends := widest.operating_range[1]) > speeds[-1] + STATED_STEP:
        beyond = (
            *speeds,
            *(float(speed) for speed in range(math.ceil(speeds[-1] + 0.5), math.ceil(ends) + 1)),
        )
        more = site.model_copy(update={"weibull": site.weibull.model_copy(update={"wind_speeds": beyond})})
        yield (
            f"site.weibull.wind_speeds: they end at {speeds[-1]:g} m/s, but type {widest.name} operates up to {ends:g} "
            f"m/s; {_in_bins(more, site, widest)}; list them up to {ends:g} to count that"
        )


def _in_bins(one: SiteSection, other: SiteSection, turbine: TurbineSection) -> str:
    """Return in words what share of the year two sites cover, and what a turbine without wakes gives in them."""
    if one.local is not None:
        return "how much that changes differs from place to place"
    states = [readers().wind_of(site).states() for site in (one, other)]
    power = readers().turbine_of(turbine).power_at
    gwh = [mean_power_to_aep_gwh(float(given.probability @ power(given.speed))) for given in states]
    these, those = (f"{100.0 * given.probability.sum():.4g} % of the year" for given in states)
    return (
        f"these cover {these}, and a turbine of type {turbine.name} without wakes gives {gwh[0]:.4g} GWh in them; the "
        f"wind speeds of the search cover {those} and give {gwh[1]:.4g} GWh ({100.0 * (gwh[1] / gwh[0] - 1.0):+.3g} %)"
    )


def _power(turbine: TurbineSection, table: Tabulated) -> Iterator[str]:
    points = [
        (power / wind_power_w(table.rotor_diameter_m, speed), speed)
        for speed, power in zip(table.wind_speed, table.power_w, strict=True)
        if speed > 0.0
    ]
    largest, at = max(points)
    unit = "is power_kw in kW and rotor_diameter_m in metres?" if table.cp is None else "is cp a fraction?"
    if largest > BETZ_LIMIT:
        yield (
            f"type {turbine.name}: at {at:g} m/s the power is {largest:.3g} of that of the wind through the rotor, "
            f"above the Betz limit of {BETZ_LIMIT:.3f}; {unit}"
        )
    elif largest < _LEAST_POWER_COEFFICIENT:
        yield (
            f"type {turbine.name}: the power is never more than {largest:.2g} of that of the wind through the rotor; "
            f"{unit}"
        )


_NEAR = 0.01
_ROUND_STEPS = (1.0, 0.5, 0.1, 0.05)
"""In units of the first digit, the roundest first: 9.95 MW is near 10 MW and 12.48 MW near 12.5 MW."""


def _ratings(campaign: Campaign) -> Iterator[str]:
    """One sentence for each turbine type whose count would differ if its curve ended at a round figure."""
    for turbine in campaign.turbines:
        round_mw = _round_figure_nearby(turbine)
        if round_mw is None:
            continue
        differ = [
            (farm.name, level.capacity_mw, level.count(turbine.rated_power_mw), level.count(round_mw))
            for farm in campaign.farms
            for level in farm.zones or (campaign.level_of(farm),)
            if level.count(turbine.rated_power_mw) != level.count(round_mw)
        ]
        if not differ:
            continue
        farm_name, capacity_mw, count, otherwise = differ[0]
        others = f" (and {plural(len(differ) - 1, 'more farm')} likewise)" if len(differ) > 1 else ""
        yield (
            f"type {turbine.name}: {capacity_mw:g} MW make {plural(count, 'turbine')} in farm {farm_name}, as the "
            f"largest power of the curve, {turbine.rated_power_mw:.10g} MW, is taken as the rating; with "
            f"{round_mw:g} MW it would be {otherwise}{others}; give rated_power_mw in the table"
        )


def _round_figure_nearby(turbine: TurbineSection) -> float | None:
    """The roundest figure within 1 % of a rating that was taken from a curve; None where it is that figure."""
    if turbine.table is None or turbine.table.rated_power_mw is not None:
        return None
    largest = turbine.rated_power_mw
    magnitude = 10.0 ** math.floor(math.log10(largest))
    for step in _ROUND_STEPS:
        figure = float(f"{round(largest / (step * magnitude)) * step * magnitude:.3g}")
        if abs(figure - largest) <= _NEAR * figure:
            return figure if figure != largest else None
    return None


_PACKAGES = {"pywake": ("py_wake", "PyWake"), "floris": ("floris", "FLORIS")}


def _engine(campaign: Campaign) -> Iterator[str]:
    """A campaign may run on another machine than it is checked on, so this is no more than a doubt."""
    key = campaign.wake.chosen[0]
    given = campaign.wake.named_code
    if given is not None and file_of(given.module, search_path()) is None:
        yield f"wake.{key}: {given.model}: no module {given.module} is found here; start from the folder that it is in"
    if key in _PACKAGES and find_spec(_PACKAGES[key][0]) is None:
        name = _PACKAGES[key][1]
        yield f"wake.{key}: {name} is not installed here; install it with: pip install 'vindeby[{key}]'"


def notes_about_files(campaign: Campaign) -> Iterator[str]:
    """One sentence per note, with the section and the name of the file."""
    sources = [
        ("site", campaign.site.source),
        *((f"type {one.name}", one.source) for one in campaign.turbines),
    ]
    for _, group in groups_in(campaign):
        sources += [(f"{group.label}, type {one.name}", one.source) for one in group.turbines or ()]
    for what, source in sources:
        if source is not None:
            yield from (f"{what}, from {source.file}: {note}" for note in source.notes or ())
