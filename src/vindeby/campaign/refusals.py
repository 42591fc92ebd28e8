"""What can be wrong with a campaign that only the whole of it shows; each section has checked itself before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vindeby.campaign.fields import MAX_TASKS, CampaignFields
from vindeby.campaign.reading.yaml_text import Path, field_name
from vindeby.campaign.sections.boundary import Boundary
from vindeby.campaign.sections.farm import MAX_TURBINES, WAYS, CountRange, Farm
from vindeby.campaign.sections.local_wind import LocalWind
from vindeby.campaign.sections.method import Step
from vindeby.campaign.sections.neighbours import NeighbourGroup
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.time_series import TurbulenceTable
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import refusal
from vindeby.text import plural

_NEED_A_GRADIENT = ("gradient", "hopping", "stochastic-gradient")
SAME_PLACE_M = 0.01
"""Two turbines nearer than this are one that is listed twice."""
_LARGER_GRID = "give a larger grid"


def refuse_counts(campaign: CampaignFields) -> None:
    """Refuse a farm without a number of turbines, and numbers that cannot be."""
    for index, farm in enumerate(campaign.farms):
        if not farm.amount_is_said and not campaign.amount_is_said:
            raise refusal(
                f"the number of turbines in farm {farm.name!r} is missing",
                remedy="give n_turbines or capacity_mw, or a mix, for the campaign or for the farm",
                at=("farms", index),
            )
    refuse_mixes(campaign)
    refuse_objective(campaign)
    for index, farm in enumerate(campaign.farms):
        for turbine in campaign.turbines:
            refuse_empty_zones(farm, index, turbine)
            _refuse_impossible_count(campaign, index, turbine)
    if campaign.total_configs > MAX_TASKS:
        raise refusal(
            f"the campaign has {campaign.total_configs:,} tasks",
            remedy=f"stay below {MAX_TASKS:,}",
            at=("seeds",),
        )


def _refuse_impossible_count(campaign: CampaignFields, index: int, turbine: Turbine) -> None:
    farm = campaign.farms[index]
    count = campaign.turbine_count(farm, turbine)
    if not 1 <= count <= MAX_TURBINES:
        own = farm.capacity_mw is not None
        raise refusal(
            f"makes {count:,} turbines of type {turbine.name!r} ({turbine.rated_power_mw:g} MW) in farm "
            f"{farm.name!r}",
            remedy=f"it must come to 1 to {MAX_TURBINES:,}; the unit is MW",
            at=("farms", index, "capacity_mw") if own else ("capacity_mw",),
            value=farm.capacity_mw if own else campaign.capacity_mw,
        )


def refuse_cases(campaign: CampaignFields) -> None:
    """Refuse another number of cases than of seeds."""
    for index, step in enumerate(campaign.method):
        cases = None if step.call is None else step.call.cases
        if cases is not None and len(cases) != len(campaign.seeds):
            raise refusal(
                f"has {plural(len(cases), 'case')}, but there are {plural(len(campaign.seeds), 'seed')}",
                remedy="give one case for each seed",
                at=("method", index, "call", "cases"),
            )


def refuse_mixes(campaign: CampaignFields) -> None:
    """Refuse a mix of types that the campaign does not have, or of another number than the zones."""
    known = [turbine.name for turbine in campaign.turbines]
    for at, mix in _mixes(campaign):
        for name in mix:
            if name not in known:
                raise refusal(
                    f"no turbine type has the name {name!r}",
                    remedy=f"name types of this campaign: {', '.join(known)}",
                    at=(*at, name),
                )
    for index, farm in enumerate(campaign.farms):
        if farm.mix is not None and farm.zones is not None:
            mixed, zoned = sum(farm.fixed_mix().values()), sum(farm.zone_counts(1.0))
            if mixed != zoned:
                raise refusal(
                    f"makes {mixed:,} turbines, but the zones have {zoned:,}",
                    remedy="make the two agree",
                    at=("farms", index, "mix"),
                )


def _mixes(campaign: CampaignFields) -> Iterator[tuple[Path, Iterable[str]]]:
    """The types of every mix in the campaign, and where it is written."""
    if campaign.mix is not None:
        yield ("mix",), campaign.mix
    for index, farm in enumerate(campaign.farms):
        if farm.mix is not None:
            yield ("farms", index, "mix"), farm.mix
        for number, zone in enumerate(farm.zones or ()):
            if zone.mix is not None:
                yield ("farms", index, "zones", number, "mix"), zone.mix


def refuse_empty_zones(farm: Farm, index: int, turbine: Turbine) -> None:
    """Refuse a zone whose capacity is less than one turbine."""
    for number, (zone, count) in enumerate(
        zip(farm.zones or (), farm.zone_counts(turbine.rated_power_mw), strict=True)
    ):
        if count < 1:
            raise refusal(
                f"makes no turbine of type {turbine.name!r} ({turbine.rated_power_mw:g} MW) in zone {zone.name!r}",
                remedy="give more; the unit is MW",
                at=("farms", index, "zones", number, "capacity_mw"),
                value=zone.capacity_mw,
            )


def refuse_objective(campaign: CampaignFields) -> None:
    """Refuse ranges that the objective cannot tell apart, and costs of types that the campaign does not have."""
    objective = campaign.objective
    # A function of the user's own may have an objective of its own; stored layouts are only evaluated.
    chosen = None if any(step.call for step in campaign.method) else _first_range(campaign)
    if chosen is not None and (objective is None or not objective.tells_counts_apart):
        at, range_ = chosen
        raise refusal(
            f"{range_} turbines cannot be compared by their AEP: more turbines always give more",
            remedy=f"give the campaign an objective: {WAYS}",
            at=(*at, "n_turbines"),
        )
    if objective is None or not isinstance(objective.turbine_cost_gwh, dict):
        return
    names = [turbine.name for turbine in campaign.turbines]
    costs = objective.turbine_cost_gwh
    for name in costs:
        if name not in names:
            raise refusal(
                f"no turbine type has the name {name!r}",
                remedy=f"name types of this campaign: {', '.join(names)}",
                at=("objective", "turbine_cost_gwh", name),
            )
    lacking = [name for name in names if name not in costs]
    if lacking:
        raise refusal(
            f"does not say what a turbine of type {lacking[0]!r} costs",
            remedy="give every type its cost, or one number for all",
            at=("objective", "turbine_cost_gwh"),
        )


def _first_range(campaign: CampaignFields) -> tuple[tuple[str | int, ...], CountRange] | None:
    """Where the first range of counts is written, and which."""
    if campaign.count_range is not None and not all(farm.amount_is_said for farm in campaign.farms):
        return (), campaign.count_range
    for index, farm in enumerate(campaign.farms):
        if farm.count_range is not None:
            return ("farms", index), farm.count_range
    return None


def refuse_unknown_wind(site: Site, steps: Sequence[Step]) -> None:
    """Refuse wind speeds and directions of a smart start that the site has no probability or turbulence for."""
    key, given = site.chosen
    known = turbulence_speeds(site)
    for index, step in enumerate(steps):
        start = step.smart_start
        for name in ("wind_speeds", "wind_directions"):
            values = None if start is None else getattr(start, name)
            at = ("method", index, "smart-start", name)
            if values is not None and key in ("time_series", "states"):
                why = f"has no meaning for a site of {given.title}, whose states are taken as they are"
                raise refusal(why, remedy="leave it out", at=at)
            if values is None or name != "wind_speeds" or known is None:
                continue
            outside = [speed for speed in values if not known[0] <= speed <= known[-1]]
            if outside:
                raise refusal(
                    f"has {outside[0]:g} m/s, but the turbulence intensity is known from {known[0]:g} to "
                    f"{known[-1]:g} m/s",
                    remedy="leave these wind speeds out, or add points to the turbulence intensity",
                    at=at,
                )


def turbulence_speeds(site: Site) -> tuple[float, ...] | None:
    """The wind speeds at which the turbulence intensity is given; None where it does not depend on them."""
    turbulence = getattr(site.chosen[1], "turbulence_intensity", None)
    return turbulence.wind_speeds if isinstance(turbulence, TurbulenceTable) else None


def refuse_unsuitable_wake_model(campaign: CampaignFields) -> None:
    """Refuse steps that need a gradient the model does not have, and local wind that it does not know."""
    model, local = campaign.wake, campaign.site.local
    name = model.title
    for index, step in enumerate(campaign.method):
        if step.chosen[0] in _NEED_A_GRADIENT and not model.has_gradient:
            raise refusal(
                f"needs a gradient, which the wake model {name} does not have",
                remedy="use random-search or annealing, or another wake model",
                at=("method", index),
                value=step.chosen[0],
            )
    if local is not None and not model.knows_local_wind:
        raise refusal(
            f"the wake model {name} is defined only for wind that is the same all over the farm",
            remedy="use another wake model, or leave local out",
            at=("site", "local"),
        )
    if local is not None and local.turned_wakes and model.blockage is not None:
        raise refusal(
            "blockage is not defined for wakes that follow the turned wind",
            remedy="leave turned_wakes or blockage out",
            at=("site", "local", "turned_wakes"),
        )


def refuse_bad_neighbours(campaign: CampaignFields) -> None:
    """Refuse types that nothing describes, and turbines that are listed twice."""
    shared = campaign.neighbours or ()
    _refuse_unknown_types(shared, campaign.turbines, ("neighbours",))
    for index, farm in enumerate(campaign.farms):
        _refuse_unknown_types(farm.neighbours or (), campaign.turbines, ("farms", index, "neighbours"))
    own = [index for index, farm in enumerate(campaign.farms) if farm.neighbours]
    for farm_idx in own or [0]:
        places: list[tuple[Path, tuple[float, float]]] = [
            *_places(shared, ("neighbours",)),
            *_places(campaign.farms[farm_idx].neighbours or (), ("farms", farm_idx, "neighbours")),
        ]
        _refuse_twice(places)


def _refuse_unknown_types(groups: Sequence[NeighbourGroup], shared: Sequence[Turbine], at: Path) -> None:
    for index, group in enumerate(groups):
        known = [turbine.name for turbine in (*(group.turbines or ()), *shared)]
        for place, name in enumerate(group.type or ()):
            if name not in known:
                raise refusal(
                    "is not the name of a turbine type",
                    remedy=f"known: {', '.join(known)}; describe others under turbines: of this entry",
                    at=(*at, index, "type", place) if len(group.type or ()) > 1 else (*at, index, "type"),
                    value=name,
                )


def _places(groups: Sequence[NeighbourGroup], at: Path) -> Iterator[tuple[Path, tuple[float, float]]]:
    for index, group in enumerate(groups):
        for place, position in enumerate(group.positions):
            yield (*at, index, "positions", place), position


def _refuse_twice(places: Sequence[tuple[Path, tuple[float, float]]]) -> None:
    """In cells of the least distance, so that thousands of turbines take no time."""
    cells: dict[tuple[int, int], list[tuple[Path, tuple[float, float]]]] = {}
    for path, (x, y) in places:
        column, row = round(x / SAME_PLACE_M), round(y / SAME_PLACE_M)
        for beside in ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
            for other, (ox, oy) in cells.get(beside, ()):
                if (x - ox) ** 2 + (y - oy) ** 2 < SAME_PLACE_M**2:
                    raise refusal(
                        f"stands where {field_name(other)} stands: a turbine is listed twice",
                        remedy="list each turbine once, for the campaign or for the farm",
                        at=path,
                        value=[x, y],
                    )
        cells.setdefault((column, row), []).append((path, (x, y)))


def refuse_outside_local_wind(campaign: CampaignFields) -> None:
    """Refuse corners of boundaries, neighbours and hub heights that the grid does not have."""
    local = campaign.site.local
    if local is None:
        return
    for index, farm in enumerate(campaign.farms):
        at: Path = ("farms", index, "boundary")
        for what, x, y in _corners(farm.boundary):
            _refuse_place(local, f"{what} of farm {farm.name!r}", x, y, at)
        for place, group in enumerate(farm.neighbours or ()):
            _refuse_group(local, group, campaign, ("farms", index, "neighbours", place))
    for place, group in enumerate(campaign.neighbours or ()):
        _refuse_group(local, group, campaign, ("neighbours", place))
    for index, turbine in enumerate(campaign.turbines):
        _refuse_height(local, turbine, ("turbines", index))


def _corners(boundary: Boundary) -> Iterator[tuple[str, float, float]]:
    """The places that must be covered, so that the whole area is."""
    if boundary.circle is not None:
        (x, y), radius = boundary.circle.center, boundary.circle.radius_m
        sides = {"west": (-1, 0), "south": (0, -1), "east": (1, 0), "north": (0, 1)}
        for side, (right, up) in sides.items():
            yield f"the {side} end of the circle", x + right * radius, y + up * radius
    for ring in boundary.rings:
        for index, (x, y) in enumerate(ring):
            yield f"corner {index}", x, y


def _refuse_place(local: LocalWind, what: str, x: float, y: float, at: Path) -> None:
    west, south, east, north = local.bounds
    if not (west <= x <= east and south <= y <= north):
        raise refusal(
            f"{what} at ({x:.10g}, {y:.10g}) is outside the grid of the local wind, which goes from x {west:.10g} "
            f"to {east:.10g} and y {south:.10g} to {north:.10g}",
            remedy=_LARGER_GRID,
            at=at,
            value=[x, y],
        )


def _refuse_group(local: LocalWind, group: NeighbourGroup, campaign: CampaignFields, at: Path) -> None:
    for index, (x, y) in enumerate(group.positions):
        _refuse_place(local, f"neighbour {index}", x, y, (*at, "positions", index))
    for place, turbine in enumerate(group.turbines or ()):
        _refuse_height(local, turbine, (*at, "turbines", place))
    used = set(group.type_names)
    for turbine in campaign.turbines:
        if turbine.name in used:
            _refuse_height(local, turbine, at)


def _refuse_height(local: LocalWind, turbine: Turbine, at: Path) -> None:
    if local.height is not None and not local.height[0] <= turbine.hub_height_m <= local.height[-1]:
        raise refusal(
            f"the hub height of {turbine.name!r}, {turbine.hub_height_m:g} m, is outside the grid of the local wind, "
            f"which goes from {local.height[0]:g} to {local.height[-1]:g} m",
            remedy="give a grid that holds this height, or one without heights",
            at=at,
            value=turbine.hub_height_m,
        )
