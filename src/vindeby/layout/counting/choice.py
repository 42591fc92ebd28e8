"""What a search may choose besides places: how many turbines there are, or how many of each type; and by what.

With more turbines a farm gives more energy nearly always, so a number can only be chosen by another objective: the
energy of each turbine, or the energy less what the turbines cost. A cost is given in energy: a turbine
must add so many GWh per year to the farm to be worth building.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vindeby.arrays import IntArray
from vindeby.errors import ArgumentError


@dataclass(frozen=True)
class Objective:
    """What is made as large as can be: the yearly energy, less a cost for each turbine, or that of each turbine.

    ``turbine_cost_gwh`` is in GWh per year, one number for all types or one for each.
    """

    turbine_cost_gwh: float | Sequence[float] = 0.0
    per_turbine: bool = False

    def __post_init__(self) -> None:
        if not np.isfinite(np.asarray(self.turbine_cost_gwh, np.float64)).all():
            raise ArgumentError(f"turbine_cost_gwh must be finite, not {self.turbine_cost_gwh!r}")

    @property
    def tells_counts_apart(self) -> bool:
        """Whether more turbines can be worth less: False for the bare energy."""
        return self.per_turbine or bool(np.any(np.asarray(self.turbine_cost_gwh) != 0.0))

    def worth(self, aep_gwh: float, by_type: IntArray) -> float:
        """The objective of a farm with so many turbines of each type, in GWh per year (of each turbine)."""
        value = aep_gwh - float(np.sum(np.asarray(self.turbine_cost_gwh, np.float64) * by_type))
        return value / float(by_type.sum()) if self.per_turbine else value


@dataclass(frozen=True)
class Choice:
    """Which counts are allowed, both ends included, and the objective that compares them.

    ``turbines`` are the fewest and the most; ``mix`` the fewest and the most of each type of the farm.
    """

    turbines: tuple[int, int]
    mix: Sequence[tuple[int, int]] | None = None
    objective: Objective = Objective()

    def __post_init__(self) -> None:
        for few, many in [self.turbines, *(self.mix or ())]:
            if not 0 <= few <= many:
                raise ArgumentError(f"a choice from {few} to {many} is empty; begin with the smaller")
        if self.turbines[0] < 1:
            raise ArgumentError(f"at least one turbine must stand, not {self.turbines[0]}")
        few, many = self.turbines
        if self.mix is None:
            if few < many and not self.objective.tells_counts_apart:
                raise ArgumentError(
                    f"{few} to {many} turbines cannot be told apart by their energy: more always give more; "
                    "choose an objective with per_turbine or a turbine_cost_gwh"
                )
        elif few < many:
            raise ArgumentError(
                f"either the number of turbines ({few} to {many}) or the mix is chosen; give one number"
            )
        elif not sum(low for low, _ in self.mix) <= few <= sum(high for _, high in self.mix):
            raise ArgumentError(f"no mix of {few} turbines is within {list(self.mix)}")

    def allows(self, by_type: IntArray) -> bool:
        """Whether a farm may have so many turbines of each type."""
        few, many = self.turbines
        if not few <= int(by_type.sum()) <= many:
            return False
        if self.mix is None:
            return True
        return all(low <= has <= high for (low, high), has in zip(self.mix, by_type, strict=True))
