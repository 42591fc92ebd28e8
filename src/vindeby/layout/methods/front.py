"""front: a compromise between most energy and least of another objective, with one weight per seed.

A search maximises the energy less a price times the second objective. The price follows from the weight ``w`` of the
second objective, 0 to 1, and from the farm alone:

- of a metre of cable: ``w / (1 - w)`` times a tenth of what the farm gives without wakes, divided by the square root of
  the area times the number of turbines. A tenth is what wakes may take, and the length of a tree through so many points
  grows like that root (J. Beardwood, J. H. Halton and J. M. Hammersley, 1959), so equal weights count both alike.
- of a square metre that the farm uses: the same, divided by the area.
- of the yearly cost: ``w`` divided by the LCOE. That makes ``AEP^(1 - w) / LCOE^w`` large, and for 1 the LCOE small.

The sum of two weighted objectives finds the points of a front where it is convex; between them there are none, however
many weights there are (I. Das and J. E. Dennis, Structural Optimization 14 (1997) 63).
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.economy import CableTree
from vindeby.errors import ArgumentError
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.layout.valuation import Router, Valuation
from vindeby.parameters import weight_of
from vindeby.units import MWH_PER_GWH

Second = Literal["cable_length", "lcoe", "area"]
LOST_TO_WAKES = 0.1
"""The share of the energy without wakes that equals, with equal weights, the length of all cables, or the area."""


@dataclass(frozen=True)
class Front(Method):
    """A method whose objective has the weight that follows from the seed."""

    method: Method
    against: Second

    def prepare(self, problem: LayoutProblem) -> Search:
        """Return the search, whose seeds share nothing because each has another objective."""

        def run(seed: int, start: Layout | None = None) -> Result:
            weight = weight_of(seed)
            found = self.method.run(self._weighted(problem, weight), seed, start)
            return replace(found, notes={**found.notes, "weight": weight})

        return run

    def brief(self) -> Method:
        return replace(self, method=self.method.brief())

    def _weighted(self, problem: LayoutProblem, weight: float) -> LayoutProblem:
        given, free_gwh = problem.valuation, problem.free_aep_gwh
        if weight == 0.0:
            return replace(problem, valuation=None)
        area_m2 = sum(zone.boundary.area_m2 for zone in problem.zones)
        unit = area_m2 if self.against == "area" else np.sqrt(area_m2 * problem.n_turbines)
        alike = LOST_TO_WAKES * free_gwh / unit
        # The price of energy, with a metre or a square metre as the unit of money.
        price = float((1.0 - weight) / (weight * MWH_PER_GWH * alike))
        if self.against == "area":
            value = Valuation("aep", price=price, eur_per_m2=1.0)
        elif self.against == "lcoe" and given is not None:
            value = replace(given, objective="lcoe", weight=weight)
        elif given is not None and given.router is not None:
            value = Valuation("aep", price=price, router=_lengths(given.router))
        else:
            raise ArgumentError(f"farm {problem.name}: {self.against} needs a valuation with costs or cables")
        return replace(problem, valuation=value)


def _lengths(router: Router) -> Router:
    def routed(x: FloatArray, y: FloatArray) -> CableTree:
        tree = router(x, y)
        return replace(tree, eur_per_m=np.ones(len(tree.ends)))

    return routed
