"""The cost of a layout: foundations by depth, cables, yearly cost, LCOE and NPV.

Pure functions of places and energies. May import NumPy, Shapely, ``vindeby.errors``, ``vindeby.units`` and
``vindeby.arrays``; ``layout`` and what stands above may import it. Money is in EUR, prices of energy in EUR per MWh,
lengths in metres.
"""

from vindeby.economy.costs import (
    CableTree,
    CostParts,
    Costs,
    DepthGrid,
    Foundation,
    capital_recovery,
    hull_area_m2,
)

__all__ = ["CableTree", "CostParts", "Costs", "DepthGrid", "Foundation", "capital_recovery", "hull_area_m2"]
