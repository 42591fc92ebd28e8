"""What a layout costs: foundations by depth, cables, yearly cost, LCOE and NPV, with gradients.

Pure functions of places and energies. May import NumPy, Shapely, ``vindeby.errors``, ``vindeby.units`` and
``vindeby.arrays``; ``layout`` and what stands above may import it. Money is in EUR, prices of energy in EUR per MWh,
lengths in metres.
"""

from vindeby.economy.costs import CableTree, CostParts, Costs, Foundation, hull_area_m2
from vindeby.economy.depth import DepthGrid
from vindeby.economy.finance import capital_recovery, lcoe_eur_per_mwh, npv_eur

__all__ = [
    "CableTree",
    "CostParts",
    "Costs",
    "DepthGrid",
    "Foundation",
    "capital_recovery",
    "hull_area_m2",
    "lcoe_eur_per_mwh",
    "npv_eur",
]
