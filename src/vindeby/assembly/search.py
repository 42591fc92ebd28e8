"""The search side of a campaign: its areas, problems and methods as ``layout`` computes with them."""

import math
from dataclasses import asdict

from vindeby import layout
from vindeby.assembly.value import costs_of, depth_grid, router_of
from vindeby.assembly.wind import made_by, wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import around
from vindeby.campaign.sections.boundary import BoundarySection, Circle
from vindeby.campaign.sections.costs import Depth
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.sections.method import PythonSearch, SmartStartSection, Step
from vindeby.campaign.sections.time_series import known_speeds
from vindeby.campaign.tasks import Cell
from vindeby.layout.methods.starts import DEFAULT_SPEEDS


def boundary_of(boundary: BoundarySection) -> layout.Boundary:
    """Return the boundary in which turbines may stand."""
    holes = boundary.exclusions
    return layout.Boundary(
        boundary.rings,
        circle=None if boundary.circle is None else _disc(boundary.circle),
        holes=[hole.polygon for hole in holes if hole.polygon is not None],
        round_holes=[_disc(hole.circle) for hole in holes if hole.circle is not None],
    )


def _disc(circle: Circle) -> tuple[tuple[float, float], float]:
    return circle.center, circle.radius_m


def problem_of(campaign: Campaign, cell: Cell) -> layout.LayoutProblem:
    """Return the layout problem of a cell of the campaign."""
    farm, types = campaign.farms[cell.farm_idx], cell.type_indices
    beside = around(campaign, cell.farm_idx, campaign.turbines_of(cell))
    others = len(beside.turbines) - len(types)  # the types of neighbours are not to choose from
    limited = " (within its depth limits)" if getattr(_depth(campaign), "limits", None) else ""
    by_state = campaign.objective is not None and campaign.objective.is_priced_by_state
    other = campaign.scenarios or campaign.stated_site is not campaign.site or by_state
    return layout.LayoutProblem(
        farm=wind_farm(campaign, types, cell.farm_idx, searched=True, over=campaign.over, sold=True),
        boundary=_grounds(campaign, farm, cell),
        n_turbines=cell.n_turbines,
        spacing_m=beside.spacing_m,
        name=farm.name + limited,
        mix=_mix(campaign, cell, others) if cell.mix or others else None,
        valuation=_valuation(campaign, cell, others),
        stated=wind_farm(campaign, types, cell.farm_idx) if other else None,
    )


def _depth(campaign: Campaign) -> Depth | None:
    return None if campaign.costs is None else campaign.costs.depth


def _valuation(campaign: Campaign, cell: Cell, others: int) -> layout.Valuation | None:
    given = campaign.objective
    if given is not None and given.needs_costs:
        costs_given = costs_of(campaign, cell, others)
        assert costs_given is not None, "the campaign's check lets no such objective without costs through"
        router = router_of(campaign, cell)
        price = given.mean_price if given.of == "npv" else None
        return layout.Valuation("lcoe" if price is None else "npv", costs_given, price, router)
    return None


def grounds(campaign: Campaign, farm: Farm, area: BoundarySection) -> layout.Boundary:
    """Return an area of a farm, limited to the water depths that are allowed."""
    depth = _depth(campaign)
    if depth is None or depth.limits is None:
        return boundary_of(area)
    return layout.within_depths(boundary_of(area), depth_grid(depth, farm), *depth.limits)


def _grounds(campaign: Campaign, farm: Farm, cell: Cell) -> layout.Boundary | layout.Zones:
    if farm.zones is None:
        return grounds(campaign, farm, farm.boundary)
    areas = [grounds(campaign, farm, zone.boundary) for zone in farm.zones]
    rows = zip(areas, cell.zones, farm.zones, strict=True)
    return layout.Zones([layout.Zone(area, n, zone.name) for area, n, zone in rows])


def _mix(campaign: Campaign, cell: Cell, others: int) -> list[int] | list[list[int]]:
    """Return the turbines of each type of the cell, in the farm or in each zone, then 0 for each of the others."""
    types, zones = cell.type_indices, campaign.farms[cell.farm_idx].zones or ()
    none = [0] * others
    if zones and zones[0].mix is not None:
        rows = [dict(campaign.in_order(zone.turbines_by_type())) for zone in zones]
        return [[row.get(type_idx, 0) for type_idx in types] + none for row in rows]
    if zones and not cell.mix:
        return [[count, *none] for count in cell.zones]
    return [count for _, count in cell.mix or ((0, cell.n_turbines),)] + none


def method_of(campaign: Campaign, cell: Cell, pipeline: layout.Pipeline) -> layout.Method:
    """Return the search of a cell: all turbines together, or zone by zone; also for a front."""
    objective = campaign.objective
    if objective is not None and objective.against is not None:
        return layout.Front(_search_of(campaign, cell, pipeline), objective.against)
    return _search_of(campaign, cell, pipeline)


def _search_of(campaign: Campaign, cell: Cell, pipeline: layout.Pipeline) -> layout.Method:
    farm = campaign.farms[cell.farm_idx]
    if farm.search == "in-turn":
        return layout.InTurn(pipeline.steps, farm.rounds or 1)
    return pipeline


def pipeline_of(campaign: Campaign) -> layout.Pipeline:
    """Return the pipeline of the campaign's search steps."""
    return layout.Pipeline([_method(campaign, step) for step in campaign.method])


def _method(campaign: Campaign, step: Step) -> layout.Method:
    """Return the method of a step, e.g. ``layout.Gradient`` with the values of ``GradientParameters``."""
    given = step.chosen[1]
    if isinstance(given, SmartStartSection):
        return _smart_start(campaign, given)
    if isinstance(given, PythonSearch):
        kind, name = "subclass of vindeby.layout.Method", "vindeby.layout.Method"
        own: layout.Method = made_by(given, kind, layout.Method, name)
        return own
    method: layout.Method = getattr(layout, type(given).__name__.removesuffix("Parameters"))(**asdict(given))
    return method


def _smart_start(campaign: Campaign, step: SmartStartSection) -> layout.Method:
    speeds, directions = step.wind_speeds, step.wind_directions
    site = campaign.worlds[0].campaign.site if campaign.scenarios else campaign.site
    if (table := site.table) is not None:  # a table has no speeds but its own
        speeds = table.wind_speeds if speeds is None else speeds
        directions = table.wind_directions if directions is None else directions
    elif speeds is None and (known := known_speeds(site.chosen[1].turbulence_intensity))[-1] < math.inf:
        speeds = tuple(speed for speed in DEFAULT_SPEEDS if known[0] <= speed <= known[-1]) or known
    return layout.SmartStart(step.grid_size, step.random_pct, speeds, directions)
