"""What a layout of a campaign costs, and what it is worth by the campaign's objective.

A result carries these figures as attributes. They follow from its layout, its types, its cables and its energy, so that
whoever reads a result can compute them again (``values_of``); ``validate`` does.
"""

from collections import Counter

import numpy as np

from vindeby import economy
from vindeby.assembly.cables import eur_of_cables
from vindeby.assembly.stored_turbines import Arrays, own_types
from vindeby.campaign import Campaign
from vindeby.campaign.sections.costs import Depth, Foundation, for_type
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.tasks import Cell

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
"""The attributes of a result that say what it costs, and what they are called in ``economy.CostParts``."""
AREA = "area_km2"
VALUES = (OBJECTIVE, LCOE, NPV, AREA, *PARTS)
"""All attributes that follow from the rest of a result."""


def depth_grid(depth: Depth, farm: Farm) -> economy.DepthGrid:
    """The water depth around a farm as ``economy`` computes with it; other farms do not change it."""
    return economy.DepthGrid(*depth.around(farm.boundary.shape()))


def costs_of(campaign: Campaign, cell: Cell, others: int = 0) -> economy.Costs | None:
    """The campaign's costs for the types of a cell, and for so many types after them, which only neighbours have."""
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


def _foundation(given: Foundation, farm: Farm) -> economy.Foundation:
    grid, (_, curve) = depth_grid(given.depth, farm), given.curve or ("", None)
    factor = 1.0 if given.price_per_kg is None else given.price_per_kg
    if curve is not None and curve.table is not None:
        depths, values = zip(*curve.table, strict=True)
        return economy.Foundation(grid, (depths, [factor * one for one in values]), fixed=given.fixed)
    numbers = [factor * one for one in (curve.polynomial or ())] if curve is not None else [0.0]
    return economy.Foundation(grid, polynomial=numbers, fixed=given.fixed)


def values_of(
    campaign: Campaign, cell: Cell, arrays: Arrays, costs: economy.Costs | None = None
) -> dict[str, float]:
    """What the arrays of a result cost and are worth, by the names of ``VALUES``; without what cannot be known.

    ``costs`` are those of ``costs_of``, where they are at hand. The objective is in its own unit, and there only
    where it decides: with costs, or where the search chose the number of turbines or their types.
    """
    types, objective = own_types(arrays, cell, arrays["layout"].shape[-1]), campaign.objective
    if types is None:
        return {}
    aep_gwh, found = float(arrays["aep"].ravel()[0]), dict[str, float]()
    over_gwh = over_scenarios(campaign, arrays)
    costs = costs_of(campaign, cell) if costs is None else costs
    cables_eur = eur_of_cables(campaign, arrays)
    if costs is not None and cables_eur is not None:
        x, y = np.asarray(arrays["layout"], np.float64)
        parts = costs.parts(x, y, types, cables_eur)
        found = {name: float(getattr(parts, part)) for name, part in PARTS.items()}
        found[LCOE] = costs.lcoe_eur_per_mwh(parts, aep_gwh)
        if objective is not None and objective.price is not None:
            found[NPV] = costs.npv_eur(parts, aep_gwh, objective.price)
    compared_gwh = aep_gwh if over_gwh is None else over_gwh
    if objective is not None and objective.is_of_costs:
        if costs is None or not found:
            return found
        found[OBJECTIVE] = found[LCOE if objective.of == "lcoe" else NPV]
        if over_gwh is not None and objective.of == "lcoe":
            found[OBJECTIVE] = costs.lcoe_eur_per_mwh(parts, over_gwh)
        elif over_gwh is not None and objective.price is not None:
            found[OBJECTIVE] = costs.npv_eur(parts, over_gwh, objective.price)
    elif objective is not None and cell.is_chosen:
        names = [turbine.name for turbine in campaign.turbines_of(cell)]
        found[OBJECTIVE] = objective.worth(compared_gwh, Counter(names[kind] for kind in types.tolist()))
    elif over_gwh is not None:
        found[OBJECTIVE] = over_gwh
    if objective is not None and objective.against == "area":
        found[AREA] = 1e-6 * economy.hull_area_m2(*np.asarray(arrays["layout"], np.float64))
    return found


SCENARIO_AEP, SCENARIO_BEST = "scenario_aep_gwh", "scenario_best_gwh"
"""The arrays of a result with its AEP in each scenario and, for a regret, with that of the best layout found for it."""


def over_scenarios(campaign: Campaign, arrays: Arrays) -> float | None:
    """The AEP in the worst scenario, or less the largest regret, in GWh; None for a mean, which is the AEP itself."""
    gwh, best = arrays.get(SCENARIO_AEP), arrays.get(SCENARIO_BEST)
    if not campaign.scenarios or campaign.over == "mean" or gwh is None or not gwh.size:
        return None
    if campaign.over == "worst":
        return float(gwh.min())
    return None if best is None or best.shape != gwh.shape else float((gwh - best).min())
