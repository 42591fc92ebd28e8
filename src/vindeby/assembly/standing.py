"""The turbines that stand around a farm, as the engine, the search and the checks need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vindeby.campaign import Campaign, Turbine
from vindeby.campaign.neighbours import neighbours_of, types_of

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Around:
    """What stands around a farm. ``turbines`` are the farm's own types, then those of neighbours that differ."""

    turbines: tuple[Turbine, ...]
    x: FloatArray
    y: FloatArray
    types: npt.NDArray[np.int64]
    """An index of ``turbines`` for each neighbour."""

    def __len__(self) -> int:
        return len(self.x)

    def spacing_m(self, campaign: Campaign) -> list[float]:
        """The spacing of each type; a pair keeps the mean of its two."""
        return [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in self.turbines]

    def closest(
        self, x: FloatArray, y: FloatArray, types: npt.NDArray[np.int64], need: Sequence[float]
    ) -> tuple[float, int, int]:
        """The largest shortfall (m) of a pair of a turbine with a neighbour, and which; not above 0 where none is.

        ``types`` are those of the farm's turbines, ``need`` the spacing of each type.
        """
        worst = (-np.inf, 0, 0)
        each = np.asarray(need)
        for index, (px, py, kind) in enumerate(zip(x, y, types, strict=True)):
            short = 0.5 * (each[kind] + each[self.types]) - np.hypot(self.x - px, self.y - py)
            other = int(np.argmax(short))
            if short[other] > worst[0]:
                worst = (float(short[other]), index, other)
        return worst


def around(campaign: Campaign, own: Sequence[Turbine], farm_idx: int | None) -> Around:
    """What stands around this farm, whose own turbines are of these types; nothing without a farm."""
    standing = () if farm_idx is None else neighbours_of(campaign, farm_idx)
    turbines, types = types_of(standing, own)
    x, y = np.array([one.x for one in standing], float), np.array([one.y for one in standing], float)
    return Around(tuple(turbines), x, y, np.array(types, np.int64))
