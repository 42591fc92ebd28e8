"""The cost of a layout of a campaign, its cables, and its value by the campaign's objective.

A result carries these figures as attributes. They follow from its layout, its types, its cables and its energy, so that
whoever reads a result can compute them again (``values_of``); ``validate`` does.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from vindeby import economy
from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import Arrays, own_types
from vindeby.campaign import Campaign
from vindeby.campaign.sections.costs import Depth, FoundationSection, for_type
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import CableRouter, Routes
from vindeby.errors import DataError
from vindeby.store.format.record import Record
from vindeby.text import plural
from vindeby.units import MWH_PER_GWH, TOLERANCE_M

OBJECTIVE = "objective"
LCOE = "lcoe_eur_per_mwh"
NPV = "npv_eur"
PARTS = {
    "turbines_eur": "turbines",
    "foundations_eur": "foundations",
    "cables_eur": "cables",
    "fixed_eur": "fixed",
    "capex_eur": "capex",
    "opex_eur_per_year": "opex",
}
"""The cost attributes of a result, and the names of these costs in ``economy.CostParts``."""
AREA = "area_km2"
VALUES = (OBJECTIVE, LCOE, NPV, AREA, *PARTS)
"""Names of all attributes that follow from the other data of a result."""


def depth_grid(depth: Depth, farm: Farm) -> economy.DepthGrid:
    """Return the water depths around a farm, for ``economy``; other farms do not change them."""
    return economy.DepthGrid(*depth.around(farm.boundary.shape()))


def costs_of(campaign: Campaign, cell: Cell, others: int = 0) -> economy.Costs | None:
    """Return the campaign's costs for the types of a cell, and for ``others`` more types, only of neighbours."""
    given = campaign.costs
    if given is None:
        return None
    names = [turbine.name for turbine in campaign.turbines_of(cell)]
    capex, opex = (
        [for_type(rate, name) for name in names] + [0.0] * others
        for rate in (given.turbine.capex, given.turbine.opex)
    )
    farm = campaign.farms[cell.farm_idx]
    foundation = None if given.foundation is None else _foundation(given.foundation, farm)
    return economy.Costs(capex, opex, given.discount, given.years, foundation, given.fixed)


def _foundation(given: FoundationSection, farm: Farm) -> economy.Foundation:
    grid, curve = depth_grid(given.depth, farm), given.curve
    factor = 1.0 if given.price_per_kg is None else given.price_per_kg
    if curve is None:
        return economy.Foundation(grid, fixed=given.fixed)
    if curve.table is not None:
        depths, values = np.array(curve.table).T
        return economy.Foundation(grid, (depths, factor * values), fixed=given.fixed)
    return economy.Foundation(grid, polynomial=factor * np.array(curve.polynomial), fixed=given.fixed)


def values_of(
    campaign: Campaign, cell: Cell, arrays: Arrays, costs: economy.Costs | None = None
) -> dict[str, float]:
    """Return the costs and values of a result by the names of ``VALUES``, without those that cannot be known.

    ``costs`` are those of ``costs_of``, where they are at hand. The objective is in its own unit, and there only
    where it is not the AEP.
    """
    types, objective = own_types(arrays, cell, arrays["layout"].shape[-1]), campaign.objective
    if types is None:
        return {}
    aep_gwh, found = float(arrays["aep"].ravel()[0]), dict[str, float]()
    over_gwh = over_scenarios(campaign, arrays)
    compared_gwh = aep_gwh if over_gwh is None else over_gwh
    costs = costs_of(campaign, cell) if costs is None else costs
    cables_eur = eur_of_cables(campaign, arrays)
    if costs is not None and cables_eur is not None:
        x, y = np.asarray(arrays["layout"], np.float64)
        parts = costs.parts(x, y, types, cables_eur)
        found = {name: float(getattr(parts, part)) for name, part in PARTS.items()}
        found[LCOE] = costs.lcoe_eur_per_mwh(parts, aep_gwh)
        if objective is not None and objective.of == "lcoe":
            found[OBJECTIVE] = costs.lcoe_eur_per_mwh(parts, compared_gwh)
        elif objective is not None and objective.is_priced_by_state:
            if (revenue := revenue_of(arrays)) is not None:
                found[NPV] = found[OBJECTIVE] = costs.npv_eur(parts, revenue / MWH_PER_GWH, 1.0)
        elif objective is not None and objective.of == "npv":
            found[NPV] = costs.npv_eur(parts, aep_gwh, objective.mean_price)
            found[OBJECTIVE] = costs.npv_eur(parts, compared_gwh, objective.mean_price)
    if over_gwh is not None and (objective is None or not objective.is_of_costs):
        found[OBJECTIVE] = over_gwh
    if objective is not None and objective.against == "area":
        found[AREA] = 1e-6 * economy.hull_area_m2(*np.asarray(arrays["layout"], np.float64))
    return found


REVENUE = "revenue_eur"
"""The array of a result with its yearly revenue (EUR), present if the price depends on the wind state."""


def revenue_of(arrays: Arrays) -> float | None:
    """Return the revenue of a result (EUR per year); None if it is not known."""
    stored = np.asarray(arrays.get(REVENUE, np.empty(0)))
    return float(stored.ravel()[0]) if stored.size == 1 and stored.dtype.kind == "f" else None


def with_revenue(campaign: Campaign, cell: Cell, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a result with its revenue, computed if missing; unchanged if there is one price."""
    types, objective = own_types(arrays, cell, arrays["layout"].shape[-1]), campaign.objective
    if objective is None or not objective.is_priced_by_state or REVENUE in arrays or types is None:
        return dict(arrays)
    from vindeby.assembly.wind import wind_farm  # it loads the wake engine

    farm = wind_farm(campaign, cell.type_indices, cell.farm_idx, sold=True)
    x, y = np.asarray(arrays["layout"], np.float64)
    sold_gwh = farm.aep(x, y, types)
    return {**arrays, REVENUE: np.array(MWH_PER_GWH * objective.mean_price * sold_gwh)}


SCENARIO_AEP = "scenario_aep_gwh"
"""The array of a result with its AEP in each scenario."""


def over_scenarios(campaign: Campaign, arrays: Arrays) -> float | None:
    """Return the AEP in the worst scenario, in GWh; None for a mean, which is the AEP itself."""
    gwh = arrays.get(SCENARIO_AEP)
    if not campaign.scenarios or campaign.over == "mean" or gwh is None or not gwh.size:
        return None
    return float(gwh.min())


CABLE_LENGTH = "cable_length_m"
"""The attribute of a result that says how long its cables are."""


def router_of(campaign: Campaign, cell: Cell) -> CableRouter | None:
    """Return the router of the cables of a cell's layouts; None if the campaign does not count cables."""
    cables = None if campaign.costs is None else campaign.costs.cables
    if cables is None:
        return None
    farm = campaign.farms[cell.farm_idx]
    given = cables.substations_of(farm.name)
    assert given is not None, "the campaign's check lets no farm without substations through"

    def ring(area: Any) -> FloatArray:
        return shapely.get_coordinates(area.exterior)[:-1]

    return CableRouter(
        given if isinstance(given, int) else np.array(given),
        cables.types,
        cables.router,
        cables.seconds,
        border=ring(farm.boundary.shape()) if cables.within_area else None,
        obstacles=[ring(hole.shape()) for hole in farm.boundary.exclusions],
        clearance_m=max(turbine.rotor_diameter_m for turbine in campaign.turbines_of(cell)),
    )


def with_cables(campaign: Campaign, cell: Cell, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a result with its cables, routed if missing; unchanged if cables do not count."""
    router = None if "cable_ends" in arrays else router_of(campaign, cell)
    if router is None:
        return dict(arrays)
    return {**arrays, **router.route(*np.asarray(arrays["layout"], np.float64)).arrays()}


def eur_of_cables(campaign: Campaign, arrays: Arrays) -> float | None:
    """Return the cost of the cables of a result in EUR: 0 if cables do not count, None if the cables are not known."""
    if campaign.costs is None or campaign.costs.cables is None:
        return 0.0
    try:
        routes = Routes.stored(arrays, campaign.costs.cables.types)
    except DataError:
        return None
    return None if routes is None else routes.eur


def check_cables(campaign: Campaign, cell: Cell, record: Record) -> Iterator[str]:
    """Yield what is wrong with the cables of a result."""
    cables = None if campaign.costs is None else campaign.costs.cables
    if cables is None:
        return
    layout = np.asarray(record.arrays["layout"], np.float64).T
    try:
        routes = Routes.stored(record.arrays, cables.types)
        carried = None if routes is None else routes.carried()
    except DataError as error:
        yield str(error)
        return
    if routes is None or carried is None:
        if record.fingerprint:
            yield "has no cables"
        return
    if len(routes.ends) != len(layout):
        yield "does not have one cable from each turbine"
        return
    capacity = np.array([count for count, _ in cables.types])[routes.types]
    for number in np.flatnonzero(carried > capacity)[:1]:
        yield f"cable {number} carries {carried[number]} turbines, but its type carries {capacity[number]}"
    ends = np.vstack([layout, routes.substations[::-1]])[routes.ends]  # -1 - s counts from the end
    drawn = np.array([[line[0], line[-1]] for line in routes.lines()])
    off = np.hypot(*(drawn - ends).transpose(2, 0, 1)).max(axis=1)
    for number in np.flatnonzero(~(off <= 10 * TOLERANCE_M))[:1]:
        yield f"cable {number} ends {off[number]:.3g} m beside its turbine or substation"
    for one, other in routes.crossings()[:1]:
        yield f"cables {one} and {other} cross"
    said, length_m = record.attributes.get(CABLE_LENGTH), routes.length_m
    if isinstance(said, int | float) and not abs(said - length_m) <= 1e-9 * length_m:
        yield f"{CABLE_LENGTH} is {said:.9g}, but its cables are {length_m:.9g} m long"
    given = cables.substations_of(campaign.farms[cell.farm_idx].name)
    asked = min(given, len(layout)) if isinstance(given, int) else len(given or ())
    if (count := len(routes.substations)) != asked:
        yield f"has {plural(count, 'substation')}, but the campaign asks for {asked}"
    elif isinstance(given, tuple) and np.abs(routes.substations - np.array(given)).max() > TOLERANCE_M:
        yield "a substation does not stand where the campaign has it"
