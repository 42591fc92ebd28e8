"""What a search may choose besides places: how many turbines there are, or how many of each type.

With more turbines a farm gives more energy nearly always, so a number can only be chosen by another objective, which
the ``valuation`` of the problem has: the energy of each turbine, or one that counts what the turbines cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from vindeby.arrays import IntArray
from vindeby.errors import ArgumentError


@dataclass(frozen=True)
class Choice:
    """Which counts are allowed, both ends included.

    ``turbines`` are the fewest and the most; ``mix`` the fewest and the most of each type of the farm.
    """

    turbines: tuple[int, int]
    mix: Sequence[tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        for few, many in [self.turbines, *(self.mix or ())]:
            if not 0 <= few <= many:
                raise ArgumentError(f"a choice from {few} to {many} is empty; begin with the smaller")
        if self.turbines[0] < 1:
            raise ArgumentError(f"at least one turbine must stand, not {self.turbines[0]}")
        few, many = self.turbines
        if self.mix is None:
            return
        if few < many:
            raise ArgumentError(
                f"either the number of turbines ({few} to {many}) or the mix is chosen; give one number"
            )
        if not sum(low for low, _ in self.mix) <= few <= sum(high for _, high in self.mix):
            raise ArgumentError(f"no mix of {few} turbines is within {list(self.mix)}")

    def allows(self, by_type: IntArray) -> bool:
        """Whether a farm may have so many turbines of each type."""
        few, many = self.turbines
        if not few <= int(by_type.sum()) <= many:
            return False
        if self.mix is None:
            return True
        return all(low <= has <= high for (low, high), has in zip(self.mix, by_type, strict=True))
