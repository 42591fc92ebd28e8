"""front: the most energy against the least of something else, with another weight for each seed.

A search maximises the energy less a price times the second objective. With its weight ``w``, 0 to 1, the price in GWh
per year is

- for each turbine: ``w`` times what a turbine gives without wakes, beyond which no turbine is worth its price;

The sum of two weighted objectives finds the points of a front where it is convex; between them there are none, however
many weights there are (I. Das and J. E. Dennis, Structural Optimization 14 (1997) 63).
"""

from dataclasses import dataclass, replace
from typing import Literal

from vindeby.layout.method import Method, Result, Search
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.layout.valuation import Valuation

Second = Literal["cable_length", "turbines", "lcoe"]
LEAST_WEIGHT = 1e-9
"""Of the number of turbines: without a price, their numbers cannot be compared."""


def weight_of(seed: int) -> float:
    """The weight of the second objective: 0, 1/2, 1/4, 3/4, 1/8, 5/8 ..., the binary digits of the seed mirrored.

    By this sequence (J. G. van der Corput, 1935) the first seeds spread evenly over 0 to 1, however many there are, and
    further seeds refine a front without changing the weights of those before.
    """
    weight, digit = 0.0, 0.5
    while seed:
        weight, digit, seed = weight + digit * (seed % 2), digit / 2, seed // 2
    return weight


@dataclass(frozen=True)
class Front(Method):
    """A method whose objective has the weight that follows from the seed."""

    method: Method
    against: Second

    def prepare(self, problem: LayoutProblem) -> Search:
        """There is nothing that seeds share: each has its own objective."""

        def run(seed: int, start: Layout | None = None) -> Result:
            weight = weight_of(seed)
            found = self.method.run(self._weighted(problem, weight), seed, start)
            return replace(found, notes={**found.notes, "weight": weight})

        return run

    def brief(self) -> Method:
        """The method, brief."""
        return replace(self, method=self.method.brief())

    def _weighted(self, problem: LayoutProblem, weight: float) -> LayoutProblem:
        if problem.choice is None:
            return problem
        each = problem.farm.wake_free_aep(1)
        return replace(problem, valuation=Valuation.turbine_cost(max(weight, LEAST_WEIGHT) * each))
