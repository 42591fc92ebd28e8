"""The objectives other than energy: energy less cost, LCOE, net present value.

For the searches every objective is an energy: ``AEP - cost / price``, with the yearly cost in EUR and a price of
energy. The net present value has its price. The LCOE is a ratio, cost / AEP, and made small by the method of W.
Dinkelbach ("On nonlinear fractional programming", Management Science 13 (1967) 492): the price is the LCOE of the
layout that a stage of a search begins with. What is worth more at this price has a lower LCOE, and where nothing is,
the LCOE is the least.

Searches move turbines of given types, so only what differs from place to place counts for them: foundations and cables
(``moves.place_costs``). Cables are routed when a stage begins and kept as a tree until the next one. Results are
compared by the objective itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.economy import CableTree, CostParts, Costs, hull_area_m2
from vindeby.errors import ArgumentError
from vindeby.units import MWH_PER_GWH

ObjectiveName = Literal["aep", "npv", "lcoe"]
Router = Callable[[FloatArray, FloatArray], CableTree]
"""Cables for turbines at places (x, y): those of a layout, and those that stand already of the same farm after them."""
NO_COSTS = Costs(0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Valuation:
    """An objective, and the costs it needs.

    ``aep`` is the energy (GWh per year) less the yearly cost at the price; ``npv`` the net present value (EUR);
    ``lcoe`` the levelised cost of energy (EUR per MWh), made small. ``price`` is in EUR per MWh; that of ``lcoe`` is
    found by the searches. Without a ``router`` there are no cables. ``tree`` is kept between routings. Places are
    always those of all turbines of the farm.
    """

    objective: ObjectiveName
    costs: Costs = NO_COSTS
    price: float | None = None
    router: Router | None = None
    tree: CableTree | None = None
    weight: float = 1.0
    """The weight of the LCOE as one of two objectives: ``AEP^(1 - weight) / LCOE^weight`` is maximised."""
    eur_per_m2: float = 0.0
    """The cost of the farm's convex hull (EUR per m2)."""

    def __post_init__(self) -> None:
        priced = self.objective == "npv" or (self.objective == "aep" and self.costs is not NO_COSTS)
        if priced and self.price is None:
            raise ArgumentError(f"the objective {self.objective} with costs needs a price in EUR per MWh")
        if self.price is not None and not 0.0 < self.price < np.inf:
            raise ArgumentError(f"the price must be above 0 EUR per MWh, not {self.price!r}")

    @property
    def by_place(self) -> bool:
        """Return whether the cost of a turbine depends on its position."""
        return self.costs.foundation is not None or self.router is not None or self.eur_per_m2 > 0.0

    @property
    def sign(self) -> float:
        """The sign of the objective: 1 to maximise, -1 to minimise."""
        return -1.0 if self.objective == "lcoe" else 1.0

    @property
    def gwh_per_eur(self) -> float:
        """The energy (GWh) that one EUR per year buys at the price."""
        assert self.price is not None, "an LCOE has a price once there is a layout"
        return 1.0 / (MWH_PER_GWH * self.price)

    def routed(self, x: FloatArray, y: FloatArray) -> Valuation:
        """Return the valuation with cables routed for these positions."""
        return self if self.router is None else replace(self, tree=self.router(x, y))

    def at(self, x: FloatArray, y: FloatArray, types: IntArray, aep_gwh: float) -> Valuation:
        """Return the valuation for a stage that begins with this layout: its cables, and its LCOE as the price."""
        routed = self.routed(x, y)
        if self.objective != "lcoe":
            return routed
        lcoe = self.costs.lcoe_eur_per_mwh(routed.parts(x, y, types), aep_gwh)
        return replace(routed, price=lcoe / self.weight)

    def parts(self, x: FloatArray, y: FloatArray, types: IntArray) -> CostParts:
        """Return the cost of a layout by part, with its area and cables; cables are routed if there is no tree."""
        tree = self.routed(x, y).tree if self.tree is None else self.tree
        hull_eur = self.eur_per_m2 * hull_area_m2(x, y) if self.eur_per_m2 else 0.0
        return self.costs.parts(x, y, types, hull_eur + (0.0 if tree is None else tree.eur(x, y)))

    def objective_of(self, parts: CostParts, aep_gwh: float) -> float:
        """Return the objective of a layout, in its own unit."""
        if self.objective == "lcoe":
            return self.costs.lcoe_eur_per_mwh(parts, aep_gwh)
        if self.objective == "npv":
            assert self.price is not None
            return self.costs.npv_eur(parts, aep_gwh, self.price)
        return aep_gwh if self.price is None else aep_gwh - self.gwh_per_eur * self.costs.yearly_eur(parts)

    def worth(self, parts: CostParts, aep_gwh: float) -> float:
        """Return the value by which layouts of the same turbines are compared, the larger the better.

        Of an LCOE, its inverse; else the energy less foundations and cables.
        """
        if self.objective == "lcoe":
            lcoe = self.costs.lcoe_eur_per_mwh(parts, aep_gwh)
            return float(aep_gwh ** (1.0 - self.weight) / lcoe**self.weight)
        if not self.by_place or self.price is None:
            return aep_gwh
        return aep_gwh - self.gwh_per_eur * self.costs.recovery * (parts.foundations + parts.cables)
