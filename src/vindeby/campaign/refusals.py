"""Checks that need the whole campaign; each section has checked itself before.

Whatever stands around farms (substations, neighbours) is near them, in metres, and grids of depths and of local wind
hold them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import shapely

from vindeby.arrays import FloatArray
from vindeby.campaign.fields import MAX_TASKS, CampaignFields
from vindeby.campaign.neighbours import groups_in
from vindeby.campaign.reading.tables import METRES_WANTED, look_like_degrees
from vindeby.campaign.reading.yaml_text import Path, field_name
from vindeby.campaign.sections.boundary import BoundarySection
from vindeby.campaign.sections.costs import Cables, Depth, FoundationSection, Objective
from vindeby.campaign.sections.farm import MAX_TURBINES, Farm
from vindeby.campaign.sections.local_wind import LocalWindSection
from vindeby.campaign.sections.time_series import States, TimeSeries, refuse_speeds_outside
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.sections.values import refusal, require
from vindeby.units import KM

_DEPTHS_TRIED = 2001
SAME_PLACE_M = 0.01
"""The distance below which two turbines are one turbine that is listed twice."""


def refuse_counts(campaign: CampaignFields) -> None:
    """Refuse a farm without a number of turbines, and numbers that cannot be."""
    for index, farm in enumerate(campaign.farms):
        wrong = f"the number of turbines in farm {farm.name!r} is missing"
        remedy = "give n_turbines or capacity_mw, or a mix, for the campaign or for the farm"
        require(farm.amount_is_said or campaign.amount_is_said, wrong, remedy, "farms", index)
    _refuse_mixes(campaign)
    for index in range(len(campaign.farms)):
        for turbine in campaign.turbines:
            _refuse_impossible_count(campaign, index, turbine)
    tasks = f"the campaign has {campaign.total_configs:,} tasks"
    require(campaign.total_configs <= MAX_TASKS, tasks, f"stay below {MAX_TASKS:,}", "seeds")


def _refuse_impossible_count(campaign: CampaignFields, index: int, turbine: TurbineSection) -> None:
    farm, rated = campaign.farms[index], turbine.rated_power_mw
    kind = f"of type {turbine.name!r} ({rated:g} MW)"
    for number, (zone, count) in enumerate(zip(farm.zones or (), farm.zone_counts(rated), strict=True)):
        wrong = f"makes no turbine {kind} in zone {zone.name!r}"
        at = ("farms", index, "zones", number, "capacity_mw")
        require(count > 0, wrong, "give more; the unit is MW", *at)
    count = campaign.turbine_count(farm, turbine)
    wrong = f"makes {count:,} turbines {kind} in farm {farm.name!r}"
    remedy = f"it must come to 1 to {MAX_TURBINES:,}; the unit is MW"
    level = () if farm.capacity_mw is None else ("farms", index)
    require(1 <= count <= MAX_TURBINES, wrong, remedy, *level, "capacity_mw")


def _require_types(campaign: CampaignFields, names: Iterable[str], at: Path) -> None:
    known = [turbine.name for turbine in campaign.turbines]
    for name in names:
        wrong, remedy = f"no turbine type has the name {name!r}", f"name one of {', '.join(known)}"
        require(name in known, wrong, remedy, *at, name)


def _refuse_mixes(campaign: CampaignFields) -> None:
    _require_types(campaign, campaign.mix or (), ("mix",))
    for index, farm in enumerate(campaign.farms):
        at = ("farms", index)
        _require_types(campaign, farm.mix or (), (*at, "mix"))
        for number, zone in enumerate(farm.zones or ()):
            _require_types(campaign, zone.mix or (), (*at, "zones", number, "mix"))
        if farm.mix is not None and farm.zones is not None:
            mixed, zoned = sum(farm.turbines_by_type().values()), sum(farm.zone_counts(1.0))
            wrong = f"makes {mixed:,} turbines, but the zones have {zoned:,}"
            require(mixed == zoned, wrong, "make the two agree", *at, "mix")


def _require_each_type(campaign: CampaignFields, given: Any, at: Path) -> None:
    for turbine in campaign.turbines if isinstance(given, dict) else ():
        wrong = f"does not say what a turbine of type {turbine.name!r} costs"
        require(turbine.name in given, wrong, "give every type its cost, or one number for all", *at)
    _require_types(campaign, given if isinstance(given, dict) else (), at)


def refuse_costs(campaign: CampaignFields) -> None:
    """Refuse an objective without the costs that it needs, and depths that the grid or a table does not have."""
    costs, objective = campaign.costs, campaign.objective
    if objective is not None and objective.needs_costs:
        wrong = f"{objective.title} needs costs, which the campaign does not have"
        require(costs is not None, wrong, "add costs: with discount, years and turbine", "objective")
    if costs is None:
        return
    if objective is not None and objective.against == "cable_length":
        require(costs.cables, "there are no cables to be short", "add cables: to costs", "objective")
    if objective is not None and isinstance(objective.price, tuple):
        _refuse_prices(campaign, len(objective.price))
    for name in ("capex", "opex"):
        _require_each_type(campaign, getattr(costs.turbine, name), ("costs", "turbine", name))
    for index, farm in enumerate(campaign.farms):
        if costs.cables is not None:
            _refuse_cables(farm, costs.cables)
        if costs.foundation is not None:
            _refuse_corners(farm, costs.foundation.depth, "depths around the farms", index)
            _refuse_depths(costs.foundation, farm.boundary, f"farm {farm.name!r}")
            for zone in farm.zones or ():
                _refuse_depths(costs.foundation, zone.boundary, f"zone {zone.name!r}")


def _refuse_prices(campaign: CampaignFields, count: int) -> None:
    at, (_, given) = ("objective", "price"), campaign.site.chosen
    steps = len(given.wind_speed) if isinstance(given, TimeSeries | States) else 0
    wrong = f"has {count} prices, but the site has {steps or 'no'} steps"
    require(steps == count, wrong, "give one for each step of time_series, or each of states", *at)


def _refuse_cables(farm: Farm, cables: Cables) -> None:
    at, area = ("costs", "cables", "substations"), farm.boundary.shape()
    given = cables.substations_of(farm.name)
    wrong = f"does not say where the substations of farm {farm.name!r} are"
    require(given is not None, wrong, "give them for every farm", *at)
    pieces = not cables.within_area or area.geom_type == "Polygon"
    wrong = f"farm {farm.name!r} is in several pieces, and no cable could lead from one to another"
    require(pieces, wrong, "write within_area: false", "costs", "cables", "within_area")
    holes = shapely.union_all([hole.shape() for hole in farm.boundary.exclusions])
    places = given if isinstance(given, tuple) else ()
    require(len({*places}) == len(places), "two substations stand at one place", "move one of them", *at)
    for place in places:
        point = shapely.Point(place)
        outside = cables.within_area and area.distance(point) > 1.0
        wrong = f"no cable of farm {farm.name!r} may lie at ({place[0]:.10g}, {place[1]:.10g})"
        remedy = "move the substation out of exclusions and, with within_area, into the farm"
        require(not outside and not holes.contains(point), wrong, remedy, *at)


def _refuse_depths(foundation: FoundationSection, boundary: BoundarySection, what: str) -> None:
    at, (least, most) = ("costs", "foundation"), foundation.depth.limits or (-math.inf, math.inf)
    area = boundary.shape()
    x, y, depths = foundation.depth.around(area)
    shapely.prepare(area)
    cells = np.pad(shapely.intersects(area, shapely.box(x[:-1, None], y[:-1], x[1:, None], y[1:])), 1)
    near = cells[1:, 1:] | cells[:-1, 1:] | cells[1:, :-1] | cells[:-1, :-1]
    depths = np.where(near, depths, np.nan)
    low, high = float(np.nanmin(depths)), float(np.nanmax(depths))
    i, j = np.unravel_index(np.nanargmin(depths), depths.shape)
    water = f"the water in and around {what} is {low:.6g} m deep at ({x[i]:.10g}, {y[j]:.10g})"
    remedy = "write positive: up if a file has heights; fill gaps; keep turbines off land with least"
    require(max(low, least) >= 0.0 <= high, f"{water}: it is land", remedy, *at, "depth")
    water = f"{water} and {high:.6g} m elsewhere"
    low, high = max(low, least), min(high, most)
    inside = low <= high and least < most
    require(inside, f"{water}, outside the limits", "change least and most", *at, "depth")
    if (curve := foundation.curve) is None:
        return
    tried = np.linspace(low, high, _DEPTHS_TRIED)
    for depth in tried[~(curve.at(tried) >= 0.0)][:1]:
        wrong = f"has no value, or one below 0, at a depth of {depth:.6g} m, but {water}"
        remedy = "extend the table, limit the depth, or begin a polynomial with its constant"
        raise refusal(wrong, remedy=remedy, at=(*at, "mass" if foundation.cost is None else "cost"))


def refuse_unknown_wind(campaign: CampaignFields) -> None:
    """Refuse wind speeds and directions of a smart start that the site has no probability or turbulence for."""
    key, given = campaign.site.chosen
    state_by_state = f"has no meaning for a site of {given.title}, whose states are taken as they are"
    for index, step in enumerate(campaign.method):
        if (start := step.smart_start) is None:
            continue
        at = ("method", index, "smart-start")
        for name in ("wind_speeds", "wind_directions"):
            unused = getattr(start, name) is None or key not in ("time_series", "states")
            require(unused, state_by_state, "leave it out", *at, name)
        refuse_speeds_outside(given.turbulence_intensity, start.wind_speeds or (), *at, "wind_speeds")


def refuse_unsuitable_wake_model(campaign: CampaignFields) -> None:
    """Refuse steps that need a gradient the model does not have, and local wind that it does not know."""
    model, local = campaign.wake, campaign.site.local
    for index, step in enumerate(campaign.method):
        wrong = f"needs a gradient, which the wake model {model.title} does not have"
        has_it = not model.is_limited or step.chosen[0] != "gradient"
        require(has_it, wrong, "use random-search or annealing, or another wake model", "method", index)
    if local is None:
        return
    wrong = f"the wake model {model.title} is defined only for wind that is the same all over the farm"
    require(not model.is_limited, wrong, "use another wake model, or leave local out", "site", "local")
    wrong = "blockage is not defined for wakes that follow the turned wind"
    at = ("site", "local", "turned_wakes")
    require(not (local.turned_wakes and model.blockage), wrong, "leave turned_wakes or blockage out", *at)


def refuse_bad_scenarios(campaign: CampaignFields) -> None:
    """Refuse scenarios of a call or by another engine, and a value over them that layouts cannot be compared by."""
    objective, at = campaign.objective or Objective(), ("objective", "over")
    none = not campaign.scenarios
    wrong = "is over scenarios, and there are none"
    require(not (none and objective.over), wrong, "give scenarios, or leave it out", *at)
    if none:
        return
    calls = any(step.call is not None for step in campaign.method)
    wrong = "need a search of vindeby's own, not a call"
    require(not calls, wrong, "leave them out, or name search steps", "scenarios")
    for world in campaign.worlds:
        own = world.campaign.wake is campaign.wake or world.campaign.wake.engine is None
        wrong = "a scenario has one of vindeby's own wake models"
        remedy = "name one, or make a campaign of its own for this engine"
        require(own, wrong, remedy, "scenarios", world.name, "wake")
    priced, wrong = objective.is_priced_by_state, "prices that differ cannot have scenarios"
    require(not priced, wrong, "give one price", "objective", "price")
    single = objective.over in (None, "mean") or objective.against is None
    require(single, "is for a single objective", "write mean, or one objective", *at)


def refuse_bad_neighbours(campaign: CampaignFields) -> None:
    """Refuse types that nothing describes, and turbines that are listed twice."""
    for at, group in groups_in(campaign):
        known = [turbine.name for turbine in (*(group.turbines or ()), *campaign.turbines)]
        remedy = f"known: {', '.join(known)}; describe others under turbines: of this entry"
        for place, name in enumerate(group.type or ()):
            here = (*at, "type", place) if len(group.type or ()) > 1 else (*at, "type")
            if name not in known:
                raise refusal("is not the name of a turbine type", remedy=remedy, at=here, value=name)
    for farm_idx in [index for index, farm in enumerate(campaign.farms) if farm.neighbours] or [0]:
        _refuse_twice(
            [
                ((*at, "positions", index), position)
                for at, group in groups_in(campaign, farm_idx)
                for index, position in enumerate(group.positions)
            ]
        )


def _refuse_twice(places: Sequence[tuple[Path, tuple[float, float]]]) -> None:
    points = np.asarray(shapely.points([position for _, position in places] or np.empty((0, 2))))
    pairs = shapely.STRtree(points).query(points, predicate="dwithin", distance=SAME_PLACE_M).T.tolist()
    for one, other in sorted(pairs):
        wrong = f"stands where {field_name(places[other][0])} stands: a turbine is listed twice"
        remedy = "list each turbine once, for the campaign or for the farm"
        here = places[one][0]
        require(one <= other, wrong, remedy, *here)


def refuse_outside_local_wind(campaign: CampaignFields) -> None:
    """Refuse corners of boundaries, neighbours and hub heights that the grid does not have."""
    local = campaign.site.local
    if local is None:
        return
    of = "the local wind"
    for index, farm in enumerate(campaign.farms):
        _refuse_corners(farm, local, of, index)
    types: list[tuple[Path, TurbineSection]] = [
        (("turbines", index), turbine) for index, turbine in enumerate(campaign.turbines)
    ]
    for at, group in groups_in(campaign):
        for index, (x, y) in enumerate(group.positions):
            _refuse_place(local, of, f"neighbour {index}", x, y, (*at, "positions", index))
        types += [((*at, "turbines", index), turbine) for index, turbine in enumerate(group.turbines or ())]
    heights = local.height or (0.0, math.inf)
    for at, turbine in types:
        hub = f"the hub height of {turbine.name!r}, {turbine.hub_height_m:g} m"
        remedy = "give a grid that holds this height, or one without heights"
        wrong = f"{hub}, is outside the grid of {of}, which goes from {heights[0]:g} to {heights[-1]:g} m"
        require(heights[0] <= turbine.hub_height_m <= heights[-1], wrong, remedy, *at)


def _refuse_corners(farm: Farm, grid: LocalWindSection | Depth, of: str, index: int) -> None:
    for what, x, y in _corners(farm.boundary):
        _refuse_place(grid, of, f"{what} of farm {farm.name!r}", x, y, ("farms", index, "boundary"))


def _corners(boundary: BoundarySection) -> Iterator[tuple[str, float, float]]:
    """Yield the points that must be covered so that the whole area is."""
    if boundary.circle is not None:
        (x, y), radius = boundary.circle.center, boundary.circle.radius_m
        sides = {"west": (-1, 0), "south": (0, -1), "east": (1, 0), "north": (0, 1)}
        for side, (right, up) in sides.items():
            yield f"the {side} end of the circle", x + right * radius, y + up * radius
    for ring in boundary.rings:
        for index, (x, y) in enumerate(ring):
            yield f"corner {index}", x, y


def _refuse_place(grid: LocalWindSection | Depth, of: str, what: str, x: float, y: float, at: Path) -> None:
    (west, *_, east), (south, *_, north) = grid.x, grid.y
    wrong = (
        f"{what} at ({x:.10g}, {y:.10g}) is outside the grid of {of}, which goes from x {west:.10g} to "
        f"{east:.10g} and y {south:.10g} to {north:.10g}"
    )
    remedy = "give a larger grid, in the campaign's coordinates"
    require(west <= x <= east and south <= y <= north, wrong, remedy, *at)


_FARTHEST_M, _FARTHEST_IN_DEGREES_M = 200_000.0, 50_000.0
"""Distances in m: a position farther from its farm is refused; beyond the second, degrees are suspected."""


def refuse_misplaced(campaign: CampaignFields) -> None:
    """Refuse positions so far from the farms that their system differs, e.g. degrees beside farms in metres."""
    bounds = np.array([farm.boundary.shape().bounds for farm in campaign.farms])
    areas, corners = shapely.box(*bounds.T), bounds.reshape(-1, 2, 2)
    in_degrees = np.array([look_like_degrees(*corner.T) for corner in corners])
    if in_degrees.all():
        return
    system = f"; those of the campaign are metres of {campaign.crs}" if campaign.crs else ""
    placed = [*_lists_of_places(campaign)]
    placed += [(("farms", int(one), "boundary"), corners[one], None) for one in np.flatnonzero(in_degrees)]
    for at, places, own in placed:
        farms = np.flatnonzero(~in_degrees) if own is None else np.array([own])
        tree, points = shapely.STRtree(areas[farms]), np.asarray(shapely.points(places))
        (_, nearest), metres = tree.query_nearest(points, return_distance=True, all_matches=False)
        worst = int(np.argmax(metres))
        (x, y), farm = places[worst], campaign.farms[farms[nearest[worst]]]
        wrong = f"({x:.10g}, {y:.10g}) is {metres[worst] / KM:,.0f} km from farm {farm.name!r}"
        farthest, remedy = _FARTHEST_M, f"give the farms' coordinates, within {_FARTHEST_M / KM:g} km of them"
        if look_like_degrees(*places.T):
            farthest, remedy = _FARTHEST_IN_DEGREES_M, METRES_WANTED
            wrong += ", and looks like longitude and latitude in degrees"
        here = at if at[-1] == "boundary" else (*at, worst)
        require(metres[worst] <= farthest, wrong, f"{remedy}{system}", *here)


def _lists_of_places(campaign: CampaignFields) -> Iterator[tuple[Path, FloatArray, int | None]]:
    """Yield the path and the places, shape (n, 2), of neighbours and substations, and the number of their farm."""
    for at, group in groups_in(campaign):
        yield (*at, "positions"), np.array(group.positions), int(at[1]) if at[0] == "farms" else None
    cables = campaign.costs.cables if campaign.costs else None
    given, at = cables.substations if cables else None, ("costs", "cables", "substations")
    if isinstance(given, tuple):
        yield at, np.array(given), None
    for index, farm in enumerate(campaign.farms):
        if isinstance(given, dict) and isinstance(places := given.get(farm.name), tuple):
            yield (*at, farm.name), np.array(places), index
